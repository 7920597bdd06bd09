//! The real binary as a process: killed, interrupted, out of space, used wrongly, and let loose on real documents.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod begins;
mod binary;
mod result;
mod served;
mod walker;
mod warcs;

mod again;
mod announced;
mod coded;
mod crash;
mod defaults;
mod disk_full;
mod files;
mod followed;
mod helped;
mod interrupt;
mod live;
mod real_documents;
mod refused;
mod renewed;
mod replaced;
mod restored;
mod resumed;
mod settings;
mod stages;
mod steered;
mod steered_killed;
mod streamed;
mod suspended;
mod threads;
mod told;
mod ui;
mod ui_of_commands;
mod ui_of_filters;
mod ui_of_numbers;
mod ui_of_orders;
mod ui_of_pages;
mod ui_of_runs;
mod ui_of_tokens;
mod ui_of_views;
mod unwritten;
mod usage;
mod viewers;
mod watches;
mod worded;
