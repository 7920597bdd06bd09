//! `cargo xtask bench`: a crawl of the synthetic web by the release binary, with its speed and memory, and where its time went.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::workspace;

/// Sites of the synthetic web.
const SITES: u64 = 1_000;

/// Links of a page, on average.
const DEGREE: u64 = 10;

/// How often memory is looked at. The peak is the kernel's own, so nothing is missed between.
const SAMPLE_EVERY: Duration = Duration::from_millis(200);

/// Runs the benchmark for each number of pages.
///
/// # Errors
/// The build, the server or the crawl fails, or the crawl does not find every page.
pub fn run(sizes: &[&str]) -> anyhow::Result<()> {
    let sizes: Vec<u64> = if sizes.is_empty() {
        vec![100_000, 1_000_000]
    } else {
        sizes
            .iter()
            .map(|size| size.parse().with_context(|| format!("`{size}` is no number of pages")))
            .collect::<Result<_, _>>()?
    };
    let binary = build()?;
    println!(
        "| pages | dataset MB | seconds | pages/s | CPU s | pages/CPU-s | peak resident MB | state MB | archive MB |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for pages in sizes {
        crawl(&binary, pages, Dataset::Written)?;
        crawl(&binary, pages, Dataset::None)?;
    }
    Ok(())
}

fn build() -> anyhow::Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "-p", "argiope"])
        .current_dir(workspace())
        .status()?;
    if !status.success() {
        bail!("the release build failed");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from);
    Ok(target.join("release/argiope"))
}

/// Ends a child when the benchmark ends, however it ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether the dataset is written while crawling.
#[derive(Clone, Copy, PartialEq)]
enum Dataset {
    Written,
    None,
}

fn crawl(binary: &Path, pages: u64, dataset: Dataset) -> anyhow::Result<()> {
    let mut server = Command::new(binary)
        .args(["testweb", "--listen", "127.0.0.1:0", "--synthetic", &format!("1,{SITES},{pages},{DEGREE}")])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(server.stdout.take().context("no output")?).lines();
    let server = Server(server);
    let first = lines.next().context("the server said nothing")??;
    let address = first.strip_prefix("listening on ").with_context(|| first.clone())?.to_owned();
    let dir = std::env::temp_dir().join(format!("argiope-bench-{}-{pages}", std::process::id()));
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    let began = Instant::now();
    let mut crawler = Command::new(binary)
        .args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--connect-to", &format!("::{address}")])
        .args(["--delay", "0", "--ip-delay", "0", "--no-sitemaps", "--max-simple-queries-per-path", "0"])
        .args(if dataset == Dataset::None { &["--no-dataset"][..] } else { &[] })
        .args(["--progress", "none", "--json", "-o"])
        .arg(&dir)
        .stdout(Stdio::piped())
        .spawn()?;
    let (mut peak_kb, mut cpu_seconds) = (0, 0.0);
    let status = loop {
        if let Some(status) = crawler.try_wait()? {
            break status;
        }
        peak_kb = peak_resident_kb(crawler.id()).unwrap_or(peak_kb);
        cpu_seconds = cpu_time(crawler.id()).unwrap_or(cpu_seconds);
        std::thread::sleep(SAMPLE_EVERY);
    };
    let seconds = began.elapsed().as_secs_f64();
    drop(server);
    let summary = std::io::read_to_string(crawler.stdout.take().context("no output")?)?;
    let (state, archive) = (size_of(&dir.join("state"))?, size_of(&dir.join("archive"))?);
    let dataset = match dataset {
        Dataset::Written => (size_of(&dir.join("dataset"))? / 1_000_000).to_string(),
        Dataset::None => "none".to_owned(),
    };
    std::fs::remove_dir_all(&dir)?;
    let fetched: u64 = number_after(&summary, "\"fetched\":").with_context(|| summary.clone())?;
    if !status.success() || fetched != pages {
        bail!("{fetched} of {pages} pages were fetched: {summary}");
    }
    #[expect(clippy::cast_precision_loss, reason = "rates are shown")]
    let pages_f = pages as f64;
    println!(
        "| {pages} | {dataset} | {seconds:.0} | {:.0} | {cpu_seconds:.0} | {:.0} | {} | {} | {} |",
        pages_f / seconds,
        pages_f / cpu_seconds,
        peak_kb / 1000,
        state / 1_000_000,
        archive / 1_000_000
    );
    println!("{}", stages(&summary)?);
    Ok(())
}

/// What a page's stages took on average, as the crawl measured it.
fn stages(summary: &str) -> anyhow::Result<String> {
    let summary: serde_json::Value = serde_json::from_str(summary)?;
    let fetched = summary["fetched"].as_f64().context("no number of pages")?;
    let micros = |seconds: &serde_json::Value| seconds.as_f64().unwrap_or(0.0) * 1e6 / fetched;
    let mut text = format!("microseconds a page: processor {:.0}", micros(&summary["time"]["cpu_seconds"]));
    for stage in summary["time"]["stages"].as_array().into_iter().flatten() {
        let (name, cpu, wall) = (&stage["stage"], micros(&stage["cpu_seconds"]), micros(&stage["wall_seconds"]));
        text += &format!(", {} {cpu:.0}/{wall:.0}", name.as_str().unwrap_or_default());
    }
    Ok(text)
}

/// The peak of resident memory of a process so far, by the kernel.
fn peak_resident_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    number_after(&status, "VmHWM:")
}

/// User and system time of a process so far, in seconds (proc(5): fields 14 and 15, in hundredths).
fn cpu_time(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some(ticks / 100.0)
}

fn number_after(text: &str, label: &str) -> Option<u64> {
    let rest = text.split_once(label)?.1.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn size_of(dir: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in dir.read_dir()? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}
