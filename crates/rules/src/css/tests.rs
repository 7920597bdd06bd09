//! Selectors on a small page, and what they select.

use extract::html::dom::Document;

use crate::evaluate;
use crate::query::{Budget, Place};

const PAGE: &str = "<div id=a class='x y'><p>one</p><p class=z>two <b>bold</b></p><span></span><p>four</p></div>\
    <div id=b lang=en-GB><a href='/p/1.html' title=T>1</a><a href='http://o.test/'>2</a></div>\
    <ul><li>1<li>2<li>3<li>4<li>5</ul><x-y data-k=v>c</x-y>";

fn selected(selector: &str) -> Vec<String> {
    selected_in(PAGE, selector)
}

fn selected_in(page: &str, selector: &str) -> Vec<String> {
    let document = Document::parse(page);
    let expr = super::parse(selector).expect(selector);
    let place = Place::Node(document.root());
    match evaluate::nodes(&expr, place, &document, &mut Budget::of(&document)).expect("few steps") {
        evaluate::Value::Nodes(places) => places.into_iter().map(|place| place.text(100).into_owned()).collect(),
        other => panic!("{other:?}"),
    }
}

fn check(selector: &str, expect: &[&str]) {
    assert_eq!(selected(selector), expect, "{selector}");
}

#[test]
fn selectors_select_as_the_standard_says() {
    check("p", &["one", "two bold", "four"]);
    check("div.x.y > p.z b", &["bold"]);
    check("#a > p:first-child, #b a:last-child", &["one", "2"]);
    check("p + p", &["two bold"]);
    check("p ~ p", &["two bold", "four"]);
    check("a[href^='/p/'][href$=\".html\"]", &["1"]);
    check("a[href*=test], [title=t i]", &["1", "2"]);
    check("div[lang|=en] a:nth-child(2)", &["2"]);
    check("[class~=y] span:empty", &[""]);
    check("li:nth-child(odd)", &["1", "3", "5"]);
    check("li:nth-child(-n + 2)", &["1", "2"]);
    check("li:nth-last-child(2)", &["4"]);
    check("p:nth-of-type(3)", &["four"]);
    check("p:last-of-type", &["four"]);
    check("p:not(.z):not(:first-child)", &["four"]);
    check("p:has(> b), div:has(a) > a:is([title], .none)", &["two bold", "1"]);
    check("li:contains('4')", &["4"]);
    check("x-y[data-k]", &["c"]);
    check("html > body > ul > *:only-child", &[]);
    check("DIV#a P:first-of-type", &["one"]);
    check(":root > body > x-y", &["c"]);
}

#[test]
fn escapes_and_comments_are_those_of_the_standard() {
    let page = "<p class=1num>a<p id=c:d.e>b<p class='a b' title='x:y'>c";
    for (selector, expect) in [
        (r".\31 num", "a"),
        (r".\31num", "a"),
        (r".\000031num", "a"),
        (r"#c\3a d\2e e", "b"),
        (r"#c\:d\.e", "b"),
        (r"[title='x\3a y']", "c"),
        ("[title='x\\\n:y']", "c"),
        ("body /* > i */ p.a/**/.b", "c"),
        ("/* first */ *|p[*|title]", "c"),
    ] {
        assert_eq!(selected_in(page, selector), [expect], "{selector}");
    }
}

#[test]
fn pseudo_classes_of_html_follow_its_attributes() {
    let page = "<body lang=en-GB><a href=/>a</a><a>b</a><p lang=de>c</p><input type=Checkbox checked value=d><input checked>\
        <select><option selected>e<option>f<optgroup disabled><option>g</optgroup></select>\
        <fieldset disabled><legend><button>h</button></legend><div><button>i</button></div><legend><button>j</button></legend></fieldset>\
        <button disabled>k</button><button>l</button>";
    for (selector, expect) in [
        ("a:link", vec!["a"]),
        (":any-link", vec!["a"]),
        ("option:checked", vec!["e"]),
        ("input:checked", vec![""]),
        ("input:not(:checked)", vec![""]),
        ("button:disabled", vec!["i", "j", "k"]),
        ("button:enabled", vec!["h", "l"]),
        ("option:disabled", vec!["g"]),
        ("option:enabled", vec!["e", "f"]),
        ("p:enabled, p:disabled", vec![]),
        ("a:lang(en)", vec!["a", "b"]),
        ("p:lang('en', de)", vec!["c"]),
        ("p:lang(d)", vec![]),
    ] {
        assert_eq!(selected_in(page, selector), expect, "{selector}");
    }
}

#[test]
fn what_is_no_selector_is_refused_with_a_reason() {
    for (selector, expect) in [
        ("", "a selector is expected before the end"),
        ("p >", "a selector is expected before the end"),
        ("p:hover", "a recorded page has no :hover"),
        ("a:visited", "a recorded page has no :visited"),
        ("svg|a", "|a is not expected here"),
        ("p /* x", "a selector is expected before /* x"),
        (":lang()", "a language is expected before )"),
        ("p::before", "::before: a page has no pseudo-elements"),
        ("p[a", "] is expected before the end"),
        ("p[a='b]", "the text 'b] has no end"),
        ("p.", "a class is expected before the end"),
        ("p)", ") is not expected here"),
        ("li:nth-child(x)", "x is no position: write 3, odd, even or 2n+1"),
        (":not(a b)", "only selectors of one element can stand in :is() and :not()"),
    ] {
        assert_eq!(super::parse(selector), Err(expect.to_owned()), "{selector}");
    }
    assert!(super::parse(&":has(".repeat(1_000)).is_err());
}
