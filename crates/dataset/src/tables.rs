//! The rows of the tables as values.

use std::sync::Arc;

use compact_str::CompactString;
use model::Timestamp;
use serde_json::{Map, Value};
use structured::Metadata;
use weburl::{CanonicalUrl, UrlKey};

use crate::rows::Row;

/// A row of the table of pages: what the state knows, and what the answer said.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRow {
    /// The URL's key.
    pub key: UrlKey,
    /// The columns that every export has.
    pub row: Row,
    /// The values of the answer; `None` without one.
    pub content: Option<PageContent>,
}

/// What an answer said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageContent {
    /// The kind of content that was decided on.
    pub kind: &'static str,
    /// The kind by the Content-Type field.
    pub declared_kind: Option<&'static str>,
    /// The kind by the ending of the URL's path.
    pub extension_kind: Option<&'static str>,
    /// The kind by the first bytes.
    pub sniffed_kind: Option<&'static str>,
    /// `lang` of the `html` element.
    pub language: Option<String>,
    /// The encoding an HTML page was decoded with.
    pub encoding: Option<&'static str>,
    /// The visible text of an HTML page; `None` for duplicates, whose text is that of their original.
    pub text: Option<String>,
    /// The fingerprint of the text.
    pub simhash: Option<u64>,
    /// The main text; `None` for duplicates, and if the crawl reads none.
    pub main_text: Option<String>,
    /// How right the choice of the main text is likely to be, from 0 to 1.
    pub main_text_confidence: Option<f32>,
    /// What the page is for.
    pub page_kind: Option<&'static str>,
    /// How likely it is of this kind, from 0 to 1.
    pub page_kind_confidence: Option<f32>,
    /// Links of an HTML page, repeats included.
    pub links: Option<u32>,
    /// Images of an HTML page, repeats included.
    pub images: Option<u32>,
    /// What the page's `meta` elements say to robots, for example `nofollow, noindex`.
    pub meta_robots: Option<String>,
    /// The header field of this name.
    pub server: Option<String>,
    /// The header field of this name.
    pub last_modified: Option<String>,
    /// The header field of this name.
    pub etag: Option<String>,
    /// The header field of this name.
    pub content_encoding: Option<String>,
    /// The header field of this name.
    pub content_language: Option<String>,
    /// The header field of this name.
    pub cache_control: Option<String>,
    /// The header field of this name.
    pub x_robots_tag: Option<String>,
    /// Why the body is not whole: `length`, `time`, `disconnect`, `unwanted`.
    pub truncated: Option<String>,
    /// What hooks made of the answer, as a JSON object.
    pub extra: Option<String>,
    /// What spoke for showing it in a browser, if that was tried.
    pub rendered_for: Option<String>,
    /// Links that it shows only there; `None` where it could not be shown, or led elsewhere.
    pub rendered_links: Option<u32>,
    /// Characters of text that it shows only there.
    pub rendered_chars: Option<u32>,
    /// What an HTML page says about itself.
    pub metadata: Option<Metadata>,
}

/// The rows of one page in the table of links.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// The page.
    pub source: CanonicalUrl,
    /// Where its links lead.
    pub targets: Arc<[CanonicalUrl]>,
    /// In the order of the page, with repeats.
    pub rows: Vec<LinkRow>,
}

/// A row of the table of links.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkRow {
    /// Where the link leads: an index into the targets.
    pub target: usize,
    /// Its anchor text; empty where it has none.
    pub text: CompactString,
    /// The construct it comes from: `anchor`, `redirect` and so on.
    pub kind: &'static str,
    /// What its `rel` says about following it: `nofollow`, `sponsored`, `ugc`, separated by spaces.
    pub rel: Option<&'static str>,
}

impl Links {
    /// None, of a page.
    #[must_use]
    pub fn none(source: CanonicalUrl) -> Self {
        Links { source, targets: Arc::default(), rows: Vec::new() }
    }

    /// Links to one URL each, all different and of one kind, with their texts.
    #[must_use]
    pub fn of(
        source: CanonicalUrl,
        kind: &'static str,
        found: impl IntoIterator<Item = (CanonicalUrl, CompactString)>,
    ) -> Self {
        let (targets, texts): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let rows = texts.into_iter().enumerate().map(|(target, text)| LinkRow { target, text, kind, rel: None });
        Links { source, targets: targets.into(), rows: rows.collect() }
    }
}

/// A row of the table of images.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageRow {
    /// The page.
    pub source: CanonicalUrl,
    /// Where the image is; `None` for one in the page itself.
    pub url: Option<CanonicalUrl>,
    /// The digest of the bytes of an image in the page itself, `sha1:` and base32.
    pub digest: Option<String>,
    /// Its `alt` text, if it has any.
    pub alt: Option<String>,
    /// The media type that a `data:` URI declares.
    pub declared_type: Option<String>,
    /// The kind by the first bytes of an image in the page itself.
    pub sniffed_kind: Option<&'static str>,
    /// The width given, in CSS pixels.
    pub width: Option<u32>,
    /// The height given, in CSS pixels.
    pub height: Option<u32>,
    /// True if it comes from a `srcset`.
    pub from_srcset: bool,
    /// The bytes of an image in the page itself.
    pub data: Option<Vec<u8>>,
}

/// A row of the table of structured data.
#[derive(Clone, Debug, PartialEq)]
pub struct StructuredRow {
    /// The page.
    pub source: CanonicalUrl,
    /// How the page says it: `json-ld`, `microdata` and so on.
    pub format: &'static str,
    /// What kind of thing it is.
    pub kind: Option<String>,
    /// Where in the page it is.
    pub path: Option<String>,
    /// The thing.
    pub json: String,
    /// What was mended to read it.
    pub repaired: Option<String>,
}

/// A row of a table of items.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRow {
    /// The key of the page.
    pub key: UrlKey,
    /// The page.
    pub url: String,
    /// The round of the crawl.
    pub round: Option<u32>,
    /// Which visit of it.
    pub visit: Option<u32>,
    /// When that was.
    pub at: Option<Timestamp>,
    /// The place among the rows of the rule on that page, from 0 on.
    pub row: u32,
    /// The values by field.
    pub values: Map<String, Value>,
}

/// Everything that one visit contributes to the tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Its page row.
    pub page: PageRow,
    /// Its links.
    pub links: Links,
    /// Its images.
    pub images: Vec<ImageRow>,
    /// What it says for machines.
    pub structured: Vec<StructuredRow>,
    /// What rules take out of it, by the name of the rule.
    pub items: Vec<(String, Vec<ItemRow>)>,
}
