//! The interface in a real browser: every screen in the light, in the dark, on a phone and by the keyboard alone, judged by axe-core, and
//! with content of the web that attacks it.

#![expect(clippy::expect_used, reason = "a test may panic")]

mod answers;
mod chart;
mod effect;
mod graph;
mod hostile;
mod keyboard;
mod order;
mod screens;
mod side_by_side;
mod site;
mod token;
mod undo;
mod views;
mod windows;
