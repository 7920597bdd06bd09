//! `argiope path`: the shortest way from page to page by links.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use ask::path::path;
use clap::Args;
use printable::{counted, write_json_line};

use super::asked;

/// The arguments of `argiope path`.
#[derive(Args, Debug)]
pub struct PathArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// Where the way begins
    pub url1: String,
    /// Where it ends
    pub url2: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl with a dataset, a URL is not known to it, or no links lead from one to the other.
pub fn run(args: PathArgs) -> anyhow::Result<ExitCode> {
    let asked = asked::open(&args.dir)?;
    let graph = asked.graph()?;
    let (one, from) = asked::vertex(&asked, &graph, &args.url1)?;
    let (other, to) = asked::vertex(&asked, &graph, &args.url2)?;
    let Some(path) = path(&asked, &graph, from, to)? else {
        bail!("no links lead from {one} to {other}, as far as the crawl has seen");
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &path)?;
        return Ok(ExitCode::SUCCESS);
    }
    write!(out, "{path}")?;
    console::say!("{}", counted(path.links as u64, "link"));
    Ok(ExitCode::SUCCESS)
}
