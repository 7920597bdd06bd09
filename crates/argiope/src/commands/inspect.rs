//! `argiope inspect`: what the crawler makes of one input, without a crawl. Only `inspect extract URL`
//! uses the network.
//!
//! The answers come from the crate `inspect`. They go out as aligned text, or as JSON.

mod canonical_flags;
mod extract;
mod html;
mod output;
mod robots;
mod sitemap;
mod url;
mod warc;

use std::io;
use std::process::ExitCode;

use ::inspect::batch;
use clap::{Args, Subcommand};

use output::Output;
use settings::usage;

const BATCH_HELP: &str = "\
Batch mode:
  argiope inspect --batch reads requests from standard input and writes answers to standard output, one JSON object per line, in the same \
order. It flushes each answer before it reads the next request. Forms of requests:

    {\"inspect\":\"url\", \"href\":\"../a?b\", \"base\":\"http://example.com/x/\", \"strip_www\":true}
    {\"inspect\":\"robots\", \"body\":\"User-agent: *\\nDisallow: /x\", \"url\":\"/x/y\"}
    {\"inspect\":\"html\", \"file\":\"page.html\", \"url\":\"http://example.com/\"}
    {\"inspect\":\"sitemap\", \"body_base64\":\"H4sI...\"}
    {\"inspect\":\"warc\", \"file\":\"a.warc.gz\", \"offset\":1234}

  The input of robots, html and sitemap is one of \"file\", \"body\" (text) and \"body_base64\". The other keys have the names of \
the flags: robots has \"user_agent\", \"match\" and \"status\", html has \"content_type\", sitemap has \"url\", and url, \
html and sitemap have \"sort_query\", \"strip_session_ids\", \"strip_tracking\", \"collapse_slashes\" and \"strip_www\". \
An \"id\" of any kind is repeated in the answer.

  The answers are those of --json. An invalid request gives {\"error\":\"...\"} on its line, and the next one \
is read. docs/inspect.md describes every key of the answers.";

/// The arguments of `argiope inspect`.
#[derive(Debug, Args)]
#[command(after_long_help = BATCH_HELP)]
pub struct InspectArgs {
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    json: bool,
    /// Answer JSON requests from standard input, one per line (--help shows their form)
    #[arg(long)]
    batch: bool,
    #[command(subcommand)]
    form: Option<Form>,
}

/// What is inspected.
#[derive(Debug, Subcommand)]
enum Form {
    /// May URLs be fetched by a robots.txt, and which line says so?
    Robots(robots::RobotsArgs),
    /// Canonical form, site, domain and key of a URL, or why it is not crawled
    Url(url::UrlArgs),
    /// Links, images and metadata of an HTML page
    Html(html::HtmlArgs),
    /// What rules take out of a page, and selectors for a text in it
    Extract(extract::ExtractArgs),
    /// The URLs of a sitemap or feed
    Sitemap(sitemap::SitemapArgs),
    /// The records of a WARC file, or one of them in full
    Warc(warc::WarcArgs),
}

/// Runs the command.
///
/// # Errors
/// Wrong usage, an input that cannot be read, or standard output that cannot be written.
pub fn run(args: InspectArgs) -> anyhow::Result<ExitCode> {
    let mut output = Output::new(io::stdout().lock(), args.json);
    match (args.batch, args.form) {
        (true, None) => {
            for answer in batch::answers(io::stdin().lock()) {
                output.json(&answer?)?;
                output.flush()?;
            }
        }
        (true, Some(_)) => {
            return Err(usage("inspect --batch takes the form of each request from its \"inspect\" key"));
        }
        (false, None) => {
            return Err(usage(
                "inspect needs robots, url, html, extract, sitemap or warc, or --batch; see argiope inspect --help",
            ));
        }
        (false, Some(form)) => inspect(form, &mut output)?,
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn inspect(form: Form, output: &mut Output<impl io::Write>) -> anyhow::Result<()> {
    match form {
        Form::Robots(args) => robots::run(args, output),
        Form::Url(args) => url::run(args, output),
        Form::Html(args) => html::run(args, output),
        Form::Extract(args) => extract::run(args, output),
        Form::Sitemap(args) => sitemap::run(args, output),
        Form::Warc(args) => warc::run(&args, output),
    }
}
