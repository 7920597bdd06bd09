//! Questions to the link graph of crawls by the binary: `rank`, `overlap`, `search`, `links`, `path`.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod answers;
mod cache;
mod networkx;
mod running;
