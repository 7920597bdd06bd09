//! `argiope inspect url`: what a reference is to the crawler.

use std::io::{self, Write};

use ::inspect::reference::page_url;
use ::inspect::url::{Question, UrlAnswer, inspect};
use clap::Args;
use printable::Printable;
use weburl::CanonicalUrl;

use super::canonical_flags::CanonicalFlags;
use super::output::Output;

/// The arguments of `argiope inspect url`.
#[derive(Debug, Args)]
pub(super) struct UrlArgs {
    /// A URL, or a reference to be resolved against --base
    href: String,
    /// The URL of the page that the reference stands on
    #[arg(long, value_name = "URL", value_parser = page_url)]
    base: Option<CanonicalUrl>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

pub(super) fn run(args: UrlArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let question = Question { rules: args.flags.rules(), href: args.href, base: args.base };
    Ok(output.answer(&inspect(question), write)?)
}

fn write(answer: &UrlAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    let parts = &answer.parts;
    output.field("href", Printable(&answer.href))?;
    output.web_field("base", answer.base.as_deref())?;
    match &answer.reason {
        None => output.field("crawlable", "yes")?,
        Some(reason) => output.field("crawlable", format_args!("no: {}", Printable(reason)))?,
    }
    for (label, value) in [
        ("url", &parts.url),
        ("site", &parts.site),
        ("host", &parts.host),
        ("domain", &parts.domain),
        ("path", &parts.path),
        ("query", &parts.query),
        ("surt", &parts.surt),
        ("key", &parts.key),
        ("site key", &parts.site_key),
    ] {
        output.web_field(label, value.as_deref())?;
    }
    match (parts.counted_as, parts.counted_max) {
        (Some(rule), Some(max)) => output.field("counted as", format_args!("{rule}, at most {max} of one shape")),
        _ => Ok(()),
    }
}
