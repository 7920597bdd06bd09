//! `argiope explain`: the whole story of a URL, or why a site is slow or stopped.

mod crawl;
mod found;
mod linked;
mod rules;
mod site;
mod site_text;
mod standing;
mod survey;
mod url;
mod url_text;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use printable::write_json_line;
use serde::Serialize;

use super::opened::Opened;
use ask::target::Target;
use crawl::Crawl;
use site::HostStory;
use url::UrlStory;

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

#[derive(Serialize)]
#[serde(untagged)]
enum Story {
    Url(Box<UrlStory>),
    Host(HostStory),
}

/// Runs the command.
///
/// # Errors
/// The directory holds no crawl, a crawl is running in it, or its settings cannot be read.
pub fn run(args: ExplainArgs) -> anyhow::Result<ExitCode> {
    let crawl = Crawl::new(Opened::with_dataset(&args.dir)?)?;
    let story = match Target::parse(&args.what, &crawl.settings.canonical) {
        Target::Url(url) => {
            let url = crawl.by_known_scheme(&args.what, url)?;
            Story::Url(Box::new(UrlStory::of(&crawl, &args.what, &url)?))
        }
        Target::NotCrawlable(rejected) => Story::Url(Box::new(UrlStory::not_crawlable(&args.what, &rejected))),
        Target::Host(host) => Story::Host(HostStory::of(&crawl, &args.what, &host)?),
    };
    let mut out = std::io::stdout().lock();
    if args.json {
        write_json_line(&mut out, &story)?;
    } else {
        let text = match &story {
            Story::Url(story) => story.to_text(),
            Story::Host(story) => story.to_text(),
        };
        out.write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}
