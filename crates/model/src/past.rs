//! What is remembered of the visits before the last.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// The validators of a content: with them, a later request asks whether it has changed (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    /// The field `ETag`, as received.
    pub etag: Option<String>,
    /// The field `Last-Modified`, as received.
    pub last_modified: Option<String>,
}

impl Validators {
    /// The largest validator that is kept, in bytes; each later request carries it.
    pub const BYTES_MAX: usize = 512;

    /// True without any validator.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// A summary of a URL's earlier visits; empty at its first visit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// The number of visits before this one.
    pub visits: u32,
    /// How many of all visits found a change: another content than the visit before, or none in place of one.
    pub changes: u32,
    /// When it was first visited.
    pub first_at: Timestamp,
    /// The time of the visit that first found the present content.
    pub changed_at: Timestamp,
    /// How many times in a row, to this visit, the server answered that nothing has changed; or [`Past::LOST`].
    pub not_modified: u32,
}

impl Past {
    /// Stands in place of [`Past::not_modified`] where the archive has lost the content of the visit: the next request asks for it in any
    /// case. The validators stay, since they tell what the server is like.
    pub const LOST: u32 = u32::MAX;

    /// True where the archive has lost the content.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.not_modified == Past::LOST
    }

    /// How many times in a row the server answered that nothing has changed, since the content was recorded.
    #[must_use]
    pub fn unchanged(&self) -> u32 {
        if self.is_lost() { 0 } else { self.not_modified }
    }

    /// Whether the visit at this time, the last, found another content than the one before. `None` where nothing was known before.
    #[must_use]
    pub fn found_change(&self, at: Timestamp) -> Option<bool> {
        let has_changed = self.changed_at == at;
        (self.visits > 0 && (self.changes > 0 || !has_changed)).then_some(has_changed)
    }
}
