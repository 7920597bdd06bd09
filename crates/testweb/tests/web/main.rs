//! The server and the sites as a client sees them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod advanced;
mod client;
mod files;
mod hostile;
mod http;
mod log;
mod stopping;
mod synthetic;
mod tls;
