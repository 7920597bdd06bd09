//! `argiope report` over crawls by the binary, run as people run it.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod crawled;
mod results;
