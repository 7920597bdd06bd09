//! The longest queues of a crawl's sites, by a sample of its URLs. The last ones are given again until they have paid for themselves.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use engine::clock::Clock;
use model::Timestamp;
use store::{CrawlView, Outlines, Slice, StoreError};
use weburl::SiteKey;

use crate::survey::Effort;

/// URLs of a sample.
const SAMPLE_URLS: u64 = 20_000;
/// URLs read at once.
const URLS_AT_ONCE: usize = 256;
/// The most queues that are given.
const QUEUES_MAX: usize = 64;
/// Standard errors that a queue may be longer or shorter than its sample says: it counts as that much shorter.
const STANDARD_ERRORS: u64 = 2;

/// The queue of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queue {
    pub(crate) site: SiteKey,
    /// URLs in it, at least.
    pub(crate) urls: u64,
}

/// The longest queues that were looked for last.
pub(crate) struct Queues {
    clock: Clock,
    kept: Mutex<(Timestamp, Vec<Queue>)>,
}

impl Queues {
    pub(crate) fn new(clock: Clock) -> Self {
        Queues { clock, kept: Mutex::default() }
    }

    /// Those of a state with so many URLs, the longest first; none of a state that has no sample.
    ///
    /// # Errors
    /// The state cannot be read.
    pub(crate) fn of(&self, view: &dyn CrawlView, urls: u64) -> Result<Vec<Queue>, StoreError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (due, last) = &mut *kept;
        if self.clock.now() >= *due {
            let effort = Effort::begin();
            *last = longest(view, urls, SAMPLE_URLS)?;
            *due = self.clock.now() + effort.holds();
        }
        Ok(last.clone())
    }
}

fn longest(view: &dyn CrawlView, urls: u64, sample: u64) -> Result<Vec<Queue>, StoreError> {
    let parts = urls.div_ceil(sample).max(1);
    let mut by_site: BTreeMap<SiteKey, u64> = BTreeMap::new();
    let mut from = None;
    loop {
        let found = view.outlines(Some(Slice::one_of(parts)), from.as_ref(), URLS_AT_ONCE)?;
        let Some(Outlines { urls, next }) = found else { return Ok(Vec::new()) };
        for waiting in urls.iter().filter(|url| url.outcome.is_none() || url.again) {
            *by_site.entry(waiting.key.site).or_default() += 1;
        }
        from = next;
        if from.is_none() {
            break;
        }
    }
    let of_site = |(site, sampled)| Queue { site, urls: at_least(sampled, parts) };
    let mut queues: Vec<Queue> = by_site.into_iter().map(of_site).filter(|queue| queue.urls > 0).collect();
    queues.sort_by_key(|queue| std::cmp::Reverse(queue.urls));
    queues.truncate(QUEUES_MAX);
    Ok(queues)
}

/// URLs of which one of `parts` was seen so often, at least.
fn at_least(seen: u64, parts: u64) -> u64 {
    let error = if parts == 1 { 0 } else { STANDARD_ERRORS * seen.isqrt() };
    seen.saturating_sub(error) * parts
}

#[cfg(test)]
mod tests {
    use model::{Candidate, Outcome, Visit};
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    fn page(site: &str, n: usize) -> CanonicalUrl {
        CanonicalUrl::from_canonical(&format!("http://{site}.test/{n}")).expect("a URL")
    }

    /// Queues of 600 and 300 URLs, and a site without one.
    fn store() -> MemoryStore {
        let store = MemoryStore::new();
        let found = (0..600).map(|n| page("long", n)).chain((0..300).map(|n| page("short", n)));
        let done = page("done", 0);
        let found = found.chain([done.clone()]).map(Candidate::seed).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("committed");
        let visits = vec![Visit::without_fetch(done.key(), Outcome::Html, String::new(), Timestamp(1))];
        store.commit(&Batch { visits, ..Batch::default() }).expect("committed");
        store
    }

    #[test]
    fn all_queues_of_a_small_crawl_are_counted_the_longest_first() {
        let found = longest(&store(), 901, 20_000).expect("read");
        let expect = [("long", 600), ("short", 300)].map(|(site, urls)| (page(site, 0).key().site, urls));
        assert_eq!(found.iter().map(|queue| (queue.site, queue.urls)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn a_sample_of_a_large_one_tells_about_how_long_they_are_and_not_more() {
        let found = longest(&store(), 901, 200).expect("read");
        assert_eq!(found.first().map(|queue| queue.site), Some(page("long", 0).key().site), "{found:?}");
        assert!(found.iter().all(|queue| queue.urls <= 600) && found[0].urls >= 300, "{found:?}");
        for (seen, parts, expect) in [(0, 1, 0), (3, 1, 3), (1, 50, 0), (4, 50, 0), (100, 50, 4_000)] {
            assert_eq!(at_least(seen, parts), expect, "{seen} of each {parts}th");
        }
    }
}
