//! `argiope inspect html`: what the crawler takes from a page.

mod answer;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use extract::{Limits, media_type};
use weburl::CanonicalUrl;

use super::canonical_flags::{CanonicalFlags, by_rules, page_url};
use super::input::{Content, Input};
use super::output::Output;
use super::reference::Resolver;
use super::request::Request;

pub(super) use answer::HtmlAnswer;

/// The arguments of `argiope inspect html`.
#[derive(Debug, Args)]
pub(super) struct HtmlArgs {
    /// The page; - reads standard input
    file: PathBuf,
    #[command(flatten)]
    page: PageArgs,
}

/// What is known of the page besides its bytes.
#[derive(Debug, Args)]
struct PageArgs {
    /// The URL of the page
    #[arg(long, value_parser = page_url)]
    url: CanonicalUrl,
    /// The Content-Type that came with it
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

pub(super) fn run(args: HtmlArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let answer = inspect(&args.page, &read(Input::named(args.file))?);
    if output.is_json() {
        output.json(&answer)?;
    } else {
        text::write(&answer, output)?;
    }
    Ok(())
}

pub(super) fn answer_request(mut request: Request) -> anyhow::Result<HtmlAnswer> {
    let input = request.input()?;
    let page = PageArgs {
        url: request.page_url("url")?.ok_or_else(|| anyhow!("\"url\" is missing"))?,
        content_type: request.text("content_type")?,
        flags: CanonicalFlags::take(&mut request)?,
    };
    request.end()?;
    Ok(inspect(&page, &read(input)?))
}

fn read(input: Input) -> anyhow::Result<Content> {
    input.read(model::Limits::default().body_bytes_max)
}

/// Reads the page within the limits of a crawl.
fn inspect(args: &PageArgs, content: &Content) -> HtmlAnswer {
    let limits = model::Limits::default();
    let limits =
        Limits { links_max: limits.links_per_page_max, text_bytes_max: limits.text_bytes_max, ..Limits::default() };
    let rules = args.flags.rules();
    let content_type = args.content_type.as_deref();
    let url = by_rules(&args.url, &rules);
    let kind = media_type::sniff(&content.bytes, content_type, url.path_extension()).kind;
    let page = extract::html::extract(&content.bytes, content_type, &limits);
    let base = page.base_href.as_deref().and_then(|href| url.join(href, &rules).ok());
    let resolver = Resolver::new(Some(base.unwrap_or_else(|| url.clone())), &rules).with_encoding(page.encoding);
    HtmlAnswer::new(&url, kind, page, content.is_cut, &resolver)
}
