//! What a commit looks up, and the places in the queue that it changes.

use model::{Candidate, Purpose, Visit};
use store::{Batch, Change, Committed, StoreError, UrlRecord, VisitSummary, Writes, may_change};
use weburl::UrlKey;

use crate::keys::{self, QueueKey};
use crate::known::{KnownTable, PREFETCHED, Remembered, Way};
use crate::queue::Generation;
use crate::read::View;

/// What a commit writes for the URLs of its batch.
pub(crate) struct Plan<'b> {
    /// The records, in key order.
    pub(crate) urls: Vec<Placed>,
    /// All else.
    pub(crate) writes: Writes<'b>,
}

/// A record that changes, and its places in the queue.
pub(crate) struct Placed {
    pub(crate) change: Change,
    /// Where it stood, if it did.
    pub(crate) left: Option<Place>,
    /// Where it stands from now on, if it does: where it stood, or at its new position in the youngest generation.
    pub(crate) entered: Option<Place>,
}

type Place = (Generation, QueueKey);

impl<'b> Plan<'b> {
    /// Applies a batch to the state before it.
    pub(crate) fn of(batch: &'b Batch, view: &View, known: &KnownTable) -> Result<(Self, Committed), StoreError> {
        let before = Before { view, known };
        let (mut writes, committed) = store::apply(batch, &before)?;
        let changes = std::mem::take(&mut writes.urls).into_iter();
        let urls = changes.map(|change| before.placed(change)).collect::<Result<_, _>>()?;
        Ok((Plan { urls, writes }, committed))
    }

    /// True if a URL whose record changes had outlinks.
    pub(crate) fn had_outlinks(&self, key: UrlKey) -> bool {
        let url = self.urls.binary_search_by_key(&key, |url| url.change.key).ok().map(|at| &self.urls[at]);
        url.and_then(|url| url.change.before?.visit).is_some_and(|visit| visit.has_outlinks)
    }
}

/// The state before a batch. The record of a URL is looked up only where what is remembered of it does not suffice. Whatever is
/// remembered, a URL without a record is unknown: another may have its fingerprint.
struct Before<'a> {
    view: &'a View,
    known: &'a KnownTable,
}

impl Before<'_> {
    fn remembered(&self, key: UrlKey) -> Option<Remembered> {
        self.known.get(self.known.fingerprint(key))
    }

    fn placed(&self, change: Change) -> Result<Placed, StoreError> {
        let Change { key, before, now } = &change;
        let left = match before.filter(|before| before.queued) {
            Some(before) => {
                let place = keys::queue(key.site, before.position);
                let generation = match self.remembered(*key).and_then(|remembered| remembered.generation) {
                    None => self.view.generation_of(place)?,
                    generation => generation,
                };
                generation.map(|generation| (generation, place))
            }
            None => None,
        };
        let entered = now.queued.then(|| {
            let place = keys::queue(key.site, now.candidate.position());
            left.filter(|(_, before)| *before == place).unwrap_or((self.view.queue.youngest(), place))
        });
        Ok(Placed { change, left, entered })
    }
}

impl store::Known for Before<'_> {
    fn url(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        match self.remembered(key) {
            Some(remembered) => self.view.record_by(key, remembered),
            None => Ok(None),
        }
    }

    fn visit(&self, key: UrlKey, summary: VisitSummary) -> Result<Visit, StoreError> {
        self.view.visit(key, summary.has_outlinks)
    }

    fn has(&self, key: UrlKey) -> Result<bool, StoreError> {
        match self.remembered(key) {
            Some(Remembered { way: Way::Page { .. }, .. }) => Ok(true),
            Some(remembered) => Ok(self.view.record_by(key, remembered)?.is_some()),
            None => Ok(false),
        }
    }

    fn may_change(&self, found: &[Candidate]) -> Vec<bool> {
        let mut may = Vec::with_capacity(found.len());
        let mut fingerprints = Vec::with_capacity(PREFETCHED);
        for candidates in found.chunks(PREFETCHED) {
            fingerprints.clear();
            fingerprints.extend(candidates.iter().map(|candidate| self.known.fingerprint(candidate.url.key())));
            self.known.prefetch(fingerprints.iter().copied());
            may.extend(candidates.iter().zip(&fingerprints).map(|(candidate, url)| match self.known.get(*url) {
                Some(Remembered { way: Way::Page { distance, .. }, .. }) => {
                    may_change(candidate, Purpose::Page, distance)
                }
                _ => true,
            }));
        }
        may
    }
}
