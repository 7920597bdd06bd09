//! `argiope inspect sitemap`: the URLs that a sitemap or feed offers.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use extract::sitemap::{Entry, Flaws, Kind, Limits, Sitemap, Truncated, parse};
use model::Limit;
use printable::Printable;
use serde::Serialize;
use weburl::CanonicalUrl;

use super::canonical_flags::{CanonicalFlags, by_rules, page_url};
use super::input::{Content, Input};
use super::output::Output;
use super::reference::{Reference, Resolver};
use super::request::Request;

/// The arguments of `argiope inspect sitemap`.
#[derive(Debug, Args)]
pub(super) struct SitemapArgs {
    /// The sitemap or feed, also compressed with gzip; - reads standard input
    file: PathBuf,
    #[command(flatten)]
    place: PlaceArgs,
}

/// What is known of the sitemap besides its bytes.
#[derive(Debug, Args)]
struct PlaceArgs {
    /// The URL of the sitemap, for relative URLs in it
    #[arg(long, value_parser = page_url)]
    url: Option<CanonicalUrl>,
    #[command(flatten)]
    flags: CanonicalFlags,
}

/// What the crawler takes from a sitemap.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "sitemap")]
pub(super) struct SitemapAnswer {
    url: Option<String>,
    kind: &'static str,
    entries: Vec<EntryAnswer>,
    truncated: Vec<&'static str>,
    flaws: FlawsAnswer,
}

/// One entry.
#[derive(Debug, Serialize)]
struct EntryAnswer {
    #[serde(flatten)]
    target: Reference,
    lastmod: Option<String>,
}

/// What is wrong with a sitemap.
#[derive(Debug, Serialize)]
struct FlawsAnswer {
    broken_xml_at: Option<u64>,
    broken_gzip: bool,
    without_url: u32,
    too_long: u32,
}

pub(super) fn run(args: SitemapArgs, output: &mut Output<impl Write>) -> anyhow::Result<()> {
    let answer = inspect(&args.place, &read(Input::named(args.file))?);
    if output.is_json() {
        output.json(&answer)?;
    } else {
        answer.write_text(output)?;
    }
    Ok(())
}

pub(super) fn answer_request(mut request: Request) -> anyhow::Result<SitemapAnswer> {
    let input = request.input()?;
    let place = PlaceArgs { url: request.page_url("url")?, flags: CanonicalFlags::take(&mut request)? };
    request.end()?;
    Ok(inspect(&place, &read(input)?))
}

fn read(input: Input) -> anyhow::Result<Content> {
    input.read(model::Limits::default().sitemap_bytes_max)
}

/// Reads the sitemap within the limits of a crawl.
fn inspect(args: &PlaceArgs, content: &Content) -> SitemapAnswer {
    let limits = model::Limits::default();
    let rules = args.flags.rules();
    let limits = Limits {
        entries_max: limits.sitemap_entries_max,
        decoded_bytes_max: usize::try_from(limits.sitemap_bytes_max).unwrap_or(usize::MAX),
        url_bytes_max: rules.url_bytes_max,
        ..Limits::default()
    };
    let Sitemap { kind, entries, truncated, flaws } = parse(&content.bytes, &limits);
    let url = args.url.as_ref().map(|url| by_rules(url, &rules));
    let resolver = Resolver::new(url, &rules);
    let entry = |Entry { loc, lastmod }| EntryAnswer { target: resolver.resolve(loc), lastmod };
    SitemapAnswer {
        url: resolver.base.as_ref().map(ToString::to_string),
        kind: kind_name(kind),
        entries: entries.into_iter().map(entry).collect(),
        truncated: reached(truncated, content.is_cut),
        flaws: FlawsAnswer::from(flaws),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::UrlSet => "urlset",
        Kind::Index => "index",
        Kind::Text => "text",
        Kind::Rss => "rss",
        Kind::Atom => "atom",
        Kind::Unknown => "unknown",
    }
}

fn reached(Truncated { entries, bytes }: Truncated, is_cut: bool) -> Vec<&'static str> {
    let limits = [(Limit::SitemapEntries, entries), (Limit::SitemapBytes, bytes || is_cut)];
    limits.into_iter().filter_map(|(limit, reached)| reached.then_some(limit.as_str())).collect()
}

impl From<Flaws> for FlawsAnswer {
    fn from(Flaws { broken_xml_at, broken_gzip, without_url, too_long }: Flaws) -> Self {
        FlawsAnswer { broken_xml_at, broken_gzip, without_url, too_long }
    }
}

impl FlawsAnswer {
    fn in_words(&self) -> Vec<String> {
        let counted = |count: u32, words: &str| (count > 0).then(|| format!("{count} {words}"));
        [
            self.broken_gzip.then(|| "broken gzip".to_owned()),
            self.broken_xml_at.map(|at| format!("broken XML at byte {at}")),
            counted(self.without_url, "without URL"),
            counted(self.too_long, "too long"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl SitemapAnswer {
    fn write_text(&self, output: &mut Output<impl Write>) -> io::Result<()> {
        output.web_field("url", self.url.as_deref())?;
        output.field("kind", self.kind)?;
        output.words("flaws", &self.flaws.in_words())?;
        output.words("truncated", &self.truncated)?;
        output.field("entries", self.entries.len())?;
        for EntryAnswer { target, lastmod } in &self.entries {
            match lastmod {
                Some(date) => output.line(format_args!("  {target}  {}", Printable(date)))?,
                None => output.line(format_args!("  {target}"))?,
            }
        }
        Ok(())
    }
}
