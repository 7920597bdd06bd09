//! The filters, by the rows of `jsonl`.

use std::collections::BTreeSet;

use serde_json::Value;
use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::ran::argiope;

/// Two hosts, and documents of several types.
fn crawl() -> Crawled {
    let one = Pages::new()
        .html(
            "/",
            "<a href=/page>page</a><a href=/image.png>image</a><a href=/data>data</a><a href=http://two.test/>two</a>",
        )
        .html("/page", "<title>Page</title>")
        .reply("/image.png", Reply::new(200).header("Content-Type", "image/png").body(&b"\x89PNG\r\n\x1a\nxx"[..]))
        .reply("/data", Reply::new(200).header("Content-Type", "Application/JSON; charset=utf-8").body("{}"));
    let two = Pages::new().html("/", "<title>Two</title><a href=/gone>gone</a>");
    let web = Web::new().site("one.test", one).site("two.test", two);
    Crawled::of(web, "http://one.test/", &["--scope", "any"])
}

fn urls(crawled: &Crawled, arguments: &[&str]) -> BTreeSet<String> {
    let ran = crawled.run("export", &[&["jsonl"], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    let rows = ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rows.map(|row| row["url"].as_str().expect("a URL").trim_start_matches("http://").to_owned()).collect()
}

#[test]
fn rows_are_chosen_by_site_outcome_and_type() {
    let crawled = crawl();
    let check = |arguments: &[&str], expect: &[&str]| {
        let expect: BTreeSet<String> = expect.iter().map(|&url| url.to_owned()).collect();
        assert_eq!(urls(&crawled, arguments), expect, "{arguments:?}");
    };
    let one = ["one.test/", "one.test/page", "one.test/image.png", "one.test/data"];
    check(&[], &[&one[..], &["two.test/", "two.test/gone"]].concat());
    check(&["--site", "one.test"], &one);
    check(&["--site", "http://one.test"], &one);
    check(&["--site", "ONE.test", "--outcome", "html"], &["one.test/", "one.test/page"]);
    check(&["--outcome", "http_error"], &["two.test/gone"]);
    check(
        &["--outcome", "http_error", "--outcome", "binary"],
        &["two.test/gone", "one.test/image.png", "one.test/data"],
    );
    check(&["--content-type", "image/*"], &["one.test/image.png"]);
    check(&["--content-type", "application/json"], &["one.test/data"]);
    check(&["--content-type", "image/png", "--site", "two.test"], &[]);
}

#[test]
fn a_site_that_the_crawl_does_not_know_is_an_error() {
    let (crawled, files) = (crawl(), tempfile::tempdir().expect("a directory"));
    let ask = |format: &str, site: &str| {
        let target = files.path().join(format).display().to_string();
        (crawled.run("export", &[format, "--site", site, "-o", &target]), target)
    };
    for (format, site, nearest) in [
        ("jsonl", "tow.test", "two.test"),
        ("wacz", "https://one.test", "http://one.test"),
        ("parquet", "onne.test", "one.test"),
    ] {
        let (ran, target) = ask(format, site);
        assert_eq!(ran.code, 2, "{ran:?}");
        let says = format!("--site: no such site in the crawl: {site}; nearest: {nearest}");
        assert!(ran.stderr.contains(&says) && !std::path::Path::new(&target).exists(), "{ran:?}");
    }
    assert_eq!(ask("jsonl", "one.test").0.code, 0);
}

#[test]
fn rows_are_chosen_by_time() {
    let crawled = crawl();
    assert_eq!(urls(&crawled, &["--since", "2020-01-01"]), urls(&crawled, &[]));
    assert!(urls(&crawled, &["--since", "9999-01-01T00:00:00Z"]).is_empty());
    let rows = crawled.run("export", &["jsonl"]).stdout;
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let times: BTreeSet<String> = rows.map(|row| row["fetched_at"].as_str().expect("a time").to_owned()).collect();
    let last = times.last().expect("a time");
    let chosen = urls(&crawled, &["--since", last]);
    assert!(!chosen.is_empty() && chosen.len() < 6, "{chosen:?}");
}

#[test]
fn what_cannot_be_a_filter_is_an_error_of_usage() {
    for (flag, value, says) in [
        ("--site", "http://one.test/x", "without a path"),
        ("--site", "a b", "no host"),
        ("--outcome", "good", "is none of html, binary"),
        ("--outcome", "good", "too_large, excluded, trap, given_up, frontier"),
        (
            "--outcome",
            "not_modified",
            "has the row and the outcome of the visit that recorded its content; `argiope ui DIR`",
        ),
        ("--content-type", "html", "is not a media type"),
        ("--since", "yesterday", "is no date"),
    ] {
        let ran = argiope(&["export", "anywhere", "jsonl", flag, value]);
        assert_eq!(ran.code, 2, "{flag} {value}");
        assert!(ran.stderr.contains(&format!("{flag} {value}")) && ran.stderr.contains(says), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}
