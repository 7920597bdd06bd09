//! Recently found URLs: most links lead to known URLs, and finding these again changes nothing.

use foldhash::HashMap;
use model::{Candidate, Distance, Purpose};
use weburl::{CanonicalUrl, UrlKey};

use super::known::ShortestPaths;

/// Recently found URLs, which the store gets before, or together with, any later record.
pub(super) struct Remembered {
    /// Those that the filter admits, with the shortest way that was recorded.
    found: ShortestPaths,
    /// Those that were settled by rules, and whether they count as links into the crawl.
    settled: HashMap<UrlKey, bool>,
    settled_max: usize,
}

impl Remembered {
    /// Remembers at most `max` URLs; a fifth of them settled ones.
    pub(super) fn new(max: usize) -> Self {
        let settled_max = max / 5;
        Remembered { found: ShortestPaths::new(max - settled_max), settled: HashMap::default(), settled_max }
    }

    /// Prefetches the entries of all links of a page, before they are looked up one by one.
    pub(super) fn prefetch(&self, links: &[CanonicalUrl]) {
        self.found.prefetch(links.iter().map(CanonicalUrl::key));
    }

    /// Whether a link to a page counts as one into the crawl, if recording it would change nothing.
    pub(super) fn admitted(&self, key: UrlKey, distance: Distance) -> Option<bool> {
        if self.found.covers(key, Purpose::Page, distance) { Some(true) } else { self.settled.get(&key).copied() }
    }

    /// Remembers a URL that is about to be recorded. False if that would change nothing.
    pub(super) fn find(&mut self, candidate: &Candidate) -> bool {
        let key = candidate.url.key();
        let is_new = !self.found.covers(key, candidate.purpose, candidate.distance());
        if is_new {
            self.found.insert(key, candidate);
        }
        is_new
    }

    /// Remembers a URL that is about to be settled. False if it is settled already.
    pub(super) fn settle(&mut self, key: UrlKey, is_admitted: bool) -> bool {
        if self.settled_max == 0 {
            return true;
        }
        if self.settled.len() >= self.settled_max {
            self.settled.clear();
        }
        self.settled.insert(key, is_admitted).is_none()
    }

    /// Forgets the settled URLs, since the rules have changed.
    pub(super) fn forget_settled(&mut self) {
        self.settled.clear();
    }
}
