//! Keeps the engine of a worker in line with the shared state.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use coordination::{Epoch, GroupName, Hint, WorkerError, WorkerId};
use engine::Control;
use tokio::sync::mpsc;
use tokio::sync::oneshot::error::TryRecvError;
use weburl::SiteKey;

use super::{Life, TICK, TICKS_RARE};
use crate::happening::Happening;
use crate::lease;
use crate::sealing::Sealing;
use crate::store::{Changing, WorkerStore};

/// After how many leases a worker reads all its queues: a hint may have been lost.
const LEASES_TO_LOOK_AGAIN: u32 = 4;

/// Hints read at once.
const HINTS_MAX: usize = 10_000;

/// Groups without an owner read at once.
const OWNERLESS_MAX: usize = 1_000;

/// Groups being handed over at once, unless the worker leaves.
const HAND_OVERS_MAX: usize = 16;
/// Keeps the engine in line with the shared state.
pub(super) struct Rule<'l> {
    life: &'l Life,
    orders: mpsc::Sender<Control>,
    store: Arc<WorkerStore>,
    seal: Box<dyn Fn(u32) + Send>,
    /// Its groups that must not get requests yet, with the time from which they may.
    arriving: HashMap<GroupName, (Duration, Epoch)>,
    /// Groups being released: their next owners, and the sites with something under way.
    moving: HashMap<GroupName, (Option<WorkerId>, BTreeSet<SiteKey>)>,
    /// Sites with nothing under way that move to another address.
    departing: BTreeSet<SiteKey>,
    /// Sites whose records others have changed. The engine lets go of them, since it would go by its own record and write that. Then they are
    /// its own again.
    rereading: BTreeSet<SiteKey>,
    sealing: Sealing,
    /// Groups given away since that was told last, by their next owners.
    handed_over: BTreeMap<Option<WorkerId>, usize>,
    /// A change for the engine to apply. The engine reports when it has.
    changing: Option<Changing>,
    /// When all its queues are read next, a time of [`lease::now`].
    look_again_at: Duration,
}

impl<'l> Rule<'l> {
    pub(super) fn new(
        life: &'l Life,
        orders: mpsc::Sender<Control>,
        store: Arc<WorkerStore>,
        seal: Box<dyn Fn(u32) + Send>,
    ) -> Self {
        Rule {
            life,
            orders,
            store,
            seal,
            arriving: HashMap::new(),
            moving: HashMap::new(),
            departing: BTreeSet::new(),
            rereading: BTreeSet::new(),
            sealing: Sealing::default(),
            handed_over: BTreeMap::new(),
            changing: None,
            look_again_at: Duration::ZERO,
        }
    }

    pub(super) fn run(mut self) {
        let mut ticks = 0u32;
        while !self.life.is_over() {
            if let Err(error) = self.tick(ticks.is_multiple_of(TICKS_RARE)) {
                return self.life.lose(&error);
            }
            self.life.sleep(TICK);
            ticks = ticks.wrapping_add(1);
        }
    }

    fn tick(&mut self, rare: bool) -> Result<(), WorkerError> {
        let hints = self.life.worker.hints(HINTS_MAX)?;
        // After the hints: a seed is known before the queue that it was put into.
        self.store.look_for_seeds()?;
        self.look_for_changes()?;
        // Before it takes over a site: a worker that joins begins nothing that the crawl may not have.
        if let Some(spent) = self.store.spent_elsewhere()? {
            self.send(Control::SpentElsewhere(spent));
        }
        if rare {
            self.life.reap()?;
            self.store.judge_again()?;
            self.place()?;
            self.take_over()?;
        }
        self.begin_with_arrived()?;
        if lease::now() >= self.look_again_at {
            self.look_again_at = lease::now() + self.life.times.ttl * LEASES_TO_LOOK_AGAIN;
            self.look_again()?;
        }
        for site in std::mem::take(&mut *self.life.released.lock().unwrap_or_else(PoisonError::into_inner)) {
            self.released(site);
        }
        self.give_away()?;
        for (to, count) in std::mem::take(&mut self.handed_over) {
            (self.life.tell)(Happening::HandedOver(count, to));
        }
        self.heed(&hints);
        Ok(())
    }

    /// Passes to the engine what others did to its sites.
    fn heed(&mut self, hints: &[Hint]) {
        let own: Vec<&Hint> = hints.iter().filter(|hint| self.life.owned.add(hint.site, &hint.group)).collect();
        let changed: Vec<SiteKey> = own.iter().filter(|hint| hint.of_record).map(|hint| hint.site).collect();
        self.rereading.extend(&changed);
        if !changed.is_empty() {
            self.send(Control::Release(changed));
        }
        let told = own.into_iter().map(|hint| hint.site).filter(|site| !self.rereading.contains(site));
        self.tell(told.collect(), false);
    }

    /// Passes changed settings to the engine, and reports once it goes by them.
    fn look_for_changes(&mut self) -> Result<(), WorkerError> {
        if let Some(Changing { number, done }) = &mut self.changing {
            match done.try_recv() {
                Err(TryRecvError::Empty) => return Ok(()),
                Ok(()) => {
                    self.life.worker.goes_by(*number)?;
                    (self.life.tell)(Happening::GoesBy(*number));
                }
                // The run has ended.
                Err(TryRecvError::Closed) => {}
            }
        }
        self.changing = self.store.look_for_changes()?;
        Ok(())
    }

    /// Takes the groups that others gave to this worker.
    fn take_over(&mut self) -> Result<(), WorkerError> {
        let (now, quiet) = (lease::now(), self.store.quiet());
        let owned = self.life.worker.owned()?;
        let epochs: HashMap<&GroupName, Epoch> = owned.iter().map(|owned| (&owned.group, owned.epoch)).collect();
        let is_kept = |(group, epoch): &(GroupName, Epoch)| epochs.get(group) == Some(epoch);
        if !self.life.owned.groups().iter().all(is_kept) {
            // Nobody takes anything from a worker that is alive.
            return Err(WorkerError::Lost);
        }
        for group in owned {
            if self.life.owned.epoch(&group.group).is_none() {
                // Where the clock of the database was set back, it says more than was meant.
                self.arriving.entry(group.group).or_insert((now + group.quiet.min(quiet), group.epoch));
            }
        }
        Ok(())
    }

    /// Begins with groups that were taken over and may get requests now.
    fn begin_with_arrived(&mut self) -> Result<(), WorkerError> {
        let now = lease::now();
        let arrived: HashMap<GroupName, Epoch> =
            self.arriving.extract_if(|_, (from, _)| *from <= now).map(|(group, (_, epoch))| (group, epoch)).collect();
        if arrived.is_empty() {
            return Ok(());
        }
        (self.life.tell)(Happening::TookOver(arrived.len()));
        let groups: Vec<GroupName> = arrived.keys().cloned().collect();
        let mut sites: HashMap<GroupName, Vec<SiteKey>> = HashMap::new();
        for (site, group) in self.life.worker.sites(&groups)? {
            sites.entry(group).or_default().push(site);
        }
        let (mut new, mut taken_over) = (Vec::new(), Vec::new());
        for (group, epoch) in arrived {
            let sites = sites.remove(&group).unwrap_or_default();
            self.life.owned.take(&group, epoch, &sites);
            // The first owner is the first to ask.
            if epoch > Epoch(1) {
                taken_over.extend(sites);
            } else {
                new.extend(sites);
            }
        }
        self.tell(new, false);
        self.tell(taken_over, true);
        Ok(())
    }

    /// Finds queues without a hint.
    fn look_again(&mut self) -> Result<(), WorkerError> {
        let waiting = self.life.worker.waiting()?;
        let own = waiting.into_iter().filter(|(site, group)| self.life.owned.add(*site, group)).map(|(site, _)| site);
        let sites: Vec<SiteKey> = own.filter(|site| !self.rereading.contains(site)).collect();
        if !sites.is_empty() {
            self.send(Control::SitesWaiting(sites));
        }
        Ok(())
    }

    /// Gives every group its right owner.
    fn place(&mut self) -> Result<(), WorkerError> {
        let Life { worker, placement, .. } = self.life;
        let members = worker.members()?;
        let is_leaving = self.life.is_leaving();
        if is_leaving {
            worker.leave()?;
        } else {
            let free = worker.ownerless(OWNERLESS_MAX)?;
            let assigned = placement.assign(&free, &members);
            if !assigned.is_empty() {
                worker.assign(&assigned, self.store.quiet())?;
            }
        }
        let mine = worker.offers()?;
        let moves = placement.hand_over(worker.id(), &mine, &members).into_iter();
        let mut moves: HashMap<GroupName, Option<WorkerId>> = moves.map(|(group, to)| (group, Some(to))).collect();
        if is_leaving {
            // What nobody takes is given up.
            for group in mine {
                moves.entry(group.group).or_insert(None);
            }
        }
        for (group, to) in moves {
            let is_full = !is_leaving && self.moving.len() >= HAND_OVERS_MAX;
            if is_full || self.moving.contains_key(&group) || self.life.owned.epoch(&group).is_none() {
                continue;
            }
            let sites = self.life.owned.set_leaving(&group, true);
            self.moving.insert(group, (to, sites.iter().copied().collect()));
            if !sites.is_empty() {
                self.send(Control::Release(sites));
            }
        }
        if is_leaving && worker.owned()?.is_empty() {
            self.life.handed_over.send_replace(true);
        }
        Ok(())
    }

    fn released(&mut self, site: SiteKey) {
        self.rereading.remove(&site);
        let Some(group) = self.life.owned.group(site) else { return };
        if self.life.owned.moving_to(site).is_some() {
            // Its group does not go before it.
            self.departing.insert(site);
        } else if let Some((_, waiting)) = self.moving.get_mut(&group) {
            waiting.remove(&site);
        } else {
            // It was only to be read again, or became its own again while it was let go of.
            self.tell(vec![site], false);
        }
    }

    /// Gives away what is to go and has nothing under way. What would be lost with this worker is sealed before.
    fn give_away(&mut self) -> Result<(), WorkerError> {
        let departing = std::mem::take(&mut self.departing);
        let has_nothing_under_way = self.moving.iter().filter(|(_, (_, waiting))| waiting.is_empty());
        let going: HashSet<GroupName> = has_nothing_under_way.map(|(group, _)| group.clone()).collect();
        if departing.is_empty() && going.is_empty() {
            return Ok(());
        }
        let owned = &self.life.owned;
        let goes = |site| departing.contains(&site) || owned.group(site).is_some_and(|group| going.contains(&group));
        let awaited = self.sealing.awaited(lease::now(), &self.life.worker.unsealed_robots()?, goes);
        if let Some(serial) = awaited.up_to {
            (self.seal)(serial);
        }
        let staying: HashSet<GroupName> = awaited.sites.iter().filter_map(|site| owned.group(*site)).collect();
        for site in departing {
            if awaited.sites.contains(&site) {
                self.departing.insert(site);
            } else {
                self.depart(site)?;
            }
        }
        going.difference(&staying).try_for_each(|group| self.hand_over(group))
    }

    /// Moves a site to its other address.
    fn depart(&mut self, site: SiteKey) -> Result<(), WorkerError> {
        let owned = &self.life.owned;
        let Some((group, address)) = owned.group(site).zip(owned.moving_to(site)) else { return Ok(()) };
        self.move_to(site, &group, address)?;
        if let Some((_, waiting)) = self.moving.get_mut(&group) {
            waiting.remove(&site);
        }
        Ok(())
    }

    /// Moves a site with nothing under way to another address. The present or next owner of that address continues with the site.
    fn move_to(&self, site: SiteKey, group: &GroupName, address: IpAddr) -> Result<(), WorkerError> {
        let Life { worker, owned, .. } = self.life;
        let is_moved = match owned.epoch(group) {
            Some(epoch) => worker.move_site(site, (group, epoch), &GroupName::of_address(address))?,
            None => false,
        };
        // Nobody takes anything from a worker that is alive.
        if !is_moved {
            return Err(WorkerError::Lost);
        }
        owned.moved(site);
        Ok(())
    }

    /// Gives away a group with nothing under way.
    fn hand_over(&mut self, group: &GroupName) -> Result<(), WorkerError> {
        let Some((to, _)) = self.moving.remove(group) else { return Ok(()) };
        let Life { worker, owned, .. } = self.life;
        let Some(epoch) = owned.epoch(group) else { return Ok(()) };
        let is_given = match to {
            Some(to) => worker.hand_over((group, epoch), to, self.store.quiet())?,
            None => worker.give_up((group, epoch)).map(|()| true)?,
        };
        if is_given {
            *self.handed_over.entry(to).or_default() += 1;
            owned.forget(group);
        } else {
            let sites = owned.set_leaving(group, false);
            self.tell(sites, false);
        }
        Ok(())
    }

    fn tell(&self, sites: Vec<SiteKey>, taken_over: bool) {
        if !sites.is_empty() {
            self.send(Control::SitesChanged { sites, taken_over });
        }
    }

    fn send(&self, control: Control) {
        // The engine is gone only when the life is over.
        let _ = self.orders.blocking_send(control);
    }
}
