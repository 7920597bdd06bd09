//! Duplicates whose original has another content by now, or none: every reader goes by what is still at them.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use testkit::crawled::Crawled;
use testkit::ran::Ran;
use testweb::{Reply, Web, from_fn};

const SITE: &str = "http://small.test";
const OLD: &str = "<title>Old</title><p>The needle of both pages, a needle. <a href=/old>old</a>";
const NEW: &str = "<title>New</title><p>A thread for one of them. <a href=/new>new</a>";
const TWINS: [&str; 2] = ["/a", "/b"];

/// What is at one of the twins now: a path, and a page or nothing. The other twin never changes.
type Changed = Arc<Mutex<Option<(String, Option<&'static str>)>>>;

struct Twins {
    crawled: Crawled,
    changed: Changed,
    original: String,
    copy: String,
}

/// A crawl that fetched one page at two URLs. The second of them may be sent in another coding.
fn crawl(is_coded: bool) -> Twins {
    let changed = Changed::default();
    let now = changed.clone();
    let site = from_fn(move |request| {
        let path = request.path();
        let found = now.lock().expect("nobody panicked").clone();
        let body = match found.filter(|(changed, _)| changed == path) {
            Some((_, found)) => found,
            None if TWINS.contains(&path) => Some(OLD),
            None if path == "/" => Some("<a href=/a>a</a> <a href=/b>b</a>"),
            None if ["/old", "/new"].contains(&path) => Some(if path == "/old" { "<p>left" } else { "<p>right" }),
            None => None,
        };
        match body {
            None => Reply::error(404, path),
            Some(body) if is_coded && path == TWINS[1] => Reply::html(gzipped(body)).header("Content-Encoding", "gzip"),
            Some(body) => Reply::html(body),
        }
    });
    let web = Web::new().site("small.test", site);
    let crawled = Crawled::of(web, &format!("{SITE}/"), &["--concurrency", "1", "--no-sitemaps"]);
    let (mut original, mut copy) = (TWINS[0].to_owned(), TWINS[1].to_owned());
    let outcome = |path: &str| crawled.explain(path)["row"]["outcome"].clone();
    if outcome(&copy) != "duplicate" {
        std::mem::swap(&mut original, &mut copy);
    }
    assert_eq!([outcome(&original), outcome(&copy)], ["html", "duplicate"]);
    Twins { crawled, changed, original, copy }
}

fn gzipped(body: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body.as_bytes()).expect("in memory");
    encoder.finish().expect("in memory")
}

/// Which URLs have a text, and how often.
fn found(crawled: &Crawled, text: &str, more: &[&str]) -> BTreeSet<(String, u64)> {
    let found = crawled.run("search", &[&[text, "--json"], more].concat()).json();
    let rows = found["rows"].as_array().expect("rows").iter();
    let path = |row: &Value| row["url"].as_str().expect("a URL").replacen(SITE, "", 1);
    rows.map(|row| (path(row), row["occurrences"].as_u64().expect("a number"))).collect()
}

impl Twins {
    /// The original, and nothing else, is visited again.
    fn visit_original(&self, found: Option<&'static str>) {
        *self.changed.lock().expect("nobody panicked") = Some((self.original.clone(), found));
        let only = format!("*{}", self.original);
        let ran = self.crawled.crawl(&["--again", "--only", &only, "--no-sitemaps"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// What every reader says of the copy, which still has the old page, and which does not depend on that of the original.
    fn check(&self, original_has: &str, is_duplicate: bool) {
        let pages = |paths: &[&String], occurrences: u64| -> BTreeSet<(String, u64)> {
            paths.iter().map(|path| ((*path).clone(), occurrences)).collect()
        };
        let of_both = [&self.original, &self.copy];
        let old = if original_has == "old" { &of_both[..] } else { &of_both[1..] };
        let new = if original_has == "new" { &of_both[..1] } else { &[] };
        for more in [&[][..], &["--main-text"], &["--threads", "3"], &["--since", "2020-01-01"]] {
            assert_eq!(found(&self.crawled, "needle", more), pages(old, 2), "{original_has} {more:?}");
            assert_eq!(found(&self.crawled, "thread", more), pages(new, 1), "{original_has} {more:?}");
        }
        assert_eq!(found(&self.crawled, "Old", &[]), pages(old, 1), "the title");

        let exported = |format: &str| -> Ran { self.crawled.run("export", &[format, "--outcome", "duplicate"]) };
        let row: Value = serde_json::from_str(exported("jsonl").stdout.trim()).expect("the row of the copy");
        assert_eq!(row["duplicate_of"], format!("{SITE}{}", self.original), "what its visit found");
        let kvs = exported("kvs").stdout;
        assert_eq!(kvs.contains("canonicalURL"), is_duplicate, "{kvs}");
        assert_eq!(kvs.contains(&format!("page {} {OLD}", OLD.len())), !is_duplicate, "{kvs}");

        let report = self.crawled.run("report", &["--json"]).json();
        let duplicates = &report["duplicates"];
        assert_eq!(duplicates["exact"]["all_sites"], u64::from(is_duplicate), "{duplicates}");
        let copied = match is_duplicate {
            true => json!([{"url": format!("{SITE}{}", self.original), "copies": 1}]),
            false => json!([]),
        };
        assert_eq!(duplicates["most_copied"]["rows"], copied);
        // Those beside the twins are pages, as many as are known by then.
        let overview = &report["overview"];
        let beside = overview["pages"]["all_sites"].as_u64().expect("a number") - 2;
        let pages = beside + u64::from(original_has != "nothing") + u64::from(!is_duplicate);
        assert_eq!(overview["html_pages"]["all_sites"], pages, "{overview}");
    }

    fn check_derived_too(&self, original_has: &str, is_duplicate: bool) {
        self.check(original_has, is_duplicate);
        assert_eq!(self.crawled.run("derive", &["--all"]).code, 0);
        self.check(original_has, is_duplicate);
    }
}

#[test]
fn a_duplicate_has_what_its_original_had_until_it_is_visited_again() {
    let twins = crawl(false);
    twins.check("old", true);
    twins.visit_original(Some(NEW));
    twins.check_derived_too("new", false);
    twins.visit_original(Some(NEW));
    twins.check("new", false);
    twins.visit_original(Some(OLD));
    twins.check_derived_too("old", true);
}

#[test]
fn the_page_of_a_duplicate_is_found_when_the_original_is_gone() {
    let twins = crawl(false);
    twins.visit_original(None);
    twins.check_derived_too("nothing", false);
    twins.visit_original(Some(OLD));
    twins.check("old", true);
}

#[test]
fn a_duplicate_in_another_coding_is_found_by_the_first_content_of_its_original() {
    let twins = crawl(true);
    twins.check("old", true);
    twins.visit_original(Some(OLD));
    twins.check("old", true);
    twins.visit_original(Some(NEW));
    twins.check_derived_too("new", false);
    twins.visit_original(None);
    twins.check("nothing", false);
}

#[test]
fn a_round_that_visits_both_makes_a_page_of_the_duplicate() {
    let twins = crawl(false);
    twins.visit_original(Some(NEW));
    for _ in 0..2 {
        assert_eq!(twins.crawled.crawl(&["--again", "--no-sitemaps"]).code, 0);
    }
    assert_eq!(twins.crawled.explain(&twins.copy)["row"]["outcome"], "html");
    assert_eq!(found(&twins.crawled, "needle", &[]), BTreeSet::from([(twins.copy.clone(), 2)]));
    assert_eq!(found(&twins.crawled, "thread", &[]), BTreeSet::from([(twins.original.clone(), 1)]));
}
