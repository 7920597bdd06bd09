//! Predictions for a site: what holds it up, until when, and what its turn brings.

use std::time::Duration;

use frontier::{Behind, Held, Reason};
use model::{
    Aside, Candidate, Failure, FailureKind, Outcome, Purpose, RobotsAnswer, RobotsRecord, SiteRecord, Timestamp,
};
use store::{Batch, MemoryStore, Store};
use weburl::SiteKey;

use super::super::{OnAddress, Prospect, State, Turn, Wait};
use super::driven::{Driven, url};
use super::{NOW, settings};
use crate::{Event, Finding, Settings};

const ONE: &str = "http://one.test/";
const MORE: &str = "http://one.test/more";
const OTHER: &str = "http://other.test/";
const MS: fn(u64) -> Duration = Duration::from_millis;

fn site(text: &str) -> SiteKey {
    url(text).site().key()
}

fn of(driven: &Driven, text: &str) -> Prospect {
    driven.state.prospect(driven.now, site(text))
}

/// A crawl of these seeds, whose sites are at these addresses.
fn begun(settings: Settings, seeds: &[(&str, u8)]) -> Driven {
    let mut driven = Driven::begin(settings, &seeds.iter().map(|(seed, _)| *seed).collect::<Vec<_>>());
    for (seed, address) in seeds {
        if driven.names.contains(&url(seed).site()) {
            driven.resolved(seed, Ok(&[*address]));
        }
    }
    driven
}

/// A crawl of two URLs of a site, with its robots.txt.
fn with_robots(settings: Settings, robots: &'static str) -> Driven {
    let mut driven = begun(settings, &[(ONE, 1), (MORE, 1)]);
    driven.answered("http://one.test/robots.txt", 200, &[], robots);
    driven
}

/// Of a site of which nothing is known.
fn idle() -> Prospect {
    Prospect {
        held: Some(Reason::Nothing.into()),
        wants_name: false,
        turn: None,
        behind: Behind::default(),
        on_address: None,
    }
}

fn first_of(driven: &Driven) -> String {
    driven.asked().first().map(ToString::to_string).expect("something is asked for")
}

#[test]
fn a_new_site_waits_for_its_name_its_robots_txt_and_the_delay_of_its_address() {
    let mut driven = Driven::begin(settings(), &[ONE]);
    let prospect = of(&driven, ONE);
    assert_eq!(prospect.held, Some(Reason::Name.into()));
    assert_eq!((prospect.wants_name, prospect.turn), (true, Some(Turn::Robots)));
    driven.resolved(ONE, Ok(&[1]));
    assert_eq!(of(&driven, ONE).held, Some(Reason::Robots.into()));
    driven.answered("http://one.test/robots.txt", 404, &[], "");
    let due = Held::until(Reason::AddressDelay, NOW + MS(250));
    let expect = Prospect { held: Some(due), turn: Some(Turn::Fetch(url(ONE))), ..idle() };
    assert_eq!(of(&driven, ONE), expect);
    driven.wait(MS(250));
    assert_eq!((driven.asked(), of(&driven, ONE).held), (vec![ONE], Some(Reason::UnderWay.into())));
    driven.answered(ONE, 200, &[], "");
    assert_eq!(of(&driven, ONE).held, Some(Reason::Nothing.into()));
    assert_eq!(of(&driven, OTHER), idle());
}

#[test]
fn a_site_waits_for_its_delay_and_for_what_it_asked_for() {
    for (status, headers, expect) in [
        (200, &[][..], Held::until(Reason::Delay, NOW + MS(1_250))),
        (429, &[], Held::until(Reason::BackOff, NOW + MS(2_250))),
        (503, &[("Retry-After", "20")], Held::until(Reason::BackOff, NOW + MS(20_250))),
        (503, &[("Retry-After", "3600")], Held::until(Reason::Aside, NOW + MS(3_600_250))),
    ] {
        let mut driven = with_robots(settings(), "");
        if status == 429 {
            driven.state.settings.site_rules.politeness.backoff = MS(2_000);
        }
        driven.wait(MS(250));
        let first = first_of(&driven);
        driven.answered(&first, status, headers, "");
        assert_eq!(of(&driven, ONE).held, Some(expect), "{status} {headers:?}");
    }
}

#[test]
fn a_url_whose_head_failed_is_asked_for_with_get() {
    for status in [429, 502, 503, 504] {
        let mut driven = with_robots(Settings { head_first: true, ..settings() }, "");
        driven.wait(MS(250));
        let first = first_of(&driven);
        assert!(driven.fetches[0].head_first);
        driven.answered(&first, status, &[], "");
        // The other URL of the site comes first.
        let mut heads = Vec::new();
        while !heads.iter().any(|(target, _)| *target == first) {
            let held = of(&driven, ONE).held.and_then(|held| held.until).expect("it waits");
            driven.wait(held.since(driven.now));
            heads.push((first_of(&driven), driven.fetches[0].head_first));
            driven.answered(&heads.last().expect("one").0.clone(), 200, &[], "");
        }
        let other = if first == ONE { MORE } else { ONE };
        let expect = [(other.to_owned(), true), (first, false)];
        assert!(expect.ends_with(&heads), "{status}: {heads:?}");
    }
}

#[test]
fn a_site_that_is_not_reached_is_put_aside() {
    let mut driven = with_robots(settings(), "");
    let mut held = of(&driven, ONE).held;
    while let Some(Held { reason: Reason::AddressDelay | Reason::BackOff | Reason::Delay, until: Some(until) }) = held {
        driven.wait(until.since(driven.now));
        let first = first_of(&driven);
        driven.failed(&first, FailureKind::Connect);
        held = of(&driven, ONE).held;
    }
    assert_eq!(held, Some(Held::until(Reason::Aside, driven.now + MS(60_000))));
    let waits = driven.state.waits(driven.now);
    let expect = Wait { sites: 1, until: Some(driven.now + MS(60_000)) };
    assert_eq!(waits.0.into_iter().collect::<Vec<_>>(), [(Reason::Aside, expect)]);
}

#[test]
fn sites_on_one_address_take_turns() {
    let mut driven = begun(settings(), &[(ONE, 1), (OTHER, 1)]);
    let (asked, waits) = match driven.asked()[0] {
        "http://one.test/robots.txt" => (ONE, OTHER),
        _ => (OTHER, ONE),
    };
    assert_eq!(of(&driven, waits).held, Some(Reason::Address.into()));
    driven.answered(&format!("{asked}robots.txt"), 404, &[], "");
    let both = [asked, waits].map(|text| of(&driven, text).held);
    assert_eq!(both, [Some(Held::until(Reason::AddressDelay, NOW + MS(250))); 2]);
    assert_eq!(driven.state.waits(driven.now).0[&Reason::AddressDelay], Wait { sites: 2, until: Some(NOW + MS(250)) });
}

#[test]
fn sites_on_one_address_tell_how_far_apart_their_visits_are() {
    const THIRD: &str = "http://third.test/";
    const FAR: &str = "http://far.test/";
    let mut settings = settings();
    settings.site_rules.politeness.ip_delay = MS(700);
    let sites = [ONE, OTHER, THIRD, FAR];
    let mut driven = begun(settings.clone(), &[(ONE, 1), (OTHER, 1), (THIRD, 1), (FAR, 2)]);
    let on_address = |driven: &Driven| sites.map(|text| of(driven, text).on_address);
    let shared = on_address(&driven);
    for told in &shared[..3] {
        let OnAddress { sites, interval } = told.expect("they share an address");
        assert!(sites == 3 && interval.abs_diff(MS(2_100)) < MS(2), "{sites} {interval:?}");
    }
    assert_eq!(shared[3], None, "alone, it waits for its own delay");
    // Nothing goes to a site on hold.
    let asked = driven.asked().iter().map(ToString::to_string).collect::<Vec<_>>();
    let is_asked = |text: &&str| asked.iter().any(|asked| asked.starts_with(*text));
    let held = *sites[..3].iter().find(|text| !is_asked(text)).expect("one request at a time");
    driven.happen(Event::SettingsChanged(Box::new(Settings { held_sites: [site(held)].into(), ..settings })));
    for (text, told) in sites.iter().zip(on_address(&driven)) {
        let is_shared = *text != held && *text != FAR;
        assert_eq!(told.map(|told| told.sites), is_shared.then_some(2), "{text}");
    }
}

#[test]
fn budgets_pauses_and_holds_hold_a_site_up() {
    let site_rules = |max| frontier::SiteRules { pages_per_site_max: max, ..settings().site_rules };
    let fetched = |settings: Settings| {
        let mut driven = with_robots(settings, "");
        driven.wait(MS(250));
        let first = first_of(&driven);
        driven.found(&first, Finding::Nothing);
        driven
    };
    let driven = fetched(Settings { site_rules: site_rules(Some(1)), ..settings() });
    assert_eq!(of(&driven, ONE).held, Some(Reason::SiteBudget.into()));
    let driven = fetched(Settings { pages_max: Some(1), ..settings() });
    assert_eq!(of(&driven, ONE).held, Some(Reason::CrawlBudget.into()));
    let mut driven = fetched(settings());
    driven.happen(Event::SettingsChanged(Box::new(Settings { paused: true, ..settings() })));
    assert_eq!(of(&driven, ONE).held, Some(Reason::Paused.into()));
    let held_sites = [site(ONE)].into();
    driven.happen(Event::SettingsChanged(Box::new(Settings { held_sites, ..settings() })));
    assert_eq!(of(&driven, ONE).held, Some(Reason::Hold.into()));
    assert_eq!(driven.state.waits(driven.now).0[&Reason::Hold].sites, 1);
    driven.happen(Event::SettingsChanged(Box::new(settings())));
    driven.happen(Event::Stop);
    assert_eq!(of(&driven, ONE).held, Some(Reason::End.into()));
}

#[test]
fn of_the_sites_on_hold_those_count_that_have_something_to_do() {
    let held = |sites: &[&str]| Settings { held_sites: sites.iter().map(|text| site(text)).collect(), ..settings() };
    let counted = |driven: &Driven| driven.state.waits(driven.now).0.get(&Reason::Hold).map_or(0, |wait| wait.sites);
    let hold = |driven: &mut Driven, sites: &[&str]| driven.happen(Event::SettingsChanged(Box::new(held(sites))));
    // One that nobody knows.
    let mut driven = with_robots(settings(), "");
    hold(&mut driven, &[OTHER]);
    assert_eq!(counted(&driven), 0);
    // One with URLs in the queue, while a request is under way there and afterwards.
    hold(&mut driven, &[ONE, OTHER]);
    assert_eq!(counted(&driven), 1);
    driven.wait(MS(250));
    while let Some(first) = driven.asked().first().map(ToString::to_string) {
        driven.found(&first, Finding::Nothing);
        driven.wait(MS(250));
    }
    assert_eq!(counted(&driven), 1);
    hold(&mut driven, &[OTHER]);
    assert_eq!(counted(&driven), 0);
    // One that is found while it is on hold, as a late seed or in the queue of an earlier run.
    driven.happen(Event::NewSeeds(vec![url(OTHER)]));
    assert_eq!(counted(&driven), 1);
    let mut driven = Driven::begin(held(&[ONE, OTHER]), &[]);
    assert_eq!(counted(&driven), 0);
    driven.happen(Event::SitesChanged { sites: vec![site(ONE)], taken_over: false });
    assert_eq!(counted(&driven), 1);
    // One that has nothing left to do.
    let mut driven = begun(settings(), &[(ONE, 1)]);
    driven.answered("http://one.test/robots.txt", 404, &[], "");
    driven.wait(MS(1_000));
    let first = first_of(&driven);
    driven.found(&first, Finding::Nothing);
    hold(&mut driven, &[ONE]);
    assert_eq!(counted(&driven), 0);
}

#[test]
fn a_crawl_has_so_many_requests_at_once_and_a_domain_has_its_share() {
    let driven = begun(Settings { concurrency: 1, ..settings() }, &[(ONE, 1), (OTHER, 2)]);
    let held = [ONE, OTHER].map(|text| of(&driven, text).held.map(|held| held.reason));
    assert!(held.contains(&Some(Reason::Busy)) && held.contains(&Some(Reason::Robots)), "{held:?}");
    let (a, b) = ("http://a.one.test/", "http://b.one.test/");
    let driven = begun(Settings { fetches_per_domain_max: 1, ..settings() }, &[(a, 1), (b, 2)]);
    let held = [a, b].map(|text| of(&driven, text).held.map(|held| held.reason));
    assert!(held.contains(&Some(Reason::Share)) && held.contains(&Some(Reason::Robots)), "{held:?}");
}

#[test]
fn a_turn_may_end_a_url_without_a_request() {
    let driven = with_robots(settings(), "User-agent: *\nDisallow: /");
    let Some(Turn::Settle { outcome, reason, .. }) = of(&driven, ONE).turn else { panic!("it is disallowed") };
    assert_eq!((outcome, reason.as_str()), (Outcome::Disallowed, "robots.txt line 2: Disallow: /"));
}

/// What a crawl with this record of the site would do if it went on now.
fn resumed(settings: Settings, record: SiteRecord) -> Prospect {
    resumed_with(settings, record, Purpose::Page)
}

/// The same where the URL of the site that waits is found for this purpose.
fn resumed_with(settings: Settings, record: SiteRecord, purpose: Purpose) -> Prospect {
    let store = MemoryStore::new();
    let seeds = vec![url(ONE)];
    let found = vec![Candidate { purpose, ..Candidate::seed(url(ONE)) }];
    store.commit(&Batch { found, seeds, sites: vec![record], ..Batch::default() }).expect("committed");
    let state = State::resumed(settings, &store, site(ONE), NOW).expect("read");
    state.prospect(NOW, site(ONE))
}

#[test]
fn requisites_go_on_when_there_are_as_many_pages_as_there_may_be() {
    let record = SiteRecord { robots: Some(none()), ..SiteRecord::new(url(ONE).site()) };
    let site_rules = || frontier::SiteRules { pages_per_site_max: Some(3), ..settings().site_rules };
    let spent = SiteRecord { pages_fetched: 3, ..record.clone() };
    let of_crawl = || Settings { requisites: true, pages_max: Some(0), ..settings() };
    let of_site = || Settings { requisites: true, site_rules: site_rules(), ..settings() };
    let goes_on = Some(Held::until(Reason::Delay, NOW + MS(1_000)));
    for (settings, record, purpose, held) in [
        (of_crawl(), record.clone(), Purpose::Requisite, goes_on),
        (of_crawl(), record, Purpose::Page, Some(Reason::CrawlBudget.into())),
        (of_site(), spent.clone(), Purpose::Requisite, goes_on),
        (of_site(), spent, Purpose::Page, Some(Reason::SiteBudget.into())),
    ] {
        assert_eq!(resumed_with(settings, record, purpose).held, held, "{purpose:?}");
    }
}

/// A site without a robots.txt.
fn none() -> RobotsRecord {
    RobotsRecord {
        fetched_at: NOW,
        failed_tries: 0,
        answer: RobotsAnswer::Status { code: 404, body: bytes::Bytes::new() },
        is_cut: false,
        renewal: None,
    }
}

#[test]
fn a_crawl_that_does_not_run_says_what_it_would_do() {
    let record = SiteRecord { robots: Some(none()), ..SiteRecord::new(url(ONE).site()) };
    let prospect = resumed(settings(), record.clone());
    let expect = Prospect {
        held: Some(Held::until(Reason::Delay, NOW + MS(1_000))),
        wants_name: true,
        turn: Some(Turn::Fetch(url(ONE))),
        ..idle()
    };
    assert_eq!(prospect, expect);
    let unknown = SiteRecord { robots: None, ..record.clone() };
    assert_eq!(resumed(settings(), unknown).turn, Some(Turn::Robots));
    let reason = Failure { kind: FailureKind::Connect, detail: String::new() };
    // The site asked for that wait, as a record of an earlier version tells.
    let aside = Some(Aside { until: Timestamp::default(), round: 1, reason: reason.clone() });
    let due_at = NOW + MS(9_000_000);
    let in_trouble = SiteRecord { aside, due_at, asked_until: due_at, failures_in_a_row: 1, ..record.clone() };
    assert_eq!(resumed(settings(), in_trouble).held, Some(Held::until(Reason::Aside, due_at)));
    // Else a new run does not keep the wait, but the time for which the site asked itself.
    let own = NOW + MS(52_000);
    for (until, asked_until, due_at, held) in [
        (own, Timestamp::default(), own, Held::until(Reason::Delay, NOW + MS(1_000))),
        (own, Timestamp(NOW.0 - 1), own, Held::until(Reason::Delay, NOW + MS(1_000))),
        (own, NOW + MS(9_000), own, Held::until(Reason::Aside, NOW + MS(9_000))),
        (own, NOW + MS(99_000), NOW + MS(99_000), Held::until(Reason::Aside, NOW + MS(99_000))),
        // That wait was over, and what it waits for now is another: the delay, or a back-off.
        (Timestamp(NOW.0 - 9), Timestamp(NOW.0 - 99), own, Held::until(Reason::Aside, own)),
        (Timestamp(NOW.0 - 9), Timestamp::default(), own, Held::until(Reason::Aside, own)),
    ] {
        let aside = Some(Aside { until, round: 1, reason: reason.clone() });
        let in_trouble = SiteRecord { aside, due_at, asked_until, failures_in_a_row: 8, ..record.clone() };
        assert_eq!(resumed(settings(), in_trouble).held, Some(held), "{until:?} {asked_until:?}");
    }
    let failing = SiteRecord { due_at: NOW + MS(64_000), failures_in_a_row: 5, ..record.clone() };
    assert_eq!(resumed(settings(), failing).held, Some(Held::until(Reason::BackOff, NOW + MS(64_000))));
    let site_rules = frontier::SiteRules { pages_per_site_max: Some(3), ..settings().site_rules };
    let spent = SiteRecord { pages_fetched: 3, ..record.clone() };
    assert_eq!(resumed(Settings { site_rules, ..settings() }, spent).held, Some(Reason::SiteBudget.into()));
    assert_eq!(
        resumed(Settings { pages_max: Some(0), ..settings() }, record.clone()).held,
        Some(Reason::CrawlBudget.into())
    );
    assert_eq!(resumed(Settings { paused: true, ..settings() }, record.clone()).held, Some(Reason::Paused.into()));
    let held_sites = [site(ONE)].into();
    assert_eq!(resumed(Settings { held_sites, ..settings() }, record.clone()).held, Some(Reason::Hold.into()));
    let given_up = SiteRecord { given_up: Some(reason), ..record };
    assert!(matches!(resumed(settings(), given_up).turn, Some(Turn::Settle { outcome: Outcome::GivenUp, .. })));
}
