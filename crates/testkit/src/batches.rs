//! Numbered batches that touch every table, and all of a store's content as one value.

use model::{
    Announcement, Announcer, ArchiveLocation, Candidate, ContentDigest, Distance, Outcome, PayloadDigest, Purpose,
    Queued, RobotsAnswer, RobotsRecord, Round, SiteRecord, Timestamp, Via, Visit,
};
use store::{Batch, CrawlView, Entry, MemoryStore, Moved, Segment, Store, Totals};
use weburl::{CanonicalRules, CanonicalUrl, SiteKey};

const SITES: u64 = 5;
const FOUND: u64 = 20;

/// Everything a store gives away.
#[derive(Debug, PartialEq)]
pub struct Content {
    entries: Vec<Entry>,
    earlier: Vec<Vec<Visit>>,
    queues: Vec<(SiteKey, Vec<Queued>)>,
    sites: Vec<SiteRecord>,
    seeds: Vec<CanonicalUrl>,
    segments: Vec<Segment>,
    totals: Totals,
}

/// Reads all that is in a store.
pub fn content(store: &dyn CrawlView) -> Content {
    let entries = store.scan(None, usize::MAX).expect("scan");
    let earlier = entries.iter().map(|entry| store.earlier(entry.candidate.url.key()).expect("earlier")).collect();
    let mut queues: Vec<_> = entries.iter().map(|entry| entry.candidate.url.key().site).collect();
    queues.dedup();
    queues.retain(|site| !store.pending(*site, None, 1).expect("pending").is_empty());
    let all = usize::MAX;
    let sites = store.sites(None, all).expect("sites").into_iter();
    Content {
        entries,
        earlier,
        queues: queues.into_iter().map(|site| (site, store.pending(site, None, all).expect("pending"))).collect(),
        sites: sites.map(|record| store.site(record.site.key()).expect("site").expect("known")).collect(),
        seeds: store.seeds().expect("seeds"),
        segments: store.segments().expect("segments"),
        totals: store.totals().expect("totals"),
    }
}

/// The number of the last batch in a store, 0 if there is none.
pub fn last_number(store: &dyn CrawlView) -> u64 {
    store.segments().expect("segments").first().map_or(0, |segment| segment.length)
}

/// What is in a store after the batches 1 to `last`.
pub fn expected(last: u64) -> Content {
    let memory = MemoryStore::new();
    for number in 1..=last {
        memory.commit(&numbered(number)).expect("commit");
    }
    content(&memory)
}

/// The batch with this number: finds URLs, ends visits of the batch before, relaxes, settles, and writes to every table.
pub fn numbered(number: u64) -> Batch {
    let mut found: Vec<Candidate> = (0..FOUND).map(|n| page(number, n, 5)).collect();
    found.extend((0..FOUND / 2).map(|n| page(number.saturating_sub(2), n, 3)));
    let visits = (0..FOUND / 2).map(|n| visit(number.saturating_sub(1), n, number)).collect();
    let excluded = page(number, FOUND, 5);
    let reason = "x".repeat(500);
    let verdict = Visit::without_fetch(excluded.url.key(), Outcome::Excluded, reason, Timestamp(number));
    let body = format!("# {}", "robots ".repeat(number as usize % 400));
    let answer = RobotsAnswer::Status { code: 200, body: body.into_bytes().into() };
    let robots = number.is_multiple_of(3).then_some(RobotsRecord {
        fetched_at: Timestamp(number),
        failed_tries: 0,
        answer,
        is_cut: false,
        renewal: None,
    });
    let key = page(number.saturating_sub(2), 3, 0).url.key();
    let announcement = Announcement { key, by: Announcer::Sitemap, at: Timestamp(number + 7) };
    let shapes = vec![(u64::MAX - number % 7, u32::try_from(number).expect("few batches")), (number % 3, 8)];
    let site = SiteRecord { pages_fetched: number, shapes, robots, ..SiteRecord::new(page(number, 0, 0).url.site()) };
    let location = Some(ArchiveLocation { segment: 1, offset: number, length: 2 });
    let moved = Moved { key: page(number.saturating_sub(2), 2, 0).url.key(), at: Timestamp(number - 1), location };
    Batch {
        // The first batches are those of stores of earlier formats.
        moved: if number > 3 { vec![moved] } else { Vec::new() },
        // Applied again, it finds them in the queue.
        reopened: vec![page(number.saturating_sub(2), FOUND, 5).url.key()],
        round: Some(Round { number: u32::try_from(number).expect("few batches") / 4 + 1, ..Round::default() }),
        again: vec![page(number.saturating_sub(3), 1, 0).url.key()],
        kept: vec![(page(number.saturating_sub(4), 1, 0).url.key(), Purpose::Page)],
        found,
        pages_are_few: number.is_multiple_of(2),
        settled: vec![(excluded, verdict)],
        visits,
        // The first batches are those of stores of earlier formats.
        announced: if number > 3 { vec![announcement] } else { Vec::new() },
        holders: vec![(ContentDigest::of(&digest(number).0), page(number, 0, 0).url.key())],
        attempts: vec![(page(number.saturating_sub(1), FOUND - 1, 5).url.key(), Purpose::Page, 1)],
        judged_again: vec![(page(number.saturating_sub(3), 0, 3).url.key(), Distance { depth: 3, redirects: 0 })],
        sites: vec![site],
        seeds: vec![page(number % 10, 0, 0).url],
        segments: vec![Segment { serial: 1, name: "first".to_owned(), length: number }],
    }
}

fn page(number: u64, n: u64, depth: u32) -> Candidate {
    let text = format!("http://s{}.test/{number}/{n}", (number + n) % SITES);
    let url = CanonicalUrl::parse(&text, &CanonicalRules::default()).expect("a URL");
    Candidate { depth, via: Via::Link, ..Candidate::seed(url) }
}

fn visit(number: u64, n: u64, at: u64) -> Visit {
    let outlinks = if n.is_multiple_of(2) { vec![format!("http://s.test/{number}"); 3] } else { Vec::new() };
    let key = page(number, n, 0).url.key();
    let judged_at = Distance { depth: 5, redirects: 0 };
    let visit = Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(at));
    Visit { status: 200, length: at, digest: Some(digest(number)), judged_at, outlinks, ..visit }
}

fn digest(number: u64) -> PayloadDigest {
    let mut digest = [0; 20];
    digest[..8].copy_from_slice(&number.to_be_bytes());
    PayloadDigest(digest)
}
