//! `kill -9` at random moments, a hundred times over one crawl: nothing is lost, nothing recorded twice, only what was in
//! flight is fetched again.
//!
//! *In flight* is a URL that was asked for and whose outcome was not committed when the process died: being fetched, or
//! fetched and waiting for the next commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use testweb::synthetic::{PageId, Settings, Synthetic};
use testweb::{LogEntry, Reply, Request, Site, Web};

use crate::binary::{self, BINARY, Running};
use crate::result::{Row, assert_same, entries, rows, visited};
use crate::served::Served;
use crate::warcs;

pub(super) const KILLS: usize = 100;
const SITES: u64 = 20;
const PAGES: u64 = 4_500;
/// With the delay between visits to a site this bounds the speed on any machine, so that a hundred kills find it running.
const DELAY: &str = "80ms";
const CONCURRENCY: usize = 32;
/// Some pages lie deeper, and some are first found by a longer way than the shortest.
const DEPTH: &str = "9";
/// A kill follows the start of the process, or its first request, by up to this.
const AFTER_START_MS_MAX: u64 = 120;
const AFTER_REQUEST_MS_MAX: u64 = 250;
/// Crawls that are killed when they have just begun, and how much later each than the one before.
const BEGINNINGS: u64 = 12;
const BEGINNING_STEP_MS: u64 = 6;
/// Its requests stand between those of two runs in the server's log.
const MARKER: &str = "marker.test";
/// The time of a retry.
const BACKOFF: &str = "20ms";

/// A synthetic web of which some pages without children in the tree of their site are something else than a page.
struct Mixed(Synthetic);

impl Site for Mixed {
    fn reply(&self, request: &Request) -> Reply {
        let id = PageId::from_host_and_path(&request.host, &request.target).filter(|id| self.0.contains(*id));
        match id.filter(|id| 2 * id.page + 1 >= self.0.pages_of(id.site)).map(|id| (id, id.page % 10)) {
            Some((_, 1)) => Reply::html("<title>The same</title><p>One text at many URLs"),
            Some((id, 3)) => Reply::redirect(302, format!("/p/{}", id.page - 1)),
            Some((_, 5)) => Reply::error(404, &request.target),
            Some((id, 7)) => Reply::new(200).header("Content-Type", "application/pdf").body(format!("%PDF {id}")),
            _ if request.target == "/robots.txt" => Reply::text("User-agent: *\nDisallow: /*9$\n"),
            _ => self.0.reply(request),
        }
    }
}

pub(super) fn serve() -> Served {
    let settings = Settings { seed: 7, sites: SITES, pages: PAGES, degree: 4, text_bytes_mean: 2_000 };
    Served::start(Web::new().site("*.synthetic.test", Mixed(Synthetic::new(settings).unwrap())))
}

pub(super) fn command(served: &Served, dir: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--depth", DEPTH, "--delay", DELAY]);
    command.args(["--ip-delay", "0", "--backoff", BACKOFF, "--segment-size", "200KB", "--progress", "none"]);
    command.args(["--concurrency", &CONCURRENCY.to_string()]).args(served.flags()).arg("-o").arg(dir);
    command
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators).
pub(super) struct Random(pub(super) u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Waits for a random moment of a run. A quarter of the kills may come before the first request.
pub(super) fn wait(random: &mut Random, running: &Running, served: &Served, requests_before: u64) {
    if random.below(4) == 0 {
        return std::thread::sleep(Duration::from_millis(random.below(AFTER_START_MS_MAX)));
    }
    while served.requests() == requests_before {
        assert!(running.age() < Duration::from_secs(30), "no request came");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(random.below(AFTER_REQUEST_MS_MAX)));
}

/// Runs and kills, again and again. Returns what had an outcome after each kill.
fn run_and_kill(served: &Served, dir: &Path, random: &mut Random) -> Vec<BTreeSet<String>> {
    let mut recorded = Vec::new();
    for kill in 0..KILLS {
        let before = served.requests();
        let running = Running::start(&mut command(served, dir));
        wait(random, &running, served, before);
        assert!(running.kill(), "the crawl ended before kill {kill}: the web is too small");
        served.ask(MARKER, "/");
        recorded.push(if dir.join("crawl.toml").exists() { visited(dir) } else { BTreeSet::new() });
    }
    recorded
}

/// The URLs asked for in each run, without robots.txt, in order. Connections are accepted in the order in which they were
/// made, so that the marker's separate those of two runs, however late a request of a dead process was read.
fn by_run(log: &[LogEntry]) -> Vec<Vec<String>> {
    let markers: Vec<u64> = log.iter().filter(|entry| entry.host == MARKER).map(|entry| entry.connection).collect();
    let mut runs = vec![Vec::new(); markers.len() + 1];
    for entry in log.iter().filter(|entry| entry.host != MARKER && entry.target != "/robots.txt") {
        let run = markers.partition_point(|marker| *marker < entry.connection);
        runs[run].push(format!("http://{}{}", entry.host, entry.target));
    }
    runs
}

/// Nothing recorded is asked for again, and nothing twice in one run.
fn check_requests(runs: &[Vec<String>], recorded: &[BTreeSet<String>]) {
    let mut in_flight = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let unique: BTreeSet<&String> = run.iter().collect();
        assert_eq!(unique.len(), run.len(), "run {index} asked for a URL twice");
        if let Some(before) = index.checked_sub(1).and_then(|before| recorded.get(before)) {
            let again: Vec<&&String> = unique.iter().filter(|url| before.contains(**url)).collect();
            assert!(again.is_empty(), "run {index} asked again for {again:?}, which were recorded");
        }
        if let Some(after) = recorded.get(index) {
            in_flight.push(unique.iter().filter(|url| !after.contains(**url)).count());
        }
    }
    let requests: usize = runs.iter().map(Vec::len).sum();
    let distinct = runs.iter().flatten().collect::<BTreeSet<_>>().len();
    let most = in_flight.iter().max().copied().unwrap_or_default();
    println!("{requests} requests for {distinct} URLs; in flight at a kill: {most} at most");
    assert!(requests - distinct <= in_flight.iter().sum(), "more was fetched again than was in flight");
    assert!(requests - distinct <= KILLS * CONCURRENCY, "{} URLs were fetched again", requests - distinct);
}

fn reference(dir: PathBuf) -> BTreeMap<String, Row> {
    let served = serve();
    Running::start(&mut command(&served, &dir)).end().expect_code(0);
    rows(&entries(&dir))
}

#[test]
fn a_crawl_killed_a_hundred_times_ends_like_one_left_alone() {
    let seed = std::env::var("ARGIOPE_SEED").map_or(u64::from(std::process::id()), |seed| seed.parse().unwrap());
    println!("ARGIOPE_SEED={seed}");
    let dirs = tempfile::tempdir().unwrap();
    let (undisturbed, dir) = (dirs.path().join("undisturbed"), dirs.path().join("killed"));
    let reference = std::thread::spawn(move || reference(undisturbed));
    let served = serve();
    let recorded = run_and_kill(&served, &dir, &mut Random(seed));
    Running::start(&mut command(&served, &dir)).end().expect_code(0);
    let entries = entries(&dir);
    check_requests(&by_run(&served.log()), &recorded);
    assert_same(&rows(&entries), &reference.join().unwrap());
    warcs::check(&dir, &entries);
    let at_last = recorded.last().map_or(0, BTreeSet::len);
    println!("{at_last} of {} URLs were recorded between the kills", entries.len());
    // And a crawl that is done stays done.
    let requests = served.requests();
    let again = binary::run(&[command(&served, &dir).get_args().collect::<Vec<_>>()].concat()).expect_code(0);
    assert_eq!(served.requests(), requests, "{}", again.stderr);
}

/// The first moments of a crawl: its directory and state are being made.
#[test]
fn a_crawl_killed_while_it_begins_can_begin_again() {
    let served = Served::start(Web::sandboxes());
    let dirs = tempfile::tempdir().unwrap();
    for round in 0..BEGINNINGS {
        let dir = dirs.path().join(round.to_string());
        let mut command = Command::new(BINARY);
        command.args(["crawl", "http://simple.test/", "--delay", "0", "--ip-delay", "0"]).args(served.flags());
        command.arg("-o").arg(&dir);
        for _ in 0..2 {
            let running = Running::start(&mut command);
            std::thread::sleep(Duration::from_millis(round * BEGINNING_STEP_MS));
            running.kill();
        }
        Running::start(&mut command).end().expect_code(0);
        assert_eq!(rows(&entries(&dir)).values().filter(|row| row.outcome == "content").count(), 10, "round {round}");
    }
}
