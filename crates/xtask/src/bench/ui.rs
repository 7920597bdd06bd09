//! What each screen of the interface takes, the preview of a change, and the first paint in Chromium, when many URLs are known.
//!
//! A crawl of a small computed web is filled up with URLs, of which most wait and a tenth was visited (`store-embedded/examples/fill.rs`).

mod asking;
mod screens;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use super::Options;
use super::argiope;
use super::known;
use super::measured::percentile;
use super::run_file::{RunFile, said};
use crate::interface::Interface;
use crate::workspace::workspace;

pub(super) use asking::Request;
use screens::{PREVIEW, Prepared, preview, screens};

/// URLs known, unless told.
const KNOWN: [u64; 2] = [1_000_000, 10_000_000];
/// URLs known before the state is filled up.
const CRAWLED: u64 = 1_000;
/// Requests for each screen in a round: percentiles of few say little.
const REQUESTS_OF_A_ROUND: usize = 20;
/// Seconds of requests for one screen: after that, the others are left out.
const SCREEN_SECONDS_MAX: f64 = 60.0;
/// Seconds until what reads a whole crawl is there: a report, a picture, an exact count. After that, the bench goes on without it.
const WHOLE_SECONDS_MAX: f64 = 900.0;
/// The pause before a page is asked for again that says that something is being made.
const AGAIN_EVERY: Duration = Duration::from_millis(200);
/// What such a page has.
const AWAITED: &str = "id=\"awaited\"";
/// What a screen may take, in milliseconds.
const SCREEN_MS_MAX: f64 = 100.0;
/// What the preview of a change may take, in milliseconds.
const PREVIEW_MS_MAX: f64 = 1_000.0;
/// What the first paint of the first screen may take, in milliseconds, and what may be transferred for it, in bytes.
const FIRST_PAINT_MS_MAX: f64 = 200.0;
const FIRST_SCREEN_BYTES_MAX: f64 = 150_000.0;

/// Crawls webs, and asks for each screen.
///
/// # Errors
/// A crawl fails, or a screen is not there.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let number = |size: &String| size.parse().with_context(|| format!("`{size}` is no number of URLs"));
    let mut sizes: Vec<u64> = options.rest.iter().map(number).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes.extend(KNOWN);
    }
    let binary = argiope::binary(options.binary.as_deref())?;
    let profile = profile(&binary);
    let program = format!("{}, built with the profile {profile}", said(&binary, &["--version"])?);
    let mut file = RunFile::begin("ui", "Screens of the interface", &[program])?;
    for size in sizes {
        let dir = TempDir::with_prefix("argiope-bench-")?;
        let crawl = dir.path().join("crawl");
        known::crawl_to(&binary, CRAWLED, &crawl)?;
        let known = said(&fill(profile)?, &[&crawl.join("state").display().to_string(), &size.to_string()])?;
        known.parse::<u64>().with_context(|| format!("the state was not filled up: {known}"))?;
        file.say(&format!(
            "Scale: {known} URLs known ({size} of them filled in), the crawl rests; one request at a time, the first and then {} more of each \
             screen, or as many as {SCREEN_SECONDS_MAX} s have room for. Milliseconds from a request to the end of its answer, percentiles of all \
             but the first. Where the first answer says that something is being made, the others are asked for when it is there:\n",
            options.rounds * REQUESTS_OF_A_ROUND
        ));
        file.say(
            "| screen | made after | first | p50 | p90 | p99 | slowest | requests |\n|---|---|---|---|---|---|---|---|",
        );
        let prepared = Prepared::of(&binary, &crawl)?;
        let interface = Interface::start(&binary, &crawl)?;
        for (name, request) in screens(&prepared) {
            // A failure is reported, and the other screens are measured.
            match Screen::of(&interface, &request, options.rounds * REQUESTS_OF_A_ROUND) {
                Ok(screen) => file.say(&line(name, &screen)),
                Err(error) => file.say(&format!("| {name} | failed: {error:#} | | | | | | |")),
            }
        }
        file.say("");
        file.say(&counted(&interface)?);
        file.say(&painted(&interface, options.rounds)?);
    }
    // Figures of a program that is not optimized mean nothing later.
    if profile == "dev" { Ok(()) } else { file.keep() }
}

/// What the requests for a screen took.
struct Screen {
    /// Milliseconds until the first answer.
    first: f64,
    /// Seconds until what it shows was made; `None` if the first answer had it.
    made_after: Option<Made>,
    /// Milliseconds until each of the other answers.
    again: Vec<f64>,
}

/// When something was there that reads a whole crawl.
enum Made {
    After(f64),
    NotIn(f64),
}

impl Screen {
    /// Asks for a screen, and then so many times again, when what it shows is there.
    fn of(interface: &Interface, request: &Request, requests: usize) -> anyhow::Result<Self> {
        let began = now();
        let (first, mut is_awaited) = answered(interface, request)?;
        let mut made_after = None;
        while is_awaited && began.elapsed().as_secs_f64() < WHOLE_SECONDS_MAX {
            std::thread::sleep(AGAIN_EVERY);
            is_awaited = answered(interface, request)?.1;
            made_after = Some(Made::After(began.elapsed().as_secs_f64()));
        }
        if is_awaited {
            made_after = Some(Made::NotIn(WHOLE_SECONDS_MAX));
        }
        let began = now();
        let mut again = Vec::new();
        while again.len() < requests && began.elapsed().as_secs_f64() < SCREEN_SECONDS_MAX {
            again.push(answered(interface, request)?.0);
        }
        Ok(Screen { first, made_after, again })
    }
}

/// A screen as a line of the table.
fn line(name: &str, Screen { first, made_after, again }: &Screen) -> String {
    let [middle, p90, p99, slowest] = [50, 90, 99, 100].map(|of_hundred| percentile(again, of_hundred));
    let aim = if name == PREVIEW { PREVIEW_MS_MAX } else { SCREEN_MS_MAX };
    let is_slow = if middle > aim { format!(" (aim: {aim})") } else { String::new() };
    let made = match made_after {
        None => String::new(),
        Some(Made::After(seconds)) => format!("{seconds:.1} s"),
        Some(Made::NotIn(seconds)) => format!("not in {seconds} s"),
    };
    let count = again.len();
    format!("| {name} | {made} | {first:.1} | {middle:.1}{is_slow} | {p90:.1} | {p99:.1} | {slowest:.1} | {count} |")
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn now() -> Instant {
    Instant::now()
}

/// The profile that a binary in cargo's target directory was built with; of one that lies elsewhere, the profile of benchmarks.
fn profile(binary: &Path) -> &'static str {
    match binary.parent().and_then(Path::file_name).and_then(|dir| dir.to_str()) {
        Some("debug") => "dev",
        Some("release") => "release",
        _ => "dist",
    }
}

/// How long the exact count of a change takes behind its preview.
fn counted(interface: &Interface) -> anyhow::Result<String> {
    let began = now();
    let mut page = preview().answer(interface)?;
    let first = if page.contains("An estimate: ") { "an estimate" } else { "no estimate" };
    while let Some(reread) = page.split("data-reread=\"").nth(1).and_then(|rest| rest.split('"').next()) {
        if began.elapsed().as_secs_f64() > WHOLE_SECONDS_MAX {
            return Ok(format!(
                "{PREVIEW}: the first answer has {first}; the exact count was not there in {WHOLE_SECONDS_MAX} s.\n"
            ));
        }
        page = Request::get(reread).answer(interface)?;
    }
    ensure!(page.contains("it would concern "), "{page}");
    let seconds = began.elapsed().as_secs_f64();
    Ok(format!("{PREVIEW}: the first answer has {first}; the exact count took {seconds:.1} s.\n"))
}

/// The first paint of the first screen, and the bytes transferred for it. The first load finds no cache, and the others find theirs.
fn painted(interface: &Interface, rounds: usize) -> anyhow::Result<String> {
    let paths = vec!["/"; rounds + 1];
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "-p", "testkit", "--example", "paint", "--", &interface.origin]).args(paths);
    let ran = command.current_dir(workspace()).stderr(Stdio::inherit()).output()?;
    if !ran.status.success() {
        return Ok("First paint: not measured, since Chromium or the example `paint` did not run.\n".to_owned());
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    let numbers = |line: &str| -> Option<(f64, f64)> {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let loads: Vec<(f64, f64)> = text.lines().filter_map(numbers).collect();
    let (first, bytes) = loads.first().copied().context("no load was measured")?;
    let again: Vec<f64> = loads.iter().skip(1).map(|(ms, _)| *ms).collect();
    let [middle, p90, slowest] = [50, 90, 100].map(|of_hundred| percentile(&again, of_hundred));
    let is_slow = if middle > FIRST_PAINT_MS_MAX { format!(" (aim: {FIRST_PAINT_MS_MAX})") } else { String::new() };
    let is_heavy =
        if bytes > FIRST_SCREEN_BYTES_MAX { format!(" (aim: {FIRST_SCREEN_BYTES_MAX})") } else { String::new() };
    Ok(format!(
        "First paint in Chromium: {first:.0} ms without a cache; then p50 {middle:.0} ms{is_slow}, p90 {p90:.0} ms, slowest {slowest:.0} ms; \
         {bytes:.0} bytes{is_heavy}.\n"
    ))
}

/// The program that fills a state up: built now, as the binary was.
fn fill(profile: &str) -> anyhow::Result<PathBuf> {
    let built = Command::new("cargo")
        .args(["build", "--profile", profile, "--quiet", "-p", "argiope-store-embedded", "--example", "fill"])
        .current_dir(workspace())
        .status()?;
    ensure!(built.success(), "the build of the example `fill` failed");
    let dir = if profile == "dev" { "debug" } else { profile };
    Ok(argiope::target().join(dir).join("examples/fill"))
}

/// Milliseconds until a request is answered, and whether the answer says that something is being made.
fn answered(interface: &Interface, request: &Request) -> anyhow::Result<(f64, bool)> {
    let began = now();
    let page = request.answer(interface)?;
    let took = began.elapsed().as_secs_f64() * 1_000.0;
    if page.len() < 200 {
        bail!("{request:?}: the answer has no page");
    }
    Ok((took, page.contains(AWAITED)))
}
