//! How bad what a check finds is.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is wrong.
    Note,
    /// The content can be relied on; or an earlier content is lost, and nothing brings it back.
    Warning,
    /// Something is lost, or leads nowhere.
    Error,
}
