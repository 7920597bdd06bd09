//! The store in PostgreSQL from outside, each check in a schema of its own: the contract, any batches, opening,
//! a server that dies.

#![expect(clippy::expect_used, reason = "tests: what fails is to stop them")]

#[path = "../../../store-embedded/tests/embedded/any_batches.rs"]
mod any_batches;
#[path = "../../../store-embedded/tests/embedded/batches.rs"]
mod batches;
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
