//! `argiope inspect sitemap`: the URLs that a sitemap or feed offers.

use std::io::{self, Write};
use std::path::PathBuf;

use ::inspect::input::Input;
use ::inspect::reference::page_url;
use ::inspect::sitemap::{EntryAnswer, FlawsAnswer, Place, SitemapAnswer, inspect};
use clap::Args;
use printable::Printable;
use weburl::CanonicalUrl;

use super::canonical_flags::CanonicalFlags;
use super::output::{Output, shown};

/// The arguments of `argiope inspect sitemap`.
#[derive(Debug, Args)]
pub(super) struct SitemapArgs {
    /// The sitemap or feed, also compressed with gzip; - reads standard input
    file: PathBuf,
    /// The URL of the sitemap, for relative URLs in it
    #[arg(long, value_parser = page_url)]
    url: Option<CanonicalUrl>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

pub(super) fn run(args: SitemapArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let place = Place { url: args.url, rules: args.flags.rules() };
    Ok(output.answer(&inspect(&place, Input::named(args.file))?, write)?)
}

fn write(answer: &SitemapAnswer, output: &mut Output<impl Write>) -> io::Result<()> {
    output.web_field("url", answer.url.as_deref())?;
    output.field("kind", answer.kind)?;
    output.words("flaws", &in_words(&answer.flaws))?;
    output.words("truncated", &answer.truncated)?;
    output.field("entries", answer.entries.len())?;
    for EntryAnswer { target, lastmod } in &answer.entries {
        let target = shown(target);
        match lastmod {
            Some(date) => output.line(format_args!("  {target}  {}", Printable(date)))?,
            None => output.line(format_args!("  {target}"))?,
        }
    }
    Ok(())
}

fn in_words(flaws: &FlawsAnswer) -> Vec<String> {
    let counted = |count: u32, words: &str| (count > 0).then(|| format!("{count} {words}"));
    [
        flaws.broken_gzip.then(|| "broken gzip".to_owned()),
        flaws.broken_xml_at.map(|at| format!("broken XML at byte {at}")),
        counted(flaws.without_url, "without URL"),
        counted(flaws.too_long, "too long"),
    ]
    .into_iter()
    .flatten()
    .collect()
}
