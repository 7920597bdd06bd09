//! `argiope report`: what a crawl came to, as text, as JSON, as a page.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use ask::freshness::Freshness;
use clap::Args;
use dataset::Layout;
use engine::clock::Clock;
use export::PendingFile;
use printable::write_json_line;
use report::Statistics;

use crawl::opened::Opened;

/// The arguments of `argiope report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Print one JSON object (docs/report.md)
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page: tables, charts, the picture of links. Print nothing, unless --json is given
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or the page cannot be written.
pub fn run(args: ReportArgs) -> anyhow::Result<ExitCode> {
    let statistics = Opened::ask_with_dataset(&args.dir, |opened| {
        let (dataset, root) = (Layout::at(opened.dir.dataset()), args.dir.display().to_string());
        let mut statistics = Statistics::of(opened.view(), &dataset, &root, opened.completes_dataset()?)?;
        statistics.freshness = Freshness::of(opened.view(), Clock::start().date())?;
        Ok(statistics)
    })?;
    if let Some(path) = &args.html {
        write_page(path, &statistics)?;
    }
    let mut out = std::io::stdout().lock();
    match (args.json, &args.html) {
        (true, _) => write_json_line(&mut out, &statistics)?,
        (false, None) => out.write_all(report::text(&statistics).as_bytes())?,
        (false, Some(_)) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the report as a page.
///
/// # Errors
/// It cannot be written.
pub(super) fn write_page(path: &Path, statistics: &Statistics) -> anyhow::Result<()> {
    let page = report::html(statistics)?;
    let mut file = PendingFile::create(path)?;
    file.write_all(&page).with_context(|| path.display().to_string())?;
    Ok(file.finish()?)
}
