//! `argiope check`: is the archive whole, and does the state point into it rightly?
//!
//! Everything is read: each record of each segment, each index, each pointer. With `--repair` the damage is mended as far
//! as that goes, and everything is read again, so that what is reported at the end is how things are then.

mod archive;
mod audit;
mod pointers;
mod repair;
mod report;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use printable::write_json_line;

use self::archive::Archive;
use super::opened::Opened;
use crate::exit;
use audit::Audit;
use repair::Repair;
use report::Report;

/// The arguments of `argiope check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Repair: cut broken tails, remove damaged records, move pointers, rebuild indexes
    #[arg(long)]
    pub repair: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. It fails, after its report, where errors are left.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or the disk fails.
pub fn run(args: CheckArgs) -> anyhow::Result<ExitCode> {
    let opened = if args.repair { Opened::to_change(&args.dir)? } else { Opened::new(&args.dir)? };
    let mut audit = Audit::of(opened.view(), &Archive::of(&opened)?)?;
    let mut repair = None;
    if args.repair && audit.wants_repair() {
        let found = std::mem::take(&mut audit.findings);
        let mended = Repair::run(&opened, found)?;
        audit = Audit::of(opened.view(), &Archive::of(&opened)?)?;
        repair = Some(mended);
    }
    let report = Report::new(opened.dir.root(), audit, repair);
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &report)?;
    } else {
        out.write_all(report.to_text().as_bytes())?;
    }
    Ok(ExitCode::from(if report.ok { exit::DONE } else { exit::FAILED }))
}
