//! What a batch does to the URLs it touches, worked out in memory.

use std::collections::BTreeMap;

use model::{Candidate, Distance, Purpose, Queued, Visit, Visited};
use store::{Batch, Committed, Relaxed, StoreError, is_nearer};
use weburl::UrlKey;

use crate::codec::{self, Standing, UrlRecord, VisitSummary};
use crate::filter::Filter;
use crate::read::View;
use crate::tables::Tables;

/// The URLs a batch touches, as they were and as they become.
pub(crate) struct Plan<'a> {
    /// In key order, the order in which the engine reads and writes best.
    pub(crate) urls: BTreeMap<UrlKey, Touched>,
    /// The visits that are recorded; where there are several of a URL, the last.
    pub(crate) visits: BTreeMap<UrlKey, &'a Visit>,
    /// What the commit found out.
    pub(crate) committed: Committed,
}

/// A URL before and after a batch.
#[derive(Default)]
pub(crate) struct Touched {
    /// How it stood; `None` if it was unknown.
    pub(crate) before: Option<Standing>,
    /// What is known of it; `None` while it is unknown, and while its record is not needed.
    pub(crate) now: Option<UrlRecord>,
    /// True where `now` must be written.
    pub(crate) changed: bool,
    /// Its record: most is found again by a way that is no shorter, for which how it stood says enough.
    stored: Option<Vec<u8>>,
}

impl<'a> Plan<'a> {
    /// Looks up all that the batch touches and that may be known, in key order.
    pub(crate) fn load(tables: &Tables, filter: &Filter, batch: &Batch) -> Result<Self, StoreError> {
        let mut keys: Vec<UrlKey> = batch.found.iter().map(|candidate| candidate.url.key()).collect();
        keys.extend(batch.visits.iter().chain(batch.settled.iter().map(|(_, visit)| visit)).map(|visit| visit.key));
        keys.extend(batch.attempts.iter().map(|(key, _)| *key));
        keys.extend(batch.judged_again.iter().map(|(key, _)| *key));
        keys.sort_unstable();
        keys.dedup();
        let load = |key| if filter.may_contain(key) { Touched::load(tables, key) } else { Ok(Touched::default()) };
        let urls = keys.into_iter().map(|key| Ok((key, load(key)?)));
        let urls = urls.collect::<Result<_, StoreError>>()?;
        Ok(Plan { urls, visits: BTreeMap::new(), committed: Committed::default() })
    }

    /// Applies the batch to what was looked up, in the order that the trait's in-memory store sets.
    pub(crate) fn work_out(&mut self, view: &View<'_>, batch: &'a Batch) -> Result<(), StoreError> {
        for visit in &batch.visits {
            self.visit(view, visit)?;
        }
        for (key, attempts) in &batch.attempts {
            self.change(*key, |record| record.attempts = *attempts)?;
        }
        for (key, judged_at) in &batch.judged_again {
            self.leave_queue(view, *key, *judged_at)?;
        }
        for candidate in &batch.found {
            self.find(view, candidate)?;
        }
        for (candidate, visit) in &batch.settled {
            self.settle(candidate, visit);
        }
        Ok(())
    }

    /// The URLs that are known only since this batch.
    pub(crate) fn fresh(&self) -> impl Iterator<Item = UrlKey> {
        self.urls.iter().filter(|(_, url)| url.before.is_none() && url.now.is_some()).map(|(key, _)| *key)
    }

    /// Changes a URL if it is known, and says whether it is.
    fn change(&mut self, key: UrlKey, change: impl FnOnce(&mut UrlRecord)) -> Result<bool, StoreError> {
        let Some(url) = self.urls.get_mut(&key) else { return Ok(false) };
        let Some(record) = url.record()? else { return Ok(false) };
        change(record);
        url.changed = true;
        Ok(true)
    }

    fn visit(&mut self, view: &View<'_>, visit: &'a Visit) -> Result<(), StoreError> {
        let is_known = self.change(visit.key, |record| {
            record.visit = Some(VisitSummary::of(visit));
            record.attempts = visit.attempts;
        })?;
        if is_known {
            self.visits.insert(visit.key, visit);
            self.leave_queue(view, visit.key, visit.judged_at)?;
        }
        Ok(())
    }

    /// Takes a visited URL out of the queue, unless its links were judged from further away than it is.
    fn leave_queue(&mut self, view: &View<'_>, key: UrlKey, judged_at: Distance) -> Result<(), StoreError> {
        let Some(url) = self.urls.get_mut(&key) else { return Ok(()) };
        let Some(record) = url.record()?.filter(|record| record.queued) else { return Ok(()) };
        if record.candidate.distance() < judged_at {
            self.committed.outrun.push(key);
        }
        let has_links = record.visit.is_some_and(|visit| visit.has_outlinks);
        if has_links && record.candidate.distance() < judged_at {
            let queued = Some(queued(view, &self.visits, key, record)?);
            self.committed.relaxed.push(Relaxed { key, was: record.standing(key).position, queued });
        } else {
            record.queued = false;
            url.changed = true;
        }
        Ok(())
    }

    fn find(&mut self, view: &View<'_>, candidate: &Candidate) -> Result<(), StoreError> {
        let key = candidate.url.key();
        let Some(url) = self.urls.get_mut(&key) else { return Ok(()) };
        if url.way().is_some_and(|(purpose, distance)| !is_nearer(candidate, purpose, distance)) {
            return Ok(());
        }
        url.changed = true;
        let Some(record) = url.record()? else {
            url.put(UrlRecord { candidate: candidate.clone(), attempts: 0, queued: true, visit: None });
            self.committed.fresh.push(candidate.clone());
            return Ok(());
        };
        let was = record.standing(key).position;
        record.candidate = candidate.clone();
        record.queued = record.visit.is_none_or(|visit| visit.has_outlinks);
        let queued = record.queued.then(|| queued(view, &self.visits, key, record)).transpose()?;
        self.committed.relaxed.push(Relaxed { key, was, queued });
        Ok(())
    }

    fn settle(&mut self, candidate: &Candidate, visit: &'a Visit) {
        let Some(url) = self.urls.get_mut(&visit.key).filter(|url| url.way().is_none()) else { return };
        let summary = Some(VisitSummary::of(visit));
        url.put(UrlRecord { candidate: candidate.clone(), attempts: 0, queued: false, visit: summary });
        self.visits.insert(visit.key, visit);
    }
}

/// The entry of a URL in the queue. The links of a visit of this batch are not in the store yet.
fn queued(
    view: &View<'_>,
    visits: &BTreeMap<UrlKey, &Visit>,
    key: UrlKey,
    record: &UrlRecord,
) -> Result<Queued, StoreError> {
    let visited = match (record.visit, visits.get(&key)) {
        (None, _) => None,
        (Some(_), Some(visit)) => Some(Visited { outcome: visit.outcome, outlinks: visit.outlinks.clone() }),
        (Some(summary), None) => Some(view.visited(key, summary)?),
    };
    Ok(Queued { candidate: record.candidate.clone(), attempts: record.attempts, visited })
}

impl Touched {
    fn load(tables: &Tables, key: UrlKey) -> Result<Self, StoreError> {
        let stored = tables.urls.get(key.to_bytes()).map_err(tables.failed("looking up a URL"))?;
        let Some(stored) = stored else { return Ok(Touched::default()) };
        let before = Some(codec::decode_standing(key, &stored)?);
        // Copied, since the engine's would keep all of its block in memory.
        Ok(Touched { before, stored: Some(stored.to_vec()), ..Touched::default() })
    }

    /// What is known of it, to be read whole or changed.
    fn record(&mut self) -> Result<Option<&mut UrlRecord>, StoreError> {
        if let Some(stored) = self.stored.take() {
            self.now = Some(codec::decode_url(&stored)?);
        }
        Ok(self.now.as_mut())
    }

    /// By what way it is known.
    fn way(&self) -> Option<(Purpose, Distance)> {
        match (&self.now, self.before) {
            (Some(record), _) => Some((record.candidate.purpose, record.candidate.distance())),
            (None, before) => before.map(|before| (before.purpose, before.distance)),
        }
    }

    fn put(&mut self, record: UrlRecord) {
        self.now = Some(record);
        self.changed = true;
    }
}
