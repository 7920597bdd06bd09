//! `argiope export`: the formats that other tools read, read by those tools.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod against;
mod archive;
mod chunks;
mod filters;
mod killed;
mod replayed;
mod requisites;
mod tables;
mod targets;
mod texts;
mod wacz;
