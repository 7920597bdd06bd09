//! Reading: one snapshot of the engine, so that what is read from several tables belongs together.

mod outlines;
mod scan;

use std::collections::BTreeMap;
use std::ops::Bound::{self, Excluded, Included, Unbounded};
use std::sync::{Arc, Mutex};

use fjall::{Iter, Keyspace, Readable, Slice, Snapshot};
use model::{ContentDigest, PayloadDigest, Position, Purpose, Queued, SiteRecord, Timestamp, Visit, Visited};
use store::{Entry, Segment, StoreError, UrlRecord, VisitSummary};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::codec::{self, Progress};
use crate::keys::{self, QueueKey};
use crate::known::{Fingerprints, KnownTable, Loading, Remembered, Way};
use crate::merged::merged;
use crate::queue::{Generation, Generations};
use crate::tables::Tables;

#[cfg(test)]
thread_local! {
    /// How often this thread looked for a URL through a queue.
    pub(crate) static SEARCHES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    /// How often this thread looked for the first of a queue, past all that has left it.
    static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// The state after some commit.
pub(crate) struct View {
    tables: Arc<Tables>,
    snapshot: Snapshot,
    /// All that have something in the snapshot.
    pub(crate) queue: Generations,
    /// The ranks in the queue of the site that was looked at last.
    ranks: Mutex<Option<(SiteKey, Arc<[u32]>)>>,
}

impl View {
    /// The state after the last commit.
    pub(crate) fn of(tables: &Arc<Tables>) -> Self {
        let snapshot = tables.engine.snapshot();
        View { tables: tables.clone(), snapshot, queue: tables.queue.generations(), ranks: Mutex::default() }
    }

    pub(crate) fn pending(
        &self,
        site: SiteKey,
        after: Option<Position>,
        max: usize,
    ) -> Result<Vec<Queued>, StoreError> {
        let from = after.map_or(Included(keys::first_of(site)), |after| Excluded(keys::queue(site, after)));
        let queue = self.queued_in(from, Included(keys::last_of(site)));
        queue.take(max).map(|entry| entry.and_then(|(key, record)| self.queued(&key, &record))).collect()
    }

    /// Goes from the first entry of one queue to the first of the next, without reading what lies between.
    pub(crate) fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        let mut sites = Vec::new();
        let mut next = after.map_or(Some(SiteKey(0)), following);
        while let Some(site) = next.filter(|_| sites.len() < max) {
            let Some(found) = self.waiting_site(site, SiteKey(u64::MAX))? else { break };
            sites.push(found);
            next = following(found);
        }
        Ok(sites)
    }

    /// The first site from `from` to `to` of which a URL waits. In an old generation there may be millions that have left it before
    /// one that has not, and the engine reads them all: the youngest is asked first, and the others only for what is before.
    fn waiting_site(&self, from: SiteKey, to: SiteKey) -> Result<Option<SiteKey>, StoreError> {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        let mut found = None;
        let mut to = Included(keys::last_of(to));
        for (_, table) in self.queue.iter().rev() {
            if found == Some(from) {
                break;
            }
            if let Some(entry) = self.range(table, Included(keys::first_of(from)), to).next() {
                let (site, _) = place(&self.key(entry)?)?;
                found = Some(site);
                to = Excluded(keys::first_of(site));
            }
        }
        Ok(found)
    }

    pub(crate) fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.record(key)?.map(|record| self.entry(key, record)).transpose()
    }

    pub(crate) fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, |after| Excluded(after.to_bytes()));
        let mut entries = Vec::new();
        for visit in self.range(&self.tables.visits, from, Unbounded) {
            if entries.len() >= max {
                break;
            }
            let (key, record) = self.pair(visit)?;
            let key = url_key(&key, "visits")?;
            if codec::decode_visit(key, &record)?.location.is_none() {
                entries.push(self.get(key)?.ok_or_else(|| damaged("visits", "its URL is missing"))?);
            }
        }
        Ok(entries)
    }

    pub(crate) fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        let record = self.read(&self.tables.sites, &key.to_bytes())?;
        let site = record.map(|record| self.with_robots(&key.to_bytes(), &record)).transpose()?;
        site.map(|site| Ok(SiteRecord { shapes: self.shapes(key, &site.shapes)?, ..site })).transpose()
    }

    pub(crate) fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        let from = after.map_or(Unbounded, |after| Excluded(after.to_bytes()));
        let sites = self.range(&self.tables.sites, from, Unbounded);
        sites
            .take(max)
            .map(|entry| {
                let (key, record) = self.pair(entry)?;
                Ok(SiteRecord { shapes: Vec::new(), ..self.with_robots(&key, &record)? })
            })
            .collect()
    }

    pub(crate) fn holder(
        &self,
        content: ContentDigest,
        label: Option<PayloadDigest>,
    ) -> Result<Option<UrlKey>, StoreError> {
        let mut holder = self.read(&self.tables.contents, content.as_bytes())?;
        if let Some(label) = label.filter(|_| holder.is_none() && self.tables.has_labels) {
            holder = self.read(&self.tables.holders, &label.0)?;
        }
        holder.map(|holder| url_key(&holder, "contents")).transpose()
    }

    pub(crate) fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        let seeds = self.range(&self.tables.meta, Included(keys::seed(0)), Included(keys::seed(u64::MAX)));
        seeds.map(|entry| codec::decode_seed(&self.pair(entry)?.1)).collect()
    }

    pub(crate) fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        let segments = self.range(&self.tables.meta, Included(keys::segment(0)), Included(keys::segment(u32::MAX)));
        segments
            .map(|entry| {
                let (key, record) = self.pair(entry)?;
                let serial = keys::segment_serial(&key).ok_or_else(|| damaged("meta", "a key of the wrong length"))?;
                codec::decode_segment(serial, &record)
            })
            .collect()
    }

    pub(crate) fn progress(&self) -> Result<Progress, StoreError> {
        let progress = self.read(&self.tables.meta, keys::PROGRESS)?;
        codec::decode_progress(&progress.ok_or_else(|| damaged("meta", "the progress is missing"))?)
    }

    /// What is left to do with a visited URL whose links are to be judged again.
    fn visited(&self, key: UrlKey, visit: VisitSummary) -> Result<Visited, StoreError> {
        let outlinks = if visit.has_outlinks { self.outlinks(key)? } else { Vec::new() };
        Ok(Visited { outcome: visit.outcome, outlinks })
    }

    fn outlinks(&self, key: UrlKey) -> Result<Vec<String>, StoreError> {
        let outlinks = self.read(&self.tables.outlinks, &key.to_bytes())?;
        codec::decode_outlinks(&outlinks.ok_or_else(|| damaged("outlinks", "a record is missing"))?)
    }

    /// Which URLs are known. All records are read for it.
    pub(crate) fn known(&self, fingerprints: Fingerprints) -> Result<KnownTable, StoreError> {
        let mut known = Loading::new(fingerprints);
        // A key of another length is damage, which a look-up could not find either; one finds other damage and says so.
        let standing = |key, record: &[u8]| codec::decode_standing(key, record).ok();
        for (generation, table) in self.queue.iter() {
            for entry in self.range::<&[u8]>(table, Unbounded, Unbounded) {
                let (key, record) = self.pair(entry)?;
                // Each URL once: where there is nothing its record is in the table of URLs.
                if let (Some((site, position)), false) = (keys::queued(&key), record.is_empty()) {
                    let key = UrlKey { site, url: position.url };
                    let way = standing(key, &record).map_or(Way::InRecord, |url| Way::of(&url));
                    known.add(key, Remembered { way, generation: Some(generation) });
                }
            }
        }
        for entry in self.range::<&[u8]>(&self.tables.urls, Unbounded, Unbounded) {
            let (key, record) = self.pair(entry)?;
            if let Ok(key) = url_key(&key, "urls") {
                let left = standing(key, &record).filter(|url| !url.queued);
                let remembered = left.map(|url| Remembered { way: Way::of(&url), generation: None });
                known.add(key, remembered.unwrap_or(Remembered::THERE));
            }
        }
        Ok(known.finish())
    }

    /// In which generation of the queue there is something at this place.
    pub(crate) fn generation_of(&self, place: QueueKey) -> Result<Option<Generation>, StoreError> {
        for (generation, table) in self.queue.iter() {
            if self.read(table, &place)?.is_some() {
                return Ok(Some(generation));
            }
        }
        Ok(None)
    }

    /// The record of a URL of which this is remembered.
    pub(crate) fn record_by(&self, key: UrlKey, remembered: Remembered) -> Result<Option<UrlRecord>, StoreError> {
        match (remembered.way, remembered.generation) {
            (Way::Page { distance, is_in_queue: true }, Some(generation)) => {
                let position = Position::of(Purpose::Page, distance.depth, key.url);
                let record = self.read(self.queue.table(generation), &keys::queue(key.site, position))?;
                record.map(|record| self.waiting(key, &record)).transpose()
            }
            (Way::Page { is_in_queue: false, .. }, _) => self.record_outside_queue(key),
            (Way::Page { .. } | Way::InRecord | Way::Shared, _) => self.record(key),
        }
    }

    /// The record of a URL, which is looked for in the table of URLs and then in the queue.
    fn record(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        match self.record_outside_queue(key)? {
            None => self.search(key),
            record => Ok(record),
        }
    }

    /// Looks for a URL at each rank of its site's queue. The engine reads over all that have left the queue so: who commits must not
    /// do this for each link.
    fn search(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        #[cfg(test)]
        SEARCHES.set(SEARCHES.get() + 1);
        let mut rank = Some(0);
        while let Some(tried) = rank {
            let sought = Position { rank: tried, url: key.url };
            let from = Included(keys::queue(key.site, sought));
            let Some(entry) = self.queued_in(from, Included(keys::last_of(key.site))).next() else { break };
            let (found, record) = entry?;
            let (_, found) = place(&found)?;
            if found == sought {
                return self.waiting(key, &record).map(Some);
            }
            rank = if found.rank == tried { tried.checked_add(1) } else { Some(found.rank) };
        }
        Ok(None)
    }

    fn record_outside_queue(&self, key: UrlKey) -> Result<Option<UrlRecord>, StoreError> {
        let record = self.read(&self.tables.urls, &key.to_bytes())?;
        record.map(|record| codec::decode_url(&record)).transpose()
    }

    /// The record of a URL in the queue: what stands there, or else that of the table of URLs.
    fn waiting(&self, key: UrlKey, record: &[u8]) -> Result<UrlRecord, StoreError> {
        if !record.is_empty() {
            return codec::decode_url(record);
        }
        self.record_outside_queue(key)?.ok_or_else(|| damaged("queue", "its URL is missing"))
    }

    fn queued(&self, place: &[u8], record: &[u8]) -> Result<Queued, StoreError> {
        let (site, position) = self::place(place)?;
        let key = UrlKey { site, url: position.url };
        let record = self.waiting(key, record)?;
        let mut queued = Queued { attempts: record.attempts, ..Queued::first(record.candidate) };
        match record.visit {
            None => {}
            Some(visit) if record.again => queued.again = Some(Box::new(self.visit(key, visit.has_outlinks)?)),
            Some(visit) => queued.visited = Some(self.visited(key, visit)?),
        }
        Ok(queued)
    }

    fn entry(&self, key: UrlKey, record: UrlRecord) -> Result<Entry, StoreError> {
        let visit = record.visit.map(|visit| self.visit(key, visit.has_outlinks)).transpose()?;
        Ok(Entry { candidate: record.candidate, attempts: record.attempts, visit, again: record.again })
    }

    /// The visits of a URL before its last.
    pub(crate) fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        let (first, last) = (keys::earlier(key, Timestamp(0)), keys::earlier(key, Timestamp(u64::MAX)));
        let visits = self.range(&self.tables.earlier, Included(first), Included(last));
        let visits = visits.map(|visit| codec::decode_visit(key, &self.pair(visit)?.1));
        let mut visits = visits.collect::<Result<Vec<_>, _>>()?;
        visits.sort_by_key(Visit::order);
        Ok(visits)
    }

    /// The last visit of a URL.
    pub(crate) fn visit(&self, key: UrlKey, has_outlinks: bool) -> Result<Visit, StoreError> {
        let record = self.read(&self.tables.visits, &key.to_bytes())?;
        let mut visit = codec::decode_visit(key, &record.ok_or_else(|| damaged("visits", "a record is missing"))?)?;
        if has_outlinks {
            visit.outlinks = self.outlinks(key)?;
        }
        Ok(visit)
    }

    /// The counters of the shapes of a site, whose record may still have some.
    fn shapes(&self, site: SiteKey, in_record: &[(u64, u32)]) -> Result<Vec<(u64, u32)>, StoreError> {
        let mut shapes: BTreeMap<u64, u32> = in_record.iter().copied().collect();
        let (first, last) = (keys::shape(site, 0), keys::shape(site, u64::MAX));
        for entry in self.range(&self.tables.shapes, Included(first), Included(last)) {
            let (key, count) = self.pair(entry)?;
            let shape = keys::shape_hash(&key).ok_or_else(|| damaged("shapes", "a key of the wrong length"))?;
            shapes.insert(shape, codec::decode_shape(&count)?);
        }
        Ok(shapes.into_iter().collect())
    }

    fn with_robots(&self, key: &[u8], record: &[u8]) -> Result<SiteRecord, StoreError> {
        let robots = self.read(&self.tables.robots, key)?.map(|robots| codec::decode_robots(&robots)).transpose()?;
        Ok(SiteRecord { robots, ..codec::decode_site(record)? })
    }

    fn read(&self, table: &Keyspace, key: &[u8]) -> Result<Option<Slice>, StoreError> {
        self.snapshot.get(table, key).map_err(self.tables.failed("reading"))
    }

    fn range<K: AsRef<[u8]>>(&self, table: &Keyspace, from: Bound<K>, to: Bound<K>) -> Iter {
        self.snapshot.range(table, (from, to))
    }

    /// The entries of the queue between these keys, of all generations.
    fn queued_in<K: AsRef<[u8]>>(
        &self,
        from: Bound<K>,
        to: Bound<K>,
    ) -> impl Iterator<Item = Result<(Slice, Slice), StoreError>> + use<'_, K> {
        let range = |table| self.range(table, from.as_ref(), to.as_ref());
        let ranges: Vec<_> = self.queue.iter().map(|(_, table)| range(table)).collect();
        merged(ranges.into_iter().map(|range| range.map(|entry| self.pair(entry))))
    }

    fn key(&self, entry: fjall::Guard) -> Result<Slice, StoreError> {
        entry.key().map_err(self.tables.failed("reading"))
    }

    fn pair(&self, entry: fjall::Guard) -> Result<(Slice, Slice), StoreError> {
        entry.into_inner().map_err(self.tables.failed("reading"))
    }
}

fn following(site: SiteKey) -> Option<SiteKey> {
    site.0.checked_add(1).map(SiteKey)
}

fn url_key(bytes: &[u8], table: &'static str) -> Result<UrlKey, StoreError> {
    let key = bytes.try_into().map_err(|_| damaged(table, "a key of the wrong length"))?;
    Ok(UrlKey::from_bytes(key))
}

fn place(bytes: &[u8]) -> Result<(SiteKey, Position), StoreError> {
    keys::queued(bytes).ok_or_else(|| damaged("queue", "a key of the wrong length"))
}

fn damaged(table: &'static str, detail: &str) -> StoreError {
    StoreError::Damaged { table, detail: detail.to_owned() }
}
