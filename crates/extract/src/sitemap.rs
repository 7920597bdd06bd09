//! Sitemaps and feeds: whatever a site offers as a list of its URLs.
//!
//! Sitemap protocol 0.9 (sitemaps.org) as `urlset`, `sitemapindex` and plain text, RSS 2.0 and 1.0,
//! and Atom (RFC 4287), each also compressed with gzip. Reading is lenient: prefixes, case, order and
//! unclosed elements do not matter, a wrongly declared encoding neither, and broken XML gives what came
//! before the break. Nothing is expanded but the five entities of XML and character references.

mod gzip;
mod text;
mod xml;

use crate::charset;
use std::borrow::Cow;

/// Limits of [`parse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries kept. The protocol allows 50,000.
    pub entries_max: usize,
    /// Size after decompression, in bytes. The protocol allows 50 MiB.
    pub decoded_bytes_max: usize,
    /// Size after decompression, as a multiple of the compressed size; applied above 1 MiB.
    pub ratio_max: usize,
    /// The longest URL kept, in bytes; a longer one is counted, never cut.
    pub url_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries_max: 50_000, decoded_bytes_max: 50 << 20, ratio_max: 300, url_bytes_max: 8 << 10 }
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sitemap {
    /// What it is.
    pub kind: Kind,
    /// Its entries in order, with repeats.
    pub entries: Vec<Entry>,
    /// The limits that cut something off.
    pub truncated: Truncated,
    /// What was wrong with it.
    pub flaws: Flaws,
}

/// The form of a sitemap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Pages: `urlset`.
    UrlSet,
    /// Other sitemaps: `sitemapindex`.
    Index,
    /// Pages, one URL a line.
    Text,
    /// RSS 2.0 or 1.0: the links of its items.
    Rss,
    /// Atom: the alternate links of its entries.
    Atom,
    /// None of these.
    #[default]
    Unknown,
}

impl Kind {
    /// Whether a cleaned `loc` can be a URL there. Sitemaps name whole URLs (sitemaps.org, "XML tag definitions"); a path from the
    /// root is read too, since sites write it. Any other text is none: `&a9;`, `TODO`. Feeds may give relative references.
    fn allows(self, loc: &str) -> bool {
        match self {
            Kind::UrlSet | Kind::Index => loc.starts_with('/') || crate::href::scheme(loc).is_some(),
            Kind::Text | Kind::Rss | Kind::Atom | Kind::Unknown => true,
        }
    }
}

/// One URL of a sitemap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As written, entities decoded, cleaned as [`href::clean`](crate::href::clean) says. Feeds may
    /// give relative ones; where an `xml:base` says what they are relative to, they are resolved.
    pub loc: String,
    /// Date of the last change (`lastmod`, `pubDate`, `updated`) as written, at most 64 bytes.
    pub lastmod: Option<String>,
}

/// Which limits cut something off. See [`Limits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncated {
    /// More entries than `entries_max`.
    pub entries: bool,
    /// Larger than `decoded_bytes_max`, or than `ratio_max` allows.
    pub bytes: bool,
}

/// What was wrong with a sitemap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// The XML is broken at this byte of the decoded document; nothing after it was read.
    pub broken_xml_at: Option<u64>,
    /// The gzip data is broken or cut; what could be decompressed was read.
    pub broken_gzip: bool,
    /// Entries without a URL, or with one that has a reference unknown to XML (`&nbsp;`, `&#0;`), and lines that are none.
    pub without_url: u32,
    /// URLs longer than `url_bytes_max`.
    pub too_long: u32,
}

/// Reads a sitemap or feed. Memory is bounded by a small multiple of `decoded_bytes_max` (three times
/// when it is not UTF-8, and twice more for a URL that is all of it) plus the entries.
///
/// ```
/// let sitemap = extract::sitemap::parse(b"https://example.com/a\n", &Default::default());
/// assert_eq!(sitemap.entries[0].loc, "https://example.com/a");
/// ```
#[must_use]
pub fn parse(bytes: &[u8], limits: &Limits) -> Sitemap {
    parse_at(bytes, None, limits)
}

/// The same of one with a URL, to which an `xml:base` in it may be relative.
#[must_use]
pub fn parse_at(bytes: &[u8], url: Option<&str>, limits: &Limits) -> Sitemap {
    let mut sitemap = Sitemap::default();
    let content = gzip::content(bytes, limits, &mut sitemap);
    let document = decode(&content);
    let document = document.trim_start();
    if document.starts_with('<') {
        xml::read(document, url, limits, &mut sitemap);
    } else {
        text::read(document, limits, &mut sitemap);
    }
    sitemap
}

/// Decodes by what the bytes are rather than by what they declare: most wrong declarations are on UTF-8.
fn decode(content: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(content) {
        Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => {
            let encoding = charset::decide(content, None).encoding;
            encoding.decode_with_bom_removal(content).0
        }
    }
}

impl Sitemap {
    /// Keeps a URL as it is written, if it is one and there is room. `false` when there is none left.
    fn add(&mut self, loc: &str, lastmod: Option<String>, limits: &Limits) -> bool {
        let loc = crate::href::clean(loc);
        if loc.is_empty() || !self.kind.allows(&loc) {
            self.flaws.without_url += 1;
        } else if loc.len() > limits.url_bytes_max {
            self.flaws.too_long += 1;
        } else if self.entries.len() >= limits.entries_max {
            self.truncated.entries = true;
            return false;
        } else {
            let loc = loc.into_owned();
            self.entries.push(Entry { loc, lastmod });
        }
        true
    }
}
