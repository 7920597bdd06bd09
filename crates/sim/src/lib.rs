//! Whole crawls in virtual time from one seed, with faults, and an oracle.
//!
//! After TigerBeetle's VOPR: everything outside the crawler is simulated, all chance comes from one seed, and a failing
//! seed can be replayed: `cargo run -p sim -- --seed N --trace`. What runs for real is `engine::State::step`, the
//! recorder with the archive, `engine::look_into`, and the store.
//!
//! ```text
//!  scenario ─▶ web, wishes, troubles
//!  process:  step ─▶ commands ─▶ servers (network), writer (recorder, watched store, disk) ─▶ events, in virtual time
//!  oracle:   sees each request at the servers, each batch acknowledged, and what is there after each crash
//! ```
//!
//! - [`scenario`]: what is simulated, from the seed.
//! - [`outage`]: what does not answer for a while.
//! - [`rounds`] and `next_round`: what is visited again, and when.
//! - [`web`]: hosts, sites, pages, and how they misbehave; [`server`]: how they answer.
//! - `process` and `writer`: one run of the crawler's program, till it ends or crashes.
//! - [`disk`]: what a crash leaves; [`watched`]: the store as the crawler sees it.
//! - [`oracle`]: whether all was right.
//!
//! Invariants: no clock, no thread of its own, no chance but the seed's; the oracle uses none of the crawler's rules.

pub mod disk;
pub mod oracle;
pub mod outage;
pub mod rng;
pub mod rounds;
pub mod scenario;
pub mod server;
pub mod time;
pub mod watched;
pub mod web;

mod exit;
mod next_round;
mod process;
mod world;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use archive::{Archive, ArchiveInState};
use engine::{End, Recorder};

pub use oracle::{Check, Violation};
pub use scenario::{Sabotage, Scenario, StorageKind, Troubles, Wishes};
pub use server::Served;

use exit::Exit;
use model::Limits;
use process::{Process, begin_event};
use store::Store;
use watched::Watched;
use world::World;

/// Bytes of a segment of the archive: few, so that there are several.
const SEGMENT_BYTES_MAX: u64 = 20_000;

/// Runs of the crawler in one simulation, at most.
const RUNS_MAX: u32 = 100;

/// What came of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Where the state was kept.
    pub storage: StorageKind,
    /// The rules that were broken.
    pub violations: Vec<Violation>,
    /// The hash of all that happened.
    pub trace_hash: u64,
    /// Runs of the crawler.
    pub runs: u32,
    /// Crashes.
    pub crashes: u32,
    /// Events.
    pub steps: u64,
    /// Requests that reached the servers.
    pub requests: u64,
    /// URLs in the store at the end.
    pub urls: u64,
    /// How long it took, in true time.
    pub took: Duration,
}

impl Report {
    /// True where this check noticed something.
    #[must_use]
    pub fn breaks(&self, check: Check) -> bool {
        self.violations.iter().any(|violation| violation.check == check)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { seed, runs, crashes, steps, requests, urls, took, trace_hash, .. } = self;
        writeln!(
            f,
            "seed {seed}: {urls} URLs, {requests} requests, {steps} events, {runs} runs, {crashes} crashes, \
             {took:?}, trace {trace_hash:016x}"
        )?;
        for violation in &self.violations {
            writeln!(f, "  {violation}")?;
        }
        if !self.violations.is_empty() {
            let embedded = if self.storage == StorageKind::Embedded { " --embedded" } else { "" };
            writeln!(f, "replay: cargo run -p sim -- --seed {seed}{embedded} --trace")?;
        }
        Ok(())
    }
}

/// Simulates the crawl of this seed, with the state in memory.
///
/// # Errors
/// The machine the simulator runs on fails, not the one it simulates.
pub fn run(seed: u64) -> std::io::Result<Report> {
    simulate(Scenario::from_seed(seed), false)
}

/// Simulates a crawl; `trace` prints all that happens.
///
/// # Errors
/// The machine the simulator runs on fails, not the one it simulates.
pub fn simulate(scenario: Scenario, trace: bool) -> std::io::Result<Report> {
    let mut world = World::new(scenario, trace)?;
    let mut runs = 0;
    loop {
        runs += 1;
        let store = match world.disk.open() {
            Ok(store) => store,
            Err(error) => {
                world.oracle.complain(Check::Durable, world.now, format!("the store does not open: {error}"));
                break;
            }
        };
        if !run_once(&mut world, store)? {
            break;
        }
        if runs >= RUNS_MAX {
            world.oracle.complain(Check::Ends, world.now, format!("not done after {RUNS_MAX} runs"));
            break;
        }
    }
    Ok(report(world, runs))
}

/// Runs the crawler's program once. True where it must be run again.
fn run_once(world: &mut World, below: Arc<dyn Store>) -> std::io::Result<bool> {
    let watched = Arc::new(Watched::new(below.clone(), world.scenario.sabotage));
    world.oracle.crawler_begins(&*below, world.now, world.clock.at(world.now));
    let archive = match open_archive(world, &*below) {
        Ok(archive) => archive,
        Err(error) => {
            world.oracle.complain(Check::Archive, world.now, error);
            return Ok(false);
        }
    };
    if let Err(exit) = next_round::begin(world, &watched) {
        return end_run(world, &below, &watched, exit);
    }
    let (begin, resumed) = match begin_event(world, &*below) {
        Ok(begin) => begin,
        Err(error) => {
            world.oracle.complain(Check::Durable, world.now, error.to_string());
            return Ok(false);
        }
    };
    let recorder = Recorder::new(watched.clone(), archive);
    let exit = Process::start(world, watched.clone(), recorder, resumed).run(begin);
    end_run(world, &below, &watched, exit)
}

/// What follows from the end of a run. True where the program must be run again.
fn end_run(world: &mut World, below: &Arc<dyn Store>, watched: &Watched, exit: Exit) -> std::io::Result<bool> {
    match exit {
        Exit::Finished(End::Stopped) => {
            world.interruptions += 1;
            world.oracle.crawler_gone(world.now);
            world.disk.close();
            pass_time(world);
            Ok(true)
        }
        Exit::Finished(End::Waiting(waiting)) => {
            // The same command goes on.
            world.oracle.ends_waiting(world.now);
            world.oracle.crawler_gone(world.now);
            world.disk.close();
            pass_time(world);
            if let Some(due) = waiting.due {
                world.now = world.now.max(world.clock.when(due));
            }
            Ok(true)
        }
        Exit::Finished(_) => {
            sabotage_archive(world)?;
            world.urls = below.totals().map_or(0, |totals| totals.urls);
            judge_end(world, &**below);
            world.oracle.crawler_gone(world.now);
            world.disk.close();
            Ok(next_round::pass_time(world))
        }
        Exit::Crashed { torn } => {
            world.crashes += 1;
            world.interruptions += 1;
            world.note(format_args!("crash"));
            if torn {
                world.oracle.commit_torn();
            }
            world.oracle.crawler_gone(world.now);
            world.disk.crash(&mut world.misfortune, torn, &watched.synced())?;
            pass_time(world);
            Ok(true)
        }
        Exit::Stuck => {
            world.oracle.complain(Check::Ends, world.now, "the crawl does not end");
            Ok(false)
        }
    }
}

/// Judges the end of a round.
fn judge_end(world: &mut World, store: &dyn Store) {
    let archive = world.disk.archive();
    let World { oracle, scenario, now, clock, interruptions, .. } = world;
    if store.totals().is_ok_and(|totals| totals.round.number > 1) {
        oracle.judge_round(&scenario.web, store, archive.as_deref(), *now);
    } else {
        oracle.crawler_begins(store, *now, clock.at(*now));
        oracle.judge_end(scenario, store, archive.as_deref(), *interruptions, *now);
    }
}

fn open_archive(world: &World, store: &dyn Store) -> Result<Option<Archive>, String> {
    let Some(dir) = world.disk.archive() else { return Ok(None) };
    let known = ArchiveInState::of(store, &Limits::default()).map_err(|error| error.to_string())?;
    let info = vec![("software".to_owned(), "sim".to_owned())];
    Archive::open(&dir, &known, info, SEGMENT_BYTES_MAX).map(Some).map_err(|error| error.to_string())
}

/// The time till the crawler is started again, in which its clock may be set.
fn pass_time(world: &mut World) {
    let millis = world.misfortune.pick(&[0, 10, 500, 5_000, 600_000]);
    world.now = world.now + Duration::from_millis(world.misfortune.between(0, millis)) + Duration::from_micros(1);
    if world.misfortune.chance(world.scenario.troubles.clock_chance) && world.set_clock() {
        world.oracle.clock_set_forward();
    }
}

/// Changes a byte of the archive, where that is the sabotage.
fn sabotage_archive(world: &World) -> std::io::Result<()> {
    let Some(dir) = world.disk.archive().filter(|_| world.scenario.sabotage == Some(Sabotage::DamageArchive)) else {
        return Ok(());
    };
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut bytes = std::fs::read(&path)?;
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(&path, bytes)?;
        }
    }
    Ok(())
}

fn report(mut world: World, runs: u32) -> Report {
    let urls = world.urls;
    world.note(format_args!("{urls} URLs"));
    Report {
        seed: world.scenario.seed,
        storage: world.scenario.storage,
        trace_hash: world.trace.hash(),
        runs,
        crashes: world.crashes,
        steps: world.steps,
        requests: world.requests,
        urls,
        took: world.now.since(time::TrueTime::default()),
        violations: world.oracle.into_violations(),
    }
}
