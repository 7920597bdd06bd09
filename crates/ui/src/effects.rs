//! What a change would affect. Of a large crawl it is estimated from a sample first, and counted on a thread of its own meanwhile; a page shows
//! how far that is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crawl::opened::Opened;
use crawl::steer::{Counting, Estimate, Estimated};
use crawl::{Affected, Change, made};
use engine::clock::Clock;

/// How long a sample is taken for an estimate.
const SAMPLED_FOR_MAX: Duration = Duration::from_millis(600);
/// How long a request waits for the count. Then its page shows the estimate, and what was counted so far.
const WAIT_MAX: Duration = Duration::from_millis(700);
/// How much longer it waits for a sample that is late, as on a busy machine: without one its page would tell nothing.
const WAIT_FOR_SAMPLE_MAX: Duration = Duration::from_secs(10);
/// The time between two states of a count that are shown.
const SHOWN_EVERY: Duration = Duration::from_millis(100);
/// Sites that are shown, those with the most URLs.
const SITES_SHOWN: usize = 20;

/// The last count. The next one ends it: a crawl is read once at a time.
#[derive(Default)]
pub(crate) struct Effects(Mutex<Option<Arc<Effect>>>);

/// The count of one change.
pub(crate) struct Effect {
    pub(crate) change: Change,
    /// What somebody should know of the change.
    pub(crate) notes: Vec<String>,
    /// URLs that the crawl knew.
    pub(crate) known: u64,
    so_far: Mutex<SoFar>,
    /// The sample was taken, or all was counted.
    advanced: Condvar,
    is_unwanted: AtomicBool,
}

/// How far a count is.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoFar {
    pub(crate) affected: Affected,
    /// The sites with the most affected URLs.
    pub(crate) by_site: Vec<(String, Affected)>,
    pub(crate) looked_at: u64,
    /// No sample is being taken any more.
    is_sampled: bool,
    /// What a sample tells of all of them.
    pub(crate) estimate: Option<Arc<Estimate>>,
    /// Nothing more is counted.
    pub(crate) is_over: bool,
    /// Why it ended early.
    pub(crate) failed: Option<String>,
}

impl Effects {
    /// Begins to count, in place of the last count.
    ///
    /// # Errors
    /// The change cannot be used or needs a running crawl, or the crawl cannot be read.
    pub(crate) fn of(&self, opened: Arc<Opened>, change: &Change, notes: Vec<String>) -> anyhow::Result<Arc<Effect>> {
        let counting = made::counting(&opened, change)?;
        let known = opened.view().totals()?.urls;
        let effect = Arc::new(Effect {
            change: change.clone(),
            notes,
            known,
            so_far: Mutex::new(SoFar::of(&counting)),
            advanced: Condvar::new(),
            is_unwanted: AtomicBool::new(false),
        });
        if let Some(before) = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(effect.clone()) {
            before.is_unwanted.store(true, Ordering::Relaxed);
        }
        let counted = effect.clone();
        std::thread::Builder::new().name("effect".to_owned()).spawn(move || counted.count(&opened, counting))?;
        Ok(effect)
    }

    /// Ends the count: a change is made now. It needs the state, and the numbers are of the crawl before.
    pub(crate) fn end(&self) {
        if let Some(last) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            last.is_unwanted.store(true, Ordering::Relaxed);
        }
    }
}

impl Effect {
    /// How far the count is, after a moment if it goes on.
    pub(crate) fn so_far(&self) -> SoFar {
        let wait = |so_far, max, goes_on: fn(&mut SoFar) -> bool| {
            self.advanced
                .wait_timeout_while(so_far, max, goes_on)
                .map_or_else(|poisoned| poisoned.into_inner().0, |woken| woken.0)
        };
        let so_far = wait(self.lock(), WAIT_MAX, |so_far| !so_far.is_over);
        wait(so_far, WAIT_FOR_SAMPLE_MAX, |so_far| !so_far.is_sampled).clone()
    }

    fn lock(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, opened: &Opened, mut counting: Counting) {
        let clock = Clock::start();
        let mut shown = clock.now();
        let mut failed = None;
        let goes_on = || clock.now().since(shown) < SAMPLED_FOR_MAX && !self.is_unwanted.load(Ordering::Relaxed);
        match counting.estimate(opened.view(), &goes_on) {
            Ok(estimate) => self.lock().estimate = estimate.map(Arc::new),
            Err(error) => failed = Some(error.to_string()),
        }
        self.lock().is_sampled = true;
        self.advanced.notify_all();
        while failed.is_none() && !counting.is_complete() {
            if self.is_unwanted.load(Ordering::Relaxed) {
                failed = Some("another change was looked at, or a change was made".to_owned());
            } else if let Err(error) = counting.look_on(opened.view()) {
                failed = Some(error.to_string());
            } else if clock.now().since(shown) >= SHOWN_EVERY {
                shown = clock.now();
                self.lock().go_on(&counting);
            }
        }
        let mut so_far = self.lock();
        so_far.go_on(&counting);
        (so_far.is_over, so_far.failed) = (true, failed);
        drop(so_far);
        self.advanced.notify_all();
    }
}

impl SoFar {
    fn of(counting: &Counting) -> Self {
        let is_complete = counting.is_complete();
        let mut so_far = SoFar { is_over: is_complete, is_sampled: is_complete, ..SoFar::default() };
        so_far.go_on(counting);
        so_far
    }

    fn go_on(&mut self, counting: &Counting) {
        self.affected = counting.affected();
        self.by_site = counting.by_site(SITES_SHOWN);
        self.looked_at = counting.looked_at();
    }

    /// All URLs were counted: the numbers are exact.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_over && self.failed.is_none()
    }

    /// The sites with the most affected URLs in the sample, with an estimate for each.
    pub(crate) fn estimated_by_site(&self) -> Vec<(String, [Estimated; 3])> {
        self.estimate.as_ref().map(|estimate| estimate.by_site(SITES_SHOWN)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use crawl::{CrawlDir, Options};
    use model::Candidate;
    use store::Batch;
    use weburl::CanonicalUrl;

    use super::*;

    /// URLs that wait: more than are counted before the page is there.
    const WAITING: u32 = 30_000;

    #[test]
    fn a_change_that_is_made_finds_the_state_free() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(root.path());
        dir.create().expect("made");
        dir.write_options(&Options::default()).expect("written");
        let store = dir.open_store(&Options::default()).expect("a state");
        let url = |n: u32| CanonicalUrl::from_canonical(&format!("http://s{}.test/{n}", n % 1_000)).expect("a URL");
        let found = (0..WAITING).map(|n| Candidate::seed(url(n))).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
        drop(store);
        // As it is open where a process that commits can have no state beside it.
        let opened = Arc::new(Opened::new(root.path()).expect("a crawl"));
        let effects = Effects::default();
        let change = Change::Exclude(vec!["*/1".to_owned()]);
        let effect = effects.of(opened, &change, Vec::new()).expect("it is counted");
        effects.end();
        let so_far = effect.so_far();
        assert!(so_far.is_over && so_far.failed.is_some() && !so_far.is_exact(), "{so_far:?}");
        assert!(dir.open_store(&Options::default()).is_ok(), "the state is in use");
    }
}
