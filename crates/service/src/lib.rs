//! A crawl by several workers as a service: the server that clients and workers talk to, the life of a worker, and the queries that
//! workers answer together. Its ports serve metrics too.

#![warn(clippy::print_stderr, reason = "it panics where nobody reads it any more: say! and message::show do not")]

pub mod access;
pub mod changes;
pub mod client;
pub mod entry;
pub mod here;
mod in_line;
pub mod joining;
pub mod metrics;
pub mod port;
pub mod queries;
mod random;
pub mod reach;
pub mod server;
pub mod sortings;
pub mod worker;
