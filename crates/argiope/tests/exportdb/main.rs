//! Exports as rows and into databases and graphs, by the real binary: `jsonl`, `kvs`, `crawldb` (into a real PostgreSQL), `webgraph`; crawls whose state is in PostgreSQL; and the anchor
//! texts that `explain` shows.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod advanced;
mod crawled;
mod graph;
mod kvs;
mod linked;
mod moved_on;
mod repeated;
mod restored;
mod rows;
mod statistics;
mod stopped;
mod stored;
