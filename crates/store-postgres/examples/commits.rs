//! How many pages a second one process commits to PostgreSQL on the same machine, and what a page costs the server.
//!
//! `cargo run --release -p argiope-store-postgres --example commits -- [KNOWN_URLS] [SECONDS]`
//!
//! A commit has 200 pages of 500 sites that change slowly, among 20,000; each page has 30 links to URLs that may be fetched, 5 of
//! them new. The state begins with `KNOWN_URLS` on these sites. The server looks up every link:
//! those found lately, which a crawl does not record again, are not among them.

use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};

use database::Address;
use model::{Candidate, Distance, Outcome, SiteRecord, Timestamp, Via, Visit};
use store::{Batch, CrawlView, Segment, Store};
use store_postgres::{PostgresStore, Schema};
use testdb::Postgres;
use weburl::{CanonicalRules, CanonicalUrl};

const SITES: u64 = 20_000;
const SITES_ACTIVE: u64 = 500;
const PAGES: u64 = 200;
const LINKS_NEW: u64 = 5;
const LINKS_KNOWN: u64 = 25;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn main() -> Result<()> {
    let argument = |n| std::env::args().nth(n).map(|text| text.parse::<u64>()).transpose();
    let (known, seconds) = (argument(1)?.unwrap_or(1_000_000), argument(2)?.unwrap_or(15));
    let server = Postgres::start_with(&testdb::TUNED);
    let (address, schema) = (Address::parse(&server.url())?, Schema::default());
    let store = PostgresStore::open(&address, &schema)?;
    let mut client = server.client();
    client.batch_execute("SET search_path = argiope")?;
    preload(&mut client, known)?;

    let mut web = Web::default();
    for _ in 0..20 {
        store.commit(&web.batch()?)?;
    }
    let (wal, cpu, began) = (server.wal_bytes(), server.cpu_seconds(), Instant::now());
    let (mut pages, mut fresh, mut times) = (0, 0, Vec::new());
    while began.elapsed() < Duration::from_secs(seconds) {
        let batch = web.batch()?;
        let asked = Instant::now();
        fresh += store.commit(&batch)?.fresh.len();
        times.push(asked.elapsed());
        pages += batch.visits.len();
    }
    let elapsed = began.elapsed().as_secs_f64();
    let (wal, cpu) = (server.wal_bytes() - wal, server.cpu_seconds() - cpu);
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{known} known: {:.0} pages/s, {:.0} new URLs/s, commit p50 {:.0} ms p99 {:.0} ms, PostgreSQL {:.2} cores, {:.0} WAL bytes a page",
        pages as f64 / elapsed,
        fresh as f64 / elapsed,
        at(50),
        at(99),
        cpu / elapsed,
        wal / pages as f64,
    );
    for (what, of) in [("totals", 0), ("sites with a queue", 1), ("a window of a queue", 2)] {
        let asked = Instant::now();
        match of {
            0 => drop(store.totals()?),
            1 => drop(store.sites_with_pending(None, 1_000)?),
            _ => drop(store.pending(site(1).key(), None, 128)?),
        }
        println!("{what}: {:.1} ms", asked.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Known URLs: their keys need not be those of their text, since nobody asks for them.
fn preload(client: &mut postgres::Client, known: u64) -> Result<()> {
    let sites: Vec<i64> = (0..SITES).map(|n| (site(n).key().0 ^ (1 << 63)).cast_signed()).collect();
    client.execute(
        "INSERT INTO url SELECT ($1::bigint[])[1 + n % array_length($1, 1)], hashint8extended(n, 1), 3, NULL, NULL, 'page', 'link', 0,
            false, 'http://s' || n % array_length($1, 1) || '.test/known/of/the/past/' || n
            FROM generate_series(1, $2::bigint) n ORDER BY 1, 2 ON CONFLICT DO NOTHING",
        &[&sites, &i64::try_from(known)?],
    )?;
    client.batch_execute("VACUUM ANALYZE url")?;
    Ok(client.batch_execute("CHECKPOINT")?)
}

fn site(n: u64) -> weburl::Site {
    url(n, 0).site()
}

#[expect(clippy::expect_used, reason = "a benchmark makes up its URLs")]
fn url(site: u64, n: u64) -> CanonicalUrl {
    let text = format!("http://s{site}.test/articles/2026/11/{n}");
    CanonicalUrl::parse(&text, &CanonicalRules::default()).expect("a URL")
}

/// A made-up web, found link by link.
#[derive(Default)]
struct Web {
    batches: u64,
    found: u64,
    waiting: VecDeque<Candidate>,
    seen: Vec<Candidate>,
    random: u64,
}

impl Web {
    /// A pseudo-random number below `max` (Knuth's MMIX generator).
    fn below(&mut self, max: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % max
    }

    fn batch(&mut self) -> Result<Batch> {
        self.batches += 1;
        let mut batch = Batch::default();
        let first_site = self.batches * 2 % SITES;
        for page in 0..PAGES {
            for _ in 0..LINKS_NEW {
                let site = (first_site + self.below(SITES_ACTIVE)) % SITES;
                self.found += 1;
                let candidate = Candidate { depth: 4, via: Via::Link, ..Candidate::seed(url(site, self.found)) };
                self.waiting.push_back(candidate.clone());
                self.seen.push(candidate.clone());
                batch.found.push(candidate);
            }
            for _ in 0..LINKS_KNOWN.min(self.seen.len() as u64) {
                let among = self.seen.len().min(500_000);
                let at = self.seen.len() - 1 - usize::try_from(self.below(among as u64))?;
                batch.found.push(self.seen[at].clone());
            }
            // What is visited was found by an earlier commit.
            let Some(visited) = self.waiting.pop_front().filter(|_| self.batches > 1) else { continue };
            let key = visited.url.key();
            let outcome = Outcome::Html;
            batch.visits.push(Visit {
                status: 200,
                length: 20_000,
                content_type: Some("text/html; charset=utf-8".to_owned()),
                title: Some("An article with a title of the usual length".to_owned()),
                out_degree: Some(30),
                attempts: 1,
                judged_at: Distance { depth: 4, redirects: 0 },
                digest: Some(model::PayloadDigest(std::array::from_fn(|n| key.to_bytes()[n % 16]))),
                location: Some(model::ArchiveLocation { segment: 1, offset: self.found * 5_000, length: 5_000 }),
                ..Visit::without_fetch(key, outcome, String::new(), Timestamp(1_795_219_199_999_000 + page))
            });
            batch.holders.push((model::ContentDigest::of(&key.to_bytes()), key));
            batch.sites.push(SiteRecord { pages_fetched: self.batches, ..SiteRecord::new(visited.url.site()) });
        }
        batch.segments.push(Segment { serial: 1, name: "00001.warc.gz".to_owned(), length: self.found * 5_000 });
        Ok(batch)
    }
}
