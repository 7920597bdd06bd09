//! Rounds of several workers: URLs to be visited again reach their owners, and what is lost of a visit is lost of its URL alone.

use coordination::{Epoch, GroupName, Hint, Worker};
use model::{Aside, Failure, FailureKind, Outcome, Round, SiteRecord, Timestamp, Visit};
use store::{Batch, CrawlView, Store};
use store_postgres::PostgresStore;
use store_postgres::cluster::{Control, PostgresWorker, SiteStanding, SitesAsked};
use testdb::Postgres;
use weburl::{CanonicalUrl, UrlKey};

use crate::cluster::{LONG, QUIET, group, join};
use crate::place::{ALL_SEEDS, Place};
use crate::sealed::{Two, begin, close, content, digest, duplicate, hinted, own, queue, recorded, two, visits};

const FIRST: Timestamp = Timestamp(1_000_000);
const SECOND: Timestamp = Timestamp(2_000_000);

fn of_round(round: u32, visit: Visit) -> Visit {
    Visit { round, at: Timestamp(u64::from(round) * FIRST.0), attempts: 2, ..visit }
}

/// A page with this payload, in the first round.
fn first(url: &CanonicalUrl, segment: u32, payload: u8) -> Visit {
    of_round(1, recorded(url, segment, payload))
}

/// In the second round, as it was in the first.
fn not_modified(url: &CanonicalUrl, segment: u32, payload: u8) -> Visit {
    let visit = Visit { outcome: Outcome::NotModified, status: 304, ..recorded(url, segment, payload) };
    Visit { content_at: Some(FIRST), ..of_round(2, visit) }
}

fn commit(worker: &PostgresWorker, fence: &[(GroupName, Epoch)], batch: &Batch) {
    worker.commit(fence, ALL_SEEDS, batch).expect("commit");
}

fn again(worker: &PostgresWorker, urls: &[CanonicalUrl]) {
    let again = urls.iter().map(CanonicalUrl::key).collect();
    let round = Some(Round { number: 2, began_at: Timestamp(1_500_000), is_choosing: false });
    commit(worker, &[], &Batch { again, round, ..Batch::default() });
}

/// Its group goes to another worker; says under which epoch.
fn hand_over(from: &PostgresWorker, to: &PostgresWorker) -> Vec<(GroupName, Epoch)> {
    let epoch = from.owned().expect("owned").into_iter().find(|owned| owned.group == group(0)).expect("its own").epoch;
    assert!(from.hand_over((&group(0), epoch), to.id(), QUIET).expect("asked"));
    to.owned().expect("owned").into_iter().map(|owned| (owned.group, owned.epoch)).collect()
}

fn last(store: &PostgresStore, url: &CanonicalUrl) -> Option<Visit> {
    store.get(url.key()).expect("get").expect("known").visit
}

fn earlier(store: &PostgresStore, url: &CanonicalUrl) -> Vec<Visit> {
    store.earlier(url.key()).expect("earlier")
}

/// With which visits the URLs of a site wait for another.
fn waiting(store: &PostgresStore, site: &CanonicalUrl) -> Vec<(UrlKey, Option<Visit>)> {
    let pending = store.pending(site.site().key(), None, 100).expect("pending");
    pending.into_iter().map(|queued| (queued.candidate.url.key(), queued.again.map(|visit| *visit))).collect()
}

#[test]
fn the_owner_of_a_site_learns_of_urls_to_be_visited_again_and_its_pages_count_as_fetched() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (owner, other) = (join(&place, LONG), join(&place, LONG));
    let pages = begin(&owner, 0, 2);
    let fence = own(&owner);
    commit(&owner, &fence, &visits(pages.iter().map(|url| first(url, 0, 1)).collect()));
    owner.hints(100).expect("those of placing");
    again(&other, &pages);
    assert_eq!(hinted(&owner), [pages[0].site().key()]);
    let pending = owner.pending(pages[0].site().key(), None, 10).expect("pending");
    assert_eq!(pending.iter().filter(|queued| queued.again.is_some()).count(), 2);
    again(&other, &pages);
    assert_eq!(hinted(&owner), [], "they are in the queue");

    commit(&owner, &fence, &visits(vec![not_modified(&pages[0], 0, 1)]));
    assert_eq!(owner.earlier(pages[0].key()).expect("earlier"), [first(&pages[0], 0, 1)]);
    let control = Control::open(&place.address, &place.schema).expect("opened");
    let domains = control.domains(owner.id(), &SitesAsked { max: 10, ..SitesAsked::default() }).expect("domains");
    let counts: Vec<_> = domains.iter().map(|domain| (domain.waiting, domain.fetched)).collect();
    assert_eq!(counts, [(1, 2)]);
}

#[test]
fn the_owner_of_a_site_learns_that_a_round_has_changed_its_record_and_its_counts_stay() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let owner = join(&place, LONG);
    let control = Control::open(&place.address, &place.schema).expect("opened");
    let pages = begin(&owner, 0, 2);
    let fence = own(&owner);
    let site = pages[0].site();
    let record = |pages_fetched| SiteRecord { pages_fetched, ..SiteRecord::new(site.clone()) };
    let failure = Failure { kind: FailureKind::NameNotFound, detail: String::new() };
    let given_up = SiteRecord { given_up: Some(failure), ..record(1) };
    let visit = vec![first(&pages[0], 0, 1)];
    commit(&owner, &fence, &Batch { sites: vec![given_up], ..visits(visit) });
    owner.hints(100).expect("those of placing");
    // By a server, which has read the record before that.
    let round = Some(Round { number: 2, began_at: SECOND, is_choosing: false });
    let again = vec![pages[0].key()];
    control.commit(&Batch { round, again, sites: vec![record(0)], ..Batch::default() }).expect("commit");
    let hint = Hint { site: site.key(), group: group(0), of_record: true };
    assert_eq!(owner.hints(100).expect("hints"), [hint]);
    let known = owner.own_site(site.key()).expect("site").expect("known");
    assert_eq!((known.pages_fetched, known.given_up), (1, None));
}

#[test]
fn when_a_visit_is_lost_the_one_before_is_the_last_again_and_its_duplicates_stay() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let one = join(&place, LONG);
    let mine = begin(&one, 0, 4);
    let fence = own(&one);
    let (sealed, open) = (one.next_serial().expect("serial"), one.next_serial().expect("serial"));
    let copy = Visit { content_at: Some(FIRST), ..of_round(1, duplicate(&mine[1], sealed, 1, &mine[0])) };
    let before = [first(&mine[0], sealed, 1), copy, first(&mine[2], sealed, 3)];
    commit(&one, &fence, &visits(before.to_vec()));
    commit(&one, &fence, &visits(vec![first(&mine[3], open, 4)]));
    one.seal(sealed).expect("sealed");
    again(&one, &mine);
    // One that waits for its second visit, and has lost its first, is as if it had never been asked for.
    let after = vec![of_round(2, recorded(&mine[0], open, 2)), not_modified(&mine[2], open, 3)];
    commit(&one, &fence, &visits(after));
    one.gone().expect("gone");

    let store = close(&place, vec![one]);
    assert_eq!(queue(&store, &mine[0]).len(), 4);
    let waiting = waiting(&store, &mine[0]);
    for (url, visit) in mine.iter().zip(before.map(Some).into_iter().chain([None])) {
        assert_eq!((last(&store, url), earlier(&store, url)), (visit.clone(), vec![]), "{url}");
        assert!(waiting.contains(&(url.key(), visit)), "{url}: {waiting:?}");
    }
    assert_eq!(store.totals().expect("totals").again, 3);
}

#[test]
fn when_a_visit_before_the_last_is_lost_so_is_what_has_its_content() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    let mine = begin(&one, 0, 3);
    let fence = own(&one);
    let (lost, open) = (one.next_serial().expect("serial"), other.next_serial().expect("serial"));
    let before = mine.iter().zip(1..).map(|(url, payload)| first(url, lost, payload));
    commit(&one, &fence, &visits(before.collect()));
    let fence = hand_over(&one, &other);
    again(&other, &mine);
    let changed = of_round(2, recorded(&mine[1], open, 9));
    let repeated = Visit { content_at: Some(FIRST), ..of_round(2, recorded(&mine[2], open, 3)) };
    let after =
        Batch { holders: Vec::new(), ..visits(vec![not_modified(&mine[0], open, 1), changed.clone(), repeated]) };
    commit(&other, &fence, &after);
    one.gone().expect("gone");
    assert_eq!(other.lost_segments().expect("lost").len(), 1);
    // What it found to be as it was, before it learned of the loss, is left out.
    commit(&other, &fence, &visits(vec![Visit { at: Timestamp(3_000_000), ..not_modified(&mine[0], open, 1) }]));

    let store = close(&place, vec![one, other]);
    for url in &mine {
        assert_eq!(earlier(&store, url), [], "{url}");
    }
    assert_eq!([0, 1, 2].map(|n| last(&store, &mine[n])), [None, Some(changed), None]);
    let expected = [0, 2].map(|n: usize| (mine[n].key(), None));
    let waiting = waiting(&store, &mine[0]);
    assert!(waiting.len() == 2 && expected.iter().all(|queued| waiting.contains(queued)), "{waiting:?}");
    assert_eq!(store.totals().expect("totals").again, 0);
}

#[test]
fn a_duplicate_of_a_visit_that_was_undone_meanwhile_is_left_out_though_the_one_before_is_there() {
    let server = Postgres::start();
    let Two { place, one, other, mine, theirs, fence, other_fence } = two(&server, 1, 2);
    let (sealed, lost) = (one.next_serial().expect("serial"), one.next_serial().expect("serial"));
    let open = other.next_serial().expect("serial");
    commit(&one, &fence, &visits(vec![first(&mine[0], sealed, 1)]));
    one.seal(sealed).expect("sealed");
    again(&one, &mine);
    commit(&one, &fence, &visits(vec![of_round(2, recorded(&mine[0], lost, 2))]));
    one.gone().expect("gone");
    other.hints(100).expect("those of placing");
    let copy = |n: usize, payload, at| Visit {
        content_at: Some(at),
        ..of_round(2, duplicate(&theirs[n], open, payload, &mine[0]))
    };
    let (of_first, of_second) = (copy(0, 1, FIRST), copy(1, 2, SECOND));
    commit(&other, &other_fence, &visits(vec![of_first.clone(), of_second]));
    assert_eq!(hinted(&other), [theirs[1].site().key()]);

    let store = close(&place, vec![one, other]);
    assert_eq!([0, 1].map(|n: usize| last(&store, &theirs[n])), [Some(of_first), None]);
    assert_eq!(queue(&store, &theirs[0]), [theirs[1].key()]);
    assert_eq!(last(&store, &mine[0]).and_then(|visit| visit.digest), Some(digest(1)));
}

/// A worker that goes on as if its archive had everything requests a URL a few times, not without end.
#[test]
fn a_visit_that_repeats_what_is_not_there_counts_and_comes_to_an_end() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let one = join(&place, LONG);
    let mine = begin(&one, 0, 2);
    let fence = own(&one);
    commit(&one, &fence, &visits(mine.iter().zip(1..).map(|(url, payload)| first(url, 0, payload)).collect()));
    again(&one, &mine[..1]);
    place.execute("UPDATE visit SET segment = NULL, record_offset = NULL, record_length = NULL WHERE digest = decode(repeat('01', 20), 'hex')");
    let holder = |payload| one.holder(content(payload), Some(digest(payload))).expect("holder");
    assert_eq!((holder(1), holder(2)), (Some(mine[0].key()), Some(mine[1].key())));
    let repeat = |attempts| {
        let visit = Visit { attempts, content_at: Some(FIRST), ..of_round(2, recorded(&mine[0], 0, 1)) };
        commit(&one, &fence, &Batch { holders: Vec::new(), ..visits(vec![visit]) });
        let pending = one.pending(mine[0].site().key(), None, 10).expect("pending");
        let entry = one.get(mine[0].key()).expect("get").expect("known");
        (pending.first().map(|queued| queued.attempts), entry.visit.expect("a visit"))
    };
    let (attempts, last) = repeat(1);
    assert_eq!((attempts, last.at, last.past.is_lost()), (Some(1), FIRST, true), "asked for in any case");
    assert_eq!((holder(1), holder(2)), (None, Some(mine[1].key())), "and recorded in full");
    for attempts in 2..10 {
        assert_eq!(repeat(attempts).0, Some(attempts));
    }
    let (attempts, last) = repeat(10);
    assert_eq!((attempts, last.outcome, last.round), (None, Outcome::ConnectionError, 2));
    assert_eq!(last.reason, "after 10 attempts: what it repeats is not in the archive");
}

#[test]
fn sites_of_a_worker_come_by_name_or_those_in_trouble_first() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let one = join(&place, LONG);
    let mut sites: Vec<_> = (0..5).map(|site| begin(&one, site, 3)[0].site()).collect();
    // The last URL of this one has failed for good.
    let failed = begin(&one, 5, 1).remove(0);
    sites.push(failed.site());
    let fence = own(&one);
    let failure = |detail: &str| Failure { kind: FailureKind::NameServer, detail: detail.to_owned() };
    let aside = |due: u64| SiteRecord {
        due_at: Timestamp(due),
        aside: Some(Aside { until: Timestamp(due), round: 1, reason: failure("too slow") }),
        ..SiteRecord::new(sites[0].clone())
    };
    let records = vec![
        SiteRecord { site: sites[3].clone(), ..aside(9) },
        SiteRecord { site: sites[4].clone(), ..aside(7) },
        SiteRecord { given_up: Some(failure("no answer")), ..SiteRecord::new(sites[1].clone()) },
        SiteRecord { site: sites[5].clone(), ..aside(5) },
    ];
    let visits = vec![Visit::without_fetch(failed.key(), Outcome::HttpError, String::new(), FIRST)];
    commit(&one, &fence, &Batch { sites: records, visits, ..Batch::default() });

    let control = Control::open(&place.address, &place.schema).expect("opened");
    let named: Vec<_> =
        control.in_trouble(1).expect("sites").into_iter().map(|site| (site.site, site.due_at)).collect();
    assert_eq!(
        named,
        [(sites[4].to_string(), Timestamp(7))],
        "the one that may be asked first and has something to do"
    );
    assert_eq!(control.counts().expect("counted").sites_aside, 2);
    assert_eq!(control.waiting_on(sites[2].key(), 100).expect("counted"), 3);
    assert_eq!(control.waiting_on(sites[2].key(), 2).expect("counted"), 2, "no more are counted");

    let listed = |by_state, max| {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let asked = SitesAsked { after, max, by_state, held: vec![sites[2].key()] };
            let page = control.domains(one.id(), &asked).expect("sites");
            let Some(last) = page.last() else { return found };
            after = last.site.to_string();
            found.extend(page.into_iter().map(|domain| (domain.site.to_string(), domain.state, domain.trouble)));
        }
    };
    let site = |n: usize, state, trouble: Option<&str>| (sites[n].to_string(), state, trouble.map(str::to_owned));
    let slow = Some("too slow");
    let expect = [
        site(2, SiteStanding::Hold, None),
        site(3, SiteStanding::Aside, slow),
        site(4, SiteStanding::Aside, slow),
        site(1, SiteStanding::GivenUp, Some("no answer")),
        site(0, SiteStanding::Active, None),
        site(5, SiteStanding::Active, slow),
    ];
    for max in [1, 2, 10] {
        assert_eq!(listed(true, max), expect, "{max}");
        let by_name: Vec<_> = listed(false, max).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(by_name, sites.iter().map(ToString::to_string).collect::<Vec<_>>(), "{max}");
    }
}
