//! A crawl by several workers.

#![expect(clippy::expect_used, reason = "a test may panic")]

#[path = "../reading/crawled.rs"]
#[expect(dead_code, reason = "some of it is for the tests of reading alone")]
mod crawled;
mod queries;
#[path = "../binary/ran.rs"]
mod ran;
