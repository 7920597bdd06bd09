//! Measures a store that grows like one of a crawl: `growth DIR [URLS] [BATCHES_PER_SECOND]`.
//!
//! Each batch finds 2,000 URLs: 400 new ones, 800 among the newest 200,000 and 800 anywhere; it ends the visits of 100
//! and writes the records of their sites. It prints a line for every tenth of URLS.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]
#![expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Candidate, ContentDigest, SiteRecord};
use store::{Batch, CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use testkit::numbered_pages::{candidate, digest, visit};

const NEW: u64 = 400;
const KNOWN: u64 = 1_600;
const VISITS: u64 = 100;
const NEWEST: u64 = 200_000;

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("usage: growth DIR [URLS] [BATCHES_PER_SECOND]"));
    let urls: u64 = args.next().map_or(1_000_000, |urls| urls.parse().expect("URLS is a number"));
    let pace = args.next().map(|rate| Duration::from_secs_f64(1.0 / rate.parse::<f64>().expect("a rate")));
    let store = EmbeddedStore::open(&dir, Options::default()).expect("open");
    println!(
        "{:>9} {:>9} {:>6} {:>6} {:>6} {:>12} {:>6} {:>7}",
        "urls", "batches/s", "p50 ms", "p99 ms", "max ms", "CPU ms/batch", "RSS MB", "disk MB"
    );
    let mut random = Random(1);
    let (mut next, mut visited) = (0, 0);
    for tenth in 1..=10 {
        let mut times = Vec::new();
        let started = Instant::now();
        let cpu_before = cpu_ms();
        while next < urls * tenth / 10 {
            let batch = batch(next, visited, &mut random);
            let begun = Instant::now();
            let committed = store.commit(&batch).expect("commit");
            times.push(begun.elapsed());
            assert_eq!(committed.fresh.len() as u64, NEW);
            (next, visited) = (next + NEW, visited + VISITS);
            if let Some(pace) = pace {
                std::thread::sleep(pace.saturating_sub(begun.elapsed()));
            }
        }
        report(next, &mut times, started.elapsed(), cpu_ms() - cpu_before, &dir);
    }
    read_back(&store);
    drop(store);
    let begun = Instant::now();
    let view = EmbeddedStore::open_to_read(&dir, &Options::default()).expect("open to read");
    println!("opened to read in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
    drop(view);
    let begun = Instant::now();
    let store = EmbeddedStore::open(&dir, Options::default()).expect("open again");
    println!("opened again in {:.0} ms, RSS {} MB", begun.elapsed().as_secs_f64() * 1e3, resident_bytes() >> 20);
    println!("{:?}", store.totals().expect("totals"));
}

fn batch(next: u64, visited: u64, random: &mut Random) -> Batch {
    let mut found: Vec<Candidate> = (next..next + NEW).map(candidate).collect();
    for n in 0..KNOWN.min(next) {
        let window = if n % 2 == 0 { NEWEST.min(next) } else { next };
        found.push(candidate(next - 1 - random.below(window)));
    }
    let visits = (visited..visited + VISITS).map(|n| visit(&candidate(n), n)).collect();
    let sites = (visited..visited + VISITS).map(|n| SiteRecord::new(candidate(n).url.site())).collect();
    let holders =
        (visited..visited + VISITS).map(|n| (ContentDigest::of(&digest(n).0), candidate(n).url.key())).collect();
    // In the first batch the visited URLs are new themselves: they are found a batch before.
    if next == 0 {
        Batch { found, ..Batch::default() }
    } else {
        Batch { found, visits, sites, holders, ..Batch::default() }
    }
}

fn read_back(store: &EmbeddedStore) {
    let begun = Instant::now();
    let (mut after, mut count) = (None, 0);
    loop {
        let window = store.scan(after, 1000).expect("scan");
        let Some(last) = window.last() else { break };
        after = Some(last.candidate.url.key());
        count += window.len();
    }
    println!("scanned {count} entries in {:.1} s", begun.elapsed().as_secs_f64());
    let begun = Instant::now();
    let sites = store.sites_with_pending(None, usize::MAX).expect("sites");
    println!("found {} sites with a queue in {:.0} ms", sites.len(), begun.elapsed().as_secs_f64() * 1e3);
    let begun = Instant::now();
    for site in sites.iter().take(1000) {
        store.pending(*site, None, 10).expect("pending");
    }
    println!("read the heads of 1,000 queues in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
}

fn report(urls: u64, times: &mut [Duration], took: Duration, cpu_ms: f64, dir: &Path) {
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{urls:>9} {:>9.1} {:>6.1} {:>6.1} {:>6.1} {:>12.1} {:>6} {:>7}",
        times.len() as f64 / took.as_secs_f64(),
        ms(times[times.len() / 2]),
        ms(times[times.len() * 99 / 100]),
        ms(times[times.len() - 1]),
        cpu_ms / times.len() as f64,
        resident_bytes() >> 20,
        disk_bytes(dir) >> 20,
    );
}

/// User and system time of all threads, from Linux's `/proc`, whose ticks are 10 ms; 0 elsewhere.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

/// From Linux's `/proc`; 0 elsewhere.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

fn disk_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("read the directory").filter_map(Result::ok);
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

/// xorshift64: repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
