//! The tables. The meaning of their columns, which `columns.rs` declares, is in `docs/dataset.md`; a change of either raises [`VERSION`].
//!
//! Numbers are signed, since not every reader of Parquet has unsigned ones. Keys are the 16 bytes of `UrlKey`, site first.

use std::sync::LazyLock;

use arrow_schema::SchemaRef;

use crate::columns::{self, IMAGES, LINKS, PAGES, STRUCTURED, Stored};

/// The version of the tables, in the metadata of every file under [`VERSION_KEY`].
pub const VERSION: u32 = 5;
/// The metadata key of the version.
pub const VERSION_KEY: &str = "argiope.version";
/// The metadata key of how far into its segment a file reaches, in bytes.
pub const COVERED_KEY: &str = "argiope.covered-bytes";
/// The column of a table of items with the key of the page.
pub const ITEM_KEY: &str = "url_key";

/// The tables of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// A row for every URL that was visited.
    Pages,
    /// A row for every link.
    Links,
    /// A row for every image of a page.
    Images,
    /// A row for everything that a page says for machines: JSON-LD, microdata and so on.
    Structured,
}

impl Table {
    /// All tables, in the order in which a segment's files get their names: the pages last.
    pub const ALL: [Table; 4] = [Table::Structured, Table::Images, Table::Links, Table::Pages];

    /// The name of the directory.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Table::Pages => "pages",
            Table::Links => "links",
            Table::Images => "images",
            Table::Structured => "structured",
        }
    }

    /// The column with the key of the page that a row belongs to.
    pub(crate) const fn key_column(self) -> &'static str {
        match self {
            Table::Pages => "url_key",
            Table::Links | Table::Images | Table::Structured => "source_key",
        }
    }

    /// The columns.
    #[must_use]
    pub fn schema(self) -> SchemaRef {
        match self {
            Table::Pages => PAGES_SCHEMA.clone(),
            Table::Links => LINKS_SCHEMA.clone(),
            Table::Images => IMAGES_SCHEMA.clone(),
            Table::Structured => STRUCTURED_SCHEMA.clone(),
        }
    }

    /// How a file has the columns.
    pub(crate) fn stored(self) -> Vec<Stored> {
        match self {
            Table::Pages => columns::stored(PAGES),
            Table::Links => columns::stored(LINKS),
            Table::Images => columns::stored(IMAGES),
            Table::Structured => columns::stored(STRUCTURED),
        }
    }
}

static PAGES_SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| columns::schema(PAGES));
static LINKS_SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| columns::schema(LINKS));
static IMAGES_SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| columns::schema(IMAGES));
static STRUCTURED_SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| columns::schema(STRUCTURED));
