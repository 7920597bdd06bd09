//! What the screens of the interface read of a large state, in milliseconds: `reads DIR/state`, of one that `fill` made.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]
#![expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]

use std::path::Path;
use std::time::Instant;

use model::Outcome;
use store::{CrawlView, Entry, StoreError};
use store_embedded::{EmbeddedStore, Options};
use weburl::{CanonicalUrl, UrlKey};

/// URLs on a page of the table.
const PAGE: usize = 100;
/// URLs that an answer looks at, at most.
const LOOKED_AT: usize = 10_000;
/// URLs read at once.
const AT_ONCE: usize = 2_048;
/// How often each question is asked. The output has the median.
const ROUNDS: usize = 5;

fn timed<T>(what: &str, read: impl Fn() -> Result<T, StoreError>) {
    let mut took: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            read().expect("a state");
            began.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    let first = took[0];
    took.sort_by(f64::total_cmp);
    println!("| {what} | {first:.1} | {:.1} |", took[ROUNDS / 2]);
}

/// Reads so many URLs, or all. Returns how many there were.
fn scanned(view: &dyn CrawlView, mut after: Option<UrlKey>, max: usize) -> Result<usize, StoreError> {
    let mut looked_at = 0;
    while looked_at < max {
        let entries: Vec<Entry> = view.scan(after, AT_ONCE)?;
        let Some(last) = entries.last() else { break };
        after = Some(last.candidate.url.key());
        looked_at += entries.len();
    }
    Ok(looked_at)
}

fn main() {
    let state = std::env::args().nth(1).expect("usage: reads DIR/state");
    let view = EmbeddedStore::open_to_read(Path::new(&state), &Options::default()).expect("a state");
    let deep = CanonicalUrl::from_canonical("http://site-49.fill.test/section-1/page-98.html").expect("a URL").key();
    println!("{} URLs known\n\n| read | first | median |\n|---|---|---|", view.totals().expect("totals").urls);
    timed("totals", || view.totals());
    timed("100 sites", || view.sites(None, PAGE));
    timed("a page of the table", || view.scan(None, PAGE));
    timed("a page, deep in the table", || view.scan(Some(deep), PAGE));
    timed("a page of URLs that wait", || view.in_state(None, None, PAGE));
    timed("a page of pages", || view.in_state(Some(Outcome::Html), None, PAGE));
    timed("URLs in a rare state (3)", || view.in_state(Some(Outcome::RenderError), None, PAGE));
    timed("URLs that failed", || view.in_state(Some(Outcome::HttpError), None, PAGE));
    timed("a state that no URL has", || view.in_state(Some(Outcome::Trap), None, PAGE));
    timed("10,000 URLs that a filter looks at", || scanned(&view, None, LOOKED_AT));
    let began = Instant::now();
    let all = scanned(&view, None, usize::MAX).expect("a state");
    println!("\nAll {all} URLs, as the effect of a change is counted: {:.1} s", began.elapsed().as_secs_f64());
}
