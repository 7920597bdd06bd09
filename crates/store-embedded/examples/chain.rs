//! Measures the commits of a site that is one chain: `chain DIR [PAGES]`.
//!
//! Each batch ends the visit of a page. The page links to the next page, to the page before, and to two items that wait to the end.
//! It prints a line for every tenth of PAGES.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]
#![expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]

use std::path::PathBuf;
use std::time::Instant;

use model::{Candidate, Outcome, Timestamp, Via, Visit};
use store::{Batch, CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use weburl::{CanonicalRules, CanonicalUrl};

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("usage: chain DIR [PAGES]"));
    let pages: u32 = args.next().map_or(20_000, |pages| pages.parse().expect("PAGES is a number"));
    let store = EmbeddedStore::open(&dir, Options::default()).expect("open");
    store.commit(&Batch { found: vec![found("page", 0, 0)], ..Batch::default() }).expect("commit");
    println!("{:>9} {:>9} {:>9}", "pages", "ms/page", "head ms");
    for tenth in 1..=10 {
        let begun = Instant::now();
        for page in pages * (tenth - 1) / 10..pages * tenth / 10 {
            store.commit(&visit(page)).expect("commit");
        }
        let ms = begun.elapsed().as_secs_f64() * 1e3 / f64::from(pages / 10);
        let begun = Instant::now();
        let head = store.pending(found("page", 0, 0).url.key().site, None, 1).expect("pending");
        assert_eq!(head.len(), 1);
        println!("{:>9} {ms:>9.3} {:>9.3}", pages * tenth / 10, begun.elapsed().as_secs_f64() * 1e3);
    }
    println!("{:?}", store.totals().expect("totals"));
}

fn visit(page: u32) -> Batch {
    let key = found("page", page, page).url.key();
    let visit = Visit {
        status: 200,
        judged_at: found("page", page, page).distance(),
        ..Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp::from_millis(u64::from(page)))
    };
    let links = [("page", page + 1), ("page", page.saturating_sub(1)), ("item", 2 * page), ("item", 2 * page + 1)];
    let items_left = page.checked_sub(20).map(|page| found("item", 2 * page, page + 1).url.key());
    let ends = |key| Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(1));
    Batch {
        visits: std::iter::once(visit).chain(items_left.map(ends)).collect(),
        found: links.map(|(kind, number)| found(kind, number, page + 1)).to_vec(),
        ..Batch::default()
    }
}

fn found(kind: &str, number: u32, depth: u32) -> Candidate {
    let text = format!("http://chain.test/{kind}/{number}");
    let url = CanonicalUrl::parse(&text, &CanonicalRules::default()).expect("a URL");
    Candidate { depth, via: Via::Link, found_on: Some(url.key()), ..Candidate::seed(url) }
}
