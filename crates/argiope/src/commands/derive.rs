//! `argiope derive`: the dataset again, from the archive.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use dataset::Layout;

use console::message::show;
use crawl::live;
use crawl::opened::Opened;
use crawl::tables::Deriver;
use crawl::{CrawlDir, Notice};
use printable::counted;
use settings::extract::ExtractOption;
use settings::plan::Plan;

/// Rows between two lines of progress.
const PROGRESS_ROWS: u64 = 10_000;

/// The arguments of `argiope derive`.
#[derive(Args, Debug)]
pub struct DeriveArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Make everything again, not only missing parts
    #[arg(long)]
    pub all: bool,
    /// Take items out of the pages by the rules in this file, too ([extract.NAME]): docs/extract.md
    #[arg(long, value_name = "RULES")]
    pub extract: Option<ExtractOption>,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, its archive is damaged, or the dataset cannot be written.
pub fn run(args: DeriveArgs) -> anyhow::Result<ExitCode> {
    if !args.all && args.extract.is_none() && CrawlDir::existing(&args.dir).is_ok() && live::publish(&args.dir)? {
        let root = CrawlDir::at(&args.dir).dataset();
        writeln!(io::stdout(), "{}: complete as of now; the crawl is running", root.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let opened = Opened::to_change(&args.dir)?;
    // Before anything is removed.
    let store = opened.own()?;
    let mut options = opened.options()?;
    if args.extract.is_some() {
        options.no_dataset = None;
        options.extract = args.extract.clone();
    }
    let plan = Plan::new(&options)?;
    if !plan.archive {
        bail!("{}: the crawl keeps no archive (--no-archive), so there is nothing to derive from", args.dir.display());
    }
    let root = opened.dir.dataset();
    if args.all && root.exists() {
        std::fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
    }
    let shows = io::stderr().is_terminal();
    let progress = |rows: u64| {
        if shows && rows.is_multiple_of(PROGRESS_ROWS) {
            show(&format!("\rargiope: {rows} rows derived"));
        }
    };
    let layout = Layout::at(&root).with_rules(plan.settings.rules.clone());
    let derived = Deriver::new(&layout, store, opened.dir.archive(), &plan.settings).derive(&progress)?;
    if shows && derived.pages >= PROGRESS_ROWS {
        show("\n");
    }
    let made = match derived.segments {
        0 => "nothing is missing".to_owned(),
        segments => {
            format!("derived {} of {}", counted(derived.pages, "page"), counted(segments as u64, "segment"))
        }
    };
    writeln!(io::stdout(), "{}: {made}", root.display())?;
    for notice in crawl::fill::notices(&layout)? {
        console::say!("{notice}");
    }
    if derived.lacking > 0 {
        console::say!("{}", Notice::Lacking(derived.lacking));
    }
    Ok(ExitCode::SUCCESS)
}
