//! How smoothly the picture of the link graph moves in Chromium without a GPU, with as many points as it may have.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured::{self, percentile};
use super::run_file::{RunFile, said};
use super::synthetic::{SEED, Web};
use super::ui::Request;
use crate::interface::Interface;
use crate::workspace::workspace;

/// Pages of the crawl, unless told: more than the picture shows.
const PAGES: u64 = 25_000;
/// The picture.
const PICTURE: &str = "/graph?of=pages";
/// Seconds in which it moves, each time.
const SECONDS: u32 = 5;
/// Until it is drawn.
const DRAWN_SECONDS_MAX: u32 = 600;
/// The pause before it is looked for again.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// What there is to be, in frames a second.
const FRAMES_MIN: f64 = 20.0;

/// Crawls a web, and moves its picture in each round.
///
/// # Errors
/// The crawl fails, or Chromium does not run.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let pages: u64 = options.rest.first().map_or(Ok(PAGES), |pages| pages.parse()).context("the number of pages")?;
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("frames", "The picture of the graph", &[said(&binary, &["--version"])?])?;
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let crawl = dir.path().join("crawl");
    let web = Web::serve(&binary, &format!("1,50,{pages},10"))?;
    let mut command = argiope::crawl(&binary, &crawl);
    command.args([SEED, "--scope", "any", "--no-sitemaps", "--max-simple-queries-per-path", "0"]);
    command.args(["--connect-to", &format!("::{}", web.address)]);
    let measured = measured::run(&mut command, dir.path())?;
    ensure!(Summary::read(&measured.output)?.fetched() >= pages, "the crawl did not fetch {pages} pages");
    let interface = Interface::start(&binary, &crawl)?;
    drawn(&interface)?;
    file.say(&format!("{pages} pages; the picture moves for {SECONDS} s in Chromium with `--disable-gpu`:\n"));
    file.say("| round | points | links | frames a second | longest frame, ms |\n|---|---|---|---|---|");
    let mut rates = Vec::new();
    for round in 1..=options.rounds {
        let [points, links, rate, longest] = moved(&interface)?;
        file.say(&format!("| {round} | {points} | {links} | {rate} | {longest} |"));
        rates.push(rate);
    }
    let median = percentile(&rates, 50);
    file.say(&format!("\n{median} frames a second (median of the rounds; aim: at least {FRAMES_MIN})."));
    file.keep()
}

/// Waits until the picture is drawn.
fn drawn(interface: &Interface) -> anyhow::Result<()> {
    for _ in 0..DRAWN_SECONDS_MAX {
        let page = Request::get(PICTURE).answer(interface)?;
        if page.contains("<canvas") {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    anyhow::bail!("the picture was not drawn in {DRAWN_SECONDS_MAX} s")
}

/// Points, links, frames a second, and the longest frame.
fn moved(interface: &Interface) -> anyhow::Result<[f64; 4]> {
    let mut command = Command::new("cargo");
    command.args(["run", "--quiet", "-p", "testkit", "--example", "frames", "--"]);
    command.args([&interface.origin, PICTURE, &SECONDS.to_string()]);
    let ran = command.current_dir(workspace()).stderr(Stdio::inherit()).output()?;
    ensure!(ran.status.success(), "Chromium or the example `frames` did not run");
    let text = String::from_utf8_lossy(&ran.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().ok().with_context(|| format!("no measurement: {text}"))
}
