//! Pages without end: each trap is bounded, and its last URLs say which rule ended it.

use testweb::advanced;

use super::{crawl, sandbox};
use crate::crawl::{Crawl, outcome};

/// Crawls from a URL of the advanced sandbox that leads on and on.
async fn check(path: &str, options: &[&str], fetched: usize, reason: &str) {
    let server = sandbox().await;
    let seed = format!("http://{}{path}", advanced::HOST);
    let found =
        crawl(Crawl::of(&server, &[&seed]).with(&["--no-sitemaps", "--max-crawl-delay", "0"]).with(options)).await;
    let of = |wanted: &str| found.pages.values().filter(|entry| outcome(entry) == wanted).collect::<Vec<_>>();
    assert_eq!(of("html").len(), fetched, "{path}");
    assert!(
        !of("trap").is_empty() && of("html").len() + of("trap").len() == found.pages.len(),
        "{:?}",
        found.outcomes()
    );
    for trapped in of("trap") {
        assert_eq!(trapped.visit.as_ref().map(|visit| visit.reason.as_str()), Some(reason));
    }
    let asked = server.log().iter().filter(|entry| entry.host == advanced::HOST).count();
    assert_eq!(asked, fetched + 1, "each page once, and robots.txt");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar() {
    let reason = "more than 30 pages that differ only in their dates";
    check("/traps/calendar?month=2026-11", &["--max-calendar-pages", "30"], 30, reason).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_ids() {
    check("/traps/session?sid=8f14e45fceea167a", &[], 50, "more than 50 pages that differ only in a session id").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn facets() {
    let reason = "more than 40 queries of three or more parameters on one path";
    check("/traps/facets?color=black&size=1&page=1", &["--max-queries-per-path", "40"], 40, reason).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_that_contain_each_other() {
    check("/traps/maze/", &[], 8, "segments of the path repeat more than 3 times").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_grow() {
    check("/traps/append/", &["--max-repeated-segments", "0"], 24, "path deeper than 25 segments").await;
}
