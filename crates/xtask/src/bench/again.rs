//! What further rounds over a large real site cost, and whether they find what has changed and nothing else: one over the unchanged pages, one
//! after some were edited, removed, added and moved.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::Options;
use super::argiope::{self, CONNECTIONS_OF_ONE, Summary};
use super::documentation::JDK;
use super::measured::{self, Measured};
use super::nginx::Nginx;
use super::run_file::{RunFile, said};
use crate::needs;

/// Pages whose text changes, with the seed, which links to the new ones.
const EDITED: usize = 300;
const REMOVED: usize = 50;
const ADDED: usize = 20;
/// Pages with another URL: a redirect leads to it from the old one.
const REDIRECTED: usize = 15;
/// The same without a redirect.
const RENAMED: usize = 15;

/// Files of the site that are that small may have the same content.
const BYTES_MIN: u64 = 2_048;

/// Files are looked at for each request: they change. A page that has moved has a file beside it that says so.
const SETTINGS: &str =
    "open_file_cache off; if (-f $request_filename.moved) { rewrite ^(.*)\\.html$ $1-moved.html permanent; }";

/// The address of the site.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 1);

/// Crawls the site three times.
///
/// # Errors
/// Something is missing, a crawl fails, or a round does not find exactly what has changed.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let binary = argiope::binary(options.binary.as_deref())?;
    needs::packages("the pages", &[(JDK.package, JDK.root), ("nginx-light", "/usr/sbin/nginx")])?;
    let dir = TempDir::with_prefix("argiope-bench-")?;
    let site = Site { root: dir.path().join("site"), crawl: dir.path().join("crawl"), binary };
    site.copy()?;
    let server = Nginx::serve(&[(ADDRESS, site.root.clone())], SETTINGS)?;
    let seed = format!("http://{ADDRESS}:{}/{}", server.port, JDK.seed);
    let mut file = RunFile::begin("again", "Rounds over a large site", &[said(&site.binary, &["--version"])?])?;
    file.say("| round | payload received | archive | archive per URL | CPU seconds | peak MB | `changes` |\n|---|---|---|---|---|---|---|");
    let first = site.round(&[&seed])?;
    ensure!(first.summary.fetched() >= JDK.pages, "{} pages of {} are there", first.summary.fetched(), JDK.pages);
    file.say(&first.row("first", None, ""));
    let second = site.round(&["--again"])?;
    let found = site.changes()?;
    file.say(&second.row("second, nothing has changed", Some(&first), &words(&found)));
    ensure!(found.is_empty(), "nothing has changed, and it found: {}", words(&found));
    site.change(&site.pages()?)?;
    let third = site.round(&["--again"])?;
    let found = site.changes()?;
    file.say(&third.row("third, after changes", Some(&first), &words(&found)));
    let moved = REDIRECTED + RENAMED;
    let expected = [("changed", EDITED), ("gone", REMOVED), ("moved", moved), ("new", ADDED)];
    let expected: Found = expected.into_iter().map(|(change, count)| (change.to_owned(), count)).collect();
    ensure!(found == expected, "{} have changed, and it found: {}", words(&expected), words(&found));
    file.say(&format!(
        "\nThird: {EDITED} pages edited, {REMOVED} removed, {ADDED} added, {REDIRECTED} moved by a redirect and {RENAMED} renamed. In brackets: the part of the first round."
    ));
    file.keep()
}

/// Changes by kind.
type Found = BTreeMap<String, usize>;

fn words(found: &Found) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    found.iter().map(|(change, count)| format!("{count} {change}")).collect::<Vec<_>>().join(", ")
}

/// A copy of the site, and the crawl of it.
struct Site {
    root: PathBuf,
    crawl: PathBuf,
    binary: PathBuf,
}

/// What a round took.
struct Round {
    summary: Summary,
    measured: Measured,
    /// Bytes that the archive became larger.
    archive: u64,
}

impl Round {
    fn row(&self, name: &str, first: Option<&Round>, changes: &str) -> String {
        let part = |of: f64, first: f64| format!(" ({:.3})", of / first);
        let bytes = self.summary.run_bytes() as f64;
        let of_bytes = first.map(|first| part(bytes, first.summary.run_bytes() as f64)).unwrap_or_default();
        let cpu = self.measured.cpu_seconds;
        let of_cpu = first.map(|first| part(cpu, first.measured.cpu_seconds)).unwrap_or_default();
        format!(
            "| {name} | {:.1} MB{of_bytes} | {:.1} MB | {} B | {cpu:.1}{of_cpu} | {:.0} | {changes} |",
            bytes / 1e6,
            self.archive as f64 / 1e6,
            self.archive / self.summary.known().max(1),
            self.measured.peak_mb
        )
    }
}

impl Site {
    /// Copies the files with their dates, which the server tells.
    fn copy(&self) -> anyhow::Result<()> {
        let from = Path::new(JDK.root).canonicalize()?;
        let status = Command::new("cp").arg("-a").arg(from).arg(&self.root).status().context("cp cannot be run")?;
        ensure!(status.success(), "the site cannot be copied");
        Ok(())
    }

    fn round(&self, arguments: &[&str]) -> anyhow::Result<Round> {
        let before = bytes_below(&self.crawl.join("archive"))?;
        let mut command = argiope::crawl(&self.binary, &self.crawl);
        command.args(arguments).args(["--connections-per-site", CONNECTIONS_OF_ONE]);
        let measured = measured::run(&mut command, self.root.parent().context("a directory")?)?;
        ensure!(measured.succeeded, "a round fails: {}", measured.output);
        let summary = Summary::read(&measured.output)?;
        Ok(Round { summary, measured, archive: bytes_below(&self.crawl.join("archive"))? - before })
    }

    /// These changes as JSON, an object a line.
    fn told(&self, since: &[&str]) -> anyhow::Result<Vec<Value>> {
        let mut command = Command::new(&self.binary);
        command.arg("changes").arg(&self.crawl).args(["--json", "--brief"]).args(since);
        let output = command.output().context("argiope changes cannot be run")?;
        let told = String::from_utf8(output.stdout)?;
        ensure!(output.status.success(), "argiope changes fails: {}", String::from_utf8_lossy(&output.stderr));
        told.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
    }

    /// The changes of the last round.
    fn changes(&self) -> anyhow::Result<Found> {
        let mut found = Found::new();
        for told in self.told(&[])? {
            *found.entry(told["change"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        Ok(found)
    }

    /// The files of pages that the crawl knows, in the order of their names, those without the seed that are no small ones.
    fn pages(&self) -> anyhow::Result<Vec<PathBuf>> {
        let seed = self.root.join(JDK.seed);
        let mut pages = Vec::new();
        for told in self.told(&["--since", "1970-01-01"])? {
            let path = told["url"].as_str().and_then(|url| url.splitn(4, '/').nth(3)).context("a URL")?;
            let file = self.root.join(path);
            let is_page = file.extension().is_some_and(|extension| extension == "html");
            if is_page && file != seed && file.metadata().is_ok_and(|file| file.len() >= BYTES_MIN) {
                pages.push(file);
            }
        }
        pages.sort_unstable();
        pages.dedup();
        Ok(pages)
    }

    /// Edits, removes and moves pages from all over the site, and adds some.
    fn change(&self, pages: &[PathBuf]) -> anyhow::Result<()> {
        let wanted = EDITED - 1 + REMOVED + REDIRECTED + RENAMED;
        ensure!(pages.len() >= wanted, "{} pages are too few", pages.len());
        let mut some = pages.iter().step_by(pages.len() / wanted);
        let mut take = || some.next().context("a page");
        for n in 0..EDITED - 1 {
            add(take()?, &format!("<p>It was edited: {n}.</p>"))?;
        }
        for _ in 0..REMOVED {
            std::fs::remove_file(take()?)?;
        }
        for _ in 0..REDIRECTED {
            let page = take()?;
            std::fs::rename(page, beside(page, "-moved.html")?)?;
            std::fs::write(beside(page, ".html.moved")?, "")?;
        }
        let mut links = String::new();
        let mut link = |page: &Path| -> anyhow::Result<()> {
            let path = page.strip_prefix(&self.root)?.display().to_string();
            Ok(write!(links, "<p><a href=\"/{path}\">{path}</a></p>")?)
        };
        for _ in 0..RENAMED {
            let page = take()?;
            let place = beside(page, "-renamed.html")?;
            std::fs::rename(page, &place)?;
            link(&place)?;
        }
        for n in 0..ADDED {
            let page = self.root.join(format!("api/added-{n}.html"));
            std::fs::write(&page, format!("<title>Added {n}</title><p>This page is new, and has the number {n}.</p>"))?;
            link(&page)?;
        }
        add(&self.root.join(JDK.seed), &links)
    }
}

/// Another file in the directory of a page: its name with this in place of `.html`.
fn beside(page: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let name = page.file_stem().and_then(|name| name.to_str()).context("a name")?;
    Ok(page.with_file_name(format!("{name}{ending}")))
}

/// Adds something to the end of a page.
fn add(page: &Path, html: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let Some((before, after)) = text.rsplit_once("</body>") else { bail!("{} has no end", page.display()) };
    Ok(std::fs::write(page, format!("{before}{html}</body>{after}"))?)
}

/// The size of the files in a directory; 0 where there is none.
fn bytes_below(dir: &Path) -> anyhow::Result<u64> {
    if !dir.exists() {
        return Ok(0);
    }
    let mut bytes = 0;
    for entry in dir.read_dir()? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
