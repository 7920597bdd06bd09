//! Reports on crawls made up row by row: the numbers, the text, and the page in a real browser.

#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod crawl;
mod numbers;
mod page;
mod shown;
