//! The rows of the tables as values, and as columns.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::ArrowError;
use compact_str::CompactString;
use weburl::{CanonicalUrl, UrlKey};

use crate::Row;
use crate::schema::Table;

/// A row of the table of pages: what the state knows, and what the answer said.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRow {
    /// The URL's key.
    pub key: UrlKey,
    /// The columns that every export has.
    pub row: Row,
    /// What the answer said; `None` where there was none.
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
    /// True where it comes from a `srcset`.
    pub from_srcset: bool,
    /// The bytes of an image in the page itself.
    pub data: Option<Vec<u8>>,
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
}

/// Turns page rows into columns.
pub(crate) fn pages(rows: &[PageRow]) -> Result<RecordBatch, ArrowError> {
    let row = |get: fn(&Row) -> Option<&str>| text(rows.iter().map(|page| get(&page.row)));
    let content = |get: fn(&PageContent) -> Option<&str>| text(rows.iter().map(|page| get(page.content.as_ref()?)));
    let count = |get: fn(&PageRow) -> Option<u32>| int32(rows.iter().map(get));
    let columns: Vec<ArrayRef> = vec![
        keys(rows.iter().map(|page| Some(page.key)))?,
        row(|row| Some(&row.url)),
        row(|row| Some(&row.site)),
        row(|row| Some(&row.domain)),
        count(|page| Some(page.row.depth)),
        row(|row| Some(row.via)),
        row(|row| Some(row.outcome)),
        row(|row| row.reason.as_deref()),
        count(|page| page.row.status.map(u32::from)),
        row(|row| row.content_type.as_deref()),
        int64(rows.iter().map(|page| page.row.length)),
        row(|row| row.digest.as_deref()),
        row(|row| row.duplicate_of.as_deref()),
        row(|row| row.redirect_to.as_deref()),
        row(|row| row.canonical.as_deref()),
        times(rows.iter().map(|page| page.row.at.map(|at| at.0))),
        count(|page| Some(u32::from(page.row.attempts))),
        row(|row| row.found_on.as_deref()),
        row(|row| row.title.as_deref()),
        row(|row| row.warc_file.as_deref()),
        int64(rows.iter().map(|page| page.row.warc_offset)),
        int64(rows.iter().map(|page| page.row.warc_length)),
        count(|page| page.row.out_degree),
        content(|content| Some(content.kind)),
        content(|content| content.declared_kind),
        content(|content| content.extension_kind),
        content(|content| content.sniffed_kind),
        content(|content| content.language.as_deref()),
        content(|content| content.encoding),
        content(|content| content.text.as_deref()),
        simhashes(rows),
        count(|page| page.content.as_ref()?.links),
        count(|page| page.content.as_ref()?.images),
        content(|content| content.meta_robots.as_deref()),
        content(|content| content.server.as_deref()),
        content(|content| content.last_modified.as_deref()),
        content(|content| content.etag.as_deref()),
        content(|content| content.content_encoding.as_deref()),
        content(|content| content.content_language.as_deref()),
        content(|content| content.cache_control.as_deref()),
        content(|content| content.x_robots_tag.as_deref()),
        content(|content| content.truncated.as_deref()),
        content(|content| content.rendered_for.as_deref()),
        count(|page| page.content.as_ref()?.rendered_links),
        count(|page| page.content.as_ref()?.rendered_chars),
        count(|page| page.row.round),
        count(|page| page.row.visit),
        flags(rows.iter().map(|page| page.row.changed)),
        content(|content| content.extra.as_deref()),
    ];
    RecordBatch::try_new(Table::Pages.schema(), columns)
}

/// Turns image rows into columns.
pub(crate) fn images(rows: &[ImageRow]) -> Result<RecordBatch, ArrowError> {
    let mut from_srcset = BooleanBuilder::with_capacity(rows.len());
    let mut data = BinaryBuilder::new();
    for image in rows {
        from_srcset.append_value(image.from_srcset);
        data.append_option(image.data.as_deref());
    }
    let columns: Vec<ArrayRef> = vec![
        keys(rows.iter().map(|image| Some(image.source.key())))?,
        text(rows.iter().map(|image| Some(image.source.as_str()))),
        keys(rows.iter().map(|image| Some(image.url.as_ref()?.key())))?,
        text(rows.iter().map(|image| Some(image.url.as_ref()?.as_str()))),
        text(rows.iter().map(|image| image.digest.as_deref())),
        text(rows.iter().map(|image| image.alt.as_deref())),
        text(rows.iter().map(|image| image.declared_type.as_deref())),
        text(rows.iter().map(|image| image.sniffed_kind)),
        int32(rows.iter().map(|image| image.width)),
        int32(rows.iter().map(|image| image.height)),
        Arc::new(from_srcset.finish()),
        int64(rows.iter().map(|image| Some(image.data.as_ref()?.len() as u64))),
        Arc::new(data.finish()),
    ];
    RecordBatch::try_new(Table::Images.schema(), columns)
}

fn text<'a>(values: impl Iterator<Item = Option<&'a str>> + Clone) -> ArrayRef {
    let add = |(rows, bytes), value: Option<&str>| (rows + 1, bytes + value.map_or(0, str::len));
    let (rows, bytes) = values.clone().fold((0, 0), add);
    let mut column = StringBuilder::with_capacity(rows, bytes);
    values.for_each(|value| column.append_option(value));
    Arc::new(column.finish())
}

fn keys(values: impl Iterator<Item = Option<UrlKey>> + Clone) -> Result<ArrayRef, ArrowError> {
    let mut column = FixedSizeBinaryBuilder::with_capacity(values.clone().count(), 16);
    for value in values {
        match value {
            Some(key) => column.append_value(key.to_bytes())?,
            None => column.append_null(),
        }
    }
    Ok(Arc::new(column.finish()))
}

/// What is greater than a column can hold counts as its greatest value.
fn int32(values: impl Iterator<Item = Option<u32>>) -> ArrayRef {
    let mut column = Int32Builder::new();
    values.for_each(|value| column.append_option(value.map(|value| i32::try_from(value).unwrap_or(i32::MAX))));
    Arc::new(column.finish())
}

fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    let mut column = BooleanBuilder::new();
    values.for_each(|value| column.append_option(value));
    Arc::new(column.finish())
}

fn int64(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let mut column = Int64Builder::new();
    values.for_each(|value| column.append_option(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))));
    Arc::new(column.finish())
}

/// Fingerprints have no sign: the bits are kept.
fn simhashes(rows: &[PageRow]) -> ArrayRef {
    let mut column = Int64Builder::new();
    for page in rows {
        column.append_option(page.content.as_ref().and_then(|content| content.simhash).map(u64::cast_signed));
    }
    Arc::new(column.finish())
}

fn times(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let mut column = TimestampMicrosecondBuilder::new().with_timezone("UTC");
    values.for_each(|value| column.append_option(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))));
    Arc::new(column.finish())
}
