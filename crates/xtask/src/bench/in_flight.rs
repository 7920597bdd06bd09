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

/// Crawls with each number of requests at a time, in turn; all crawlers side by side, since they have nearly nothing to do but wait.
///
/// # Errors
/// A program is missing, or a crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let crawlers = [Crawler::ARGIOPE, Crawler::STATE_ONLY, Crawler::Scrapy];
    let crawlers: Vec<Crawler> = crawlers.into_iter().filter(|crawler| options.takes(crawler.name())).collect();
    let programs = Programs::provide(&crawlers, options)?;
    let mut file = RunFile::begin("in-flight", "Memory a page in flight", &programs.versions(&crawlers)?)?;
    let [few, many] = AT_ONCE;
    file.say(&format!(
        "{} pages of one large site, between 16 and 64 kB each, whose server sends them slowly; medians of {} rounds, and the least and the most.\n",
        PAGES + 1,
        options.rounds
    ));
    file.say(&format!(
        "| pages are sent | crawler | peak MB, {few} at once | peak MB, {many} at once | kB a page in flight |"
    ));
    file.say("|---|---|---|---|---|");
    for (sent, settings) in SENT {
        let served = documentation::pages_of_one_slow(PAGES, settings)?;
        let rounds = (1..=options.rounds)
            .map(|round| {
                eprintln!("xtask: {sent}, round {round}");
                peaks_of_round(&crawlers, &programs, &served)
            })
            .collect::<anyhow::Result<Vec<_>>>()?;
        for (number, crawler) in crawlers.iter().enumerate() {
            let of = |figure: fn([f64; 2]) -> f64| rounds.iter().map(move |peaks| figure(peaks[number]));
            let (least, most) = (of(of_a_page).fold(f64::INFINITY, f64::min), of(of_a_page).fold(0.0, f64::max));
            let [few_mb, many_mb, a_page] =
                [median(of(|peaks| peaks[0])), median(of(|peaks| peaks[1])), median(of(of_a_page))];
            file.say(&format!(
                "| {sent} | {} | {few_mb:.0} | {many_mb:.0} | {a_page:.0} ({least:.0} to {most:.0}) |",
                crawler.name()
            ));
        }
    }
    file.keep()
}

/// What a page in flight takes in kB, by the most memory in MB with few and with many requests at a time.
fn of_a_page([of_few, of_many]: [f64; 2]) -> f64 {
    let [few, many] = AT_ONCE;
    (of_many - of_few) * 1_000.0 / f64::from(many - few)
}

/// The most memory of a crawl by each crawler with each number of requests at a time, in MB.
fn peaks_of_round(crawlers: &[Crawler], programs: &Programs, served: &Served) -> anyhow::Result<Vec<[f64; 2]>> {
    let mut peaks = vec![[0.0; 2]; crawlers.len()];
    for (place, at_once) in AT_ONCE.into_iter().enumerate() {
        let ended: Vec<anyhow::Result<f64>> = std::thread::scope(|scope| {
            let crawl = |crawler: &Crawler| {
                let crawler = *crawler;
                scope.spawn(move || peak(crawler, programs, served, at_once))
            };
            let crawls: Vec<_> = crawlers.iter().map(crawl).collect();
            crawls.into_iter().map(|crawl| crawl.join().unwrap_or_else(|_| bail!("a crawl panicked"))).collect()
        });
        for (peaks, peak) in peaks.iter_mut().zip(ended) {
            peaks[place] = peak?;
        }
    }
    Ok(peaks)
}

/// The most memory of a crawl, in MB.
fn peak(crawler: Crawler, programs: &Programs, served: &Served, at_once: u32) -> anyhow::Result<f64> {
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
    Ok(measured.peak_mb)
}
