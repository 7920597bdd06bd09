//! What a crawl saw, as tables: Parquet files in `DIR/dataset/`, which DuckDB, pandas, Polars and Spark read as they lie.
//!
//! ```text
//! DIR/dataset/pages/SEGMENT.parquet    a row for every URL that was visited
//! DIR/dataset/links/SEGMENT.parquet    a row for every link of a page, and for every redirect
//! DIR/dataset/images/SEGMENT.parquet   a row for every image of a page
//! DIR/dataset/structured/SEGMENT.parquet  a row for everything that a page says for machines
//! DIR/dataset/items/RULE/SEGMENT.parquet  a row for everything that a rule takes out of pages
//! DIR/dataset/pages/unrecorded.parquet URLs that ended without a record in the archive (disallowed, excluded, no answer)
//! DIR/dataset/superseded/SEGMENT.keys  URLs of which the rows there say no more what is at them: they were visited again
//! ```
//!
//! SEGMENT is the name of the WARC segment whose records the rows are about. A file is there whole or not at all, and says
//! in its metadata how far into the segment it reaches, so that what is missing can be derived from the archive again. The
//! columns are in [`schema`] and, for people, in `docs/dataset.md`.
//!
//! Invariant: a row is a function of the state and the archive alone; writing it while the crawl runs and deriving it later
//! give the same row.

mod columns;
mod copy;
mod encode;
mod error;
mod fill;
mod item_values;
mod items;
mod layout;
mod leave_out;
mod links;
pub mod near;
pub mod originals;
mod places;
mod read;
pub mod rows;
pub mod schema;
mod superseded;
mod tables;
mod target;
mod write;

pub use copy::{copy_items, copy_table};
pub use error::DatasetError;
pub use fill::{Fill, ItemCounts, ItemRound, item_counts};
pub use item_values::item_values;
pub use items::ItemTables;
pub use layout::{Layout, UNRECORDED};
pub use leave_out::{RowsOfVisit, leave_out};
pub use places::{Place, ReplaceError, replace_places};
pub use read::{Batches, Column};
pub use rows::{Row, Rows};
pub use superseded::{
    Settled, Superseded, copy_superseded, has_superseded, mark_settled, settled, supersedes_rows, update_superseded,
    write_superseded,
};
pub use tables::{ImageRow, ItemRow, LinkRow, Links, PageContent, PageRow, StructuredRow, Written};
pub use write::{SegmentTables, UnrecordedPages, covered_bytes, first_uncovered};
