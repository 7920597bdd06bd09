//! The dataset of a crawl: complete, the same when derived again, and in agreement with everything else that is kept.
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

mod agreement;
mod content;
mod derived;
mod documents;
mod examples;
mod extracted;
mod kept;
mod lost_items;
mod moved_on;
mod restored;
mod retried;
mod sealed;
mod webs;
