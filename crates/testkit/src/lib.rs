//! What the tests of several crates share. Only tests and benchmarks depend on it.
//!
//! A test crawl runs the real binary ([`ran`], [`crawled`], [`endless`]). [`judge`] says whether a server's log is polite, [`tables`] reads a dataset, and
//! [`batches`] and [`any_batches`] are commits for stores. [`python`], [`pywb`] and [`replaywebpage`] run the tools that read
//! exports. [`browser`] is a real one, [`axe`] judges the page it shows, and [`ui`] serves a crawl to it; [`numbers`] follows the numbers of its report, [`screens`] puts them together, and [`hostile`] is what
//! they have to bear.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a test may panic, and its helpers say enough by their names"
)]

pub mod any_batches;
pub mod axe;
pub mod batches;
pub mod browser;
pub mod crawled;
pub mod documents;
pub mod endless;
pub mod hostile;
pub mod judge;
pub mod numbered_pages;
pub mod numbers;
pub mod python;
pub mod pywb;
pub mod ran;
pub mod replaywebpage;
pub mod robots_files;
pub mod screens;
pub mod tables;
pub mod ui;
