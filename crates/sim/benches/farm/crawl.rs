//! The crawl: another shell around the engine, in virtual time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use engine::{Command, Event, Fetch, Record, Settings, Start, State, look_into};
use model::{FetchOutcome, FetchTask, Fetched, Headers, Position, Purpose, Resolved, Response, Timestamp};
use sim::Scenario;
use store::Committed;
use weburl::{CanonicalUrl, Scope, ScopeKind, Site, SiteKey};

use crate::memory::resident_bytes;
use crate::queues::{Queues, page_of};
use crate::waiting::Waiting;
use crate::web::{FARM_SEEDS, Host, Web};

/// Fetches at once, as the product has it, and the part of them that a domain or an address may have.
const CONCURRENCY: usize = 128;
const SHARE: usize = 64;

/// How long an answer, a name lookup, and a commit with the reads behind it take.
const ANSWER: Duration = Duration::from_millis(50);
const LOOK_UP: Duration = Duration::from_millis(30);
const COMMIT: Duration = Duration::from_millis(10);

/// How long an address holds.
const HOLDS: Duration = Duration::from_secs(3_600);

/// Records of one commit, and sites that are asked for at once, as in the product.
const COMMIT_RECORDS_MAX: usize = 512;
const SITES_FOUND_MAX: usize = 4_096;

/// When the crawl is given up.
const TIME_MAX: Duration = Duration::from_secs(3_600);

const BEGIN: Timestamp = Timestamp(1_795_000_000_000_000);

const ROBOTS: &str = "User-agent: *\nDisallow: /private/\nDisallow: /search?\nAllow: /search/about$\n";

/// What came of it.
pub struct Measured {
    pub steps: u64,
    pub honest_done: u32,
    pub all: Visits,
    pub farm_known: u32,
    /// Visits begun while an honest site might have been asked.
    pub passing: Visits,
    /// The longest time from when an honest site was found to its first visit.
    pub longest: Duration,
    pub took: Duration,
    /// The most bytes that the front had, and what it has at the end.
    pub front_peak: u64,
    pub front_bytes: u64,
    /// Resident memory at the end.
    pub resident: u64,
}

#[derive(Clone, Copy, Default)]
pub struct Visits {
    pub honest: u64,
    pub farm: u64,
}

impl Visits {
    /// In per cent.
    pub fn share_of_farm(self) -> f64 {
        100.0 * self.farm as f64 / (self.farm + self.honest).max(1) as f64
    }

    fn count(&mut self, host: Host) {
        match host {
            Host::Honest(_) => self.honest += 1,
            Host::Farm(_) => self.farm += 1,
        }
    }
}

enum Order {
    Record(Box<Record>),
    Load { site: SiteKey, with_record: bool, after: Option<Position>, max: usize },
    FindSites { after: Option<SiteKey> },
}

enum Happening {
    Answer(FetchTask),
    Name(Site),
    Commit,
    Wake(u64),
}

pub struct Crawl {
    web: Web,
    settings: Settings,
    state: State,
    queues: Queues,
    now: Timestamp,
    agenda: BTreeMap<(Timestamp, u64), Happening>,
    scheduled: u64,
    alarm: u64,
    orders: VecDeque<Order>,
    steps: u64,
    all: Visits,
    passing: Visits,
    waiting: Waiting,
}

impl Crawl {
    pub fn new(web: Web) -> Self {
        let settings = settings();
        Crawl {
            web,
            state: State::new(settings.clone(), BEGIN, Start::New),
            waiting: Waiting::new(web.honest, settings.site_rules.politeness.delay),
            settings,
            queues: Queues::new(web),
            now: BEGIN,
            agenda: BTreeMap::new(),
            scheduled: 0,
            alarm: 0,
            orders: VecDeque::new(),
            steps: 0,
            all: Visits::default(),
            passing: Visits::default(),
        }
    }

    /// Runs until every honest site is done, or for too long.
    pub fn run(mut self) -> Measured {
        let seeds =
            (0..FARM_SEEDS).map(Host::Farm).chain([Host::Honest(0)]).map(|host| self.web.url(host, 0)).collect();
        self.step(Event::Begin { seeds, known_seeds: Vec::new(), round: 1, pages: 0, bytes: 0, requisites: 0 });
        while self.queues.honest_done < self.web.honest
            && self.now < BEGIN + TIME_MAX
            && let Some(((at, _), happening)) = self.agenda.pop_first()
        {
            self.now = at;
            self.happen(happening);
        }
        Measured {
            steps: self.steps,
            honest_done: self.queues.honest_done,
            all: self.all,
            farm_known: self.queues.farm_known,
            passing: self.passing,
            longest: self.waiting.longest,
            took: self.now.since(BEGIN),
            front_peak: self.state.front_bytes_peak() as u64,
            front_bytes: self.state.front_bytes() as u64,
            resident: resident_bytes(),
        }
    }

    fn step(&mut self, event: Event) {
        self.steps += 1;
        for command in self.state.step(self.now, self.now, event) {
            self.carry_out(command);
        }
    }

    fn schedule(&mut self, after: Duration, happening: Happening) {
        self.scheduled += 1;
        self.agenda.insert((self.now + after, self.scheduled), happening);
    }

    fn carry_out(&mut self, command: Command) {
        match command {
            Command::Fetch(task) => self.fetch(task),
            Command::Resolve { site, .. } => self.schedule(LOOK_UP, Happening::Name(site)),
            Command::Record(record) => self.order(Order::Record(record)),
            Command::Load { site, with_record, after, max } => {
                self.order(Order::Load { site, with_record, after, max });
            }
            Command::FindSites { after } => self.order(Order::FindSites { after }),
            Command::WakeAt(at) => {
                self.alarm += 1;
                self.schedule(at.since(self.now), Happening::Wake(self.alarm));
            }
            Command::FetchTarget(_) | Command::ResolveTarget { .. } | Command::ReadRobots { .. } => {
                unreachable!("no robots.txt redirects")
            }
            Command::FindRules { .. } | Command::ReadRules { .. } => unreachable!("every robots.txt is small"),
            Command::Abandon | Command::Released { .. } | Command::Finish(_) => {}
        }
    }

    fn order(&mut self, order: Order) {
        if self.orders.is_empty() {
            self.schedule(COMMIT, Happening::Commit);
        }
        self.orders.push_back(order);
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Answer(task) => self.answer(task),
            Happening::Name(site) => {
                let addresses = vec![Web::address(self.queues.host(site.key()))];
                self.step(Event::Resolved { site: site.key(), found: Ok(Resolved { addresses, holds: HOLDS }) });
            }
            Happening::Commit => self.commit(),
            Happening::Wake(number) if number == self.alarm => self.step(Event::Wake),
            Happening::Wake(_) => {}
        }
    }

    fn fetch(&mut self, task: FetchTask) {
        let host = self.queues.host(task.url.key().site);
        self.all.count(host);
        if self.waiting.is_anybody(self.now) {
            self.passing.count(host);
        }
        if let Host::Honest(n) = host {
            self.waiting.begins(n, self.now);
        }
        self.schedule(ANSWER, Happening::Answer(task));
    }

    fn answer(&mut self, task: FetchTask) {
        let host = self.queues.host(task.url.key().site);
        let is_robots = task.purpose == Purpose::Robots;
        let body = if is_robots { ROBOTS.to_owned() } else { self.web.body(host, page_of(&task.url)) };
        if let Host::Honest(n) = host {
            self.waiting.ends(n, self.now, is_robots);
        }
        let outcome = outcome(task, body, self.now);
        let purpose = if is_robots { Purpose::Robots } else { Purpose::Page };
        let content = look_into(&outcome, purpose, &self.settings);
        self.step(Event::Fetched(Box::new(Fetch { outcome, content })));
    }

    /// Commits what was ordered, up to the most of one commit, and answers what was asked between.
    fn commit(&mut self) {
        let mut records = Vec::new();
        for _ in 0..self.orders.len() {
            match self.orders.pop_front() {
                Some(Order::Record(record)) => records.push(*record),
                Some(Order::Load { site, with_record, after, max }) => {
                    self.write(&mut records);
                    let queue = self.queues.pending(site, after, max);
                    let record = self.queues.record(site).filter(|_| with_record).map(Box::new);
                    let all = queue.len() < max;
                    self.step(Event::Loaded { site, record, queue, all });
                }
                Some(Order::FindSites { after }) => {
                    self.write(&mut records);
                    let sites = self.queues.sites_with_pending(after, SITES_FOUND_MAX);
                    let all = sites.len() < SITES_FOUND_MAX;
                    self.step(Event::SitesFound { sites, all });
                }
                None => break,
            }
            if records.len() >= COMMIT_RECORDS_MAX {
                break;
            }
        }
        self.write(&mut records);
        if !self.orders.is_empty() {
            self.schedule(COMMIT, Happening::Commit);
        }
    }

    fn write(&mut self, records: &mut Vec<Record>) {
        if records.is_empty() {
            return;
        }
        let mut committed = Committed::default();
        let mut names = Vec::new();
        for record in std::mem::take(records) {
            names.push((record.site, record.ends));
            if let Some(url) = record.ends {
                self.end(record.site, url);
            }
            committed.fresh.extend(record.found.into_iter().filter(|found| self.find(&found.url, found.depth)));
            if let Some(record) = record.site_record {
                self.queues.write(record);
            }
        }
        self.step(Event::Committed { records: names, committed });
    }

    fn find(&mut self, url: &CanonicalUrl, depth: u32) -> bool {
        let host = self.queues.host(url.key().site);
        let is_new = self.queues.find(host, page_of(url), depth);
        if let (Host::Honest(n), true) = (host, is_new) {
            self.waiting.found(n, self.now);
        }
        is_new
    }

    fn end(&mut self, site: SiteKey, url: u64) {
        let host = self.queues.host(site);
        let page = self.queues.waiting(host).find(|page| self.web.url(host, *page).key().url == url);
        if let Some(page) = page {
            self.queues.end(host, page);
        }
    }
}

/// As the product has it, for a crawl of all that is found.
fn settings() -> Settings {
    let mut settings = Scenario::from_seed(0).like_the_product();
    settings.filter.scope = Scope::new(ScopeKind::Any);
    settings.concurrency = CONCURRENCY;
    settings.fetches_per_domain_max = SHARE;
    settings.fetches_per_address_max = SHARE;
    settings
}

fn outcome(task: FetchTask, body: String, now: Timestamp) -> FetchOutcome {
    let content_type = if task.purpose == Purpose::Robots { "text/plain" } else { "text/html" };
    FetchOutcome {
        id: task.id,
        url: task.url,
        exchanges: Vec::new(),
        fetched: Fetched::Response(Response {
            status: 200,
            headers: Headers(vec![("Content-Type".to_owned(), content_type.to_owned())]),
            body: Bytes::from(body),
            truncated: None,
            is_undecoded: false,
            note: None,
        }),
        rendering: None,
        started_at: now,
        finished_at: now,
        response_time: ANSWER,
    }
}
