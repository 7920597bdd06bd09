//! The in-memory store, for the simulator and for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Mutex, MutexGuard};

use model::{
    Candidate, ContentDigest, Distance, LimitSet, PayloadDigest, Position, Purpose, Queued, Round, SiteRecord, Visit,
    Visited,
};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::{Batch, Committed, CrawlView, Entry, Relaxed, Segment, Store, StoreError, Totals, is_nearer};

/// A [`Store`] in maps.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    urls: BTreeMap<UrlKey, Entry>,
    queue: BTreeSet<(SiteKey, Position)>,
    again: BTreeSet<UrlKey>,
    earlier: BTreeMap<UrlKey, Vec<Visit>>,
    round: Round,
    holders: BTreeMap<ContentDigest, UrlKey>,
    sites: BTreeMap<SiteKey, SiteRecord>,
    shapes: BTreeMap<SiteKey, BTreeMap<u64, u32>>,
    segments: BTreeMap<u32, Segment>,
    seeds: Vec<CanonicalUrl>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        MemoryStore::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl CrawlView for MemoryStore {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        let state = self.state();
        let from = after.map_or(Unbounded, |position| Excluded((site, position)));
        let queue = state.queue.range((from, Unbounded)).skip_while(|(key, _)| *key < site);
        let keys = queue.take_while(|(key, _)| *key == site).take(max);
        Ok(keys
            .filter_map(|(site, position)| state.urls.get(&UrlKey { site: *site, url: position.url }))
            .map(|entry| state.queued(entry))
            .collect())
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        Ok(self.state().urls.get(&key).cloned())
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        Ok(self.state().earlier.get(&key).cloned().unwrap_or_default())
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        Ok(self.state().urls.range((from, Unbounded)).take(max).map(|(_, entry)| entry.clone()).collect())
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        let state = self.state();
        let entries = state.urls.range((from, Unbounded)).map(|(_, entry)| entry);
        let is_unrecorded = |entry: &&Entry| entry.visit.as_ref().is_some_and(|visit| visit.location.is_none());
        Ok(entries.filter(is_unrecorded).take(max).cloned().collect())
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        let state = self.state();
        let shapes = state.shapes.get(&key).into_iter().flatten().map(|(shape, count)| (*shape, *count)).collect();
        Ok(state.sites.get(&key).cloned().map(|site| SiteRecord { shapes, ..site }))
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        Ok(self.state().sites.range((from, Unbounded)).take(max).map(|(_, record)| record.clone()).collect())
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        Ok(self.state().seeds.clone())
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        Ok(self.state().segments.values().cloned().collect())
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        Ok("memory".to_owned())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        let state = self.state();
        let mut totals = Totals {
            urls: state.urls.len() as u64,
            pending: state.queue.len() as u64,
            sites: state.sites.len() as u64,
            round: state.round.clone(),
            again: state.again.len() as u64,
            ..Totals::default()
        };
        for record in state.sites.values().filter_map(|record| record.robots.as_ref()) {
            totals.shift_limits(LimitSet::EMPTY, record.limits());
        }
        for entry in state.urls.values() {
            let Some(visit) = &entry.visit else { continue };
            totals.bytes += visit.length;
            totals.shift_limits(LimitSet::EMPTY, visit.limits);
            if entry.candidate.purpose == Purpose::Sitemap {
                totals.sitemaps += 1;
            } else {
                let is_of_round = state.round.number > 1 && visit.round == state.round.number;
                totals.pages_of_round += u64::from(is_of_round && visit.outcome.is_fetched());
                *totals.outcomes.entry(visit.outcome).or_default() += 1;
            }
        }
        Ok(totals)
    }
}

impl Store for MemoryStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut state = self.state();
        let mut committed = Committed::default();
        for key in &batch.reopened {
            state.reopen(*key);
        }
        if let Some(round) = &batch.round {
            state.round = round.clone();
        }
        for key in &batch.again {
            state.visit_again(*key);
        }
        let before = state.visits_before(batch);
        for visit in &batch.visits {
            state.visit(visit, &mut committed);
        }
        state.keep_earlier(before);
        for (key, attempts) in &batch.attempts {
            if let Some(entry) = state.urls.get_mut(key) {
                entry.attempts = *attempts;
            }
        }
        for (key, judged_at) in &batch.judged_again {
            if !state.again.contains(key) {
                state.leave_queue(*key, *judged_at, &mut committed);
            }
        }
        for candidate in &batch.found {
            state.find(candidate, &mut committed);
        }
        for (candidate, visit) in &batch.settled {
            let entry = || Entry { candidate: candidate.clone(), attempts: 0, visit: Some(visit.clone()) };
            state.urls.entry(visit.key).or_insert_with(entry);
        }
        for (digest, holder) in &batch.holders {
            state.holders.entry(*digest).or_insert(*holder);
        }
        for record in &batch.sites {
            state.put_site(record);
        }
        for seed in &batch.seeds {
            if !state.seeds.contains(seed) {
                state.seeds.push(seed.clone());
            }
        }
        for segment in &batch.segments {
            state.segments.insert(segment.serial, segment.clone());
        }
        Ok(committed)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        let mut sites: Vec<SiteKey> = self.state().queue.iter().map(|(site, _)| *site).collect();
        sites.dedup();
        sites.retain(|site| after.is_none_or(|after| *site > after));
        sites.truncate(max);
        Ok(sites)
    }

    fn holder(&self, content: ContentDigest, _label: PayloadDigest) -> Result<Option<UrlKey>, StoreError> {
        Ok(self.state().holders.get(&content).copied())
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        Ok(Box::new(MemoryStore { state: Mutex::new(self.state().clone()) }))
    }
}

impl State {
    fn reopen(&mut self, key: UrlKey) {
        let Some(entry) = self.urls.get_mut(&key) else { return };
        let place = (key.site, entry.candidate.position());
        let is_over = entry.visit.as_ref().is_some_and(|visit| visit.outcome.may_be_reopened());
        if is_over && !self.queue.contains(&place) {
            entry.attempts = 0;
            if entry.visit.as_ref().is_some_and(|visit| visit.round > 1) {
                self.again.insert(key);
            } else {
                entry.visit = None;
            }
            self.queue.insert(place);
        }
    }

    fn visit_again(&mut self, key: UrlKey) {
        let Some(entry) = self.urls.get_mut(&key).filter(|entry| entry.visit.is_some()) else { return };
        if self.queue.insert((key.site, entry.candidate.position())) {
            entry.attempts = 0;
            self.again.insert(key);
        }
    }

    /// The entry of a URL in the queue.
    fn queued(&self, entry: &Entry) -> Queued {
        let is_again = self.again.contains(&entry.candidate.url.key());
        let visited = |visit: &Visit| Visited { outcome: visit.outcome, outlinks: visit.outlinks.clone() };
        Queued {
            candidate: entry.candidate.clone(),
            attempts: entry.attempts,
            visited: entry.visit.as_ref().filter(|_| !is_again).map(visited),
            again: entry.visit.clone().filter(|_| is_again).map(Box::new),
        }
    }

    /// The visits that those of a batch replace as the last.
    fn visits_before(&self, batch: &Batch) -> BTreeMap<UrlKey, Visit> {
        let before = batch.visits.iter().filter_map(|visit| self.urls.get(&visit.key)?.visit.clone());
        before.map(|visit| (visit.key, Visit { outlinks: Vec::new(), ..visit })).collect()
    }

    /// Keeps them, except those that are still the last.
    fn keep_earlier(&mut self, before: BTreeMap<UrlKey, Visit>) {
        for (key, visit) in before {
            let last = self.urls.get(&key).and_then(|entry| entry.visit.as_ref());
            if last.is_some_and(|last| last.at != visit.at) {
                let earlier = self.earlier.entry(key).or_default();
                earlier.retain(|other| other.at != visit.at);
                earlier.push(visit);
                earlier.sort_by_key(|visit| visit.at);
            }
        }
    }

    fn visit(&mut self, visit: &Visit, committed: &mut Committed) {
        if let Some(entry) = self.urls.get_mut(&visit.key) {
            entry.visit = Some(visit.clone());
            entry.attempts = visit.attempts;
            self.again.remove(&visit.key);
            self.leave_queue(visit.key, visit.judged_at, committed);
        }
    }

    /// Removes a visited URL from the queue, unless its links were judged at a greater depth than it has now.
    fn leave_queue(&mut self, key: UrlKey, judged_at: Distance, committed: &mut Committed) {
        let Some(entry) = self.urls.get(&key) else { return };
        let position = entry.candidate.position();
        if !self.queue.contains(&(key.site, position)) {
            return;
        }
        if entry.candidate.distance() < judged_at {
            committed.outrun.push(key);
        }
        let links = entry.visit.as_ref().is_some_and(|visit| !visit.outlinks.is_empty());
        if links && entry.candidate.distance() < judged_at {
            let queued = Some(self.queued(entry));
            committed.relaxed.push(Relaxed { key, was: position, queued });
        } else {
            self.queue.remove(&(key.site, position));
        }
    }

    fn find(&mut self, candidate: &Candidate, committed: &mut Committed) {
        let key = candidate.url.key();
        let Some(known) = self.urls.get_mut(&key) else {
            self.urls.insert(key, Entry { candidate: candidate.clone(), attempts: 0, visit: None });
            self.queue.insert((key.site, candidate.position()));
            committed.fresh.push(candidate.clone());
            return;
        };
        if !is_nearer(candidate, known.candidate.purpose, known.candidate.distance()) {
            return;
        }
        let was = known.candidate.position();
        known.candidate = candidate.clone();
        let again = self.again.contains(&key) || known.visit.as_ref().is_none_or(|visit| !visit.outlinks.is_empty());
        let entry = known.clone();
        self.queue.remove(&(key.site, was));
        if again {
            self.queue.insert((key.site, candidate.position()));
        }
        committed.relaxed.push(Relaxed { key, was, queued: again.then(|| self.queued(&entry)) });
    }

    fn put_site(&mut self, record: &SiteRecord) {
        let mut record = record.clone();
        let key = record.site.key();
        if record.robots.is_none() {
            record.robots = self.sites.get(&key).and_then(|known| known.robots.clone());
        }
        self.shapes.entry(key).or_default().extend(std::mem::take(&mut record.shapes));
        self.sites.insert(key, record);
    }
}
