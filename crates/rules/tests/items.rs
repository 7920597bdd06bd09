//! Rules on small pages, and the rows that they give.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use extract::html::dom::Document;
use rules::{Body, Items, Page, RuleSet, suggest};
use serde_json::{Value, json};

fn rules(text: &str) -> RuleSet {
    RuleSet::parse(text).expect(text).0
}

fn items_of(rules_text: &str, url: &str, html: &str) -> Vec<Items> {
    rules(rules_text).items_of(&Page { url, body: Body::Html(&Document::parse(html)) })
}

fn rows(rules_text: &str, html: &str) -> Value {
    let items = items_of(rules_text, "https://shop.test/p/1", html);
    json!(items.into_iter().flat_map(|items| items.rows).collect::<Vec<_>>())
}

#[test]
fn fields_of_every_kind_are_typed() {
    let text = r#"
        [extract.product]
        url = "*/p/*"
        [extract.product.fields]
        name = "h1"
        price = { css = ".price", type = "number" }
        stock = { xpath = "//p[contains(., 'stock')]", regex = "(\\d+)", type = "integer" }
        image = { css = "img", attr = "src", type = "url" }
        more = { css = "a", type = "url", list = true }
        since = { css = "time", type = "date" }
        brand = "$.brand.name"
        rating = { json = "$.rating", type = "number" }
        count = { xpath = "count(//a)", type = "integer" }
        body = { css = "i", type = "html" }
        new = { css = "meta[name=new]", attr = "content", type = "bool" }
        none = ".none"
        offers = { css = "li", list = true, fields = { who = "b", price = { css = "u", type = "number" } } }
    "#;
    let page = r#"<base href="/x/"><meta name=new content=yes><h1> A  <b>lamp</b></h1><p class=price>EUR 1.234,50</p><p>12 in stock</p>
        <img src=i.png><a href=1>a</a><a href=/2>b</a><time datetime=2024-03-05>then</time><i>x <b>y</b></i>
        <ul><li><b>P</b><u>1.5</u><li><b>Q</b></ul>
        <script type="application/ld+json">[{"@type":"X"},{"brand":{"name":"B"},"rating":4.5,}]</script>"#;
    let expect = json!([{
        "name": "A lamp", "price": 1234.5, "stock": 12, "image": "https://shop.test/x/i.png",
        "more": ["https://shop.test/x/1", "https://shop.test/2"], "since": "2024-03-05T00:00:00Z",
        "brand": "B", "rating": 4.5, "count": 2, "body": "<i>x <b>y</b></i>", "new": true,
        "offers": [{"who": "P", "price": 1.5}, {"who": "Q"}],
    }]);
    assert_eq!(rows(text, page), expect);
}

#[test]
fn what_is_the_same_in_all_rows_is_evaluated_once() {
    let mut page = "<h1>H</h1><ul><li>a<li>b</ul>".to_owned();
    (0..5_000).for_each(|row| page += &format!("<p><b>{row}</b></p>"));
    let text = "[extract.a]\nrows = 'p'\n[extract.a.fields]\nh = '//h1'\nn = { xpath = 'count(//li)', type = 'integer' }\n\
        f = '(//li)[1]'\nb = './b'\nl = { xpath = '//li', list = true }\nname = { xpath = 'local-name()' }";
    let items = items_of(text, "http://x.test/", &page).remove(0);
    assert_eq!((items.rows.len(), items.is_cut), (5_000, false));
    let expect = json!({"h": "H", "n": 2, "f": "a", "b": "4999", "l": ["a", "b"], "name": "p"});
    assert_eq!(json!(items.rows[4_999]), expect);
}

#[test]
fn a_json_response_keeps_its_whole_numbers_and_may_have_a_mark() {
    let rules = rules("[extract.a.fields]\nt = '$.a'\nn = { json = '$.a', type = 'integer' }");
    for (body, expect) in [
        ("\u{feff}{\"a\":1}", json!([{"t": "1", "n": 1}])),
        (r#"{"a":9007199254740993}"#, json!([{"t": "9007199254740993", "n": 9_007_199_254_740_993_i64}])),
        (r#"{"a":"1234567890123456789"}"#, json!([{"t": "1234567890123456789", "n": 1_234_567_890_123_456_789_i64}])),
        (r#"{"a":100000000000000000000}"#, json!([{"t": "100000000000000000000"}])),
    ] {
        let items = rules.items_of(&Page { url: "http://x.test/", body: Body::Json(body.as_bytes()) });
        assert_eq!(json!(items[0].rows), expect, "{body}");
    }
    // A response is no script of JSON-LD: nothing is mended.
    assert_eq!(rules.items_of(&Page { url: "http://x.test/", body: Body::Json(b"{\"a\":1,}") }), []);
}

#[test]
fn a_url_is_what_the_attribute_of_a_link_says_or_nothing() {
    let page = "<base href=/base/><a name=q>noh</a><a href=h>text</a><area><img alt=i><img src=i.png><video>fallback</video>\
        <link><iframe>f</iframe><span>s</span><meta content=m><u href=u>x</u><a href='http://[/'>bad</a><svg><a>svg</a></svg>";
    for (selector, expect) in [
        ("a", json!(["https://shop.test/base/h"])),
        ("a[name]", json!(null)),
        ("svg a", json!(null)),
        ("area", json!(null)),
        ("link", json!(null)),
        ("img", json!(["https://shop.test/base/i.png"])),
        ("video", json!(null)),
        ("iframe", json!(null)),
        // What is no link may say it in its text.
        ("span", json!(["https://shop.test/base/s"])),
        ("meta", json!(["https://shop.test/base/m"])),
        ("u", json!(["https://shop.test/base/u"])),
    ] {
        let text = format!("[extract.a.fields]\nx = {{ css = '{selector}', type = 'url', list = true }}\nb = 'span'");
        assert_eq!(rows(&text, page)[0]["x"], expect, "{selector}");
    }
    // An attribute that is named is the one that counts.
    let text = "[extract.a.fields]\nx = { css = 'a', attr = 'name', type = 'url' }";
    assert_eq!(rows(text, page), json!([{"x": "https://shop.test/base/q"}]));
}

#[test]
fn what_a_template_holds_is_no_part_of_the_page() {
    let page = "<base href=/b/><div id=d><p>one</p><template id=t><base href=/c/><p class=x>two</p><p>three</p></template><p id=l>four</p></div>\
        <table><tr><template><td>cell</td></template><td>own</td></tr></table>\
        <b><template shadowrootmode=open><i>shown</i></template></b>";
    let xpaths = [
        ("//p[1]/text()", json!(["one"])),
        ("//p", json!(["one", "four"])),
        ("//p[2]", json!(["four"])),
        ("/descendant::p[2]", json!(["four"])),
        ("//p[@id]/preceding::p", json!(["one"])),
        ("//p[@id]/preceding-sibling::*[1]/@id", json!(["t"])),
        ("//p[1]/following::p", json!(["four"])),
        ("//template[@id]/node()", json!(null)),
        ("//template[@id]/descendant-or-self::*/@id", json!(["t"])),
        ("string(//div)", json!(["onefour"])),
        ("count(//td)", json!(["1"])),
        ("count(//p[contains(., 't')])", json!(["0"])),
    ];
    let selectors = [
        ("p", json!(["one", "four"])),
        ("template p", json!(null)),
        ("#t > p", json!(null)),
        (".x", json!(null)),
        ("div:has(.x)", json!(null)),
        ("div:contains('two')", json!(null)),
        ("td", json!(["own"])),
        ("#t:empty + p", json!(["four"])),
        ("p:nth-of-type(2)", json!(["four"])),
        // The content of a shadow tree is shown.
        ("b i", json!(["shown"])),
    ];
    let all = xpaths.iter().map(|case| ("xpath", case)).chain(selectors.iter().map(|case| ("css", case)));
    for (language, (selector, expect)) in all {
        let field = json!(selector).to_string();
        let bases = "{ css = 'base', attr = 'href', list = true }";
        let text = format!("[extract.a.fields]\nx = {{ {language} = {field}, list = true }}\nbases = {bases}");
        let row = &rows(&text, page)[0];
        assert_eq!((&row["x"], &row["bases"]), (expect, &json!(["/b/"])), "{selector}");
    }
    let suggested = suggest(Body::Html(&Document::parse(page)), "two");
    assert_eq!(suggested, []);
    let base = rows("[extract.a.fields]\nx = { css = 'p', type = 'url' }", &page.replacen("<base href=/b/>", "", 1));
    assert_eq!(base, json!([{"x": "https://shop.test/p/one"}]));
}

#[test]
fn a_script_that_is_selected_has_its_text() {
    let text = r#"
        [extract.a.fields]
        price = { css = "script:not([type])", regex = 'price = (\d+)', type = "integer" }
        all = { css = "body" }
        style = { css = "style" }
    "#;
    let page = "<body><style>p { }</style><p>seen</p><script>let  price = 12;</script>";
    assert_eq!(rows(text, page), json!([{"price": 12, "all": "seen", "style": "p { }"}]));
}

#[test]
fn rows_are_selected_and_required_fields_decide() {
    let text =
        "[extract.list]\nrows = 'li'\nfields = { name = 'b', id = '@id', n = { xpath = './u', required = true } }";
    let page = "<li id=1><b>a</b><u>1</u><li id=2><b>b</b><li><u>3</u>";
    assert_eq!(rows(text, page), json!([{"name": "a", "id": "1", "n": "1"}, {"n": "3"}]));
    let parsed = items_of(text, "http://x.test/", page);
    assert_eq!((parsed[0].incomplete, parsed[0].is_cut), (1, false));
    assert_eq!(rows("[extract.a]\nurl = 'http://other.test/*'\nfields = { x = 'b' }", page), json!([]));
    assert_eq!(rows("[extract.a]\nfields = { x = '.none' }", page), json!([]));
}

#[test]
fn a_text_that_is_seen_in_part_is_reported() {
    let page = |length: usize| format!("<p>{}</p><b>b</b>", "é".repeat(length / 2));
    for (field, length_max) in [
        ("{ xpath = 'string-length(//p)', type = 'integer' }", 1 << 20),
        ("{ xpath = \"//b[contains(//p, 'x')]\" }", 1 << 20),
        ("{ css = 'p' }", 64 << 10),
        ("{ css = 'p', regex = '^(.)' }", 64 << 10),
        ("{ xpath = '//p/text()' }", 64 << 10),
        ("{ xpath = 'string(//p)' }", 64 << 10),
    ] {
        let rule = format!("[extract.a]\nfields.x = {field}");
        let is_cut = |length| items_of(&rule, "http://x.test/", &page(length))[0].is_cut;
        assert!(!is_cut(length_max), "{field}");
        assert!(is_cut(length_max + 2), "{field}");
    }
}

#[test]
fn json_responses_give_rows_too() {
    let text = "[extract.a]\nrows = '$.items[*]'\nfields = { name = '$.n', size = { json = '$.s', type = 'integer' }, tags = { json = '$.t[*]', list = true } }";
    let json = br#"{"items": [{"n": "a", "s": 1, "t": ["x", "y"]}, {"n": "b", "s": "2"}]}"#;
    let items_of = |json| rules(text).items_of(&Page { url: "https://api.test/", body: Body::Json(json) });
    let items = items_of(json);
    assert_eq!(json!(items[0].rows), json!([{"name": "a", "size": 1, "tags": ["x", "y"]}, {"name": "b", "size": 2}]));
    assert!(items_of(b"no").is_empty());
    // A point in a JSON number is before the fraction, whatever `decimal` says of texts.
    let german = "[extract.a]\nfields = { x = { json = '$.x[*]', type = 'number', decimal = ',', list = true } }";
    let page = Page { url: "https://api.test/", body: Body::Json(br#"{"x": [1.234, "1,5", 1e21, -0.000001]}"#) };
    assert_eq!(json!(rules(german).items_of(&page)[0].rows), json!([{"x": [1.234, 1.5, 1e21, -1e-6]}]));
}

#[test]
fn wrong_rules_say_where_and_what_to_do() {
    for (text, expect) in [
        ("x = 1", "line 1: x: a file of rules has only tables [extract.NAME]"),
        ("", "there are no rules: write a table [extract.NAME] with `url` and `fields`"),
        ("[extract.a]\nurl = '*'", "line 1: extract.a: `fields` is missing: the columns, by name"),
        (
            "[extract.a]\n[extract.a.fields]\nname = 'h1'\nprice = { css = '.p', typ = 'number' }",
            "line 4: extract.a.fields.price.typ: there is no such key: the keys are css, xpath, json, attr, regex, type, list, required, decimal, fields; did you mean `type`?",
        ),
        (
            "[extract.a]\n[extract.a.fields]\nprice = { css = '.p', type = 'int' }",
            "line 3: extract.a.fields.price.type: there is no type `int`: the types are text, html, integer, number, date, url, bool",
        ),
        (
            "[extract.a]\nfields.b = 'p:hover'",
            "line 2: extract.a.fields.b: `p:hover` is no CSS selector: a recorded page has no :hover",
        ),
        (
            "[extract.a]\nfields.url = 'a'",
            "line 2: extract.a.fields.url: every table has a column of this name already: take another",
        ),
        (
            "[extract.a]\nfields.b = { css = 'a', xpath = '//a' }",
            "line 2: extract.a.fields.b.xpath: one selector is enough: css, xpath or json",
        ),
        ("[extract]", "there are no rules: write a table [extract.NAME] with `url` and `fields`"),
        (
            "[extract.a]\nurl = []\nfields.b = 'a'",
            "line 2: extract.a.url: a list without patterns is about no page: leave `url` out for all pages",
        ),
        (
            "[extract.a]\n[extract.a.fields]\n'' = 'a'",
            "line 2: extract.a.fields: a column has a name: this one is empty",
        ),
        (
            "[extract.a]\nrows = '$.x[*]'\nfields.b = 'p'",
            "line 3: extract.a.fields.b: it is looked for in JSON, which has no elements: select with JSONPath, as in \"$.name\"",
        ),
        (
            "[extract.a]\nrows = 'li'\nfields.b = '$.p'",
            "line 3: extract.a.fields.b: it is looked for in an element, which has no JSON: select with CSS or XPath",
        ),
        (
            "[extract.a]\nfields.b = { css = 'li', fields = { c = { fields = { d = '$.p' } } } }",
            "line 2: extract.a.fields.b.fields.c.fields.d: it is looked for in an element, which has no JSON: select with CSS or XPath",
        ),
        (
            "[extract.a]\nfields.b = { xpath = '//p | (//a/@href)', attr = 'href' }",
            "line 2: extract.a.fields.b.attr: the XPath selects an attribute already: leave `attr` out",
        ),
        (
            "[extract.a]\nrows = '$.x[*]'\nfields.b = { attr = 'href' }",
            "line 3: extract.a.fields.b.attr: JSON has no attributes: leave `attr` out",
        ),
        (
            "[extract.'a/b']\nfields.b = 'a'",
            "line 1: extract.a/b: the name of a rule is that of a directory: letters, digits, - and _",
        ),
    ] {
        let error = RuleSet::parse(text).expect_err(text);
        assert_eq!(error.in_text(text), expect, "{text}");
    }
    let named = |letters: usize| RuleSet::parse(&format!("[extract.{}]\nfields.b = 'a'", "n".repeat(letters)));
    assert!(named(200).is_ok());
    let error = named(201).expect_err("too long").to_string();
    assert!(error.ends_with("the name of a rule is that of a directory: at most 200 letters"), "{error}");
    let error = RuleSet::parse("[extract.a\n").expect_err("no TOML").in_text("[extract.a\n");
    assert!(error.starts_with("line 1: "), "{error}");
}

#[test]
fn selectors_are_suggested_for_a_text() {
    let page = r#"<div class="box"><b class="price now">12 EUR</b></div><div><b class=price>3</b></div><meta itemprop=sku content=77>
        <script type="application/ld+json">{"@type":"Product","offers":[{"price":"12 EUR"}]}</script>"#;
    let document = Document::parse(page);
    let selectors = |text: &str| {
        let found = suggest(Body::Html(&document), text).into_iter();
        found.map(|one| (one.language, one.selector, one.attribute)).collect::<Vec<_>>()
    };
    assert_eq!(
        selectors("12  EUR"),
        [("json", "$.offers[*].price".to_owned(), None), ("css", "b.now".to_owned(), None)]
    );
    assert_eq!(selectors("77"), [("css", "meta[itemprop=\"sku\"]".to_owned(), Some("content".to_owned()))]);
    assert_eq!(selectors("nowhere"), []);
    let json = br#"{"list": [{"a": "12 EUR", "it's": 7, "2nd": "last"}]}"#;
    let paths = |text: &str| suggest(Body::Json(json), text).into_iter().map(|one| one.selector).collect::<Vec<_>>();
    assert_eq!(paths("12 EUR"), ["$.list[*].a"]);
    assert_eq!(paths("7"), ["$.list[*]['it\\'s']"]);
    assert_eq!(paths("last"), ["$.list[*]['2nd']"]);
}

#[test]
fn a_rule_has_steps_for_each_of_its_fields() {
    let fields: String = (0..300).map(|n| format!("f{n} = {{ xpath = \"string(//b)\" }}\n")).collect();
    let rule = format!("[extract.a.fields]\n{fields}");
    let page = format!("{}<b>found</b>", "<p>one".repeat(2_000));
    let items = items_of(&rule, "http://x.test/", &page).remove(0);
    assert!(
        !items.is_cut && items.rows[0].len() == 300,
        "{} fields",
        items.rows.first().map_or(0, serde_json::Map::len)
    );
}
