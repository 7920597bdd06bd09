//! Questions about a crawl, answered as values over a view of its state: of one that has ended, or one that runs.
//!
//! Nothing in here prints, and nothing changes. Every answer can be serialized.

pub mod changes;
pub mod explain;
pub mod freshness;
pub mod links;
pub mod sites;
pub mod target;

/// Characters on either side of what was found.
pub const CONTEXT_CHARS: usize = 60;
