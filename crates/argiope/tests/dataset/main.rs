//! The dataset of a crawl: complete, the same when derived again, and in agreement with everything else that is kept.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod agreement;
mod content;
#[path = "../reading/crawled.rs"]
#[expect(dead_code, reason = "some of it is for the tests of reading alone")]
mod crawled;
mod derived;
mod examples;
mod kept;
#[path = "../binary/ran.rs"]
mod ran;
mod retried;
mod sealed;
mod tables;
mod webs;
