//! Reading: one snapshot of the engine, so that what is read from several tables belongs together.

use std::ops::Bound::{self, Excluded, Included, Unbounded};

use fjall::{Iter, Keyspace, Readable, Slice, Snapshot};
use model::{PayloadDigest, Position, Queued, SiteRecord, Visit, Visited};
use store::{Entry, Segment, StoreError};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::codec::{self, Progress, UrlRecord, VisitSummary};
use crate::keys;
use crate::tables::Tables;

/// The state after some commit.
pub(crate) struct View<'a> {
    tables: &'a Tables,
    snapshot: Snapshot,
}

impl<'a> View<'a> {
    /// The state after the last commit.
    pub(crate) fn of(tables: &'a Tables) -> Self {
        View { tables, snapshot: tables.engine.snapshot() }
    }

    pub(crate) fn pending(
        &self,
        site: SiteKey,
        after: Option<Position>,
        max: usize,
    ) -> Result<Vec<Queued>, StoreError> {
        let first = Position { rank: 0, url: 0 };
        let last = Position { rank: u32::MAX, url: u64::MAX };
        let from = after.map_or(Included(keys::queue(site, first)), |after| Excluded(keys::queue(site, after)));
        let queue = self.range(&self.tables.queue, from, Included(keys::queue(site, last)));
        queue.take(max).map(|entry| self.queued(&self.key(entry)?)).collect()
    }

    /// Goes from the first entry of one queue to the first of the next, without reading what lies between.
    pub(crate) fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        let mut sites = Vec::new();
        let mut next = after.map_or(Some(SiteKey(0)), following);
        while let Some(site) = next.filter(|_| sites.len() < max) {
            let Some(entry) = self.range(&self.tables.queue, Included(site.to_bytes()), Unbounded).next() else {
                break;
            };
            let found = queue_key(&self.key(entry)?)?.site;
            sites.push(found);
            next = following(found);
        }
        Ok(sites)
    }

    pub(crate) fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        let record = self.read(&self.tables.urls, &key.to_bytes())?;
        record.map(|record| self.entry(key, codec::decode_url(&record)?)).transpose()
    }

    pub(crate) fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let from = after.map_or(Unbounded, |after| Excluded(after.to_bytes()));
        let urls = self.range(&self.tables.urls, from, Unbounded);
        urls.take(max)
            .map(|entry| {
                let (key, record) = self.pair(entry)?;
                self.entry(url_key(&key, "urls")?, codec::decode_url(&record)?)
            })
            .collect()
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
        record.map(|record| self.with_robots(&key.to_bytes(), &record)).transpose()
    }

    pub(crate) fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        let from = after.map_or(Unbounded, |after| Excluded(after.to_bytes()));
        let sites = self.range(&self.tables.sites, from, Unbounded);
        sites
            .take(max)
            .map(|entry| {
                let (key, record) = self.pair(entry)?;
                self.with_robots(&key, &record)
            })
            .collect()
    }

    pub(crate) fn holder(&self, digest: PayloadDigest) -> Result<Option<UrlKey>, StoreError> {
        let Some(holder) = self.read(&self.tables.holders, &digest.0)? else { return Ok(None) };
        url_key(&holder, "holders").map(Some)
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
    pub(crate) fn visited(&self, key: UrlKey, visit: VisitSummary) -> Result<Visited, StoreError> {
        let outlinks = if visit.has_outlinks { self.outlinks(key)? } else { Vec::new() };
        Ok(Visited { outcome: visit.outcome, outlinks })
    }

    fn outlinks(&self, key: UrlKey) -> Result<Vec<String>, StoreError> {
        let outlinks = self.read(&self.tables.outlinks, &key.to_bytes())?;
        codec::decode_outlinks(&outlinks.ok_or_else(|| damaged("outlinks", "a record is missing"))?)
    }

    fn queued(&self, queue_entry: &[u8]) -> Result<Queued, StoreError> {
        let key = queue_key(queue_entry)?;
        let record = self.read(&self.tables.urls, &key.to_bytes())?;
        let record = codec::decode_url(&record.ok_or_else(|| damaged("queue", "its URL is missing"))?)?;
        let visited = record.visit.map(|visit| self.visited(key, visit)).transpose()?;
        Ok(Queued { candidate: record.candidate, attempts: record.attempts, visited })
    }

    fn entry(&self, key: UrlKey, record: UrlRecord) -> Result<Entry, StoreError> {
        let visit = record.visit.map(|visit| self.visit(key, visit.has_outlinks)).transpose()?;
        Ok(Entry { candidate: record.candidate, attempts: record.attempts, visit })
    }

    fn visit(&self, key: UrlKey, has_outlinks: bool) -> Result<Visit, StoreError> {
        let record = self.read(&self.tables.visits, &key.to_bytes())?;
        let mut visit = codec::decode_visit(key, &record.ok_or_else(|| damaged("visits", "a record is missing"))?)?;
        if has_outlinks {
            visit.outlinks = self.outlinks(key)?;
        }
        Ok(visit)
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

fn queue_key(bytes: &[u8]) -> Result<UrlKey, StoreError> {
    keys::queued_url(bytes).ok_or_else(|| damaged("queue", "a key of the wrong length"))
}

fn damaged(table: &'static str, detail: &str) -> StoreError {
    StoreError::Damaged { table, detail: detail.to_owned() }
}
