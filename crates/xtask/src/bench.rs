//! `cargo xtask bench`: whole crawls by the binary of the profile `dist`, some beside other crawlers. `docs/performance.md` tells what they showed.

mod again;
pub mod argiope;
mod bodies;
mod clone;
mod compare;
mod crawlers;
pub mod documentation;
mod documents;
mod frames;
mod hot;
mod in_flight;
mod known;
mod measured;
mod nginx;
mod rules;
mod run_file;
mod structured;
mod synthetic;
mod text;
mod tls;
mod ui;
mod viewers;

use std::path::PathBuf;

use anyhow::{Context, bail};

/// What there is.
pub const USAGE: &str = "usage: cargo xtask bench WHAT [OPTIONS]

  site               one large real site (10,137 pages), beside spider, wget2 and Scrapy
  again              further rounds over the same site: unchanged, and with 300 pages edited, 50 removed, 20 added, 30 moved
  hosts              50 hosts with real pages, beside the same
  tls                1,000 hosts over TLS with pages of 240 kB, sent compressed, by HTTP/1.1 and HTTP/2
  in-flight          a slow site with few and with many requests at a time: what a page in flight takes in memory, beside Scrapy
  bodies [DOCUMENTS] 512 documents of 10 MB at once: memory beyond --max-in-flight-bytes
  known              10^5 to 10^7 known URLs, 10 to 10^5 hosts: what a page costs, and how much memory; draws docs/known.svg
  ui [URLS...]       what each screen of `argiope ui` takes at that many known URLs (default 10^6 and 10^7), and the preview of a change:
                     percentiles of 20 requests a round; of a binary in target/debug they are shown, and not kept
  frames [PAGES]     frames a second of the picture of the link graph in Chromium without a GPU, with 20,000 points
  viewers [PAGES]    processor time of a crawl with none and with 20 viewers of `argiope ui`, in turn
  status [PAGES]     the same with nobody and with one who runs `argiope status` every second
  hot                99 small hosts beside one with 10^6 queued URLs: whether they wait for it, and what a visit costs
  rules              1,000 robots.txt files of 525 kB: memory; a site beside one with 35,641 rules with wildcards: its pages
  freshness [PAGES] [VISITS] [ONLY...]
                     a simulated web that changes: how fresh copies are by our rule, by others and at best; what choosing costs;
                     ONLY: webs, rules, importances, days of budgets, or choosing
  documents DIR      text of PDF beside pdftotext, and of DOCX, PPTX, ODT and EPUB beside the .txt files they were made of
  structured DIR     JSON-LD, microdata, RDFa and OpenGraph of pages (.html, .html.gz) as we and extruct find them
  text DIR           the main text of pages whose main text is known, word F1 by kind, beside trafilatura, resiliparse and rs-trafilatura
  synthetic [PAGES]  webs that are computed, of that many pages (default 100000 and 1000000), with and without the dataset
  clone              the README's commands in a fresh clone, from an empty target directory: how long a newcomer waits

  --rounds N         how often each crawls, in turn (default 5)
  --binary FILE      the binary of argiope; without it one is built (profile dist)
  --before FILE      an earlier binary of argiope, which crawls in turn with this one (site, hosts)
  --only A,B         these crawlers only: argiope, argiope-pages (without main text and structured data), argiope-state-only,
                     before, before-state-only, spider, wget2, scrapy; of clone: crawl, test

Results are kept in bench/runs. What one needs is installed where that is possible, or named.";

/// How often each crawler crawls, unless told.
const ROUNDS: usize = 5;

/// Hosts of the web with many.
const HOSTS: usize = 50;

/// What is given after the name of a benchmark.
pub struct Options {
    rounds: usize,
    /// The binary of ours, if it is not to be built.
    pub binary: Option<PathBuf>,
    /// An earlier binary of ours, to compare with.
    pub before: Option<PathBuf>,
    only: Vec<String>,
    /// What is no option.
    rest: Vec<String>,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// There is no such option, or its value is none.
    pub fn read(arguments: &[&str]) -> anyhow::Result<Self> {
        let mut options = Self { rounds: ROUNDS, binary: None, before: None, only: Vec::new(), rest: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} of what?"));
            match *argument {
                "--rounds" => options.rounds = value()?.parse().context("--rounds wants a number")?,
                "--binary" => options.binary = Some(PathBuf::from(value()?)),
                "--before" => options.before = Some(PathBuf::from(value()?)),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                unknown if unknown.starts_with('-') => bail!("no option {unknown}\n{USAGE}"),
                other => options.rest.push(other.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether something of that name takes part.
    fn takes(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

/// Runs a benchmark, or lists what there is.
///
/// # Errors
/// There is none of that name, something it needs is missing, or a crawl did not find what there is.
pub fn run(arguments: &[&str]) -> anyhow::Result<()> {
    let [what, arguments @ ..] = arguments else {
        println!("{USAGE}");
        return Ok(());
    };
    let options = Options::read(arguments)?;
    match *what {
        "site" => compare::run("site", "One large site", &documentation::one()?, &options),
        "again" => again::run(&options),
        "hosts" => compare::run("hosts", "Many hosts", &documentation::many(HOSTS)?, &options),
        "tls" => tls::run(&options),
        "in-flight" => in_flight::run(&options),
        "bodies" => bodies::run(&options),
        "known" => known::run(&options),
        "ui" => ui::run(&options),
        "frames" => frames::run(&options),
        "viewers" => viewers::run(viewers::Watch::Viewers, &options),
        "status" => viewers::run(viewers::Watch::Status, &options),
        "hot" => hot::run(&options),
        "rules" => rules::run(&options),
        "documents" => documents::run(&options),
        "structured" => structured::run(&options),
        "text" => text::run(&options),
        "freshness" => freshness(arguments),
        "synthetic" => synthetic::run(&options),
        "clone" => clone::run(&options),
        _ => bail!("no benchmark {what}\n{USAGE}"),
    }
}

/// Runs the simulation of a web that changes.
fn freshness(arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["run", "--release", "--quiet", "-p", "argiope-frontier", "--example", "freshness", "--"]);
    let status = command.args(arguments).status().context("cargo cannot be run")?;
    anyhow::ensure!(status.success(), "the simulation fails: {status}");
    Ok(())
}
