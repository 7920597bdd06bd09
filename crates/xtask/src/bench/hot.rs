//! Whether a host with very many queued URLs slows down the others: a crawl of small hosts, alone and beside it.
//!
//! Every host is asked at a fixed pace, so that within a fixed time each gives as many pages as the pace allows, if its turn comes in time.

use std::path::Path;

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured::{self, Measured, median};
use super::run_file::{RunFile, said};
use super::synthetic::{self, SEED, Web};

/// Hosts, the hot one among them: it is site 0.
const HOSTS: u64 = 100;

/// Pages of each small host: more than are visited.
const PAGES_OF_SMALL: u64 = 2_000;

/// The hot host's web, of one site: pages like those of the others.
const HOT: &str = "2,1,20000000,10";

/// The same pages with a thousand links each: as it is crawled before, at no pace, until its queue is long.
const FILLING: &str = "2,1,20000000,1000";

/// Pages visited then: about so many thousand URLs are queued after that.
const HOT_PAGES_BEFORE: u64 = 1_100;

/// Between two visits of a host.
const DELAY: &str = "50ms";

/// How long all of them are crawled.
const TIME: &str = "60s";

/// Crawls the small hosts without the hot one and with it, in turn.
///
/// # Errors
/// A crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("hot", "One host with a million queued URLs", &[said(&binary, &["--version"])?])?;
    let small = Web::serve(&binary, &format!("1,{HOSTS},{},10", HOSTS * PAGES_OF_SMALL))?;
    let hot = Hot { filling: Web::serve(&binary, FILLING)?, web: Web::serve(&binary, HOT)? };
    let mut runs: [Vec<Took>; 2] = [Vec::new(), Vec::new()];
    for round in 1..=options.rounds {
        for (hot, runs) in [None, Some(&hot)].into_iter().zip(&mut runs) {
            let took = crawl(&binary, &small, hot)?;
            eprintln!("xtask: round {round}: {} pages of other hosts, {} URLs queued", took.of_others, took.queued);
            runs.push(took);
        }
    }
    file.say("| | URLs queued | pages of the others | CPU µs a visit | peak MB |\n|---|---|---|---|---|");
    for (name, runs) in ["without", "with"].iter().zip(&runs) {
        let of = |of: fn(&Took) -> f64| median(runs.iter().map(of));
        let (queued, of_others) = (of(|took| took.queued as f64), of(|took| took.of_others as f64));
        let (micros, peak_mb) = (of(|took| took.micros), of(|took| took.measured.peak_mb));
        file.say(&format!("| {name} | {queued:.0} | {of_others:.0} | {micros:.0} | {peak_mb:.0} |"));
    }
    let [without, with] = runs.map(|runs| median(runs.iter().map(|took| took.of_others as f64)));
    file.say(&format!(
        "\n{HOSTS} hosts, a visit of each every {DELAY}, for {TIME}; {} rounds. Beside the hot host the others give {:.3} times the pages.",
        options.rounds,
        with / without
    ));
    file.keep()
}

/// The hot host while its queue is filled, and after that.
struct Hot {
    filling: Web,
    web: Web,
}

/// What a crawl of all hosts took and gave.
struct Took {
    measured: Measured,
    /// URLs in queues when it began.
    queued: u64,
    /// Pages of all hosts but the hot one.
    of_others: u64,
    /// Processor time of a visit in microseconds.
    micros: f64,
}

/// Crawls all hosts; site 0 is the hot one's if there is one, after many of its URLs were queued.
fn crawl(binary: &Path, small: &Web, hot: Option<&Hot>) -> anyhow::Result<Took> {
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let out = dir.path().join("crawl");
    let host = synthetic::host();
    let command = |delay: &str, site_0: Option<&Web>, options: &[&str]| {
        let mut command = argiope::crawl_at(binary, &out, delay);
        // A resumed crawl would derive the dataset of its last segment again, within its time.
        command.args(["--scope", "any", "--no-dataset", "--no-sitemaps", "--max-simple-queries-per-path", "0"]);
        command.args(options);
        if let Some(web) = site_0 {
            command.args(["--connect-to", &format!("{host}::{}", web.address)]);
        }
        command.args(["--connect-to", &format!("::{}", small.address)]);
        command
    };
    let (mut queued, mut before) = (0, 0);
    if let Some(Hot { filling, .. }) = hot {
        let pages = HOT_PAGES_BEFORE.to_string();
        let summary = measured::run(command("0", Some(filling), &["--max-pages", &pages]).arg(SEED), dir.path())?;
        let summary = Summary::read(&summary.output)?;
        (queued, before) = (summary.known() - summary.fetched(), summary.fetched());
    }
    let mut all = command(DELAY, hot.map(|hot| &hot.web), &["--max-time", TIME, "--max-pages", "100000000"]);
    all.args((0..HOSTS).map(|site| SEED.replace("s0000", &format!("s{site:04}"))));
    let measured = measured::run(&mut all, dir.path())?;
    let fetched = Summary::read(&measured.output)?.fetched();
    let of_site_0 = pages_of(binary, &out, host)?;
    let micros = measured.cpu_seconds * 1e6 / (fetched - before) as f64;
    Ok(Took { measured, queued, of_others: fetched - of_site_0, micros })
}

/// How many pages of a host a crawl has.
///
/// # Errors
/// The crawl does not say.
pub fn pages_of(binary: &Path, crawl: &Path, host: &str) -> anyhow::Result<u64> {
    let crawl = crawl.display().to_string();
    let told: Value = serde_json::from_str(&said(binary, &["explain", "--json", &crawl, host])?)?;
    told["sites"][0]["pages_fetched"].as_u64().with_context(|| format!("no number of pages: {told}"))
}
