//! The columns of the tables. Their meaning is in `docs/dataset.md`; a change of either raises [`VERSION`].
//!
//! Numbers are signed, since not every reader of Parquet has unsigned ones. Keys are the 16 bytes of `UrlKey`, site first.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};

/// The version of the tables, in the metadata of every file under [`VERSION_KEY`].
pub const VERSION: u32 = 3;
/// The metadata key of the version.
pub const VERSION_KEY: &str = "argiope.version";
/// The metadata key of how far into its segment a file reaches, in bytes.
pub const COVERED_KEY: &str = "argiope.covered-bytes";

/// The column of pages with their texts.
pub(crate) const TEXT_COLUMN: &str = "text";

/// The tables of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A row for every URL that was visited.
    Pages,
    /// A row for every link.
    Links,
    /// A row for every image of a page.
    Images,
}

impl Table {
    /// All tables, in the order in which a segment's files get their names: the pages last.
    pub const ALL: [Table; 3] = [Table::Images, Table::Links, Table::Pages];

    /// The name of the directory.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Links => "links",
            Table::Images => "images",
        }
    }

    /// The column with the key of the page that a row belongs to.
    pub(crate) const fn key_column(self) -> &'static str {
        match self {
            Table::Pages => "url_key",
            Table::Links | Table::Images => "source_key",
        }
    }

    /// The columns.
    #[must_use]
    pub fn schema(self) -> SchemaRef {
        match self {
            Table::Pages => PAGES.clone(),
            Table::Links => LINKS.clone(),
            Table::Images => IMAGES.clone(),
        }
    }

    /// The columns whose values repeat so much that a dictionary is worth its memory.
    pub(crate) const fn repetitive(self) -> &'static [&'static str] {
        match self {
            Table::Pages => &[
                "site",
                "domain",
                "via",
                "outcome",
                "reason",
                "content_type",
                "found_on",
                "warc_file",
                "kind",
                "declared_kind",
                "extension_kind",
                "sniffed_kind",
                "language",
                "encoding",
                "server",
                "content_encoding",
                "content_language",
                "cache_control",
                "x_robots_tag",
                "meta_robots",
                "truncated",
                "rendered_for",
            ],
            Table::Links => &["source_key", "source", "target_key", "target", "text", "kind", "rel"],
            Table::Images => {
                &["source_key", "source", "url_key", "url", "alt", "declared_type", "sniffed_kind", "digest", "data"]
            }
        }
    }

    /// The columns whose least and greatest values are not looked for, since they would tell nobody which row groups to skip: prose,
    /// hashes, and the URLs of links, which stand in every row group.
    pub(crate) const fn without_bounds(self) -> &'static [&'static str] {
        match self {
            Table::Pages => &["title", TEXT_COLUMN, "reason"],
            Table::Links => &["source_key", "source", "target_key", "target", "text"],
            Table::Images => &["source_key", "source", "url_key", "url", "alt", "digest", "data"],
        }
    }
}

const TEXT: DataType = DataType::Utf8;
const KEY: DataType = DataType::FixedSizeBinary(16);

static PAGES: LazyLock<SchemaRef> = LazyLock::new(|| {
    schema(&[
        ("url_key", KEY, Always),
        ("url", TEXT, Always),
        ("site", TEXT, Always),
        ("domain", TEXT, Always),
        ("depth", DataType::Int32, Always),
        ("via", TEXT, Always),
        ("outcome", TEXT, Always),
        ("reason", TEXT, Maybe),
        ("status", DataType::Int32, Maybe),
        ("content_type", TEXT, Maybe),
        ("length", DataType::Int64, Maybe),
        ("digest", TEXT, Maybe),
        ("duplicate_of", TEXT, Maybe),
        ("redirect_to", TEXT, Maybe),
        ("canonical", TEXT, Maybe),
        ("fetched_at", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), Maybe),
        ("attempts", DataType::Int32, Always),
        ("found_on", TEXT, Maybe),
        ("title", TEXT, Maybe),
        ("warc_file", TEXT, Maybe),
        ("warc_offset", DataType::Int64, Maybe),
        ("warc_length", DataType::Int64, Maybe),
        ("out_degree", DataType::Int32, Maybe),
        ("kind", TEXT, Maybe),
        ("declared_kind", TEXT, Maybe),
        ("extension_kind", TEXT, Maybe),
        ("sniffed_kind", TEXT, Maybe),
        ("language", TEXT, Maybe),
        ("encoding", TEXT, Maybe),
        (TEXT_COLUMN, TEXT, Maybe),
        ("simhash", DataType::Int64, Maybe),
        ("links", DataType::Int32, Maybe),
        ("images", DataType::Int32, Maybe),
        ("meta_robots", TEXT, Maybe),
        ("server", TEXT, Maybe),
        ("last_modified", TEXT, Maybe),
        ("etag", TEXT, Maybe),
        ("content_encoding", TEXT, Maybe),
        ("content_language", TEXT, Maybe),
        ("cache_control", TEXT, Maybe),
        ("x_robots_tag", TEXT, Maybe),
        ("truncated", TEXT, Maybe),
        ("rendered_for", TEXT, Maybe),
        ("rendered_links", DataType::Int32, Maybe),
        ("rendered_chars", DataType::Int32, Maybe),
        ("round", DataType::Int32, Maybe),
        ("visit", DataType::Int32, Maybe),
        ("changed", DataType::Boolean, Maybe),
        ("extra", TEXT, Maybe),
    ])
});

static LINKS: LazyLock<SchemaRef> = LazyLock::new(|| {
    schema(&[
        ("source_key", KEY, Always),
        ("source", TEXT, Always),
        ("target_key", KEY, Always),
        ("target", TEXT, Always),
        ("text", TEXT, Maybe),
        ("kind", TEXT, Always),
        ("rel", TEXT, Maybe),
    ])
});

static IMAGES: LazyLock<SchemaRef> = LazyLock::new(|| {
    schema(&[
        ("source_key", KEY, Always),
        ("source", TEXT, Always),
        ("url_key", KEY, Maybe),
        ("url", TEXT, Maybe),
        ("digest", TEXT, Maybe),
        ("alt", TEXT, Maybe),
        ("declared_type", TEXT, Maybe),
        ("sniffed_kind", TEXT, Maybe),
        ("width", DataType::Int32, Maybe),
        ("height", DataType::Int32, Maybe),
        ("from_srcset", DataType::Boolean, Always),
        ("length", DataType::Int64, Maybe),
        ("data", DataType::Binary, Maybe),
    ])
});

use Nullable::{Always, Maybe};

#[derive(Clone, Copy, PartialEq)]
enum Nullable {
    Always,
    Maybe,
}

fn schema(columns: &[(&str, DataType, Nullable)]) -> SchemaRef {
    let fields = columns.iter().map(|(name, kind, nullable)| Field::new(*name, kind.clone(), *nullable == Maybe));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
