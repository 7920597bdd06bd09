//! `argiope export`: the formats that other tools read, read by those tools.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod archive;
#[path = "../reading/crawled.rs"]
#[expect(dead_code, reason = "some of it is for the tests of reading alone")]
mod crawled;
mod filters;
mod killed;
mod python;
mod pywb;
#[path = "../binary/ran.rs"]
mod ran;
mod tables;
mod targets;
mod texts;
mod wacz;
