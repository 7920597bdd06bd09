//! Whole crawls by several crawlers in turn: the same pages, the same machine, each run in a directory of its own.

use anyhow::bail;
use tempfile::TempDir;

use super::Options;
use super::argiope::Summary;
use super::crawlers::{self, Crawler, Programs};
use super::documentation::Served;
use super::measured::{self, Measured, median};
use super::run_file::RunFile;

/// How far a crawler's pages may be from those there are before the run counts as wrong: crawlers differ over `\` in a link, for example.
const DIFFERENCE_MAX: f64 = 0.001;

/// All crawls of one crawler.
struct Runs {
    crawler: Crawler,
    measured: Vec<Measured>,
    /// Pages of each.
    pages: Vec<f64>,
}

/// Crawls what is served with each crawler, one after the other in each round, in every second round backwards, and keeps what came out.
///
/// # Errors
/// A program is missing, a crawl fails, or one of ours does not find the pages there are.
pub fn run(name: &'static str, what: &str, served: &Served, options: &Options) -> anyhow::Result<()> {
    let takes_part =
        |crawler: &Crawler| options.takes(crawler.name()) && (options.before.is_some() || !crawler.is_before());
    let crawlers: Vec<Crawler> = Crawler::ALL.into_iter().filter(takes_part).collect();
    let programs = Programs::provide(&crawlers, options)?;
    let mut file = RunFile::begin(name, what, &programs.versions(&crawlers)?)?;
    file.say(&format!(
        "{} pages on {} hosts; medians of {} rounds, in each of which the crawlers had their turn.\n",
        served.pages,
        served.seeds.len(),
        options.rounds
    ));
    let mut runs: Vec<Runs> =
        crawlers.into_iter().map(|crawler| Runs { crawler, measured: Vec::new(), pages: Vec::new() }).collect();
    for round in 1..=options.rounds {
        // There and back, so that nobody always follows the same one, whose memory, files and caches the next finds.
        for place in 0..runs.len() {
            let place = if round % 2 == 1 { place } else { runs.len() - 1 - place };
            runs[place].add(&programs, served, round)?;
        }
    }
    table(&runs, served.pages, &mut file);
    beside_before(&runs, &mut file);
    for ours in runs.iter().filter(|runs| runs.crawler.before().is_some()) {
        let Some(last) = ours.measured.last() else { continue };
        let summary = Summary::read(&last.output)?;
        file.say(&format!("\nWhere the time of {} goes, in its last crawl:\n", ours.crawler.name()));
        file.say(&summary.stages(served.pages)?);
    }
    file.keep()
}

impl Runs {
    fn add(&mut self, programs: &Programs, served: &Served, round: usize) -> anyhow::Result<()> {
        let (crawler, dir) = (self.crawler, TempDir::with_prefix("argiope-bench-")?);
        let mut command = programs.command(crawler, &served.seeds, dir.path())?;
        let measured = measured::run(&mut command, dir.path())?;
        let pages = crawlers::pages(crawler, &measured, served.others, dir.path())?;
        let name = crawler.name();
        eprintln!(
            "xtask: round {round}, {name}: {pages} pages, {:.2} s, {:.2} CPU s",
            measured.wall_seconds, measured.cpu_seconds
        );
        if !crawler.is_peer() && !is_all(pages as f64, served.pages) {
            bail!("{name} found {pages} pages of {}", served.pages);
        }
        self.measured.push(measured);
        self.pages.push(pages as f64);
        Ok(())
    }

    fn median(&self, of: fn(&Measured) -> f64) -> f64 {
        median(self.measured.iter().map(of))
    }

    /// Pages for each of something that the crawls took.
    fn pages_per(&self, of: fn(&Measured) -> f64) -> f64 {
        median(self.measured.iter().zip(&self.pages).map(|(measured, pages)| pages / of(measured)))
    }
}

fn is_all(pages: f64, there_are: u64) -> bool {
    (pages / there_are as f64 - 1.0).abs() <= DIFFERENCE_MAX
}

fn wall(measured: &Measured) -> f64 {
    measured.wall_seconds
}

fn cpu(measured: &Measured) -> f64 {
    measured.cpu_seconds
}

/// What ours takes to what its earlier binary took: medians of the quotients of each round, in which one followed the other.
fn beside_before(runs: &[Runs], file: &mut RunFile) {
    for ours in runs {
        let Some(before) = runs.iter().find(|runs| Some(runs.crawler) == ours.crawler.before()) else { continue };
        let quotient = |of: fn(&Measured) -> f64| {
            median(ours.measured.iter().zip(&before.measured).map(|(ours, before)| of(ours) / of(before)))
        };
        let (name, before) = (ours.crawler.name(), before.crawler.name());
        file.say(&format!(
            "\n{name} to {before}: {:.3} of the CPU time, {:.3} of the wall time.",
            quotient(cpu),
            quotient(wall)
        ));
    }
}

/// A row a crawler; the last columns say how it compares with the best peer in the same measure.
fn table(runs: &[Runs], there_are: u64, file: &mut RunFile) {
    let best =
        |of| runs.iter().filter(|runs| runs.crawler.is_peer()).map(|runs| runs.pages_per(of)).fold(0.0, f64::max);
    let (best_a_second, best_a_cpu_second) = (best(wall), best(cpu));
    file.say("| crawler | pages | wall s (least–most) | CPU s | pages/s | pages/CPU-s | peak MB | pages/s to the best peer's | pages/CPU-s to the best peer's |");
    file.say("|---|---|---|---|---|---|---|---|---|");
    for runs in runs {
        let walls = || runs.measured.iter().map(wall);
        let (a_second, a_cpu_second) = (runs.pages_per(wall), runs.pages_per(cpu));
        let part = |of: f64, best: f64| if best > 0.0 { format!("{:.2}", of / best) } else { String::new() };
        let all = runs.pages.iter().all(|pages| is_all(*pages, there_are));
        file.say(&format!(
            "| {} | {:.0}{} | {:.2} ({:.2}–{:.2}) | {:.2} | {a_second:.0} | {a_cpu_second:.0} | {:.0} | {} | {} |",
            runs.crawler.name(),
            median(runs.pages.iter().copied()),
            if all { "" } else { " (not all)" },
            runs.median(wall),
            walls().fold(f64::INFINITY, f64::min),
            walls().fold(0.0, f64::max),
            runs.median(cpu),
            runs.median(|measured| measured.peak_mb),
            part(a_second, best_a_second),
            part(a_cpu_second, best_a_cpu_second),
        ));
    }
}
