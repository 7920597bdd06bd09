//! `argiope export DIR jsonl`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use testweb::Web;

use testkit::crawled::{Crawled, HOSTILE_TITLE};
use testkit::ran::argiope;

const COLUMNS: [&str; 27] = [
    "url",
    "site",
    "depth",
    "outcome",
    "reason",
    "status",
    "content_type",
    "length",
    "digest",
    "duplicate_of",
    "fetched_at",
    "found_on",
    "title",
    "warc_file",
    "warc_offset",
    "warc_length",
    "domain",
    "via",
    "attempts",
    "redirect_to",
    "canonical",
    "out_degree",
    "round",
    "visit",
    "changed",
    "payload_url",
    "payload_at",
];

type Row = Map<String, Value>;

fn rows(text: &str) -> BTreeMap<String, Row> {
    let rows = text.lines().map(|line| serde_json::from_str::<Row>(line).expect("an object a line"));
    rows.map(|row| (row["url"].as_str().expect("a URL").to_owned(), row)).collect()
}

#[test]
fn a_row_has_the_columns_in_their_order() {
    let crawled = Crawled::small();
    let rows = rows(&crawled.run("export", &["jsonl"]).stdout);
    assert_eq!(rows.len(), 11);
    for (url, row) in &rows {
        assert_eq!(row.keys().collect::<Vec<_>>(), COLUMNS, "{url}");
    }
}

#[test]
fn rows_say_what_became_of_each_url() {
    let crawled = Crawled::small();
    let rows = rows(&crawled.run("export", &["jsonl"]).stdout);
    let root = "http://small.test/";
    for (path, depth, outcome, reason, status, found_on) in [
        ("/", 0, "html", None, Some(200), None),
        ("/a", 1, "html", None, Some(200), Some(root)),
        ("/copy", 2, "duplicate", None, Some(200), Some("http://small.test/a")),
        ("/b", 1, "redirect", None, Some(302), Some(root)),
        ("/target", 1, "html", None, Some(200), Some("http://small.test/b")),
        ("/gone", 1, "http_error", None, Some(404), Some(root)),
        ("/private/x", 1, "disallowed", Some("robots.txt line 2: Disallow: /private/"), None, Some(root)),
        ("/file.bin", 1, "binary", None, Some(200), Some(root)),
        ("/x/x/x/x/x", 1, "trap", Some("segments of the path repeat more than 3 times"), None, Some(root)),
        ("/from-sitemap", 1, "html", None, Some(200), Some("http://small.test/sitemap.xml")),
    ] {
        let row = &rows[&format!("http://small.test{path}")];
        let is = (&row["depth"], &row["outcome"], &row["reason"], &row["status"], &row["found_on"]);
        let expect = (&json!(depth), &json!(outcome), &json!(reason), &json!(status), &json!(found_on));
        assert_eq!(is, expect, "{path}");
        assert_eq!(row["site"], "http://small.test");
        assert_eq!(row["fetched_at"].is_string(), status.is_some(), "{path}");
        assert_eq!(row["warc_offset"].is_u64(), status.is_some(), "{path}");
        assert_eq!(row["warc_file"].is_string(), status.is_some(), "{path}");
        assert_eq!(row["length"].is_u64(), status.is_some(), "{path}");
    }
    assert_eq!(rows["http://other.test/"]["reason"], "out of scope host");
    assert_eq!(rows["http://small.test/copy"]["duplicate_of"], "http://small.test/a");
    assert_eq!(rows["http://small.test/copy"]["digest"], rows["http://small.test/a"]["digest"]);
    assert_eq!(rows[root]["title"], HOSTILE_TITLE);
    assert_eq!(rows[root]["content_type"], "text/html; charset=utf-8");
}

#[test]
fn a_hostile_title_is_escaped() {
    let text = Crawled::small().run("export", &["jsonl"]).stdout;
    assert!(text.contains(r"\u001b[31mred\u202e title"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn sitemaps_are_rows_only_where_all_is_asked_for() {
    let crawled = Crawled::small();
    let rows = rows(&crawled.run("export", &["jsonl", "--all"]).stdout);
    assert_eq!(rows.len(), 12);
    assert_eq!(rows["http://small.test/sitemap.xml"]["purpose"], "sitemap");
    for (url, row) in &rows {
        assert_eq!(row.keys().next_back().expect("columns"), "purpose", "{url}");
    }
}

#[test]
fn what_was_not_visited_is_in_the_frontier() {
    let crawled = Crawled::with(&["--max-pages", "1", "--no-sitemaps"]);
    let rows = rows(&crawled.run("export", &["jsonl"]).stdout);
    let row = &rows["http://small.test/a"];
    assert_eq!(row["outcome"], "frontier");
    let known = ["url", "site", "depth", "outcome", "found_on", "domain", "via", "attempts"];
    for column in COLUMNS.iter().filter(|column| !known.contains(column)) {
        assert_eq!(row[*column], Value::Null, "{column}");
    }
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let crawled = Crawled::small();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("rows.jsonl").display().to_string();
    let ran = crawled.run("export", &["jsonl", "-o", &path]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    assert_eq!(std::fs::read_to_string(&path).expect("written"), crawled.run("export", &["jsonl", "-o", "-"]).stdout);
    assert_eq!(dir.path().read_dir().expect("a directory").count(), 1, "nothing else is left");
    let ran = crawled.run("export", &["jsonl", "-o", "/dev/null"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "a device stays a device");
    let ran = crawled.run("export", &["jsonl", "-o", "/missing/rows"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("argiope: /missing/rows: "), "{ran:?}");
}

#[test]
fn an_unknown_format_is_an_error_of_usage() {
    let ran = argiope(&["export", "anywhere", "xlsx"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("invalid value 'xlsx'") && ran.stderr.contains("jsonl"), "{}", ran.stderr);
}

#[test]
fn the_advanced_sandbox_comes_out_as_its_table_says() {
    let flags = ["--max-retry-after", "1ms", "--max-calendar-pages", "5", "--max-queries-per-path", "5"];
    let flags = [&flags[..], &["--low-yield-window", "20", "--max-low-yield-pages", "20"]].concat();
    let crawled = Crawled::of(Web::sandboxes(), "http://advanced.test/", &flags);
    let rows = rows(&crawled.run("export", &["jsonl"]).stdout);
    for (url, outcome, why) in testweb::advanced::EXPECTED {
        let url = if url.starts_with('/') { format!("http://advanced.test{url}") } else { (*url).to_owned() };
        let is = rows.get(&url).map(|row| row["outcome"].clone());
        assert_eq!(is, Some(json!(outcome)), "{url}: {why}");
    }
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let story = crawled.run("explain", &["http://advanced.test/links/%7etilde.html#x", "--json"]).json();
    let way: Vec<&str> =
        story["found"].as_array().expect("a way").iter().filter_map(|step| step["url"].as_str()).collect();
    let expect = ["/", "/links/", "/links/spelling.html", "/links/~tilde.html"];
    assert_eq!(way, expect.map(|path| format!("http://advanced.test{path}")));
}
