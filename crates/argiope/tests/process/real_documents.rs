//! Real documents, Debian's of Python and of PostgreSQL: the crawl finds exactly the HTML pages that a walker with another
//! HTML parser finds.

use std::collections::BTreeSet;
use std::path::Path;

use model::Outcome;
use testweb::{Files, Web};

use crate::binary;
use crate::result::{entries, rows};
use crate::served::Served;
use crate::walker;
use crate::warcs;

const PYTHON: &str = "/usr/share/doc/python3-doc/html";
const CONTENTS: &str = "http://python.test/contents.html";
const POSTGRESQL: &str = "/usr/share/doc/postgresql-doc-15/html";
/// Of each of the two there are some hundreds: fewer would mean that the test looks at something else.
const PAGES_MIN: usize = 1_500;

fn documents(dir: &str) -> Files {
    let install = format!("there is no {dir}: `apt-get install python3-doc postgresql-doc-15` brings the documents");
    assert!(Path::new(dir).join("index.html").exists(), "{install}");
    Files::new(dir.as_ref()).unwrap()
}

#[test]
fn the_pages_found_are_those_that_another_parser_finds() {
    check("");
}

/// The rule for groups that bring only more of themselves looks at so few pages that it has its chance to err.
#[test]
fn no_page_is_lost_where_a_trap_rule_decides_by_few_pages() {
    check(" --low-yield-window 16 --max-low-yield-pages 16");
    check(" --low-yield-window 100 --max-low-yield-pages 1");
}

/// The table of contents has 13,962 links, many of them to the same pages: one cut at 10,000 hides some.
#[test]
fn a_page_of_many_links_hides_no_page_behind_them() {
    let web = Web::new().site("python.test", documents(PYTHON));
    let (served, dirs) = (Served::start(web), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let flags = "--depth 2 --delay 0 --ip-delay 0 --concurrency 8 --connections-per-site 8 --progress none";
    let text = format!("crawl {CONTENTS} {flags} -o {} {}", dir.display(), served.flags().join(" "));
    binary::run(&text.split(' ').collect::<Vec<_>>()).expect_code(0);
    let walked = walker::walk_within(&served, CONTENTS, 2);
    assert!(walked[CONTENTS] > 10_000, "{} links", walked[CONTENTS]);
    let expect: BTreeSet<String> = walked.into_keys().collect();
    let found = html_pages(&entries(&dir));
    println!("{} pages found, {} walked", found.len(), expect.len());
    assert_eq!(found.symmetric_difference(&expect).collect::<Vec<_>>(), <[&String; 0]>::default());
}

/// The URLs of HTML pages, repeated ones too.
fn html_pages(entries: &[store::Entry]) -> BTreeSet<String> {
    let is_html = |entry: &&store::Entry| {
        let visit = entry.visit.as_ref().unwrap();
        let declared = visit.content_type.as_deref().unwrap_or_default();
        visit.outcome == Outcome::Html || visit.outcome == Outcome::Duplicate && declared.starts_with("text/html")
    };
    entries.iter().filter(is_html).map(|entry| entry.candidate.url.to_string()).collect()
}

fn check(more_flags: &str) {
    let web = Web::new().site("python.test", documents(PYTHON)).site("postgresql.test", documents(POSTGRESQL));
    let (served, dirs) = (Served::start(web), tempfile::tempdir().unwrap());
    let seeds = ["http://python.test/", "http://postgresql.test/"];
    let dir = dirs.path().join("crawl");
    let flags = "--delay 0 --ip-delay 0 --concurrency 8 --connections-per-site 8 --no-sitemaps --progress none";
    let text =
        format!("crawl {} {flags}{more_flags} -o {} {}", seeds.join(" "), dir.display(), served.flags().join(" "));
    let (walked, ended) = std::thread::scope(|scope| {
        let crawl = scope.spawn(|| binary::run(&text.split(' ').collect::<Vec<_>>()));
        (walker::walk(&served, &seeds), crawl.join().unwrap())
    });
    ended.expect_code(0);
    let entries = entries(&dir);
    let found = html_pages(&entries);
    let expect: BTreeSet<String> = walked.iter().filter(|(_, is_html)| **is_html).map(|(url, _)| url.clone()).collect();
    let missing: Vec<&String> = expect.difference(&found).collect();
    let extra: Vec<&String> = found.difference(&expect).collect();
    println!("{} pages found, {} walked", found.len(), expect.len());
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:#?}\nextra: {extra:#?}");
    assert!(found.len() >= PAGES_MIN, "only {} pages", found.len());
    // Nothing else was asked for either: the same URLs, pages or not.
    let rows = rows(&entries);
    let asked: BTreeSet<&String> = rows.iter().filter(|(_, row)| row.status != 0).map(|(url, _)| url).collect();
    let asked_by_walker: BTreeSet<&String> = walked.keys().collect();
    let differs: Vec<&&String> = asked.symmetric_difference(&asked_by_walker).collect();
    assert!(differs.is_empty(), "asked for by one only: {differs:#?}");
    warcs::check(&dir, &entries);
}
