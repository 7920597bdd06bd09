//! Servers that do their worst: every attack ends in bounded time and memory, with an outcome and a reason that says what
//! happened, and the crawl keeps what it can get of the page.

mod protocol;
mod sitemaps;
mod tls;
mod traps;

use std::time::Duration;

use model::Outcome;
use testweb::{Server, Web};

use crate::binary::Ended;
use crate::crawl::{Crawl, Found, serve};

/// The largest resident set of a crawl, of an unoptimised build.
const MEMORY_MAX_KIB: u64 = 300 * 1024;

/// What a crawl of one of these pages may take, on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(120);

/// For servers that are slow on purpose.
const IMPATIENT: [&str; 4] = ["--first-byte-timeout", "2s", "--total-timeout", "2s"];

async fn sandbox() -> Server {
    serve(Web::sandboxes()).await
}

/// Crawls to the end, within the bounds.
async fn crawl(crawl: Crawl) -> Found {
    let (found, took) = crawl_to_end(crawl).await;
    assert!(took < TIME_MAX, "{took:?}");
    found
}

/// Crawls to the end, within the bound of memory, and says how long that took: of a trap, its pages are bounded and no time.
async fn crawl_to_end(crawl: Crawl) -> (Found, Duration) {
    let crawl = crawl.at_once().with(&["--max-attempts", "2"]);
    let Ended { memory_kib, took, .. } = crawl.run().await;
    assert!(memory_kib > 0 && memory_kib < MEMORY_MAX_KIB, "{memory_kib} KiB");
    (crawl.found(), took)
}

/// A page that is not there. A site that answers with nothing at all is in trouble, and its URLs stay open.
const ANSWERED: &str = "http://hostile.test/no-such-page";

/// Crawls from a path of the hostile site. Checks what became of it, and that the reason has these words, or is empty if there are none.
/// Gives back all that was found.
async fn check(path: &str, options: &[&str], outcome: Outcome, reason: &str) -> Found {
    check_beside(&[], path, options, outcome, reason).await
}

/// As [`check`], for a path without a proper answer, on a site that answers another request.
async fn check_failure(path: &str, options: &[&str], outcome: Outcome, reason: &str) {
    check_beside(&[ANSWERED], path, options, outcome, reason).await;
}

async fn check_beside(others: &[&str], path: &str, options: &[&str], outcome: Outcome, reason: &str) -> Found {
    let server = sandbox().await;
    let url = format!("http://hostile.test{path}");
    let seeds = [&[url.as_str()], others].concat();
    let found = crawl(Crawl::of(&server, &seeds).with(options)).await;
    let visit = found.visit(&url);
    assert_eq!(visit.outcome, outcome, "{path}: {}", visit.reason);
    assert!(visit.reason.contains(reason) && visit.reason.is_empty() == reason.is_empty(), "{path}: {}", visit.reason);
    found
}

/// Checks that the page was read well enough to find its link.
fn led_to(found: &Found, path: &str) {
    assert_eq!(found.visit(&format!("http://hostile.test{path}")).outcome, Outcome::Html, "{path}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gzip_bomb_is_cut_and_its_beginning_read() {
    let found = check("/gzip-bomb", &[], Outcome::Html, "truncated: decompression ratio over 1000").await;
    led_to(&found, "/inside-bomb");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_end_is_cut() {
    check("/endless-body", &[], Outcome::Html, "truncated: longer than 10000000 bytes").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_open_elements_are_a_page() {
    check("/deep", &[], Outcome::Html, "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_links_are_all_found() {
    let found = check("/many-links", &["--max-pages", "1"], Outcome::Html, "").await;
    assert_eq!(found.pages.len(), 1 + 10_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_of_a_megabyte_is_passed_over() {
    let found = check("/long-url", &[], Outcome::Html, "").await;
    led_to(&found, "/after-long-url");
    assert_eq!(found.pages.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_not_utf_8_are_replaced() {
    let found = check("/invalid-utf8", &[], Outcome::Html, "").await;
    led_to(&found, "/after-invalid%EF%BF%BD%EF%BF%BD");
    let title = found.visit("http://hostile.test/invalid-utf8").title.as_deref();
    assert!(title.is_some_and(|title| title.contains('\u{fffd}')), "{title:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_charset_that_nobody_knows_does_not_matter() {
    let found = check("/unknown-charset", &[], Outcome::Html, "").await;
    led_to(&found, "/after-unknown");
    assert_eq!(found.visit("http://hostile.test/unknown-charset").title.as_deref(), Some("Qapla'"));
}

#[tokio::test(flavor = "multi_thread")]
async fn codings_that_are_broken_or_unknown_are_told() {
    check("/bad-gzip", &[], Outcome::Html, "broken gzip data").await;
    check("/short-gzip", &[], Outcome::Html, "compressed data ended early").await;
    check("/unknown-coding", &[], Outcome::Html, "rot13").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_loop_is_walked_once() {
    let server = sandbox().await;
    let found = crawl(Crawl::of(&server, &["http://hostile.test/loop/a"])).await;
    assert_eq!(
        found.outcomes().into_iter().collect::<Vec<_>>(),
        [("http://hostile.test/loop/a", "redirect"), ("http://hostile.test/loop/b", "redirect"),]
    );
    assert_eq!(server.log().iter().filter(|entry| entry.target.starts_with("/loop/")).count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_chain_is_followed_so_far_and_no_further() {
    let found = check("/r/1", &[], Outcome::Redirect, "").await;
    let hops: Vec<&str> =
        (1..=11).map(|hop| found.visit(&format!("http://hostile.test/r/{hop}")).reason.as_str()).collect();
    assert!(hops[..10].iter().all(|reason| reason.is_empty()), "{hops:?}");
    assert_eq!((hops[10], found.pages.len()), ("not followed: more than 10 redirects in a row", 11));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robots_txt_without_end_counts_as_far_as_it_is_read() {
    let server = sandbox().await;
    let found = crawl(Crawl::of(&server, &["http://endless-robots.test/"])).await;
    assert_eq!(
        found.outcomes().into_iter().collect::<Vec<_>>(),
        [
            ("http://endless-robots.test/", "html"),
            ("http://endless-robots.test/open.html", "html"),
            ("http://endless-robots.test/private/page.html", "disallowed"),
        ]
    );
}

/// The whole hostile site in one crawl, with many connections at once.
#[tokio::test(flavor = "multi_thread")]
async fn everything_at_once_ends_with_an_outcome_for_each() {
    let server = sandbox().await;
    let options = ["--connections-per-site", "8", "--max-failures-in-a-row", "1000", "--exclude", "*/many/*"];
    let found = crawl(Crawl::of(&server, &["http://hostile.test/"]).with(&IMPATIENT).with(&options)).await;
    let outcomes = found.outcomes();
    for (path, _) in testweb::hostile::PATHS {
        let outcome = outcomes.get(format!("http://hostile.test{path}").as_str());
        assert!(outcome.is_some_and(|outcome| *outcome != "frontier"), "{path}: {outcome:?}");
    }
}
