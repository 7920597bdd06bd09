//! What a crawl keeps: one small trait, the in-memory store, and the contract that every store must pass.
//!
//! A store holds *urls* (every URL ever accepted, once), the *queue* of those without an outcome, *visits* (outcomes),
//! *sites* (politeness state) and the committed lengths of the archive's *segments*. All of it changes by one method,
//! [`Store::commit`], which is atomic and durable; everything else reads.
//!
//! Invariant: one thread commits. Stores may rely on it (they look up before they write), and the engine does: replies
//! to reads that it asks for through the same thread see every commit acknowledged before them.

mod batch;
pub mod contract;
mod current;
mod error;
mod layer;
mod memory;

use weburl::{CanonicalUrl, SiteKey, UrlKey};

pub use batch::{Batch, Committed, Entry, Relaxed, Segment, Totals, is_nearer};
pub use current::{current_visit, says_what_is_there, with_current_visit};
pub use error::StoreError;
pub use layer::Layer;
pub use memory::MemoryStore;
use model::{ContentDigest, PayloadDigest, Position, SiteRecord, Visit};

pub use model::Queued;

/// What a crawl has come to: all that is asked of a finished crawl, and of a running one.
pub trait CrawlView: Send + Sync {
    /// The queue of a site in order, from behind `after`, at most `max` entries.
    ///
    /// # Errors
    /// The store cannot be read.
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError>;

    /// All that is known of a URL.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError>;

    /// The visits of a URL before its last, the oldest first, without outlinks.
    ///
    /// # Errors
    /// The store cannot be read.
    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError>;

    /// All URLs in key order, from behind `after`, at most `max`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError>;

    /// The visited URLs of which the archive has no record, in key order, from behind `after`, at most `max`. URLs that are not
    /// visited are not read for it: mostly they are by far the most.
    ///
    /// # Errors
    /// The store cannot be read.
    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError>;

    /// The record of a site, with its shapes in the order of their hashes.
    ///
    /// # Errors
    /// The store cannot be read.
    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError>;

    /// The records of all sites in key order, from behind `after`, at most `max`; without the shapes, of which a site may have many.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError>;

    /// The seeds, in the order in which they were given, and URLs that seeds redirect to.
    ///
    /// # Errors
    /// The store cannot be read.
    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError>;

    /// The segments of the archive as far as they are committed, by serial number.
    ///
    /// # Errors
    /// The store cannot be read.
    fn segments(&self) -> Result<Vec<Segment>, StoreError>;

    /// What tells this crawl from all others: printable ASCII without spaces, made when the store is, and never changed. The archive
    /// bears it too.
    ///
    /// # Errors
    /// The store cannot be read.
    fn crawl_id(&self) -> Result<String, StoreError>;

    /// How much there is of everything.
    ///
    /// # Errors
    /// The store cannot be read.
    fn totals(&self) -> Result<Totals, StoreError>;
}

/// The state of a crawl for the one program that crawls: what it reads, and how it changes.
pub trait Store: CrawlView {
    /// Applies a batch: all of it or nothing, durable when it returns. Applying the same batch again changes nothing.
    ///
    /// - A reopened URL loses its visit and is back at its place in the queue, as if it had never been asked for.
    /// - A URL that is to be visited again goes back into the queue, with its visit. The next one moves that to the earlier ones.
    /// - A found URL that is unknown is queued, and reported as fresh. A known one whose new way is shorter (fewer
    ///   links, then fewer redirects) is relaxed: it takes the new depth; if it was visited and has outlinks it goes
    ///   back into the queue marked [`Queued::visited`], so that its links are judged again even after a crash.
    /// - A settled URL is recorded with its visit if it is unknown, without ever being queued.
    /// - A visit ends the URL's stay in the queue, unless the URL is known to be nearer than the visit's `judged_at` and
    ///   has outlinks: then it stays, marked [`Queued::visited`], and is reported as relaxed. The same holds for
    ///   [`Batch::judged_again`]. So no shorter way is lost that turns up while the URL is in flight.
    ///
    /// # Errors
    /// Nothing was applied, or, if the error says so, the outcome is unknown and the batch may be applied again.
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError>;

    /// The sites with a queue, in key order, from behind `after`, at most `max`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError>;

    /// The URL that first had this content. Stores that hold what an earlier program recorded know some contents by the label of their
    /// payload only, and find those by `label`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn holder(&self, content: ContentDigest, label: PayloadDigest) -> Result<Option<UrlKey>, StoreError>;

    /// The state after the last commit, which later commits leave alone, for as long as it is kept.
    ///
    /// # Errors
    /// The store cannot be read.
    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError>;
}
