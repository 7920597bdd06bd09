//! A crawl by several workers, by the real server and client on a real PostgreSQL.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod access;
mod answers;
mod away;
mod browsed;
mod budgets;
mod crawls;
mod distances;
mod duplicates;
mod handed_over;
mod held;
mod in_order;
mod items;
mod lab;
mod logged;
mod measured;
mod moves;
mod of_page;
mod outdated;
mod ports;
mod pretended;
mod queries;
mod questions;
mod requisites;
mod restored;
mod robots;
mod rounds;
mod sealed;
mod secrets;
mod seeds;
mod served;
mod setup;
mod shown;
mod sitemaps;
mod steered;
mod taken_back;
mod told;
mod visited;
mod watched;
mod workers;
