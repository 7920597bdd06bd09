//! Argiope: a polite, fast, crash-safe web crawler.
//!
//! Programs use this crate for crawls of their own: [`Session`] assembles one and runs it in the caller's tokio runtime, [`Handle`]
//! observes, steers and stops it, [`Hook`] and [`Sink`] extend it. Nothing of that prints, handles signals or ends the process.
//!
//! ```toml
//! argiope = { version = "0.1", default-features = false }
//! ```
//!
//! The feature `cli`, on by default, adds the command `argiope` and what only it needs: `cargo install argiope`. It changes nothing in the
//! library.

#![warn(clippy::print_stderr, reason = "it panics where nobody reads it any more: say! and message::show do not")]

#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod commands;
#[cfg(feature = "cli")]
pub mod summary;

pub use crawl::*;
pub use {dataset, engine, frontier, model, store, weburl};

/// Exit codes, the same for every command.
#[cfg(feature = "cli")]
pub mod exit {
    /// The command did what it was asked. Of a crawl: something was fetched, and nothing is left.
    pub const DONE: u8 = 0;
    /// It failed; the error is on standard error. Of a crawl: nothing could be fetched.
    pub const FAILED: u8 = 1;
    /// The command line or a configuration file is wrong.
    pub const USAGE: u8 = 2;
    /// It was stopped early, by a signal or by a budget, with work left.
    pub const STOPPED: u8 = 3;
}
