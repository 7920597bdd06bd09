//! How long the step takes over one site that is made to be slow: by its robots.txt, by its links, by the length of its URLs.
//!
//! `cargo bench -p sim --bench steps`. The engine is the real one, with the limits that the product has. Network and store answer at once, and time is
//! virtual. What counts is the processor's time of each step.

#![expect(clippy::expect_used, reason = "a measurement: what fails is to stop it")]

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::ops::Bound;
use std::time::Duration;

use bytes::Bytes;
use criterion::measurement::Measurement;
use engine::event::FRESH_AT_ONCE_MAX;
use engine::{Command, Event, Fetch, Record, Settings, Start, State, look_into, read_rules};
use model::{FetchOutcome, FetchTask, Fetched, Headers, Position, Queued, Resolved, Response, SiteRecord, Timestamp};
use sim::Scenario;
use store::Committed;
use testkit::robots_files::{Case, cases};
use testpages::ProcessorTime;
use weburl::{CanonicalRules, CanonicalUrl, Scope, ScopeKind, SiteKey, UrlKey};

// As the product has it.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// No step may take longer.
const STEP_MAX: Duration = Duration::from_millis(5);

/// Requests of a crawl.
const FETCHES: usize = 400;

/// Links of the first page, each to another, and of the second, each as long as a URL may be.
const SHORT_LINKS: usize = 100_000;
const LONG_LINKS: usize = 4_000;

/// Records of one commit, as in the product.
const COMMIT_RECORDS_MAX: usize = 512;

const SITE: &str = "http://slow.test";
const BEGIN: Timestamp = Timestamp(1_795_000_000_000_000);
const ANSWER: Duration = Duration::from_millis(50);

fn main() {
    let mut is_slow = false;
    for case in cases() {
        let longest = Crawl::of(&case).run();
        println!("{}", case.name);
        for (event, (count, longest)) in longest {
            println!("  {event}: {count} steps, {:.2} ms at most", longest.as_secs_f64() * 1e3);
            is_slow |= longest > STEP_MAX;
        }
    }
    assert!(!is_slow, "a step took longer than {STEP_MAX:?}");
}

/// How many steps an event took, and the longest of them.
type Longest = BTreeMap<&'static str, (u64, Duration)>;

struct Crawl<'a> {
    case: &'a Case,
    settings: Settings,
    state: State,
    now: Timestamp,
    alarm: Option<Timestamp>,
    events: VecDeque<Event>,
    fetches: VecDeque<FetchTask>,
    records: VecDeque<Record>,
    known: HashSet<UrlKey>,
    queue: BTreeMap<Position, Queued>,
    /// Where each URL is in the queue.
    places: HashMap<u64, Position>,
    kept: HashMap<SiteKey, SiteRecord>,
    longest: Longest,
}

impl<'a> Crawl<'a> {
    fn of(case: &'a Case) -> Self {
        let mut settings = Scenario::from_seed(0).like_the_product();
        settings.filter.scope = Scope::new(ScopeKind::Host);
        Crawl {
            case,
            state: State::new(settings.clone(), BEGIN, Start::New),
            settings,
            now: BEGIN,
            alarm: None,
            events: VecDeque::new(),
            fetches: VecDeque::new(),
            records: VecDeque::new(),
            known: HashSet::new(),
            queue: BTreeMap::new(),
            places: HashMap::new(),
            kept: HashMap::new(),
            longest: Longest::new(),
        }
    }

    fn run(mut self) -> Longest {
        let seeds = ["/", "/long"].map(|path| url(&format!("{SITE}{path}"))).to_vec();
        self.step(Event::Begin { seeds, known_seeds: Vec::new(), round: 1, pages: 0, bytes: 0, requisites: 0 });
        let mut fetches = 0;
        while fetches < FETCHES {
            if let Some(event) = self.events.pop_front() {
                self.step(event);
            } else if !self.records.is_empty() {
                self.commit();
            } else if let Some(task) = self.fetches.pop_front() {
                self.now = self.now + ANSWER;
                fetches += 1;
                self.answer(task);
            } else {
                let Some(alarm) = self.alarm.take() else { break };
                self.now = alarm.max(self.now);
                self.step(Event::Wake);
            }
        }
        self.longest
    }

    fn step(&mut self, event: Event) {
        let name = name(&event);
        let began = ProcessorTime.start();
        let commands = self.state.step(self.now, self.now, event);
        let took = ProcessorTime.end(began);
        let (count, longest) = self.longest.entry(name).or_default();
        *count += 1;
        *longest = took.max(*longest);
        for command in commands {
            self.carry_out(command);
        }
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Fetch(task) => self.fetches.push_back(task),
            Command::Record(record) => self.records.push_back(*record),
            Command::WakeAt(at) => self.alarm = Some(at),
            Command::Resolve { site, .. } => {
                let addresses = vec![IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))];
                let found = Ok(Resolved { addresses, holds: Duration::from_secs(3_600) });
                self.events.push_back(Event::Resolved { site: site.key(), found });
            }
            Command::Load { site, with_record, after, max } => {
                let record = self.kept.get(&site).filter(|_| with_record).cloned().map(Box::new);
                let after = after.map_or(Bound::Unbounded, Bound::Excluded);
                let behind = self.queue.range((after, Bound::Unbounded));
                let queue: Vec<Queued> = behind.take(max).map(|(_, queued)| queued.clone()).collect();
                let all = queue.len() < max;
                self.events.push_back(Event::Loaded { site, record, queue, all });
            }
            Command::FindSites { .. } => self.events.push_back(Event::SitesFound { sites: Vec::new(), all: true }),
            Command::FindRules { site } => {
                let record = self.kept.get(&site).cloned().map(Box::new);
                self.events.push_back(Event::RulesFound { site, record });
            }
            Command::ReadRules { site, code, body } => {
                let rules = Some(read_rules(code, &body, &self.settings));
                self.events.push_back(Event::RulesRead { site, rules });
            }
            Command::FetchTarget(_) | Command::ResolveTarget { .. } | Command::ReadRobots { .. } => {
                unreachable!("no robots.txt redirects")
            }
            Command::Abandon | Command::Released { .. } | Command::Finish(_) => {}
        }
    }

    fn commit(&mut self) {
        let count = self.records.len().min(COMMIT_RECORDS_MAX);
        let mut committed = Committed::default();
        let mut ended = Vec::new();
        for record in self.records.drain(..count) {
            ended.push((record.site, record.ends));
            if let Some(place) = record.ends.and_then(|url| self.places.remove(&url)) {
                self.queue.remove(&place);
            }
            for found in record.found {
                if self.known.insert(found.url.key()) {
                    self.places.insert(found.url.key().url, found.position());
                    self.queue.insert(found.position(), Queued::first(found.clone()));
                    committed.fresh.push(found);
                }
            }
            if let Some(new) = record.site_record {
                let old = self.kept.remove(&record.site).and_then(|old| old.robots);
                let robots = new.robots.clone().or(old);
                self.kept.insert(record.site, SiteRecord { robots, ..new });
            }
        }
        self.events.extend(Event::committed(ended, committed, FRESH_AT_ONCE_MAX));
    }

    fn answer(&mut self, task: FetchTask) {
        let (body, kind) = match task.url.path() {
            "/robots.txt" => (self.case.file.clone(), "text/plain"),
            "/" => (links((0..SHORT_LINKS).map(|n| format!("/{n}"))), "text/html"),
            "/long" => (self.long_links(), "text/html"),
            path => (format!("<p>the page {path}"), "text/html"),
        };
        let purpose = task.purpose;
        let outcome = FetchOutcome {
            id: task.id,
            url: task.url,
            exchanges: Vec::new(),
            fetched: Fetched::Response(Response {
                status: 200,
                headers: Headers(vec![("Content-Type".to_owned(), kind.to_owned())]),
                body: Bytes::from(body),
                truncated: None,
                is_undecoded: false,
                note: None,
            }),
            rendering: None,
            started_at: self.now,
            finished_at: self.now,
            response_time: ANSWER,
        };
        let content = look_into(&outcome, purpose, &self.settings);
        self.events.push_back(Event::Fetched(Box::new(Fetch { outcome, content })));
    }

    /// Links to the paths of the case, each with a number at its end.
    fn long_links(&self) -> String {
        let numbered = |n: usize| {
            let path = &self.case.paths[n % self.case.paths.len()];
            let number = n.to_string();
            format!("{}{number}", &path[..path.len().saturating_sub(number.len()).max(1)])
        };
        links((0..LONG_LINKS).map(numbered))
    }
}

fn links(paths: impl Iterator<Item = String>) -> String {
    paths.fold(String::from("<!doctype html>"), |mut page, path| {
        write!(page, "<a href=\"{path}\">x</a>").expect("a string takes all");
        page
    })
}

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect("a URL")
}

fn name(event: &Event) -> &'static str {
    match event {
        Event::Begin { .. } => "begin",
        Event::Fetched(_) => "fetched",
        Event::Committed { .. } => "committed",
        Event::Loaded { .. } => "loaded",
        Event::RulesFound { .. } | Event::RulesRead { .. } => "rules",
        Event::Wake => "wake",
        _ => "others",
    }
}
