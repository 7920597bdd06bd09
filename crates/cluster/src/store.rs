//! The state as one of several workers sees it: its own sites, and commits that are refused once they are another's.

use std::sync::{Arc, Mutex, PoisonError};

use engine::Control;
use model::{PayloadDigest, Position, Queued, SiteRecord};
use store::{Batch, Committed, Entry, Segment, Store, StoreError, Totals};
use store_postgres::cluster::{Worker, WorkerError};
use tokio::sync::mpsc;
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::ownership::Owned;

/// A [`Store`] for the engine of a worker. It answers for the worker's own sites only; totals are nobody's here, and nothing scans.
pub struct WorkerStore {
    worker: Arc<Worker>,
    owned: Arc<Owned>,
    seeds: Seeds,
}

impl WorkerStore {
    /// The state as `worker` sees it. `orders` go to its engine.
    #[must_use]
    pub fn new(worker: Arc<Worker>, owned: Arc<Owned>, orders: mpsc::Sender<Control>) -> Self {
        WorkerStore { seeds: Seeds { worker: worker.clone(), orders, last: Mutex::new(0) }, worker, owned }
    }

    /// Tells the engine of seeds that it does not know yet.
    ///
    /// # Errors
    /// The store failed.
    pub fn look_for_seeds(&self) -> Result<(), StoreError> {
        self.seeds.look()
    }
}

impl Store for WorkerStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let of_visits = batch.visits.iter().map(|visit| visit.key.site);
        let of_others =
            batch.attempts.iter().map(|(key, _)| key.site).chain(batch.judged_again.iter().map(|(key, _)| key.site));
        let of_sites = batch.sites.iter().map(|record| record.site.key());
        let Some(fence) = self.owned.fence(of_visits.chain(of_others).chain(of_sites)) else {
            return Err(refused(WorkerError::Fenced));
        };
        let mut committed = self.worker.commit(&fence, batch).map_err(refused)?;
        committed.fresh.retain(|candidate| self.owned.crawls(candidate.url.key().site));
        committed.relaxed.retain(|relaxed| self.owned.crawls(relaxed.key.site));
        Ok(committed)
    }

    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        if !self.owned.crawls(site) {
            return Ok(Vec::new());
        }
        let queue = self.worker.pending(site, after, max)?;
        // What is in a queue may be due to a seed, and must not be judged before the seed is known.
        self.seeds.look()?;
        Ok(queue)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        Ok(self.owned.sites(after, max))
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.worker.get(key)
    }

    fn scan(&self, _after: Option<UrlKey>, _max: usize) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        self.worker.site(key)
    }

    fn sites(&self, _after: Option<SiteKey>, _max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        Ok(Vec::new())
    }

    fn holder(&self, digest: PayloadDigest) -> Result<Option<UrlKey>, StoreError> {
        self.worker.holder(digest)
    }

    /// None: the engine is told of them while it runs.
    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        Ok(Vec::new())
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        Ok(Vec::new())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        Ok(Totals::default())
    }
}

/// The seeds of the crawl as far as the engine was told.
struct Seeds {
    worker: Arc<Worker>,
    orders: mpsc::Sender<Control>,
    /// The number of the last one.
    last: Mutex<i64>,
}

impl Seeds {
    fn look(&self) -> Result<(), StoreError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (seeds, number) = self.worker.seeds_behind(*last)?;
        if !seeds.is_empty() {
            // The engine is gone only when the run has ended.
            let _ = self.orders.blocking_send(Control::SeedsAdded(seeds));
            *last = number;
        }
        Ok(())
    }
}

fn refused(error: WorkerError) -> StoreError {
    match error {
        WorkerError::Store(error) => error,
        other => StoreError::Backend { doing: "committing as a worker", source: other.into() },
    }
}

/// Whether a run ended because what it owned is another's: it is to be begun anew.
#[must_use]
pub fn is_refused(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    matches!(source.downcast_ref(), Some(WorkerError::Fenced | WorkerError::Lost))
}
