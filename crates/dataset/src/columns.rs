//! The columns of the tables, each declared once: its name, what it has of a row, and how a file has it. The schema, the columns of a batch
//! and the settings of the writer follow from this. Readers ask for columns by name.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float32Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use model::Timestamp;
use structured::Metadata;
use weburl::UrlKey;

use crate::tables::{ImageRow, PageContent, PageRow, StructuredRow};

/// The column of pages with their texts.
pub(crate) const TEXT_COLUMN: &str = "text";

const KEY_BYTES: i32 = 16;
/// The time zone of all times.
const UTC: &str = "UTC";

/// A column of a table with rows of this type.
pub(crate) struct Declared<R: 'static> {
    stored: Stored,
    /// What it has of a row; `None` is null.
    value: Value<R>,
    /// Each row has a value.
    is_always: bool,
}

/// How a file has a column.
#[derive(Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) name: &'static str,
    /// Values repeat so much that a dictionary is worth its memory.
    pub(crate) is_repetitive: bool,
    /// The least and greatest values are not looked for, since they would tell nobody which row groups to skip: prose, hashes, and the
    /// URLs of links, which stand in every row group.
    pub(crate) is_without_bounds: bool,
}

/// What is greater than a column can hold counts as its greatest value.
enum Value<R: 'static> {
    Key(fn(&R) -> Option<UrlKey>),
    Text(fn(&R) -> Option<&str>),
    Int(fn(&R) -> Option<u32>),
    Long(fn(&R) -> Option<u64>),
    /// 64 bits as they are.
    Bits(fn(&R) -> Option<u64>),
    Time(fn(&R) -> Option<Timestamp>),
    Flag(fn(&R) -> Option<bool>),
    /// From 0 to 1.
    Share(fn(&R) -> Option<f32>),
    Bytes(fn(&R) -> Option<&[u8]>),
}

type Page = Declared<PageRow>;
type Image = Declared<ImageRow>;
type Structured = Declared<StructuredRow>;
type Link = Declared<NoRow>;

pub(crate) static PAGES: &[Declared<PageRow>] = &[
    Page::key("url_key", |page| Some(page.key)).always(),
    Page::text("url", |page| Some(&page.row.url)).always(),
    Page::text("site", |page| Some(&page.row.site)).always().repetitive(),
    Page::text("domain", |page| Some(&page.row.domain)).always().repetitive(),
    Page::int("depth", |page| Some(page.row.depth)).always(),
    Page::text("via", |page| Some(page.row.via)).always().repetitive(),
    Page::text("outcome", |page| Some(page.row.outcome)).always().repetitive(),
    Page::text("reason", |page| page.row.reason.as_deref()).repetitive().without_bounds(),
    Page::int("status", |page| page.row.status.map(u32::from)),
    Page::text("content_type", |page| page.row.content_type.as_deref()).repetitive(),
    Page::long("length", |page| page.row.length),
    Page::text("digest", |page| page.row.digest.as_deref()),
    Page::text("duplicate_of", |page| page.row.duplicate_of.as_deref()),
    Page::text("redirect_to", |page| page.row.redirect_to.as_deref()),
    Page::text("canonical", |page| page.row.canonical.as_deref()),
    Page::new("fetched_at", Value::Time(|page| page.row.at)),
    Page::int("attempts", |page| Some(u32::from(page.row.attempts))).always(),
    Page::text("found_on", |page| page.row.found_on.as_deref()).repetitive(),
    Page::text("title", |page| page.row.title.as_deref()).without_bounds(),
    Page::text("warc_file", |page| page.row.warc_file.as_deref()).repetitive(),
    Page::long("warc_offset", |page| page.row.warc_offset),
    Page::long("warc_length", |page| page.row.warc_length),
    Page::int("out_degree", |page| page.row.out_degree),
    Page::text("kind", |page| Some(of(page)?.kind)).repetitive(),
    Page::text("declared_kind", |page| of(page)?.declared_kind).repetitive(),
    Page::text("extension_kind", |page| of(page)?.extension_kind).repetitive(),
    Page::text("sniffed_kind", |page| of(page)?.sniffed_kind).repetitive(),
    Page::text("language", |page| of(page)?.language.as_deref()).repetitive(),
    Page::text("encoding", |page| of(page)?.encoding).repetitive(),
    Page::text(TEXT_COLUMN, |page| of(page)?.text.as_deref()).without_bounds(),
    Page::new("simhash", Value::Bits(|page| of(page)?.simhash)),
    Page::int("links", |page| of(page)?.links),
    Page::int("images", |page| of(page)?.images),
    Page::text("meta_robots", |page| of(page)?.meta_robots.as_deref()).repetitive(),
    Page::text("server", |page| of(page)?.server.as_deref()).repetitive(),
    Page::text("last_modified", |page| of(page)?.last_modified.as_deref()),
    Page::text("etag", |page| of(page)?.etag.as_deref()),
    Page::text("content_encoding", |page| of(page)?.content_encoding.as_deref()).repetitive(),
    Page::text("content_language", |page| of(page)?.content_language.as_deref()).repetitive(),
    Page::text("cache_control", |page| of(page)?.cache_control.as_deref()).repetitive(),
    Page::text("x_robots_tag", |page| of(page)?.x_robots_tag.as_deref()).repetitive(),
    Page::text("truncated", |page| of(page)?.truncated.as_deref()).repetitive(),
    Page::text("rendered_for", |page| of(page)?.rendered_for.as_deref()).repetitive(),
    Page::int("rendered_links", |page| of(page)?.rendered_links),
    Page::int("rendered_chars", |page| of(page)?.rendered_chars),
    Page::int("round", |page| page.row.round),
    Page::int("visit", |page| page.row.visit),
    Page::flag("changed", |page| page.row.changed),
    Page::text("payload_url", |page| page.row.payload_url.as_deref()),
    Page::new("payload_at", Value::Time(|page| page.row.payload_at)),
    Page::text("extra", |page| of(page)?.extra.as_deref()),
    Page::text("description", |page| said(page)?.description.as_deref()).without_bounds(),
    Page::text("keywords", |page| said(page)?.keywords.as_deref()).without_bounds(),
    Page::text("author", |page| said(page)?.author.as_deref()).repetitive(),
    Page::text("generator", |page| said(page)?.generator.as_deref()).repetitive(),
    Page::text("viewport", |page| said(page)?.viewport.as_deref()).repetitive().without_bounds(),
    Page::text("h1", |page| said(page)?.h1.as_deref()).without_bounds(),
    Page::int("h1_count", |page| Some(said(page)?.h1_count)),
    Page::text("og_title", |page| said(page)?.og_title.as_deref()).without_bounds(),
    Page::text("og_description", |page| said(page)?.og_description.as_deref()).without_bounds(),
    Page::text("og_image", |page| said(page)?.og_image.as_deref()).without_bounds(),
    Page::text("og_type", |page| said(page)?.og_type.as_deref()).repetitive(),
    Page::text("og_site_name", |page| said(page)?.og_site_name.as_deref()).repetitive(),
    Page::text("twitter_card", |page| said(page)?.twitter_card.as_deref()).repetitive(),
    Page::text("license", |page| said(page)?.license.as_deref()).repetitive(),
    Page::text("feed", |page| said(page)?.feed.as_deref()).repetitive().without_bounds(),
    Page::text("hreflang", |page| said(page)?.hreflang.as_deref()).repetitive().without_bounds(),
    Page::text("schema_types", |page| said(page)?.schema_types.as_deref()).repetitive(),
    Page::text("main_text", |page| of(page)?.main_text.as_deref()).without_bounds(),
    Page::share("main_text_confidence", |page| of(page)?.main_text_confidence),
    Page::text("page_kind", |page| of(page)?.page_kind).repetitive(),
    Page::share("page_kind_confidence", |page| of(page)?.page_kind_confidence),
    Page::text("published", |page| said(page)?.published.as_deref()),
    Page::text("modified", |page| said(page)?.modified.as_deref()),
    Page::text("site_name", |page| said(page)?.site_name.as_deref()).repetitive(),
];

fn of(page: &PageRow) -> Option<&PageContent> {
    page.content.as_ref()
}

fn said(page: &PageRow) -> Option<&Metadata> {
    of(page)?.metadata.as_ref()
}

pub(crate) static IMAGES: &[Declared<ImageRow>] = &[
    Image::key("source_key", |image| Some(image.source.key())).always().repetitive().without_bounds(),
    Image::text("source", |image| Some(image.source.as_str())).always().repetitive().without_bounds(),
    Image::key("url_key", |image| Some(image.url.as_ref()?.key())).repetitive().without_bounds(),
    Image::text("url", |image| Some(image.url.as_ref()?.as_str())).repetitive().without_bounds(),
    Image::text("digest", |image| image.digest.as_deref()).repetitive().without_bounds(),
    Image::text("alt", |image| image.alt.as_deref()).repetitive().without_bounds(),
    Image::text("declared_type", |image| image.declared_type.as_deref()).repetitive(),
    Image::text("sniffed_kind", |image| image.sniffed_kind).repetitive(),
    Image::int("width", |image| image.width),
    Image::int("height", |image| image.height),
    Image::flag("from_srcset", |image| Some(image.from_srcset)).always(),
    Image::long("length", |image| Some(image.data.as_ref()?.len() as u64)),
    Image::new("data", Value::Bytes(|image| image.data.as_deref())).repetitive().without_bounds(),
];

pub(crate) static STRUCTURED: &[Declared<StructuredRow>] = &[
    Structured::key("source_key", |item| Some(item.source.key())).always().repetitive().without_bounds(),
    Structured::text("source", |item| Some(item.source.as_str())).always().repetitive().without_bounds(),
    Structured::text("format", |item| Some(item.format)).always().repetitive(),
    Structured::text("type", |item| item.kind.as_deref()).repetitive(),
    Structured::text("path", |item| item.path.as_deref()).repetitive().without_bounds(),
    Structured::text("json", |item| Some(&item.json)).always().without_bounds(),
    Structured::text("repaired", |item| item.repaired.as_deref()).repetitive(),
];

/// A row of the table of links, whose columns [`LinkGroup`](crate::links::LinkGroup) writes without values between.
pub(crate) enum NoRow {}

pub(crate) static LINKS: &[Declared<NoRow>] = &[
    Link::key("source_key", none).always().repetitive().without_bounds(),
    Link::text("source", none).always().repetitive().without_bounds(),
    Link::key("target_key", none).always().repetitive().without_bounds(),
    Link::text("target", none).always().repetitive().without_bounds(),
    Link::text("text", none).repetitive().without_bounds(),
    Link::text("kind", none).always().repetitive(),
    Link::text("rel", none).repetitive(),
];

fn none<T>(row: &NoRow) -> Option<T> {
    match *row {}
}

impl<R> Declared<R> {
    const fn new(name: &'static str, value: Value<R>) -> Self {
        Declared { stored: Stored { name, is_repetitive: false, is_without_bounds: false }, value, is_always: false }
    }

    const fn key(name: &'static str, value: fn(&R) -> Option<UrlKey>) -> Self {
        Self::new(name, Value::Key(value))
    }

    const fn text(name: &'static str, value: fn(&R) -> Option<&str>) -> Self {
        Self::new(name, Value::Text(value))
    }

    const fn int(name: &'static str, value: fn(&R) -> Option<u32>) -> Self {
        Self::new(name, Value::Int(value))
    }

    const fn long(name: &'static str, value: fn(&R) -> Option<u64>) -> Self {
        Self::new(name, Value::Long(value))
    }

    const fn share(name: &'static str, value: fn(&R) -> Option<f32>) -> Self {
        Self::new(name, Value::Share(value))
    }

    const fn flag(name: &'static str, value: fn(&R) -> Option<bool>) -> Self {
        Self::new(name, Value::Flag(value))
    }

    const fn always(mut self) -> Self {
        self.is_always = true;
        self
    }

    const fn repetitive(mut self) -> Self {
        self.stored.is_repetitive = true;
        self
    }

    const fn without_bounds(mut self) -> Self {
        self.stored.is_without_bounds = true;
        self
    }

    fn field(&self) -> Field {
        let kind = match self.value {
            Value::Key(_) => DataType::FixedSizeBinary(KEY_BYTES),
            Value::Text(_) => DataType::Utf8,
            Value::Int(_) => DataType::Int32,
            Value::Long(_) | Value::Bits(_) => DataType::Int64,
            Value::Time(_) => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
            Value::Flag(_) => DataType::Boolean,
            Value::Share(_) => DataType::Float32,
            Value::Bytes(_) => DataType::Binary,
        };
        Field::new(self.stored.name, kind, !self.is_always)
    }

    /// The column of these rows.
    fn column(&self, rows: &[R]) -> Result<ArrayRef, ArrowError> {
        Ok(match self.value {
            Value::Key(get) => {
                let mut column = FixedSizeBinaryBuilder::with_capacity(rows.len(), KEY_BYTES);
                for row in rows {
                    match get(row) {
                        Some(key) => column.append_value(key.to_bytes())?,
                        None => column.append_null(),
                    }
                }
                Arc::new(column.finish())
            }
            Value::Text(get) => {
                let bytes = rows.iter().map(|row| get(row).map_or(0, str::len)).sum();
                let mut column = StringBuilder::with_capacity(rows.len(), bytes);
                rows.iter().for_each(|row| column.append_option(get(row)));
                Arc::new(column.finish())
            }
            Value::Int(get) => {
                let mut column = Int32Builder::with_capacity(rows.len());
                let number = |row| get(row).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
                rows.iter().for_each(|row| column.append_option(number(row)));
                Arc::new(column.finish())
            }
            Value::Long(get) => int64(rows, |row| get(row).map(signed)),
            Value::Bits(get) => int64(rows, |row| get(row).map(u64::cast_signed)),
            Value::Time(get) => {
                let mut column = TimestampMicrosecondBuilder::with_capacity(rows.len()).with_timezone(UTC);
                rows.iter().for_each(|row| column.append_option(get(row).map(|time| signed(time.0))));
                Arc::new(column.finish())
            }
            Value::Flag(get) => {
                let mut column = BooleanBuilder::with_capacity(rows.len());
                rows.iter().for_each(|row| column.append_option(get(row)));
                Arc::new(column.finish())
            }
            Value::Share(get) => {
                let mut column = Float32Builder::with_capacity(rows.len());
                rows.iter().for_each(|row| column.append_option(get(row)));
                Arc::new(column.finish())
            }
            Value::Bytes(get) => {
                let mut column = BinaryBuilder::new();
                rows.iter().for_each(|row| column.append_option(get(row)));
                Arc::new(column.finish())
            }
        })
    }
}

fn int64<R>(rows: &[R], get: impl Fn(&R) -> Option<i64>) -> ArrayRef {
    let mut column = Int64Builder::with_capacity(rows.len());
    rows.iter().for_each(|row| column.append_option(get(row)));
    Arc::new(column.finish())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The schema of these columns.
pub(crate) fn schema<R>(columns: &[Declared<R>]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Declared::field).collect::<Vec<_>>()))
}

/// How files have these columns.
pub(crate) fn stored<R>(columns: &[Declared<R>]) -> Vec<Stored> {
    columns.iter().map(|column| column.stored).collect()
}

/// Turns rows into columns.
pub(crate) fn batch<R>(schema: SchemaRef, columns: &[Declared<R>], rows: &[R]) -> Result<RecordBatch, ArrowError> {
    let columns = columns.iter().map(|column| column.column(rows)).collect::<Result<_, _>>()?;
    RecordBatch::try_new(schema, columns)
}
