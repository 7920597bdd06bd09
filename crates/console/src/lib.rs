//! What a command says while it runs: messages on standard error and in a log, and the progress of a crawl. Also the signals that end it.

#![warn(clippy::print_stderr, reason = "it panics where nobody reads it any more: say! and message::show do not")]

pub mod message;
pub mod printed;
pub mod progress;
pub mod stopping;
pub mod threads;
