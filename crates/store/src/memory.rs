//! The in-memory store, for the simulator and for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Mutex, MutexGuard};

use model::{
    ContentDigest, LimitSet, Outcome, PayloadDigest, Position, Purpose, Queued, Round, SiteRecord, Timestamp, Visit,
};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::{
    Batch, Change, Committed, CrawlView, Entry, Known, Mark, Moved, Outline, Outlines, Segment, Slice, Store,
    StoreError, Totals, UrlRecord, VisitSummary, Writes, apply,
};

/// A [`Store`] in maps.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Clone, Default)]
struct State {
    urls: BTreeMap<UrlKey, UrlRecord>,
    queue: BTreeSet<(SiteKey, Position)>,
    /// The last of each URL that has one.
    visits: BTreeMap<UrlKey, Visit>,
    earlier: BTreeMap<UrlKey, BTreeMap<(u32, Timestamp), Visit>>,
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
            .map(|(site, position)| UrlKey { site: *site, url: position.url })
            .filter_map(|key| Some(state.queued(key, state.urls.get(&key)?)))
            .collect())
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        let state = self.state();
        Ok(state.urls.get(&key).map(|url| state.entry(key, url)))
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        Ok(self.state().earlier.get(&key).map(|visits| visits.values().cloned().collect()).unwrap_or_default())
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        let state = self.state();
        Ok(state.urls.range((from, Unbounded)).take(max).map(|(key, url)| state.entry(*key, url)).collect())
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        let state = self.state();
        let visits = state.visits.range((from, Unbounded)).filter(|(_, visit)| visit.location.is_none());
        Ok(visits.filter_map(|(key, _)| Some(state.entry(*key, state.urls.get(key)?))).take(max).collect())
    }

    fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        let from = after.map_or(Unbounded, Excluded);
        let state = self.state();
        let urls = state.urls.range((from, Unbounded)).map(|(key, url)| state.entry(*key, url));
        Ok(Some(urls.filter(|entry| entry.visit.as_ref().map(|visit| visit.outcome) == outcome).take(max).collect()))
    }

    fn outlines(&self, slice: Option<Slice>, from: Option<&Mark>, max: usize) -> Result<Option<Outlines>, StoreError> {
        let after = from.map(|Mark(bytes)| bytes.as_slice().try_into().map(UrlKey::from_bytes)).transpose();
        let after =
            after.map_err(|_| StoreError::Damaged { table: "urls", detail: "a mark of another view".to_owned() })?;
        let state = self.state();
        let urls = state.urls.range((after.map_or(Unbounded, Excluded), Unbounded));
        let urls = urls.filter(|(key, _)| slice.is_none_or(|slice| slice.has(**key)));
        let outline = |(key, record): (&UrlKey, &UrlRecord)| Outline {
            key: *key,
            url: record.candidate.url.to_string(),
            purpose: record.candidate.purpose,
            outcome: record.visit.map(|visit| visit.outcome),
            again: record.again,
        };
        let urls: Vec<Outline> = urls.take(max).map(outline).collect();
        let next = urls.last().filter(|_| urls.len() == max).map(|last| Mark(last.key.to_bytes().to_vec()));
        Ok(Some(Outlines { urls, next }))
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
            again: state.urls.values().filter(|url| url.again).count() as u64,
            requisites_pending: state
                .urls
                .values()
                .filter(|url| url.queued && url.candidate.purpose == Purpose::Requisite)
                .count() as u64,
            ..Totals::default()
        };
        for record in state.sites.values().filter_map(|record| record.robots.as_ref()) {
            totals.shift_limits(LimitSet::EMPTY, record.limits());
        }
        for (key, visit) in &state.visits {
            let Some(url) = state.urls.get(key) else { continue };
            totals.shift_limits(LimitSet::EMPTY, visit.limits);
            let purpose = url.candidate.purpose;
            let is_of_round = state.round.number == 1 || visit.round == state.round.number;
            let is_page = purpose == Purpose::Page && state.round.number > 1;
            totals.pages_of_round += u64::from(is_page && is_of_round && visit.outcome.is_fetched());
            if is_of_round && visit.outcome != Outcome::NotModified {
                totals.bytes_of_round += visit.length;
            }
            match totals.outcomes_of(purpose) {
                Some(outcomes) => *outcomes.entry(visit.outcome).or_default() += 1,
                None => totals.sitemaps += 1,
            }
            totals.bytes += if purpose == Purpose::Sitemap { 0 } else { visit.length };
        }
        Ok(totals)
    }
}

impl Store for MemoryStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut state = self.state();
        if let Some(round) = &batch.round {
            state.round = round.clone();
        }
        let (writes, committed) = apply(batch, &*state)?;
        state.write(writes);
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

    fn holder(&self, content: ContentDigest, _label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        Ok(self.state().holders.get(&content).copied())
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        Ok(Box::new(MemoryStore { state: Mutex::new(self.state().clone()) }))
    }
}

impl Known for State {
    fn url(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        Ok(self.urls.get(&key).cloned())
    }

    fn visit(&self, key: UrlKey, _summary: VisitSummary) -> Result<Visit, StoreError> {
        let missing = || StoreError::Damaged { table: "visits", detail: "a record is missing".to_owned() };
        self.visits.get(&key).cloned().ok_or_else(missing)
    }
}

impl State {
    fn write(&mut self, writes: Writes<'_>) {
        for Change { key, before, now } in writes.urls {
            if let Some(before) = before.filter(|before| before.queued) {
                self.queue.remove(&(key.site, before.position));
            }
            if now.queued {
                self.queue.insert((key.site, now.standing(key).position));
            }
            if now.visit.is_none() {
                self.visits.remove(&key);
            }
            self.urls.insert(key, now);
        }
        for visit in writes.earlier {
            self.earlier.entry(visit.key).or_default().insert(visit.order(), visit);
        }
        for Moved { key, at, location } in writes.moved {
            let earlier = self.earlier.get_mut(&key).into_iter().flat_map(BTreeMap::values_mut);
            earlier.filter(|visit| visit.at == at).for_each(|visit| visit.location = location);
        }
        let visits = writes.visits.into_iter().map(|(key, visit)| (key, visit.clone()));
        self.holders.retain(|_, holder| !writes.lost.contains(holder));
        self.visits.extend(visits);
        self.visits.extend(writes.amended.into_iter().map(|visit| (visit.key, visit)));
    }

    fn entry(&self, key: UrlKey, url: &UrlRecord) -> Entry {
        let (candidate, attempts) = (url.candidate.clone(), url.attempts);
        Entry { candidate, attempts, visit: self.visits.get(&key).cloned(), again: url.again }
    }

    /// The entry of a URL in the queue.
    fn queued(&self, key: UrlKey, url: &UrlRecord) -> Queued {
        let queued = Queued { attempts: url.attempts, ..Queued::first(url.candidate.clone()) };
        match self.visits.get(&key) {
            Some(visit) => queued.after(visit.clone(), url.again),
            None => queued,
        }
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
