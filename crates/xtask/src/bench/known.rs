//! Whether a page costs more, and how much memory there has to be, the more URLs are known, and the more hosts there are.
//!
//! The webs are computed. Those for known URLs are alike at every size: pages link to a hundred others, and the crawl ends when half of all pages
//! are known, so that from the first page to the last the links to what is known go from none to a half. The store is what grows.

use std::path::Path;

use anyhow::bail;
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured::{self, Measured, median};
use super::run_file::{RunFile, said};
use super::synthetic::Web;
use crate::svg::Svg;
use crate::workspace::workspace;

/// How many URLs are known at the end, about.
const KNOWN: [u64; 3] = [100_000, 1_000_000, 10_000_000];

/// Links of a page while URLs become known, on average.
const DEGREE: u64 = 100;

/// Sites of these webs: few, so that asking for their robots.txt is no part worth mentioning of even the smallest crawl.
const SITES: u64 = 50;

/// How many hosts there are, with pages for all of them together.
const HOSTS: [u64; 3] = [10, 1_000, 100_000];
const PAGES_OF_HOSTS: u64 = 100_000;
const DEGREE_OF_HOSTS: u64 = 10;

/// What a page may cost at the most known URLs, to what it costs at the fewest.
const COST_MAX: f64 = 1.3;

/// A crawl is made again until it and those before it took so much of the processor, in seconds: what takes less than a second says little.
const CPU_SECONDS_MIN: f64 = 5.0;

/// Resident memory, in millions of bytes.
const RESIDENT_MAX: f64 = 400.0;

/// A web, and how much of it is crawled.
#[derive(Clone, Copy)]
struct Work {
    sites: u64,
    pages: u64,
    degree: u64,
    pages_max: u64,
}

impl Work {
    /// A web of which about so many pages are known at the end of the crawl.
    fn until_known(known: u64) -> Self {
        let pages = 2 * known;
        // Of p pages n links by chance leave p·e^(−n/p) unknown: half of them with n = p·ln 2.
        let links = pages as f64 * std::f64::consts::LN_2;
        Work { sites: SITES, pages, degree: DEGREE, pages_max: links as u64 / DEGREE }
    }
}

/// Crawls a web into a directory until about so many URLs are known. Returns how many it became.
///
/// # Errors
/// The crawl fails.
pub fn crawl_to(binary: &Path, known: u64, dir: &Path) -> anyhow::Result<u64> {
    Ok(crawl_into(binary, Work::until_known(known), dir)?.1)
}

/// Crawls webs of each size, and draws what it took.
///
/// # Errors
/// A crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("known", "More URLs, more hosts", &[said(&binary, &["--version"])?])?;
    let known = KNOWN.map(Work::until_known);
    let hosts =
        HOSTS.map(|sites| Work { sites, pages: PAGES_OF_HOSTS, degree: DEGREE_OF_HOSTS, pages_max: PAGES_OF_HOSTS });
    let known = measure(&binary, &known, options, &mut file, "known URLs")?;
    let hosts = measure(&binary, &hosts, options, &mut file, "hosts")?;
    let (few, many) = (&known[0], &known[KNOWN.len() - 1]);
    file.say(&format!(
        "A page at {} known URLs costs {:.2} times that at {} (median of the rounds; aim: at most {COST_MAX}); {:.0} MB are resident (aim: below {RESIDENT_MAX}).",
        many.known,
        median(many.micros_by_round.iter().zip(&few.micros_by_round).map(|(many, few)| many / few)),
        few.known,
        many.peak_mb
    ));
    let picture = workspace().join("docs/known.svg");
    std::fs::write(&picture, draw(&known, &hosts))?;
    eprintln!("xtask: drawn in {}", picture.display());
    file.keep()
}

/// What a crawl took: medians of the rounds.
struct Took {
    sites: u64,
    known: u64,
    /// Processor time of a visit, robots.txt included, without that of starting and ending; in microseconds.
    micros: f64,
    micros_by_round: Vec<f64>,
    peak_mb: f64,
}

/// A crawl in one of the rounds.
struct Run {
    round: usize,
    measured: Measured,
    known: u64,
}

/// Crawls all of these webs in each round, there and back: a machine that becomes slower or faster does so for all alike.
fn measure(
    binary: &Path,
    works: &[Work],
    options: &Options,
    file: &mut RunFile,
    what: &str,
) -> anyhow::Result<Vec<Took>> {
    let mut runs: Vec<Vec<Run>> = works.iter().map(|_| Vec::new()).collect();
    let mut starts = Vec::new();
    for round in 1..=options.rounds {
        starts.push(crawl(binary, Work { pages_max: 1, ..works[0] })?.0.cpu_seconds);
        for at in (0..works.len()).chain((0..works.len() - 1).rev()) {
            let Work { sites, pages_max, .. } = works[at];
            let mut spent = 0.0;
            while spent < CPU_SECONDS_MIN {
                let (measured, known) = crawl(binary, works[at])?;
                let cpu = measured.cpu_seconds;
                eprintln!("xtask: round {round}, {pages_max} pages, {sites} hosts: {known} URLs known, {cpu:.1} CPU s");
                spent += cpu;
                runs[at].push(Run { round, measured, known });
            }
        }
    }
    let start = median(starts);
    file.say(&format!("| {what} | pages fetched | CPU µs a visit | pages/s | peak MB |\n|---|---|---|---|---|"));
    let mut took = Vec::new();
    for (work, runs) in works.iter().zip(&runs) {
        let of = |of: fn(&Measured) -> f64| median(runs.iter().map(|run| of(&run.measured)));
        // Each site was asked for its robots.txt.
        let visits = (work.pages_max + work.sites) as f64;
        let micros = |cpu_seconds: f64| (cpu_seconds - start) * 1e6 / visits;
        let of_round = |round| runs.iter().filter(move |run| run.round == round).map(|run| run.measured.cpu_seconds);
        let micros_by_round = (1..=options.rounds).map(|round| micros(median(of_round(round)))).collect();
        let micros = micros(of(|run| run.cpu_seconds));
        let peak_mb = of(|run| run.peak_mb);
        let known = runs.first().map_or(0, |run| run.known);
        let size = if what == "hosts" { work.sites } else { known };
        let a_second = work.pages_max as f64 / of(|run| run.wall_seconds);
        file.say(&format!("| {size} | {} | {micros:.0} | {a_second:.0} | {peak_mb:.0} |", work.pages_max));
        took.push(Took { sites: work.sites, known, micros, micros_by_round, peak_mb });
    }
    file.say(&format!("\nStarting and ending, which is not counted: {start:.2} CPU s; {} rounds.\n", options.rounds));
    Ok(took)
}

fn crawl(binary: &Path, work: Work) -> anyhow::Result<(Measured, u64)> {
    let dir = TempDir::with_prefix("argiope-bench-")?;
    crawl_into(binary, work, &dir.path().join("crawl"))
}

fn crawl_into(binary: &Path, work: Work, crawl: &Path) -> anyhow::Result<(Measured, u64)> {
    let Work { sites, pages, degree, pages_max } = work;
    let web = Web::serve(binary, &format!("1,{sites},{pages},{degree}"))?;
    let said = TempDir::with_prefix("argiope-bench-")?;
    let mut command = argiope::crawl(binary, crawl);
    command.args([super::synthetic::SEED, "--scope", "any", "--no-sitemaps", "--max-simple-queries-per-path", "0"]);
    command.args(["--connect-to", &format!("::{}", web.address), "--max-pages", &pages_max.to_string()]);
    let measured = measured::run(&mut command, said.path())?;
    let summary = Summary::read(&measured.output)?;
    // What is under way when the last page is there is finished too.
    if summary.fetched() < pages_max {
        bail!("{} of {pages_max} pages were fetched", summary.fetched());
    }
    Ok((measured, summary.known()))
}

/// Four charts: processor time above, memory below; by known URLs on the left, by hosts on the right.
fn draw(known: &[Took], hosts: &[Took]) -> String {
    let mut svg = Svg::new(2.0 * CHART.0, 2.0 * CHART.1);
    for (left, what, took) in [(0.0, "known URLs", known), (CHART.0, "hosts", hosts)] {
        let size = |took: &Took| if what == "hosts" { took.sites } else { took.known };
        let points = |of: fn(&Took) -> f64| took.iter().map(|took| (size(took), of(took))).collect::<Vec<_>>();
        chart(&mut svg, (left, 0.0), &format!("CPU µs a visit, by {what}"), &points(|took| took.micros));
        chart(&mut svg, (left, CHART.1), &format!("peak resident MB, by {what}"), &points(|took| took.peak_mb));
    }
    svg.finish()
}

/// Width and height of a chart.
const CHART: (f64, f64) = (360.0, 220.0);
/// What a chart leaves free on each side.
const MARGIN: f64 = 40.0;

/// Points from left to right at equal distances, since sizes grow by equal factors; upwards from zero.
fn chart(svg: &mut Svg, (left, top): (f64, f64), title: &str, points: &[(u64, f64)]) {
    let (width, height) = (CHART.0 - 2.0 * MARGIN, CHART.1 - 2.0 * MARGIN);
    let most = points.iter().map(|(_, value)| *value).fold(1.0, f64::max);
    let step = width / points.len() as f64;
    let x = |place: usize| left + MARGIN + step * (place as f64 + 0.5);
    let y = |value: f64| top + MARGIN + height * (1.0 - value / most);
    svg.words((left + CHART.0 / 2.0, top + 16.0), "middle", title);
    svg.path(&[(left + MARGIN, top + MARGIN), (left + MARGIN, y(0.0)), (left + MARGIN + width, y(0.0))], "grey");
    let line: Vec<(f64, f64)> = points.iter().enumerate().map(|(place, (_, value))| (x(place), y(*value))).collect();
    svg.path(&line, "steelblue");
    for (place, (size, value)) in points.iter().enumerate() {
        svg.dot((x(place), y(*value)), "steelblue", &format!("{size}: {value:.0}"));
        svg.words((x(place), y(*value) - 8.0), "middle", &format!("{value:.0}"));
        svg.words((x(place), y(0.0) + 16.0), "middle", &size.to_string());
    }
}
