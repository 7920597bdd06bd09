//! The writer thread of the real shell, without the thread: commits records in batches and answers reads, in order.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::{Event, Record, RecordError, Recorder};
use model::{Position, Timestamp};
use store::{CrawlView, Store, StoreError};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::exit::Exit;
use crate::oracle::Check;
use crate::watched::{Failing, Watched};
use crate::world::World;

/// Orders done in one go, at most.
const ORDERS_AT_ONCE_MAX: u64 = 40;

/// Sites asked for at once: few, so that reading on is needed.
const SITES_FOUND_MAX: usize = 2;

/// URLs found in one event: few, so that commits come in parts.
const FRESH_AT_ONCE_MAX: usize = 3;

/// What the writer is asked to do.
pub(crate) enum Order {
    Record(Box<Record>),
    Load { site: SiteKey, with_record: bool, after: Option<Position>, max: usize },
    FindSites { after: Option<SiteKey> },
    ReadRobots { url: CanonicalUrl },
    FindRules { site: SiteKey },
}

/// The writer with its orders.
pub(crate) struct Writer {
    store: Arc<Watched>,
    recorder: Recorder,
    orders: VecDeque<Order>,
    is_at_work: bool,
}

impl Writer {
    pub(crate) fn new(store: Arc<Watched>, recorder: Recorder) -> Self {
        Writer { store, recorder, orders: VecDeque::new(), is_at_work: false }
    }

    /// Takes an order. True where the writer was idle and must be woken.
    pub(crate) fn add(&mut self, order: Order) -> bool {
        self.orders.push_back(order);
        !std::mem::replace(&mut self.is_at_work, true)
    }

    /// Whether something about a site waits to be recorded.
    pub(crate) fn has_records_of(&self, site: SiteKey) -> bool {
        // Seeds given at the start are nobody's site yet.
        let is_of = |record: &Record| record.site == site && record.site_record.is_some();
        self.orders.iter().any(|order| matches!(order, Order::Record(record) if is_of(record)))
    }

    pub(crate) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// True where it has more to do; else it is idle from now on.
    pub(crate) fn goes_on(&mut self) -> bool {
        self.is_at_work = self.has_orders();
        self.is_at_work
    }

    pub(crate) fn close(self, finished: bool) -> Result<(), RecordError> {
        self.recorder.close(finished)
    }

    /// Carries out some orders, and says what is to be told to the step.
    pub(crate) fn work(&mut self, world: &mut World) -> Result<Vec<Event>, Exit> {
        let mut answers = Vec::new();
        let mut batch = Vec::new();
        for _ in 0..world.machine.between(1, ORDERS_AT_ONCE_MAX) {
            match self.orders.pop_front() {
                Some(Order::Record(record)) => batch.push(*record),
                Some(Order::Load { site, with_record, after, max }) => {
                    self.commit(world, &mut batch, &mut answers)?;
                    answers.push(self.load(site, with_record, after, max).map_err(|error| failed(world, &error))?);
                }
                Some(Order::FindSites { after }) => {
                    self.commit(world, &mut batch, &mut answers)?;
                    let sites = self.store.sites_with_pending(after, SITES_FOUND_MAX);
                    let sites = sites.map_err(|error| failed(world, &error))?;
                    let all = sites.len() < SITES_FOUND_MAX;
                    answers.push(Event::SitesFound { sites, all });
                }
                Some(Order::FindRules { site }) => {
                    self.commit(world, &mut batch, &mut answers)?;
                    let record = self.store.site(site).map_err(|error| failed(world, &error))?;
                    answers.push(Event::RulesFound { site, record: record.map(Box::new) });
                }
                Some(Order::ReadRobots { url }) => {
                    self.commit(world, &mut batch, &mut answers)?;
                    let record = self.store.site(url.key().site).map_err(|error| failed(world, &error))?;
                    answers.push(Event::RobotsRead { url: url.key(), record: record.map(Box::new) });
                }
                None => break,
            }
        }
        self.commit(world, &mut batch, &mut answers)?;
        Ok(answers)
    }

    fn commit(&mut self, world: &mut World, batch: &mut Vec<Record>, answers: &mut Vec<Event>) -> Result<(), Exit> {
        if batch.is_empty() {
            return Ok(());
        }
        let exchanges: Vec<(UrlKey, Timestamp)> = batch
            .iter()
            .flat_map(|record| &record.exchanges)
            .map(|exchange| (exchange.url.key(), exchange.started_at))
            .collect();
        let failing = self.maybe_fail(world);
        match self.recorder.commit(std::mem::take(batch)) {
            Ok((records, committed)) => answers.extend(Event::committed(records, committed, FRESH_AT_ONCE_MAX)),
            Err(error) if failing.is_none() => return Err(failed(world, &error)),
            Err(error) => {
                world.note(format_args!("crash in a commit, {failing:?}: {error}"));
                // What was not applied at all leaves the journal as it was; else any part of it may be there.
                return Err(Exit::Crashed { torn: true });
            }
        }
        for batch in self.store.take_acknowledged() {
            world.oracle.acknowledged(&batch, &exchanges, world.now);
        }
        if world.strikes() { Err(Exit::Crashed { torn: false }) } else { Ok(()) }
    }

    /// Lets the next commit fail in one of all possible ways, if misfortune strikes.
    fn maybe_fail(&mut self, world: &mut World) -> Option<Failing> {
        // A commit is longer than other moments.
        let strikes = (0..5).any(|_| world.strikes());
        if !strikes {
            return None;
        }
        let all = [Failing::InTheArchive, Failing::BeforeApplying, Failing::AfterApplying];
        let failing = world.misfortune.pick(&all);
        self.store.fail_next(failing);
        if let Err(error) = world.disk.note_safe() {
            world.oracle.complain(Check::Durable, world.now, format!("the journal: {error}"));
        }
        Some(failing)
    }

    fn load(&self, site: SiteKey, with_record: bool, after: Option<Position>, max: usize) -> Result<Event, StoreError> {
        let record = if with_record { self.store.site(site)?.map(Box::new) } else { None };
        let queue = self.store.pending(site, after, max)?;
        let all = queue.len() < max;
        Ok(Event::Loaded { site, record, queue, all })
    }
}

/// An error that nobody injected.
fn failed(world: &mut World, error: &dyn std::error::Error) -> Exit {
    world.oracle.complain(Check::Ends, world.now, format!("the crawl breaks off: {error}"));
    Exit::Stuck
}
