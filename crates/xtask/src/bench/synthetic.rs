//! Crawls of webs that are computed: speed and memory, with the dataset and without, and where the time goes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, Summary};
use super::measured;
use super::run_file::{RunFile, said};

/// A page from which all others are reachable.
pub const SEED: &str = "http://s0000.synthetic.test/p/0";

/// The host of that page.
#[must_use]
pub fn host() -> &'static str {
    SEED.trim_start_matches("http://").split('/').next().unwrap_or_default()
}

/// Sites of the web.
const SITES: u64 = 1_000;

/// Links of a page, on average.
const DEGREE: u64 = 10;

/// Pages of the web, unless told.
const PAGES: [u64; 2] = [100_000, 1_000_000];

/// Crawls a web of each size, with the dataset and without.
///
/// # Errors
/// The build, the server or the crawl fails, or the crawl does not find every page.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let number = |size: &String| size.parse().with_context(|| format!("`{size}` is no number of pages"));
    let mut sizes: Vec<u64> = options.rest.iter().map(number).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes.extend(PAGES);
    }
    let binary = argiope::binary(options.binary.as_deref())?;
    let mut file = RunFile::begin("synthetic", "Webs that are computed", &[said(&binary, &["--version"])?])?;
    file.say("| pages | dataset MB | seconds | pages/s | CPU s | pages/CPU-s | peak MB | state MB | archive MB |");
    file.say("|---|---|---|---|---|---|---|---|---|");
    let mut stages = String::new();
    for pages in sizes {
        let summary = crawl(&binary, pages, &[], &mut file)?;
        crawl(&binary, pages, &["--no-dataset"], &mut file)?;
        stages += &format!("\nWhere the time goes, {pages} pages with the dataset:\n\n{}\n", summary.stages(pages)?);
    }
    file.say(&stages);
    file.keep()
}

/// Our server of webs that are computed. It ends with the value.
pub struct Web {
    process: Child,
    /// Where it listens.
    pub address: String,
    /// It says more than its address: nobody may hang up.
    output: BufReader<ChildStdout>,
}

impl Web {
    /// Serves one: `SEED,SITES,PAGES,DEGREE`, as `argiope testweb --synthetic` takes it.
    ///
    /// # Errors
    /// The server does not start.
    pub fn serve(binary: &Path, web: &str) -> anyhow::Result<Self> {
        let mut process = Command::new(binary)
            .args(["testweb", "--listen", "127.0.0.1:0", "--synthetic", web])
            .stdout(Stdio::piped())
            .spawn()?;
        let output = BufReader::new(process.stdout.take().context("no output")?);
        let mut web = Self { process, address: String::new(), output };
        let mut first = String::new();
        web.output.read_line(&mut first)?;
        first.trim().strip_prefix("listening on ").with_context(|| first.clone())?.clone_into(&mut web.address);
        Ok(web)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn crawl(binary: &Path, pages: u64, options: &[&str], file: &mut RunFile) -> anyhow::Result<Summary> {
    let web = Web::serve(binary, &format!("1,{SITES},{pages},{DEGREE}"))?;
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let out = dir.path().join("crawl");
    let mut command = argiope::crawl(binary, &out);
    command.args([SEED, "--scope", "any", "--connect-to", &format!("::{}", web.address)]);
    command.args(["--no-sitemaps", "--max-simple-queries-per-path", "0"]).args(options);
    let measured = measured::run(&mut command, dir.path())?;
    let summary = Summary::read(&measured.output)?;
    if !measured.succeeded || summary.fetched() != pages {
        bail!("{} of {pages} pages were fetched", summary.fetched());
    }
    let megabytes = |of: &str| -> anyhow::Result<u64> { Ok(size_of(&out.join(of))? / 1_000_000) };
    let dataset = if options.is_empty() { megabytes("dataset")?.to_string() } else { "none".to_owned() };
    file.say(&format!(
        "| {pages} | {dataset} | {:.1} | {:.0} | {:.1} | {:.0} | {:.0} | {} | {} |",
        measured.wall_seconds,
        pages as f64 / measured.wall_seconds,
        measured.cpu_seconds,
        pages as f64 / measured.cpu_seconds,
        measured.peak_mb,
        megabytes("state")?,
        megabytes("archive")?
    ));
    Ok(summary)
}

fn size_of(dir: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in dir.read_dir()? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
