//! Pages in a real browser, which gets everything from the test.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod alive;
mod behaviours;
mod contained;
mod cookies;
mod kept;
mod kinds;
mod namespace;
mod navigation;
mod offline;
mod parts;
mod pictures;
mod requests;
mod shown;
mod site;
