//! Trees of small pages, written down as they should be.

use super::*;

/// The tree as nested names and texts.
fn shown(source: &str) -> String {
    fn show(node: Node<'_>, into: &mut String) {
        for child in node.children() {
            if child.is_text() {
                into.push_str(&format!("'{}' ", child.own_text()));
            } else {
                into.push_str(&child.name().to_ascii_lowercase());
                into.push('(');
                show(child, into);
                into.truncate(into.trim_end().len());
                into.push_str(") ");
            }
        }
    }
    let document = Document::parse(source);
    let mut text = String::new();
    show(document.root(), &mut text);
    text.trim_end().to_owned()
}

fn check(source: &str, expect: &str) {
    assert_eq!(shown(source), expect, "{source}");
}

fn check_body(source: &str, expect: &str) {
    check(source, &format!("html(head() body({expect}))"));
}

#[test]
fn what_a_page_leaves_out_is_implied() {
    check("", "");
    check("<title>t</title><p>x", "html(head(title('t')) body(p('x')))");
    check("<!doctype html><html lang=en><head></head><body class=a>x</body></html>", "html(head() body('x'))");
    check(
        "<head><meta><noscript><img></noscript><link></head> <body>x",
        "html(head(meta() noscript(img()) link()) body('x'))",
    );
    check_body("<p>a<p>b<div>c</div>d", "p('a') p('b') div('c') 'd'");
    check_body("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "ul(li('a') li('b' ul(li('c'))) li('d'))");
    check_body("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt('a') dd('b') dt('c'))");
    check_body("<table><tr><td>a<td>b<tr><th>c</table>d", "table(tbody(tr(td('a') td('b')) tr(th('c')))) 'd'");
    check_body("<table><td><table><tr><td>x</table>y</table>", "table(tbody(tr(td(table(tbody(tr(td('x')))) 'y'))))");
    check_body("<table><col><caption>c<tbody><tr><td>x", "table(colgroup(col()) caption('c') tbody(tr(td('x'))))");
    check_body(
        "<select><option>a<option>b<optgroup><option>c</select>d",
        "select(option('a') option('b') optgroup(option('c'))) 'd'",
    );
    check_body("<h1>a<h2>b</h2>c", "h1('a') h2('b') 'c'");
    check_body("<tr><td>x", "'x'");
}

#[test]
fn end_tags_end_what_they_can() {
    check_body("<b>a<div>b</b>c</div>d", "b('a' div('b' 'c')) 'd'");
    check_body("<a>x<a>y</a>z", "a('x') a('y') 'z'");
    check_body("<div><span>a</div>b", "div(span('a')) 'b'");
    check_body("<div>a</span>b</div>", "div('a' 'b')");
    check_body("a</p>b", "'a' p() 'b'");
    check_body("<p>a<table><tr><td>b</p>c</table>", "p('a') table(tbody(tr(td('b' p() 'c'))))");
    check_body("<svg><path/><g><title>t</title></g></svg>x", "svg(path() g(title('t'))) 'x'");
    check_body("<x-a>1<x-b>2</x-a>3", "x-a('1' x-b('2')) '3'");
    check_body("a < b & c", "'a < b & c'");
}

#[test]
fn nodes_know_their_neighbours() {
    let document = Document::parse("<p id=one>a<b>c</b></p><p ID=two class='x &amp; y' class=z>d</p>");
    let find = |id: &str| document.elements().find(|element| element.attribute("id").as_deref() == Some(id)).expect(id);
    let (one, two) = (find("one"), find("two"));
    assert_eq!(one.next_sibling().map(Node::id), Some(two.id()));
    assert_eq!(two.previous_sibling().map(Node::id), Some(one.id()));
    assert!(one.previous_sibling().is_none() && two.next_sibling().is_none());
    assert_eq!(two.attribute("class").as_deref(), Some("x & y"));
    assert_eq!(two.attributes().count(), 2);
    assert_eq!(one.children().count(), 2);
    assert_eq!(one.text_content(100), "ac");
    assert_eq!(one.text_content(1), "a");
    assert_eq!(two.ancestors().map(Node::name).collect::<Vec<_>>(), ["body", "html", ""]);
    assert_eq!(two.markup(1_000), "<p id=\"two\" class=\"x &amp; y\">d</p>");
    assert_eq!(document.root().markup(8).len(), "<html><head></head></html>".len());
}

#[test]
fn visible_text_separates_blocks() {
    let text = |source: &str| Document::parse(source).root().visible_text(1_000);
    assert_eq!(text("<p>a <b>b</b>c<p>d<script>x</script><td>e"), "a bc d e");
    assert_eq!(text("<ul><li>a</li><li>b</li></ul>c<br>d<span>e</span>"), "a b c de");
    assert_eq!(Document::parse("<p>abc def").root().visible_text(5), "abc d");
}

#[test]
fn deep_and_large_pages_are_cut() {
    let deep = "<div>".repeat(2_000) + "x";
    let document = Document::parse(&deep);
    let text = document.root().descendants().find(|node| node.is_text()).expect("a text");
    assert_eq!(text.ancestors().count(), DEPTH_MAX + 1);
    assert!(!document.is_cut());
    let large = "<br>".repeat(NODES_MAX + 10);
    let document = Document::parse(&large);
    assert!(document.is_cut() && document.len() == NODES_MAX);
}
