//! Changes of a crawl from outside, while it runs or between two runs.
//!
//! A change is written into `crawl.toml` or committed to the state; then it is in force; then `changes.jsonl` has it with its date; then
//! it is confirmed. So a confirmed change survives any kill. An unconfirmed one may count or not. `crawl.toml` names the last change of
//! settings, in a comment: the next opening of the state writes it into `changes.jsonl` if the process that made it was killed.
//!
//! An order that a run does not confirm, since it was killed or ended, is carried out on the crawl that rests. Its [`OrderId`] in
//! `changes.jsonl` says what of it was done before.

mod change;
mod changed;

mod affected;
mod criterion;
mod estimate;
mod foreseen;
mod order;
mod queue;
mod tally;
mod undo;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::bail;
use engine::clock::Clock;
use engine::{End, Recorder, Steered, Waiting, Work};
use settings::options::Options;
use settings::plan::Plan;
use settings::usage;
use store::Store;
use tokio::sync::{mpsc, oneshot, watch};
use weburl::CanonicalUrl;

use crate::census::Census;
use crate::held::Held;
use crate::left::Rules;
use crate::seeds::{add_seeds, fresh_seeds};
use crate::watched::Watched;
use crate::{CrawlDir, Notice, Unready, fixed};

pub use affected::Counting;
pub use change::Change;
pub use changed::{Changed, Replaced};
pub use estimate::{Estimate, Estimated};
pub use foreseen::{Taker, foreseen};
pub use order::OrderId;
pub use queue::{Removed, Retried};
pub use tally::Affected;
pub use undo::{TakeBack, Undo};

/// Makes changes of a running crawl, one after the other.
pub struct Steering {
    dir: CrawlDir,
    held: Held,
    store: Weak<dyn Store>,
    engine: mpsc::Sender<Steered>,
    stopping: watch::Sender<bool>,
    /// The options in force.
    options: Mutex<Options>,
    clock: Clock,
    /// Of a state in a database.
    census: Option<Census>,
    /// The round of a watch that the run is, if it is one.
    watched: Option<Watched>,
}

impl Steering {
    /// What counts a state in a database; `None` of a state that knows its totals.
    pub(crate) fn census(&self) -> Option<&Census> {
        self.census.as_ref()
    }

    /// The directory of the crawl.
    pub(crate) fn root(&self) -> &Path {
        self.dir.root()
    }

    pub(crate) fn new(
        dir: CrawlDir,
        held: Held,
        store: Weak<dyn Store>,
        options: Options,
        stopping: watch::Sender<bool>,
        clock: Clock,
    ) -> (Self, mpsc::Receiver<Steered>) {
        let (engine, inbox) = mpsc::channel(1);
        let census = options.store.is_some().then(|| Census::new(clock));
        (
            Steering { dir, held, store, engine, stopping, options: Mutex::new(options), clock, census, watched: None },
            inbox,
        )
    }

    /// The run is this round of a watch.
    pub(crate) fn watched(self, watched: Option<Watched>) -> Self {
        Steering { watched, ..self }
    }

    /// Makes a change. When this returns, it is in force and survives any kill. Of a change of the queue it returns the number of URLs. It
    /// blocks the thread, which must not be one that drives tasks.
    ///
    /// # Errors
    /// The change cannot be used, the crawl is ending, or the disk fails.
    pub fn steer(&self, order: &OrderId, change: &Change) -> anyhow::Result<Option<u64>> {
        // It does not wait for a change that the engine has not made yet: while it makes none, this may be what is left to do.
        if *change == Change::Stop {
            return self.stop(order).map(|()| None);
        }
        self.make(&mut self.options.lock().unwrap_or_else(PoisonError::into_inner), order, change)
    }

    /// Takes a change back, as [`Steering::steer`] makes one.
    ///
    /// # Errors
    /// The same; or [`Unready::Outdated`].
    pub fn take_back(&self, order: &OrderId, back: &TakeBack) -> anyhow::Result<()> {
        let mut options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        back.check(&self.dir)?;
        back.by.iter().try_for_each(|change| self.make(&mut options, order, change).map(drop))
    }

    fn stop(&self, order: &OrderId) -> anyhow::Result<()> {
        self.held.check()?;
        Changed::of((order, &Change::Stop), None, self.clock.date()).write(&self.dir)?;
        self.stopping.send_replace(true);
        Ok(())
    }

    fn make(&self, options: &mut Options, order: &OrderId, change: &Change) -> anyhow::Result<Option<u64>> {
        self.held.check()?;
        let mut urls = None;
        match change {
            Change::Stop => return self.stop(order).map(|()| None),
            Change::Seeds(texts) => self.add_seeds(options, texts)?,
            Change::Retry(words) => {
                let (retried, settings) = (Retried::read(words)?, Plan::new(options)?.settings);
                let (count, counted) = counter();
                let begin = move |recorder: &mut Recorder| {
                    let (controls, urls) = retried.begin(recorder.store().as_ref(), &settings)?;
                    count.store(urls, Ordering::Relaxed);
                    Ok(controls)
                };
                self.tell_engine(engine::Change::Work(Work(Box::new(begin))))?;
                urls = Some(counted.load(Ordering::Relaxed));
            }
            Change::Remove(words) => {
                let (removed, now) = (Removed::read(words)?, self.clock.date());
                let (count, counted) = counter();
                let record = move |recorder: &mut Recorder| {
                    let (controls, urls) = removed.record(recorder, now)?;
                    count.store(urls, Ordering::Relaxed);
                    Ok(controls)
                };
                self.tell_engine(engine::Change::Work(Work(Box::new(record))))?;
                urls = Some(counted.load(Ordering::Relaxed));
            }
            _ => {
                if let Some(plan) = change.plan(options)? {
                    // Only a process that has the state may write the settings: a run that has ended has it no more.
                    let _store = self.store.upgrade().ok_or(Unready::Ending)?;
                    let replaced = Replaced::by(change, options, &plan.options)?;
                    let changed = Changed::of((order, change), replaced, self.clock.date());
                    changed.write_settings(&self.dir, &plan.options)?;
                    let settings = match &self.watched {
                        Some(watched) => watched.settings(&plan.settings),
                        None => plan.settings,
                    };
                    let told = self.tell_engine(engine::Change::Settings(Box::new(settings)));
                    if told.is_err() {
                        // The change is made again of the crawl that rests.
                        self.dir.write_options(options)?;
                    }
                    told?;
                    *options = plan.options;
                    changed.write(&self.dir)?;
                    return Ok(None);
                }
            }
        }
        Changed::of((order, change), None, self.clock.date()).write(&self.dir)?;
        Ok(urls)
    }

    /// Why URLs may be left of a crawl that has nothing to do: sites are on hold, or what a site may have is spent.
    pub(crate) fn leaves(&self) -> Option<End> {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        let is_limited = options.max_pages_per_site.is_some();
        match options.hold.is_empty() {
            false => Some(End::Held),
            true => is_limited.then(|| End::Limit("max-pages-per-site", Waiting::default())),
        }
    }

    /// What keeps sites of the crawl from going on now.
    pub(crate) fn keeps_back(&self) -> Rules {
        let options = self.options.lock().unwrap_or_else(PoisonError::into_inner);
        Rules { hold: options.hold.clone(), pages_per_site_max: options.max_pages_per_site }
    }

    fn add_seeds(&self, options: &Options, texts: &[String]) -> anyhow::Result<()> {
        let seeds = seeds_of(options, texts)?;
        let store = self.store.upgrade().ok_or(Unready::Ending)?;
        let known = store.seeds()?.into_iter().collect();
        let fresh = fresh_seeds(seeds, &known, store.as_ref())?;
        drop(store);
        if fresh.is_empty() { Ok(()) } else { Ok(self.tell_engine(engine::Change::Seeds(fresh))?) }
    }

    fn tell_engine(&self, change: engine::Change) -> Result<(), Unready> {
        let (done, is_done) = oneshot::channel();
        self.engine.blocking_send(Steered { change, done }).map_err(|_| Unready::Ending)?;
        is_done.blocking_recv().map_err(|_| Unready::Ending)
    }
}

/// A number that work of the engine tells, and where it is read when that is done.
fn counter() -> (Arc<AtomicU64>, Arc<AtomicU64>) {
    let counted = Arc::new(AtomicU64::new(0));
    (counted.clone(), counted)
}

/// The seeds in texts.
///
/// # Errors
/// One is no URL, or has a secret.
fn seeds_of(options: &Options, texts: &[String]) -> anyhow::Result<Vec<CanonicalUrl>> {
    let mut plan = Plan::new(options)?;
    let seeds = plan.take_seeds(texts)?;
    if !plan.credentials.is_empty() {
        bail!(usage("a seed with a user name or password is for `argiope crawl`, which keeps the secret"));
    }
    Ok(seeds)
}

/// What came of an order for a crawl that rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtRest {
    /// A change of settings counts from the next run on.
    Noted,
    /// So many URLs were changed in the queue.
    Changed(u64),
    /// A run had carried it out before it ended without an answer.
    DoneBefore,
}

/// Changes a crawl that does not run. A change of the queue is made at once, and its URLs are counted; others count from the next run on.
///
/// # Errors
/// The change cannot be used or needs a running crawl, the directory is in use, or the disk fails.
pub fn steer_stopped(dir: &CrawlDir, order: &OrderId, change: &Change) -> anyhow::Result<AtRest> {
    // What cannot be used is refused before the state is touched.
    let before = planned(dir, change).map(|(before, _)| before.options);
    let options = match before {
        Ok(options) => options,
        // In force already, it may be refused a second time.
        Err(error) if Changed::made_by(dir, order)? == 0 => return Err(error),
        Err(_) => dir.secrets()?.put_into(dir.options()?),
    };
    dir.refuse_lost_state(&options)?;
    let store = dir.open_store(&options)?;
    Changed::settle(dir)?;
    // Nobody else can begin or change anything from here on. Until here, others may have.
    if Changed::made_by(dir, order)? > 0 {
        return Ok(AtRest::DoneBefore);
    }
    Ok(make_in(dir, store.as_ref(), (order, change))?.map_or(AtRest::Noted, AtRest::Changed))
}

/// Takes a change of a crawl back that does not run.
///
/// # Errors
/// As [`steer_stopped`]; or [`Unready::Outdated`].
pub fn take_back_stopped(dir: &CrawlDir, order: &OrderId, back: &TakeBack) -> anyhow::Result<()> {
    let options = dir.secrets()?.put_into(dir.options()?);
    dir.refuse_lost_state(&options)?;
    let store = dir.open_store(&options)?;
    Changed::settle(dir)?;
    let done = Changed::made_by(dir, order)?;
    if done == 0 {
        back.check(dir)?;
    }
    back.by.iter().skip(done).try_for_each(|change| make_in(dir, store.as_ref(), (order, change)).map(drop))
}

/// Changes a crawl whose state is open.
fn make_in(dir: &CrawlDir, store: &dyn Store, (order, change): (&OrderId, &Change)) -> anyhow::Result<Option<u64>> {
    let (plan, changed) = planned(dir, change)?;
    let now = Clock::start().date();
    let urls = match (change, changed) {
        (Change::Retry(words), _) => Some(Retried::read(words)?.commit(store, &plan.settings)?),
        (Change::Remove(words), _) => {
            let (_, urls) = Removed::read(words)?.commit(store, now)?;
            Some(urls)
        }
        (Change::Seeds(texts), _) => {
            add_seeds(store, &plan.settings, seeds_of(&plan.options, texts)?, now)?;
            None
        }
        (_, changed) => {
            if let Some(after) = changed {
                let replaced = Replaced::by(change, &plan.options, &after.options)?;
                let changed = Changed::of((order, change), replaced, now);
                changed.write_settings(dir, &after.options)?;
                changed.write(dir)?;
                return Ok(None);
            }
            None
        }
    };
    Changed::of((order, change), None, now).write(dir)?;
    Ok(urls)
}

/// The plan of a crawl that rests, as complete as that of a running one, and the plan after the change, if it changes options.
fn planned(dir: &CrawlDir, change: &Change) -> anyhow::Result<(Plan, Option<Plan>)> {
    let on_disk = dir.options()?;
    fixed::check(dir, &on_disk)?;
    let plan = Plan::new(&dir.secrets()?.put_into(on_disk))?;
    let changed = change.plan(&plan.options)?;
    match change.unready_without_run(dir) {
        Some(unready) => bail!(unready),
        None => Ok((plan, changed)),
    }
}

/// The notice for a crawl that begins while it is paused.
pub(crate) fn paused(dir: &CrawlDir, options: &Options) -> Option<Notice> {
    (options.paused == Some(true)).then(|| Notice::Paused(dir.root().to_owned()))
}
