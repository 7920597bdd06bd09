//! URLs that are requested again after all others of their site: those that failed, and pages that look as if they had vanished. These wait longer
//! and longer, and count as gone or moved only then.

use std::collections::BTreeSet;

use model::{Queued, Timestamp};
use serde::{Deserialize, Serialize};

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

    /// Which URLs come behind the others when the site comes back.
    #[must_use]
    pub fn behind(&self) -> Behind {
        self.sweep.behind()
    }
}

/// Which URLs in a site's queue come behind all others of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// All that failed.
    failed: bool,
    /// These.
    urls: BTreeSet<u64>,
}

/// Those of a site that has not had a turn in this run.
impl Default for Behind {
    fn default() -> Self {
        Sweep::default().behind()
    }
}

impl Behind {
    /// True for one of them.
    #[must_use]
    pub fn has(&self, queued: &Queued) -> bool {
        self.failed && has_failed(queued) || self.urls.contains(&queued.candidate.url.key().url)
    }
}

/// True if a URL was requested, and is to be requested again.
pub(super) fn has_failed(queued: &Queued) -> bool {
    queued.attempts > 0 && queued.visited.is_none()
}

impl Sweep {
    /// Those that this sweep leaves behind. Failed URLs that cannot be remembered come with the others.
    fn behind(&self) -> Behind {
        Behind { failed: !self.is_repeated && self.has_room(), urls: self.remembered.iter().copied().collect() }
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

    /// Which URLs come behind the others.
    #[must_use]
    pub fn behind(&self) -> Behind {
        self.sweep.behind()
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
