//! `argiope derive`: the dataset again, from the archive.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dataset::Layout;

use console::message::show;
use crawl::live;
use crawl::opened::Opened;
use crawl::tables::{Deriver, Foreign, items_of_archives};
use crawl::{CrawlDir, Notice};
use printable::counted;
use settings::extract::ExtractOption;
use settings::plan::Plan;
use settings::{Options, usage};

/// Rows between two lines of progress.
const PROGRESS_ROWS: u64 = 10_000;

/// The arguments of `argiope derive`.
#[derive(Args, Debug)]
pub struct DeriveArgs {
    /// The crawl's directory; with -o: WARC or WACZ files of any tool, or directories of them
    #[arg(required = true)]
    pub dir: Vec<PathBuf>,
    /// Take items out of the archives of other tools: their tables are written to this directory
    #[arg(short, long, value_name = "TABLES", requires = "extract", conflicts_with = "all")]
    pub output: Option<PathBuf>,
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
    if let Some(output) = &args.output {
        return run_on_archives(&args, output);
    }
    let [dir] = &args.dir[..] else {
        return Err(usage("several directories: derive one crawl at a time; archives of other tools need -o TABLES"));
    };
    if !args.all && args.extract.is_none() && CrawlDir::existing(dir).is_ok() && live::publish(dir)? {
        let root = CrawlDir::at(dir).dataset();
        writeln!(io::stdout(), "{}: complete as of now; the crawl is running", root.display())?;
        return Ok(ExitCode::SUCCESS);
    }
    let opened = Opened::to_change(dir)?;
    // Before anything is written.
    let store = opened.own()?;
    let mut options = opened.options()?;
    if args.extract.is_some() {
        options.no_dataset = None;
        options.extract = args.extract.clone();
    }
    let plan = Plan::new(&options)?;
    if !plan.archive {
        bail!("{}: the crawl keeps no archive (--no-archive), so there is nothing to derive from", dir.display());
    }
    let root = opened.dir.dataset();
    let (shows, progress) = progress();
    let layout = Layout::at(&root).with_rules(plan.settings.rules.clone());
    let deriver = Deriver::new(&layout, store, opened.dir.archive(), &plan.settings);
    let derived = if args.all { deriver.derive_all(&progress)? } else { deriver.derive(&progress)? };
    if shows && derived.pages >= PROGRESS_ROWS {
        show("\n");
    }
    let made = match derived.segments {
        0 if derived.settled => "rebuilt the lists of superseded rows".to_owned(),
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

/// What shows how many rows there are, where somebody looks at it.
fn progress() -> (bool, impl Fn(u64)) {
    let shows = io::stderr().is_terminal();
    let progress = move |rows: u64| {
        if shows && rows.is_multiple_of(PROGRESS_ROWS) {
            show(&format!("\rargiope: {rows} rows derived"));
        }
    };
    (shows, progress)
}

/// Takes items out of archives that belong to no crawl.
fn run_on_archives(args: &DeriveArgs, output: &Path) -> anyhow::Result<ExitCode> {
    let is_used = output.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if is_used {
        return Err(usage(format!("-o {}: is not empty: choose another directory", output.display())));
    }
    // Only rules are applied to the pages.
    let off = Some(true);
    let options =
        Options { extract: args.extract.clone(), no_structured: off, no_main_text: off, ..Options::default() };
    let plan = Plan::new(&options)?;
    let layout = Layout::at(output).with_rules(plan.settings.rules.clone());
    let (shows, progress) = progress();
    let Foreign { archives, pages, rows, passed_over, damaged } =
        items_of_archives(&args.dir, &layout, &plan.settings, &progress)?;
    if shows && rows >= PROGRESS_ROWS {
        show("\n");
    }
    let counts = [counted(rows, "row"), counted(pages, "page"), counted(archives, "archive")];
    writeln!(io::stdout(), "{}: {} from {} of {}", output.display(), counts[0], counts[1], counts[2])?;
    for notice in crawl::fill::notices(&layout)? {
        console::say!("{notice}");
    }
    if passed_over > 0 {
        let count = counted(passed_over, "response");
        console::say!("{count} passed over: the URL or the body cannot be read");
    }
    for (path, damage) in &damaged {
        console::say!("{}: {damage}", path.display());
    }
    Ok(if damaged.is_empty() && passed_over == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
