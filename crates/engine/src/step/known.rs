//! Recently seen URLs with the shortest way known, so that finding one again needs no record.

use foldhash::HashMap;
use model::{Candidate, Distance, Purpose};
use weburl::UrlKey;

/// Two generations of ways: when the younger is full it becomes the older, whose ways are forgotten. One that is asked
/// for moves to the younger, so what is found often stays.
#[derive(Debug)]
pub(super) struct Known {
    young: HashMap<(UrlKey, Purpose), Distance>,
    old: HashMap<(UrlKey, Purpose), Distance>,
    generation_max: usize,
}

impl Known {
    /// Remembers at most `max` URLs.
    pub(super) fn new(max: usize) -> Self {
        Known { young: HashMap::default(), old: HashMap::default(), generation_max: max / 2 }
    }

    /// True if recording a URL found at this distance changes nothing, because it is known by a way that is no longer. False
    /// where that is not remembered. What is remembered may be longer than what is stored by now, never shorter.
    pub(super) fn covers(&mut self, key: UrlKey, purpose: Purpose, found_at: Distance) -> bool {
        let way = (key, purpose);
        let young = self.young.get(&way).copied();
        let Some(distance) = young.or_else(|| self.old.get(&way).copied()) else { return false };
        if young.is_none() {
            self.remember(way, distance);
        }
        found_at >= distance
    }

    /// Remembers what is about to be recorded, whether it changes anything or not.
    pub(super) fn insert(&mut self, key: UrlKey, candidate: &Candidate) {
        self.remember((key, candidate.purpose), candidate.distance());
    }

    fn remember(&mut self, way: (UrlKey, Purpose), distance: Distance) {
        if self.generation_max == 0 {
            return;
        }
        if self.young.len() >= self.generation_max {
            std::mem::swap(&mut self.old, &mut self.young);
            self.young.clear();
        }
        self.young.insert(way, distance);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weburl::{CanonicalRules, CanonicalUrl};

    fn candidate(n: u32, depth: u32) -> Candidate {
        let url = CanonicalUrl::parse(&format!("http://a.test/{n}"), &CanonicalRules::default()).expect("a URL");
        Candidate { depth, ..Candidate::seed(url) }
    }

    fn at(depth: u32) -> Distance {
        Distance { depth, redirects: 0 }
    }

    #[test]
    fn covers_what_is_not_nearer() {
        let mut known = Known::new(10);
        let key = candidate(1, 0).url.key();
        assert!(!known.covers(key, Purpose::Page, at(3)));
        known.insert(key, &candidate(1, 3));
        for (depth, expect) in [(2, false), (3, true), (4, true)] {
            assert_eq!(known.covers(key, Purpose::Page, at(depth)), expect, "depth {depth}");
        }
        assert!(!known.covers(key, Purpose::Sitemap, at(4)), "a page says nothing of a sitemap of its name");
    }

    #[test]
    fn forgets_the_oldest_and_keeps_what_is_found_again() {
        let mut known = Known::new(20);
        for n in 0..100 {
            known.insert(candidate(n, 1).url.key(), &candidate(n, 1));
            assert!(known.covers(candidate(0, 1).url.key(), Purpose::Page, at(1)), "after {n}");
            assert!(known.young.len() + known.old.len() <= 20);
        }
        assert!(!known.covers(candidate(50, 1).url.key(), Purpose::Page, at(1)));
        let mut none = Known::new(0);
        none.insert(candidate(1, 1).url.key(), &candidate(1, 1));
        assert!(!none.covers(candidate(1, 1).url.key(), Purpose::Page, at(1)));
    }
}
