//! How fast sites can be visited, and how long the run was paused.

use std::time::Duration;

use frontier::SiteRules;
use weburl::SiteKey;

use super::super::Pace;
use super::driven::{Driven, url};
use super::settings;
use crate::{Event, Finding, Settings};

const ONE: &str = "http://one.test/";
const MORE: &str = "http://one.test/more";
const UNKNOWN: &str = "http://unknown.test/";
const S: fn(u64) -> Duration = Duration::from_secs;

fn site(text: &str) -> SiteKey {
    url(text).site().key()
}

/// A crawl of two URLs of a site that asks for a delay of seven seconds. One was fetched.
fn crawl(settings: Settings) -> Driven {
    let mut driven = Driven::begin(settings, &[ONE, MORE]);
    driven.resolved(ONE, Ok(&[1]));
    driven.answered("http://one.test/robots.txt", 200, &[], "User-agent: *\nCrawl-delay: 7\n");
    driven.wait(S(8));
    let first = driven.asked().first().map(ToString::to_string).expect("something is asked for");
    driven.found(&first, Finding::Nothing);
    driven
}

#[test]
fn a_site_is_visited_as_fast_as_its_delay_and_budgets_say() {
    let base = settings();
    let of_site = |max| SiteRules { pages_per_site_max: Some(max), ..base.site_rules.clone() };
    let mut parallel = base.site_rules.clone();
    parallel.politeness.connections_per_site = 2;
    let every = |interval, visits_max| Some(Pace { interval, visits_max });
    let delay = base.site_rules.politeness.delay;
    for (settings, of_one, of_unknown) in [
        (base.clone(), every(S(7), None), every(delay, None)),
        (Settings { site_rules: of_site(3), ..base.clone() }, every(S(7), Some(2)), every(delay, Some(3))),
        (Settings { pages_max: Some(2), ..base.clone() }, every(S(7), Some(1)), every(delay, Some(1))),
        (Settings { site_rules: of_site(1), ..base.clone() }, None, every(delay, Some(1))),
        (Settings { site_rules: parallel, ..base.clone() }, every(S(7) / 2, None), every(delay / 2, None)),
    ] {
        let driven = crawl(settings);
        assert_eq!(driven.state.paces(driven.now, &[site(ONE), site(UNKNOWN)]), [of_one, of_unknown]);
    }
}

#[test]
fn a_site_on_hold_is_not_visited_and_one_in_a_pause_will_be() {
    let mut driven = crawl(settings());
    driven.happen(Event::SettingsChanged(Box::new(Settings { paused: true, ..settings() })));
    assert_eq!(driven.state.paces(driven.now, &[site(ONE)]), [Some(Pace { interval: S(7), visits_max: None })]);
    let held_sites = [site(ONE), site(UNKNOWN)].into();
    driven.happen(Event::SettingsChanged(Box::new(Settings { held_sites, ..settings() })));
    assert_eq!(driven.state.paces(driven.now, &[site(ONE), site(UNKNOWN)]), [None, None]);
}

#[test]
fn the_time_of_all_pauses_is_known() {
    let set = |driven: &mut Driven, paused| {
        driven.happen(Event::SettingsChanged(Box::new(Settings { paused, ..settings() })));
    };
    let mut driven = crawl(settings());
    assert_eq!(driven.state.paused_for(driven.now), S(0));
    // Paused twice, and told twice.
    for (paused, before) in [(true, 0), (true, 10), (false, 20), (false, 20), (true, 20)] {
        set(&mut driven, paused);
        assert_eq!(driven.state.paused_for(driven.now), S(before), "{paused}");
        driven.now = driven.now + S(10);
    }
    assert_eq!(driven.state.paused_for(driven.now), S(30));
    let paused = Driven::begin(Settings { paused: true, ..settings() }, &[ONE]);
    assert_eq!(paused.state.paused_for(paused.now + S(5)), S(5), "from the beginning");
}
