//! The store in PostgreSQL from outside, each check in a schema of its own: the contract, any batches, opening,
//! a server that dies.

#![expect(clippy::expect_used, reason = "tests: what fails is to stop them")]

mod cluster;
mod contract;
mod control;
mod duplicates;
mod interrupted;
mod killed;
mod like_memory;
mod opening;
mod place;
mod rounds;
mod sealed;
mod spent;
