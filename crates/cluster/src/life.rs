//! A worker from joining to leaving: threads renew its lease, and keep its groups in line with the shared state.

mod rule;

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use coordination::{Renewed, Worker, WorkerError, WorkerId};
use engine::Control;
use store::StoreError;
use tokio::sync::{mpsc, watch};
use weburl::SiteKey;

use self::rule::Rule;
use crate::happening::{Happening, Tell};
use crate::lease::{self, Lease};
use crate::ownership::Owned;
use crate::placement::Placement;
use crate::placing;
use crate::store::WorkerStore;

/// How long after an outage of the database workers take at most to renew their leases: each tries to connect twice a second.
const BACK_WITHIN: Duration = Duration::from_secs(15);

/// How often a worker polls for changes by others.
const TICK: Duration = Duration::from_millis(200);

/// Every how many polls it looks for rare changes: dead workers, groups without an owner, better owners.
const TICKS_RARE: u32 = 5;

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
        let rule = move || Rule::new(&ruling, orders, store, seal).run();
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
