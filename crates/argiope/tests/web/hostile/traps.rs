//! Pages without end: each trap is bounded, and its last URLs say which rule ended it.

use std::collections::BTreeSet;

use testweb::advanced;

use testweb::advanced::TRAPS;

use super::{crawl_to_end, sandbox};
use crate::crawl::{Crawl, outcome};

/// Crawls from a URL of the advanced sandbox that leads on and on. As many pages are fetched, and all others are trapped for that reason.
async fn check(path: &str, options: &[&str], fetched: usize, reason: &str) {
    assert_eq!(trapped(path, options, reason).await.len(), fetched, "{path}");
}

/// The pages that are fetched on the way, the first first, until all others are trapped for that reason.
async fn trapped(path: &str, options: &[&str], reason: &str) -> Vec<String> {
    let server = sandbox().await;
    let seed = format!("http://{}{path}", advanced::HOST);
    let (found, _) =
        crawl_to_end(Crawl::of(&server, &[&seed]).with(&["--no-sitemaps", "--max-crawl-delay", "0"]).with(options))
            .await;
    let of = |wanted: &str| found.pages.values().filter(|entry| outcome(entry) == wanted).collect::<Vec<_>>();
    let mut fetched = of("html");
    assert!(!of("trap").is_empty() && fetched.len() + of("trap").len() == found.pages.len(), "{:?}", found.outcomes());
    for trapped in of("trap") {
        assert_eq!(trapped.visit.as_ref().map(|visit| visit.reason.as_str()), Some(reason));
    }
    let asked = server.log().iter().filter(|entry| entry.host == advanced::HOST).count();
    assert_eq!(asked, fetched.len() + 1, "each page once, and robots.txt");
    fetched.sort_by_key(|entry| entry.visit.as_ref().map(|visit| visit.at));
    fetched.iter().map(|entry| entry.candidate.url.to_string()).collect()
}

/// Of a calendar and of pages with session ids, the first repeats no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_calendar() {
    let reason = "more than 1000 pages that bring nothing new and differ only in their dates";
    check("/traps/calendar?month=2026-11", &[], 1_001, reason).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn session_ids() {
    let reason = "more than 50 pages that bring nothing new and differ only in a session id";
    check("/traps/session?sid=8f14e45fceea167a", &[], 51, reason).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_dataset() {
    let reason = "more than 30 pages that bring nothing new and differ only in their dates";
    check("/traps/calendar?month=2026-11", &["--max-calendar-pages", "30", "--no-dataset"], 31, reason).await;
    let reason = "more than 50 pages that bring nothing new and differ only in a session id";
    check("/traps/session?sid=8f14e45fceea167a", &["--no-dataset"], 51, reason).await;
    let reason = "more than 40 queries of three or more parameters on one path that bring nothing new";
    let options = ["--max-queries-per-path", "40", "--no-dataset"];
    trapped("/traps/facets?color=black&size=1&page=1", &options, reason).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn facets() {
    let reason = "more than 40 queries of three or more parameters on one path that bring nothing new";
    let fetched = trapped("/traps/facets?color=black&size=1&page=1", &["--max-queries-per-path", "40"], reason).await;
    // Whether the fifth page of a list comes before the end is a matter of the order in which the links are committed.
    let mut values = BTreeSet::new();
    let queries = fetched.iter().filter_map(|url| url.split_once('?'));
    let new = queries.filter(|(_, query)| query.split('&').fold(false, |is_new, value| values.insert(value) | is_new));
    assert_eq!(fetched.len(), 40 + new.count(), "those with a new value, and forty: {fetched:?}");
    assert!((12..=14).contains(&values.len()), "four colors, four sizes, and pages: {values:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn facets_by_default() {
    let reason = "more than 1000 queries of three or more parameters on one path that bring nothing new";
    let fetched = trapped("/traps/facets?color=black&size=1&page=1", &[], reason).await.len();
    let max = TRAPS.iter().find(|trap| trap.prefix == "/traps/facets").map_or(0, |trap| trap.fetched_max);
    assert!((1_001..=max).contains(&fetched), "{fetched}");
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_that_contain_each_other() {
    check("/traps/maze/", &[], 8, "segments of the path repeat more than 3 times").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_grow() {
    check("/traps/append/", &[], 4, "segments of the path repeat more than 3 times").await;
    check("/traps/append/", &["--max-repeated-segments", "0"], 24, "path deeper than 25 segments").await;
}

/// What no pattern tells ends too, with the default settings, and says which part of the site it is.
async fn check_yield(entry: &str, group: &str) {
    let server = sandbox().await;
    let seed = format!("http://{}{entry}", advanced::HOST);
    let (found, _) =
        crawl_to_end(Crawl::of(&server, &[&seed]).with(&["--no-sitemaps", "--max-crawl-delay", "0"])).await;
    let trapped: Vec<_> = found.pages.values().filter(|entry| outcome(entry) == "trap").collect();
    let reason = format!("{group} brings only more of itself: more than 4000 pages");
    let is_told = |entry: &&&store::Entry| entry.visit.as_ref().is_some_and(|visit| visit.reason == reason);
    assert!(trapped.iter().any(|entry| is_told(&entry)), "{:?}", found.outcomes());
    let asked = server.log().iter().filter(|entry| entry.host == advanced::HOST).count();
    let max = TRAPS.iter().find(|trap| entry.starts_with(trap.prefix)).map_or(0, |trap| trap.fetched_max);
    println!("{entry}: {asked} asked for, {} trapped", trapped.len());
    assert!((4_000..=max).contains(&asked), "{entry}: {asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn random_links() {
    check_yield("/traps/random/", "/traps/random/").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_in_directories() {
    check_yield("/traps/nest/", "/traps/nest/*").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_diary_without_dates() {
    check_yield("/traps/diary/", "/traps/diary/").await;
}
