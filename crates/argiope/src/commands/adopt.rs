//! `argiope adopt`: what was set aside of an archive comes back into its crawl.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use printable::write_json_line;

use crawl::CrawlDir;
use crawl::adopt::adopt;

use crate::exit;

/// The arguments of `argiope adopt`.
#[derive(Args, Debug)]
pub struct AdoptArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// The seeds of the crawl, if its state was lost and no dataset names them
    #[arg(value_name = "SEED")]
    pub seed: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command. It fails, after its report, where a file is damaged.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, no seed is known, or the disk fails.
pub fn run(args: AdoptArgs) -> anyhow::Result<ExitCode> {
    let dir = CrawlDir::existing(&args.dir)?;
    let plan = dir.plan_to_read()?;
    let seeds = plan.seeds(&args.seed)?;
    let adopted = adopt(&dir, &plan, seeds)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &adopted)?;
    } else {
        out.write_all(adopted.to_text(&dir).as_bytes())?;
    }
    Ok(ExitCode::from(if adopted.damaged_records == 0 { exit::DONE } else { exit::FAILED }))
}
