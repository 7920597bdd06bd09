//! The server and the sites as a client sees them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod client;
mod files;
mod http;
mod log;
mod stopping;
mod synthetic;
mod tls;
