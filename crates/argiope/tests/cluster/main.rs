//! A crawl by several workers, by the real server and client on a real PostgreSQL.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod access;
mod answers;
mod away;
#[path = "../reading/crawled.rs"]
#[expect(dead_code, reason = "some of it is for the tests of reading alone")]
mod crawled;
mod crawls;
mod distances;
mod duplicates;
mod handed_over;
#[path = "../web/politeness/judge.rs"]
#[expect(dead_code, reason = "some of it is for crawls by one process alone")]
mod judge;
mod lab;
mod moves;
mod outdated;
mod ports;
mod pretended;
mod queries;
#[path = "../binary/ran.rs"]
mod ran;
mod secrets;
mod seeds;
mod served;
mod setup;
mod sitemaps;
#[path = "../dataset/tables.rs"]
mod tables;
mod told;
mod visited;
mod watched;
mod workers;
