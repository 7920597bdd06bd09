//! Fetches against servers written by hand: what goes over the wire, and what is made of what comes back.

#![expect(clippy::expect_used, reason = "a test's own servers and clients may panic: that is how it fails")]

mod client;
mod codings;
mod head_first;
mod heads;
mod hostile;
mod http2;
mod keep_alive;
mod names;
mod of_pages;
mod proxies;
mod robots;
mod server;
mod slow;
mod tls;
