//! What the simulator cannot see from outside.

mod again;
mod arms;
mod budgets;
mod dates;
mod driven;
mod errands;
mod fairness;
mod gone;
mod hanging;
mod in_parts;
mod names;
mod network;
mod pace;
mod paces;
mod patience;
mod prospects;
mod room;
mod rules;
mod steered;
mod vanished;

use std::collections::BTreeSet;
use std::time::Duration;

use frontier::{Filter, Politeness, SiteRules, TrapRules};
use model::{Candidate, Failure, FailureKind, Limits, Queued, RobotsAnswer, RobotsRecord, SiteRecord, Timestamp};
use weburl::{CanonicalRules, CanonicalUrl, Scope, ScopeKind};

use super::{Start, State};
use crate::{Command, Event, Settings};

const DAY: Duration = Duration::from_secs(86_400);
const NOW: Timestamp = Timestamp(1_795_000_000_000_000);

pub(crate) fn settings() -> Settings {
    Settings {
        filter: Filter { scope: Scope::new(ScopeKind::Any), include: Vec::new(), exclude: Vec::new() },
        site_rules: SiteRules {
            politeness: Politeness::default(),
            traps: TrapRules::default(),
            matching: Some(robots::Matching::LongestMatch),
            pages_per_site_max: None,
            sitemaps_per_site_max: 10,
        },
        canonical: CanonicalRules::default(),
        limits: Limits::default(),
        robots_once: false,
        product_token: "argiope".to_owned(),
        depth_max: None,
        concurrency: 4,
        fetches_per_domain_max: 2,
        fetches_per_address_max: 2,
        paused: false,
        held_sites: BTreeSet::new(),
        pages_max: None,
        time_max: None,
        bytes_max: None,
        sitemaps: false,
        head_first: false,
        sites_in_front_max: 10,
        front_bytes_max: crate::settings::FRONT_BYTES_MAX,
        places_part: crate::settings::PLACES_PART,
        pace: Duration::ZERO,
        turns_in_front_max: crate::settings::TURNS_IN_FRONT_MAX,
        patience: crate::PATIENCE,
        windows_urls_max: 100,
        large_robots_bytes: crate::settings::LARGE_ROBOTS_BYTES,
        rules_bytes_max: crate::settings::RULES_BYTES_MAX,
        rules_read_at_once_max: crate::settings::RULES_READ_AT_ONCE_MAX,
        remembered_urls_max: 100,
        links_at_once: 4_096,
        ignore_nofollow: false,
        changes_in_text: false,
        keep: None,
        render: None,
        images: false,
        requisites: false,
        archive: false,
        labels: true,
        details: false,
        structured: false,
        main_text: false,
        documents: None,
        rules: Default::default(),
    }
}

/// When a site with such a record is visited by a crawl that is resumed, after its start.
fn visited_after(record: SiteRecord) -> (Duration, Option<Duration>) {
    let url = CanonicalUrl::parse("http://one.test/", &CanonicalRules::default()).expect("a URL");
    let site = url.site().key();
    let mut state = State::new(settings(), NOW, Start::Resumed);
    let begin =
        Event::Begin { seeds: Vec::new(), known_seeds: vec![url.clone()], round: 1, pages: 1, bytes: 1, requisites: 0 };
    state.step(NOW, NOW, begin);
    state.step(NOW, NOW, Event::SitesFound { sites: vec![site], all: true });
    let queue = vec![Queued::first(Candidate::seed(url))];
    let record = Some(Box::new(record));
    let mut commands = state.step(NOW, NOW, Event::Loaded { site, record, queue, all: true });
    let mut now = NOW;
    loop {
        let alarm = commands.iter().find_map(|command| match command {
            Command::WakeAt(at) => Some(*at),
            _ => None,
        });
        if commands.iter().any(|command| matches!(command, Command::Resolve { .. })) {
            return (now.since(NOW), state.waits_cut());
        }
        now = alarm.expect("it is waited for");
        commands = state.step(now, now, Event::Wake);
    }
}

fn record(due_at: Timestamp) -> SiteRecord {
    let url = CanonicalUrl::parse("http://one.test/", &CanonicalRules::default()).expect("a URL");
    SiteRecord { due_at, ..SiteRecord::new(url.site()) }
}

#[test]
fn a_clock_set_back_between_runs_keeps_no_site_waiting() {
    let (waited, noticed) = visited_after(record(NOW + DAY / 2));
    assert!(waited <= Duration::from_secs(1), "{waited:?}");
    assert!(noticed >= Some(DAY / 3), "{noticed:?}");
    let (waited, noticed) = visited_after(record(NOW));
    assert_eq!((waited, noticed), (Duration::from_secs(1), None));
}

#[test]
fn what_a_server_asked_for_still_holds() {
    let failing = SiteRecord { failures_in_a_row: 1, ..record(NOW + DAY / 2) };
    assert_eq!(visited_after(failing), (DAY / 2, None));
    let failure = Failure { kind: FailureKind::Busy, detail: String::new() };
    let robots = RobotsRecord {
        fetched_at: NOW,
        failed_tries: 1,
        answer: RobotsAnswer::Failed(failure),
        is_cut: false,
        renewal: None,
    };
    let no_robots = SiteRecord { robots: Some(robots), ..record(NOW + DAY / 2) };
    assert_eq!(visited_after(no_robots), (DAY / 2, None));
    let far = SiteRecord { failures_in_a_row: 1, ..record(NOW + DAY * 30) };
    assert_eq!(visited_after(far), (DAY, Some(DAY * 29)));
}
