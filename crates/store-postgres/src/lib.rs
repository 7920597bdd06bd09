//! The [`Store`] trait on PostgreSQL (14 or newer): the state of a crawl in one schema of a database.
//!
//! ```text
//! url       every URL known          insert-only, but for shorter ways     queue    what is to be fetched, in order
//! visit     outcomes                 attempt  requests without outcome     site, site_shapes, robots, holder, seed, segment
//! writer    the last commit's number                                       meta     format version, the crawl's identity
//! worker, politeness_group, unplaced, bid, hint, crawl              several workers: [`cluster`]
//! ```
//!
//! **A commit is one transaction of two calls** of functions that the schema holds (`migrations/commit.sql`). `begin_commit` looks up and
//! locks what the batch touches, and inserts the URLs that it found. [`store::apply`] works out here what becomes of them. `end_commit` writes
//! that. A commit is durable (`synchronous_commit`) when it returns. It is numbered. Where the connection is lost, the transaction is begun
//! again on a new one. If its end was lost and it had been applied, its number shows that, and the process still has the answer. A number that
//! does not follow shows that another process wrote, and is refused.
//!
//! **The queue is a table** beside the URLs. To derive it (URLs without a visit) would save its two writes a page, but a
//! restart would read past every visit of a site to find its head; and a relaxed URL that was visited has to be in it.
//!
//! **Totals are counted when they are asked for**, which is when a crawl begins and ends: keeping counters would cost every commit
//! (`docs/decisions/0007-postgres.md` has the figures).
//!
//! Two connections: one commits and holds the advisory lock by which a second process gets [`StoreError::InUse`]; one reads.
//! Each has a thread of its own, since the client library must not be called from within an async runtime, which those
//! who use a store may be in.

mod arguments;
pub mod cluster;
mod commit;
mod error;
mod known;
mod migrations;
mod numbers;
mod outage;
mod outcomes;
mod read;
mod rows;
mod schema;
mod sealed;
mod session;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use database::Address;
use model::{ContentDigest, PayloadDigest, Position, Queued, SiteRecord, Visit};
use store::{Batch, Committed, CrawlView, Dates, Entry, Layer, Segment, Store, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::commit::Writer;
use crate::read::Reader;
use crate::sealed::SealedView;

pub use error::Unusable;
pub use outage::{Reach, answers, is_silent, on_reach};
pub use schema::Schema;
pub use session::errors;

/// A [`Store`] in a schema of a database.
pub struct PostgresStore {
    writer: Mutex<Writer>,
    view: PostgresView,
    is_new: bool,
}

/// The state as one connection reads it: the last commit, or all of one moment.
pub(crate) struct PostgresView {
    reader: Reader,
    crawl_id: String,
}

impl PostgresView {
    pub(crate) fn of_this_moment(reader: &Reader, crawl_id: &str) -> Result<Box<dyn CrawlView>, StoreError> {
        Ok(Box::new(PostgresView { reader: reader.of_this_moment()?, crawl_id: crawl_id.to_owned() }))
    }
}

/// The state of a crawl at this moment, for reading, while others may commit. Of a crawl by several workers it shows only visits whose records
/// are in sealed segments, or that have none. `None` if the schema holds no crawl of this format: [`PostgresStore::open`] makes one, or says
/// why not.
///
/// # Errors
/// The server cannot be reached, or does not let us in.
pub fn read(address: &Address, schema: &Schema) -> Result<Option<Box<dyn CrawlView>>, StoreError> {
    let reader = Reader::open(address, schema)?;
    let Some(crawl_id) = reader.crawl_id()? else { return Ok(None) };
    let reader = reader.of_this_moment()?;
    let open = reader.open_segments()?;
    let below = Box::new(PostgresView { reader, crawl_id });
    Ok(Some(if open.is_empty() { below } else { Box::new(SealedView { below, open }) }))
}

/// The id of the crawl in a schema, if a server has set it up for several workers: only servers change its settings then.
///
/// # Errors
/// The server cannot be reached, or does not let us in.
pub fn crawl_of_workers(address: &Address, schema: &Schema) -> Result<Option<String>, StoreError> {
    Reader::open(address, schema)?.crawl_of_workers()
}

impl PostgresStore {
    /// Opens the store in a schema, which is made if it is not there.
    ///
    /// # Errors
    /// The server cannot be reached, does not let us in or is too old; another process has the store open; the schema is of a newer
    /// format, or holds something else.
    pub fn open(address: &Address, schema: &Schema) -> Result<Self, StoreError> {
        let (writer, opened) = Writer::open(address, schema)?;
        let reader = Reader::open(address, schema)?;
        let view = PostgresView { reader, crawl_id: opened.crawl_id };
        Ok(PostgresStore { writer: Mutex::new(writer), view, is_new: opened.is_new })
    }

    /// Whether nothing had been committed when it was opened.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new
    }
}

impl Layer for PostgresStore {
    fn below(&self) -> &dyn CrawlView {
        &self.view
    }

    fn shown_with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        self.view.with_queue(sites)
    }
}

impl CrawlView for PostgresView {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        self.reader.pending(site, after, max)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.reader.get(key)
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.reader.earlier(key)
    }

    fn rounds(&self) -> Result<BTreeMap<u32, Dates>, StoreError> {
        self.reader.rounds()
    }

    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.reader.scan(after, max)
    }

    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.reader.unrecorded(after, max)
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.reader.site(key)
    }

    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        self.reader.sites(after, max)
    }

    fn with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        self.reader.with_queue(sites)
    }

    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.reader.seeds()
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        self.reader.segments()
    }

    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        self.reader.taken_back()
    }

    fn urls_taken_back(&self) -> Result<BTreeMap<u32, BTreeSet<UrlKey>>, StoreError> {
        self.reader.urls_taken_back()
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        Ok(self.crawl_id.clone())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        self.reader.totals()
    }
}

impl Store for PostgresStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).commit(&[], 0, batch)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        self.view.reader.sites_with_pending(after, max)
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.view.reader.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        PostgresView::of_this_moment(&self.view.reader, &self.view.crawl_id)
    }
}
