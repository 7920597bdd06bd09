//! Writes a crawl's dataset: while it runs ([`Writer`]), and again from the archive ([`Deriver`]).
//!
//! ```text
//!  recorder ──▶ Visited ──▶ written() ──▶ SegmentTables          (the crawl, on a thread of its own)
//!  archive ───▶ look_into ─▶ Visited ──▶ written() ──▶ SegmentTables    (derive)
//! ```
//!
//! Others see the rows of a running crawl when they ask for them ([`crate::live::publish`]).
//!
//! Both ways meet in [`engine::look_into`] and [`written`], so they give the same rows.

mod derive;
mod dropped;
mod foreign;
mod lacking;
mod settle;
mod taken_back;
mod writer;
mod written;

pub use derive::{Derived, Deriver, complete_dataset, rendering};
pub use dropped::drop_segment;
pub use foreign::{Foreign, items_of_archives};
pub use settle::{UNSETTLED, supersede_unsettled};
pub use writer::Writer;
pub use written::written;
