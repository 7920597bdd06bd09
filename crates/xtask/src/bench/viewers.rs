//! What those who look cost a crawl: its processor time with nobody and with them, in turn.
//!
//! Twenty viewers of the interface do what the overview's script does: each asks for the events every second, and for the page every five
//! seconds. Or one runs `argiope status` every second.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured::{self, median};
use super::run_file::{RunFile, said};
use super::synthetic::{SEED, Web};
use crate::interface::Interface;

/// Pages of the crawl, unless told.
const PAGES: u64 = 50_000;
/// Viewers at once.
const VIEWERS: usize = 20;
/// How often `argiope status` is run.
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// How often a viewer asks for the events, and for the overview.
const EVENTS_EVERY: Duration = Duration::from_secs(1);
const REREAD_EVERY: Duration = Duration::from_secs(5);
/// How often the bench looks whether there is a crawl to view, and a viewer whether the crawl has ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// What they may cost, in percent.
const COST_MAX: f64 = 1.0;

/// Who looks at a crawl.
#[derive(Clone, Copy, PartialEq)]
pub enum Watch {
    /// Viewers of the interface.
    Viewers,
    /// One who runs `argiope status` again and again.
    Status,
}

impl Watch {
    /// The name of the run, its heading, and who they are.
    fn words(self) -> (&'static str, &'static str, String) {
        match self {
            Watch::Viewers => ("viewers", "Viewers of a crawl", format!("{VIEWERS} viewers")),
            Watch::Status => ("status", "A status every second", "`argiope status` every second".to_owned()),
        }
    }
}

/// Crawls the same web in each round with nobody who looks and with them.
///
/// # Errors
/// A crawl fails, or nobody could look at it.
pub fn run(watch: Watch, options: &Options) -> anyhow::Result<()> {
    let (name, heading, they) = watch.words();
    let pages = options.rest.first().map_or(Ok(PAGES), |pages| pages.parse()).context("the number of pages")?;
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin(name, heading, &[said(&binary, &["--version"])?])?;
    file.say(&format!(
        "{pages} pages; processor seconds of the crawl, in turn:\n\n| round | nobody | {they} |\n|---|---|---|"
    ));
    let mut costs = Vec::new();
    for round in 1..=options.rounds {
        // There and back, so that a machine that becomes slower does so for both.
        let in_turn = if round % 2 == 1 { [None, Some(watch)] } else { [Some(watch), None] };
        let mut took = in_turn.map(|watch| crawl(&binary, pages, watch));
        if round % 2 == 0 {
            took.reverse();
        }
        let [without, with] = took;
        let (without, with) = (without?, with?);
        file.say(&format!("| {round} | {without:.2} | {with:.2} |"));
        costs.push((with / without - 1.0) * 100.0);
    }
    file.say(&format!("\nThey cost {:.1} % (median of the rounds; aim: at most {COST_MAX} %).", median(costs)));
    file.keep()
}

/// Processor seconds of a crawl.
fn crawl(binary: &Path, pages: u64, watch: Option<Watch>) -> anyhow::Result<f64> {
    let web = Web::serve(binary, &format!("1,50,{pages},10"))?;
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let crawl = dir.path().join("crawl");
    let mut command = argiope::crawl(binary, &crawl);
    command.args([SEED, "--scope", "any", "--no-sitemaps", "--max-simple-queries-per-path", "0"]);
    command.args(["--connect-to", &format!("::{}", web.address)]);
    let has_ended = AtomicBool::new(false);
    let (measured, viewed) = std::thread::scope(|scope| {
        let viewing = scope.spawn(|| look(binary, &crawl, watch, &has_ended));
        let measured = measured::run(&mut command, dir.path());
        has_ended.store(true, Ordering::Relaxed);
        (measured, viewing.join())
    });
    let (measured, answers) = (measured?, viewed.map_err(|_| anyhow::anyhow!("a viewer panicked"))??);
    if Summary::read(&measured.output)?.fetched() < pages || (watch.is_some() && answers == 0) {
        bail!("the crawl did not fetch {pages} pages, or nobody looked at it");
    }
    Ok(measured.cpu_seconds)
}

/// Looks at a crawl until it has ended. Returns how many answers came.
fn look(binary: &Path, crawl: &Path, watch: Option<Watch>, has_ended: &AtomicBool) -> anyhow::Result<usize> {
    while !crawl.join("live.socket").exists() {
        if has_ended.load(Ordering::Relaxed) {
            return Ok(0);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    match watch {
        None => return Ok(0),
        Some(Watch::Status) => return Ok(asks_for_status(binary, crawl, has_ended)),
        Some(Watch::Viewers) => {}
    }
    let interface = Interface::start(binary, crawl)?;
    let address = interface.origin.trim_start_matches("http://");
    std::thread::scope(|scope| {
        let viewing: Vec<_> = (0..VIEWERS).map(|_| scope.spawn(|| one_viewer(address, has_ended))).collect();
        let answers = viewing.into_iter().map(|viewer| viewer.join().unwrap_or(0)).sum();
        Ok(answers)
    })
}

/// Runs `argiope status` again and again; how often it answered.
fn asks_for_status(binary: &Path, crawl: &Path, has_ended: &AtomicBool) -> usize {
    let (mut answers, mut since) = (0, STATUS_EVERY);
    while !has_ended.load(Ordering::Relaxed) {
        if since >= STATUS_EVERY {
            since = Duration::ZERO;
            let mut status = Command::new(binary);
            status.arg("status").arg(crawl).stdout(Stdio::null()).stderr(Stdio::null());
            answers += usize::from(status.status().is_ok_and(|status| status.success()));
        }
        std::thread::sleep(LOOK_EVERY);
        since += LOOK_EVERY;
    }
    answers
}

/// What one viewer does. An answer that does not come is none.
fn one_viewer(address: &str, has_ended: &AtomicBool) -> usize {
    let mut answers = 0;
    let (mut last, mut since_events, mut since_page) = (String::new(), EVENTS_EVERY, Duration::ZERO);
    while !has_ended.load(Ordering::Relaxed) {
        if since_events >= EVENTS_EVERY {
            since_events = Duration::ZERO;
            let events = asked(address, "/events", &last);
            answers += usize::from(events.is_ok());
            let id = events.iter().flat_map(|events| events.lines()).find_map(|line| line.strip_prefix("id: "));
            last = id.map_or(last, |id| format!("Last-Event-ID: {id}\r\n"));
        }
        if since_page >= REREAD_EVERY {
            since_page = Duration::ZERO;
            answers += usize::from(asked(address, "/", "").is_ok());
        }
        std::thread::sleep(LOOK_EVERY);
        (since_events, since_page) = (since_events + LOOK_EVERY, since_page + LOOK_EVERY);
    }
    answers
}

/// The answer to a request with more fields.
fn asked(address: &str, path: &str, fields: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
