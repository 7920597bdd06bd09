//! What a page in flight takes in memory: a slow site, crawled with few requests at a time and with many.

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::Options;
use super::crawlers::{self, Crawler, Programs};
use super::documentation;
use super::measured;
use super::measured::median;
use super::run_file::RunFile;

/// Requests at a time: few and many.
const AT_ONCE: [u32; 2] = [128, 640];

/// Pages that are crawled each time: twice as many as requests at a time, so that some time all of these are under way.
const PAGES: usize = 1_280;

/// How fast the server sends a body, in bytes a second: a page takes some eight seconds, in which Scrapy can begin as many requests as are to be
/// under way.
const RATE: &str = "4k";

/// Crawls with each number of requests at a time, in turn.
///
/// # Errors
/// A program is missing, or a crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let crawlers = [Crawler::Argiope, Crawler::ArgiopeStateOnly, Crawler::Scrapy];
    let crawlers: Vec<Crawler> = crawlers.into_iter().filter(|crawler| options.takes(crawler.name())).collect();
    let programs = Programs::provide(&crawlers, options.binary.as_deref())?;
    let served = documentation::pages_of_one_slow(PAGES, RATE)?;
    let mut file = RunFile::begin("in-flight", "Memory a page in flight", &programs.versions(&crawlers)?)?;
    let [few, many] = AT_ONCE;
    file.say(&format!(
        "{} pages of one large site, between 16 and 64 kB each, whose server sends {RATE} a second; medians of {} rounds.\n",
        served.pages, options.rounds
    ));
    file.say(&format!("| crawler | peak MB, {few} at once | peak MB, {many} at once | kB a page in flight |"));
    file.say("|---|---|---|---|");
    for crawler in crawlers {
        let mut peaks = [Vec::new(), Vec::new()];
        for _ in 1..=options.rounds {
            for (at_once, peaks) in AT_ONCE.into_iter().zip(&mut peaks) {
                let dir = TempDir::with_prefix("argiope-bench-")?;
                let mut command = programs.command_of(crawler, &served.seeds, dir.path(), at_once)?;
                let measured = measured::run(&mut command, dir.path())?;
                let name = crawler.name();
                measured.succeeded.then_some(()).with_context(|| format!("{name} failed"))?;
                let pages = crawlers::pages(crawler, &measured, served.others, dir.path())?;
                if pages != served.pages {
                    bail!("{name} found {pages} pages of {}", served.pages);
                }
                eprintln!(
                    "xtask: {name}, {at_once} at once: {:.1} MB, {:.0} s",
                    measured.peak_mb, measured.wall_seconds
                );
                peaks.push(measured.peak_mb);
            }
        }
        let [of_few, of_many] = peaks.map(median);
        let a_page = (of_many - of_few) * 1_000.0 / f64::from(many - few);
        file.say(&format!("| {} | {of_few:.0} | {of_many:.0} | {a_page:.0} |", crawler.name()));
    }
    file.keep()
}
