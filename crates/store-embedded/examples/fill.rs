//! Adds URLs to the state of a crawl that rests, faster than a crawl finds them: for benchmarks of what reads a large state.
//!
//! `fill DIR/state URLS` adds so many URLs of 50 sites. Each tenth was visited; a thousandth of those failed, and three could not be rendered.

#![expect(clippy::expect_used, reason = "a benchmark may panic")]

use std::path::Path;

use model::{Candidate, Outcome, SiteRecord, Timestamp, Via, Visit};
use store::{Batch, CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use weburl::CanonicalUrl;

/// URLs of one commit.
const BATCH_URLS: u64 = 20_000;
/// Sites that the URLs belong to, in turn.
const SITES: u64 = 50;
/// Links from a seed, at most.
const DEPTH_MAX: u64 = 7;
/// One URL of so many was visited.
const VISITED_OF: u64 = 10;
/// One visit of so many failed.
const FAILED_OF: u64 = 10_000;
/// Visits that ended in a rare way.
const RARE: u64 = 3;

fn url(n: u64) -> CanonicalUrl {
    let site = n % SITES;
    CanonicalUrl::from_canonical(&format!("http://site-{site}.fill.test/section-{}/page-{n}.html", n % 97))
        .expect("a URL")
}

fn candidate(n: u64) -> Candidate {
    let depth = u32::try_from(1 + n % DEPTH_MAX).expect("a depth");
    Candidate { depth, via: Via::Link, ..Candidate::seed(url(n)) }
}

fn visit(n: u64) -> Visit {
    let outcome = match n / VISITED_OF {
        visit if visit < RARE => Outcome::RenderError,
        _ if n.is_multiple_of(FAILED_OF) => Outcome::HttpError,
        _ => Outcome::Html,
    };
    let status = if outcome == Outcome::HttpError { 404 } else { 200 };
    let title = Some(format!("Page {n}"));
    Visit { status, title, length: 20_000, ..Visit::without_fetch(url(n).key(), outcome, String::new(), Timestamp(n)) }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let state = arguments.next().expect("usage: fill DIR/state URLS");
    let urls: u64 = arguments.next().and_then(|urls| urls.parse().ok()).expect("usage: fill DIR/state URLS");
    let store = EmbeddedStore::open(Path::new(&state), Options::default()).expect("the state of a crawl that rests");
    let sites = (0..SITES).map(|n| SiteRecord::new(url(n).site())).collect();
    store.commit(&Batch { sites, ..Batch::default() }).expect("a commit");
    for from in (0..urls).step_by(usize::try_from(BATCH_URLS).expect("a size")) {
        let numbers = from..(from + BATCH_URLS).min(urls);
        let visits = numbers.clone().filter(|n| n.is_multiple_of(VISITED_OF)).map(visit).collect();
        let found = numbers.map(candidate).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits, ..Batch::default() }).expect("a commit");
    }
    println!("{}", store.totals().expect("totals").urls);
}
