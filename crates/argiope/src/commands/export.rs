//! `argiope export`: a crawl's rows in other formats.

mod target;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use model::Purpose;
use store::Store;

use super::opened::Opened;
use crate::printable::write_json_line;
use crate::rows::Rows;
use target::Target;

/// Entries read from the store at once.
const ENTRIES_AT_ONCE: usize = 1_000;

/// The arguments of `argiope export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The format
    pub format: Format,
    /// Write to this file, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Sitemaps too; a column `purpose` then tells them from pages
    #[arg(long)]
    pub all: bool,
}

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A JSON object a line, one for each URL (docs/rows.md)
    Jsonl,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or the file cannot be written.
pub fn run(args: ExportArgs) -> anyhow::Result<ExitCode> {
    let opened = Opened::new(&args.dir)?;
    let mut target = Target::open(args.output.as_deref())?;
    match args.format {
        Format::Jsonl => write_rows(&opened.store, args.all, &mut target)?,
    }
    target.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the rows in the order of their keys: the URLs of a site lie together.
fn write_rows(store: &dyn Store, all: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let mut rows = Rows::new(store, all)?;
    let mut after = None;
    loop {
        let entries = store.scan(after, ENTRIES_AT_ONCE)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = Some(last.candidate.url.key());
        for entry in entries.iter().filter(|entry| all || entry.candidate.purpose == Purpose::Page) {
            write_json_line(out, &rows.row(entry)?)?;
        }
    }
}
