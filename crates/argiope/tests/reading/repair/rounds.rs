//! Repairs of crawls of several rounds: of a page there are several visits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::crawled::{Crawled, flip};
use testweb::{Reply, Web, from_fn};
use warc::RecordType;

use super::{found, found_with, goes_on, readable, records, repaired, tables, walked};
use crate::check::checked;

/// Pages of the site with rounds.
const PAGES: usize = 30;

/// A site whose pages have tags. In the first version every page is as it was; later, every third has changed.
fn site_with_tags(version: Arc<AtomicUsize>) -> impl testweb::Site {
    from_fn(move |request| {
        let Some(number) = request.path().trim_start_matches('/').parse::<usize>().ok() else {
            let links: String = (1..=PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
            return if request.path() == "/" { Reply::html(links) } else { Reply::error(404, &request.target) };
        };
        let version = if number.is_multiple_of(3) { version.load(Ordering::Relaxed) } else { 0 };
        let tag = format!("\"{number}-{version}\"");
        let is_same = request.header("if-none-match") == Some(tag.as_str());
        let text = format!("<title>{number}</title><p>Page {number} in its version {version} says hello{number}.</p>");
        let reply = if is_same { Reply::new(304) } else { Reply::html(text) };
        reply.header("ETag", tag)
    })
}

/// A crawl of three rounds.
fn of_three_rounds(arguments: &[&str]) -> Crawled {
    let version = Arc::new(AtomicUsize::new(0));
    let web = Web::new().site("small.test", site_with_tags(version.clone()));
    let crawled = Crawled::of(web, "http://small.test/", arguments);
    for _ in 0..2 {
        version.fetch_add(1, Ordering::Relaxed);
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    crawled
}

#[test]
fn pointers_of_earlier_visits_are_moved_too() {
    for arguments in [&[][..], &["--segment-size", "8KB"]] {
        let crawled = of_three_rounds(arguments);
        let before = readable(&crawled);
        let segment = crawled.segments().remove(0);
        let requests = records(&segment, RecordType::Request);
        let (_, offset, length) = &requests[requests.len() / 2];
        flip(&segment, offset + length / 2);
        let (code, repair) = repaired(&crawled);
        assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
        assert!(repair["moved"].as_u64() > Some(0), "{repair}");
        assert_eq!(checked(&crawled), (0, vec![]));
        assert_eq!(readable(&crawled), before);
        assert!(before.1 >= PAGES, "{before:?}");
        goes_on(&crawled);
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
        assert_eq!(checked(&crawled), (0, vec![]));
    }
}

#[test]
fn a_damaged_response_of_an_earlier_visit_is_named_as_lost() {
    let crawled = of_three_rounds(&[]);
    let segment = crawled.segments().remove(0);
    let responses = records(&segment, RecordType::Response);
    // Of a page that never changed: its later visits have the content of this one.
    let of_page = |path: &str| responses.iter().find(|(url, ..)| url == &format!("http://small.test{path}"));
    let (_, offset, length) = of_page("/10").expect("a response");
    flip(&segment, offset + length / 2);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (1, &json!(["http://small.test/10"])), "{repair}");
    let (code, mut findings) = checked(&crawled);
    assert_eq!(code, 1);
    findings.retain(|finding| finding.starts_with("error"));
    let lost = "error: http://small.test/10: its response is not in the archive";
    let repeats = "error: http://small.test/10: it repeats http://small.test/10, whose response is not in the archive";
    assert_eq!(findings, [lost, repeats, repeats]);
}

/// Pages that all change with the version. While `as_asked` is 0, they are sent whole, whatever the request has of them already.
fn site_of_versions(version: Arc<AtomicUsize>, as_asked: Arc<AtomicUsize>) -> impl testweb::Site {
    from_fn(move |request| {
        let Some(number) = request.path().trim_start_matches('/').parse::<usize>().ok() else {
            let links: String = (1..=PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
            return if request.path() == "/" { Reply::html(links) } else { Reply::error(404, &request.target) };
        };
        let version = version.load(Ordering::Relaxed);
        let tag = format!("\"{number}-{version}\"");
        if as_asked.load(Ordering::Relaxed) > 0 && request.header("if-none-match") == Some(tag.as_str()) {
            return Reply::new(304).header("ETag", tag);
        }
        Reply::html(format!("<title>{number}</title><p>Page {number} has hello{number} edition{version}.</p>"))
            .header("ETag", tag)
    })
}

/// The next round writes into the empty segment that replaces a lost one. What its rows are is not what lay there before.
#[test]
fn a_round_after_lost_segments_finds_all_of_its_pages() {
    let version = Arc::new(AtomicUsize::new(0));
    let site = site_of_versions(version.clone(), Arc::new(AtomicUsize::new(1)));
    let crawled = Crawled::of(Web::new().site("small.test", site), "http://small.test/", &["--segment-size", "8KB"]);
    let first = crawled.segments();
    // Nothing changes in these two: their visits say nothing of what is there.
    for _ in 0..2 {
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
    }
    let later: Vec<PathBuf> = crawled.segments().into_iter().filter(|segment| !first.contains(segment)).collect();
    assert!(later.len() > 1, "{later:?}");
    later.iter().for_each(|segment| std::fs::remove_file(segment).expect("removed"));
    assert_eq!(repaired(&crawled).0, 1);
    assert_eq!(found_with(&crawled, "edition0"), PAGES);
    version.store(1, Ordering::Relaxed);
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    assert_eq!((found_with(&crawled, "edition1"), found_with(&crawled, "edition0")), (PAGES, 0));
    let last = later.last().expect("a segment");
    assert!(std::fs::metadata(last).expect("a segment").len() > 0, "the round wrote there");
    let errors = checked(&crawled).1.into_iter().filter(|finding| finding.starts_with("error"));
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
    let derived = crawled.run("derive", &[]);
    assert!(derived.code == 0 && derived.stdout.contains("nothing is missing"), "{derived:?}");
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!((found_with(&crawled, "edition1"), found_with(&crawled, "edition0")), (PAGES, 0));
}

/// The URL `/10` as the exports have it: its row, and how many pages `export pages` writes.
fn exported(crawled: &Crawled) -> (Value, usize) {
    let rows = crawled.run("export", &["jsonl"]).stdout;
    let mut rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let row = rows.find(|row| row["url"] == "http://small.test/10").expect("a row");
    let target = tempfile::tempdir().expect("a directory");
    let to = target.path().join("pages");
    let ran = crawled.run("export", &["pages", "-o", to.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let has_it = |path: &PathBuf| std::fs::read_to_string(path).expect("a page").contains("hello10 ");
    (row, walked(&to).iter().filter(|path| has_it(path)).count())
}

/// A record that only refers to the content is lost: the content is not, so no export leaves the page out.
#[test]
fn a_page_whose_content_another_visit_recorded_is_not_left_out() {
    for is_last in [true, false] {
        let (version, as_asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(1)));
        let site = site_of_versions(version.clone(), as_asked.clone());
        let crawled = Crawled::of(Web::new().site("small.test", site), "http://small.test/", &[]);
        let first = exported(&crawled);
        assert_eq!(first.1, 1);
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
        let before = crawled.segments();
        as_asked.store(0, Ordering::Relaxed);
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
        as_asked.store(1, Ordering::Relaxed);
        let segment = crawled.segments().into_iter().find(|segment| !before.contains(segment)).expect("a segment");
        if !is_last {
            assert_eq!(crawled.crawl(&["--again"]).code, 0);
        }
        let revisits = records(&segment, RecordType::Revisit);
        let (_, offset, length) = revisits.iter().find(|(url, ..)| url == "http://small.test/10").expect("a record");
        flip(&segment, offset + length / 2);
        let (code, repair) = repaired(&crawled);
        assert_eq!((code, &repair["lost"]), (1, &json!(["http://small.test/10"])), "{repair}");
        let check = |crawled: &Crawled| {
            let (row, pages) = exported(crawled);
            assert_eq!((pages, found_with(crawled, "hello10")), (1, 1), "{row}");
            row
        };
        // The first visit has the same content, and a record.
        let row = check(&crawled);
        assert_eq!((&row["round"], &row["warc_file"]), (&json!(1), &first.0["warc_file"]), "{row}");
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
        check(&crawled);
        assert_eq!(checked(&crawled).0, 0, "{:?}", checked(&crawled));
        assert_eq!(crawled.run("derive", &["--all"]).code, 0);
        check(&crawled);
        // Another content is in no record of before.
        version.store(1, Ordering::Relaxed);
        assert_eq!(crawled.crawl(&["--again"]).code, 0);
        let (row, pages) = exported(&crawled);
        assert_eq!((&row["round"], pages), (&json!(if is_last { 5 } else { 6 }), 1), "{row}");
    }
}

/// A round that was stopped goes on behind a repair, with the pages that it had not visited.
#[test]
fn a_repair_takes_no_page_out_of_a_round() {
    let crawled = of_three_rounds(&[]);
    let ran = crawled.crawl(&["--again", "--max-pages", "5"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let waiting = |crawled: &Crawled| crawled.run("status", &["--json"]).json()["round"]["left"].clone();
    let before = waiting(&crawled);
    assert!(before.as_u64() > Some(10), "{before}");
    let segment = crawled.segments().remove(0);
    let (_, offset, length) = records(&segment, RecordType::Request)[2].clone();
    flip(&segment, offset + length / 2);
    assert_eq!(repaired(&crawled).0, 0);
    assert_eq!(waiting(&crawled), before);
}

/// The rows of a damaged segment cannot be made again: those that were there stay.
#[test]
fn tables_stay_where_they_cannot_be_derived_again() {
    let crawled = of_three_rounds(&["--segment-size", "8KB"]);
    let before = readable(&crawled);
    let tables_before = tables(&crawled);
    assert!(crawled.segments().len() > 1);
    let segment = crawled.segments().remove(0);
    let (_, offset, length) = records(&segment, RecordType::Response)[2].clone();
    flip(&segment, offset + length / 2);
    let derived = crawled.run("derive", &["--all"]);
    assert_eq!(derived.code, 1, "{derived:?}");
    assert!(derived.stderr.contains("`argiope check --repair` mends the archive"), "{derived:?}");
    let names = |tables: &[(PathBuf, Vec<u8>)]| tables.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&tables(&crawled)), names(&tables_before));
    assert_eq!(found(&crawled), before.0);
}

/// What a page said before it changed is gone for good: that is no error for ever.
#[test]
fn an_earlier_version_that_is_lost_is_a_warning() {
    let crawled = of_three_rounds(&[]);
    let segment = crawled.segments().remove(0);
    let responses = records(&segment, RecordType::Response);
    let (_, offset, length) = responses.iter().find(|(url, ..)| url == "http://small.test/3").expect("a response");
    flip(&segment, offset + length / 2);
    let (code, repair) = repaired(&crawled);
    let lost = repair["lost_visits"].as_array().expect("a list");
    assert_eq!((code, lost.len()), (1, 1), "what was lost a moment ago: {repair}");
    assert_eq!((&lost[0]["url"], &lost[0]["round"]), (&json!("http://small.test/3"), &json!(1)));
    let (code, findings) = checked(&crawled);
    let warnings: Vec<_> = findings.iter().filter(|finding| finding.starts_with("warning: http:")).collect();
    assert_eq!((code, warnings.len()), (0, 1), "{findings:#?}");
    assert!(warnings[0].ends_with("its response is not in the archive, and nothing brings it back"), "{warnings:?}");
    // Its present version is as it was.
    assert_eq!(crawled.crawl(&["--again"]).code, 0);
    assert_eq!(checked(&crawled).0, 0);
}
