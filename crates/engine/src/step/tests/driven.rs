//! A state that is driven by hand: the store answers at once, the network when the test says so.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use model::{
    Candidate, Exchange, Failure, FailureKind, FetchOutcome, FetchTask, Fetched, Headers, Method, Queued, Resolved,
    Response, SiteRecord, Timestamp,
};
use store::Committed;
use weburl::{CanonicalRules, CanonicalUrl, Site, SiteKey};

use super::super::{Start, State};
use super::NOW;
use crate::{Command, Content, End, Event, Fetch, Finding, Record, Settings};

/// Bytes that the texts and links of what is found take.
pub const CONTENT_BYTES: usize = 1_000;

/// How long the addresses of a name hold.
pub const HOLDS: Duration = Duration::from_secs(120);

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
}

pub struct Driven {
    pub state: State,
    pub now: Timestamp,
    /// Fetches that were asked for and have not ended.
    pub fetches: Vec<FetchTask>,
    /// Names that were asked for and not answered.
    pub names: Vec<Site>,
    /// URLs to whose sites robots.txt redirects, whose names were asked for.
    pub targets: Vec<CanonicalUrl>,
    pub alarm: Option<Timestamp>,
    /// All that was recorded.
    pub recorded: Vec<Record>,
    /// The sites whose rules were read beside the step.
    pub rules_read: Vec<SiteKey>,
    /// The sites whose queues were read.
    pub loads: Vec<SiteKey>,
    /// The most that texts and links took that were not recorded.
    pub content_bytes_peak: u64,
    /// How the run ended.
    pub end: Option<End>,
    /// Reading rules breaks.
    pub breaks_rules: bool,
    /// Reading rules takes until [`Driven::end_read`].
    pub holds_rules: bool,
    /// What is being read then, the first first.
    pub reads: VecDeque<(SiteKey, u16, bytes::Bytes)>,
    /// Where the next answer comes from, if not from the URL that was asked for.
    redirected_to: Option<CanonicalUrl>,
    /// The sites that the next searches of the store find.
    finds: VecDeque<Vec<SiteKey>>,
    queues: BTreeMap<SiteKey, Vec<Queued>>,
    records: BTreeMap<SiteKey, SiteRecord>,
}

impl Driven {
    /// A new crawl from these seeds.
    pub fn begin(settings: Settings, seeds: &[&str]) -> Self {
        Driven::start(Start::New, settings, seeds)
    }

    /// A run of this kind, with these seeds.
    pub fn start(start: Start, settings: Settings, seeds: &[&str]) -> Self {
        let mut driven = Driven::new(start, settings);
        driven.happen(begin(seeds));
        driven
    }

    /// A run that finds the sites of these URLs in the store, some with each search.
    pub fn resumed(settings: Settings, pieces: &[&[&str]]) -> Self {
        let mut driven = Driven::new(Start::Resumed, settings);
        for piece in pieces {
            piece.iter().for_each(|text| driven.stored(SiteRecord::new(url(text).site()), &[text]));
            driven.finds.push_back(piece.iter().map(|text| url(text).key().site).collect());
        }
        driven.happen(begin(&[]));
        driven
    }

    /// A run that finds these URLs of a site in the store.
    pub fn of_queue(settings: Settings, site: Site, queue: Vec<Queued>) -> Self {
        let mut driven = Driven::new(Start::Resumed, settings);
        driven.finds.push_back(vec![site.key()]);
        driven.queues.insert(site.key(), queue);
        driven.records.insert(site.key(), SiteRecord::new(site));
        driven.happen(begin(&[]));
        driven
    }

    /// The run after this one, a minute later: it knows what the store has.
    pub fn next_run(&self, settings: Settings) -> Self {
        let mut next = Driven::new(Start::Resumed, settings.clone());
        next.now = self.now + Duration::from_secs(60);
        next.state = State::new(settings, next.now, Start::Resumed);
        (next.queues, next.records) = (self.queues.clone(), self.records.clone());
        let waiting = self.queues.iter().filter(|(_, queue)| !queue.is_empty());
        next.finds.push_back(waiting.map(|(site, _)| *site).collect());
        next.happen(begin(&[]));
        next
    }

    fn new(start: Start, settings: Settings) -> Self {
        Driven {
            state: State::new(settings, NOW, start),
            now: NOW,
            fetches: Vec::new(),
            names: Vec::new(),
            targets: Vec::new(),
            alarm: None,
            recorded: Vec::new(),
            rules_read: Vec::new(),
            loads: Vec::new(),
            content_bytes_peak: 0,
            end: None,
            breaks_rules: false,
            holds_rules: false,
            reads: VecDeque::new(),
            redirected_to: None,
            finds: VecDeque::new(),
            queues: BTreeMap::new(),
            records: BTreeMap::new(),
        }
    }

    /// Has the store know a site from before, with these URLs in its queue.
    pub fn stored(&mut self, record: SiteRecord, queue: &[&str]) {
        let site = record.site.key();
        let queue = queue.iter().map(|text| Queued::first(Candidate::seed(url(text))));
        self.queues.entry(site).or_default().extend(queue);
        self.records.insert(site, record);
    }

    /// Has the store know these URLs, each of which has failed once.
    pub fn failed_before(&mut self, queue: &[&str]) {
        for text in queue {
            let queued = Queued { attempts: 1, ..Queued::first(Candidate::seed(url(text))) };
            self.queues.entry(queued.candidate.url.key().site).or_default().push(queued);
        }
    }

    /// Lets something happen, and the store answer.
    pub fn happen(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            let commands = self.state.step(self.now, self.now, event);
            self.content_bytes_peak = self.content_bytes_peak.max(self.state.content_bytes());
            for command in commands {
                events.extend(self.carry_out(command));
            }
        }
    }

    fn carry_out(&mut self, command: Command) -> Option<Event> {
        match command {
            Command::Record(record) => {
                self.recorded.push((*record).clone());
                if let Some(ended) = record.ends {
                    let queue = self.queues.entry(record.site).or_default();
                    queue.retain(|queued| queued.candidate.url.key().url != ended);
                }
                if let Some((key, _, attempts)) = record.attempts {
                    let queue = self.queues.entry(record.site).or_default();
                    let failed = queue.iter_mut().filter(|queued| queued.candidate.url.key() == key);
                    failed.for_each(|queued| queued.attempts = attempts);
                }
                for candidate in &record.found {
                    let queued = Queued::first(candidate.clone());
                    self.queues.entry(candidate.url.key().site).or_default().push(queued);
                }
                if let Some(new) = record.site_record {
                    let old = self.records.remove(&new.site.key()).and_then(|old| old.robots);
                    let robots = new.robots.clone().or(old);
                    self.records.insert(new.site.key(), SiteRecord { robots, ..new });
                }
                let committed = Committed { fresh: record.found, ..Committed::default() };
                return Some(Event::Committed { records: vec![(record.site, record.ends)], committed });
            }
            Command::Load { site, with_record, .. } => {
                self.loads.push(site);
                let queue = self.queues.get(&site).cloned().unwrap_or_default();
                let record = self.records.get(&site).filter(|_| with_record).cloned().map(Box::new);
                return Some(Event::Loaded { site, record, queue, all: true });
            }
            Command::FindSites { .. } => {
                let sites = self.finds.pop_front().unwrap_or_default();
                return Some(Event::SitesFound { sites, all: self.finds.is_empty() });
            }
            Command::ReadRobots { url } => {
                let record = self.records.get(&url.key().site).cloned().map(Box::new);
                return Some(Event::RobotsRead { url: url.key(), record });
            }
            Command::FindRules { site } => {
                let record = self.records.get(&site).cloned().map(Box::new);
                return Some(Event::RulesFound { site, record });
            }
            Command::ReadRules { site, code, body } => {
                if self.holds_rules {
                    self.reads.push_back((site, code, body));
                    return None;
                }
                return Some(self.rules_read(site, code, &body));
            }
            Command::Resolve { site, .. } => self.names.push(site),
            Command::ResolveTarget { url } => self.targets.push(url),
            Command::Fetch(task) | Command::FetchTarget(task) => self.fetches.push(task),
            Command::WakeAt(at) => self.alarm = Some(at),
            Command::Finish(end) => self.end = Some(end),
            Command::Abandon => self.fetches.clear(),
            Command::Released { .. } => {}
        }
        None
    }

    fn rules_read(&mut self, site: SiteKey, code: u16, body: &[u8]) -> Event {
        self.rules_read.push(site);
        let read = || super::super::read_rules(code, body, &super::settings());
        let rules = (!self.breaks_rules).then(read);
        Event::RulesRead { site, rules }
    }

    /// Ends the first read of rules. False if there is none.
    pub fn end_read(&mut self) -> bool {
        let Some((site, code, body)) = self.reads.pop_front() else { return false };
        let event = self.rules_read(site, code, &body);
        self.happen(event);
        true
    }

    /// Lets time pass.
    pub fn wait(&mut self, time: Duration) {
        self.now = self.now + time;
        self.happen(Event::Wake);
    }

    /// Answers for a name that was asked for.
    pub fn resolved(&mut self, site: &str, found: Result<&[u8], FailureKind>) {
        let site = url(site).site();
        let at = self.names.iter().position(|name| *name == site).expect("it was asked for");
        self.names.remove(at);
        let found = addresses(found).map(|addresses| Resolved { addresses, holds: HOLDS });
        self.happen(Event::Resolved { site: site.key(), found });
    }

    /// The same for the site to whose URL a robots.txt redirects.
    pub fn target_resolved(&mut self, target: &str, found: Result<&[u8], FailureKind>) {
        let target = url(target);
        let at = self.targets.iter().position(|other| *other == target).expect("it was asked for");
        self.targets.remove(at);
        self.happen(Event::TargetResolved { url: target.key(), addresses: addresses(found) });
    }

    /// Ends a fetch with an answer.
    pub fn answered(&mut self, target: &str, status: u16, headers: &[(&str, &str)], body: &'static str) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (body, length) = (bytes::Bytes::from_static(body.as_bytes()), body.len() as u64);
        let response =
            Response { status, headers: Headers(headers), body, truncated: None, is_undecoded: false, note: None };
        self.fetched(target, Fetched::Response(response), Content { length, ..Content::default() });
    }

    /// The same for an answer to which redirects within the site led.
    pub fn answered_at(&mut self, target: &str, at: &str, status: u16, headers: &[(&str, &str)], body: &'static str) {
        self.redirected_to = Some(url(at));
        self.answered(target, status, headers, body);
    }

    /// Ends a fetch with an answer in which this is found.
    pub fn found(&mut self, target: &str, finding: Finding) {
        let response = Response {
            status: 200,
            headers: Headers::default(),
            body: Default::default(),
            truncated: None,
            is_undecoded: false,
            note: None,
        };
        self.fetched(
            target,
            Fetched::Response(response),
            Content { finding, bytes: CONTENT_BYTES, ..Content::default() },
        );
    }

    /// Ends a fetch without one.
    pub fn failed(&mut self, target: &str, kind: FailureKind) {
        self.fetched(target, Fetched::Failed(Failure { kind, detail: String::new() }), Content::default());
    }

    fn fetched(&mut self, target: &str, fetched: Fetched, content: Content) {
        let at = self.fetches.iter().position(|task| task.url == url(target)).expect("it was asked for");
        let task = self.fetches.remove(at);
        let url = self.redirected_to.take().unwrap_or(task.url);
        let exchange = Exchange {
            url: url.clone(),
            method: Method::Get,
            address: None,
            started_at: self.now,
            request_head: bytes::Bytes::new(),
            request_body: bytes::Bytes::new(),
            response_head: bytes::Bytes::new(),
            payload: bytes::Bytes::new(),
            truncated: None,
            redacted: Default::default(),
        };
        let is_answer = matches!(fetched, Fetched::Response(_));
        let outcome = FetchOutcome {
            id: task.id,
            url,
            exchanges: is_answer.then_some(exchange).into_iter().collect(),
            fetched,
            rendering: None,
            started_at: self.now,
            finished_at: self.now,
            response_time: Duration::from_millis(1),
        };
        self.happen(Event::Fetched(Box::new(Fetch { outcome, content })));
    }

    /// What is being fetched.
    pub fn asked(&self) -> Vec<&str> {
        let mut asked: Vec<&str> = self.fetches.iter().map(|task| task.url.as_str()).collect();
        asked.sort_unstable();
        asked
    }
}

fn begin(seeds: &[&str]) -> Event {
    let seeds = seeds.iter().map(|text| url(text)).collect();
    Event::Begin { seeds, known_seeds: Vec::new(), round: 1, pages: 0, bytes: 0, requisites: 0 }
}

fn addresses(found: Result<&[u8], FailureKind>) -> Result<Vec<IpAddr>, Failure> {
    match found {
        Ok(last) => Ok(last.iter().map(|last| IpAddr::from([10, 0, 0, *last])).collect()),
        Err(kind) => Err(Failure { kind, detail: String::new() }),
    }
}
