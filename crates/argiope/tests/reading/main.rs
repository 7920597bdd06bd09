//! The commands over a crawl directory, run as people run them: `status`, `explain`, `check`, `export`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod adopt;
mod check;
mod explain;
mod export;
mod foreign;
mod got_back;
mod limits;
mod links;
mod near;
mod repair;
mod status;
mod unread;
