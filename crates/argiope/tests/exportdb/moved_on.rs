//! Duplicates in `crawldb` whose original has another content by now.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use testdb::Postgres;
use testkit::crawled::Crawled;
use testweb::{Reply, Web, from_fn};

const SITE: &str = "http://small.test";
const OLD: &str = "<title>Old</title><p>The old page.";

/// Two pages and two documents, each a duplicate of the other until the originals change.
fn web(has_changed: &Arc<AtomicBool>, originals: &'static [&'static str]) -> Web {
    let has_changed = has_changed.clone();
    let site = from_fn(move |request| {
        let path = request.path();
        let is_new = has_changed.load(SeqCst) && originals.contains(&path);
        let pdf = |body: &'static str| Reply::new(200).header("Content-Type", "application/pdf").body(body);
        match path {
            "/" => Reply::html("<a href=/a>a</a> <a href=/b>b</a> <a href=/c.pdf>c</a> <a href=/d.pdf>d</a>"),
            "/a" | "/b" => Reply::html(if is_new { "<title>New</title><p>The new page." } else { OLD }),
            "/c.pdf" | "/d.pdf" => pdf(if is_new { "%PDF-1.4 new" } else { "%PDF-1.4 old" }),
            _ => Reply::error(404, path),
        }
    });
    Web::new().site("small.test", site)
}

/// The rows of the twins: path, type, page, document; and their links to one another.
fn exported(crawled: &Crawled, server: &Postgres) -> (Vec<[String; 4]>, Vec<[String; 2]>) {
    assert_eq!(crawled.run("export", &["crawldb", "-o", &server.address()]).code, 0);
    let mut client = server.client();
    let pages = "SELECT url, page_type_code::text, coalesce(html_content, ''), coalesce(convert_from(data, 'UTF8'), '')
                 FROM crawldb.page LEFT JOIN crawldb.page_data ON page_id = page.id WHERE url ~ '/[abcd]' ORDER BY url";
    let links = "SELECT source.url, target.url FROM crawldb.link JOIN crawldb.page source ON source.id = from_page
                 JOIN crawldb.page target ON target.id = to_page WHERE source.url ~ '/[abcd]' ORDER BY 1, 2";
    let path = |url: &str| url.replacen(SITE, "", 1);
    let pages = client.query(pages, &[]).expect(pages);
    let links = client.query(links, &[]).expect(links);
    let text = |row: &postgres::Row, at: usize| path(row.get(at));
    (
        pages.iter().map(|row| [0, 1, 2, 3].map(|at| text(row, at))).collect(),
        links.iter().map(|row| [0, 1].map(|at| text(row, at))).collect(),
    )
}

#[test]
fn a_duplicate_whose_original_has_changed_is_a_page_with_its_content() {
    let has_changed = Arc::new(AtomicBool::new(false));
    let server = Postgres::start();
    let crawl = |originals| {
        has_changed.store(false, SeqCst);
        Crawled::of(web(&has_changed, originals), &format!("{SITE}/"), &["--concurrency", "1", "--no-sitemaps"])
    };
    // Which are the originals is the same in each crawl of these URLs.
    let (before, links) = exported(&crawl(&[]), &server);
    let is_original = |path: &str| before.iter().any(|row| row[0] == path && row[1] != "DUPLICATE");
    let (page, document) = (is_original("/a"), is_original("/c.pdf"));
    let originals: &[&str] = match (page, document) {
        (true, true) => &["/a", "/c.pdf"],
        (true, false) => &["/a", "/d.pdf"],
        (false, true) => &["/b", "/c.pdf"],
        (false, false) => &["/b", "/d.pdf"],
    };
    let copies = [if page { "/b" } else { "/a" }, if document { "/d.pdf" } else { "/c.pdf" }];
    assert_eq!(links, [[copies[0], originals[0]], [copies[1], originals[1]]], "each to its original");

    let crawled = crawl(originals);
    has_changed.store(true, SeqCst);
    let only = originals.iter().flat_map(|path| ["--only".to_owned(), format!("*{path}")]).collect::<Vec<_>>();
    let only: Vec<&str> = only.iter().map(String::as_str).collect();
    assert_eq!(crawled.crawl(&[&["--again", "--no-sitemaps"], &only[..]].concat()).code, 0);
    let (after, links) = exported(&crawled, &server);
    let row = |path: &str| {
        let row = after.iter().find(|row| row[0] == path).expect("a row");
        [1, 2, 3].map(|at| row[at].as_str())
    };
    assert_eq!(row(copies[0]), ["HTML", OLD, ""]);
    assert_eq!(row(copies[1]), ["BINARY", "", "%PDF-1.4 old"]);
    assert_eq!(row(originals[0])[0], "HTML");
    assert_eq!(row(originals[1]), ["BINARY", "", "%PDF-1.4 new"]);
    assert_eq!(links, [] as [[String; 2]; 0], "none repeats the other any more");
}
