//! The embedded store from outside: the contract, opening, crashes, a full disk.

#![expect(clippy::expect_used, reason = "tests: what fails is to stop them")]

mod contract;
mod full;
mod generations;
mod journal;
mod killed;
mod known;
mod like_memory;
mod moved;
mod opening;
mod reading;
