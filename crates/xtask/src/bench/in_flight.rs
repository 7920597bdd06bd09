//! What a page in flight takes in memory: a slow site, crawled with few requests at a time and with many.

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::Options;
use super::crawlers::{self, Crawler, Programs};
use super::documentation::{self, Served};
use super::measured;
use super::measured::median;
use super::run_file::RunFile;

/// Requests at a time: few and many.
const AT_ONCE: [u32; 2] = [128, 640];

/// Pages that are crawled each time: twice as many as requests at a time, so that some time all of these are under way.
const PAGES: usize = 1_280;

/// How pages are sent, and the settings of nginx: so slowly that a page takes some eight or twelve seconds, in which Scrapy can begin as many
/// requests as are to be under way. Most servers of today's web compress what they send.
const SENT: [(&str, &str); 2] =
    [("as they are, 4 kB a second", "limit_rate 4k;"), ("gzipped, 0.5 kB a second", "gzip on; limit_rate 512;")];

/// Crawls with each number of requests at a time, in turn.
///
/// # Errors
/// A program is missing, or a crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let crawlers = [Crawler::Argiope, Crawler::ArgiopeStateOnly, Crawler::Scrapy];
    let crawlers: Vec<Crawler> = crawlers.into_iter().filter(|crawler| options.takes(crawler.name())).collect();
    let programs = Programs::provide(&crawlers, options.binary.as_deref())?;
    let mut file = RunFile::begin("in-flight", "Memory a page in flight", &programs.versions(&crawlers)?)?;
    let [few, many] = AT_ONCE;
    file.say(&format!(
        "{} pages of one large site, between 16 and 64 kB each, whose server sends them slowly; medians of {} rounds.\n",
        PAGES + 1,
        options.rounds
    ));
    file.say(&format!(
        "| pages are sent | crawler | peak MB, {few} at once | peak MB, {many} at once | kB a page in flight |"
    ));
    file.say("|---|---|---|---|---|");
    for (sent, settings) in SENT {
        let served = documentation::pages_of_one_slow(PAGES, settings)?;
        for crawler in &crawlers {
            let [of_few, of_many] = peaks(*crawler, &programs, &served, options.rounds)?;
            let a_page = (of_many - of_few) * 1_000.0 / f64::from(many - few);
            file.say(&format!("| {sent} | {} | {of_few:.0} | {of_many:.0} | {a_page:.0} |", crawler.name()));
        }
    }
    file.keep()
}

/// The most memory of a crawl with each number of requests at a time, in MB; medians.
fn peaks(crawler: Crawler, programs: &Programs, served: &Served, rounds: usize) -> anyhow::Result<[f64; 2]> {
    let mut peaks = [Vec::new(), Vec::new()];
    for _ in 1..=rounds {
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
            eprintln!("xtask: {name}, {at_once} at once: {:.1} MB, {:.0} s", measured.peak_mb, measured.wall_seconds);
            peaks.push(measured.peak_mb);
        }
    }
    Ok(peaks.map(median))
}
