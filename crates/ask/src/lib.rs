//! Questions about a crawl, answered as values over a view of its state: of one that has ended, or one that runs.
//!
//! Nothing in here prints, and nothing changes. Every answer can be serialized.

pub mod changes;
