//! `argiope export DIR kvs`, read by what its form says.

use std::collections::BTreeMap;

use sha1::{Digest, Sha1};

use crate::crawled::{Crawled, expected, is_in_trap, status_of};

type Row = BTreeMap<String, Vec<u8>>;

/// The ten ways in which `/links/spelling.html` names one page.
const SPELLINGS: &str = "relative with a fragment capitals in scheme and host the default port without a scheme dot segments \
                         an escaped dot segment an escaped letter white space around backslashes";

/// `KEY SP (COLUMN SP LENGTH SP BYTES SP)* LF`, by URL.
fn read(mut table: &[u8]) -> BTreeMap<String, Row> {
    fn word<'t>(table: &mut &'t [u8]) -> &'t str {
        let end = table.iter().position(|byte| *byte == b' ').expect("a space behind a word");
        let (word, rest) = table.split_at(end);
        *table = &rest[1..];
        std::str::from_utf8(word).expect("UTF-8")
    }
    let mut rows = BTreeMap::new();
    while !table.is_empty() {
        let key = word(&mut table).to_owned();
        let mut row = Row::new();
        while table[0] != b'\n' {
            let column = word(&mut table).to_owned();
            let length: usize = word(&mut table).parse().expect("a number");
            let (value, rest) = table.split_at(length);
            assert_eq!(rest[0], b' ', "{column}");
            table = &rest[1..];
            assert!(row.insert(column, value.to_owned()).is_none(), "a column comes once");
        }
        table = &table[1..];
        let url = text(&row, "url");
        let digest: String = Sha1::digest(url.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(key, digest, "{url}");
        assert!(rows.insert(url.clone(), row).is_none(), "{url} comes once");
    }
    rows
}

fn text(row: &Row, column: &str) -> String {
    String::from_utf8(row.get(column).cloned().unwrap_or_default()).expect("UTF-8")
}

fn with_port(url: &str) -> String {
    url.replacen(".test/", ".test:80/", 1)
}

#[test]
fn the_advanced_sandbox_is_the_table_of_its_definition() {
    let crawled = Crawled::advanced();
    let rows = read(&crawled.export("kvs", &[]));
    let attempted: BTreeMap<String, (&str, String)> = expected()
        .iter()
        .filter(|(_, outcome)| !["disallowed", "excluded"].contains(*outcome))
        .map(|(url, outcome)| (with_port(url), (*outcome, status_of(url, outcome))))
        .collect();
    for (url, (outcome, status)) in &attempted {
        let row = rows.get(url).unwrap_or_else(|| panic!("{url} is missing"));
        assert_eq!(&text(row, "responseCode"), status, "{url}");
        assert_eq!(row.contains_key("canonicalURL"), *outcome == "duplicate", "{url}");
        let is_page = *outcome == "html" && !url.ends_with("/no-type");
        assert_eq!(row.contains_key("page"), is_page, "{url}");
    }
    let without_port = |url: &str| url.replacen(".test:80/", ".test/", 1);
    let extra: Vec<&String> =
        rows.keys().filter(|url| !attempted.contains_key(*url) && !is_in_trap(&without_port(url))).collect();
    assert!(extra.is_empty(), "{extra:?}");

    let row = |path: &str| &rows[&format!("http://advanced.test:80{path}")];
    let leaf = "<!doctype html>\n<html lang=en>\n<title>/links/same.html</title>\n<h1>/links/same.html</h1>\n\
                <p>You have found /links/same.html.\n";
    let same = row("/links/same.html");
    assert_eq!(text(same, "page"), leaf);
    assert_eq!(text(same, "length"), leaf.len().to_string());
    assert_eq!(text(same, "contentType"), "text/html; charset=utf-8");
    assert_eq!(text(same, "anchors:http://advanced.test:80/links/spelling.html"), SPELLINGS);
    assert_eq!(same.keys().filter(|column| column.starts_with("anchors")).count(), 1, "one column a page");
    assert!(row("/encodings/windows-1250.html")["page"].contains(&0xc8), "bytes as they were served");
    assert!(!row("/encodings/chunked.html").contains_key("length"), "the server said none");
    assert_eq!(text(row("/documents/empty.html"), "page"), "");
    assert_eq!(text(row("/documents/paper.pdf"), "contentType"), "application/pdf");
    assert_eq!(text(row("/duplicates/copy-2.html"), "canonicalURL"), "http://advanced.test:80/duplicates/copy-1.html");
    assert_eq!(row("/").keys().filter(|column| column.starts_with("anchors")).count(), 0, "nothing leads back");
}

#[test]
fn a_filter_leaves_rows_out() {
    let crawled = Crawled::advanced();
    let path = crawled.path("crawl.table");
    crawled.export("kvs", &["--outcome", "duplicate", "-o", &path]);
    let rows = read(&std::fs::read(path).expect("a file"));
    let urls: Vec<&str> = rows.keys().map(String::as_str).filter(|url| !url.contains("/traps/")).collect();
    assert_eq!(urls, ["2", "3"].map(|n| format!("http://advanced.test:80/duplicates/copy-{n}.html")));
    assert_eq!(
        text(&rows[urls[0]], "anchors:http://advanced.test:80/duplicates/copy-1.html"),
        "/duplicates/copy-2.html"
    );
}
