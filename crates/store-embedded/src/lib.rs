//! The [`Store`] trait on an embedded LSM engine (fjall): the state of a crawl in one directory, for one process.
//!
//! ```text
//! DIR/lock           held by the process that has the store open
//! DIR/acknowledged   the number of the last batch acknowledged: what the engine must still have when it is opened
//! DIR/engine/        the engine's journal and tables
//! ```
//!
//! A commit knows from memory which URLs are known and how near they are, looks up the few whose record changes, works out the batch
//! on these records in memory, and writes the differences as one batch of the engine, which is on disk (`fdatasync`) before the
//! commit returns. Reads go through a snapshot of the
//! engine and so see whole commits only.
//!
//! One process may have the directory open to commit; every other gets [`StoreError::InUse`], also for reading. The engine cannot
//! be read beside its writer, because opening it replays and cuts its journal. Any number may read a store that nobody has open
//! ([`EmbeddedStore::open_to_read`]). Each opens the engine in a mirror: a temporary directory with links to the tables, which are
//! never written in place, and copies of the rest.
//!
//! Once a commit has failed the store takes no more of them, since it cannot know how much of the batch reached the
//! disk: it keeps answering with the same kind of error until it is opened again, which settles the question.

mod bytes;
mod codec;
mod commit;
mod empty;
mod error;
mod failure;
mod holder;
mod keys;
mod known;
mod merged;
mod mirror;
mod open;
mod packed;
mod place;
mod queue;
mod read;
mod tables;
mod torn;
mod totals;
mod witness;

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{ContentDigest, Outcome, PayloadDigest, Position, Queued, SiteRecord, Visit};
use store::{Batch, Committed, CrawlView, Entry, Mark, Outlines, Segment, Slice, Store, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::commit::Writer;
use crate::mirror::Mirror;
use crate::read::View;
use crate::tables::Tables;

/// How much memory a store may take.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of table blocks kept in memory.
    pub cache_bytes: u64,
    /// Bytes of a table of the queue kept in memory before they are written out as a table. It is fixed when the store is created.
    pub write_buffer_bytes: u64,
    /// Entries that a table of the queue takes at least, with those that say that a URL has left it, before the next is begun.
    pub generation_urls: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { cache_bytes: 16 << 20, write_buffer_bytes: 8 << 20, generation_urls: 1_000_000 }
    }
}

/// A [`Store`] in a directory.
pub struct EmbeddedStore {
    writer: Mutex<Writer>,
    tables: Arc<Tables>,
    crawl_id: String,
    /// Dropped after the engine, so that who gets the lock finds the engine closed.
    lock: Arc<File>,
}

/// The state after one commit.
pub struct EmbeddedView {
    view: View,
    crawl_id: String,
    /// What a reader has open in place of the store.
    _mirror: Option<Mirror>,
    /// As long as it reads the engine is open. There may be none for a reader.
    _lock: Option<Arc<File>>,
}

impl EmbeddedStore {
    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> EmbeddedView {
        let (view, crawl_id) = (View::of(&self.tables), self.crawl_id.clone());
        EmbeddedView { view, crawl_id, _mirror: None, _lock: Some(self.lock.clone()) }
    }
}

impl CrawlView for EmbeddedStore {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.now().pending(site, after, max)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.now().get(key)
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.now().earlier(key)
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.now().scan(after, max)
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.now().unrecorded(after, max)
    }

    fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        self.now().in_state(outcome, after, max)
    }

    fn outlines(&self, slice: Option<Slice>, from: Option<&Mark>, max: usize) -> Result<Option<Outlines>, StoreError> {
        self.now().outlines(slice, from, max)
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.now().site(key)
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        self.now().sites(after, max)
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.now().seeds()
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.now().segments()
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        Ok(self.crawl_id.clone())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        self.now().totals()
    }
}

impl CrawlView for EmbeddedView {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.view.pending(site, after, max)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.view.get(key)
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.view.earlier(key)
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.view.scan(after, max)
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.view.unrecorded(after, max)
    }

    fn in_state(
        &self,
        outcome: Option<Outcome>,
        after: Option<UrlKey>,
        max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        self.view.in_state(outcome, after, max)
    }

    fn outlines(&self, slice: Option<Slice>, from: Option<&Mark>, max: usize) -> Result<Option<Outlines>, StoreError> {
        let max = max.max(1);
        let outlines = match slice {
            None => self.view.outlines(from, max),
            Some(slice) => self.view.slice(slice, from, max),
        };
        outlines.map(Some)
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.view.site(key)
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        self.view.sites(after, max)
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.view.seeds()
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.view.segments()
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        Ok(self.crawl_id.clone())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        Ok(self.view.progress()?.totals)
    }
}

impl Store for EmbeddedStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        self.writer().commit(&self.tables, batch)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        self.now().view.sites_with_pending(after, max)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.now().view.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        Ok(Box::new(self.now()))
    }
}
