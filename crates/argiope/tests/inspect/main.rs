//! `argiope inspect` as people and scripts run it: the real binary, its whole output, its exit code.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod batch;
mod extract;
mod html;
mod robots;
mod run;
mod sitemap;
mod url;
mod usage;
mod warc;
