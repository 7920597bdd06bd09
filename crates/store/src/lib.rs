//! The state of a crawl: two traits, the in-memory store, and the contract that every store must pass.
//!
//! A store holds *urls* (every URL ever accepted, once), the *queue* of those without an outcome, *visits* (outcomes),
//! *sites* (politeness state) and the committed lengths of the archive's *segments*. Only one method changes them:
//! [`Store::commit`], which is atomic and durable. All others read.
//!
//! Invariant: one thread commits. Stores may rely on it, since they look up before they write. The engine relies on it too: reads
//! through the same thread see every commit acknowledged before them.

mod apply;
mod batch;
pub mod contract;
mod current;
mod error;
mod layer;
mod memory;
mod outline;
mod queued;

use std::collections::{BTreeMap, BTreeSet};

use weburl::{CanonicalUrl, SiteKey, UrlKey};

pub use apply::{Change, Known, Standing, UrlRecord, VisitSummary, Writes, apply, may_change, way_to_new};
pub use batch::{Batch, Committed, Dates, Entry, Moved, Relaxed, Segment, Totals};
pub use current::{current_visit, shown_visit, with_current_visit};
pub use error::StoreError;
pub use layer::Layer;
pub use memory::MemoryStore;
use model::{ContentDigest, Outcome, PayloadDigest, Position, SiteRecord, Visit};
pub use outline::{Mark, Outline, Outlines, Slice};

pub use model::Queued;
pub use queued::aside_with_queue;

/// URLs that are read at once where all are.
const ENTRIES_AT_ONCE: usize = 1_000;

/// The state of a crawl, for reading: finished or running.
pub trait CrawlView: Send + Sync {
    /// The queue of a site in order, after `after`, at most `max` entries.
    ///
    /// # Errors
    /// The store cannot be read.
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError>;

    /// The state of a URL.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError>;

    /// The visits of a URL before its last, in their [order](Visit::order), without outlinks.
    ///
    /// # Errors
    /// The store cannot be read.
    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError>;

    /// When the visits of each round were made, by its number. Rounds without a visit are left out.
    ///
    /// # Errors
    /// The store cannot be read.
    fn rounds(&self) -> Result<BTreeMap<u32, Dates>, StoreError> {
        let mut rounds = BTreeMap::new();
        let mut after = None;
        loop {
            let entries = self.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { return Ok(rounds) };
            after = Some(last.candidate.url.key());
            for visit in entries.into_iter().filter_map(|entry| entry.visit) {
                let earlier = if visit.past.visits > 0 { self.earlier(visit.key)? } else { Vec::new() };
                for visit in earlier.iter().chain([&visit]) {
                    rounds.entry(visit.round).or_insert(Dates::of(visit.at)).add(visit.at);
                }
            }
        }
    }

    /// All URLs in key order, after `after`, at most `max`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn scan(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError>;

    /// The visited URLs without a record in the archive, in key order, after `after`, at most `max`. It does not read unvisited URLs, which
    /// are usually by far the most.
    ///
    /// # Errors
    /// The store cannot be read.
    fn unrecorded(&self, after: Option<UrlKey>, max: usize) -> Result<Vec<Entry>, StoreError>;

    /// The URLs whose last visit had an outcome, or without one those that wait for their first visit; in key order, after `after`, at most
    /// `max`. It reads no others, however rare the state is. `None` if the store has no such index: then [`CrawlView::scan`] finds them.
    ///
    /// # Errors
    /// The store cannot be read.
    fn in_state(
        &self,
        _outcome: Option<Outcome>,
        _after: Option<UrlKey>,
        _max: usize,
    ) -> Result<Option<Vec<Entry>>, StoreError> {
        Ok(None)
    }

    /// All URLs in short, each once, in the order in which they are read fastest; or those of a slice, site by site in key order. `from` is
    /// where to read on, and `max` the most URLs. `None` if the store reads them no faster so: then [`CrawlView::scan`] has them.
    ///
    /// # Errors
    /// The store cannot be read, or `from` is of another view.
    fn outlines(
        &self,
        _slice: Option<Slice>,
        _from: Option<&Mark>,
        _max: usize,
    ) -> Result<Option<Outlines>, StoreError> {
        Ok(None)
    }

    /// The record of a site, with its shapes in the order of their hashes.
    ///
    /// # Errors
    /// The store cannot be read.
    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError>;

    /// The records of all sites in key order, after `after`, at most `max`; without shapes, of which a site may have many.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sites(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteRecord>, StoreError>;

    /// Those of some sites that have a queue.
    ///
    /// # Errors
    /// The store cannot be read.
    fn with_queue(&self, sites: &[SiteKey]) -> Result<BTreeSet<SiteKey>, StoreError> {
        queued::sites_with_queue(sites, |site| self.pending(site, None, 1))
    }

    /// The seeds, in the given order, and the redirect targets of seeds.
    ///
    /// # Errors
    /// The store cannot be read.
    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError>;

    /// The segments of the archive with their committed lengths, by serial number.
    ///
    /// # Errors
    /// The store cannot be read.
    fn segments(&self) -> Result<Vec<Segment>, StoreError>;

    /// Where records lie whose visits were taken back, by segment and offset, in order: a worker was lost with what they repeat. Of several
    /// workers only; those of a segment become ever more. Their URLs were visited again or wait.
    ///
    /// # Errors
    /// The store cannot be read.
    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        Ok(BTreeMap::new())
    }

    /// The URLs of which a segment has a record whose visit was taken back ([`CrawlView::taken_back`]), and no record of a visit that stands:
    /// rows that a dataset has of them there say nothing.
    ///
    /// # Errors
    /// The store cannot be read.
    fn urls_taken_back(&self) -> Result<BTreeMap<u32, BTreeSet<UrlKey>>, StoreError> {
        Ok(BTreeMap::new())
    }

    /// The unique id of this crawl: printable ASCII without spaces, made with the store, and never changed. The archive
    /// has it too.
    ///
    /// # Errors
    /// The store cannot be read.
    fn crawl_id(&self) -> Result<String, StoreError>;

    /// Totals over the crawl.
    ///
    /// # Errors
    /// The store cannot be read.
    fn totals(&self) -> Result<Totals, StoreError>;
}

/// The state of a crawl, for the one program that crawls: further reads, and commits.
pub trait Store: CrawlView {
    /// Applies a batch: all of it or nothing, durable when it returns. Applying the same batch again changes nothing.
    ///
    /// - A moved visit, last or earlier, gets the new place of its record. Nothing else changes.
    /// - A reopened URL loses its visit and is back at its place in the queue, as if it had never been requested.
    /// - A URL to be visited again goes back into the queue, with its visit. The next visit moves that one to the earlier ones.
    /// - A kept URL leaves the queue, if it is there to be visited again.
    /// - A found URL that is unknown is queued, and reported as fresh. If it is known and the new path is shorter (fewer
    ///   links, then fewer redirects), it is relaxed: it takes the new depth. If it was visited and has outlinks, it goes
    ///   back into the queue marked [`Queued::visited`], so its links are judged again even after a crash.
    /// - A settled URL is recorded with its visit if it is unknown, and never queued.
    /// - A visit removes the URL from the queue. There is one exception: a path shorter than the visit's `judged_at` is known, and the
    ///   visit has outlinks. Then the URL stays, marked [`Queued::visited`], and is reported as relaxed. The same holds for
    ///   [`Batch::judged_again`]. So a shorter path that is found while the URL is in flight is not lost.
    ///
    /// # Errors
    /// Nothing was applied. Or, if the error says so, the result is unknown, and the batch may be applied again.
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError>;

    /// The sites with a queue, in key order, after `after`, at most `max`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError>;

    /// The URL that first had this content. For contents recorded by earlier programs, stores know only the label of the payload; they find
    /// those by `label`, if it was computed.
    ///
    /// # Errors
    /// The store cannot be read.
    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError>;

    /// A snapshot of the state after the last commit. Later commits do not change it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError>;
}
