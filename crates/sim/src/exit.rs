//! How a process ends.

use engine::End;

/// How a run ends.
#[derive(Debug)]
pub(crate) enum Exit {
    /// By itself.
    Finished(End),
    /// By a crash. `torn` says that a commit was under way.
    Crashed { torn: bool },
    /// Never.
    Stuck,
}
