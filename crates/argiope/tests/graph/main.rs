//! Questions to the link graph of crawls by the binary: `rank`, `overlap`, `search`, `links`, `path`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod answers;
mod cache;
#[path = "../reading/crawled.rs"]
#[expect(dead_code, reason = "some of it is for the tests of reading alone")]
mod crawled;
mod networkx;
#[path = "../export/python.rs"]
mod python;
#[path = "../binary/ran.rs"]
mod ran;
mod running;
