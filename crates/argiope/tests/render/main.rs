//! Crawls with a real browser, by the binary: `argiope crawl --render`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod crawls;
#[path = "../export/python.rs"]
mod python;
#[path = "../binary/ran.rs"]
mod ran;
