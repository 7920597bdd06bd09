//! Questions about a crawl, answered as values over a view of its state: of one that has ended, or one that runs.
//!
//! Nothing in here prints, and nothing changes a crawl. Every answer can be serialized.

pub mod changes;
pub mod explain;
pub mod follow;
pub mod freshness;
pub mod importance;
pub mod latest;
pub mod links;
pub mod order;
pub mod overlap;
pub mod page;
pub mod path;
pub mod picture;
mod queried;
pub mod rank;
pub mod since;
pub mod sites;
pub mod status;
pub mod target;
pub mod urls;
mod visit_choice;

pub use queried::{QueriedCrawl, UnknownUrl};

/// Characters on either side of what was found.
pub const CONTEXT_CHARS: usize = 60;
