//! The links and images found must be those of a full HTML parser, here html5ever: on generated tag
//! soup and on generated trees of all kinds of content.

use extract::href::{Target, clean, target};
use extract::html::extract;
use extract::{HtmlPage, ImageSource, Limits, LinkKind};
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// `a[href]` and `img[src]` of a page, as sets: a tree repeats an `a` that is closed wrongly.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    links: BTreeSet<String>,
    images: BTreeSet<String>,
}

fn ours(html: &str) -> Found {
    let page: HtmlPage = extract(html.as_bytes(), Some("text/html; charset=utf-8"), &Limits::default());
    let anchors = page.links.into_iter().filter(|l| l.kind == LinkKind::Anchor);
    Found {
        links: anchors.map(|l| l.href.into()).collect(),
        images: page
            .images
            .into_iter()
            .filter_map(|i| match i.source {
                ImageSource::Url(url) => Some(url),
                ImageSource::Data { .. } => None,
            })
            .collect(),
    }
}

fn theirs(html: &str) -> Found {
    let mut found = Found::default();
    parse(html, true, &mut found);
    found
}

fn parse(html: &str, scripting_enabled: bool, found: &mut Found) {
    let tree_builder = TreeBuilderOpts { scripting_enabled, ..TreeBuilderOpts::default() };
    let opts = ParseOpts { tree_builder, ..ParseOpts::default() };
    let dom = parse_document(RcDom::default(), opts).one(html);
    let mut todo: Vec<Handle> = vec![dom.document.clone()];
    while let Some(node) = todo.pop() {
        todo.extend(node.children.borrow().iter().cloned());
        let NodeData::Element { name, attrs, .. } = &node.data else {
            continue;
        };
        let attrs = attrs.borrow();
        let attr = |wanted: &str| {
            let found = attrs.iter().find(|a| {
                let prefix = a.name.prefix.as_ref().map(|p| format!("{p}:"));
                format!("{}{}", prefix.unwrap_or_default(), a.name.local) == wanted
            });
            found.map(|a| a.value.to_string())
        };
        let in_html = &*name.ns == "http://www.w3.org/1999/xhtml";
        match (&*name.local, in_html) {
            ("a", true) => keep(&mut found.links, attr("href")),
            ("a", false) => keep(&mut found.links, attr("href").or(attr("xlink:href"))),
            ("img", true) => keep(&mut found.images, attr("src").filter(|s| !s.is_empty())),
            ("noscript", true) if scripting_enabled => parse(&text(&node), false, found),
            _ => {}
        }
    }
}

fn keep(urls: &mut BTreeSet<String>, reference: Option<String>) {
    let cleaned = reference.map(|r| clean(&r).into_owned());
    urls.extend(cleaned.filter(|r| target(r) == Target::Web));
}

fn text(node: &Handle) -> String {
    let children = node.children.borrow();
    let texts = children.iter().map(|child| match &child.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => String::new(),
    });
    texts.collect()
}

fn check(html: &str) {
    assert_eq!(ours(html), theirs(html), "{html}");
}

/// Pieces that make soup in any order. A `#` becomes a number, so that every link is another one.
const SOUP: &[&str] = &[
    "<a href=#>",
    "<A HREF='#'>",
    "<a title=\">\" href = \"#\" >",
    "<a\nhref=#/>",
    "<a href=# href=no>",
    "<a/href=#>",
    "<a href='#",
    "<a href=\"#",
    "<a href=#&copy=1&amp;b&lt;c&notit;&para>",
    "<a href='#\"'>",
    "<a =href=#>",
    "<a href==#>",
    "<a href=\t#\n>",
    "<a href='\n # \t'>",
    "<a data-href=#>",
    "<a href>",
    "<a name=x>",
    "<a href=#\0x>",
    "<a href=\"#&#x41;&#65;&#0;&#x110000;&#128;\">",
    "<ahref=#>",
    "< a href=#>",
    "<a href=mailto:#>",
    "<a href=java\nscript:#>",
    "<b a href=#>",
    "</a>",
    "</a href=#>",
    "</ a>",
    "</>",
    "<img src=#>",
    "<IMG alt='<a href=#>' SRC=#>",
    "<image src=#>",
    "<img src='#' src=x/>",
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "<br/>",
    "</br>",
    "<li>",
    "<h1>",
    "<form>",
    "<button>",
    "<table>",
    "<tr>",
    "<td>",
    "</td>",
    "</table>",
    "<caption>",
    "<col>",
    "<ul>",
    "<html>",
    "<head>",
    "</head>",
    "<body>",
    "</body>",
    "</html>",
    "<!doctype html>",
    "<!DOCTYPE",
    "<nobr>",
    "<hr>",
    "<script>",
    "</script>",
    "</script",
    "</SCRIPT >",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "<!->",
    "--",
    "<!x",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<noembed>",
    "</noembed>",
    "<noframes>",
    "</noframes>",
    "<noscript>",
    "</noscript>",
    "<![CDATA[",
    "]]>",
    "<?php echo '<a href=#>' ?>",
    "text",
    " ",
    "\n",
    "\r\n",
    "&amp;",
    "&",
    "&#",
    "&lt",
    "\"",
    "'",
    ">",
    "<",
    "=",
    "/",
    "é",
    "\u{1f600}",
    "\0",
    "\u{c}",
    "document.write('<a href=#>x</a>')",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(SOUP), 0..40).prop_map(|pieces| numbered(&pieces.concat()))
}

fn numbered(html: &str) -> String {
    let parts = html.split('#').enumerate();
    parts.map(|(n, part)| if n == 0 { part.to_owned() } else { format!("{n}{part}") }).collect()
}

/// Elements with their end tags, holding others: the HTML ones, and where the namespace changes.
const BLOCKS: &[&str] = &["div", "section", "ul", "blockquote", "template", "noscript", "article"];
const FOREIGN: &[&str] =
    &["svg", "g", "text", "foreignObject", "desc", "title", "math", "mi", "mtext", "style", "script"];
const LEAVES: &[&str] = &[
    "<a href=#>x</a>",
    "<a href='#'><b>x</b></a>",
    "<img src=#>",
    "<a xlink:href=#>x</a>",
    "<p><a href=#>x</a></p>",
    "<script>'<a href=#>'</script>",
    "<style><a href=#></style>",
    "<title><a href=#>x</a></title>",
    "<svg/>",
    "<textarea><a href=#></textarea>",
    "<!-- <a href=#> -->",
    "<![CDATA[<a href=#>]]>",
    "text",
    "<math/>",
    "<font><a href=#>x</a></font>",
    "<font color=red><a href=#>x</a></font>",
    "<path d=''></path>",
    "<circle></circle>",
    "<table><tr><td><a href=#>x</table>",
    "<annotation-xml encoding='text/html'><a href=#>x</a></annotation-xml>",
];

fn tree() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(LEAVES).prop_map(str::to_owned);
    let tree = leaf.prop_recursive(5, 40, 4, |inner| {
        let names: Vec<&str> = BLOCKS.iter().chain(FOREIGN).copied().collect();
        (prop::sample::select(names), prop::collection::vec(inner, 0..4))
            .prop_map(|(name, content)| format!("<{name}>{}</{name}>", content.concat()))
    });
    prop::collection::vec(tree, 0..4).prop_map(|trees| numbered(&trees.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn tag_soup_gives_the_links_of_a_full_parser(html in soup()) {
        check(&html);
    }

    #[test]
    fn nested_content_gives_the_links_of_a_full_parser(html in tree()) {
        check(&html);
    }
}
