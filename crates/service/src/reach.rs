//! What a process says when its database is away, and when it is back.

use console::message::{Level, tell};
use store_postgres::{Reach, on_reach};

/// Has it said from now on.
pub fn tell_of_database() {
    on_reach(|reach| {
        let level = match reach {
            Reach::Away { .. } => Level::Warning,
            Reach::Back { .. } => Level::Info,
        };
        tell(level, format_args!("{reach}"));
    });
}
