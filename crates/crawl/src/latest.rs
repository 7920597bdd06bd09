//! The URLs that a run visited last, for those who watch it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{Recorded, Sink, SinkError};
use weburl::UrlKey;

/// Visits kept. What pages need to be shown is among them, so they are more than somebody looks at.
pub const LATEST_MAX: usize = 100;

/// The keys of the URLs visited last, the last one first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latest(Arc<Mutex<VecDeque<UrlKey>>>);

impl Latest {
    /// The keys so far.
    pub(crate) fn keys(&self) -> Vec<UrlKey> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn add(&self, keys: impl DoubleEndedIterator<Item = UrlKey>) {
        // Of a large batch only the end is kept.
        let last: Vec<UrlKey> = keys.rev().take(LATEST_MAX).collect();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in last.into_iter().rev() {
            kept.push_front(key);
        }
        kept.truncate(LATEST_MAX);
    }
}

/// Takes note of committed visits.
pub(crate) struct LatestSink(pub(crate) Latest);

impl Sink for LatestSink {
    fn recorded(&mut self, recorded: &Recorded<'_>) -> Result<(), SinkError> {
        let asked_for = recorded.batch.visits.iter().filter(|visit| visit.was_asked_for());
        self.0.add(asked_for.map(|visit| visit.key));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use weburl::SiteKey;

    use super::*;

    fn keys(urls: std::ops::Range<usize>) -> impl DoubleEndedIterator<Item = UrlKey> {
        urls.map(|url| UrlKey { site: SiteKey(1), url: url as u64 })
    }

    #[test]
    fn the_last_visits_are_kept_and_no_more() {
        let latest = Latest::default();
        latest.add(keys(0..3));
        assert_eq!(latest.keys(), keys(0..3).rev().collect::<Vec<_>>());
        latest.add(keys(3..5));
        assert_eq!(latest.keys(), keys(0..5).rev().collect::<Vec<_>>());
        latest.add(keys(5..10 * LATEST_MAX));
        assert_eq!(latest.keys(), keys(9 * LATEST_MAX..10 * LATEST_MAX).rev().collect::<Vec<_>>());
        latest.add(keys(0..1));
        assert_eq!((latest.keys().len(), latest.keys()[0].url), (LATEST_MAX, 0));
    }
}
