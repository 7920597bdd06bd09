//! The interface in a real browser: every screen in the light, in the dark, on a phone and by the keyboard alone, judged by axe-core, and
//! with content of the web that attacks it.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod chart;
mod graph;
mod hostile;
mod keyboard;
mod screens;
mod site;
