//! Workers: whatever becomes of them and of the server, every URL is visited, no acknowledged commit is lost, and nobody asks an
//! address that somebody else has by now.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use coordination::{Epoch, GroupName, Hint, Worker, WorkerError, WorkerId};
use database::Address;
use model::{Candidate, Distance, Outcome, SiteRecord, Timestamp, Via, Visit};
use store::{Batch, CrawlView};
use store_postgres::cluster::PostgresWorker;
use testdb::{Postgres, until};
use weburl::{CanonicalRules, CanonicalUrl, UrlKey};

use crate::place::{ALL_SEEDS, Place};

const TTL: Duration = Duration::from_millis(1_500);
pub const GRACE: Duration = Duration::from_millis(300);
pub const QUIET: Duration = Duration::from_millis(50);
/// A lease that does not end while a test runs.
pub const LONG: Duration = Duration::from_secs(600);

const SITES: u64 = 12;
const PAGES: u64 = 40;
const WORKERS: u64 = 3;

pub fn page(site: u64, n: u64) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("http://s{site}.test/{n}"), &CanonicalRules::default()).expect("a URL")
}

fn address(site: u64) -> IpAddr {
    IpAddr::from([10, 0, 0, u8::try_from(site % 5).expect("small")])
}

pub fn group(site: u64) -> GroupName {
    GroupName::of_address(address(site))
}

/// The page behind a URL of ours, and the pages it links to: one further on the site, and two anywhere.
fn links(url: &CanonicalUrl) -> Vec<CanonicalUrl> {
    let (site, n) = numbers(url);
    let mixed = (site * PAGES + n).wrapping_mul(6_364_136_223_846_793_005) >> 33;
    vec![page(site, (n + 1) % PAGES), page(mixed % SITES, mixed / SITES % PAGES), page((mixed / 7) % SITES, 0)]
}

fn numbers(url: &CanonicalUrl) -> (u64, u64) {
    let text = url.as_str().trim_start_matches("http://s");
    let (site, n) = text.split_once(".test/").expect("a URL of ours");
    (site.parse().expect("a number"), n.parse().expect("a number"))
}

fn closure(seed: CanonicalUrl) -> BTreeSet<UrlKey> {
    let mut known = BTreeSet::from([seed.key()]);
    let mut waiting = vec![seed];
    while let Some(url) = waiting.pop() {
        waiting.extend(links(&url).into_iter().filter(|link| known.insert(link.key())));
    }
    known
}

pub fn found(url: CanonicalUrl, depth: u32) -> Candidate {
    Candidate { depth, via: Via::Link, ..Candidate::seed(url) }
}

fn visit(candidate: &Candidate) -> Batch {
    let url = &candidate.url;
    let outcome = Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1));
    let (site, _) = numbers(url);
    Batch {
        visits: vec![Visit { judged_at: candidate.distance(), status: 200, ..outcome }],
        found: links(url).into_iter().map(|link| found(link, candidate.depth + 1)).collect(),
        sites: vec![SiteRecord { address: Some(address(site)), ..SiteRecord::new(url.site()) }],
        ..Batch::default()
    }
}

/// What happened, as all workers saw it.
#[derive(Default)]
struct Log {
    /// Requests: when the clock was looked at last before each, the group, and the epoch under which it was asked.
    asked: Mutex<Vec<(Instant, GroupName, Epoch)>>,
    acknowledged: Mutex<BTreeSet<UrlKey>>,
    fenced: AtomicU64,
    stop: AtomicBool,
}

impl Log {
    /// Requests of a group by somebody who had lost it: under an epoch less than one under which it was asked before.
    fn violations(&self) -> usize {
        let mut asked = self.asked.lock().expect("nobody panicked").clone();
        asked.sort_by_key(|(at, ..)| *at);
        let mut epochs = BTreeMap::new();
        let is_stale = |(_, group, epoch): &&(Instant, GroupName, Epoch)| {
            let newest = epochs.entry(group.clone()).or_insert(*epoch);
            *newest = (*newest).max(*epoch);
            *epoch < *newest
        };
        asked.iter().filter(is_stale).count()
    }
}

#[expect(clippy::disallowed_methods, reason = "leases are about time")]
fn now() -> Instant {
    Instant::now()
}

/// A process that crawls under one identity after the other, and is sometimes paused, killed or generous.
struct Process<'a> {
    place: &'a Place,
    log: &'a Log,
    everybody: &'a Mutex<Vec<WorkerId>>,
    random: u64,
}

impl Process<'_> {
    fn one_in(&mut self, n: u64) -> bool {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33).is_multiple_of(n)
    }

    fn run(&mut self) {
        while !self.log.stop.load(SeqCst) {
            match self.life() {
                Ok(()) | Err(WorkerError::Lost) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// From joining to the end of the lease, or of the test.
    fn life(&mut self) -> Result<(), WorkerError> {
        let Place { address, schema } = self.place;
        let mut until = now() + TTL;
        let Ok(worker) = PostgresWorker::join(address, schema, "test", TTL) else {
            // The server is down: joining, unlike what comes after it, is not tried again by itself.
            thread::sleep(QUIET);
            return Ok(());
        };
        self.everybody.lock().expect("nobody panicked").push(worker.id());
        while !self.log.stop.load(SeqCst) {
            let asked = now();
            worker.renew()?;
            until = until.max(asked + TTL);
            worker.reap(GRACE)?;
            for site in worker.unplaced((0, 1), 3)? {
                let (number, _) = numbers(&page_of(&site));
                worker.place(&[(site, group(number))])?;
            }
            take(&worker, 2)?;
            worker.hints(100)?;
            let from = now();
            for owned in worker.owned()? {
                // It counts from before the server was asked: earlier than the server meant is not possible.
                thread::sleep((from + owned.quiet).saturating_duration_since(now()));
                self.crawl(&worker, &owned.group, owned.epoch, until)?;
                if self.one_in(12) {
                    let everybody = self.everybody.lock().expect("nobody panicked").clone();
                    let to = everybody[usize::try_from(self.random >> 40).expect("small") % everybody.len()];
                    worker.hand_over((&owned.group, owned.epoch), to, QUIET)?;
                }
            }
            if self.one_in(25) {
                // Killed: its lease runs out, and what it owns is adopted.
                return Ok(());
            }
        }
        Ok(())
    }

    fn crawl(
        &mut self,
        worker: &PostgresWorker,
        group: &GroupName,
        epoch: Epoch,
        until: Instant,
    ) -> Result<(), WorkerError> {
        for (site, _) in worker.sites(std::slice::from_ref(group))? {
            for queued in worker.pending(site, None, 3)? {
                let checked = now();
                if checked >= until {
                    return Ok(());
                }
                self.log.asked.lock().expect("nobody panicked").push((checked, group.clone(), epoch));
                if self.one_in(150) {
                    // Paused between asking and recording, for longer than its lease.
                    thread::sleep(TTL + GRACE * 2);
                }
                match worker.commit(&[(group.clone(), epoch)], ALL_SEEDS, &visit(&queued.candidate)) {
                    Ok(_) => {
                        let mut acknowledged = self.log.acknowledged.lock().expect("nobody panicked");
                        acknowledged.insert(queued.candidate.url.key());
                    }
                    Err(WorkerError::Fenced) => {
                        self.log.fenced.fetch_add(1, SeqCst);
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// Takes what nobody owns, at most so many groups. Says how many it got.
pub fn take(worker: &PostgresWorker, max: usize) -> Result<usize, WorkerError> {
    let wanted: Vec<_> = worker.ownerless(max)?.into_iter().map(|free| (free.group, worker.id())).collect();
    worker.assign(&wanted, QUIET)
}

fn page_of(site: &weburl::Site) -> CanonicalUrl {
    CanonicalUrl::parse(&format!("{}/0", site.as_str()), &CanonicalRules::default()).expect("a URL")
}

pub fn join(place: &Place, ttl: Duration) -> PostgresWorker {
    PostgresWorker::join(&place.address, &place.schema, "test", ttl).expect("join")
}

#[test]
fn every_url_is_visited_whatever_becomes_of_workers_and_server() {
    let mut server = Postgres::start();
    let place = Place::on(&server);
    let seed = page(0, 0);
    join(&place, LONG)
        .commit(&[], ALL_SEEDS, &Batch { found: vec![found(seed.clone(), 0)], ..Batch::default() })
        .expect("seed");
    place.execute("UPDATE worker SET lease_until = '-infinity'");
    let expected = closure(seed);
    let log = Log::default();
    let everybody = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for random in 1..=WORKERS {
            let (place, log, everybody) = (&place, &log, &everybody);
            scope.spawn(move || Process { place, log, everybody, random }.run());
        }
        for share in [4, 2] {
            until("visits", || log.acknowledged.lock().expect("nobody panicked").len() > expected.len() / share);
            server.kill();
            server.restart();
            server.wait();
        }
        until("all visits", || log.acknowledged.lock().expect("nobody panicked").len() == expected.len());
        log.stop.store(true, SeqCst);
    });
    let store = place.open().expect("the workers are gone");
    let entries = store.scan(None, usize::MAX).expect("scan");
    let urls: BTreeSet<UrlKey> = entries.iter().map(|entry| entry.candidate.url.key()).collect();
    assert!(urls == expected, "{} URLs instead of {}", urls.len(), expected.len());
    assert!(entries.iter().all(|entry| entry.visit.is_some()), "all are visited");
    assert_eq!(store.totals().expect("totals").pending, 0);
    assert_eq!(log.violations(), 0, "of {}", log.asked.lock().expect("nobody panicked").len());
}

#[test]
fn a_commit_of_an_owner_before_writes_nothing_and_who_ignores_its_lease_is_noticed() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let seed = found(page(0, 0), 0);
    one.commit(&[], ALL_SEEDS, &Batch { found: vec![seed.clone()], ..Batch::default() }).expect("seed");
    let placed = one.place(&[(seed.url.site(), group(0))]).expect("place");
    assert_eq!((placed.len(), &placed[0].group, placed[0].owner), (1, &group(0), None));
    assert_eq!(other.place(&[(seed.url.site(), group(1))]).expect("place"), placed, "once for all");
    one.bid(&[(group(0), Duration::from_micros(2))]).expect("bid");
    other.bid(&[(group(0), Duration::from_micros(1))]).expect("bid");
    let free = one.ownerless(9).expect("ownerless");
    let bidders: Vec<WorkerId> = free[0].bids.iter().map(|bid| bid.worker).collect();
    assert_eq!((free.len(), &free[0].group, bidders), (1, &group(0), vec![other.id(), one.id()]), "the nearest first");
    assert_eq!(one.assign(&[(group(0), one.id())], QUIET).expect("assign"), 1);
    assert_eq!(other.assign(&[(group(0), other.id())], QUIET).expect("assign"), 0, "it is owned");
    let before = one.owned().expect("owned").swap_remove(0);
    let log = Log::default();
    let ask = |epoch| log.asked.lock().expect("nobody panicked").push((now(), group(0), epoch));
    ask(before.epoch);

    // As if its lease had ended while it was paused.
    let lapse = format!("UPDATE worker SET lease_until = '-infinity' WHERE worker = {}", one.id().0);
    place.execute(&lapse);
    assert_eq!(take(&other, 9).expect("take"), 0, "it is not called dead yet");
    assert_eq!(other.reap(GRACE).expect("reap"), [one.id()]);
    assert_eq!(take(&other, 9).expect("take"), 1);
    let adopted = other.owned().expect("owned");
    assert_eq!((adopted.len(), &adopted[0].group), (1, &group(0)));
    assert!(adopted[0].quiet > Duration::ZERO && before.quiet.is_zero(), "only what was owned before needs quiet");
    assert!(adopted[0].epoch > before.epoch);
    ask(adopted[0].epoch);
    assert_eq!(log.violations(), 0);
    ask(before.epoch);
    assert_eq!(log.violations(), 1, "the check notices who goes on all the same");

    let rows = || {
        let mut client = server.client();
        let count = |table| client.query_one(&format!("SELECT count(*) FROM {}.{table}", place.schema), &[]);
        ["url", "visit", "queue", "hint"].map(count).map(|row| row.expect("a count").get::<_, i64>(0))
    };
    let untouched = rows();
    let stale = one.commit(&[(group(0), before.epoch)], ALL_SEEDS, &visit(&seed));
    assert!(matches!(stale, Err(WorkerError::Lost)), "{stale:?}");
    assert_eq!(rows(), untouched);
    assert!(matches!(one.renew(), Err(WorkerError::Lost)), "dead is final");
    assert_eq!(one.owned().expect("owned"), []);
    let is_given = other.hand_over((&group(0), adopted[0].epoch), one.id(), QUIET).expect("asked");
    assert!(!is_given, "nothing goes to the dead");
    let committed = other.commit(&[(group(0), adopted[0].epoch)], ALL_SEEDS, &visit(&seed)).expect("the owner's");
    assert!(!committed.fresh.is_empty());
}

#[test]
fn who_has_no_lease_any_more_calls_nobody_dead() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let [late, other] = [Duration::ZERO, LONG].map(|ttl| join(&place, ttl));
    let lapse = format!("UPDATE worker SET lease_until = '-infinity' WHERE worker = {}", other.id().0);
    place.execute(&lapse);
    assert_eq!(late.reap(GRACE).expect("reap"), [], "its own has ended, as if the database had been away");
    other.renew().expect("it is alive");
    place.execute(&lapse);
    assert_eq!(join(&place, LONG).reap(Duration::from_secs(60)).expect("reap"), [other.id()]);
}

#[test]
fn who_gets_too_few_connections_has_not_joined() {
    let server = Postgres::start();
    let place = Place::on(&server);
    drop(place.open().expect("open"));
    place.execute(&format!(
        "CREATE ROLE poor LOGIN CONNECTION LIMIT 3; GRANT ALL ON SCHEMA {0} TO poor; GRANT ALL ON ALL TABLES IN SCHEMA {0} TO poor",
        place.schema
    ));
    let address = Address::parse(&server.url_of("poor")).expect("an address");
    let error = PostgresWorker::join(&address, &place.schema, "w:1", LONG).err().expect("one is missing").to_string();
    assert!(error.contains("too many connections"), "{error}");
    let joined: i64 = server
        .client()
        .query_one(&format!("SELECT count(*) FROM {}.worker", place.schema), &[])
        .expect("a count")
        .get(0);
    assert_eq!(joined, 0, "the others would give it groups");
}

#[test]
fn a_renewal_does_not_wait_for_what_else_the_worker_does() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let [one, other] = [(); 2].map(|()| join(&place, LONG));
    other.place(&[(page(0, 0).site(), group(0))]).expect("placed");
    take(&other, 1).expect("taken");
    other.renew().expect("alive");
    let mut client = server.client();
    let lock = format!("SET search_path = {}; SELECT pg_advisory_lock_shared(originals())", place.schema);
    let segment =
        format!("INSERT INTO segment (serial, name, length, worker) VALUES (1, 'a.warc.gz', 1, {})", other.id().0);
    place.execute(&segment);
    place.execute(&format!("UPDATE worker SET lease_until = '-infinity' WHERE worker = {}", other.id().0));
    client.batch_execute(&lock).expect("a lock");
    thread::scope(|scope| {
        let reaping = scope.spawn(|| one.reap(GRACE).expect("reap"));
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'";
        let waits = || server.client().query_one(waiting, &[]).expect("the server answers").get::<_, i64>(0) > 0;
        until("it waits", || waits() || reaping.is_finished());
        assert!(!reaping.is_finished());
        one.renew().expect("it is alive");
        assert!(!reaping.is_finished(), "the renewal was answered before");
        client.batch_execute("SELECT pg_advisory_unlock_all()").expect("the lock is ours");
        assert_eq!(reaping.join().expect("no panic"), [other.id()]);
    });
}

#[test]
fn no_hints_stay_behind_for_a_worker_that_is_gone() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    one.place(&[(page(0, 0).site(), group(0))]).expect("placed");
    assert_eq!(take(&one, 1).expect("taken"), 1);
    one.hints(9).expect("those of placing");
    // It is called dead, and owns its group until its visits are undone.
    place.execute(&format!("UPDATE worker SET state = 'dead' WHERE worker = {}", one.id().0));
    let found = vec![found(page(0, 7), 1)];
    other.commit(&[], ALL_SEEDS, &Batch { found, ..Batch::default() }).expect("commit");
    let hints = || -> i64 {
        let count = format!("SELECT count(*) FROM {}.hint", place.schema);
        server.client().query_one(&count, &[]).expect("a count").get(0)
    };
    assert_eq!(hints(), 1);
    other.reap(GRACE).expect("reap");
    assert_eq!(hints(), 0);
    assert_eq!(other.ownerless(9).expect("ownerless").len(), 1, "it is free");
}

#[test]
fn a_group_that_lost_its_owner_in_the_future_has_just_lost_it() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let worker = join(&place, LONG);
    worker.place(&[(page(0, 0).site(), group(0))]).expect("placed");
    // As after a clock that was set back.
    place.execute("UPDATE politeness_group SET ownerless_since = clock_timestamp() + interval '1 min'");
    let free = worker.ownerless(9).expect("ownerless");
    assert_eq!(
        free.into_iter().map(|free| (free.group, free.ownerless)).collect::<Vec<_>>(),
        [(group(0), Duration::ZERO)]
    );
}

#[test]
fn a_site_moves_from_its_owner_to_whoever_has_the_other_group_and_nobody_else_moves_it() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let sites = [page(0, 0).site(), page(5, 0).site(), page(1, 0).site()];
    let pinned = sites.clone().into_iter().zip([group(0), group(0), group(1)]).collect::<Vec<_>>();
    one.place(&pinned).expect("placed");
    one.assign(&[(group(0), one.id()), (group(1), other.id())], QUIET).expect("assigned");
    let epoch = one.owned().expect("owned")[0].epoch;
    let moves =
        |worker: &PostgresWorker, epoch, to| worker.move_site(sites[0].key(), (&group(0), epoch), &to).expect("asked");
    let sites_of = |group: GroupName| -> Vec<_> {
        one.sites(&[group]).expect("sites").into_iter().map(|(site, _)| site).collect()
    };
    other.hints(9).expect("those of placing");
    assert!(!moves(&other, epoch, group(1)) && !moves(&one, Epoch(epoch.0 + 1), group(1)), "it is not its own");
    assert_eq!(sites_of(group(0)).len(), 2);
    for _ in 0..2 {
        assert!(moves(&one, epoch, group(1)), "as often as it is asked, if the answer is lost");
    }
    assert_eq!(sites_of(group(0)), [sites[1].key()]);
    let hint = Hint { site: sites[0].key(), group: group(1), of_record: false };
    assert_eq!(other.hints(9).expect("hints"), [hint], "told once");
    // To a group that nobody has yet.
    let epoch = other.owned().expect("owned")[0].epoch;
    assert!(other.move_site(sites[0].key(), (&group(1), epoch), &group(2)).expect("asked"));
    let free = one.ownerless(9).expect("ownerless");
    assert_eq!(free.into_iter().map(|free| free.group).collect::<Vec<_>>(), [group(2)]);
    assert_eq!(sites_of(group(2)), [sites[0].key()]);
}

#[test]
fn several_that_adopt_share_what_there_is_and_hints_reach_the_owner() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let workers: Vec<PostgresWorker> = (0..3).map(|_| join(&place, LONG)).collect();
    let mut groups: Vec<GroupName> = (0..60).map(|n| GroupName::of_address(IpAddr::from([10, 1, 0, n]))).collect();
    for (site, group) in (100..).zip(&groups) {
        assert_eq!(workers[0].place(&[(page(site, 0).site(), group.clone())]).expect("place")[0].owner, None);
    }
    let site_105 = groups[5].clone();
    let taken: usize = thread::scope(|scope| {
        let take_all = |worker: &PostgresWorker| {
            let mut taken = 0;
            while !worker.ownerless(1).expect("ownerless").is_empty() {
                taken += take(worker, 7).expect("take");
            }
            taken
        };
        let threads: Vec<_> = workers.iter().map(|worker| scope.spawn(move || take_all(worker))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    let taken_by: Vec<Vec<GroupName>> = workers
        .iter()
        .map(|worker| worker.owned().expect("owned").into_iter().map(|owned| owned.group).collect())
        .collect();
    let mut all: Vec<GroupName> = taken_by.concat();
    all.sort_unstable();
    groups.sort_unstable();
    assert_eq!((taken, &all), (groups.len(), &groups), "each once");

    let owner = (0..3).find(|n| taken_by[*n].contains(&site_105)).expect("somebody");
    let finder = &workers[(owner + 1) % 3];
    let own = finder.owned().expect("owned");
    let fence: Vec<_> = own.iter().take(1).map(|owned| (owned.group.clone(), owned.epoch)).collect();
    workers[owner].hints(1_000).expect("those of placing");
    if !fence.is_empty() {
        let batch = Batch { found: vec![found(page(105, 7), 1)], ..Batch::default() };
        finder.commit(&fence, ALL_SEEDS, &batch).expect("commit");
        let hint = Hint { site: page(105, 7).site().key(), group: site_105.clone(), of_record: false };
        assert_eq!(workers[owner].hints(10).expect("hints"), [hint]);
        assert_eq!(workers[owner].hints(10).expect("hints"), [], "once");
    }
}

#[test]
fn what_several_find_at_once_is_fresh_once_and_keeps_the_shortest_way() {
    find_at_once(&Postgres::start(), 30);
}

/// Each step of a commit must see what others committed while it waited: at these levels it would not.
#[test]
fn the_isolation_that_a_database_has_by_default_does_not_matter() {
    for level in ["repeatable read", "serializable"] {
        let server = Postgres::start();
        let default = format!("ALTER DATABASE postgres SET default_transaction_isolation = '{level}'");
        server.client().batch_execute(&default).expect("the database is ours");
        find_at_once(&server, 8);
    }
}

/// Has several workers find the same URLs, in so many commits each.
fn find_at_once(server: &Postgres, rounds: u32) {
    const URLS: u64 = 60;
    let place = Place::on(server);
    let fresh: usize = thread::scope(|scope| {
        let find = |worker: u32| {
            let place = &place;
            move || {
                let store = join(place, LONG);
                let mut fresh = 0;
                for round in 0..rounds {
                    // Each finds the same URLs of many sites in another order, and by ways of other lengths.
                    let depth = |n: u64| 10 + (u32::try_from(n).expect("small") * 7 + worker * 3) % 5;
                    let mut all: Vec<_> =
                        (0..URLS).map(|n| found(page(n % 9, n + 1_000 * u64::from(round)), depth(n))).collect();
                    all.rotate_left(worker as usize * 13);
                    let committed =
                        store.commit(&[], ALL_SEEDS, &Batch { found: all, ..Batch::default() }).expect("commit");
                    fresh += committed.fresh.len();
                }
                fresh
            }
        };
        let threads: Vec<_> = (0..4).map(|worker| scope.spawn(find(worker))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(fresh as u64, URLS * u64::from(rounds));
    // Nobody had to try again: neither for a deadlock nor for a transaction that could not be serialized.
    let rolled_back = "SELECT sum(deadlocks + xact_rollback)::bigint FROM pg_stat_database";
    let rolled_back: i64 = server.client().query_one(rolled_back, &[]).expect("statistics").get(0);
    assert_eq!(rolled_back, 0);
    let store = place.open().expect("the workers are gone");
    for entry in store.scan(None, usize::MAX).expect("scan") {
        let (_, n) = numbers(&entry.candidate.url);
        let n = u32::try_from(n % 1_000).expect("small");
        let shortest = (0..4).map(|worker| 10 + (n * 7 + worker * 3) % 5).min().expect("four");
        assert_eq!(entry.candidate.distance(), Distance { depth: shortest, redirects: 0 }, "{}", entry.candidate.url);
        let key = entry.candidate.url.key();
        let queued = store.pending(key.site, None, usize::MAX).expect("pending");
        assert_eq!(queued.iter().filter(|queued| queued.candidate.url.key() == key).count(), 1);
    }
}

#[test]
fn the_owner_of_a_site_learns_of_urls_that_are_reopened_and_a_site_without_a_group_is_to_be_placed() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let [owner, other] = [0, 1].map(|_| join(&place, LONG));
    let (mine, unplaced) = (page(1, 0), page(2, 0));
    owner.place(&[(mine.site(), group(1))]).expect("place");
    assert_eq!(owner.assign(&[(group(1), owner.id())], QUIET).expect("assign"), 1);
    let failed =
        |url: &CanonicalUrl| Visit::without_fetch(url.key(), Outcome::Timeout, "slow".to_owned(), Timestamp(1));
    let candidates = [&mine, &unplaced].map(|url| found(url.clone(), 1));
    let settled = candidates.iter().map(|candidate| (candidate.clone(), failed(&candidate.url))).collect();
    other.commit(&[], ALL_SEEDS, &Batch { settled, ..Batch::default() }).expect("commit");
    owner.hints(1_000).expect("those of placing");
    assert_eq!(owner.unplaced((0, 1), 10).expect("unplaced"), []);
    let reopened = candidates.iter().map(|candidate| candidate.url.key()).collect();
    let batch = Batch { reopened, ..Batch::default() };
    other.commit(&[], ALL_SEEDS, &batch).expect("commit");
    let hint = Hint { site: mine.site().key(), group: group(1), of_record: false };
    assert_eq!(owner.hints(10).expect("hints"), [hint]);
    assert_eq!(owner.waiting().expect("waiting"), [(mine.site().key(), group(1))]);
    assert_eq!(owner.unplaced((0, 1), 10).expect("unplaced"), [unplaced.site()]);
    assert_eq!(owner.pending(mine.site().key(), None, 10).expect("pending").len(), 1);
    other.commit(&[], ALL_SEEDS, &batch).expect("they are in the queue");
    assert_eq!(owner.hints(10).expect("hints"), []);
}
