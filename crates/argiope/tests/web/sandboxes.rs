//! The sandboxes, whole: the outcome of every URL is the one that was written down by hand.

use std::collections::{BTreeMap, BTreeSet};

use model::Outcome;
use store::Entry;
use testweb::advanced::{self, EXPECTED, FIRST_MATCH, HOST, NEVER_REQUESTED, OTHER_HOST, TRAPS};
use testweb::{Scheme, Server, Web, simple};

use crate::crawl::{Crawl, Found, outcome, serve};

/// The limits of the traps in these tests, so that they are soon reached.
const TRAP_LIMITS: [&str; 10] = [
    "--max-calendar-pages",
    "9",
    "--max-session-pages",
    "8",
    "--max-queries-per-path",
    "15",
    "--low-yield-window",
    "50",
    "--max-low-yield-pages",
    "100",
];

/// The same for the log: the most requests that may begin with each prefix. Some of the facets have a value that is new.
const TRAP_REQUESTS: [(&str, usize); 6] = [
    ("/traps/calendar", 10),
    ("/traps/session", 9),
    ("/traps/facets", 26),
    ("/traps/random/", 600),
    ("/traps/nest/", 800),
    ("/traps/diary/", 600),
];

/// In a crawl of `https://advanced.test/` with `--scope site`: what full URLs of scheme http lead to, by redirect, link
/// or sitemap. They are outside, and there is no other way to most of them.
const ONLY_HTTP: [&str; 8] = [
    "/redirects/target-absolute.html",
    "/from-sitemap/xml.html",
    "/from-sitemap/entity.html?a=1&b=2",
    "/from-sitemap/gz.html",
    "/from-sitemap/txt.html",
    "/from-sitemap/rss.html",
    "/from-sitemap/atom.html",
    "/private/from-sitemap.html",
];
const ALSO_HTTP: [&str; 2] = ["/", "/links/same.html"];

/// Where the first match decides, `*` and `$` stand for themselves, and these rules forbid nothing that is there.
const ALLOWED_BY_PREFIX: [&str; 2] = ["/cgi-bin/run", "/reports/old.bak"];

async fn advanced() -> Server {
    serve(Web::new().site(HOST, advanced::site(0.0)).site(OTHER_HOST, advanced::other_site())).await
}

/// The table, with full URLs.
fn expected() -> BTreeMap<String, &'static str> {
    EXPECTED.iter().map(|(url, outcome, _)| (full("http", url), *outcome)).collect()
}

fn full(scheme: &str, url: &str) -> String {
    if url.starts_with('/') { format!("{scheme}://{HOST}{url}") } else { url.to_owned() }
}

fn trap_of(url: &str) -> Option<&'static str> {
    let path = url.split_once(HOST)?.1;
    TRAPS.iter().map(|trap| trap.prefix).find(|prefix| path.starts_with(prefix))
}

/// Judges a whole crawl of the advanced sandbox.
fn check(server: &Server, found: Found, expected: &BTreeMap<String, &'static str>) {
    let (trapped, pages): (BTreeMap<_, _>, BTreeMap<_, _>) =
        found.pages.into_iter().partition(|(url, _)| trap_of(url).is_some());
    let wrong: Vec<String> = expected
        .iter()
        .filter_map(|(url, expect)| {
            let is = pages.get(url).map_or("not found", outcome);
            let visit = pages.get(url).and_then(|entry| entry.visit.as_ref());
            (is != *expect).then(|| format!("{url}: {is}, not {expect}: {visit:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let extra: Vec<&String> = pages.keys().filter(|url| !expected.contains_key(*url)).collect();
    assert!(extra.is_empty(), "not in the table: {extra:?}");
    check_traps(server, &trapped);
    check_requests(server, expected);
}

fn check_traps(server: &Server, trapped: &BTreeMap<String, Entry>) {
    let log = server.log();
    for trap in TRAPS {
        let max =
            TRAP_REQUESTS.iter().find(|(prefix, _)| *prefix == trap.prefix).map_or(trap.fetched_max, |(_, max)| *max);
        let fetched: BTreeSet<&str> =
            log.iter().map(|entry| &*entry.target).filter(|target| target.starts_with(trap.prefix)).collect();
        assert!((1..=max).contains(&fetched.len()), "{}: {} fetched, at most {max}", trap.prefix, fetched.len());
        let mut told = false;
        for (url, entry) in trapped.iter().filter(|(url, _)| trap_of(url) == Some(trap.prefix)) {
            let reason = entry.visit.as_ref().map(|visit| visit.reason.as_str()).unwrap_or_default();
            match outcome(entry) {
                "html" => {}
                "trap" => told |= reason.contains("more than") || reason.contains("deeper than"),
                "redirect" => told |= reason == "not followed: more than 10 redirects in a row",
                other => panic!("{url}: {other} {reason}"),
            }
        }
        assert!(told, "{}: nothing says why it ended", trap.prefix);
    }
}

/// What must not be asked for was not, by the server's log; and no other host was.
fn check_requests(server: &Server, expected: &BTreeMap<String, &'static str>) {
    let log = server.log();
    assert!(log.iter().all(|entry| entry.host == HOST), "another host was asked");
    for entry in &log {
        let url = format!("{}://{HOST}{}", entry.scheme, entry.target);
        let forbidden = matches!(expected.get(&url), Some(&("disallowed" | "excluded")));
        assert!(!forbidden && !NEVER_REQUESTED.contains(&&*entry.target), "{url} was asked for");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn simple_has_exactly_its_ten_pages() {
    let server = serve(Web::sandboxes()).await;
    let crawl = Crawl::of(&server, &["http://simple.test/"]).at_once();
    crawl.run().await;
    let found = crawl.found();
    assert_eq!(found.pages.len(), simple::PAGES.len());
    for page in simple::PAGES {
        let visit = found.visit(&format!("http://{}{}", simple::HOST, page.path));
        assert_eq!(visit.outcome, Outcome::Html, "{}", page.path);
        assert_eq!((visit.title.as_deref(), visit.status), (Some(page.title), 200));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn advanced_is_as_its_table_says() {
    let server = advanced().await;
    let crawl = Crawl::of(&server, &["http://advanced.test/"]).at_once().with(&TRAP_LIMITS);
    crawl.run().await;
    let found = crawl.found();
    for (path, title) in advanced::TITLES {
        assert_eq!(found.visit(&full("http", path)).title.as_deref(), Some(*title));
    }
    check(&server, found, &expected());
}

#[tokio::test(flavor = "multi_thread")]
async fn advanced_by_first_match_differs_where_its_table_says() {
    let server = advanced().await;
    let crawl = Crawl::of(&server, &["http://advanced.test/"]).at_once().with(&TRAP_LIMITS);
    let crawl = crawl.with(&["--robots", "first-match"]);
    crawl.run().await;
    let mut expected = expected();
    expected.extend(FIRST_MATCH.iter().map(|(path, outcome)| (full("http", path), *outcome)));
    expected.extend(ALLOWED_BY_PREFIX.map(|path| (full("http", path), "html")));
    check(&server, crawl.found(), &expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn advanced_with_head_first_is_as_its_table_says() {
    let server = advanced().await;
    let crawl = Crawl::of(&server, &["http://advanced.test/"]).at_once().with(&TRAP_LIMITS).with(&["--head-first"]);
    crawl.run().await;
    check(&server, crawl.found(), &expected());
    let log = server.log();
    let asked = |method: &str, target: &str| log.iter().any(|entry| entry.method == method && entry.target == target);
    let pages = [("/", true), ("/documents/no-type", true), ("/documents/paper.pdf", false)];
    let errors = [("/errors/404.html", true), ("/errors/410.html", true), ("/errors/500.html", true)];
    for (target, got) in pages.into_iter().chain(errors) {
        assert_eq!((asked("HEAD", target), asked("GET", target)), (true, got), "{target}");
    }
    assert!(!asked("HEAD", "/robots.txt") && !asked("HEAD", "/sitemap-index.xml"));
}

/// Links with scheme `http` lead out of the scope.
#[tokio::test(flavor = "multi_thread")]
async fn advanced_over_https_is_as_its_table_says() {
    let server = advanced().await;
    let crawl = Crawl::of(&server, &["https://advanced.test/"]).at_once().with(&TRAP_LIMITS);
    let certificate = crawl.file("ca.pem", server.ca_pem());
    let crawl = crawl.with(&["--scope", "site", "--ca-cert", &certificate]);
    crawl.run().await;
    let mut expected: BTreeMap<_, _> =
        EXPECTED.iter().map(|(url, outcome, _)| (full("https", url), *outcome)).collect();
    for path in ONLY_HTTP {
        expected.remove(&full("https", path));
    }
    expected.extend(ONLY_HTTP.into_iter().chain(ALSO_HTTP).map(|path| (full("http", path), "excluded")));
    check(&server, crawl.found(), &expected);
    let secure = server.log().into_iter().filter(|entry| entry.scheme == Scheme::Https);
    assert!(secure.map(|entry| entry.protocol).all(|protocol| protocol == "HTTP/2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn advanced_through_a_proxy_is_as_its_table_says() {
    let server = advanced().await;
    let crawl = Crawl::routed(&["http://advanced.test/"]).at_once().with(&TRAP_LIMITS);
    let crawl = crawl.with(&["--proxy", &server.proxy()]);
    crawl.run().await;
    check(&server, crawl.found(), &expected());
}
