//! What servers ask of the state: crawls that a single process began, URLs admitted after all, and what is waited for.

use std::time::Duration;

use model::{Candidate, Outcome, Timestamp, Via, Visit};
use store::{Batch, Store};
use store_postgres::cluster::{Control, GroupName, Reach, Worker};
use testdb::Postgres;
use weburl::{CanonicalRules, CanonicalUrl};

use crate::place::Place;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
}

fn excluded(text: &str) -> (Candidate, Visit) {
    let candidate = Candidate { depth: 3, via: Via::Link, ..Candidate::seed(url(text)) };
    let visit = Visit::without_fetch(candidate.url.key(), Outcome::Excluded, String::new(), Timestamp(1));
    (candidate, visit)
}

fn open(place: &Place) -> Control {
    Control::open(&place.address, &place.schema, &place.options).expect("opened")
}

fn join(place: &Place) -> Worker {
    Worker::join(&place.address, &place.schema, "w:1", Duration::from_secs(600), &place.options).expect("joined")
}

fn hosts(name: &str, below: bool) -> Reach {
    Reach { hosts: vec![(name.to_owned(), below)], ..Reach::default() }
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
    let shared = control.set_up("depth = 3", "file:///a").expect("set up");
    assert_eq!(
        (shared.settings.as_str(), shared.archive.as_str(), shared.is_paused),
        ("depth = 3", "file:///a", false)
    );
    assert_eq!(control.counts().expect("counted").sites_without_group, 2);
    // The first to set it up is right.
    assert_eq!(open(&place).set_up("depth = 4", "file:///b").expect("read"), shared);
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
    join(&place).commit(&[], &Batch { settled, ..Batch::default() }).expect("committed");
    let waits = |name, below| control.is_waiting(&hosts(name, below)).expect("read");
    assert!(!control.is_waiting(&Reach { all: true, ..Reach::default() }).expect("read"));
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
fn the_owner_of_a_site_learns_of_seeds_that_were_known_and_are_nearer_now() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (control, worker) = (open(&place), join(&place));
    let seed = |depth| Candidate { depth, ..Candidate::seed(url("http://a.test/")) };
    let (site, group) = (seed(0).url.site(), GroupName::of_site(&seed(0).url.site()));
    control.add(&[seed(9)]).expect("added");
    assert_eq!(worker.unplaced((0, 1), 9).expect("unplaced"), std::slice::from_ref(&site));
    worker.place(&[(site.clone(), group.clone())]).expect("placed");
    worker.assign(&[(group.clone(), worker.id())], Duration::ZERO).expect("assigned");
    worker.hints(9).expect("those of placing");
    control.add(&[seed(9)]).expect("added");
    assert_eq!(worker.hints(9).expect("hints"), [], "nothing is new");
    control.add(&[seed(5)]).expect("added");
    assert_eq!(worker.hints(9).expect("hints"), [(site.key(), group.clone())]);
    let settled = vec![excluded("http://a.test/x")];
    worker.commit(&[], &Batch { settled, ..Batch::default() }).expect("committed");
    assert_eq!(control.admit(&[("a.test".to_owned(), false)], &[], |_| true).expect("admitted"), 1);
    assert_eq!(worker.hints(9).expect("hints"), [(site.key(), group)]);
    let placed = control.placed(site.key()).expect("read").expect("placed");
    assert_eq!(placed.owner, Some(worker.id()));
    assert_eq!(
        control.sites_owned(&control.members().expect("read")).expect("counted").into_iter().collect::<Vec<_>>(),
        [(worker.id(), 1)]
    );
    assert_eq!(control.answering().expect("read"), (vec!["w:1".to_owned()], Vec::new()));
}
