//! Crawls with a real browser, by the binary: `argiope crawl --render`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod crawls;
mod evidence;
mod killed;
mod others;
#[path = "../export/python.rs"]
mod python;
#[path = "../export/pywb.rs"]
mod pywb;
#[path = "../binary/ran.rs"]
mod ran;
mod replayed;
mod secrets;
