//! Rounds that take what is due from memory.

use engine::Settings;
use settings::options::Options;
use settings::plan::Plan;
use store::{Batch, MemoryStore};
use weburl::{CanonicalUrl, Scope, ScopeKind};

use super::super::tests::{chosen_paths, store, url};
use super::*;
use crate::importance::Important;

const MINUTE: u64 = 60_000_000;
const EVERY: Duration = Duration::from_secs(60);

/// Every URL is in scope: the states have no seeds.
fn settings() -> Settings {
    let mut settings = Plan::new(&Options::default()).expect("a plan").settings;
    settings.filter.scope = Scope::new(ScopeKind::Any);
    settings
}

fn schedule(visits: usize, now: u64) -> Schedule {
    Schedule { important: Important::Equal, visits, every: EVERY, delay: Duration::ZERO, now: Timestamp(now) }
}

/// Picks by memory alone, from the second time on.
fn pick(planner: &mut Planner, schedule: &Schedule, store: &MemoryStore, settings: &Settings) -> BTreeSet<UrlKey> {
    let learned_at = planner.agenda.as_ref().map(|agenda| agenda.learned_at);
    let picked = planner.pick(schedule, store, settings).expect("a state");
    let agenda = planner.agenda.as_mut().expect("it has learned");
    assert!(learned_at.is_none_or(|at| at == agenda.learned_at), "the whole state was read again");
    agenda.took = Duration::from_secs(1 << 30);
    picked.pages
}

/// Visits pages. Those with the letter `c` have changed each time.
fn visit(store: &MemoryStore, pages: &BTreeSet<UrlKey>, at: u64) {
    for key in pages {
        let entry = store.get(*key).expect("a state").expect("known");
        let last = entry.visit.expect("visited");
        let changes = entry.candidate.url.path().contains('c');
        let [content, ..] = last.digest.expect("a page").0;
        let mut visit = Visit { at: Timestamp(at), round: last.round + 1, ..last };
        visit.digest = Some(model::PayloadDigest([content.wrapping_add(u8::from(changes)); 20]));
        visit.past.visits += 1;
        store.commit(&Batch { again: vec![*key], ..Batch::default() }).expect("a commit");
        store.commit(&Batch { visits: vec![visit], ..Batch::default() }).expect("a commit");
    }
}

#[test]
fn every_page_has_its_turn_by_memory_alone_and_the_budget_is_spent() {
    const PAGES: usize = 60;
    let (changes, stays): (Vec<u8>, Vec<u8>) = ((0..12).map(|n| 1 + n / 2).collect(), vec![1; 12]);
    let names: Vec<String> = (0..PAGES).map(|n| if n < 10 { format!("c{n}") } else { n.to_string() }).collect();
    let pages = names.iter().map(|name| (name.as_str(), if name.contains('c') { &changes[..] } else { &stays[..] }));
    let store = store(&pages.collect::<Vec<_>>());
    let (settings, mut planner) = (settings(), Planner::default());
    let (mut now, mut counts) = (20 * 60 * MINUTE, BTreeMap::<String, u32>::new());
    for _ in 0..200 {
        let picked = pick(&mut planner, &schedule(6, now), &store, &settings);
        assert!(picked.len() <= 6, "{}", picked.len());
        for path in chosen_paths(&store, &picked) {
            *counts.entry(path).or_default() += 1;
        }
        visit(&store, &picked, now + 1);
        now += 10 * MINUTE;
    }
    assert_eq!(counts.len(), PAGES, "{counts:?}");
    assert!(counts.values().sum::<u32>() > 600, "{counts:?}");
    let Agenda { pages, .. } = planner.agenda.as_ref().expect("one");
    assert_eq!(pages.calendar.len(), PAGES, "none is lost, and none is there twice");
}

#[test]
fn no_page_is_chosen_that_was_visited_a_moment_ago() {
    let store = store(&[("a", &[1, 1]), ("b", &[1, 2]), ("c", &[1, 1])]);
    let (settings, mut planner) = (settings(), Planner::default());
    let now = 9 * 60 * MINUTE;
    let all = pick(&mut planner, &schedule(10, now), &store, &settings);
    assert_eq!(all.len(), 3);
    visit(&store, &[url("a").key()].into(), now);
    // The others were chosen, and not visited.
    let rest = pick(&mut planner, &schedule(10, now + MINUTE / 2), &store, &settings);
    assert_eq!(chosen_paths(&store, &rest), ["/b", "/c"]);
    let all = pick(&mut planner, &schedule(10, now + 90 * 60 * MINUTE), &store, &settings);
    assert_eq!(all.len(), 3);
}

#[test]
fn pages_of_a_site_on_hold_come_back_when_it_is_released() {
    let store = store(&[("a", &[1]), ("b", &[1])]);
    let other = CanonicalUrl::from_canonical("http://b.test/").expect("a URL");
    store.commit(&Batch { found: vec![model::Candidate::seed(other.clone())], ..Batch::default() }).expect("a commit");
    let found = Visit::without_fetch(other.key(), model::Outcome::Html, String::new(), Timestamp(1));
    let digest = Some(model::PayloadDigest([1; 20]));
    let found = Visit { status: 200, attempts: 1, digest, ..found };
    store.commit(&Batch { visits: vec![found], ..Batch::default() }).expect("a commit");
    let (settings, mut planner, mut now) = (settings(), Planner::default(), 9 * 60 * MINUTE);
    let held = Settings { held_sites: [url("a").key().site].into(), ..settings.clone() };
    for (settings, count) in [(&settings, 3), (&held, 1), (&held, 1), (&settings, 3), (&settings, 3)] {
        now += 60 * MINUTE;
        let picked = pick(&mut planner, &schedule(10, now), &store, settings);
        assert_eq!(picked.len(), count);
        visit(&store, &picked, now);
    }
}

#[test]
fn a_site_has_no_more_in_a_round_than_its_delay_allows_and_keeps_none_from_the_others() {
    let names: Vec<String> = (0..400).map(|n| n.to_string()).collect();
    let store = store(&names.iter().map(|name| (name.as_str(), &[1][..])).collect::<Vec<_>>());
    for n in 0..20_u32 {
        let other = CanonicalUrl::from_canonical(&format!("http://{n}.test/")).expect("a URL");
        let seed = model::Candidate::seed(other.clone());
        store.commit(&Batch { found: vec![seed], ..Batch::default() }).expect("a commit");
        let found = Visit::without_fetch(other.key(), model::Outcome::Html, String::new(), Timestamp(1));
        let digest = Some(model::PayloadDigest([1; 20]));
        let found = Visit { status: 200, attempts: 1, digest, ..found };
        store.commit(&Batch { visits: vec![found], ..Batch::default() }).expect("a commit");
    }
    let (settings, mut planner, mut now) = (settings(), Planner::default(), 900 * 60 * MINUTE);
    let (mut of_large, mut of_others) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..200 {
        let schedule = Schedule { delay: Duration::from_secs(20), ..schedule(8, now) };
        let picked = pick(&mut planner, &schedule, &store, &settings);
        let (large, others): (BTreeSet<UrlKey>, _) = picked.iter().partition(|key| key.site == url("0").key().site);
        assert!(large.len() <= 3, "{}", large.len());
        of_large.extend(large);
        of_others.extend::<BTreeSet<UrlKey>>(others);
        visit(&store, &picked, now);
        now += MINUTE;
    }
    assert_eq!((of_large.len(), of_others.len()), (400, 20));
}

#[test]
fn what_was_planned_holds_until_others_begin_a_round_or_many_pages_are_new() {
    let store = store(&[("a", &[1]), ("b", &[1])]);
    let (settings, mut planner) = (settings(), Planner::default());
    let mut totals = store.totals().expect("a state");
    planner.pick(&schedule(1, 9 * 60 * MINUTE), &store, &settings).expect("a state");
    planner.begun(totals.round.number + 1);
    let agenda = planner.agenda.as_mut().expect("it has learned");
    agenda.took = Duration::from_secs(2);
    let after = |seconds| agenda.learned_at + Duration::from_secs(seconds);
    assert!(!agenda.holds(&totals, after(1)), "the round is another");
    totals.round.number += 1;
    assert!(agenda.holds(&totals, after(31)));
    assert!(!agenda.holds(&totals, after(32)), "it is time to learn");
    *totals.outcomes.entry(model::Outcome::Html).or_default() += 1;
    assert!(!agenda.holds(&totals, after(1)), "a page is new");
}
