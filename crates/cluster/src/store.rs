//! The state as one of several workers sees it: its own sites, and commits that are refused once another worker owns them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordination::{InForce, News, SeedSite, Spending, Worker, WorkerError};
use engine::{Change, Control, Settings, Spent, Steered};
use fetch::Keyring;
use model::{Candidate, ContentDigest, Outcome, PayloadDigest, Position, Queued, SiteRecord, Visit};
use store::{Batch, Committed, CrawlView, Entry, Segment, Store, StoreError, Totals};
use tokio::sync::{mpsc, oneshot};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey, UserInfo};

use crate::ownership::Owned;

/// Excluded URLs judged again at once.
const UNJUDGED_MAX: usize = 1_000;

/// A [`Store`] for the engine of a worker. It answers for the worker's own sites only. It has no totals and no scans.
pub struct WorkerStore {
    worker: Arc<dyn Worker>,
    owned: Arc<Owned>,
    seeds: Seeds,
    steering: mpsc::Sender<Steered>,
    read: ReadSettings,
}

/// Reads the settings in force.
pub type ReadSettings = Box<dyn Fn(&str) -> Result<Settings, StoreError> + Send + Sync>;

/// The settings of an engine, and how it gets others.
pub struct Steering {
    /// The number of the change after which it has them.
    pub changes: i64,
    /// The settings.
    pub settings: Settings,
    /// Reads later ones.
    pub read: ReadSettings,
    /// Passes them to the engine.
    pub engine: mpsc::Sender<Steered>,
}

/// A change on its way to the engine.
pub struct Changing {
    /// Its number.
    pub number: i64,
    /// Resolves when the engine goes by it.
    pub done: oneshot::Receiver<()>,
}

impl WorkerStore {
    /// The state as `worker` sees it. `orders` and changed settings go to its engine. Secrets for the sites of seeds go to the keyring of
    /// its fetcher.
    #[must_use]
    pub fn new(
        worker: Arc<dyn Worker>,
        owned: Arc<Owned>,
        orders: mpsc::Sender<Control>,
        steering: Steering,
        keyring: Keyring,
    ) -> Self {
        let Steering { changes, settings, read, engine } = steering;
        let known = Mutex::new(SeedsRead { last: 0, round: 1, last_site: 0, changes, settings });
        let seeds = Seeds { worker: worker.clone(), orders, keyring, known };
        WorkerStore { seeds, worker, owned, steering: engine, read }
    }

    /// Sends changed settings to the engine. Links are judged by them from then on.
    ///
    /// # Errors
    /// The store failed, or this program cannot read the settings.
    pub fn look_for_changes(&self) -> Result<Option<Changing>, StoreError> {
        let known = self.seeds.known().changes;
        let Some(InForce { changes: number, settings }) = self.worker.in_force(Some(known))? else { return Ok(None) };
        let settings = (self.read)(&settings)?;
        self.seeds.known().change(number, settings.clone());
        let (is_done, done) = oneshot::channel();
        // The engine is gone only when the run has ended. Nothing is locked here, since its writer thread looks for seeds.
        let change = Change::Settings(Box::new(settings));
        let _ = self.steering.blocking_send(Steered { change, done: is_done });
        Ok(Some(Changing { number, done }))
    }

    /// What other workers have spent of the budgets; `None` if the crawl has none that count for all.
    ///
    /// # Errors
    /// The store failed.
    pub fn spent_elsewhere(&self) -> Result<Option<Spent>, StoreError> {
        let has_budget = self.seeds.known().settings.has_budget();
        has_budget.then(|| self.worker.spent_elsewhere().map(spent)).transpose()
    }

    /// How long a group gets no requests after its owner changed: the longest delay that all sites have. A site keeps a longer Crawl-delay
    /// by its record.
    #[must_use]
    pub fn quiet(&self) -> Duration {
        let known = self.seeds.known();
        let politeness = &known.settings.site_rules.politeness;
        politeness.delay.max(politeness.ip_delay)
    }

    /// Sends new seeds and a new round to the engine, and passwords to the fetcher.
    ///
    /// # Errors
    /// The store failed.
    pub fn look_for_seeds(&self) -> Result<(), StoreError> {
        self.seeds.look_for_sites(&mut self.seeds.known())?;
        self.seeds.look()
    }

    /// Judges URLs again that a worker excluded without knowing all seeds.
    ///
    /// # Errors
    /// The store failed.
    pub fn judge_again(&self) -> Result<(), StoreError> {
        let unjudged = self.worker.unjudged(UNJUDGED_MAX)?;
        if unjudged.is_empty() {
            return Ok(());
        }
        // Behind that: so by all that could not be known then.
        self.seeds.look()?;
        let known = self.seeds.known();
        let belong: Vec<UrlKey> = unjudged.iter().filter(|url| known.includes(url)).map(CanonicalUrl::key).collect();
        drop(known);
        self.worker.judged(&unjudged.iter().map(CanonicalUrl::key).collect::<Vec<_>>(), &belong)
    }
}

impl CrawlView for WorkerStore {
    fn pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        if !self.owned.crawls(site) {
            return Ok(Vec::new());
        }
        let queue = self.worker.pending(site, after, max)?;
        // What is in a queue may be due to a seed, and must not be judged before the seed is known.
        self.seeds.look()?;
        Ok(queue)
    }

    fn get(&self, key: UrlKey) -> Result<Option<Entry>, StoreError> {
        self.worker.get(key)
    }

    fn earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        self.worker.earlier(key)
    }

    fn scan(&self, _after: Option<UrlKey>, _max: usize) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn unrecorded(&self, _after: Option<UrlKey>, _max: usize) -> Result<Vec<Entry>, StoreError> {
        Ok(Vec::new())
    }

    fn site(&self, key: SiteKey) -> Result<Option<SiteRecord>, StoreError> {
        if self.owned.crawls(key) { self.worker.own_site(key) } else { self.worker.site(key) }
    }

    fn sites(&self, _after: Option<SiteKey>, _max: usize) -> Result<Vec<SiteRecord>, StoreError> {
        Ok(Vec::new())
    }

    /// None: the engine receives them while it runs.
    fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        Ok(Vec::new())
    }

    fn segments(&self) -> Result<Vec<Segment>, StoreError> {
        Ok(Vec::new())
    }

    fn taken_back(&self) -> Result<BTreeMap<u32, Vec<u64>>, StoreError> {
        self.worker.taken_back()
    }

    fn crawl_id(&self) -> Result<String, StoreError> {
        Ok(self.worker.crawl_id().to_owned())
    }

    fn totals(&self) -> Result<Totals, StoreError> {
        Ok(Totals::default())
    }
}

impl Store for WorkerStore {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let of_visits = batch.visits.iter().map(|visit| visit.key.site);
        let of_kept = batch.kept.iter().map(|(key, _)| key.site);
        let of_others = batch.attempts.iter().map(|(key, ..)| key.site).chain(of_kept);
        let of_others = of_others.chain(batch.judged_again.iter().map(|(key, _)| key.site));
        let of_sites = batch.sites.iter().map(|record| record.site.key());
        let Some(fence) = self.owned.fence(of_visits.chain(of_others).chain(of_sites)) else {
            return Err(refused(WorkerError::Fenced));
        };
        let (seeds, judged) = self.seeds.judge(batch);
        let batch = judged.as_ref().unwrap_or(batch);
        let mut committed = self.worker.commit(&fence, seeds, batch).map_err(refused)?;
        committed.fresh.retain(|candidate| self.owned.crawls(candidate.url.key().site));
        committed.relaxed.retain(|relaxed| self.owned.crawls(relaxed.key.site));
        Ok(committed)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        Ok(self.owned.sites(after, max))
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.worker.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        self.worker.view()
    }
}

/// The seeds and the round of the crawl as far as the engine knows them.
struct Seeds {
    worker: Arc<dyn Worker>,
    orders: mpsc::Sender<Control>,
    keyring: Keyring,
    known: Mutex<SeedsRead>,
}

struct SeedsRead {
    /// The number of the last one.
    last: i64,
    /// The round of the crawl.
    round: u32,
    /// The number of the last site of one that the keyring has.
    last_site: i64,
    /// The number of the change after which the settings are in force.
    changes: i64,
    /// With all seeds.
    settings: Settings,
}

impl Seeds {
    fn look(&self) -> Result<(), StoreError> {
        let mut known = self.known();
        let News { round, seeds, last } = self.worker.news(known.last)?;
        if round != known.round {
            // The engine is gone only when the run has ended.
            let _ = self.orders.blocking_send(Control::RoundBegan(round));
            known.round = round;
        }
        if !seeds.is_empty() {
            // They are named before the seeds are added; so nothing of a seed is asked for without its password.
            self.look_for_sites(&mut known)?;
            for seed in &seeds {
                known.settings.filter.scope.add_seed(&seed.url);
            }
            let _ = self.orders.blocking_send(Control::SeedsAdded(seeds));
            known.last = last;
        }
        Ok(())
    }

    fn look_for_sites(&self, known: &mut SeedsRead) -> Result<(), StoreError> {
        let (sites, number) = self.worker.seed_sites_behind(known.last_site)?;
        for SeedSite { site, user } in sites {
            let Some(site) = Site::from_text(&site) else { continue };
            self.keyring.add_seed_site(&site);
            if let Some(user) = user.and_then(|user| UserInfo::of(&format!("http://{user}@user.invalid/"))) {
                // The server keeps none that cannot be sent.
                let _ = self.keyring.add_credentials(&site, &user);
            }
        }
        known.last_site = number;
        Ok(())
    }

    /// The number of the last seed, and the batch judged by all seeds if the engine knew fewer of them when it excluded
    /// URLs.
    fn judge(&self, batch: &Batch) -> (i64, Option<Batch>) {
        let known = self.known();
        let belongs =
            |(url, visit): &(Candidate, Visit)| visit.outcome == Outcome::Excluded && known.includes(&url.url);
        let judged = batch.settled.iter().any(belongs).then(|| {
            let mut batch = batch.clone();
            batch.found.extend(batch.settled.extract_if(.., |settled| belongs(settled)).map(|(url, _)| url));
            batch
        });
        (known.last, judged)
    }

    fn known(&self) -> MutexGuard<'_, SeedsRead> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SeedsRead {
    fn change(&mut self, changes: i64, settings: Settings) {
        let before = std::mem::replace(&mut self.settings, settings);
        self.settings.filter.scope = before.filter.scope;
        self.changes = changes;
    }

    fn includes(&self, url: &CanonicalUrl) -> bool {
        let Settings { filter, site_rules, .. } = &self.settings;
        filter.judge(url).is_ok() && site_rules.traps.broken_by(url).is_none()
    }
}

fn refused(error: WorkerError) -> StoreError {
    match error {
        WorkerError::Store(error) => error,
        other => StoreError::Backend { doing: "committing as a worker", source: other.into() },
    }
}

/// What is spent, for the engine.
#[must_use]
pub fn spent(Spending { round, pages, bytes, lasts }: Spending) -> Spent {
    Spent { round, pages, bytes, lasts }
}

/// Whether a run ended because another worker owns its groups: it must be begun again.
#[must_use]
pub fn is_refused(error: &StoreError) -> bool {
    let StoreError::Backend { source, .. } = error else { return false };
    matches!(source.downcast_ref(), Some(WorkerError::Fenced | WorkerError::Lost))
}
