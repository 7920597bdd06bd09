//! The URLs that a sitemap or feed offers.

use extract::sitemap::{Entry, Flaws, Kind, Limits, Sitemap, Truncated, parse_at};
use model::Limit;
use serde::Serialize;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::input::{Content, Input};
use crate::reference::{Reference, Resolver, by_rules};
use crate::request::Request;

/// What is known of a sitemap besides its bytes.
#[derive(Debug)]
pub struct Place {
    /// Its URL, for relative URLs in it.
    pub url: Option<CanonicalUrl>,
    /// The canonical form of its URLs.
    pub rules: CanonicalRules,
}

/// What the crawler takes from a sitemap.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "sitemap")]
pub struct SitemapAnswer {
    /// The URL of the sitemap.
    pub url: Option<String>,
    /// What it is: `urlset`, `index`, `text`, `rss`, `atom`, `unknown`.
    pub kind: &'static str,
    /// Its entries, in order.
    pub entries: Vec<EntryAnswer>,
    /// What reached a limit.
    pub truncated: Vec<&'static str>,
    /// What is wrong with it.
    pub flaws: FlawsAnswer,
}

/// One entry.
#[derive(Debug, Serialize)]
pub struct EntryAnswer {
    /// Where it leads.
    #[serde(flatten)]
    pub target: Reference,
    /// When that changed, as the sitemap says.
    pub lastmod: Option<String>,
}

/// What is wrong with a sitemap.
#[derive(Debug, Serialize)]
pub struct FlawsAnswer {
    /// Where the XML ends to be well-formed, in bytes.
    pub broken_xml_at: Option<u64>,
    /// It ends inside a gzip member, or the member is damaged.
    pub broken_gzip: bool,
    /// Entries without a URL.
    pub without_url: u32,
    /// Entries whose URL is too long.
    pub too_long: u32,
}

/// Reads a sitemap within the limits of a crawl.
///
/// # Errors
/// The input cannot be read.
pub fn inspect(place: &Place, input: Input) -> anyhow::Result<SitemapAnswer> {
    let content = input.read(model::Limits::default().sitemap_bytes_max)?;
    Ok(answer(place, &content))
}

pub(crate) fn answer_request(mut request: Request) -> anyhow::Result<SitemapAnswer> {
    let input = request.input()?;
    let place = Place { url: request.page_url("url")?, rules: request.rules()? };
    request.end()?;
    inspect(&place, input)
}

fn answer(Place { url, rules }: &Place, content: &Content) -> SitemapAnswer {
    let limits = model::Limits::default();
    let limits = Limits {
        entries_max: limits.sitemap_entries_max,
        decoded_bytes_max: usize::try_from(limits.sitemap_bytes_max).unwrap_or(usize::MAX),
        url_bytes_max: rules.url_bytes_max,
        ..Limits::default()
    };
    let resolver = Resolver::new(url.as_ref().map(|url| by_rules(url, rules)), rules);
    let at = resolver.base.as_ref().map(ToString::to_string);
    let Sitemap { kind, entries, truncated, flaws } = parse_at(&content.bytes, at.as_deref(), &limits);
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
