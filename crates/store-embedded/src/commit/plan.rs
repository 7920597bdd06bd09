//! What a batch does to the URLs it touches, worked out in memory.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use foldhash::HashMap;
use model::{Candidate, Distance, Purpose, Queued, Visit, Visited};
use store::{Batch, Committed, Relaxed, StoreError, is_nearer};
use weburl::UrlKey;

use crate::codec::{Standing, UrlRecord, VisitSummary};
use crate::keys::{self, QueueKey};
use crate::known::{Fingerprint, Known, PREFETCHED, Remembered, Way};
use crate::queue::Generation;
use crate::read::View;

/// The URLs a batch touches, as they were and as they become.
pub(crate) struct Plan<'a> {
    /// Those whose record the batch needs. Most links are found again by a way that is no shorter, for which it suffices to know
    /// the way.
    pub(crate) urls: HashMap<UrlKey, Touched>,
    /// The visits that are recorded; where there are several of a URL, the last.
    pub(crate) visits: BTreeMap<UrlKey, &'a Visit>,
    /// What the commit found out.
    pub(crate) committed: Committed,
    view: &'a View,
    known: &'a Known,
}

/// A URL before and after a batch.
pub(crate) struct Touched {
    /// How it stood; `None` if it was unknown.
    pub(crate) before: Option<Standing>,
    /// Where it stood in the queue, if it did.
    pub(crate) generation: Option<Generation>,
    /// What is known of it.
    pub(crate) now: UrlRecord,
    /// True where `now` must be written.
    pub(crate) changed: bool,
    /// True where the visit of the batch follows one that is to be kept.
    pub(crate) has_earlier: bool,
}

impl<'a> Plan<'a> {
    /// Applies a batch to what is known before it, in the order that the trait's in-memory store sets.
    pub(crate) fn of(batch: &'a Batch, view: &'a View, known: &'a Known) -> Result<Self, StoreError> {
        let (urls, visits, committed) = (HashMap::default(), BTreeMap::new(), Committed::default());
        let mut plan = Plan { urls, visits, committed, view, known };
        for key in &batch.reopened {
            plan.reopen(*key)?;
        }
        for key in &batch.again {
            plan.visit_again(*key)?;
        }
        for visit in &batch.visits {
            plan.visit(visit)?;
        }
        for (key, attempts) in &batch.attempts {
            plan.change(*key, |record| record.attempts = *attempts)?;
        }
        for (key, judged_at) in &batch.judged_again {
            if !plan.touch(*key)?.is_some_and(|url| url.now.again) {
                plan.leave_queue(*key, *judged_at)?;
            }
        }
        let mut fingerprints = Vec::with_capacity(PREFETCHED);
        for candidates in batch.found.chunks(PREFETCHED) {
            fingerprints.clear();
            fingerprints.extend(candidates.iter().map(|candidate| known.fingerprint(candidate.url.key())));
            known.prefetch(fingerprints.iter().copied());
            candidates.iter().zip(&fingerprints).try_for_each(|(candidate, url)| plan.find(candidate, *url))?;
        }
        for (candidate, visit) in &batch.settled {
            plan.settle(candidate, visit)?;
        }
        Ok(plan)
    }

    /// A URL, if it is known.
    fn touch(&mut self, key: UrlKey) -> Result<Option<&mut Touched>, StoreError> {
        Ok(match self.urls.entry(key) {
            Occupied(touched) => Some(touched.into_mut()),
            Vacant(place) => look_up(self.view, key, self.known.get(self.known.fingerprint(key)))?
                .map(|touched| place.insert(touched)),
        })
    }

    /// Changes a URL if it is known, and says whether it is.
    fn change(&mut self, key: UrlKey, change: impl FnOnce(&mut UrlRecord)) -> Result<bool, StoreError> {
        let Some(url) = self.touch(key)? else { return Ok(false) };
        change(&mut url.now);
        url.changed = true;
        Ok(true)
    }

    fn reopen(&mut self, key: UrlKey) -> Result<(), StoreError> {
        let is_over = |url: &UrlRecord| !url.queued && url.visit.is_some_and(|visit| visit.outcome.may_be_reopened());
        if let Some(url) = self.touch(key)?.filter(|url| is_over(&url.now)) {
            // Of one with earlier visits the last one counts on.
            url.now.again = url.now.visit.is_some_and(|visit| visit.round > 1);
            url.now.visit.take_if(|_| !url.now.again);
            (url.now.attempts, url.now.queued, url.changed) = (0, true, true);
        }
        Ok(())
    }

    fn visit_again(&mut self, key: UrlKey) -> Result<(), StoreError> {
        let is_left = |url: &UrlRecord| !url.queued && url.visit.is_some();
        if let Some(url) = self.touch(key)?.filter(|url| is_left(&url.now)) {
            (url.now.attempts, url.now.queued, url.now.again, url.changed) = (0, true, true, true);
        }
        Ok(())
    }

    fn visit(&mut self, visit: &'a Visit) -> Result<(), StoreError> {
        if let Some(url) = self.touch(visit.key)? {
            let before = url.now.visit.replace(VisitSummary::of(visit));
            (url.now.attempts, url.now.again, url.changed) = (visit.attempts, false, true);
            let is_first = self.visits.insert(visit.key, visit).is_none();
            if let Some(url) = self.urls.get_mut(&visit.key).filter(|_| is_first) {
                url.has_earlier = before.is_some();
            }
            self.leave_queue(visit.key, visit.judged_at)?;
        }
        Ok(())
    }

    /// Takes a visited URL out of the queue, unless its links were judged from further away than it is.
    fn leave_queue(&mut self, key: UrlKey, judged_at: Distance) -> Result<(), StoreError> {
        let view = self.view;
        let Some(url) = self.touch(key)?.filter(|url| url.now.queued) else { return Ok(()) };
        let is_nearer = url.now.candidate.distance() < judged_at;
        let has_links = url.now.visit.is_some_and(|visit| visit.has_outlinks);
        if has_links && is_nearer {
            let record = url.now.clone();
            let queued = Some(queued(view, &self.visits, key, &record)?);
            self.committed.relaxed.push(Relaxed { key, was: record.standing(key).position, queued });
        } else {
            url.now.queued = false;
            url.changed = true;
        }
        if is_nearer {
            self.committed.outrun.push(key);
        }
        Ok(())
    }

    fn find(&mut self, candidate: &Candidate, fingerprint: Fingerprint) -> Result<(), StoreError> {
        let key = candidate.url.key();
        let url = match self.urls.entry(key) {
            Occupied(touched) => touched.into_mut(),
            Vacant(place) => match self.known.get(fingerprint) {
                Some(Remembered { way: Way::Page { distance, .. }, .. })
                    if !is_nearer(candidate, Purpose::Page, distance) =>
                {
                    return Ok(());
                }
                remembered => match look_up(self.view, key, remembered)? {
                    Some(touched) => place.insert(touched),
                    None => {
                        place.insert(Touched::fresh(candidate, None));
                        self.committed.fresh.push(candidate.clone());
                        return Ok(());
                    }
                },
            },
        };
        let record = &mut url.now;
        if !is_nearer(candidate, record.candidate.purpose, record.candidate.distance()) {
            return Ok(());
        }
        url.changed = true;
        let was = record.standing(key).position;
        record.candidate = candidate.clone();
        record.queued = record.again || record.visit.is_none_or(|visit| visit.has_outlinks);
        let queued = record.queued.then(|| queued(self.view, &self.visits, key, record)).transpose()?;
        self.committed.relaxed.push(Relaxed { key, was, queued });
        Ok(())
    }

    fn settle(&mut self, candidate: &Candidate, visit: &'a Visit) -> Result<(), StoreError> {
        let is_known = match self.known.get(self.known.fingerprint(visit.key)) {
            Some(Remembered { way: Way::Page { .. }, .. }) => true,
            _ => self.touch(visit.key)?.is_some(),
        };
        if !is_known {
            self.urls.insert(visit.key, Touched::fresh(candidate, Some(VisitSummary::of(visit))));
            self.visits.insert(visit.key, visit);
        }
        Ok(())
    }
}

/// The record of a URL of which this is remembered. Whatever is remembered, a URL without a record is unknown: another may have its
/// fingerprint.
fn look_up(view: &View, key: UrlKey, remembered: Option<Remembered>) -> Result<Option<Touched>, StoreError> {
    let Some(remembered) = remembered else { return Ok(None) };
    let Some(now) = view.record_by(key, remembered)? else { return Ok(None) };
    let before = now.standing(key);
    let generation = match remembered.generation {
        None if before.queued => view.generation_of(keys::queue(key.site, before.position))?,
        remembered => remembered,
    };
    Ok(Some(Touched { before: Some(before), generation, now, changed: false, has_earlier: false }))
}

/// The entry of a URL in the queue. The links of a visit of this batch are not in the store yet.
fn queued(
    view: &View,
    visits: &BTreeMap<UrlKey, &Visit>,
    key: UrlKey,
    record: &UrlRecord,
) -> Result<Queued, StoreError> {
    let mut queued = Queued { attempts: record.attempts, ..Queued::first(record.candidate.clone()) };
    match (record.visit, visits.get(&key)) {
        (None, _) => {}
        (Some(_), Some(visit)) if record.again => queued.again = Some(Box::new((*visit).clone())),
        (Some(_), Some(visit)) => {
            queued.visited = Some(Visited { outcome: visit.outcome, outlinks: visit.outlinks.clone() });
        }
        (Some(summary), None) => view.add_visit(&mut queued, key, summary, record.again)?,
    }
    Ok(queued)
}

impl Touched {
    /// A URL that was unknown, queued unless it is settled at once.
    fn fresh(candidate: &Candidate, visit: Option<VisitSummary>) -> Self {
        let candidate = candidate.clone();
        let now = UrlRecord { candidate, attempts: 0, queued: visit.is_none(), again: false, visit };
        Touched { before: None, generation: None, now, changed: true, has_earlier: false }
    }

    /// Where it stood in the queue, if it did.
    pub(crate) fn place_before(&self, key: UrlKey) -> Option<(Generation, QueueKey)> {
        let before = self.before.filter(|before| before.queued)?;
        Some((self.generation?, keys::queue(key.site, before.position)))
    }

    /// Where it stands in the queue after the batch, if it does: where it stood, or at its new position in the youngest generation.
    pub(crate) fn place_after(&self, key: UrlKey, youngest: Generation) -> Option<(Generation, QueueKey)> {
        let now = Some(self.now.standing(key)).filter(|now| now.queued)?;
        let place = keys::queue(key.site, now.position);
        let stood = self.place_before(key).filter(|(_, before)| *before == place);
        Some(stood.unwrap_or((youngest, place)))
    }
}
