//! Each file in `examples/` does what it says.

use std::collections::BTreeSet;
use std::path::Path;

use testweb::{Pages, Reply, Web};

use testkit::crawled::Crawled;
use testkit::ran::argiope;
use testkit::tables::pages;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    assert!(path.is_file(), "{}", path.display());
    path.display().to_string()
}

fn crawl(name: &str, web: Web, seed: &str) -> Crawled {
    Crawled::of(web, seed, &["--config", &example(name)])
}

#[test]
fn every_example_is_tested_here() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let names = std::fs::read_dir(dir).expect("examples").map(|entry| entry.expect("an entry").file_name());
    let names: BTreeSet<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    let tested = ["archive.toml", "cis5550.toml", "gov-si.toml", "llm-corpus.toml"].map(str::to_owned);
    assert_eq!(names, BTreeSet::from(tested));
}

#[test]
fn cis5550_obeys_the_first_rule_under_its_own_name() {
    let site = Pages::new()
        .text("/robots.txt", "User-agent: cis5550-crawler\nAllow: /abc\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n")
        .html(
            "/",
            "<a href=/abcdef>1</a><a href=/alpha>2</a><a href=/xyz>3</a><a href=/notes.txt>4</a><a href=/data>5</a>",
        )
        .html("/abcdef", "1")
        .html("/xyz", "3")
        .reply("/data", Reply::new(200).header("Content-Type", "application/zip").body(&b"zip"[..]));
    let crawled = crawl("cis5550.toml", Web::new().site("course.test", site), "http://course.test/");
    let pages = pages(crawled.dir());
    let outcome = |path: &str| pages[&format!("http://course.test{path}")]["outcome"].as_str();
    assert_eq!(
        ["/", "/abcdef", "/xyz", "/alpha", "/notes.txt", "/data"].map(outcome),
        ["html", "html", "html", "disallowed", "excluded", "binary"]
    );
    assert_eq!(pages["http://course.test/data"]["length"], "0", "HEAD was enough");
}

/// With the delays and waits of the course. A crawl that the time ended would have URLs left.
#[test]
fn cis5550_ends_on_the_advanced_sandbox_within_two_minutes() {
    let unhurried =
        ["--delay", "1s", "--ip-delay", "0s", "--backoff", "1s", "--max-crawl-delay", "5m", "--patience", "10m"];
    let settings = example("cis5550.toml");
    let settings = ["--config", &settings, "--max-time", "2m"];
    let arguments = [&settings[..], &unhurried].concat();
    let crawled = Crawled::of(Web::sandboxes(), "http://advanced.test/", &arguments);
    let status = argiope(&["status", crawled.dir()]);
    assert!(status.stdout.starts_with("finished: every URL found has its outcome\n"), "{status:?}");
    assert_eq!(pages(crawled.dir())["http://advanced.test/errors/503-twice.html"]["outcome"], "html");
}

#[test]
fn gov_si_stays_in_the_suffix_and_keeps_documents() {
    let www = Pages::new().html(
        "/",
        "<a href=http://evem.test.gov.si/>e</a><a href=http://outside.test/?from=.gov.si>o</a><a href=/report.pdf>r</a><a href=/song>s</a>",
    );
    let www = www
        .reply("/report.pdf", Reply::new(200).header("Content-Type", "application/pdf").body(&b"%PDF-1.4 report"[..]))
        .reply("/song", Reply::new(200).header("Content-Type", "audio/mpeg").body(&b"la la"[..]));
    let web = Web::new()
        .site("www.gov.si", www)
        .site("evem.test.gov.si", Pages::new().html("/", "evem"))
        .site("outside.test", Pages::new().html("/", "outside"));
    let crawled = crawl("gov-si.toml", web, "http://www.gov.si/");
    let pages = pages(crawled.dir());
    assert_eq!(pages["http://evem.test.gov.si/"]["outcome"], "html");
    assert_eq!(pages["http://outside.test/?from=.gov.si"]["outcome"], "excluded");
    assert_eq!(
        (&pages["http://www.gov.si/report.pdf"]["kind"][..], &pages["http://www.gov.si/report.pdf"]["length"][..]),
        ("pdf", "15")
    );
    let song = &pages["http://www.gov.si/song"];
    assert_eq!((&song["outcome"][..], &song["length"][..]), ("binary", "0"), "HEAD was enough");
}

#[test]
fn archive_takes_what_pages_need_from_everywhere_and_films_too() {
    let site = Pages::new()
        .html(
            "/",
            "<meta name=robots content=nofollow><a href=/film?utm_source=x>film</a><img src=http://images.test/1.png>",
        )
        .reply("/film?utm_source=x", Reply::new(200).header("Content-Type", "video/mp4").body(&b"film"[..]));
    let images =
        Pages::new().reply("/1.png", Reply::new(200).header("Content-Type", "image/png").body(&b"\x89PNG"[..]));
    let crawled =
        crawl("archive.toml", Web::new().site("site.test", site).site("images.test", images), "http://site.test/");
    let image = crawled.run("explain", &["http://images.test/1.png", "--json"]).json();
    let image = &image["row"];
    assert_eq!((&image["length"], &image["outcome"]), (&4.into(), &"binary".into()), "{image}");
    let pages = pages(crawled.dir());
    assert!(!pages.contains_key("http://images.test/1.png"), "it is no page");
    assert_eq!(pages["http://site.test/film?utm_source=x"]["length"], "4");
}

#[test]
fn llm_corpus_has_text_and_nothing_else() {
    let site = Pages::new()
        .html(
            "/",
            "<html lang=en><p>Words.</p><a href='/a?utm_source=x&b=2&a=1'>a</a><a href=/p.pdf>p</a><a href=/v>v</a>",
        )
        .html("/a?a=1&b=2", "<p>More words.")
        .reply("/p.pdf", Reply::new(200).header("Content-Type", "application/pdf").body(&b"%PDF-1.4"[..]))
        .reply("/v", Reply::new(200).header("Content-Type", "video/mp4").body(&b"film"[..]));
    let crawled = crawl("llm-corpus.toml", Web::new().site("www.words.test", site), "http://www.words.test/");
    let pages = pages(crawled.dir());
    assert_eq!(pages["http://www.words.test/a?a=1&b=2"]["text"], "More words.");
    for path in ["/p.pdf", "/v"] {
        assert_eq!(pages[&format!("http://www.words.test{path}")]["length"], "0", "{path}");
    }
}
