//! `argiope explain`: the whole story of a URL, or why a site is slow or stopped.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use ask::explain::{Crawl, Story};
use clap::Args;
use printable::write_json_line;

use crawl::opened::Opened;

/// The arguments of `argiope explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The crawl's directory
    pub dir: PathBuf,
    /// A URL (http://example.com/), a site (https://example.com:8443) or a host (example.com)
    #[arg(value_name = "URL|HOST")]
    pub what: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, or its settings cannot be read.
pub fn run(args: ExplainArgs) -> anyhow::Result<ExitCode> {
    let told = Opened::ask_with_dataset(&args.dir, |opened| {
        let crawl = Crawl::of(opened)?;
        let story = Story::of(&crawl, &args.what)?;
        let mut told = if args.json { Vec::new() } else { story.to_text(crawl.at()).into_bytes() };
        args.json.then(|| write_json_line(&mut told, &story)).transpose()?;
        Ok(told)
    })?;
    std::io::stdout().lock().write_all(&told)?;
    Ok(ExitCode::SUCCESS)
}
