//! Simulated crawls: a thousand seeds, the same seed twice, and the oracle itself put to the test.

#![expect(clippy::expect_used, reason = "tests: what fails is to stop them")]

mod explained;
mod sabotage;
mod same_again;
mod seeds;
