//! The links and images found must be those of a full HTML parser, here html5ever: on generated tag
//! soup, on generated trees of all kinds of content, on the stored inputs of the fuzz target `links` (`docs/fuzzing.md`), and
//! on real pages.

#[path = "../../../fuzz/properties/links.rs"]
mod links;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;

use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

fn check(page: &str) -> usize {
    links::compare(page, &links::parse(page, true))
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

#[test]
fn stored_inputs_give_the_links_of_a_full_parser() {
    replay::replay("links", links::hold);
}

/// Those of `postgresql-doc-15`, or below the directories that `ARGIOPE_PAGES` names, with colons between.
#[test]
fn real_pages_give_the_links_of_a_full_parser() {
    const PAGES: &str = "/usr/share/doc/postgresql-doc-15/html";
    let directories = std::env::var("ARGIOPE_PAGES").unwrap_or_else(|_| PAGES.to_owned());
    let (mut todo, mut pages, mut found) = (directories.split(':').map(PathBuf::from).collect::<Vec<_>>(), 0, 0);
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html" || extension == "htm") {
                println!("{}", path.display());
                found += check(&String::from_utf8_lossy(&fs::read(path).unwrap()));
                pages += 1;
            }
        }
    }
    println!("{pages} pages, {found} different links and images");
    assert!(pages > 0, "no pages in {directories}");
}
