//! A worker from joining to leaving: threads renew its lease, and keep its groups in line with the shared state.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use coordination::{Epoch, GroupName, Hint, Renewed, Worker, WorkerError, WorkerId};
use engine::Control;
use store::StoreError;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{mpsc, watch};
use weburl::SiteKey;

use crate::happening::{Happening, Tell};
use crate::lease::{self, Lease};
use crate::ownership::Owned;
use crate::placement::Placement;
use crate::placing;
use crate::sealing::Sealing;
use crate::store::{Changing, WorkerStore};

/// How long after an outage of the database workers take at most to renew their leases: each tries to connect twice a second.
const BACK_WITHIN: Duration = Duration::from_secs(15);

/// How often a worker polls for changes by others.
const TICK: Duration = Duration::from_millis(200);

/// Every how many polls it looks for rare changes: dead workers, groups without an owner, better owners.
const TICKS_RARE: u32 = 5;

/// After how many leases a worker reads all its queues: a hint may have been lost.
const LEASES_TO_LOOK_AGAIN: u32 = 4;

/// Hints read at once.
const HINTS_MAX: usize = 10_000;

/// Groups without an owner read at once.
const OWNERLESS_MAX: usize = 1_000;

/// Groups being handed over at once, unless the worker leaves.
const HAND_OVERS_MAX: usize = 16;

/// The times of the protocol between workers.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long a lease is.
    pub ttl: Duration,
    /// How long after the end of its lease a worker is declared dead.
    pub grace: Duration,
}

/// The end of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeEnd {
    /// Other workers own all its groups, and all its segments are sealed.
    Left,
    /// It lost its lease, or the database: uncommitted work is void.
    Lost,
}

/// A worker from joining to its end.
pub struct Life {
    worker: Arc<dyn Worker>,
    lease: Lease,
    owned: Arc<Owned>,
    times: Times,
    placement: Placement,
    tell: Tell,
    /// It was asked to leave.
    is_leaving: AtomicBool,
    /// It leaves, and owns nothing any more.
    handed_over: watch::Sender<bool>,
    /// Set at the end; the threads then end too.
    ended: watch::Sender<Option<LifeEnd>>,
    /// Why it was lost.
    why: Mutex<Option<String>>,
    /// Sites that the engine has released since the last poll.
    released: Mutex<Vec<SiteKey>>,
}

/// The connections between a life and its engine.
pub struct Engine {
    /// To the engine.
    pub orders: mpsc::Sender<Control>,
    /// Its store, from which it learns of seeds.
    pub store: Arc<WorkerStore>,
    /// The resolver and connector.
    pub fetcher: Arc<fetch::Fetcher>,
    /// Politeness groups are addresses.
    pub by_address: bool,
    /// The runtime for lookups and measurements.
    pub runtime: tokio::runtime::Handle,
    /// Has its segments up to this serial number sealed, soon. It is called again until they are.
    pub seal: Box<dyn Fn(u32) + Send>,
}

impl Life {
    /// Joins the workers: `join` receives the length of the lease. `tell` receives what happens.
    ///
    /// # Errors
    /// The error of `join`.
    pub fn join<W: Worker + 'static>(
        join: impl FnOnce(Duration) -> Result<W, StoreError>,
        times: Times,
        placement: Placement,
        tell: Tell,
    ) -> Result<Self, StoreError> {
        let asked = lease::now();
        let worker = join(times.ttl)?;
        Ok(Life {
            worker: Arc::new(worker),
            lease: Lease::until(asked + times.ttl),
            owned: Arc::default(),
            times,
            placement,
            tell,
            is_leaving: AtomicBool::new(false),
            handed_over: watch::channel(false).0,
            ended: watch::channel(None).0,
            why: Mutex::new(None),
            released: Mutex::default(),
        })
    }

    /// Its identity.
    #[must_use]
    pub fn id(&self) -> WorkerId {
        self.worker.id()
    }

    /// The worker on the shared state.
    #[must_use]
    pub fn worker(&self) -> &Arc<dyn Worker> {
        &self.worker
    }

    /// Its lease.
    #[must_use]
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// What it owns.
    #[must_use]
    pub fn owned(&self) -> &Arc<Owned> {
        &self.owned
    }

    /// Starts the thread that renews the lease, which ends when the life does. What comes before [`Life::start`] may take longer than a
    /// lease.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn keep(self: &Arc<Self>) -> std::io::Result<JoinHandle<()>> {
        let life = self.clone();
        spawn("lease", move || life.keep_lease())
    }

    /// Starts the other threads. They end when the life does.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(self: &Arc<Self>, engine: Engine) -> std::io::Result<Vec<JoinHandle<()>>> {
        let Engine { orders, store, fetcher, by_address, runtime, seal } = engine;
        let (placing, ruling) = (self.clone(), self.clone());
        let surveyor = placing::Surveyor::new(self.worker.clone(), fetcher, by_address, self.placement, runtime);
        let rule = move || {
            let rule = Rule {
                life: &ruling,
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
            };
            rule.run();
        };
        Ok(vec![spawn("placing", move || placing.keep_placing(surveyor))?, spawn("ownership", rule)?])
    }

    /// Called by the engine when it has released a site, with the site's new address if that was the
    /// reason.
    pub fn released(&self, site: SiteKey, address: Option<IpAddr>) {
        // At once: nothing may begin again before the database knows.
        if let Some(address) = address {
            self.owned.set_moving(site, address);
        }
        self.released.lock().unwrap_or_else(PoisonError::into_inner).push(site);
    }

    /// Makes it hand over its groups, and leave.
    pub fn leave(&self) {
        if !self.is_leaving.swap(true, SeqCst) {
            (self.tell)(Happening::Leaves);
        }
    }

    /// Whether it was asked to leave.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.is_leaving.load(SeqCst)
    }

    /// Waits until it has handed over everything, after [`Life::leave`]. Its lease is renewed until its [`Life::end`].
    pub async fn handed_over(&self) {
        // The sender lives as long as this.
        let _ = self.handed_over.subscribe().wait_for(|handed_over| *handed_over).await;
    }

    /// Waits for its end.
    pub async fn over(&self) {
        let _ = self.ended.subscribe().wait_for(Option::is_some).await;
    }

    /// Why it was lost.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it: no more requests are sent.
    pub fn end(&self, how: LifeEnd) {
        self.lease.end();
        self.ended.send_if_modified(|ended| {
            let first = ended.is_none();
            ended.get_or_insert(how);
            first
        });
    }

    /// Ends it as lost, for this reason.
    pub fn fail(&self, why: String) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        self.end(LifeEnd::Lost);
    }

    /// Whether it has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.ended.borrow().is_some()
    }

    fn lose(&self, error: &WorkerError) {
        self.fail(error.to_string());
    }

    fn keep_lease(&self) {
        while !self.is_over() {
            if let Err(error) = self.renew() {
                return self.lose(&error);
            }
            self.sleep(self.times.ttl / 3);
        }
    }

    fn renew(&self) -> Result<(), WorkerError> {
        let asked = lease::now();
        let Renewed { is_leaving, had_ended } = self.worker.renew()?;
        if is_leaving {
            self.leave();
        }
        if had_ended {
            self.lease.begin_again();
        }
        self.lease.extend(asked + self.times.ttl);
        Ok(())
    }

    /// Calls workers dead. While the database was away no worker could renew its lease, and where its clock was set forward all leases have
    /// ended: after a gap, the others have time to come back first.
    fn reap(&self) -> Result<(), WorkerError> {
        if self.lease.has_held_for(self.times.ttl.min(BACK_WITHIN)) {
            let dead = self.worker.reap(self.times.grace)?;
            if !dead.is_empty() {
                (self.tell)(Happening::Died(dead));
            }
        }
        Ok(())
    }

    fn keep_placing(&self, mut surveyor: placing::Surveyor) {
        while !self.is_over() {
            let found = if self.is_leaving() { Ok(false) } else { surveyor.look() };
            match found {
                Ok(true) => self.sleep(TICK),
                Ok(false) => self.sleep(TICK * TICKS_RARE),
                Err(error) => return self.lose(&error),
            }
        }
    }

    /// Sleeps, but not beyond its end.
    fn sleep(&self, duration: Duration) {
        const STEP: Duration = Duration::from_millis(50);
        let until = lease::now() + duration;
        while !self.is_over() && lease::now() < until {
            std::thread::sleep(STEP.min(until.saturating_sub(lease::now())));
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run)
}

/// Keeps the engine in line with the shared state.
struct Rule<'l> {
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

impl Rule<'_> {
    fn run(mut self) {
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

#[cfg(test)]
mod tests {
    use database::Address;
    use store_postgres::cluster::PostgresWorker;
    use testdb::{Postgres, until};

    use super::*;

    const TIMES: Times = Times { ttl: Duration::from_millis(600), grace: Duration::from_millis(200) };

    /// Two workers whose leases are not renewed by themselves, and those that were called dead.
    struct Two {
        server: Postgres,
        first: Life,
        other: Life,
        died: Arc<Mutex<Vec<WorkerId>>>,
    }

    impl Two {
        fn join() -> Self {
            let server = Postgres::start();
            let address = Address::parse(&server.url()).expect("an address");
            let schema = "crawl".parse().expect("a schema");
            let died: Arc<Mutex<Vec<WorkerId>>> = Arc::default();
            let [first, other] = ["w:1", "w:2"].map(|name| {
                let died = died.clone();
                let tell = move |happening| {
                    if let Happening::Died(dead) = happening {
                        died.lock().expect("nobody panicked").extend(dead);
                    }
                };
                let join = |ttl| PostgresWorker::join(&address, &schema, name, ttl);
                Life::join(join, TIMES, Placement::Hash, Box::new(tell)).expect("joined")
            });
            Two { server, first, other, died }
        }

        /// The first worker renews its lease, and calls those dead that did not.
        fn renew_and_reap(&self) {
            self.first.renew().expect("it answers");
            self.first.reap().expect("it answers");
        }

        fn died(&self) -> Vec<WorkerId> {
            self.died.lock().expect("nobody panicked").clone()
        }

        fn until(&self, what: &str, test: impl Fn() -> bool) {
            until(what, || {
                std::thread::sleep(TIMES.ttl / 10);
                self.renew_and_reap();
                test()
            });
        }
    }

    #[test]
    fn after_an_outage_the_first_worker_back_gives_the_others_the_time_of_a_lease() {
        let two = Two::join();
        // As if no renewal reached the database.
        std::thread::sleep(TIMES.ttl + TIMES.grace * 2);
        two.renew_and_reap();
        two.other.renew().expect("it was given the time");
        assert_eq!(two.died(), []);
        two.until("who does not come back is called dead", || two.died() == [two.other.id()]);
    }

    #[test]
    fn a_clock_of_the_database_that_is_set_forward_calls_nobody_dead() {
        let two = Two::join();
        two.until("it to have lasted", || {
            two.other.renew().expect("it is alive");
            two.first.lease.has_held_for(TIMES.ttl)
        });
        // By that clock.
        two.server.client().batch_execute("UPDATE crawl.worker SET lease_until = '-infinity'").expect("changed");
        two.renew_and_reap();
        two.other.renew().expect("it was given the time");
        assert_eq!(two.died(), []);
    }
}
