//! Segments of workers: what is sealed stays; what is not goes back into the queue when its worker is lost, exactly that, and once.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use coordination::{Epoch, GroupName, Hint, Worker, WorkerError};
use model::{
    ArchiveLocation, Candidate, ContentDigest, Outcome, PayloadDigest, Purpose, RobotsAnswer, RobotsRecord, SiteRecord,
    Timestamp, Visit,
};
use postgres::Client;
use store::{Batch, CrawlView, Segment, Store};
use store_postgres::PostgresStore;
use store_postgres::cluster::PostgresWorker;
use testdb::{Postgres, until};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use crate::cluster::{GRACE, LONG, QUIET, found, group, join, page, take};
use crate::place::{ALL_SEEDS, Place};

/// Some payload.
pub fn digest(n: u8) -> PayloadDigest {
    PayloadDigest([n; 20])
}

/// The digest of what has this label.
pub fn content(n: u8) -> ContentDigest {
    ContentDigest::of(&digest(n).0)
}

/// A visit whose record is in a segment.
pub fn recorded(url: &CanonicalUrl, segment: u32, payload: u8) -> Visit {
    Visit {
        status: 200,
        digest: Some(digest(payload)),
        location: Some(ArchiveLocation { segment, offset: 0, length: 10 }),
        ..Visit::without_fetch(url.key(), Outcome::Html, String::new(), Timestamp(1))
    }
}

pub fn duplicate(url: &CanonicalUrl, segment: u32, payload: u8, original: &CanonicalUrl) -> Visit {
    Visit { outcome: Outcome::Duplicate, duplicate_of: Some(original.key()), ..recorded(url, segment, payload) }
}

fn segment(serial: u32) -> Segment {
    Segment { serial, name: format!("argiope-{serial}.warc.gz"), length: 10 }
}

fn name(serial: u32) -> String {
    segment(serial).name
}

/// A commit of visits in the segment that their records are in.
pub fn visits(visits: Vec<Visit>) -> Batch {
    let serials: BTreeSet<u32> = visits.iter().filter_map(|visit| Some(visit.location?.segment)).collect();
    let first = visits.iter().filter(|visit| visit.duplicate_of.is_none() && visit.location.is_some());
    Batch {
        holders: first.filter_map(|visit| Some((ContentDigest::of(&visit.digest?.0), visit.key))).collect(),
        segments: serials.into_iter().map(segment).collect(),
        visits,
        ..Batch::default()
    }
}

/// Pages of a site that are found, and whose site is pinned to its group.
pub fn begin(worker: &PostgresWorker, site: u64, pages: u64) -> Vec<CanonicalUrl> {
    let pages: Vec<CanonicalUrl> = (0..pages).map(|n| page(site, n)).collect();
    let found = pages.iter().map(|url| found(url.clone(), 1)).collect();
    worker.commit(&[], ALL_SEEDS, &Batch { found, ..Batch::default() }).expect("found");
    worker.place(&[(pages[0].site(), group(site))]).expect("placed");
    pages
}

/// Two workers of one crawl. Each has found pages of a site, and owns that site's group.
pub struct Two {
    pub place: Place,
    pub one: PostgresWorker,
    pub other: PostgresWorker,
    pub mine: Vec<CanonicalUrl>,
    pub theirs: Vec<CanonicalUrl>,
    pub fence: Vec<(GroupName, Epoch)>,
    pub other_fence: Vec<(GroupName, Epoch)>,
}

/// Two workers, and how many pages each has found.
pub fn two(server: &Postgres, mine: u64, theirs: u64) -> Two {
    let place = Place::on(server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let mine = begin(&one, 0, mine);
    let fence = own(&one);
    let theirs = begin(&other, 1, theirs);
    let other_fence = own(&other);
    Two { place, one, other, mine, theirs, fence, other_fence }
}

/// Takes all that nobody owns, and says under which epochs it is owned.
pub fn own(worker: &PostgresWorker) -> Vec<(GroupName, Epoch)> {
    take(worker, 9).expect("take");
    worker.owned().expect("owned").into_iter().map(|owned| (owned.group, owned.epoch)).collect()
}

pub fn hinted(worker: &PostgresWorker) -> Vec<SiteKey> {
    worker.hints(100).expect("hints").into_iter().map(|hint| hint.site).collect()
}

fn lapse(place: &Place, worker: &PostgresWorker) {
    place.execute(&format!("UPDATE worker SET lease_until = '-infinity' WHERE worker = {}", worker.id().0));
}

pub fn close(place: &Place, workers: Vec<PostgresWorker>) -> PostgresStore {
    drop(workers);
    place.open().expect("the workers are gone")
}

pub fn queue(store: &PostgresStore, site: &CanonicalUrl) -> Vec<UrlKey> {
    let queued = store.pending(site.site().key(), None, usize::MAX).expect("pending");
    assert!(queued.iter().all(|queued| queued.visited.is_none() && queued.attempts == 0), "as if never asked for");
    queued.iter().map(|queued| queued.candidate.url.key()).collect()
}

fn is_visited(store: &PostgresStore, url: &CanonicalUrl) -> bool {
    store.get(url.key()).expect("get").expect("known").visit.is_some()
}

fn count(client: &mut Client, place: &Place, what: &str) -> i64 {
    client.query_one(&format!("SELECT count(*) FROM {}.{what}", place.schema), &[]).expect("a count").get(0)
}

#[test]
fn when_a_worker_is_lost_exactly_what_it_did_not_seal_is_to_be_visited_again() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let mine = begin(&one, 0, 6);
    let sitemap = Candidate { purpose: Purpose::Sitemap, ..found(page(0, 99), 1) };
    one.commit(&[], ALL_SEEDS, &Batch { found: vec![sitemap.clone()], ..Batch::default() }).expect("found");
    let fence = own(&one);
    let theirs = begin(&other, 1, 3);
    let other_fence = own(&other);
    let (sealed, open, others) =
        (one.next_serial().expect("serial"), one.next_serial().expect("serial"), other.next_serial().expect("serial"));
    assert_eq!(BTreeSet::from([sealed, open, others]).len(), 3, "serial numbers are unique");

    let sites = vec![SiteRecord { pages_fetched: 1, ..SiteRecord::new(mine[0].site()) }];
    one.commit(&fence, ALL_SEEDS, &Batch { sites, ..visits(vec![recorded(&mine[0], sealed, 0)]) }).expect("commit");
    one.seal(sealed).expect("sealed");
    one.seal(sealed).expect("sealed is sealed");
    assert!(matches!(other.seal(open), Err(WorkerError::Lost)), "it is not its own");
    let disallowed = Visit::without_fetch(mine[3].key(), Outcome::Disallowed, String::new(), Timestamp(1));
    let batch = vec![
        recorded(&mine[1], open, 1),
        duplicate(&mine[2], open, 0, &mine[0]),
        disallowed,
        recorded(&sitemap.url, open, 9),
    ];
    let site = SiteRecord { pages_fetched: 3, sitemaps_read: 1, ..SiteRecord::new(mine[0].site()) };
    one.commit(&fence, ALL_SEEDS, &Batch { sites: vec![site], ..visits(batch) }).expect("commit");
    let copy = duplicate(&theirs[1], others, 1, &mine[1]);
    let place_of_copy = ArchiveLocation { segment: others, offset: 70, length: 10 };
    let batch = vec![recorded(&theirs[0], others, 2), Visit { location: Some(place_of_copy), ..copy }];
    let site = SiteRecord { pages_fetched: 2, ..SiteRecord::new(theirs[0].site()) };
    other.commit(&other_fence, ALL_SEEDS, &Batch { sites: vec![site], ..visits(batch) }).expect("commit");
    other.hints(100).expect("those of placing");

    lapse(&place, &one);
    assert_eq!(other.reap(GRACE).expect("reap"), [one.id()]);
    assert_eq!(other.ownerless(9).expect("ownerless").len(), 1, "it is free");
    assert_eq!(hinted(&other), [theirs[0].site().key()], "the owner learns of the duplicate");
    assert_eq!(other.lost_segments().expect("lost"), [name(open)]);
    assert_eq!(other.reap(GRACE).expect("reap"), []);
    assert_eq!(other.lost_segments().expect("lost"), [name(open)], "until somebody says that it is removed");
    other.forget(&name(open)).expect("forget");
    assert!(other.lost_segments().expect("lost").is_empty());
    other.forget(&name(sealed)).expect("forget");
    let segments = other.segments().expect("segments");
    let segments: Vec<_> = segments.iter().map(|one| (one.segment.serial, one.worker, one.is_sealed)).collect();
    assert_eq!(
        segments,
        [(sealed, Some(one.id()), true), (others, Some(other.id()), false)],
        "only the lost is forgotten"
    );
    assert!(matches!(one.seal(open), Err(WorkerError::Lost)), "who comes back learns that it was lost");

    let store = close(&place, vec![one, other]);
    let taken_back = store.taken_back().expect("taken back");
    assert_eq!(taken_back, BTreeMap::from([(others, vec![70])]), "of what is lost no dataset has rows");
    let again: BTreeSet<UrlKey> = [&mine[1], &mine[2], &mine[4], &mine[5], &sitemap.url].map(CanonicalUrl::key).into();
    let queued = queue(&store, &mine[0]);
    assert_eq!((queued.len(), BTreeSet::from_iter(queued)), (again.len(), again));
    assert_eq!(BTreeSet::from_iter(queue(&store, &theirs[0])), BTreeSet::from([theirs[1].key(), theirs[2].key()]));
    for stays in [&mine[0], &mine[3], &theirs[0]] {
        assert!(is_visited(&store, stays), "{stays}");
    }
    let holders = [0, 1, 2, 9].map(|n| store.holder(content(n), Some(digest(n))).expect("holder"));
    assert_eq!(holders, [Some(mine[0].key()), None, Some(theirs[0].key()), None]);
    let counted = |url: &CanonicalUrl| {
        let site = store.site(url.site().key()).expect("site").expect("known");
        (site.pages_fetched, site.sitemaps_read)
    };
    assert_eq!((counted(&mine[0]), counted(&theirs[0])), ((1, 0), (1, 0)));
}

#[test]
fn counts_that_are_taken_back_stay_so_though_an_owner_has_counted_on_from_them() {
    let server = Postgres::start();
    let Two { one, other, mine, fence, .. } = two(&server, 4, 1);
    let (lost, open) = (one.next_serial().expect("serial"), other.next_serial().expect("serial"));
    let visited = |worker: &PostgresWorker, fence: &[_], pages_fetched, visit: Visit| {
        let sites = vec![SiteRecord { pages_fetched, ..SiteRecord::new(mine[0].site()) }];
        worker.commit(fence, ALL_SEEDS, &Batch { sites, ..visits(vec![visit]) }).expect("commit");
    };
    let counted = || other.own_site(mine[0].site().key()).expect("site").expect("known").pages_fetched;
    visited(&one, &fence, 1, recorded(&mine[0], lost, 1));
    // One that was found in a later round counts as well.
    visited(&one, &fence, 2, Visit { round: 2, ..recorded(&mine[1], lost, 2) });
    assert!(one.hand_over((&fence[0].0, fence[0].1), other.id(), QUIET).expect("asked"));
    let fence = own(&other);
    assert_eq!(counted(), 2);
    other.hints(100).expect("those of placing");
    one.gone().expect("gone");
    assert_eq!(counted(), 0);
    // It does not know yet.
    visited(&other, &fence, 3, recorded(&mine[2], open, 3));
    assert_eq!(counted(), 1);
    let hints = other.hints(100).expect("hints");
    assert!(hints.iter().any(|hint| hint.site == mine[0].site().key() && hint.of_record), "{hints:?}");
    visited(&other, &fence, 2, recorded(&mine[3], open, 4));
    assert_eq!(counted(), 2);
}

#[test]
fn an_owner_reads_the_record_of_a_site_again_where_a_visit_that_it_counted_is_left_out() {
    let server = Postgres::start();
    let Two { one, mine, fence, .. } = two(&server, 1, 1);
    let serial = one.next_serial().expect("serial");
    // A page when it was asked for, and a requisite by now.
    let requisite = Candidate { purpose: Purpose::Requisite, ..found(page(0, 50), 1) };
    one.commit(&[], ALL_SEEDS, &Batch { found: vec![requisite.clone()], ..Batch::default() }).expect("found");
    one.hints(100).expect("those of placing");
    let sites = vec![SiteRecord { pages_fetched: 1, ..SiteRecord::new(mine[0].site()) }];
    let batch = Batch { sites, ..visits(vec![recorded(&requisite.url, serial, 1)]) };
    one.commit(&fence, ALL_SEEDS, &batch).expect("commit");
    let hint = Hint { site: mine[0].site().key(), group: group(0), of_record: true };
    assert_eq!(one.hints(100).expect("hints"), [hint]);
    assert_eq!(one.own_site(mine[0].site().key()).expect("site").expect("known").pages_fetched, 0);
}

#[test]
fn what_is_known_of_a_robots_txt_goes_with_the_segment_of_its_record() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let (stays, goes) = (begin(&one, 0, 1), begin(&one, 1, 1));
    let fence = own(&one);
    let (sealed, open) = (one.next_serial().expect("serial"), one.next_serial().expect("serial"));
    let asked = |url: &CanonicalUrl, serial: u32| {
        let answer = RobotsAnswer::Status { code: 404, body: Default::default() };
        let robots =
            Some(RobotsRecord { fetched_at: Timestamp(1), failed_tries: 0, answer, is_cut: false, renewal: None });
        let sites = vec![SiteRecord { robots, ..SiteRecord::new(url.site()) }];
        one.commit(&fence, ALL_SEEDS, &Batch { sites, segments: vec![segment(serial)], ..Batch::default() })
            .expect("commit");
    };
    asked(&stays[0], sealed);
    let unsealed = || one.unsealed_robots().expect("unsealed");
    assert_eq!(unsealed(), [(stays[0].site().key(), sealed)]);
    one.seal(sealed).expect("sealed");
    asked(&goes[0], open);
    assert_eq!(unsealed(), [(goes[0].site().key(), open)]);
    assert_eq!(other.unsealed_robots().expect("unsealed"), [], "each has its own");
    let knows = |worker: &PostgresWorker, url: &CanonicalUrl| {
        worker.own_site(url.site().key()).expect("site").expect("known").robots.is_some()
    };
    assert_eq!((knows(&one, &stays[0]), knows(&one, &goes[0])), (true, true));
    assert_eq!((knows(&other, &stays[0]), knows(&other, &goes[0])), (true, false), "it may be lost with the other");

    lapse(&place, &one);
    assert_eq!(other.reap(GRACE).expect("reap"), [one.id()]);
    let store = close(&place, vec![one, other]);
    let knows = |url: &CanonicalUrl| store.site(url.site().key()).expect("site").expect("known").robots.is_some();
    assert_eq!((knows(&stays[0]), knows(&goes[0])), (true, false), "it is asked for and recorded again");
}

#[test]
fn a_duplicate_of_what_was_undone_meanwhile_is_not_visited() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 2, 3);
    let (lost, open) = (one.next_serial().expect("serial"), other.next_serial().expect("serial"));
    one.commit(&fence, ALL_SEEDS, &visits(vec![recorded(&mine[0], lost, 1)])).expect("commit");
    assert_eq!(other.holder(content(1), Some(digest(1))).expect("holder"), Some(mine[0].key()), "looked up before");
    one.gone().expect("gone");
    other.hints(100).expect("those of placing");
    let batch = vec![
        duplicate(&theirs[0], open, 1, &mine[0]),
        Visit {
            location: Some(ArchiveLocation { segment: open, offset: 50, length: 10 }),
            ..recorded(&theirs[1], open, 2)
        },
        duplicate(&theirs[2], open, 2, &theirs[1]),
    ];
    other.commit(&other_fence, ALL_SEEDS, &visits(batch)).expect("commit");
    assert_eq!(other.taken_back().expect("taken back"), BTreeMap::from([(open, vec![0])]), "its record stays");
    assert_eq!(hinted(&other), [theirs[0].site().key()]);
    let store = close(&place, vec![one, other]);
    assert_eq!(queue(&store, &theirs[0]), [theirs[0].key()]);
    assert!(is_visited(&store, &theirs[2]), "its original is of the same commit");
}

#[test]
fn what_is_committed_while_the_worker_is_called_dead_is_undone_too() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let pages = begin(&one, 0, 2);
    let fence = own(&one);
    let serial = one.next_serial().expect("serial");
    let mut client = server.client();
    client.batch_execute(&format!("SET search_path = {}", place.schema)).expect("the schema");
    let mut blocker = client.transaction().expect("a transaction");
    blocker.batch_execute("SELECT FROM url FOR UPDATE").expect("locks");
    thread::scope(|scope| {
        let in_flight = scope.spawn(|| one.commit(&fence, ALL_SEEDS, &visits(vec![recorded(&pages[0], serial, 1)])));
        let waiting = "pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%commit(%'";
        let mut watch = server.client();
        let mut waiting =
            || -> i64 { watch.query_one(&format!("SELECT count(*) FROM {waiting}"), &[]).expect("a count").get(0) };
        until("the commit waits", || waiting() == 1);
        lapse(&place, &one);
        assert_eq!(other.reap(GRACE).expect("reap"), [one.id()]);
        assert_eq!(other.ownerless(9).expect("ownerless"), [], "not as long as it may write");
        blocker.rollback().expect("no locks");
        in_flight.join().expect("no panic").expect("it came before");
    });
    assert!(other.segments().expect("segments").iter().any(|written| written.segment.serial == serial));
    other.reap(GRACE).expect("reap");
    assert_eq!(other.lost_segments().expect("lost"), [name(serial)]);
    assert_eq!(other.ownerless(9).expect("ownerless").len(), 1);
    let late = one.commit(&[], ALL_SEEDS, &visits(vec![recorded(&pages[1], serial, 2)]));
    assert!(matches!(late, Err(WorkerError::Lost)), "{late:?}");
    let store = close(&place, vec![one, other]);
    assert_eq!(queue(&store, &pages[0]).len(), 2);
}

#[test]
fn undoing_that_is_cut_off_is_finished_by_whoever_comes_next_and_does_nothing_twice() {
    const PAGES: u64 = 5_000;
    const SEALED: u64 = 100;
    /// Duplicates of one page: more than are undone at once.
    const DUPLICATES: u64 = 1_500;
    let mut server = Postgres::start();
    let place = Place::on(&server);
    let (one, other, third) = (join(&place, LONG), join(&place, LONG), join(&place, LONG));
    let pages = begin(&one, 0, PAGES);
    let fence = own(&one);
    let theirs = begin(&other, 1, DUPLICATES);
    let other_fence = own(&other);
    let serials = [(); 4].map(|()| one.next_serial().expect("serial"));
    let segment_of = |n: u64| if n < SEALED { serials[0] } else { serials[1 + usize::from(n.is_multiple_of(2))] };
    let mine = (0..).zip(&pages).map(|(n, url)| Visit { digest: None, ..recorded(url, segment_of(n), 0) });
    let site = SiteRecord { pages_fetched: PAGES, ..SiteRecord::new(pages[0].site()) };
    one.commit(&fence, ALL_SEEDS, &Batch { sites: vec![site], ..visits(mine.collect()) }).expect("commit");
    one.seal(serials[0]).expect("sealed");
    let original = pages.last().expect("a page");
    let copies = theirs.iter().map(|url| duplicate(url, serials[3], 1, original)).collect();
    other.commit(&other_fence, ALL_SEEDS, &visits(copies)).expect("commit");

    lapse(&place, &one);
    thread::scope(|scope| {
        let reapers = [&other, &third].map(|worker| {
            scope.spawn(move || {
                // Several calls, as a worker makes them; the first is cut off with the server.
                for _ in 0..3 {
                    worker.reap(GRACE).expect("reap");
                }
            })
        });
        let mut client = server.client();
        until("some are undone", || {
            count(&mut client, &place, "visit") < i64::try_from(PAGES + DUPLICATES).expect("small")
        });
        drop(client);
        server.kill();
        server.restart();
        server.wait();
        for reaper in reapers {
            reaper.join().expect("no panic");
        }
    });
    until("all is undone", || {
        other.reap(Duration::ZERO).expect("reap");
        other.lost_segments().expect("lost").len() == 2
    });
    let mut client = server.client();
    assert_eq!(count(&mut client, &place, "visit"), i64::try_from(SEALED).expect("small"));
    assert_eq!(other.assign(&[(group(0), other.id())], QUIET).expect("assign"), 1, "free at the end");
    drop(client);
    let store = close(&place, vec![one, other, third]);
    let queued = queue(&store, &pages[0]);
    let expected: BTreeSet<UrlKey> =
        pages[usize::try_from(SEALED).expect("small")..].iter().map(CanonicalUrl::key).collect();
    assert_eq!(queued.len(), expected.len(), "each once");
    assert!(BTreeSet::from_iter(queued) == expected);
    assert_eq!(queue(&store, &theirs[0]).len() as u64, DUPLICATES);
    assert_eq!(store.site(pages[0].site().key()).expect("site").expect("known").pages_fetched, SEALED);
}
