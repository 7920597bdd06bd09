//! Each arm of the step: the events before, the event, and the commands that answer it.

use std::time::Duration;

use model::{
    Candidate, FetchOutcome, Fetched, Headers, Queued, Resolved, Response, RobotsAnswer, RobotsRecord, SiteRecord,
    TaskId,
};
use robots::RobotsTxt;
use store::Committed;
use weburl::SiteKey;

use super::super::{Start, State};
use super::driven::url;
use super::{NOW, settings};
use crate::{Command, Content, Event, Fetch, Settings};

const ONE: &str = "http://one.test/";
const TWO: &str = "http://one.test/two";
const OTHER: &str = "http://other.test/";
const ROBOTS: &str = "http://one.test/robots.txt";
const OTHER_ROBOTS: &str = "http://other.test/robots.txt";

/// An event, and when it happens, in milliseconds from the beginning.
type At = (u64, Event);

/// An arm of the step.
struct Arm {
    what: &'static str,
    settings: Settings,
    start: Start,
    before: Vec<At>,
    event: At,
    expect: &'static [&'static str],
}

fn check(arm: Arm) {
    let Arm { what, settings, start, before, event, expect } = arm;
    let mut state = State::new(settings, NOW, start);
    let mut step = |(at, event): At| {
        let now = NOW + Duration::from_millis(at);
        state.step(now, now, event)
    };
    for event in before {
        step(event);
    }
    let commands: Vec<String> = step(event).iter().map(brief).collect();
    assert_eq!(commands, expect, "{what}");
}

fn arm(what: &'static str, before: Vec<At>, event: At, expect: &'static [&'static str]) {
    check(Arm { what, settings: settings(), start: Start::New, before, event, expect });
}

/// A command in few words.
fn brief(command: &Command) -> String {
    let named = |site: &SiteKey| if *site == site_of(ONE) { "one" } else { "other" };
    match command {
        Command::FindSites { after } => format!("find sites after {}", after.as_ref().map_or("none", named)),
        Command::Load { site, with_record: true, .. } => format!("load {} with its record", named(site)),
        Command::Load { site, with_record: false, .. } => format!("load more of {}", named(site)),
        Command::Resolve { site, .. } => format!("resolve {site}"),
        Command::ReadRobots { url } => format!("read what is known of {url}"),
        Command::FindRules { site } => format!("find the rules of {}", named(site)),
        Command::ReadRules { site, code, .. } => format!("read the rules of {}, {code}", named(site)),
        Command::ResolveTarget { url } => format!("resolve the site of {url}"),
        Command::FetchTarget(task) => format!("fetch {} for others", task.url),
        Command::Fetch(task) => format!("fetch {}", task.url),
        Command::Record(record) => {
            let visit = record.visit.as_ref().map_or(String::new(), |visit| format!(", {}", visit.outcome.as_str()));
            let attempts = record.attempts.map_or(String::new(), |(_, _, attempts)| format!(", attempt {attempts}"));
            let robots = record.site_record.as_ref().is_some_and(|record| record.robots.is_some());
            let robots = if robots { ", robots.txt" } else { "" };
            format!("record of {}: {} found{visit}{attempts}{robots}", named(&record.site), record.found_count())
        }
        Command::Released { site, .. } => format!("released {}", named(site)),
        Command::WakeAt(at) => format!("wake at {} ms", at.since(NOW).as_millis()),
        Command::Abandon => "abandon".to_owned(),
        Command::Finish(end) => format!("finish: {end:?}"),
    }
}

fn site_of(text: &str) -> SiteKey {
    url(text).site().key()
}

fn begin(seeds: &[&str], known: &[&str]) -> Event {
    let urls = |texts: &[&str]| texts.iter().map(|text| url(text)).collect();
    Event::Begin { seeds: urls(seeds), known_seeds: urls(known), round: 1, pages: 0, bytes: 0, requisites: 0 }
}

fn found(sites: &[&str]) -> Event {
    Event::SitesFound { sites: sites.iter().map(|text| site_of(text)).collect(), all: true }
}

fn loaded(queue: &[&str]) -> Event {
    let queue: Vec<Queued> = queue.iter().map(|text| Queued::first(Candidate::seed(url(text)))).collect();
    Event::Loaded { site: site_of(ONE), record: None, queue, all: true }
}

fn resolved() -> Event {
    let found = Ok(Resolved { addresses: vec![[10, 0, 0, 1].into()], holds: Duration::from_secs(600) });
    Event::Resolved { site: site_of(ONE), found }
}

fn fetched(at: u64, task: u64, text: &str, (status, headers): (u16, &[(&str, &str)])) -> At {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let body = bytes::Bytes::new();
    let response =
        Response { status, headers: Headers(headers), body, truncated: None, is_undecoded: false, note: None };
    let now = NOW + Duration::from_millis(at);
    let outcome = FetchOutcome {
        id: TaskId(task),
        url: url(text),
        exchanges: Vec::new(),
        fetched: Fetched::Response(response),
        rendering: None,
        started_at: now,
        finished_at: now,
        response_time: Duration::from_millis(1),
    };
    (at, Event::Fetched(Box::new(Fetch { outcome, content: Content::default() })))
}

/// The commit of a record of the site, which ends this URL and brings these.
fn committed(ends: Option<&str>, fresh: &[&str]) -> Event {
    let records = vec![(site_of(ONE), ends.map(|text| url(text).key().url))];
    let fresh = fresh.iter().map(|text| Candidate::seed(url(text))).collect();
    Event::Committed { records, committed: Committed { fresh, ..Committed::default() } }
}

/// A resumed crawl whose site has two URLs, and is in front.
fn in_front() -> Vec<At> {
    vec![(0, begin(&[], &[ONE])), (0, found(&[ONE])), (0, loaded(&[ONE, TWO]))]
}

/// Its robots.txt is being fetched.
fn asks_for_robots() -> Vec<At> {
    then(in_front(), [(0, resolved())])
}

/// It has none, and waits for the delay of its address.
fn waits() -> Vec<At> {
    then(asks_for_robots(), [fetched(0, 0, ROBOTS, (404, &[])), (0, committed(None, &[]))])
}

/// Its first page is being fetched.
fn fetches() -> Vec<At> {
    then(waits(), [(250, Event::Wake)])
}

/// It redirects to the robots.txt of another site.
fn redirects() -> Vec<At> {
    let moved = fetched(0, 0, ROBOTS, (301, &[("location", OTHER_ROBOTS)]));
    then(asks_for_robots(), [moved, (0, committed(None, &[]))])
}

/// That one is being fetched.
fn fetches_target() -> Vec<At> {
    let key = url(OTHER_ROBOTS).key();
    let addresses = Ok(vec![[10, 0, 0, 2].into()]);
    let asked = [(0, Event::RobotsRead { url: key, record: None }), (0, Event::TargetResolved { url: key, addresses })];
    then(redirects(), asked)
}

/// These events after those.
fn then(mut before: Vec<At>, more: impl IntoIterator<Item = At>) -> Vec<At> {
    before.extend(more);
    before
}

#[test]
fn from_the_beginning_to_the_first_request() {
    arm("new", vec![], (0, begin(&[ONE], &[])), &["record of one: 1 found", "find sites after none"]);
    arm("resumed", vec![], (0, begin(&[], &[ONE])), &["find sites after none"]);
    arm(
        "seeds are committed",
        vec![(0, begin(&[ONE], &[]))],
        (0, committed(None, &[ONE])),
        &["load one with its record"],
    );
    arm("sites found", vec![(0, begin(&[], &[ONE]))], (0, found(&[ONE])), &["load one with its record"]);
    arm("no sites found", vec![(0, begin(&[], &[ONE]))], (0, found(&[])), &["finish: Done"]);
    arm(
        "loaded",
        vec![(0, begin(&[], &[ONE])), (0, found(&[ONE]))],
        (0, loaded(&[ONE, TWO])),
        &["resolve http://one.test"],
    );
    arm("resolved", in_front(), (0, resolved()), &["fetch http://one.test/robots.txt"]);
}

#[test]
fn requests_and_their_ends() {
    arm(
        "robots.txt is had",
        asks_for_robots(),
        fetched(0, 0, ROBOTS, (404, &[])),
        &["record of one: 0 found, robots.txt", "wake at 250 ms"],
    );
    let had = then(asks_for_robots(), [fetched(0, 0, ROBOTS, (404, &[]))]);
    arm("it is committed", had, (0, committed(None, &[])), &["wake at 250 ms"]);
    arm("the delay of the address is over", waits(), (250, Event::Wake), &["fetch http://one.test/two"]);
    arm(
        "a page is fetched",
        fetches(),
        fetched(300, 1, TWO, (200, &[])),
        &["record of one: 0 found, html", "wake at 1300 ms"],
    );
    arm(
        "a failure that may pass",
        fetches(),
        fetched(300, 1, TWO, (503, &[])),
        &["record of one: 0 found, attempt 1", "wake at 1300 ms"],
    );
    arm(
        "lost",
        fetches(),
        (300, Event::Lost { task: TaskId(1), detail: "panicked".to_owned() }),
        &["record of one: 0 found, attempt 1", "wake at 1300 ms"],
    );
    let visited = || then(fetches(), [fetched(300, 1, TWO, (200, &[]))]);
    arm(
        "its commit brings a URL",
        visited(),
        (300, committed(Some(TWO), &[OTHER])),
        &["load other with its record", "wake at 1300 ms"],
    );
    let at_end = then(visited(), [(300, committed(Some(TWO), &[])), (1300, Event::Wake)]);
    let at_end = then(at_end, [fetched(1400, 2, ONE, (200, &[]))]);
    arm("the last commit", at_end, (1400, committed(Some(ONE), &[])), &["finish: Done"]);
}

#[test]
fn robots_txt_of_another_site() {
    let key = url(OTHER_ROBOTS).key();
    arm(
        "a redirect",
        asks_for_robots(),
        fetched(0, 0, ROBOTS, (301, &[("location", OTHER_ROBOTS)])),
        &["record of one: 0 found", "read what is known of http://other.test/robots.txt"],
    );
    arm(
        "the store knows nothing",
        redirects(),
        (0, Event::RobotsRead { url: key, record: None }),
        &["resolve the site of http://other.test/robots.txt"],
    );
    let answer = RobotsAnswer::Status { code: 404, body: bytes::Bytes::new() };
    let robots = Some(RobotsRecord { fetched_at: NOW, failed_tries: 0, answer, is_cut: false, renewal: None });
    let record = Some(Box::new(SiteRecord { robots, ..SiteRecord::new(url(OTHER).site()) }));
    arm(
        "the store knows it",
        redirects(),
        (0, Event::RobotsRead { url: key, record }),
        &["record of one: 0 found, robots.txt", "wake at 250 ms"],
    );
    let read = || then(redirects(), [(0, Event::RobotsRead { url: key, record: None })]);
    let addresses = Ok(vec![[10, 0, 0, 2].into()]);
    arm(
        "its addresses",
        read(),
        (0, Event::TargetResolved { url: key, addresses }),
        &["fetch http://other.test/robots.txt for others"],
    );
    arm("another worker's", read(), (0, Event::TargetElsewhere(key)), &["record of one: 1 found", "wake at 2000 ms"]);
    arm("not asked", fetches_target(), (0, Event::NotAsked(TaskId(1))), &["record of one: 1 found", "wake at 2000 ms"]);
    arm(
        "fetched",
        fetches_target(),
        fetched(10, 1, OTHER_ROBOTS, (404, &[])),
        &["record of one: 0 found, robots.txt", "wake at 250 ms"],
    );
}

#[test]
fn large_robots_txt() {
    let settings = || Settings { large_robots_bytes: 0, rules_bytes_max: 0, ..settings() };
    let rules = || Some(RobotsTxt::allow_all());
    let large = |what, before, event, expect| {
        check(Arm { what, settings: settings(), start: Start::New, before, event, expect });
    };
    large("a file comes", asks_for_robots(), fetched(0, 0, ROBOTS, (200, &[])), &["read the rules of one, 200"]);
    let reads = || then(asks_for_robots(), [fetched(0, 0, ROBOTS, (200, &[]))]);
    large(
        "its rules are read",
        reads(),
        (0, Event::RulesRead { site: site_of(ONE), rules: rules() }),
        &["record of one: 0 found, robots.txt", "wake at 250 ms"],
    );
    let answer = RobotsAnswer::Status { code: 200, body: bytes::Bytes::new() };
    let robots = Some(RobotsRecord { fetched_at: NOW, failed_tries: 0, answer, is_cut: false, renewal: None });
    let record = SiteRecord { robots, ..SiteRecord::new(url(ONE).site()) };
    let stored = || {
        let queue = vec![Queued::first(Candidate::seed(url(ONE)))];
        let record = Some(Box::new(record.clone()));
        let loaded = Event::Loaded { site: site_of(ONE), record, queue, all: true };
        vec![(0, begin(&[], &[ONE])), (0, found(&[ONE])), (0, loaded)]
    };
    large("its turn wants stored rules", stored(), (0, resolved()), &["find the rules of one"]);
    let wants = || then(stored(), [(0, resolved())]);
    let record = Some(Box::new(record.clone()));
    large(
        "they are found",
        wants(),
        (0, Event::RulesFound { site: site_of(ONE), record }),
        &["read the rules of one, 200"],
    );
    large("they are lost", wants(), (0, Event::RulesFound { site: site_of(ONE), record: None }), &["wake at 1000 ms"]);
}

#[test]
fn changes_from_outside() {
    let paused = || Event::SettingsChanged(Box::new(Settings { paused: true, ..settings() }));
    arm("a pause", waits(), (0, paused()), &[]);
    let pauses = || then(waits(), [(0, paused())]);
    arm("a turn in a pause", pauses(), (250, Event::Wake), &[]);
    arm("its end", pauses(), (0, Event::SettingsChanged(Box::new(settings()))), &["wake at 250 ms"]);
    arm("new seeds", in_front(), (0, Event::NewSeeds(vec![url(OTHER)])), &["record of other: 1 found"]);
    arm("a stop", fetches(), (300, Event::Stop), &["abandon", "finish: Stopped"]);
    arm("a round", fetches(), (300, Event::RoundBegan(2)), &[]);
}

#[test]
fn sites_that_come_and_go() {
    let shared = |what, before, event, expect| {
        check(Arm { what, settings: settings(), start: Start::Shared, before, event, expect });
    };
    let changed = || Event::SitesChanged { sites: vec![site_of(ONE)], taken_over: false };
    shared(
        "a site comes",
        vec![(0, begin(&[], &[ONE])), (0, found(&[]))],
        (0, changed()),
        &["load one with its record"],
    );
    shared("its queue changed", in_front(), (0, changed()), &["load more of one"]);
    let waiting = Event::SitesWaiting(vec![site_of(ONE)]);
    shared(
        "it has a queue",
        vec![(0, begin(&[], &[ONE])), (0, found(&[]))],
        (0, waiting),
        &["load one with its record"],
    );
    shared("it goes", waits(), (0, Event::Release(vec![site_of(ONE)])), &["released one"]);
    shared("it goes when its request ends", fetches(), (300, Event::Release(vec![site_of(ONE)])), &[]);
    shared(
        "it is elsewhere",
        in_front(),
        (0, Event::Elsewhere { site: site_of(ONE), address: None }),
        &["released one"],
    );
    check(Arm {
        what: "another worker's seeds",
        settings: Settings { sitemaps: true, ..settings() },
        start: Start::Shared,
        before: waits(),
        event: (0, Event::SeedsAdded(vec![Candidate::seed(url(TWO))])),
        expect: &["wake at 250 ms"],
    });
}
