//! The contract of a store as a test suite: every implementation runs all of it.
//!
//! ```
//! struct Memory(std::sync::Arc<store::MemoryStore>);
//! impl store::contract::Fixture for Memory {
//!     fn open(&self) -> std::sync::Arc<dyn store::Store> { self.0.clone() }
//! }
//! store::contract::check_all(&|| Box::new(Memory(std::sync::Arc::default())));
//! ```

#![expect(clippy::expect_used, reason = "a test suite: what fails is to stop it")]

use std::sync::Arc;
use std::time::Duration;

use model::{
    Announced, ArchiveLocation, Aside, Candidate, ContentDigest, Distance, Failure, FailureKind, Limit, Outcome, Past,
    PayloadDigest, Purpose, Renewal, RobotsAnswer, RobotsRecord, Round, SiteRecord, Sought, Timestamp, Validators, Via,
    Visit, Visited,
};
use weburl::{CanonicalRules, CanonicalUrl, Site, UrlKey};

use crate::{Batch, Committed, CrawlView, Mark, Outline, Segment, Slice, Store};

mod rounds;
mod sites;

/// A place where a store can be opened, closed (by dropping it) and opened again.
pub trait Fixture {
    /// Opens the store that lies here.
    fn open(&self) -> Arc<dyn Store>;
}

/// Makes an empty place for each check.
pub type MakeFixture<'a> = &'a dyn Fn() -> Box<dyn Fixture>;

type Check = fn(&dyn Fixture);

/// Runs every check on stores of its own.
///
/// # Panics
/// The contract is broken; the message names the check.
pub fn check_all(make: MakeFixture<'_>) {
    let checks: &[(&str, Check)] = &[
        ("an empty store is empty", empty),
        ("a found URL is queued once", found_once),
        ("the queue is in order and read in windows", queue_order),
        ("a visit ends the stay in the queue", visit_ends_queueing),
        ("a commit applied twice changes nothing", idempotent),
        ("a shorter way relaxes a queued URL", relax_queued),
        ("a shorter way makes the links of a visited URL count again", relax_visited),
        ("a shorter way found during a visit makes its links count again", relax_in_flight),
        ("a longer way changes nothing", no_relaxing_by_longer_ways),
        ("a settled URL is never queued", settled),
        ("attempts are kept", attempts),
        ("a reopened URL is as if it had never been asked for", reopened),
        ("what must not be reopened is left alone", not_reopened),
        ("a URL is visited again, and its visits are kept", rounds::visited_again),
        ("a record is moved, and nothing else changes", rounds::records_are_moved),
        ("a URL whose content is lost holds none, and is asked for in any case", rounds::contents_are_lost),
        ("a URL that is not visited again keeps its visit", rounds::kept),
        ("visits keep their order when the clock was set back", rounds::visited_after_the_clock_was_set_back),
        ("a shorter way to a URL that is to be visited again moves it", rounds::relaxed_again),
        ("a failure in a later round is reopened with its visits", rounds::reopened_again),
        ("a round is counted by itself", rounds::counted),
        ("the bytes of a round are those of all its visits", rounds::bytes_counted),
        ("an announced change stays with the visit before", rounds::announced),
        ("records read back as written", sites::records_round_trip),
        ("counters of sites::shapes are written one by one", sites::shapes),
        ("robots.txt stays when a site is written without it", sites::robots_stay),
        ("the first holder of a content stays", holders),
        ("seeds and segments are kept", seeds_and_segments),
        ("scans are complete, in order and in windows", scans),
        ("what the archive has no record of is found", unrecorded),
        ("URLs are found by their state, if at all", in_state),
        ("URLs in short are those of a scan, and a slice has its part", outlines),
        ("requisites are counted by themselves", requisites),
        ("a page takes the place of a requisite that one batch finds with it", a_page_beside_a_requisite_of_its_url),
        ("totals count everything once", totals),
        ("limits are counted as they stand", limits),
        ("a view stays as it was", views),
        ("all is there after opening again", durable),
    ];
    for (name, check) in checks {
        let fixture = make();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&*fixture)));
        assert!(outcome.is_ok(), "the store breaks its contract: {name}");
    }
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("the suite's URLs are good")
}

fn page(text: &str, depth: u32) -> Candidate {
    Candidate { depth, via: Via::Link, found_on: Some(url("http://s.test/").key()), ..Candidate::seed(url(text)) }
}

fn visit(text: &str, outcome: Outcome) -> Visit {
    Visit { status: 200, length: 10, ..Visit::without_fetch(url(text).key(), outcome, String::new(), Timestamp(7)) }
}

fn find(store: &dyn Store, found: &[Candidate]) -> Committed {
    store.commit(&Batch { found: found.to_vec(), ..Batch::default() }).expect("commit")
}

fn end(store: &dyn Store, visits: &[Visit]) {
    store.commit(&Batch { visits: visits.to_vec(), ..Batch::default() }).expect("commit");
}

/// The URLs of the queue of the site of `of`.
fn queue(store: &dyn Store, of: &str) -> Vec<String> {
    let pending = store.pending(url(of).site().key(), None, 1000).expect("pending");
    pending.iter().map(|queued| queued.candidate.url.to_string()).collect()
}

fn empty(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(queue(&*store, "http://a.test/"), Vec::<String>::new());
    assert_eq!(store.sites_with_pending(None, 10).expect("sites"), vec![]);
    assert_eq!(store.get(url("http://a.test/").key()).expect("get"), None);
    assert_eq!(store.scan(None, 10).expect("scan"), vec![]);
    assert_eq!(store.totals().expect("totals"), crate::Totals::default());
    assert_eq!(store.segments().expect("segments"), vec![]);
}

fn found_once(fixture: &dyn Fixture) {
    let store = fixture.open();
    let a = page("http://a.test/1", 1);
    let committed = find(&*store, &[a.clone(), a.clone()]);
    assert_eq!(committed.fresh, vec![a.clone()]);
    assert_eq!(find(&*store, std::slice::from_ref(&a)), Committed::default());
    assert_eq!(queue(&*store, "http://a.test/"), ["http://a.test/1"]);
    let [site, other] = [a.url.site().key(), url("http://b.test/").site().key()];
    assert_eq!(store.sites_with_pending(None, 10).expect("sites"), vec![site]);
    assert_eq!(store.with_queue(&[other, site]).expect("sites"), [site].into());
    assert_eq!(store.with_queue(&[]).expect("sites"), [].into());
}

fn queue_order(fixture: &dyn Fixture) {
    let store = fixture.open();
    let mut all: Vec<Candidate> = (0..50).map(|n| page(&format!("http://a.test/{n}"), n % 3)).collect();
    all.push(Candidate { purpose: Purpose::Sitemap, ..page("http://a.test/sitemap.xml", 0) });
    all.push(Candidate { purpose: Purpose::Requisite, ..page("http://a.test/style.css", 3) });
    find(&*store, &all);
    find(&*store, &[page("http://b.test/", 0)]);
    all.sort_by_key(Candidate::position);
    let site = url("http://a.test/").site().key();
    let mut read = Vec::new();
    let mut after = None;
    loop {
        let window = store.pending(site, after, 7).expect("pending");
        let Some(last) = window.last() else { break };
        after = Some(last.candidate.position());
        read.extend(window.into_iter().map(|queued| queued.candidate));
    }
    assert_eq!(read, all, "sitemaps and requisites first, then by depth, then by key");
}

fn visit_ends_queueing(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 1), page("http://a.test/2", 1)]);
    end(&*store, &[visit("http://a.test/1", Outcome::Html)]);
    assert_eq!(queue(&*store, "http://a.test/"), ["http://a.test/2"]);
    end(&*store, &[visit("http://a.test/2", Outcome::Html)]);
    assert_eq!(store.sites_with_pending(None, 10).expect("sites"), vec![]);
    assert_eq!(find(&*store, &[page("http://a.test/1", 1)]), Committed::default(), "a visited URL is known");
}

fn idempotent(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 1)]);
    let batch = Batch {
        found: vec![page("http://a.test/2", 2)],
        visits: vec![visit("http://a.test/1", Outcome::Html)],
        sites: vec![SiteRecord::new(url("http://a.test/").site())],
        ..Batch::default()
    };
    assert_eq!(store.commit(&batch).expect("commit").fresh.len(), 1);
    let totals = store.totals().expect("totals");
    assert_eq!(store.commit(&batch).expect("commit"), Committed::default());
    assert_eq!(store.totals().expect("totals"), totals);
    assert_eq!(queue(&*store, "http://a.test/"), ["http://a.test/2"]);
}

fn relax_queued(fixture: &dyn Fixture) {
    let store = fixture.open();
    let far = page("http://a.test/1", 5);
    let near = page("http://a.test/1", 2);
    find(&*store, std::slice::from_ref(&far));
    let relaxed = find(&*store, std::slice::from_ref(&near)).relaxed;
    assert_eq!(relaxed.len(), 1);
    assert_eq!(relaxed[0].was, far.position());
    let queued = relaxed[0].queued.clone().expect("still queued");
    assert_eq!((queued.candidate, queued.visited), (near.clone(), None));
    assert_eq!(queue(&*store, "http://a.test/").len(), 1);
    assert_eq!(store.get(near.url.key()).expect("get").expect("known").candidate, near);
    let fewer_redirects = Candidate { redirects: 3, ..far.clone() };
    find(&*store, &[Candidate { url: url("http://a.test/2"), ..fewer_redirects }]);
    assert_eq!(find(&*store, &[page("http://a.test/2", 5)]).relaxed.len(), 1, "fewer redirects are a shorter way");
}

fn relax_visited(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 5), page("http://a.test/2", 5)]);
    let outlinks = vec!["http://a.test/x".to_owned(), "http://b.test/y".to_owned()];
    let with_links = Visit { outlinks: outlinks.clone(), ..visit("http://a.test/1", Outcome::Html) };
    end(&*store, &[with_links, visit("http://a.test/2", Outcome::Html)]);
    let relaxed = find(&*store, &[page("http://a.test/1", 2), page("http://a.test/2", 2)]).relaxed;
    assert_eq!(relaxed.iter().filter(|relaxed| relaxed.queued.is_none()).count(), 1, "no links, nothing to judge");
    let queued = store.pending(url("http://a.test/").site().key(), None, 10).expect("pending");
    assert_eq!(queued.len(), 1, "it waits in the queue, so that a crash cannot lose it");
    assert_eq!(queued[0].visited, Some(Visited { outcome: Outcome::Html, outlinks }));
    store
        .commit(&Batch {
            judged_again: vec![(url("http://a.test/1").key(), Distance { depth: 2, redirects: 0 })],
            ..Batch::default()
        })
        .expect("commit");
    assert_eq!(queue(&*store, "http://a.test/"), Vec::<String>::new());
    let entry = store.get(url("http://a.test/1").key()).expect("get").expect("known");
    assert_eq!((entry.candidate.depth, entry.visit.map(|visit| visit.outcome)), (2, Some(Outcome::Html)));
}

fn relax_in_flight(fixture: &dyn Fixture) {
    let store = fixture.open();
    let key = url("http://a.test/1").key();
    find(&*store, &[page("http://a.test/1", 5)]);
    find(&*store, &[page("http://a.test/1", 3)]);
    let judged_at = Distance { depth: 5, redirects: 0 };
    let late =
        Visit { judged_at, outlinks: vec!["http://a.test/x".to_owned()], ..visit("http://a.test/1", Outcome::Html) };
    let batch = Batch { visits: vec![late], ..Batch::default() };
    let relaxed = store.commit(&batch).expect("commit").relaxed;
    assert_eq!(relaxed.len(), 1);
    assert_eq!(relaxed[0].queued.as_ref().map(|queued| queued.visited.is_some()), Some(true));
    let again = |depth| {
        let judged_again = vec![(key, Distance { depth, redirects: 0 })];
        store.commit(&Batch { judged_again, ..Batch::default() }).expect("commit").relaxed.len()
    };
    find(&*store, &[page("http://a.test/1", 1)]);
    assert_eq!(again(3), 1, "nearer still: it stays");
    assert_eq!(queue(&*store, "http://a.test/").len(), 1);
    assert_eq!(again(1), 0);
    assert_eq!(queue(&*store, "http://a.test/"), Vec::<String>::new());
}

fn no_relaxing_by_longer_ways(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 2)]);
    assert_eq!(find(&*store, &[page("http://a.test/1", 2), page("http://a.test/1", 3)]), Committed::default());
    let as_sitemap = Candidate { purpose: Purpose::Sitemap, ..page("http://a.test/1", 0) };
    assert_eq!(find(&*store, &[as_sitemap]), Committed::default(), "a page stays a page");
}

fn settled(fixture: &dyn Fixture) {
    let store = fixture.open();
    let excluded = Visit { reason: "scope: host".to_owned(), ..visit("http://b.test/1", Outcome::Excluded) };
    find(&*store, &[page("http://a.test/1", 1)]);
    let settled = vec![
        (page("http://b.test/1", 1), excluded.clone()),
        (page("http://a.test/1", 1), visit("http://a.test/1", Outcome::Excluded)),
    ];
    store.commit(&Batch { settled, ..Batch::default() }).expect("commit");
    assert_eq!(queue(&*store, "http://b.test/"), Vec::<String>::new());
    assert_eq!(store.get(excluded.key).expect("get").expect("known").visit, Some(excluded));
    assert_eq!(queue(&*store, "http://a.test/"), ["http://a.test/1"], "a known URL is not settled by it");
}

fn attempts(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 1)]);
    let key = url("http://a.test/1").key();
    store.commit(&Batch { attempts: vec![(key, Purpose::Page, 2)], ..Batch::default() }).expect("commit");
    assert_eq!(store.pending(key.site, None, 1).expect("pending")[0].attempts, 2);
    assert_eq!(store.get(key).expect("get").expect("known").attempts, 2);
}

fn reopen(store: &dyn Store, urls: &[&str]) -> Committed {
    let reopened = urls.iter().map(|text| url(text).key()).collect();
    store.commit(&Batch { reopened, ..Batch::default() }).expect("commit")
}

fn reopened(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (failed, sitemap, refused) = ("http://a.test/1", "http://a.test/sitemap.xml", "http://b.test/");
    let as_sitemap = Candidate { purpose: Purpose::Sitemap, ..page(sitemap, 0) };
    find(&*store, &[page(failed, 5), page("http://a.test/2", 5), as_sitemap.clone()]);
    let waiting = (store.totals().expect("totals"), queue(&*store, "http://a.test/"));
    let outlinks = vec!["http://a.test/x".to_owned(); 3];
    let location = Some(ArchiveLocation { segment: 0, offset: 1, length: 2 });
    let attempts = 3;
    let with_links =
        Visit { outlinks, location, attempts, limits: Limit::Links.into(), ..visit(failed, Outcome::RenderError) };
    end(&*store, &[with_links.clone(), visit(sitemap, Outcome::Timeout)]);
    let ended = store.totals().expect("totals");
    assert_eq!(reopen(&*store, &[failed, sitemap]), Committed::default());
    assert_eq!((store.totals().expect("totals"), queue(&*store, "http://a.test/")), waiting);
    assert_eq!(reopen(&*store, &[failed]), Committed::default(), "once more changes nothing");
    assert_eq!(store.totals().expect("totals"), waiting.0);
    drop(store);

    let store = fixture.open();
    assert_eq!((store.totals().expect("totals"), queue(&*store, "http://a.test/")), waiting);
    let entry = store.get(url(failed).key()).expect("get").expect("known");
    assert_eq!((entry.candidate, entry.attempts, entry.visit), (page(failed, 5), 0, None));
    let queued = store.pending(url(failed).site().key(), None, 10).expect("pending");
    assert!(queued.iter().all(|queued| (queued.attempts, &queued.visited) == (0, &None)));
    assert_eq!(store.scan(None, 10).expect("scan").iter().filter(|entry| entry.visit.is_some()).count(), 0);
    assert_eq!(store.unrecorded(None, 10).expect("unrecorded"), vec![]);

    // It is relaxed as what was never asked for, and visited again; also by the batch that reopens it.
    let relaxed = find(&*store, &[page(failed, 2)]).relaxed;
    assert_eq!(relaxed.len(), 1);
    assert_eq!(relaxed[0].queued.as_ref().map(|queued| &queued.visited), Some(&None));
    let again = Visit { judged_at: Distance { depth: 2, redirects: 0 }, ..visit(failed, Outcome::GivenUp) };
    end(&*store, std::slice::from_ref(&again));
    assert_eq!(store.get(again.key).expect("get").expect("known").visit, Some(again.clone()));
    let second = Visit { outcome: Outcome::Html, ..again };
    let batch = Batch { reopened: vec![second.key], visits: vec![second.clone()], ..Batch::default() };
    for _ in 0..2 {
        assert_eq!(store.commit(&batch).expect("commit"), Committed::default());
        assert_eq!(store.get(second.key).expect("get").expect("known").visit, Some(second.clone()));
    }
    end(&*store, &[with_links, visit(sitemap, Outcome::Timeout)]);
    assert_eq!(store.totals().expect("totals"), ended);

    let settled = vec![(page(refused, 1), visit(refused, Outcome::Trap))];
    store.commit(&Batch { settled, ..Batch::default() }).expect("commit");
    reopen(&*store, &[refused]);
    assert_eq!(queue(&*store, refused), [refused]);
}

fn not_reopened(fixture: &dyn Fixture) {
    let store = fixture.open();
    let outcomes = [Outcome::Html, Outcome::Binary, Outcome::Duplicate, Outcome::Redirect];
    let address = |outcome: &Outcome| format!("http://a.test/{outcome}");
    find(&*store, &outcomes.iter().map(|outcome| page(&address(outcome), 1)).collect::<Vec<_>>());
    let visits: Vec<Visit> = outcomes.iter().map(|outcome| visit(&address(outcome), *outcome)).collect();
    let content = ContentDigest::of(b"1");
    let holders = vec![(content, visits[0].key)];
    store.commit(&Batch { visits, holders, ..Batch::default() }).expect("commit");
    // It waits for its links to be judged again.
    let (links, attempted) = ("http://a.test/links", "http://a.test/attempted");
    find(&*store, &[page(links, 5), page(attempted, 1)]);
    let outlinks = vec!["http://a.test/x".to_owned()];
    end(&*store, &[Visit { outlinks, ..visit(links, Outcome::HttpError) }]);
    find(&*store, &[page(links, 1)]);
    store
        .commit(&Batch { attempts: vec![(url(attempted).key(), Purpose::Page, 2)], ..Batch::default() })
        .expect("commit");
    let before = (store.totals().expect("totals"), store.scan(None, 10).expect("scan"), queue(&*store, links));
    let mut all: Vec<String> = outcomes.iter().map(address).collect();
    all.extend([links, attempted, "http://unknown.test/"].map(str::to_owned));
    reopen(&*store, &all.iter().map(String::as_str).collect::<Vec<_>>());
    let after = (store.totals().expect("totals"), store.scan(None, 10).expect("scan"), queue(&*store, links));
    assert_eq!(after, before);
    let label = PayloadDigest([1; 20]);
    assert_eq!(store.holder(content, Some(label)).expect("holder"), Some(url(&address(&Outcome::Html)).key()));
}

fn holders(fixture: &dyn Fixture) {
    let store = fixture.open();
    let label = PayloadDigest([1; 20]);
    let (content, a, b) = (ContentDigest::of(b"1"), url("http://a.test/").key(), url("http://b.test/").key());
    for holder in [a, b] {
        store.commit(&Batch { holders: vec![(content, holder)], ..Batch::default() }).expect("commit");
    }
    assert_eq!(store.holder(content, Some(label)).expect("holder"), Some(a));
    assert_eq!(
        store.holder(ContentDigest::of(b"2"), Some(label)).expect("holder"),
        None,
        "the label alone says nothing"
    );
}

fn seeds_and_segments(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (a, b) = (url("http://b.test/"), url("http://a.test/"));
    let segment = |serial, length| Segment { serial, name: format!("{serial}.warc.gz"), length };
    store
        .commit(&Batch { seeds: vec![a.clone(), b.clone()], segments: vec![segment(1, 5)], ..Batch::default() })
        .expect("commit");
    store
        .commit(&Batch { seeds: vec![a.clone()], segments: vec![segment(2, 1), segment(1, 9)], ..Batch::default() })
        .expect("commit");
    assert_eq!(store.seeds().expect("seeds"), vec![a, b]);
    assert_eq!(store.segments().expect("segments"), vec![segment(1, 9), segment(2, 1)]);
}

fn scans(fixture: &dyn Fixture) {
    let store = fixture.open();
    let all: Vec<Candidate> = (0..40).map(|n| page(&format!("http://h{}.test/{n}", n % 7), 1)).collect();
    find(&*store, &all);
    end(&*store, &[visit("http://h1.test/1", Outcome::Html)]);
    let sites: Vec<SiteRecord> = (0..7).map(|n| SiteRecord::new(url(&format!("http://h{n}.test/")).site())).collect();
    store.commit(&Batch { sites: sites.clone(), ..Batch::default() }).expect("commit");
    let mut keys = Vec::new();
    let mut after = None;
    loop {
        let window = store.scan(after, 9).expect("scan");
        let Some(last) = window.last() else { break };
        after = Some(last.candidate.url.key());
        keys.extend(window.iter().map(|entry| entry.candidate.url.key()));
    }
    let mut expect: Vec<UrlKey> = all.iter().map(|candidate| candidate.url.key()).collect();
    expect.sort_unstable();
    assert_eq!(keys, expect);
    let first = store.sites(None, 3).expect("sites");
    let rest = store.sites(Some(first[2].site.key()), 100).expect("sites");
    assert_eq!((first.len(), rest.len()), (3, 4));
    let waiting = store.sites_with_pending(None, 5).expect("sites");
    let rest = store.sites_with_pending(waiting.last().copied(), 100).expect("sites");
    assert_eq!((waiting.len(), rest.len()), (5, 2));
}

fn in_state(fixture: &dyn Fixture) {
    let store = fixture.open();
    let address = |n: u32| format!("http://h{}.test/{n}", n % 3);
    find(&*store, &(0..40).map(|n| page(&address(n), n % 4)).collect::<Vec<_>>());
    let visits = |numbers: std::ops::Range<u32>, outcome| -> Vec<Visit> {
        numbers.map(|n| visit(&address(n), outcome)).collect()
    };
    end(&*store, &visits(0..20, Outcome::Html));
    end(&*store, &visits(20..24, Outcome::Timeout));
    // The second visit counts, and what goes back into the queue as if it was never requested.
    end(&*store, &visits(22..24, Outcome::Html));
    let reopened = vec![visit(&address(20), Outcome::Timeout).key];
    store.commit(&Batch { reopened, ..Batch::default() }).expect("a commit");
    for outcome in [None, Some(Outcome::Html), Some(Outcome::Timeout), Some(Outcome::Trap)] {
        let mut expect = store.scan(None, 100).expect("scan");
        expect.retain(|entry| entry.visit.as_ref().map(|visit| visit.outcome) == outcome);
        let (mut found, mut after) = (Vec::new(), None);
        // A store without the index has nothing to keep.
        while let Some(window) = store.in_state(outcome, after, 3).expect("a state") {
            let Some(last) = window.last() else {
                assert_eq!(found, expect, "{outcome:?}");
                break;
            };
            assert!(window.len() <= 3);
            after = Some(last.candidate.url.key());
            found.extend(window);
        }
    }
}

/// All URLs in short, read in windows, with the number of windows; `None` from a store that reads them no faster so.
fn in_short(view: &dyn CrawlView, slice: Option<Slice>, max: usize) -> Option<(Vec<Outline>, usize)> {
    let (mut found, mut from, mut windows) = (Vec::new(), None, 0);
    loop {
        let window = view.outlines(slice, from.as_ref(), max).expect("outlines")?;
        assert!(window.urls.len() <= max, "{window:?}");
        windows += 1;
        found.extend(window.urls);
        from = window.next;
        if from.is_none() {
            return Some((found, windows));
        }
    }
}

fn outlines(fixture: &dyn Fixture) {
    let store = fixture.open();
    let address = |n: u32| format!("http://h{}.test/{n}", n % 7);
    find(&*store, &(0..200).map(|n| page(&address(n), n % 4)).collect::<Vec<_>>());
    let visits = |numbers: std::ops::Range<u32>, outcome| -> Vec<Visit> {
        numbers.map(|n| visit(&address(n), outcome)).collect()
    };
    end(&*store, &visits(0..60, Outcome::Html));
    end(&*store, &visits(60..70, Outcome::Timeout));
    // Some go back into the queue, with and without their visit.
    let reopened = vec![visit(&address(60), Outcome::Timeout).key];
    store.commit(&Batch { reopened, ..Batch::default() }).expect("a commit");
    let (round, again) = (Round { number: 2, ..Round::default() }, (0..20).map(|n| url(&address(n)).key()).collect());
    store.commit(&Batch { round: Some(round), again, ..Batch::default() }).expect("a commit");
    let outline = |entry: crate::Entry| Outline {
        key: entry.candidate.url.key(),
        url: entry.candidate.url.to_string(),
        purpose: entry.candidate.purpose,
        outcome: entry.visit.map(|visit| visit.outcome),
        again: entry.again,
    };
    let expect: Vec<Outline> = store.scan(None, 1000).expect("scan").into_iter().map(outline).collect();
    assert_eq!(expect.len(), 200);
    assert_eq!(expect.iter().filter(|outline| outline.again).count(), 20, "to be visited again");
    let Some((mut all, windows)) = in_short(&*store, None, 7) else { return };
    assert!(windows >= 200 / 7, "{windows}");
    all.sort_by_key(|outline| outline.key);
    assert_eq!(all, expect);
    for parts in [1, 3, 1_000] {
        let slice = Slice::one_of(parts);
        let of_slice: Vec<Outline> = expect.iter().filter(|outline| slice.has(outline.key)).cloned().collect();
        assert_eq!(in_short(&*store, Some(slice), 5).map(|(found, _)| found), Some(of_slice), "one of {parts}");
    }
    assert!(store.outlines(None, Some(&Mark(vec![1, 2])), 5).is_err(), "a mark of no view");
}

fn unrecorded(fixture: &dyn Fixture) {
    let store = fixture.open();
    let address = |n: u32| format!("http://h{}.test/{n}", n % 3);
    find(&*store, &(0..30).map(|n| page(&address(n), 1)).collect::<Vec<_>>());
    let location = Some(ArchiveLocation { segment: 0, offset: 1, length: 2 });
    let recorded: Vec<Visit> = (0..10).map(|n| Visit { location, ..visit(&address(n), Outcome::Html) }).collect();
    end(&*store, &recorded);
    let excluded: Vec<Visit> = (10..20).map(|n| visit(&address(n), Outcome::Excluded)).collect();
    end(&*store, &excluded);
    let mut expect: Vec<UrlKey> = excluded.iter().map(|visit| visit.key).collect();
    expect.sort_unstable();
    let (mut keys, mut after) = (Vec::new(), None);
    loop {
        let window = store.unrecorded(after, 3).expect("unrecorded");
        let Some(last) = window.last() else { break };
        after = Some(last.candidate.url.key());
        assert!(
            window.len() <= 3
                && window
                    .iter()
                    .all(|entry| store.get(entry.candidate.url.key()).expect("get").as_ref() == Some(entry))
        );
        keys.extend(window.iter().map(|entry| entry.candidate.url.key()));
    }
    assert_eq!(keys, expect);
    end(&*store, &excluded.into_iter().map(|visit| Visit { location, ..visit }).collect::<Vec<_>>());
    assert_eq!(store.unrecorded(None, 3).expect("unrecorded"), vec![]);
}

fn totals(fixture: &dyn Fixture) {
    let store = fixture.open();
    let sitemap = Candidate { purpose: Purpose::Sitemap, ..page("http://a.test/sitemap.xml", 0) };
    find(&*store, &[page("http://a.test/1", 1), page("http://a.test/2", 1), page("http://a.test/3", 1), sitemap]);
    end(&*store, &[visit("http://a.test/1", Outcome::Html), visit("http://a.test/2", Outcome::HttpError)]);
    end(&*store, &[visit("http://a.test/sitemap.xml", Outcome::Binary)]);
    let settled = vec![(page("http://x.test/", 1), visit("http://x.test/", Outcome::Excluded))];
    let sites = vec![SiteRecord::new(url("http://a.test/").site())];
    store.commit(&Batch { settled, sites: sites.clone(), ..Batch::default() }).expect("commit");
    store.commit(&Batch { sites, ..Batch::default() }).expect("commit");
    let totals = store.totals().expect("totals");
    assert_eq!((totals.urls, totals.pending, totals.sites, totals.sitemaps, totals.bytes), (5, 1, 1, 1, 30));
    let outcomes: Vec<_> = totals.outcomes.into_iter().collect();
    assert_eq!(outcomes, [(Outcome::Html, 1), (Outcome::HttpError, 1), (Outcome::Excluded, 1)]);
}

fn requisites(fixture: &dyn Fixture) {
    let store = fixture.open();
    let requisite = |text| Candidate { purpose: Purpose::Requisite, ..page(text, 1) };
    let style = requisite("http://b.test/style.css");
    let committed = find(&*store, &[style.clone(), requisite("http://b.test/i.png"), page("http://b.test/", 1)]);
    assert_eq!(committed.more_requisites, 2);
    let judged_at = Distance::OF_REQUISITE;
    let ended = Visit { judged_at, ..visit("http://b.test/style.css", Outcome::Binary) };
    let ended = Batch { visits: vec![ended], ..Batch::default() };
    assert_eq!(store.commit(&ended).expect("commit").more_requisites, -1);
    drop(store);
    let store = fixture.open();
    assert_eq!(store.get(style.url.key()).expect("get").expect("known").candidate, style);
    let totals = store.totals().expect("totals");
    assert_eq!((totals.pending, totals.requisites_pending, totals.fetched()), (2, 1, 0));
    assert_eq!(totals.requisites.into_iter().collect::<Vec<_>>(), [(Outcome::Binary, 1)]);
}

fn a_page_beside_a_requisite_of_its_url(fixture: &dyn Fixture) {
    let store = fixture.open();
    let text = "http://a.test/";
    let settled = vec![(page(text, 1), visit(text, Outcome::Excluded))];
    store.commit(&Batch { settled, ..Batch::default() }).expect("commit");
    // The requisite takes the place of the page that is kept out, and the page that of the requisite, though it is no nearer than the first.
    let requisite = Candidate { purpose: Purpose::Requisite, ..page(text, 1) };
    let committed = find(&*store, &[page(text, 5), requisite]);
    assert_eq!(committed.relaxed.len(), 2);
    let entry = store.get(url(text).key()).expect("get").expect("known");
    assert_eq!((entry.candidate, entry.visit), (page(text, 5), None));
}

fn limits(fixture: &dyn Fixture) {
    let store = fixture.open();
    let candidates = [page("http://a.test/1", 1), page("http://a.test/2", 1)];
    find(&*store, &candidates);
    let reached =
        |text, limits: &[Limit]| Visit { limits: limits.iter().copied().collect(), ..visit(text, Outcome::Html) };
    let first = [reached("http://a.test/1", &[Limit::Links, Limit::Text]), reached("http://a.test/2", &[Limit::Links])];
    let trap = Visit { limits: Limit::PathDepth.into(), ..visit("http://a.test/x", Outcome::Trap) };
    let settled = vec![(page("http://a.test/x", 1), trap)];
    let robots = |is_cut| {
        let answer = RobotsAnswer::Status { code: 200, body: Default::default() };
        let robots = Some(RobotsRecord { fetched_at: Timestamp(1), failed_tries: 0, answer, is_cut, renewal: None });
        vec![SiteRecord { robots, ..SiteRecord::new(url("http://a.test/").site()) }]
    };
    let batch = Batch { visits: first.to_vec(), settled, sites: robots(true), ..Batch::default() };
    store.commit(&batch).expect("commit");
    store.commit(&batch).expect("the same again");
    let counted = |store: &dyn Store| store.totals().expect("totals").limits.into_iter().collect::<Vec<_>>();
    let expect = [(Limit::Links, 2), (Limit::Text, 1), (Limit::RobotsTxt, 1), (Limit::PathDepth, 1)];
    assert_eq!(counted(&*store), expect);
    // What is visited again counts as it is now.
    let again = vec![reached("http://a.test/1", &[Limit::Text])];
    store.commit(&Batch { visits: again, sites: robots(false), ..Batch::default() }).expect("commit");
    drop(store);
    let expect = [(Limit::Links, 1), (Limit::Text, 1), (Limit::PathDepth, 1)];
    assert_eq!(counted(&*fixture.open()), expect);
}

fn views(fixture: &dyn Fixture) {
    let store = fixture.open();
    let seen = |view: &dyn CrawlView| {
        let a = url("http://a.test/");
        (
            view.scan(None, 10).expect("entries").len(),
            view.get(a.key()).expect("an entry").is_some_and(|entry| entry.visit.is_some()),
            view.pending(a.key().site, None, 10).expect("a queue").len(),
            view.totals().expect("totals").pending,
            view.sites(None, 10).expect("sites").len(),
            view.seeds().expect("seeds").len(),
        )
    };
    let empty = store.view().expect("a view");
    find(&*store, &[page("http://a.test/", 0), page("http://b.test/", 1)]);
    let found = store.view().expect("a view");
    end(&*store, &[visit("http://a.test/", Outcome::Html)]);
    let (sites, seeds) = (vec![SiteRecord::new(url("http://a.test/").site())], vec![url("http://a.test/")]);
    store.commit(&Batch { sites, seeds, ..Batch::default() }).expect("a commit");
    assert_eq!(seen(&*empty), (0, false, 0, 0, 0, 0));
    assert_eq!(seen(&*found), (2, false, 1, 2, 0, 0));
    assert_eq!(seen(&*store.view().expect("a view")), (2, true, 0, 1, 1, 1));
    assert_eq!(found.crawl_id().expect("an id"), store.crawl_id().expect("an id"));
    // A view outlives its store.
    drop(store);
    assert_eq!(seen(&*found), (2, false, 1, 2, 0, 0));
}

fn durable(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page("http://a.test/1", 1), page("http://a.test/2", 1)]);
    end(&*store, &[visit("http://a.test/1", Outcome::Html)]);
    let (totals, entries) = (store.totals().expect("totals"), store.scan(None, 10).expect("scan"));
    drop(store);
    let store = fixture.open();
    assert_eq!(store.totals().expect("totals"), totals);
    assert_eq!(store.scan(None, 10).expect("scan"), entries);
    assert_eq!(queue(&*store, "http://a.test/"), ["http://a.test/2"]);
    assert_eq!(find(&*store, &[page("http://a.test/1", 1)]), Committed::default());
}
