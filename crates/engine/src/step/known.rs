//! URLs found lately with the shortest way known, so that finding one again needs no record.

use std::hint::black_box;

use model::{Candidate, Distance, Purpose};
use weburl::UrlKey;

/// The shortest ways of URLs, each in the place that its hash tells, where the last one stays. What many pages link to comes back soon after
/// it had to give way; and a look-up waits for memory only once.
pub(super) struct ShortestPaths {
    /// Site, URL and path; a path of 0 if there is none.
    places: Vec<[u64; 3]>,
}

impl ShortestPaths {
    /// Remembers at most `max` URLs.
    pub(super) fn new(max: usize) -> Self {
        // Zeros are memory only from when they are written to.
        ShortestPaths { places: vec![[0; 3]; max] }
    }

    /// Reads where these URLs would be remembered. The processor fetches the memory of many at once so, for which every look-up by
    /// itself waits: what it finds decides what is done next.
    pub(super) fn prefetch(&self, keys: impl Iterator<Item = UrlKey>) {
        let read = keys.filter_map(|key| self.places.get(self.place(key)).map(|[site, ..]| site));
        black_box(read.fold(0, |read, site| read ^ site));
    }

    /// True if recording a URL found at this distance changes nothing, because it is known by a way that is no longer. False
    /// where that is not remembered. What is remembered may be longer than what is stored by now, never shorter.
    pub(super) fn covers(&self, key: UrlKey, purpose: Purpose, found_at: Distance) -> bool {
        let found = way(purpose, found_at);
        self.places.get(self.place(key)).is_some_and(|&[site, url, known]| {
            (site, url) == (key.site.0, key.url) && purpose_of(known) == purpose_of(found) && known <= found
        })
    }

    /// Remembers what is about to be recorded, whether it changes anything or not.
    pub(super) fn insert(&mut self, key: UrlKey, candidate: &Candidate) {
        let place = self.place(key);
        if let Some(place) = self.places.get_mut(place) {
            *place = [key.site.0, key.url, way(candidate.purpose, candidate.distance())];
        }
    }

    /// There is one unless there are none.
    fn place(&self, key: UrlKey) -> usize {
        ((u128::from(key.url) * self.places.len() as u128) >> u64::BITS) as usize
    }
}

/// What a URL was found for and how far away, in the order of distances; never 0.
fn way(purpose: Purpose, Distance { depth, redirects }: Distance) -> u64 {
    (purpose as u64 + 1) << PURPOSE_SHIFT | u64::from(depth) << u8::BITS | u64::from(redirects)
}

fn purpose_of(way: u64) -> u64 {
    way >> PURPOSE_SHIFT
}

/// Depth and redirects are below.
const PURPOSE_SHIFT: u32 = u32::BITS + u8::BITS;

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
        let mut known = ShortestPaths::new(10);
        let key = candidate(1, 0).url.key();
        assert!(!known.covers(key, Purpose::Page, at(3)));
        known.insert(key, &candidate(1, 3));
        for (depth, redirects, expect) in [(2, 9, false), (3, 0, true), (3, 1, true), (4, 0, true), (u32::MAX, 0, true)]
        {
            assert_eq!(known.covers(key, Purpose::Page, Distance { depth, redirects }), expect, "{depth} {redirects}");
        }
        assert!(!known.covers(key, Purpose::Sitemap, at(4)), "a page says nothing of a sitemap of its name");
        assert!(!known.covers(UrlKey { url: key.url ^ 1, ..key }, Purpose::Page, at(4)), "another URL of its place");
    }

    #[test]
    fn remembers_the_last_of_each_place() {
        let mut known = ShortestPaths::new(20);
        for n in 0..100 {
            known.insert(candidate(n, 1).url.key(), &candidate(n, 1));
            assert!(known.covers(candidate(n, 1).url.key(), Purpose::Page, at(1)), "{n}");
        }
        let kept = (0..100).filter(|n| known.covers(candidate(*n, 1).url.key(), Purpose::Page, at(1))).count();
        assert!((10..=20).contains(&kept), "{kept}");
        let mut none = ShortestPaths::new(0);
        none.insert(candidate(1, 1).url.key(), &candidate(1, 1));
        assert!(!none.covers(candidate(1, 1).url.key(), Purpose::Page, at(1)));
    }
}
