//! Paths on a small page, and what they select.

use extract::html::dom::Document;

use crate::evaluate::{self, Evaluator};
use crate::query::{Budget, Place};

const PAGE: &str = "<html lang=en-GB><title>T</title><body><div id=a class='x y'><p>one</p><p>two <b>bold</b></p></div>\
    <div id=b><p title=t>three</p><ul><li>1<li>2<li>3</ul></div><table><tr><td>5<td>7</table>";

/// The texts of what a path selects, or the text that it computes.
fn selected(path: &str) -> Vec<String> {
    let document = Document::parse(PAGE);
    let expr = super::parse(path).expect(path);
    let mut budget = Budget::of(&document);
    let value = evaluate::nodes(&expr, Place::Node(document.root()), &document, &mut budget).expect("few steps");
    match value {
        evaluate::Value::Nodes(places) => places.into_iter().map(|place| place.text(100).into_owned()).collect(),
        other => vec![Evaluator { document: &document, budget: &mut budget }.text(&other).expect("few steps")],
    }
}

fn check(path: &str, expect: &[&str]) {
    assert_eq!(selected(path), expect, "{path}");
}

#[test]
fn paths_select_as_the_standard_says() {
    check("/html/head/title", &["T"]);
    check("//p", &["one", "two bold", "three"]);
    check("//p[1]", &["one", "three"]);
    check("(//p)[1]", &["one"]);
    check("(//p)[last()]", &["three"]);
    check("//div[@id='a']/p[2]/text()", &["two "]);
    check("//div[contains(@class, 'y')]//b", &["bold"]);
    check("//li[position() > 1]", &["2", "3"]);
    check("//li[last()]/preceding-sibling::li[1]", &["2"]);
    check("//b/ancestor::div/@id", &["a"]);
    check("//b/..", &["two bold"]);
    check("//@title | //title", &["T", "t"]);
    check("//p[not(@title)][2]", &["two bold"]);
    check("//ul/li[. = '2' or . = '3'][1]", &["2"]);
    check("//*[self::td or self::b]", &["bold", "5", "7"]);
    check("//table//tr/td[2]", &["7"]);
    check("//p[b]/b/following::li[3]", &["3"]);
    check("//li[1]/preceding::p", &["one", "two bold", "three"]);
    check("id('b')/ul/li[1]", &["1"]);
    check("//p[lang('en')][1]", &["one", "three"]);
    check("//svg:p | //P[@TITLE]", &["one", "two bold", "three"]);
    check("/descendant::p[3]", &["three"]);
    check("//comment()", &[]);
}

#[test]
fn expressions_compute() {
    for (path, expect) in [
        ("count(//li)", "3"),
        ("sum(//td)", "12"),
        ("1 + 2 * 3 - 4 div 2", "5"),
        ("-(3) mod 2", "-1"),
        ("1 div 0", "Infinity"),
        ("0.5", "0.5"),
        ("number('x')", "NaN"),
        ("concat('a', \"b\", 1)", "ab1"),
        ("substring('12345', 1.5, 2.6)", "234"),
        ("substring('12345', 2)", "2345"),
        ("substring-before('a-b', '-')", "a"),
        ("substring-after('a-b', '-')", "b"),
        ("normalize-space('  a   b ')", "a b"),
        ("translate('bar', 'abc', 'AB')", "BAr"),
        ("string-length('äb')", "2"),
        ("starts-with('abc', 'ab') and not(ends-with('abc', 'b'))", "true"),
        ("round(2.5) = 3 and floor(-1.5) = -2 and ceiling(1.2) = 2", "true"),
        ("//li = 2", "true"),
        ("//li != 2", "true"),
        ("//li > 3", "false"),
        ("boolean(//nav)", "false"),
        ("string(//p[2])", "two bold"),
        ("name(//@title)", "title"),
        ("lower-case('ABC')", "abc"),
        ("2 < 3", "true"),
    ] {
        check(path, &[expect]);
    }
}

#[test]
fn what_is_no_path_is_refused_with_a_reason() {
    for (path, expect) in [
        ("//p[", "a name is missing at the end"),
        ("//p]", "] is not expected here"),
        ("//p[1", "] is missing at the end"),
        ("foo(1)", "there is no function foo"),
        ("count()", "count() does not take 0 arguments"),
        ("up::p", "there is no axis up"),
        ("//p['x", "the text 'x has no end"),
        ("$x", "there are no variables"),
        ("", "a name is missing at the end"),
    ] {
        assert_eq!(super::parse(path), Err(expect.to_owned()), "{path}");
    }
    assert!(super::parse(&"(".repeat(1_000)).is_err());
}

#[test]
fn queries_take_steps_by_the_size_of_the_page() {
    let nasty = [
        "//*[count(//*) > 0]",
        "//*[.//*[.//*]]",
        "//*//*//*//*//*",
        "//*[following::*[following::*]]",
        "//*[. = //*]",
    ];
    for pages in [500, 5_000] {
        let page = "<div>".repeat(300) + &"<p>x</p>".repeat(pages);
        let document = Document::parse(&page);
        for path in nasty {
            let mut budget = Budget::of(&document);
            let expr = super::parse(path).expect(path);
            let _ = evaluate::nodes(&expr, Place::Node(document.root()), &document, &mut budget);
            assert!(budget.taken() <= 200 * document.len() + 100_000, "{path}");
        }
    }
}
