//! What is known of sites that were let go of, for when they come back: which of their URLs failed when their turn came. The store does not have it, and
//! a site with an address that does not answer goes to and fro between its addresses: if it began with the same URLs each time, others would
//! never have their turn.

use std::collections::VecDeque;

use frontier::LeftBehind;
use weburl::SiteKey;

/// Sites remembered, at most, some 80 kB each if many of their URLs failed.
const GONE_REMEMBERED_MAX: usize = 500;

/// The sites that were let go of with URLs that failed, the first first.
#[derive(Default)]
pub(super) struct Gone(VecDeque<(SiteKey, LeftBehind)>);

impl Gone {
    /// Remembers a site if some of its URLs failed. If there are many, the one that went first is forgotten.
    pub(super) fn insert(&mut self, site: SiteKey, left_behind: LeftBehind) {
        self.take(site);
        if left_behind.is_empty() {
            return;
        }
        self.0.push_back((site, left_behind));
        if self.0.len() > GONE_REMEMBERED_MAX {
            self.0.pop_front();
        }
    }

    /// What is known of a site that may come back.
    pub(super) fn get(&self, site: SiteKey) -> Option<&LeftBehind> {
        self.0.iter().find(|(gone, _)| *gone == site).map(|(_, left_behind)| left_behind)
    }

    /// What is known of a site that comes back.
    pub(super) fn take(&mut self, site: SiteKey) -> Option<LeftBehind> {
        let at = self.0.iter().position(|(gone, _)| *gone == site)?;
        self.0.remove(at).map(|(_, left_behind)| left_behind)
    }
}
