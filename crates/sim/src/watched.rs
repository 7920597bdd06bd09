//! A store between the crawler and its store: it notes what was acknowledged, fails when told to, and lies when sabotaged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::{ContentDigest, PayloadDigest, Position, Visit};
use store::{Batch, Committed, CrawlView, Layer, Queued, Store, StoreError};
use weburl::{SiteKey, UrlKey};

use crate::scenario::Sabotage;

/// When a commit fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// The archive was being written: how much of it is on disk is not known.
    InTheArchive,
    /// The archive is on disk, the state as before.
    BeforeApplying,
    /// All is applied, but nobody is notified.
    AfterApplying,
}

/// The store as the crawler sees it.
pub struct Watched {
    below: Arc<dyn Store>,
    sabotage: Option<Sabotage>,
    notes: Mutex<Notes>,
}

#[derive(Default)]
struct Notes {
    /// How the commit after so many fails.
    failing: Option<(u64, Failing)>,
    acknowledged: Vec<Batch>,
    /// How far each segment of the archive is known to be on disk.
    synced: BTreeMap<String, u64>,
    commits: u64,
    /// Sites that are another's: what is theirs is not this crawler's to hear of.
    away: BTreeSet<SiteKey>,
}

impl Watched {
    /// Watches a store.
    #[must_use]
    pub fn new(below: Arc<dyn Store>, sabotage: Option<Sabotage>) -> Self {
        let mut notes = Notes::default();
        for segment in below.segments().unwrap_or_default() {
            notes.synced.insert(segment.name, segment.length);
        }
        Watched { below, sabotage, notes: Mutex::new(notes) }
    }

    /// Lets the next commit fail.
    pub fn fail_next(&self, failing: Failing) {
        self.fail_after(0, failing);
    }

    /// Lets the commit after so many fail.
    pub fn fail_after(&self, commits: u64, failing: Failing) {
        self.notes().failing = Some((commits, failing));
    }

    /// Lets no commit fail.
    pub fn succeed(&self) {
        self.notes().failing = None;
    }

    /// The store that is watched.
    #[must_use]
    pub fn beneath(&self) -> &dyn Store {
        &*self.below
    }

    /// The batches acknowledged since this was last asked.
    #[must_use]
    pub fn take_acknowledged(&self) -> Vec<Batch> {
        std::mem::take(&mut self.notes().acknowledged)
    }

    /// How far each segment of the archive is known to be on disk.
    #[must_use]
    pub fn synced(&self) -> BTreeMap<String, u64> {
        self.notes().synced.clone()
    }

    /// Gives sites to another, or takes them back.
    pub fn set_away(&self, sites: impl IntoIterator<Item = SiteKey>, is_away: bool) {
        let mut notes = self.notes();
        for site in sites {
            if is_away {
                notes.away.insert(site)
            } else {
                notes.away.remove(&site)
            };
        }
    }

    /// Whether a site is another's.
    #[must_use]
    pub fn is_away(&self, site: SiteKey) -> bool {
        self.notes().away.contains(&site)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the batch, or what the sabotage leaves of it.
    fn apply(&self, batch: &Batch, commits: u64) -> Result<Committed, StoreError> {
        let mut batch = batch.clone();
        match self.sabotage {
            Some(Sabotage::ForgetFound) => {
                let mut seen = commits;
                batch.found.retain(|_| {
                    seen += 1;
                    !seen.is_multiple_of(7)
                });
            }
            Some(Sabotage::HalfBatches) if commits.is_multiple_of(3) => {
                batch.visits.truncate(batch.visits.len() / 2);
                batch.found.truncate(batch.found.len() / 2);
            }
            Some(Sabotage::ForgetAcknowledged) if commits.is_multiple_of(3) => return Ok(Committed::default()),
            Some(Sabotage::ForgetVisits) if commits.is_multiple_of(5) => batch.visits.clear(),
            Some(Sabotage::ForgetSites) => batch.sites.clear(),
            Some(Sabotage::ForgetAsides) => batch.sites.iter_mut().for_each(|record| record.aside = None),
            Some(Sabotage::FurtherAway) if commits.is_multiple_of(3) => {
                batch.found.iter_mut().for_each(|candidate| candidate.depth += 1);
            }
            Some(Sabotage::ForgetPayloads) => batch.holders.clear(),
            Some(Sabotage::ForgetPages) => batch.again.retain(|key| !key.url.is_multiple_of(5)),
            Some(Sabotage::Believe) => batch.sites.iter_mut().for_each(|record| record.misleads = false),
            _ => {}
        }
        self.below.commit(&batch)
    }
}

fn failed() -> StoreError {
    StoreError::Backend { doing: "committing a batch", source: "input/output error".into() }
}

impl Layer for Watched {
    fn below(&self) -> &dyn CrawlView {
        &*self.below
    }

    fn shown_pending(&self, site: SiteKey, after: Option<Position>, max: usize) -> Result<Vec<Queued>, StoreError> {
        if self.is_away(site) { Ok(Vec::new()) } else { self.below.pending(site, after, max) }
    }

    fn shown_earlier(&self, key: UrlKey) -> Result<Vec<Visit>, StoreError> {
        if self.sabotage == Some(Sabotage::ForgetEarlier) { Ok(Vec::new()) } else { self.below.earlier(key) }
    }
}

impl Store for Watched {
    fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut notes = self.notes();
        let failing = match notes.failing.take() {
            Some((0, failing)) => Some(failing),
            later => {
                notes.failing = later.map(|(commits, failing)| (commits - 1, failing));
                None
            }
        };
        notes.commits += 1;
        if failing == Some(Failing::InTheArchive) {
            return Err(failed());
        }
        for segment in &batch.segments {
            notes.synced.insert(segment.name.clone(), segment.length);
        }
        if failing == Some(Failing::BeforeApplying) {
            return Err(failed());
        }
        let mut committed = self.apply(batch, notes.commits)?;
        committed.fresh.retain(|candidate| !notes.away.contains(&candidate.url.key().site));
        committed.relaxed.retain(|relaxed| !notes.away.contains(&relaxed.key.site));
        if failing == Some(Failing::AfterApplying) {
            return Err(failed());
        }
        notes.acknowledged.push(batch.clone());
        if self.sabotage == Some(Sabotage::CommitTwice) && notes.commits.is_multiple_of(5) {
            notes.acknowledged.push(batch.clone());
        }
        Ok(committed)
    }

    fn sites_with_pending(&self, after: Option<SiteKey>, max: usize) -> Result<Vec<SiteKey>, StoreError> {
        let sites = self.below.sites_with_pending(None, usize::MAX)?;
        let own = sites.into_iter().filter(|site| after.is_none_or(|after| *site > after) && !self.is_away(*site));
        Ok(own.take(max).collect())
    }

    fn holder(&self, content: ContentDigest, label: Option<PayloadDigest>) -> Result<Option<UrlKey>, StoreError> {
        self.below.holder(content, label)
    }

    fn view(&self) -> Result<Box<dyn CrawlView>, StoreError> {
        self.below.view()
    }
}
