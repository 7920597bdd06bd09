//! Questions to graphs: known answers, random graphs against plain implementations, and any number of workers.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod graphs;
mod known;
mod processes;
mod random;
mod split;
