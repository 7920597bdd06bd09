//! Argiope: a polite, fast, crash-safe web crawler.
//!
//! This crate is the command line: [`commands`], one module each, the server and the workers of a cluster. Crawls are assembled and run by the
//! crate `crawl`.

#![warn(clippy::print_stderr, reason = "it panics where nobody reads it any more: say! and message::show do not")]

pub mod cli;
pub mod commands;
pub mod summary;

pub use dataset::rows;

/// Exit codes, the same for every command.
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
