//! What is chosen, from states that are made.

use model::{Announcement, Announcer, Outcome, PayloadDigest, Round};
use store::{Batch, MemoryStore};
use weburl::CanonicalUrl;

use super::*;

const HOUR: u64 = 3_600_000_000;

pub(super) fn url(path: &str) -> CanonicalUrl {
    CanonicalUrl::from_canonical(&format!("http://a.test/{path}")).expect("a URL")
}

/// A store with pages and the contents that visits found, one an hour; 0 where it was gone.
pub(super) fn store(pages: &[(&str, &[u8])]) -> MemoryStore {
    let store = MemoryStore::new();
    for (path, contents) in pages {
        store.commit(&Batch { found: vec![model::Candidate::seed(url(path))], ..Batch::default() }).expect("a commit");
        for (hour, content) in (0u32..).zip(*contents) {
            let (outcome, status) = if *content == 0 { (Outcome::HttpError, 404) } else { (Outcome::Html, 200) };
            let at = Timestamp(u64::from(hour) * HOUR);
            let visit = Visit::without_fetch(url(path).key(), outcome, String::new(), at);
            let digest = (*content > 0).then_some(PayloadDigest([*content; 20]));
            let mut visit = Visit { status, digest, attempts: 1, round: hour + 1, ..visit };
            visit.past.visits = hour;
            visit.content_at = (*content == 0).then_some(Timestamp(0));
            store.commit(&Batch { again: vec![visit.key], ..Batch::default() }).expect("a commit");
            store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        }
    }
    store
}

fn chosen(store: &MemoryStore, visits: usize, hours: u64) -> Vec<String> {
    choose(store, visits, Timestamp(hours * HOUR), Duration::ZERO)
}

fn schedule(visits: usize, now: Timestamp, delay: Duration) -> Schedule {
    Schedule { important: Important::Equal, visits, every: Duration::from_secs(60), delay, now }
}

fn choose(store: &MemoryStore, visits: usize, now: Timestamp, delay: Duration) -> Vec<String> {
    let chosen = schedule(visits, now, delay).choose(store, &|_| Share::All).expect("a state").0;
    chosen_paths(store, &chosen.into_iter().collect())
}

/// The paths of pages, in order.
pub(super) fn chosen_paths(store: &MemoryStore, chosen: &BTreeSet<UrlKey>) -> Vec<String> {
    let path = |key: &UrlKey| store.get(*key).expect("a state").expect("known").candidate.url.path().to_owned();
    let mut paths: Vec<String> = chosen.iter().map(path).collect();
    paths.sort();
    paths
}

#[test]
fn pages_that_change_come_before_those_that_do_not() {
    let (changes, stays): (Vec<u8>, Vec<u8>) = ((0..12).map(|n| 1 + n / 3).collect(), vec![1; 12]);
    let pages: Vec<(String, &[u8])> =
        (0..20).map(|n| (n.to_string(), if n < 5 { &changes[..] } else { &stays[..] })).collect();
    let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
    let store = store(&pages);
    assert_eq!(chosen(&store, 5, 14), ["/0", "/1", "/2", "/3", "/4"]);
    // All have their turn where there are visits for all, and none twice.
    assert_eq!(chosen(&store, 100, 14).len(), 20);
    assert_eq!(chosen(&store, 40, 14).len(), 20);
    assert_eq!(chosen(&store, 0, 14), Vec::<String>::new());
}

#[test]
fn important_pages_come_before_others_that_change_as_often() {
    let changes: Vec<u8> = (0..12).map(|n| 1 + n / 3).collect();
    let pages: Vec<(String, &[u8])> = (0..20).map(|n| (n.to_string(), &changes[..])).collect();
    let store = store(&pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect::<Vec<_>>());
    let number = |n: u32| (url(&n.to_string()).key(), if n.is_multiple_of(7) { 5.0 } else { 1.0 });
    let important = Important::ranked((0..20).map(number));
    let schedule = Schedule { important, ..schedule(3, Timestamp(14 * HOUR), Duration::ZERO) };
    let chosen = schedule.choose(&store, &|_| Share::All).expect("a state").0;
    let expect: BTreeSet<UrlKey> = ["0", "7", "14"].map(|path| url(path).key()).into();
    assert_eq!(chosen.into_iter().collect::<BTreeSet<_>>(), expect);
}

#[test]
fn a_round_whose_choice_was_interrupted_is_chosen_on() {
    let store = store(&[("1", &[1])]);
    for is_choosing in [true, false] {
        let round = Some(Round { number: 2, began_at: Timestamp(HOUR), is_choosing });
        store.commit(&Batch { round, again: vec![url("1").key()], ..Batch::default() }).expect("a commit");
        assert_eq!(Schedule::goes_on(&store).expect("a state"), !is_choosing);
    }
}

#[test]
fn a_page_begins_with_what_is_known_of_its_shape_and_site() {
    let (changes, stays): (Vec<u8>, Vec<u8>) = ((1..13).collect(), vec![1; 12]);
    let mut pages = Vec::new();
    for n in 0..8 {
        pages.push((format!("news/{n}"), &changes[..]));
        pages.push((format!("archive/{n}"), &stays[..]));
    }
    let store = store(&pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect::<Vec<_>>());
    let learned = schedule(10, Timestamp(14 * HOUR), Duration::ZERO).learn(&store).expect("a state");
    // How likely a page that was visited once is the same after an hour.
    let same = |path: &str| Belief::new(learned.prior(&url(path)), &Seen::default()).freshness(3_600.0);
    assert!(same("news/new") < 0.2 && same("archive/new") > 0.8, "{} {}", same("news/new"), same("archive/new"));
    // Of other paths it is known how the pages of the site are, both kinds.
    assert!((0.2..0.8).contains(&same("other")), "{}", same("other"));
}

#[test]
fn pages_that_are_gone_are_asked_for_ever_more_rarely() {
    let store = store(&[("gone", &[1, 0, 0, 0]), ("there", &[1, 1, 1, 1])]);
    // Visited last after three hours; three times in vain, so it waits four.
    assert_eq!(chosen(&store, 10, 6), ["/there"]);
    assert_eq!(chosen(&store, 10, 7), ["/gone", "/there"]);
}

#[test]
fn pages_of_a_clock_that_was_ahead_do_not_wait_for_their_dates() {
    let store = store(&[("a", &[1, 1]), ("b", &[1, 2])]);
    // Visited last after one hour, by a clock that has been set back since: to long before, or to a little before.
    assert_eq!(chosen(&store, 1, 0).len(), 1);
    let moment_before = Timestamp(HOUR - 1_000_000);
    let schedule = schedule(1, moment_before, Duration::ZERO);
    let (chosen, waits) = schedule.choose(&store, &|_| Share::All).expect("a state");
    assert_eq!(chosen, []);
    assert_eq!(waits, Waits { resting: 2, until: Some(Timestamp(HOUR + 60_000_000)), closed: 0 });
    let (chosen, waits) =
        Schedule { now: Timestamp(9 * HOUR), ..schedule.clone() }.choose(&store, &|_| Share::None).expect("a state");
    assert_eq!((chosen, waits), (Vec::new(), Waits { resting: 0, until: None, closed: 2 }));
}

#[test]
fn a_site_that_was_given_up_is_tried_with_one_page_after_a_day() {
    let store = store(&[("a", &[1]), ("b", &[1]), ("c", &[1])]);
    let failure = model::Failure { kind: model::FailureKind::Tls, detail: "expired".to_owned() };
    let site = model::SiteRecord {
        given_up: Some(failure),
        due_at: Timestamp(HOUR),
        ..model::SiteRecord::new(url("a").site())
    };
    store.commit(&Batch { sites: vec![site], ..Batch::default() }).expect("a commit");
    for (hours, expect, closed) in [(2, 0, 3), (24, 0, 3), (25, 1, 0), (1_000, 1, 0)] {
        let schedule = schedule(10, Timestamp(hours * HOUR), Duration::ZERO);
        let sites = schedule.unusual_sites(&store, &BTreeSet::new()).expect("a state");
        let (chosen, waits) = schedule.choose(&store, &|url| sites.share_of(url.key().site)).expect("a state");
        assert_eq!((chosen.len(), waits.closed), (expect, closed), "{hours}");
    }
}

#[test]
fn what_waits_longest_has_its_turn_whatever_it_is_worth() {
    // It changes whenever somebody looks: no visit is worth much. The others change now and then.
    let (hopeless, useful): (Vec<u8>, Vec<u8>) = ((1..40).collect(), (0..40).map(|n| 1 + n / 8).collect());
    let mut pages: Vec<(String, &[u8])> = (0..100).map(|n| (n.to_string(), &useful[..])).collect();
    pages.push(("hopeless".to_owned(), &hopeless[..]));
    let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
    let store = store(&pages);
    assert!(chosen(&store, 40, 60).contains(&"/hopeless".to_owned()), "it was visited an hour before the others");
}

#[test]
fn a_site_has_no_more_visits_in_a_round_than_its_delay_allows() {
    let pages: Vec<(String, &[u8])> = (0..20).map(|n| (n.to_string(), &[1, 2][..])).collect();
    let pages: Vec<(&str, &[u8])> = pages.iter().map(|(path, contents)| (path.as_str(), *contents)).collect();
    let store = store(&pages);
    for (seconds, visits) in [(60, 1), (20, 3), (7, 9), (1, 20)] {
        let chosen = choose(&store, 100, Timestamp(10 * HOUR), Duration::from_secs(seconds));
        assert_eq!(chosen.len(), visits, "{seconds}");
    }
}

/// A store with pages that change at about every third of their visits, one in ten days. Their site says so in its sitemap, or speaks at other
/// times (`is_honest`). Since the last visit it says so of the first page.
fn announced(is_honest: bool) -> MemoryStore {
    const DAY: u64 = 24 * HOUR;
    let store = MemoryStore::new();
    let sitemap = model::Candidate { purpose: Purpose::Sitemap, ..model::Candidate::seed(url("sitemap.xml")) };
    store.commit(&Batch { found: vec![sitemap], ..Batch::default() }).expect("a commit");
    let visit = |path: &str, n: u32| {
        let at = Timestamp(u64::from(n) * 10 * DAY);
        let mut visit = Visit::without_fetch(url(path).key(), Outcome::Html, String::new(), at);
        (visit.attempts, visit.status, visit.round, visit.past.visits) = (1, 200, n, n - 1);
        visit
    };
    for page in 0..40_u32 {
        let (path, mut content) = (page.to_string(), 1);
        store.commit(&Batch { found: vec![model::Candidate::seed(url(&path))], ..Batch::default() }).expect("a commit");
        let changes = |n: u32| (n * 7 + page * 5).is_multiple_of(3);
        for n in 1..=20 {
            content += u8::from(changes(n));
            let visit = Visit { digest: Some(PayloadDigest([content; 20])), ..visit(&path, n) };
            let said_at = visit.at + Duration::from_secs(5 * 86_400);
            let is_said = match n {
                20 => page == 0,
                _ => changes(if is_honest { n + 1 } else { n * 3 % 13 + page * n }),
            };
            let announcement = Announcement { key: visit.key, by: Announcer::Sitemap, at: said_at };
            store.commit(&Batch { again: vec![visit.key], ..Batch::default() }).expect("a commit");
            store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
            let announced = if is_said { vec![announcement] } else { Vec::new() };
            store.commit(&Batch { announced, ..Batch::default() }).expect("a commit");
        }
    }
    let listing = Visit { digest: Some(PayloadDigest([1; 20])), ..visit("sitemap.xml", 19) };
    store.commit(&Batch { visits: vec![listing], ..Batch::default() }).expect("a commit");
    store
}

#[test]
fn signals_of_a_site_count_as_far_as_they_were_right() {
    let now = 206 * 24;
    for is_honest in [true, false] {
        let store = announced(is_honest);
        let at = Timestamp(now * HOUR);
        // A visit of each page in two hundred days.
        let schedule = Schedule { every: Duration::from_secs(5 * 86_400), ..schedule(1, at, Duration::ZERO) };
        let learned = schedule.learn(&store).expect("a state");
        let site = learned.of_sites.values().next().expect("a site");
        assert_eq!(site.outlook.is_some(), is_honest, "{:?}", site.beliefs.trust);
        let chosen = schedule.choose(&store, &|_| Share::All).expect("a state").0;
        assert_eq!(chosen.len(), 1);
        // The sitemap is read more often where it tells changes, and the page comes first that it speaks of.
        let due = Schedule { visits: 2, ..schedule.clone() }.choose(&store, &|_| Share::All).expect("a state").0;
        let first = [url("0").key(), url("sitemap.xml").key()];
        assert_eq!(first.iter().all(|key| due.contains(key)), is_honest, "{due:?}");
    }
}

/// A store with forty pages, of which one is visited each hour. At these hours all of them change.
fn changing_together(hours: &[f64], until: u32) -> MemoryStore {
    const PAGES: u32 = 40;
    let store = MemoryStore::new();
    for page in 0..PAGES {
        let path = page.to_string();
        store.commit(&Batch { found: vec![model::Candidate::seed(url(&path))], ..Batch::default() }).expect("a commit");
        for (n, hour) in (0u32..).zip((page..until).step_by(PAGES as usize)) {
            let at = Timestamp(u64::from(hour) * HOUR);
            let content = u8::try_from(hours.iter().filter(|at| **at < f64::from(hour)).count()).expect("few");
            let visit = Visit::without_fetch(url(&path).key(), Outcome::Html, String::new(), at);
            let digest = Some(PayloadDigest([content; 20]));
            let mut visit = Visit { status: 200, digest, attempts: 1, round: n + 1, ..visit };
            visit.past.visits = n;
            store.commit(&Batch { again: vec![visit.key], ..Batch::default() }).expect("a commit");
            store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
        }
    }
    store
}

#[test]
fn pages_wait_until_visits_of_others_find_that_all_have_changed() {
    let at = [100.5, 221.5, 330.5, 451.5, 570.5];
    for (name, hours, different) in [
        ("the last one is known", &at[..], Some(true)),
        ("there was none lately", &at[..4], Some(false)),
        ("one proves nothing", &at[..1], None),
        ("none", &[], None),
    ] {
        let store = changing_together(hours, 591);
        let now = Timestamp(591 * HOUR);
        // A visit each hour.
        let every = Duration::from_secs(3_600);
        let schedule = Schedule { every, ..schedule(1, now, Duration::ZERO) };
        let learned = schedule.learn(&store).expect("a state");
        let site = learned.of_sites.values().next().expect("a site");
        assert_eq!(site.beliefs.common.is_some(), different.is_some(), "{name}");
        let Some(is_different) = different else { continue };
        each_page(&store, &mut |entry, visits| {
            let hours = (now.0 - visits.last().expect("one").at.0) as f64 / HOUR as f64;
            let (wait, _) = learned.wait_and_test(&entry.candidate.url, visits, 1.0, now);
            // Visited last before the last of the five.
            let is_due = is_different && hours > 20.6;
            assert_eq!(wait < hours * 3_600.0, is_due, "{name}: {hours} hours, {} of wait", wait / 3_600.0);
        })
        .expect("a state");
    }
}
