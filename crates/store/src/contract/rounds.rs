//! Visits after the first.

use model::{
    Announced, Announcement, Announcer, ArchiveLocation, Candidate, ContentDigest, Distance, Outcome, Past,
    PayloadDigest, Purpose, Queued, Round, Timestamp, Visit,
};
use weburl::UrlKey;

use super::{Fixture, end, find, page, queue, reopen, url, visit};
use crate::{Batch, Committed, Moved, Store, Totals};

const PAGE: &str = "http://a.test/1";

fn keys(urls: &[&str]) -> Vec<UrlKey> {
    urls.iter().map(|text| url(text).key()).collect()
}

/// Queues URLs to be visited again.
fn again(store: &dyn Store, urls: &[&str]) -> Committed {
    store.commit(&Batch { again: keys(urls), ..Batch::default() }).expect("commit")
}

/// The visit of a round, a second after that of the round before.
fn of_round(text: &str, outcome: Outcome, round: u32) -> Visit {
    Visit { round, at: Timestamp(u64::from(round) * 1_000_000), ..visit(text, outcome) }
}

fn waiting(store: &dyn Store, text: &str) -> Queued {
    let pending = store.pending(url(text).site().key(), None, 100).expect("pending");
    pending.into_iter().find(|queued| queued.candidate.url == url(text)).expect("it waits")
}

fn last(store: &dyn Store, text: &str) -> Option<Visit> {
    store.get(url(text).key()).expect("get").expect("known").visit
}

pub(super) fn visited_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1), page("http://a.test/2", 1)]);
    let outlinks = vec!["http://a.test/x".to_owned()];
    let first = Visit { outlinks, attempts: 2, ..of_round(PAGE, Outcome::Html, 1) };
    end(&*store, std::slice::from_ref(&first));
    let before = store.totals().expect("totals");
    // Neither what waits nor what nobody knows is visited again.
    let asked = [PAGE, "http://a.test/2", "http://a.test/unknown"];
    assert_eq!(again(&*store, &asked), Committed::default());
    assert_eq!(again(&*store, &asked), Committed::default(), "once more changes nothing");
    assert_eq!(queue(&*store, PAGE).len(), 2);
    let kept = Visit { outlinks: Vec::new(), ..first.clone() };
    let queued = waiting(&*store, PAGE);
    assert_eq!((queued.attempts, queued.again.as_deref(), queued.visited), (0, Some(&first), None));
    assert_eq!(waiting(&*store, "http://a.test/2"), Queued::first(page("http://a.test/2", 1)));
    assert_eq!(last(&*store, PAGE), Some(first.clone()), "it keeps its visit until the next");
    let totals = store.totals().expect("totals");
    assert_eq!((totals.pending, totals.again, totals.outcomes), (before.pending + 1, 1, before.outcomes.clone()));
    drop(store);

    let store = fixture.open();
    assert_eq!(waiting(&*store, PAGE).again.as_deref(), Some(&first));
    assert_eq!(store.earlier(first.key).expect("earlier"), vec![]);
    // An attempt that fails leaves it there.
    store.commit(&Batch { attempts: vec![(first.key, Purpose::Page, 3)], ..Batch::default() }).expect("commit");
    assert_eq!((waiting(&*store, PAGE).attempts, waiting(&*store, PAGE).again.is_some()), (3, true));
    // Links that are judged again are not the visit that it waits for.
    let judged_again = vec![(first.key, Distance { depth: 1, redirects: 0 })];
    store.commit(&Batch { judged_again, ..Batch::default() }).expect("commit");
    assert_eq!(queue(&*store, PAGE).len(), 2);

    let second = Visit { length: 20, ..of_round(PAGE, Outcome::Binary, 2) };
    for _ in 0..2 {
        end(&*store, std::slice::from_ref(&second));
        assert_eq!(store.earlier(first.key).expect("earlier"), std::slice::from_ref(&kept));
        assert_eq!((last(&*store, PAGE), queue(&*store, PAGE).len()), (Some(second.clone()), 1));
    }
    again(&*store, &[PAGE]);
    let third = of_round(PAGE, Outcome::HttpError, 3);
    end(&*store, std::slice::from_ref(&third));
    drop(store);
    let store = fixture.open();
    assert_eq!(store.earlier(first.key).expect("earlier"), [kept, second]);
    assert_eq!(last(&*store, PAGE), Some(third));
    let totals = store.totals().expect("totals");
    assert_eq!((totals.pending, totals.again, totals.urls), (before.pending, 0, before.urls));
    assert_eq!(totals.outcomes.into_iter().collect::<Vec<_>>(), [(Outcome::HttpError, 1)], "the last counts");
    assert_eq!(store.view().expect("a view").earlier(first.key).expect("earlier").len(), 2);
}

pub(super) fn kept(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1), page("http://a.test/2", 1)]);
    let first = of_round(PAGE, Outcome::Html, 1);
    end(&*store, std::slice::from_ref(&first));
    again(&*store, &[PAGE]);
    for _ in 0..2 {
        // One that waits for its first visit stays where it is.
        let kept = keys(&[PAGE, "http://a.test/2", "http://a.test/unknown"]);
        let kept = kept.into_iter().map(|key| (key, Purpose::Page)).collect();
        assert_eq!(store.commit(&Batch { kept, ..Batch::default() }).expect("commit"), Committed::default());
    }
    drop(store);
    let store = fixture.open();
    assert_eq!(queue(&*store, PAGE), ["http://a.test/2"]);
    assert_eq!((last(&*store, PAGE), store.earlier(first.key).expect("earlier")), (Some(first), vec![]));
    let totals = store.totals().expect("totals");
    assert_eq!((totals.pending, totals.again, totals.count(Outcome::Html)), (1, 0, 1));
    // It is visited in a later round.
    again(&*store, &[PAGE]);
    end(&*store, &[of_round(PAGE, Outcome::Binary, 3)]);
    assert_eq!(store.totals().expect("totals").count(Outcome::Binary), 1);
}

pub(super) fn visited_after_the_clock_was_set_back(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1)]);
    // The dates of the visits, in their order.
    for (number, at) in (0..).zip([7, 9, 2, 3]) {
        let past = Past { visits: number, ..Past::default() };
        again(&*store, &[PAGE]);
        end(&*store, &[Visit { at: Timestamp(at), past, ..of_round(PAGE, Outcome::Html, number + 1) }]);
    }
    let earlier = store.earlier(url(PAGE).key()).expect("earlier");
    assert_eq!(earlier.iter().map(|visit| visit.at.0).collect::<Vec<_>>(), [7, 9, 2]);
    // Another URL, of two of the rounds.
    find(&*store, &[page("http://a.test/2", 1)]);
    for (number, (round, at)) in (0..).zip([(2, 8), (4, 11)]) {
        let past = Past { visits: number, ..Past::default() };
        again(&*store, &["http://a.test/2"]);
        end(&*store, &[Visit { at: Timestamp(at), past, ..of_round("http://a.test/2", Outcome::Html, round) }]);
    }
    let rounds = store.rounds().expect("rounds").into_iter();
    let rounds = rounds.map(|(round, dates)| (round, dates.first.0, dates.last.0)).collect::<Vec<_>>();
    assert_eq!(rounds, [(1, 7, 7), (2, 8, 9), (3, 2, 2), (4, 3, 11)]);
}

pub(super) fn relaxed_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 5)]);
    end(&*store, &[of_round(PAGE, Outcome::Html, 1)]);
    again(&*store, &[PAGE]);
    let relaxed = find(&*store, &[page(PAGE, 2)]).relaxed;
    let queued = relaxed.first().and_then(|relaxed| relaxed.queued.clone()).expect("it waits on");
    assert_eq!((relaxed.len(), relaxed[0].was, queued.again.is_some()), (1, page(PAGE, 5).position(), true));
    let waits = waiting(&*store, PAGE);
    assert_eq!((waits.candidate.depth, waits.again.is_some()), (2, true));
    end(&*store, &[Visit { judged_at: Distance { depth: 2, redirects: 0 }, ..of_round(PAGE, Outcome::Html, 2) }]);
    assert_eq!(queue(&*store, PAGE), Vec::<String>::new());
    // As a sitemap too, whose way does not become shorter.
    let sitemap = crate::contract::Candidate { purpose: Purpose::Sitemap, ..page("http://a.test/sitemap.xml", 0) };
    find(&*store, &[sitemap]);
    end(&*store, &[of_round("http://a.test/sitemap.xml", Outcome::Binary, 2)]);
    again(&*store, &["http://a.test/sitemap.xml"]);
    assert!(waiting(&*store, "http://a.test/sitemap.xml").again.is_some());
}

pub(super) fn reopened_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1)]);
    end(&*store, &[of_round(PAGE, Outcome::Html, 1)]);
    again(&*store, &[PAGE]);
    let gone = Visit { attempts: 1, ..of_round(PAGE, Outcome::HttpError, 2) };
    end(&*store, std::slice::from_ref(&gone));
    assert_eq!(reopen(&*store, &[PAGE]), Committed::default());
    assert_eq!(waiting(&*store, PAGE).again.as_deref(), Some(&gone));
    assert_eq!(last(&*store, PAGE), Some(gone.clone()));
    end(&*store, &[Visit { at: Timestamp(9_000_000), ..of_round(PAGE, Outcome::Html, 2) }]);
    let outcomes = store.earlier(gone.key).expect("earlier").into_iter().map(|visit| visit.outcome);
    assert_eq!(outcomes.collect::<Vec<_>>(), [Outcome::Html, Outcome::HttpError]);
}

pub(super) fn counted(fixture: &dyn Fixture) {
    let store = fixture.open();
    let urls = [PAGE, "http://a.test/2", "http://a.test/3"];
    find(&*store, &urls.map(|text| page(text, 1)));
    end(&*store, &urls.map(|text| of_round(text, Outcome::Html, 1)));
    assert_eq!(store.totals().expect("totals").round, Round::default());
    assert_eq!(store.totals().expect("totals").pages_of_round, 0, "the first round counts as the crawl");
    assert_eq!(store.totals().expect("totals").bytes_of_round, 30);
    let choosing = Round { number: 2, began_at: Timestamp(1_500_000), is_choosing: true };
    store
        .commit(&Batch { round: Some(choosing.clone()), again: keys(&urls[..2]), ..Batch::default() })
        .expect("commit");
    assert_eq!(store.totals().expect("totals").round, choosing);
    let round = Round { is_choosing: false, ..choosing };
    store.commit(&Batch { round: Some(round.clone()), again: keys(&urls[2..]), ..Batch::default() }).expect("commit");
    find(&*store, &[page("http://a.test/new", 2)]);
    let visits =
        [(PAGE, Outcome::NotModified), ("http://a.test/2", Outcome::HttpError), ("http://a.test/new", Outcome::Html)];
    end(&*store, &visits.map(|(text, outcome)| of_round(text, outcome, 2)));
    drop(store);
    let store = fixture.open();
    let totals = store.totals().expect("totals");
    assert_eq!((totals.round, totals.pages_of_round, totals.again), (round, 2, 1));
    assert_eq!(totals.bytes_of_round, 20, "what was not modified has none");
    let next = Round { number: 3, began_at: Timestamp(2_500_000), is_choosing: false };
    store.commit(&Batch { round: Some(next), ..Batch::default() }).expect("commit");
    let counts = |totals: Totals| (totals.pages_of_round, totals.bytes_of_round);
    assert_eq!(counts(store.totals().expect("totals")), (0, 0));
    // One that was under way when the round began is of the round before.
    find(&*store, &[page("http://a.test/late", 2)]);
    end(&*store, &[of_round("http://a.test/late", Outcome::Html, 2), of_round("http://a.test/3", Outcome::Html, 3)]);
    assert_eq!(counts(store.totals().expect("totals")), (1, 10));
}

/// Sitemaps count, too: a run counts them while it goes on.
pub(super) fn bytes_counted(fixture: &dyn Fixture) {
    let store = fixture.open();
    let sitemap = "http://a.test/sitemap.xml";
    find(&*store, &[page(PAGE, 1), Candidate { purpose: Purpose::Sitemap, ..page(sitemap, 1) }]);
    end(&*store, &[of_round(PAGE, Outcome::HttpError, 1), of_round(sitemap, Outcome::Binary, 1)]);
    drop(store);
    let totals = fixture.open().totals().expect("totals");
    assert_eq!((totals.bytes, totals.bytes_of_round), (10, 20));
}

pub(super) fn announced(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1), page("http://a.test/2", 1)]);
    let outlinks = vec!["http://a.test/x".to_owned()];
    let first = Visit { outlinks: outlinks.clone(), ..of_round(PAGE, Outcome::Html, 1) };
    end(&*store, std::slice::from_ref(&first));
    let says = |text: &str, by, at| Announcement { key: url(text).key(), by, at: Timestamp(at) };
    let announce = |announced: Vec<Announcement>| {
        let committed = store.commit(&Batch { announced, ..Batch::default() }).expect("commit");
        assert_eq!(committed, Committed::default());
        last(&*store, PAGE).expect("a visit")
    };
    let said = |sitemap: Option<u64>, feed: Option<u64>| Visit {
        announced: Announced { sitemap: sitemap.map(Timestamp), feed: feed.map(Timestamp) },
        ..first.clone()
    };
    let (sitemap, feed) = (Announcer::Sitemap, Announcer::Feed);
    // A change before the visit does not count, and neither do those of other pages.
    let before = vec![says(PAGE, sitemap, 1_000_000), says("http://a.test/2", feed, 9_000_000)];
    assert_eq!(announce(before), first);
    assert_eq!(last(&*store, "http://a.test/2"), None);
    announce(vec![says("http://a.test/unknown", feed, 9_000_000)]);
    // The first word of each counts.
    let words = vec![says(PAGE, sitemap, 1_300_000), says(PAGE, sitemap, 1_400_000)];
    assert_eq!(announce(words), said(Some(1_300_000), None));
    let words = vec![says(PAGE, feed, 1_500_000), says(PAGE, sitemap, 1_200_000)];
    for _ in 0..2 {
        assert_eq!(announce(words.clone()), said(Some(1_300_000), Some(1_500_000)));
    }
    drop(store);

    let store = fixture.open();
    again(&*store, &[PAGE]);
    let queued = waiting(&*store, PAGE);
    assert_eq!(queued.again.as_deref(), Some(&said(Some(1_300_000), Some(1_500_000))), "with its outlinks");
    // It stays with that visit, also if a change is announced in the commit of the next.
    let second = of_round(PAGE, Outcome::Html, 2);
    let announced = vec![says(PAGE, feed, 9_000_000)];
    store.commit(&Batch { visits: vec![second.clone()], announced, ..Batch::default() }).expect("commit");
    let kept = Visit { outlinks: Vec::new(), ..said(Some(1_300_000), Some(1_500_000)) };
    assert_eq!((last(&*store, PAGE), store.earlier(first.key).expect("earlier")), (Some(second), vec![kept]));
}

/// Whichever visit recorded the content, and whatever else the URL had before.
pub(super) fn contents_are_lost(fixture: &dyn Fixture) {
    let store = fixture.open();
    let (same, changed, other) = ("http://a.test/same", "http://a.test/changed", "http://a.test/other");
    find(&*store, &[page(same, 1), page(changed, 1), page(other, 1)]);
    let place = Some(ArchiveLocation { segment: 0, offset: 1, length: 2 });
    let recorded = |text: &str, outcome, round| Visit {
        location: place,
        past: Past { visits: round - 1, not_modified: round - 1, ..Past::default() },
        ..of_round(text, outcome, round)
    };
    let first = |text: &str| recorded(text, Outcome::Html, 1);
    let confirmed = |text: &str| Visit { content_at: Some(first(text).at), ..recorded(text, Outcome::NotModified, 2) };
    let batch = |visits: Vec<Visit>| Batch { visits, ..Batch::default() };
    let contents = [same, changed, other].map(|text| (ContentDigest::of(text.as_bytes()), url(text).key()));
    let firsts = [same, changed, other].map(first).to_vec();
    store.commit(&Batch { holders: contents.to_vec(), ..batch(firsts) }).expect("commit");
    again(&*store, &[same, changed]);
    end(&*store, &[confirmed(same), recorded(changed, Outcome::Html, 2)]);
    let holders = |store: &dyn Store| {
        let label = PayloadDigest([1; 20]);
        contents.map(|(content, _)| store.holder(content, Some(label)).expect("holder").is_some())
    };
    assert_eq!(holders(&*store), [true; 3]);
    let moved = |text: &str, location| Moved { key: url(text).key(), at: first(text).at, location };
    let lost = vec![moved(same, None), moved(changed, None)];
    for _ in 0..2 {
        store.commit(&Batch { moved: lost.clone(), ..Batch::default() }).expect("commit");
    }
    drop(store);

    let store = fixture.open();
    assert_eq!(holders(&*store), [false, true, true], "what is there of the second is a later content");
    let past_of = |store: &dyn Store, text| last(store, text).expect("a visit").past;
    assert!(past_of(&*store, same).is_lost());
    assert_eq!(past_of(&*store, changed), recorded(changed, Outcome::Html, 2).past);
    assert_eq!(past_of(&*store, other), first(other).past);
    // Another has the content first now, be it in the commit that says so.
    let taken = vec![(contents[0].0, url(changed).key()), (contents[2].0, url(changed).key())];
    let losing = Batch { moved: vec![moved(same, None), moved(other, None)], holders: taken, ..Batch::default() };
    store.commit(&losing).expect("commit");
    let label = PayloadDigest([1; 20]);
    for (content, _) in [contents[0], contents[2]] {
        assert_eq!(store.holder(content, Some(label)).expect("holder"), Some(url(changed).key()));
    }
    // Found again.
    store.commit(&Batch { moved: vec![moved(same, place)], ..Batch::default() }).expect("commit");
    assert!(!past_of(&*store, same).is_lost());
    // The content is lost with an earlier archive. The record that refers to it is there.
    let (content_at, content_url) = (Some(Timestamp(3)), Some("http://elsewhere.test/".to_owned()));
    again(&*store, &[other]);
    end(&*store, &[Visit { content_at, content_url, ..recorded(other, Outcome::Html, 2) }]);
    let lost = Moved { key: url(other).key(), at: Timestamp(3), location: None };
    store.commit(&Batch { moved: vec![lost], ..Batch::default() }).expect("commit");
    let visit = last(&*store, other).expect("a visit");
    assert!(visit.past.is_lost() && visit.location == place, "{visit:?}");
}

pub(super) fn records_are_moved(fixture: &dyn Fixture) {
    let store = fixture.open();
    find(&*store, &[page(PAGE, 1), page("http://a.test/2", 1)]);
    let place = |offset| Some(ArchiveLocation { segment: 0, offset, length: 2 });
    let visit_of = |round| Visit {
        location: place(u64::from(round)),
        past: Past { visits: round - 1, ..Past::default() },
        ..of_round(PAGE, Outcome::Html, round)
    };
    let (first, second) = (visit_of(1), visit_of(2));
    let third = Visit { outlinks: vec!["http://a.test/x".to_owned()], attempts: 2, ..visit_of(3) };
    for visit in [&first, &second, &third] {
        again(&*store, &[PAGE]);
        end(&*store, std::slice::from_ref(visit));
    }
    again(&*store, &[PAGE]);
    store.commit(&Batch { attempts: vec![(first.key, Purpose::Page, 1)], ..Batch::default() }).expect("commit");
    let before = store.totals().expect("totals");
    let moved = |visit: &Visit, location| Moved { key: visit.key, at: visit.at, location };
    let unknown = [
        Moved { key: url("http://a.test/unknown").key(), at: first.at, location: place(9) },
        Moved { key: url("http://a.test/2").key(), at: first.at, location: place(9) },
        Moved { key: first.key, at: Timestamp(7), location: place(9) },
    ];
    let known = [moved(&first, place(11)), moved(&second, None), moved(&third, place(12)), moved(&third, place(13))];
    let batch = Batch { moved: [&known[..], &unknown].concat(), ..Batch::default() };
    for _ in 0..2 {
        assert_eq!(store.commit(&batch).expect("commit"), Committed::default());
    }
    drop(store);

    let store = fixture.open();
    let third = Visit { location: place(13), ..third };
    let earlier = [Visit { location: place(11), ..first.clone() }, Visit { location: None, ..second.clone() }];
    assert_eq!(store.earlier(first.key).expect("earlier"), earlier);
    assert_eq!(last(&*store, PAGE), Some(third.clone()));
    // It waits for its visit as before.
    let queued = waiting(&*store, PAGE);
    assert_eq!((queued.attempts, queued.again.as_deref()), (1, Some(&third)));
    assert_eq!(store.totals().expect("totals"), before);
    assert_eq!(last(&*store, "http://a.test/2"), None);
    store.commit(&Batch { moved: vec![moved(&third, None)], ..Batch::default() }).expect("commit");
    assert_eq!(store.unrecorded(None, 9).expect("unrecorded").len(), 1, "its record is lost");
    // What was moved and followed by the same batch has moved.
    let fourth = visit_of(4);
    let batch = Batch { moved: vec![moved(&third, place(14))], visits: vec![fourth.clone()], ..Batch::default() };
    for _ in 0..2 {
        store.commit(&batch).expect("commit");
        let kept = Visit { location: place(14), outlinks: Vec::new(), ..third.clone() };
        assert_eq!(store.earlier(first.key).expect("earlier")[2], kept);
        assert_eq!(last(&*store, PAGE), Some(fourth.clone()));
    }
}
