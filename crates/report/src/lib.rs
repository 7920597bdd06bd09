//! What a crawl came to: how many pages of which type and site, images, links, duplicates, errors, speed.
//!
//! ```text
//!  state ───▶ scan ──┐
//!  dataset ─▶ graph ─┴─▶ Statistics ──▶ JSON as it is
//!                             └───────▶ tables ──▶ text, page
//! ```
//!
//! Everything is read once or twice from front to back and counted on the way. Memory grows with the distinct URLs linked to, with the
//! originals of duplicates, and with nothing else: lists are cut at [`ROWS_MAX`].
//!
//! Invariant: nothing here writes to the crawl's directory, and no text from the web reaches a terminal or a page unescaped.

mod behind;
mod both;
mod error;
mod gather;
mod gathered;
mod html;
mod items;
mod near;
mod own_links;
mod part;
mod picture;
mod rendering;
mod scan;
mod speed;
mod statistics;
mod tables;
mod text;
mod top;

pub use behind::{Behind, Chosen, Counted};
pub use both::Both;
pub use error::ReportError;
pub use gather::seed_sites;
pub use gathered::{Gathered, GatheredLinks, MostLinked};
pub use html::html;
pub use near::{Fingerprint, Fingerprints, Near, Repeat, Text, fingerprints, texts};
pub use own_links::{Linked, OwnLinks};
pub use part::Part;
pub use picture::{Line, PICTURE_PAGES_MAX, PageNode, Picture};
pub use rendering::RenderedPages;
pub use speed::{BUCKETS_MAX, Bucket, Speed};
pub use statistics::{
    Copied, Duplicates, FilledField, Images, LinkedPage, Links, Most, Named, NearDuplicates, Overview, Ranked, Share,
    SiteErrors, SiteInTrouble, SitePages, SizedDocument, SlowSite, Statistics,
};
pub use tables::{Column, Kind, Table, tables};
pub use text::{shown, text};
pub use top::ROWS_MAX;
