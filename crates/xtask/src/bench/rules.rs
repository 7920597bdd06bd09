//! Large robots.txt files: what a thousand of them take in memory, and whether a site waits beside one whose rules all have wildcards.

use std::path::Path;

use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::hot::pages_of;
use super::measured::{self, Measured, median};
use super::run_file::{RunFile, said};
use super::synthetic::{SEED, Web};

/// Hosts with a robots.txt of 525 kB, each another.
const HOSTS: usize = 1_000;

/// The honest site: more pages than are visited.
const HONEST: &str = "1,1,2000000,10";

/// How long it is crawled, without delays.
const TIME: &str = "15s";

/// What is crawled beside it.
const BESIDE: [(&str, Option<&str>); 3] = [
    ("nothing", None),
    ("a site without rules", Some("http://none.rules.test/")),
    ("35,641 rules with wildcards", Some("http://wildcards.rules.test/")),
];

/// Crawls the hosts, and then the honest site beside the others, in turn.
///
/// # Errors
/// A crawl fails.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("rules", "Large robots.txt files", &[said(&binary, &["--version"])?])?;
    let web = Web::serve(&binary, HONEST)?;
    file.say("| 1,000 hosts with 525 kB each | seconds | CPU s | peak MB |\n|---|---|---|---|");
    let seeds: Vec<String> = (0..HOSTS).map(|n| format!("http://large-{n}.rules.test/")).collect();
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let Measured { wall_seconds, cpu_seconds, peak_mb, output, .. } = crawl(&binary, &web, &seeds, &[], dir.path())?;
    let fetched = Summary::read(&output)?.fetched();
    file.say(&format!("| {fetched} pages | {wall_seconds:.1} | {cpu_seconds:.1} | {peak_mb:.0} |\n"));
    let mut pages: [Vec<(f64, f64)>; BESIDE.len()] = Default::default();
    for _ in 0..options.rounds {
        for ((_, beside), pages) in BESIDE.iter().zip(&mut pages) {
            let seeds: Vec<String> = [SEED].iter().chain(beside).map(|&seed| seed.to_owned()).collect();
            let dir = TempDir::with_prefix("argiope-bench-")?;
            let flags = ["--max-time", TIME, "--max-low-yield-pages", "0"];
            let measured = crawl(&binary, &web, &seeds, &flags, dir.path())?;
            let all = Summary::read(&measured.output)?.fetched();
            let honest = pages_of(&binary, &dir.path().join("crawl"), super::synthetic::host())?;
            pages.push((honest as f64, all.saturating_sub(honest) as f64));
        }
    }
    file.say("| beside | pages of the honest site | pages of the other |\n|---|---|---|");
    let of = |pages: &[(f64, f64)]| (median(pages.iter().map(|p| p.0)), median(pages.iter().map(|p| p.1)));
    for ((name, _), pages) in BESIDE.iter().zip(&pages) {
        let (honest, other) = of(pages);
        file.say(&format!("| {name} | {honest:.0} | {other:.0} |"));
    }
    let [_, without, with] = pages.map(|pages| of(&pages).0);
    file.say(&format!(
        "\nNo delays, {TIME}, {} rounds. Beside the rules the honest site gives {:.3} times the pages that it gives beside the same site without rules.",
        options.rounds,
        with / without
    ));
    file.keep()
}

fn crawl(binary: &Path, web: &Web, seeds: &[String], flags: &[&str], dir: &Path) -> anyhow::Result<Measured> {
    let mut command = argiope::crawl(binary, &dir.join("crawl"));
    command.args(["--no-sitemaps", "--max-simple-queries-per-path", "0", "--no-dataset"]).args(flags);
    command.args(["--connect-to", &format!("::{}", web.address)]).args(seeds);
    measured::run(&mut command, dir)
}
