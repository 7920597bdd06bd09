//! `argiope pages`, run as a student runs it, against a test web on loopback.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod arguments;
mod bytes;
mod depths;
mod internal;
mod polite;
mod progress;
mod resume;
mod run;
mod seeds;
