//! Pages in a real browser, which gets everything from the test.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod contained;
mod kinds;
mod namespace;
mod offline;
mod shown;
mod site;
