//! URLs that are requested again after all others of their site: those that failed, and pages that look as if they had vanished. These wait longer
//! and longer, and count as gone or moved only then.

use model::Timestamp;

use super::SiteState;
use super::trouble::{Failing, Sweep, Vanished};
use crate::{Politeness, Reason};

/// The URLs of a site that failed when their turn came.
#[derive(Debug)]
pub struct LeftBehind {
    sweep: Sweep,
    failing: Option<Failing>,
}

impl LeftBehind {
    /// True if no URL has failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.sweep.leaves_something() && !self.sweep.is_repeated
    }
}

impl SiteState {
    /// Leaves a failed URL behind that [`SiteState::next`] returned. It is in the store's queue, and its turn comes again after all
    /// others.
    pub fn leave_behind(&mut self, url: u64, attempts: u8) {
        self.taken.remove(&url);
        self.sweep.attempts = self.sweep.attempts.max(attempts);
        self.sweep.left_since_page += 1;
        self.sweep.leave(url);
    }

    /// Leaves a page behind that so many requests have found vanished, the last one at this time. The site answered, so that is no failure.
    pub fn leave_vanished(&mut self, url: u64, attempts: u8, at: Timestamp) {
        self.taken.remove(&url);
        let before = self.sweep.vanished.unwrap_or_default();
        self.sweep.vanished = Some(Vanished { at: before.at.max(at), attempts: before.attempts.max(attempts) });
        self.sweep.leave(url);
    }

    /// Waits before they are requested again.
    pub(super) fn wait_for_vanished(&mut self, vanished: Vanished, politeness: &Politeness) {
        self.wait_until(vanished.at + politeness.wait_for_vanished(vanished.attempts), Reason::Vanished);
    }

    /// The state of the failed URLs, for when the site comes back to the front.
    #[must_use]
    pub fn take_left_behind(&mut self) -> LeftBehind {
        LeftBehind { sweep: std::mem::take(&mut self.sweep), failing: self.failing }
    }

    /// Continues where the site was when it left the front.
    pub fn go_on_behind(&mut self, LeftBehind { sweep, failing }: LeftBehind) {
        (self.sweep, self.failing) = (sweep, failing);
    }
}
