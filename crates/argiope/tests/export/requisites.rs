//! `--requisites`: pages of every kind of furniture are archived without a browser, and replay as they were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use testkit::crawled::Crawled;
use testkit::pywb::{Pywb, get};
use testweb::furnished::{self, File};
use testweb::{Pages, Reply, Request, Web};
use warc::Reader;

/// How often each URL was requested.
fn requested(crawled: &Crawled) -> BTreeMap<String, usize> {
    let mut requested = BTreeMap::new();
    for entry in crawled.log() {
        *requested.entry(format!("http://{}{}", entry.host, entry.target)).or_default() += 1;
    }
    requested
}

#[test]
fn all_that_pages_need_is_fetched_once_and_replays_byte_for_byte() {
    let crawled = Crawled::of(furnished::web(), "http://furnished.test/", &["--requisites"]);
    let requested = requested(&crawled);
    let files = furnished::files();
    for File { url, .. } in &files {
        assert_eq!(requested.get(url), Some(&1), "{url}");
    }
    let known = |url: &str| {
        let is_page = furnished::PAGES.iter().any(|path| *url == format!("http://furnished.test{path}"));
        is_page || url == furnished::MOVED || url.ends_with("/robots.txt") || url.ends_with("/sitemap.xml")
    };
    let others: Vec<&String> =
        requested.keys().filter(|url| !known(url) && !files.iter().any(|file| file.url == **url)).collect();
    assert!(others.is_empty(), "{others:?}");

    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("crawl.wacz");
    let ran = crawled.run("export", &["wacz", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let pywb = Pywb::serve(dir.path(), &wacz);
    for File { url, media_type, body } in files {
        let (status, head, replayed) = get(pywb.port, &format!("/it/2030id_/{url}"));
        assert_eq!(status, "200", "{url}: {head}");
        assert!(head.contains(&format!("content-type: {media_type}")), "{url}: {head}");
        assert!(replayed == body, "{url}: {} bytes of {}", replayed.len(), body.len());
    }
    assert_eq!(get(pywb.port, &format!("/it/2030id_/{}", furnished::MOVED)).0, "301");
}

/// Two sites whose pages share a style sheet of a third, which both the first page and the order of the crawl make one of the first site.
fn sharing() -> Web {
    let of = |media_type: &'static str, body: &'static str| {
        Reply::new(200).header("Content-Type", media_type).header("ETag", "\"1\"").body(body.as_bytes().to_vec())
    };
    let style = "<link rel=icon href=data:,><link rel=stylesheet href=http://shared.test/s.css>";
    let one = Pages::new()
        .html("/", format!("{style}<img src=/one.png><a href=/more>more</a><a href=http://two.test/>two</a>"))
        .html("/more", format!("{style}<title>More</title>"))
        .reply("/one.png", of("image/png", "\u{89}PNG one"));
    let two = Pages::new()
        .html("/", format!("{style}<img src=/moved.png><img src=/two.svg><iframe src=http://one.test/framed></iframe>"))
        .reply("/moved.png", Reply::redirect(302, "http://shared.test/there.png"))
        .reply("/two.svg", of("image/svg+xml", "<svg><image href=/in.png /></svg>"))
        .reply("/in.png", of("image/png", "\u{89}PNG in"));
    let shared = testweb::from_fn(move |request: &Request| match request.path() {
        _ if request.header("if-none-match") == Some("\"1\"") => Reply::new(304).header("ETag", "\"1\""),
        "/s.css" => of("text/css", "@import 't.css'; body { background: url(/b.png) }"),
        "/t.css" => of("text/css", "@font-face { src: url(/f.woff2) }"),
        "/b.png" => of("image/png", "\u{89}PNG b"),
        "/f.woff2" => of("font/woff2", "wOF2 f"),
        "/there.png" => of("image/png", "\u{89}PNG there"),
        path => Reply::error(404, path),
    });
    let one = one.html("/framed", "<link rel=icon href=data:,><p>framed");
    Web::new().site("one.test", one).site("two.test", two).site("shared.test", shared)
}

/// The URLs of which a copy has a response, each once.
fn copied(crawled: &Crawled, arguments: &[&str]) -> BTreeSet<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("copy.warc.gz");
    let ran = crawled.run("export", &[&["warc", "-o", path.to_str().expect("UTF-8")], arguments].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let mut reader = Reader::open(&path, 0).expect("a copy");
    let mut urls = BTreeSet::new();
    while let Some(record) = reader.next_record().expect("whole") {
        urls.extend(record.header().target_uri().map(|url| url.trim_start_matches("http://").to_owned()));
    }
    urls
}

#[test]
fn a_filtered_copy_has_what_its_pages_need_wherever_that_lies() {
    let seeds = ["--scope", "http://*.test/*", "--requisites"];
    let crawled = Crawled::of(sharing(), "http://one.test/", &seeds);
    let of = |urls: &[&str]| urls.iter().map(|&url| url.to_owned()).collect::<BTreeSet<String>>();
    let shared = ["shared.test/s.css", "shared.test/t.css", "shared.test/b.png", "shared.test/f.woff2"];
    let two = ["two.test/", "two.test/moved.png", "two.test/two.svg", "two.test/in.png", "shared.test/there.png"];
    let expect = of(&[&two[..], &shared, &["one.test/framed"]].concat());
    assert_eq!(copied(&crawled, &["--site", "two.test"]), expect, "neither one.test/one.png nor its pages");
    let one = ["one.test/", "one.test/more", "one.test/framed", "one.test/one.png"];
    assert_eq!(copied(&crawled, &["--site", "one.test"]), of(&[&one[..], &shared].concat()));

    let lines = crawled.run("export", &["cdxj", "--site", "two.test"]).stdout;
    assert!(lines.contains("shared.test/f.woff2") && !lines.contains("one.png"), "{lines}");
    let rows = crawled.run("export", &["jsonl", "--site", "two.test"]).stdout;
    assert_eq!(rows.lines().count(), 1, "rows are of pages: {rows}");
    let dir = tempfile::tempdir().expect("a directory");
    let wacz = dir.path().join("two.wacz");
    let ran = crawled.run("export", &["wacz", "--site", "two.test", "-o", wacz.to_str().expect("UTF-8")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let pywb = Pywb::serve(dir.path(), &wacz);
    for (url, expect) in [("http://two.test/", "200"), ("http://shared.test/t.css", "200"), ("http://one.test/", "404")]
    {
        assert_eq!(get(pywb.port, &format!("/it/2030id_/{url}")).0, expect, "{url}");
    }
}

#[test]
fn a_page_that_is_visited_again_brings_what_it_needs() {
    let crawled = Crawled::of(sharing(), "http://one.test/", &["--scope", "http://*.test/*", "--requisites"]);
    let before = crawled.log().len();
    let ended = crawled.crawl(&["--again", "--only", "http://one.test/"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let log = crawled.log();
    let again: BTreeSet<String> = log[before..].iter().map(|entry| format!("{}{}", entry.host, entry.target)).collect();
    for url in ["one.test/", "one.test/one.png", "shared.test/s.css", "shared.test/t.css", "shared.test/f.woff2"] {
        assert!(again.contains(url), "{url}: {again:?}");
    }
    for url in ["one.test/more", "two.test/", "two.test/two.svg"] {
        assert!(!again.contains(url), "{url}: {again:?}");
    }
    let revisits = |segment: &PathBuf| {
        let mut reader = Reader::open(segment, 0).expect("a segment");
        let mut urls = Vec::new();
        while let Some(record) = reader.next_record().expect("whole") {
            let header = record.header();
            if header.record_type() == Some(warc::RecordType::Revisit) {
                let text = |name: &str| header.get(name).unwrap_or_default().to_owned();
                urls.push((text("WARC-Target-URI"), text("WARC-Profile")));
            }
        }
        urls
    };
    let revisited: Vec<(String, String)> = crawled.segments().iter().flat_map(revisits).collect();
    let of_shared: Vec<&(String, String)> = revisited.iter().filter(|(url, _)| url.contains("shared.test")).collect();
    assert_eq!(of_shared.len(), 4, "nothing is recorded twice: {revisited:?}");
    // Now and then one is requested without validators, to find out servers that are wrong.
    let unchanged = of_shared.iter().filter(|(_, profile)| profile.ends_with("/server-not-modified")).count();
    assert!(unchanged >= 2, "{revisited:?}");
}
