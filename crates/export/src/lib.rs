//! A crawl in the formats that other tools read.
//!
//! ```text
//!  Crawl (state, archive, dataset) ──▶ Filter ──▶ one module a format ──▶ PendingFile (whole or not at all), PostgreSQL
//! ```
//!
//! Every format streams: memory does not grow with the crawl. Every target is whole or not there: files and directories get
//! their name when they are complete, tables are filled in one transaction.
//!
//! Invariant: a format knows no other format, and nothing here writes to the crawl's directory.

mod archive;
pub mod cdxj;
pub mod chunks;
mod copy;
mod crawl;
pub mod crawldb;
mod error;
mod filter;
mod html_page;
pub mod items;
pub mod jsonl;
pub mod kvs;
pub mod markdown;
mod needed;
pub mod page_files;
pub mod parquet_copy;
mod pending;
mod pending_dir;
mod readable;
mod tables;
mod unlisted;
pub mod wacz;
pub mod warc_copy;

pub use copy::{Copied, CopySettings, RECOMPRESSED_BYTES_MAX};
pub use crawl::{Crawl, Progress, Selected};
pub use error::ExportError;
pub use filter::{Filter, FilterError, names};
pub use html_page::{HtmlPage, html_of, may_be_html};
pub use pending::PendingFile;
pub use pending_dir::PendingDir;
pub use replay::Lost;
