//! Crawls with a real browser, by the binary: `argiope crawl --render`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod apps;
mod crawls;
mod evidence;
mod frames;
mod killed;
mod logins;
mod others;
mod replayed;
mod requests;
mod requisites;
mod routes;
mod secrets;
mod window;
