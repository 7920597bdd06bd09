//! Groups change hands at random, by force and in order: who asks and who writes is the owner, and who does not go by its lease is noticed.

use std::net::Ipv4Addr;
use std::panic::catch_unwind;
use std::time::Duration;

use testdb::until;

use crate::lab::{Lab, Laid, SEED, SHORT_LEASE, Worker};
use crate::watched::Watch;
use crate::workers::{beyond, check_delay};
use testkit::judge::address_of;

const WORKERS: usize = 4;

/// From which it follows in which order things happen, and to which of those that own something then; and which groups are to move.
const EVENTS_CHANCE: Chance = Chance(20_261_122);
const MOVES_CHANCE: Chance = Chance(4);

/// What happens while the web is crawled. Times are in milliseconds; a lease is 2,000.
const EVENTS: [Event; 7] = [
    Event::Kill,
    Event::Kill,
    Event::Stop(600),
    Event::Stop(3_000),
    Event::Stop(8_000),
    Event::KillDatabase(0),
    Event::KillDatabase(4_000),
];

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A worker is killed, and another comes.
    Kill,
    /// A worker is stopped for so long.
    Stop(u64),
    /// The database is killed, and started again after so long.
    KillDatabase(u64),
}

/// Numbers that seem to be random, the same at each run (a linear congruential generator; Knuth's MMIX).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("64 bits") % n
    }
}

/// A crawl in which much happens.
struct Unrest {
    lab: Lab,
    watch: Watch,
    /// Two: how often something moves, unlike how much happens, depends on the time that all takes.
    of_events: Chance,
    of_moves: Chance,
    /// Those that are alive, with their doors.
    workers: Vec<(usize, Worker)>,
    /// The name of each worker there ever was, by its door.
    names: Vec<String>,
    /// The doors of those that were stopped, each time.
    stopped: Vec<usize>,
}

impl Unrest {
    /// Begins with a crawl by so many workers.
    fn new(web: Laid, arguments: &[&str], count: usize) -> Self {
        let lab = Lab::new(web, arguments);
        let watch = Watch::over(&lab);
        let (workers, names, stopped) = (Vec::new(), Vec::new(), Vec::new());
        let (of_events, of_moves) = (EVENTS_CHANCE, MOVES_CHANCE);
        let mut unrest = Unrest { lab, watch, of_events, of_moves, workers, names, stopped };
        (0..count).for_each(|_| unrest.start_worker());
        unrest.lab.served.add(SEED);
        unrest
    }

    fn start_worker(&mut self) {
        let worker = self.lab.worker_behind(self.names.len());
        self.workers.push((self.names.len(), worker));
        self.names.push(self.workers.last().expect("pushed").1.name());
    }

    fn visited(&self) -> i64 {
        self.lab.number("SELECT count(*) FROM argiope.visit")
    }

    /// Lets the crawl go on, and groups move, until something has come.
    fn go_on_until(&mut self, what: &str, mut come: impl FnMut(&Self) -> bool) {
        until(what, || {
            self.have_one_moved();
            come(self)
        });
    }

    /// Enters bids by which a group, whichever it is, is nearest to a worker, whoever it is. The owner notices, and hands it over.
    fn have_one_moved(&mut self) {
        let groups = self.lab.query("SELECT name FROM argiope.politeness_group WHERE owner IS NOT NULL ORDER BY name");
        if groups.is_empty() {
            return;
        }
        let group: String = groups[self.of_moves.below(groups.len())].get(0);
        let to = self.of_moves.below(self.workers.len());
        self.bid(&group, to);
    }

    /// Enters bids by which a group is nearest to one of the workers that are alive.
    fn bid(&self, group: &str, to: usize) {
        bid(&self.lab, group, &self.workers[to].1.name());
    }

    /// One of those that own something, by its place among them that are alive.
    fn an_owner(&mut self) -> usize {
        let mut owners = Vec::new();
        self.go_on_until("somebody to own something", |unrest| {
            let names = unrest.lab.owners();
            let places = unrest.workers.iter().enumerate().filter(|(_, (_, worker))| names.contains(&worker.name()));
            owners = places.map(|(place, _)| place).collect();
            !owners.is_empty()
        });
        owners[self.of_events.below(owners.len())]
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Kill => {
                let any = self.an_owner();
                self.workers.remove(any).1.kill();
                self.start_worker();
            }
            Event::Stop(ms) => {
                let any = self.an_owner();
                self.stopped.push(self.workers[any].0);
                self.workers[any].1.signal("STOP");
                let until_us = self.lab.web.now_us() + ms * 1_000;
                self.go_on_until("time", |unrest| unrest.lab.web.now_us() >= until_us);
                self.workers[any].1.signal("CONT");
            }
            Event::KillDatabase(ms) => {
                let mut database = self.lab.database.lock().expect("nobody panicked");
                database.kill();
                let until_us = self.lab.web.now_us() + ms * 1_000;
                until("time", || self.lab.web.now_us() >= until_us);
                database.restart();
                database.wait();
            }
        }
    }
}

/// Enters bids by which a group is nearest to the worker of this name.
pub fn bid(lab: &Lab, group: &str, to: &str) {
    let bids = format!(
        "INSERT INTO argiope.bid SELECT '{group}', worker, CASE WHEN name = '{to}' THEN 0 ELSE 1000000 END
            FROM argiope.worker WHERE state = 'alive' ORDER BY worker
        ON CONFLICT (politeness_group, worker) DO UPDATE SET rtt_us = excluded.rtt_us"
    );
    // Who takes away the bids of the dead meanwhile may wait for this, and this for him: then one of both has no effect.
    let _ = lab.database.lock().expect("nobody panicked").client().batch_execute(&bids);
}

#[test]
fn the_next_owner_of_a_group_asks_for_nothing_that_the_one_before_was_answered() {
    const SITES: i64 = 3;
    const PAGES: u64 = 150;
    const ADDRESS: &str = "127.0.0.2";
    const DELAY: Duration = Duration::from_millis(50);
    // Slow: most pages are left when the group is handed over. Nothing is sealed by then for other reasons.
    let lab = Lab::new(Laid::out(SITES.unsigned_abs(), PAGES, 1).every(DELAY), &[]);
    let workers = [lab.worker(), lab.worker()];
    lab.served.add(SEED);
    until("each robots.txt to be answered", || lab.number("SELECT count(*) FROM argiope.robots") == SITES);
    let owners = lab.owners();
    let other = workers.iter().map(Worker::name).find(|name| !owners.contains(name)).expect("one owns nothing");
    bid(&lab, ADDRESS, &other);
    until("the other to own it", || lab.owners().contains(&other));
    let answer = lab.crawl();
    assert_eq!(answer["fetched"], PAGES, "{answer}");
    let recorded =
        "SELECT count(DISTINCT g.worker) FROM argiope.visit v JOIN argiope.segment g ON g.serial = v.segment";
    assert_eq!(lab.number(recorded), 2, "each has recorded pages");
    let log = lab.web.log();
    check_delay(&log, DELAY);
    let twice = beyond(&log, 1);
    assert!(twice.is_empty(), "asked for twice: {twice:#?}");
}

#[test]
fn whatever_moves_only_the_owner_asks_and_writes() {
    const SITES: u64 = 12;
    const PAGES: i64 = 720;
    const ADDRESSES: u8 = 6;
    /// Each address has a sixth of the pages: so the crawl takes 18 seconds at least, however fast the machine is, and all happens before
    /// its end.
    const DELAY: Duration = Duration::from_millis(150);
    const VISITS_BETWEEN_EVENTS: i64 = 30;
    let addresses = (0..ADDRESSES).map(|n| Ipv4Addr::new(127, 0, 0, 2 + n));
    let web = Laid::behind(WORKERS + EVENTS.len(), SITES, PAGES.unsigned_abs(), addresses).every(DELAY);
    let mut unrest = Unrest::new(web, &SHORT_LEASE, WORKERS);
    unrest.go_on_until("a group to be handed over", |unrest| unrest.watch.changes(&unrest.lab).in_order > 0);
    let mut events = EVENTS.to_vec();
    while let Some(last) = events.len().checked_sub(1) {
        let enough = (unrest.visited() + VISITS_BETWEEN_EVENTS).min(PAGES);
        unrest.go_on_until("more visits", |unrest| unrest.visited() >= enough);
        let next = unrest.of_events.below(last + 1);
        unrest.happens(events.swap_remove(next));
    }
    let answer = unrest.lab.crawl();
    let (lab, watch) = (&unrest.lab, &unrest.watch);
    assert_eq!(answer["fetched"], PAGES, "{answer}");
    let pages = lab.pages();
    assert_eq!(pages.len(), usize::try_from(PAGES).expect("positive"), "no other pages are known");
    assert!(pages.values().all(|(outcome, _)| outcome.is_some()), "every URL has an outcome");
    assert_eq!(lab.number("SELECT count(*) FROM argiope.queue"), 0);

    watch.check(lab);
    let log = lab.web.log();
    let (by_owners, by_others) = watch.by_owners_and_others(lab, &log, &unrest.names);
    // What has passed the gate when its worker is stopped no lease holds back: one request each time.
    for request in &by_others {
        let door = lab.web.door_of(request);
        let excuse = unrest.stopped.iter().position(|stopped| *stopped == door);
        let excuse = excuse.unwrap_or_else(|| panic!("by nobody who may ask {}: {request:?}", address_of(request)));
        unrest.stopped.swap_remove(excuse);
    }
    check_delay(&by_owners, DELAY);
    let changes = watch.changes(lab);
    assert!(changes.by_force > 0, "{changes:?}");
}

#[test]
fn a_worker_that_asks_after_its_lease_is_noticed_and_writes_nothing() {
    const SITES: u64 = 4;
    /// Seeds, and slow: a worker has URLs in memory for three minutes, while it learns nothing and the others take over.
    const SEEDS_OF_A_SITE: u64 = 500;
    const DELAY: Duration = Duration::from_millis(200);
    const REQUESTS_OF_EACH: usize = 20;
    // By its own clock the lease of no worker ends while this runs. So one asks on although others took over, as if it did not look at it.
    let web = Laid::behind(2, SITES, 4_000, [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)]).every(DELAY);
    let unrest = Unrest::new(web, &["--lease", "10m"], 2);
    let (lab, watch, lost) = (&unrest.lab, &unrest.watch, &unrest.workers[0].1);
    let [lost_door, other_door] = [0, 1];
    let of_a_site = |site| (0..SEEDS_OF_A_SITE).map(move |page| format!("http://s{site:04}.synthetic.test/p/{page}"));
    lab.served.add_all(&(0..SITES).flat_map(of_a_site).collect::<Vec<String>>());
    until("both ask", || {
        if lab.owners().len() < 2 {
            let groups = lab.query("SELECT name FROM argiope.politeness_group WHERE owner IS NOT NULL ORDER BY name");
            groups.iter().enumerate().for_each(|(worker, group)| unrest.bid(group.get(0), worker));
        }
        let log = lab.web.log();
        let has_begun = |door| log.iter().filter(|entry| lab.web.door_of(entry) == door).count() >= REQUESTS_OF_EACH;
        has_begun(lost_door) && has_begun(other_door) && lab.owners().len() == 2
    });
    check_delay(&lab.web.log(), DELAY);
    // It cannot learn that others took over, and has more and more to write.
    let held = lab.pause_sessions_of(lost_door);
    let id = lab.number(&format!("SELECT worker FROM argiope.worker WHERE name = '{}'", lost.name()));
    let its_own = lab.query(&format!("SELECT name FROM argiope.politeness_group WHERE owner = {id}"));
    let its_own: Vec<String> = its_own.iter().map(|row| row.get(0)).collect();
    let commits = format!("SELECT count(*) FROM watched.commit WHERE worker = {id}");
    let commits_in_time = lab.number(&commits);
    let asked = |door: usize, since_us: u64| {
        let log = lab.web.log();
        let by_door = log.iter().filter(|entry| lab.web.door_of(entry) == door && entry.start_us >= since_us);
        by_door.filter(|entry| its_own.contains(&address_of(entry))).count()
    };
    let since_us = lab.web.now_us();
    // The others think that it has ended.
    lab.execute(&format!("UPDATE argiope.worker SET lease_until = '-infinity' WHERE worker = {id}"));
    until("the other asks what it owned", || asked(other_door, since_us) > 0);
    let since_us = lab.web.now_us();
    until("it asks", || asked(lost_door, since_us) > 5);
    let mut log = Vec::new();
    until("it is noticed", || {
        log = lab.web.log();
        let judged = catch_unwind(|| check_delay(&log, DELAY)).err();
        judged.is_some_and(|why| why.downcast_ref::<String>().is_some_and(|why| why.starts_with("only ")))
    });
    let (_, by_others) = watch.by_owners_and_others(lab, &log, &unrest.names);
    assert!(by_others.iter().any(|entry| lab.web.door_of(entry) == lost_door), "it did not own what it asked");

    let refused = "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()";
    let refused_before = lab.number(refused);
    drop(held);
    until("it notices", || lost.said().contains("joining again"));
    until("its commit is refused", || lab.number(refused) > refused_before);
    assert_eq!(lab.number(&commits), commits_in_time, "it has written since");
    watch.check(lab);
}
