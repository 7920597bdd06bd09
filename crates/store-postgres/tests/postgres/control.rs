//! What servers ask of the state: crawls that a single process began, URLs admitted after all, and what is waited for.

use std::time::Duration;

use coordination::{GroupName, InForce, Worker};
use model::{Candidate, Outcome, Timestamp, Via, Visit};
use store::{Batch, CrawlView, Store};
use store_postgres::cluster::{Control, GoingBy, PostgresWorker, Reach, Setup};
use testdb::{Postgres, until};
use weburl::{CanonicalRules, CanonicalUrl};

use crate::place::{ALL_SEEDS, Place};
use crate::sealed::hinted;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
}

fn excluded(text: &str) -> (Candidate, Visit) {
    let candidate = Candidate { depth: 3, via: Via::Link, ..Candidate::seed(url(text)) };
    let visit = Visit::without_fetch(candidate.url.key(), Outcome::Excluded, String::new(), Timestamp(1));
    (candidate, visit)
}

fn open(place: &Place) -> Control {
    Control::open(&place.address, &place.schema).expect("opened")
}

fn join(place: &Place) -> PostgresWorker {
    PostgresWorker::join(&place.address, &place.schema, "w:1", Duration::from_secs(600)).expect("joined")
}

fn hosts(name: &str, below: bool) -> Reach {
    Reach { hosts: vec![(name.to_owned(), below)], ..Reach::default() }
}

pub fn setup(settings: &str, lease_seconds: u64) -> Setup {
    Setup {
        settings: settings.to_owned(),
        archive: "file:///a".to_owned(),
        lease: Duration::from_secs(lease_seconds),
        placement: "hash".to_owned(),
        bottom: 3,
    }
}

#[test]
fn a_crawl_of_an_earlier_format_is_told_what_workers_agree_on_once() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let control = open(&place);
    control.set_up(&setup("depth = 3", 20)).expect("set up");
    let mut client = server.client();
    let earlier = "SET search_path = {};
        UPDATE crawl SET lease_seconds = NULL, placement = NULL, bottom = NULL";
    client.batch_execute(&earlier.replace("{}", place.schema.as_str())).expect("the schema");
    let shared = control.shared().expect("read").expect("set up");
    assert_eq!((shared.lease, shared.placement), (None, None));
    for lease_seconds in [30, 40] {
        let shared = control.set_up(&setup("depth = 4", lease_seconds)).expect("set up");
        assert_eq!((shared.lease, shared.settings.as_str()), (Some(Duration::from_secs(30)), "depth = 3"));
    }
}

#[test]
fn changes_come_one_after_the_other_and_workers_say_which_they_go_by() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    assert_eq!(control.in_force(None).expect("read"), None, "nothing is set up");
    control.set_up(&setup("depth = 3", 20)).expect("set up");
    let in_force = |changes, settings: &str| Some(InForce { changes, settings: settings.to_owned() });
    assert_eq!(control.in_force(None).expect("read"), in_force(InForce::SET_UP, "depth = 3"));
    assert_eq!(worker.in_force(Some(InForce::SET_UP)).expect("read"), None);
    let changes = |after, settings, at, texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        control.change(after, settings, Timestamp(at), &texts).expect("asked")
    };
    let change = |after, settings, at, text| changes(after, settings, at, &[text]);
    assert_eq!(change(0, Some("paused = true"), 7, "\"pause\""), Some(1));
    assert_eq!(change(0, Some("paused = false"), 8, "\"resume\""), None, "another was made meanwhile");
    assert_eq!(change(1, None, 9, "\"stop\""), Some(2));
    assert_eq!(worker.in_force(Some(1)).expect("read"), in_force(2, "paused = true"));
    let texts = |max| control.changes(max).expect("read");
    assert_eq!(texts(1), [(Timestamp(9), "\"stop\"".to_owned())]);
    assert_eq!(texts(9).first(), Some(&(Timestamp(7), "\"pause\"".to_owned())));
    assert_eq!(control.going_by(2).expect("asked"), GoingBy { going: 0, behind: 1 });
    worker.goes_by(2).expect("told");
    assert_eq!(control.going_by(2).expect("asked"), GoingBy { going: 1, behind: 0 });
    assert_eq!(control.shared().expect("read").map(|shared| shared.settings).as_deref(), Some("depth = 3"));
    // Several are made at once, or none of them.
    assert_eq!(changes(1, Some("depth = 4"), 10, &["\"first\"", "\"second\""]), None);
    assert_eq!(changes(2, Some("depth = 4"), 10, &["\"first\"", "\"second\""]), Some(4));
    assert_eq!(texts(2), ["\"first\"", "\"second\""].map(|text| (Timestamp(10), text.to_owned())));
    assert_eq!(worker.in_force(Some(2)).expect("read"), in_force(4, "depth = 4"));
    assert_eq!(change(4, None, 11, "\"stop\""), Some(5));
}

#[test]
fn a_crawl_that_an_earlier_program_paused_stays_paused() {
    let server = Postgres::start();
    let place = Place::on(&server);
    open(&place).set_up(&setup("depth = 3", 20)).expect("set up");
    let earlier = "SET search_path = {};
        ALTER TABLE robots DROP renewal; ALTER TABLE crawl DROP in_force, DROP changes, DROP began_at, ADD is_paused boolean NOT NULL DEFAULT true;
        ALTER TABLE worker DROP changes, DROP is_lost; ALTER TABLE writer DROP committed_at; ALTER TABLE site DROP asked_until;
        ALTER TABLE meta DROP committed_at; ALTER TABLE hint DROP of_record; DROP INDEX site_aside;
        DROP TABLE spent, taken_back, change; UPDATE meta SET version = 13";
    server.client().batch_execute(&earlier.replace("{}", place.schema.as_str())).expect("the schema");
    let in_force = open(&place).in_force(None).expect("read").expect("set up");
    assert_eq!(in_force.settings, "paused = true\ndepth = 3");
}

#[test]
fn the_date_of_the_last_commit_stays_though_its_worker_is_gone() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let control = open(&place);
    let committed_at = || control.counts().expect("counted").committed_at;
    assert_eq!(committed_at(), None);
    let workers = [join(&place), join(&place)];
    for worker in &workers {
        worker.commit(&[], ALL_SEEDS, &Batch::default()).expect("committed");
    }
    let last = committed_at();
    assert!(last.is_some());
    // The last one first: what the other leaves is earlier.
    for worker in workers.iter().rev() {
        worker.gone().expect("gone");
        assert_eq!(committed_at(), last);
    }
    drop(join(&place));
    drop((control, workers));
    let id = open(&place).crawl_id().to_owned();
    assert!(Control::forget(&place.address, &place.schema, &id).expect("forgotten"));
    assert_eq!(open(&place).counts().expect("counted").committed_at, None, "of another crawl");
}

#[test]
fn a_crawl_is_forgotten_by_its_id_and_only_while_nobody_has_it_open() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let forget = |id: &str| Control::forget(&place.address, &place.schema, id);
    let control = open(&place);
    let id = control.crawl_id().to_owned();
    control.set_up(&setup("depth = 3", 20)).expect("set up");
    control.add(&[Candidate::seed(url("http://a.test/"))]).expect("added");
    assert!(forget(&id).is_err(), "a server is running");
    drop(control);
    assert!(!forget("another").expect("asked"));
    assert!(open(&place).shared().expect("read").is_some(), "another crawl is not meant");
    assert!(forget(&id).expect("forgotten"));
    assert!(!forget(&id).expect("asked"), "that crawl is gone");
    let control = open(&place);
    assert_ne!(control.crawl_id(), id);
    assert_eq!((control.shared().expect("read"), control.totals().expect("counted").urls), (None, 0));
    control.set_up(&setup("depth = 5", 20)).expect("set up");
    control.add(&[Candidate::seed(url("http://b.test/"))]).expect("added");
    assert_eq!(join(&place).news(0).expect("news").last, 1, "everything begins from the beginning");
}

#[test]
fn workers_learn_of_a_seed_again_when_it_comes_to_be_at_depth_0() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    let seed = |depth| Candidate { depth, ..Candidate::seed(url("http://a.test/")) };
    let mut last = 0;
    for (depth, is_told) in [(3, true), (4, false), (2, false), (0, true), (0, false), (1, false)] {
        control.add(&[seed(depth)]).expect("added");
        let news = worker.news(last).expect("news");
        let expect = if is_told { vec![seed(depth)] } else { Vec::new() };
        assert_eq!(news.seeds, expect, "a seed at depth {depth}");
        last = news.last;
    }
    assert_eq!(worker.news(0).expect("news").seeds.len(), 1);
}

#[test]
fn a_crawl_that_a_single_process_began_goes_on_with_workers() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let seeds: Vec<_> = ["http://a.test/", "http://a.test/x", "https://[::1]:81/"].map(url).into();
    let found = seeds.iter().cloned().map(Candidate::seed).collect();
    place.open().expect("alone").commit(&Batch { found, seeds, ..Batch::default() }).expect("committed");
    let control = open(&place);
    assert_eq!(control.shared().expect("read"), None);
    let shared = control.set_up(&setup("depth = 3", 20)).expect("set up");
    assert_eq!((shared.settings.as_str(), shared.archive.as_str()), ("depth = 3", "file:///a"));
    assert_eq!((shared.lease, shared.placement.as_deref()), (Some(Duration::from_secs(20)), Some("hash")));
    assert_eq!(control.counts().expect("counted").sites_without_group, 2);
    // The first to set it up is right.
    assert_eq!(open(&place).set_up(&setup("depth = 4", 30)).expect("read"), shared);
    assert!(place.open().is_err(), "a single process is kept out");
}

#[test]
fn what_was_excluded_is_admitted_once_and_in_pieces_of_any_number() {
    const URLS: u64 = 2_500;
    let server = Postgres::start();
    let place = Place::on(&server);
    let mut settled: Vec<_> = (0..URLS).map(|n| excluded(&format!("http://b.a.test:8080/{n}"))).collect();
    settled.extend(["http://b.a.test/", "http://a.test/", "http://x-a.test/", "http://other.test/"].map(excluded));
    let control = open(&place);
    join(&place).commit(&[], ALL_SEEDS, &Batch { settled, ..Batch::default() }).expect("committed");
    let waits = |name, below| control.is_waiting(&hosts(name, below), None).expect("read");
    assert!(!control.is_waiting(&Reach { all: true, ..Reach::default() }, None).expect("read"));
    let is_even = |url: &CanonicalUrl| url.as_str().ends_with(['0', '2', '4', '6', '8']);
    let below = [("a.test".to_owned(), true)];
    assert_eq!(control.admit(&below, &[], is_even).expect("admitted"), URLS / 2);
    assert_eq!(control.admit(&below, &[], is_even).expect("admitted"), 0, "once");
    assert!(waits("b.a.test", false) && waits("a.test", true) && !waits("a.test", false) && !waits("x-a.test", true));
    assert_eq!(control.admit(&[("b.a.test".to_owned(), false)], &[], |_| true).expect("admitted"), URLS / 2 + 1);
    assert_eq!(control.admit(&[], &[url("http://other.test/").key()], |_| false).expect("admitted"), 1);
    let outcomes = control.outcomes(&hosts("a.test", true)).expect("counted");
    assert_eq!((outcomes.waiting, outcomes.outcomes.len()), (URLS + 1, 0), "that of a.test has no queue");
    let entry = control.get(url("http://other.test/").key()).expect("read").expect("known");
    assert_eq!((entry.candidate.depth, entry.visit), (3, None));
    assert_eq!(control.counts().expect("counted").sites_without_group, 3);
}

#[test]
fn what_is_excluded_by_who_does_not_know_a_seed_is_judged_again() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    let exclude = |seeds, texts: &[&str]| {
        let settled = texts.iter().copied().map(excluded).collect();
        worker.commit(&[], seeds, &Batch { settled, ..Batch::default() }).expect("committed");
    };
    let unjudged = || worker.unjudged(9).expect("read");
    exclude(0, &["http://one.test/0"]);
    control.add(&[Candidate::seed(url("http://seed.test/"))]).expect("added");
    let number = worker.news(0).expect("news").last;
    exclude(number, &["http://one.test/1"]);
    assert_eq!(unjudged(), [], "by all seeds");
    exclude(number - 1, &["http://one.test/1", "http://one.test/2", "http://one.test/3"]);
    assert_eq!(unjudged().len(), 2, "what was settled before was not excluded now");
    let keys: Vec<_> = unjudged().iter().map(CanonicalUrl::key).collect();
    for _ in 0..2 {
        worker.judged(&keys, &keys[..1]).expect("judged");
    }
    assert_eq!(unjudged(), []);
    let is_excluded = |text: &str| control.get(url(text).key()).expect("read").expect("known").visit.is_some();
    let excluded = ["0", "1", "2", "3"].iter().filter(|n| is_excluded(&format!("http://one.test/{n}"))).count();
    assert_eq!(excluded, 3);
}

#[test]
fn who_adds_a_seed_waits_for_who_excludes_something_at_that_moment() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    let mut client = server.client();
    client.batch_execute(&format!("SET search_path = {}", place.schema)).expect("the schema");
    // A commit waits for who places a site of it at the same time.
    let found = Candidate { via: Via::Link, ..Candidate::seed(url("http://found.test/")) };
    let mut blocker = client.transaction().expect("a transaction");
    let site = "INSERT INTO unplaced SELECT $1, 'http://found.test'";
    let key = found.url.key().site.0 ^ (1 << 63);
    blocker.execute(site, &[&key.cast_signed()]).expect("inserted");
    let waiting = || -> i64 {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        server.client().query_one(waiting, &[]).expect("a count").get(0)
    };
    let batch = Batch { found: vec![found], settled: vec![excluded("http://one.test/x")], ..Batch::default() };
    std::thread::scope(|scope| {
        let excluding = scope.spawn(|| worker.commit(&[], 0, &batch).expect("committed"));
        until("the commit waits", || waiting() == 1);
        let adding = scope.spawn(|| {
            control.add(&[Candidate::seed(url("http://one.test/"))]).expect("added");
            control.admit(&[("one.test".to_owned(), false)], &[], |_| true).expect("admitted")
        });
        until("who adds the seed waits too", || waiting() == 2);
        blocker.rollback().expect("no locks");
        excluding.join().expect("no panic");
        assert_eq!(adding.join().expect("no panic"), 1, "what was excluded before");
    });
    assert_eq!(worker.unjudged(9).expect("read"), []);
}

#[test]
fn the_owner_of_a_site_learns_of_seeds_that_were_known_and_are_nearer_now() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    let seed = |depth| Candidate { depth, ..Candidate::seed(url("http://a.test/")) };
    let (site, group) = (seed(0).url.site(), GroupName::of_site(&seed(0).url.site()));
    control.add(&[seed(9)]).expect("added");
    assert_eq!(worker.unplaced((0, 1), 9).expect("unplaced"), std::slice::from_ref(&site));
    worker.place(&[(site.clone(), group.clone())]).expect("placed");
    worker.assign(&[(group, worker.id())], Duration::ZERO).expect("assigned");
    worker.hints(9).expect("those of placing");
    control.add(&[seed(9)]).expect("added");
    assert_eq!(hinted(&worker), [], "nothing is new");
    control.add(&[seed(5)]).expect("added");
    assert_eq!(hinted(&worker), [site.key()]);
    let settled = vec![excluded("http://a.test/x")];
    worker.commit(&[], ALL_SEEDS, &Batch { settled, ..Batch::default() }).expect("committed");
    assert_eq!(control.admit(&[("a.test".to_owned(), false)], &[], |_| true).expect("admitted"), 1);
    assert_eq!(hinted(&worker), [site.key()]);
    let placed = control.placed(site.key()).expect("read").expect("placed");
    assert_eq!(placed.owner, Some(worker.id()));
    assert_eq!(
        control.sites_owned(&control.members().expect("read")).expect("counted").into_iter().collect::<Vec<_>>(),
        [(worker.id(), 1)]
    );
    assert_eq!(control.answering().expect("read"), (vec!["w:1".to_owned()], Vec::new()));
}
