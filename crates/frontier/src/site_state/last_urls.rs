//! The last URLs of a site: where these fail, no other URL tells whether they or their site is the cause.

use std::time::Duration;

use model::{Purpose, Timestamp};

use super::SiteState;

/// The part of the patience that is left when they are requested for the last time.
const LAST_TRY_PART: u32 = 20;

impl SiteState {
    /// True if a URL that has failed as often as it may is tried again: it is one of the last of its site, which has answered none for its
    /// purpose since some of these failed, and the patience of the run is not over.
    pub fn tries_on(&mut self, purpose: Purpose, at: Timestamp, patience: Duration) -> bool {
        let until = self.failing.map(|failing| failing.since + (patience - patience / LAST_TRY_PART));
        let fail_with_site =
            self.sweep.left_before > self.sweep.failed_alone && !self.sweep.answered.speaks_for(purpose);
        self.sweep.last_try = until.filter(|until| fail_with_site && at < *until);
        self.sweep.last_try.is_some()
    }
}
