//! The brain: `step(state, now, date, event)` to commands. No clock, no I/O, no tasks.
//!
//! All times in here are of the clock by which the run waits; when a page was visited is a date (`dates`).

mod aside;
mod begin;
mod dates;
mod dispatch;
mod errands;
mod fetched;
mod in_parts;
mod known;
mod links;
mod network;
mod ownership;
mod places;
mod remembered;
mod robots_txt;
mod shares;
mod sitemaps;

pub use robots_txt::robots_state;
pub(crate) use robots_txt::{ROBOTS_PATH, access as robots_access};
pub use sitemaps::sitemaps_of;

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use foldhash::{HashMap, HashSet};
use frontier::{Failed, Group, LeftBehind, Politeness, SiteState, Trouble, Workbench, window_urls};
use model::{Failure, FailureKind, Network, Queued, Resolved, SiteRecord, TaskId, Timestamp};
use store::{Committed, Relaxed};
use weburl::{CanonicalUrl, Site, SiteKey, UrlKey};

use aside::Asides;
use dates::{Dates, read_record};
use errands::Errands;
use in_parts::InParts;
use network::OwnNetwork;
use places::Places;
use remembered::Remembered;
use shares::{Share, Shares, domain_of};
use sitemaps::SitemapSites;

use crate::{Command, End, Event, Record, Settings};

/// Records on their way to the store, at most: beyond it nothing new is begun.
const RECORDS_OPEN_MAX: usize = 1_024;

/// URLs found on their way to the store, at most, but for those of what is under way already: each takes some kilobyte, in its record,
/// in the commit, and in what the store says of it.
const FOUND_OPEN_MAX: usize = 1 << 16;

/// After how long a name is asked for anew that could not be resolved again. Its site keeps the address that it had.
const RESOLVE_FAILED_AGAIN_AFTER: Duration = Duration::from_secs(300);

/// How long a site keeps an address that its name server does not confirm.
const ADDRESS_KEPT_MAX: Duration = Duration::from_secs(24 * 3600);

/// Sites remembered whose budget is spent, some 16 bytes each.
const SPENT_REMEMBERED_MAX: usize = 1_000_000;

/// A site that waits longer than it can have been asked to says that the system's clock was set back, if it is by so much: workers' clocks
/// differ a little, and so do the settings of two runs.
const CLOCK_SET_BACK_MIN: Duration = Duration::from_secs(60);

/// The whole state of a running crawl. What must outlive the process is in the store.
pub struct State {
    settings: Settings,
    remembered: Remembered,
    errands: Errands,
    shares: Shares,
    asides: Asides,
    network: OwnNetwork,
    places: Places,
    /// The seeds, and the URLs that they redirect to.
    seeds: HashSet<UrlKey>,
    sitemap_sites: SitemapSites,
    bench: Workbench,
    sites: HashMap<SiteKey, Slot>,
    /// Sites with nothing left to do, the longest idle first: they leave memory when room is needed.
    parked: BTreeMap<u64, SiteKey>,
    next_parked: u64,
    /// Sites whose budget is spent and that have left memory: they are not read again for each link to them.
    spent: HashSet<SiteKey>,
    in_flight: HashMap<TaskId, Flight>,
    next_task: u64,
    /// Fetches of this run that the program itself broke.
    fetches_lost: u64,
    /// What each record given out and not committed yet holds, in order; and the sum.
    open: VecDeque<Weight>,
    open_weight: Weight,
    /// Loads and name look-ups given out and not answered yet.
    asked: usize,
    /// Pages with many links, some of which are not judged yet.
    in_parts: VecDeque<InParts>,
    /// Links judged for the event of this step.
    judged: usize,
    search: SiteSearch,
    /// What it has found: brought to front as there is room.
    sites_found: VecDeque<SiteKey>,
    /// Some site that got a URL found no room in front: when the search has come to its end it begins anew.
    sites_missed: bool,
    /// URLs fetched with success, over all runs of this crawl.
    pages: u64,
    bytes: u64,
    started_at: Timestamp,
    dates: Dates,
    /// By how much, at least, the system's clock was set back since the run before.
    clock_set_back: Option<Duration>,
    start: Start,
    /// Sites that others may have asked just before they became this run's own, and when that was; while they are not in front.
    taken_over: HashMap<SiteKey, Timestamp>,
    /// Sites that were let go of: they come to front only when they are said to be this run's own again.
    released: HashSet<SiteKey>,
    ending: Option<End>,
    finished: bool,
    commands: Vec<Command>,
}

/// How a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing was asked before.
    New,
    /// An earlier run may have visited sites just before.
    Resumed,
    /// Sites come ([`Event::SitesChanged`]) and go ([`Event::Release`]) while it runs, and it does not end by itself: others
    /// crawl with it.
    Shared,
}

/// A site in front.
enum Slot {
    /// Its record and the head of its queue are being read.
    Loading(Loading),
    /// It is here.
    Here(Box<Front>),
}

/// How much memory records take, about.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// Payload bytes.
    bytes: u64,
    /// URLs found.
    found: usize,
}

/// What became known of a site while it was being read.
#[derive(Default)]
struct Loading {
    /// Its queue may have changed.
    changed: bool,
    /// It is to be let go of.
    leaving: bool,
    /// What is known of its URLs that failed.
    left_behind: Option<LeftBehind>,
}

/// A site in front, with what the engine has under way for it.
struct Front {
    state: SiteState,
    /// Set where an earlier run, or another worker, may have visited it just before this time.
    visited_before: Option<Timestamp>,
    leaving: Leaving,
    loading: bool,
    resolving: bool,
    /// When its name was resolved last.
    resolved_at: Timestamp,
    /// When that must be done anew.
    resolve_at: Timestamp,
    /// The address that could not be reached when it was asked last: it is looked for elsewhere when its turn comes. Only where
    /// others crawl too, since each of its addresses may be another's.
    unreachable: Option<IpAddr>,
    /// Its budget is spent, as far as is known while visits are under way: nothing more is asked of it.
    held: bool,
    /// The share of its domain or of its address is used up: it is not on the workbench.
    waits_for_share: bool,
    domain: SiteKey,
    /// Visits since it is in front.
    turns: u32,
    /// It leaves its place to others as soon as its record is committed.
    yields: bool,
    /// Its place among those with nothing left to do.
    parked: Option<u64>,
    /// The sitemaps that its robots.txt names are recorded.
    sitemaps_named: bool,
}

/// Whether a site in front is let go of as soon as nothing of it is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// It stays.
    No,
    /// As ordered; the order may be taken back.
    Ordered,
    /// Since it may not be asked where it is ([`Event::Elsewhere`]).
    Elsewhere(Option<IpAddr>),
}

impl Leaving {
    fn for_address(self) -> Option<IpAddr> {
        match self {
            Leaving::Elsewhere(address) => address,
            Leaving::No | Leaving::Ordered => None,
        }
    }
}

/// A fetch under way.
struct Flight {
    site: SiteKey,
    group: Group,
    share: Share,
    asked: Asked,
}

/// What a fetch asks for.
enum Asked {
    /// A URL.
    Url(Box<Queued>),
    /// The site's robots.txt.
    Robots,
    /// A robots.txt on this site to which that of others redirects.
    Errand {
        /// Its URL.
        key: UrlKey,
        /// It is counted as a visit of the site, which was in front.
        is_counted: bool,
    },
}

/// The search for sites that have a queue in the store and are not in front.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiteSearch {
    /// There may be some behind this key.
    Wanted(Option<SiteKey>),
    /// Being read.
    Reading,
    /// There are none.
    Exhausted,
}

impl State {
    /// The state before [`Event::Begin`].
    #[must_use]
    pub fn new(settings: Settings, now: Timestamp, start: Start) -> Self {
        let politeness = &settings.site_rules.politeness;
        let quiet_until = if start == Start::Resumed { now + politeness.ip_delay } else { now };
        State {
            bench: Workbench::new(politeness.connections_per_site, quiet_until),
            remembered: Remembered::new(settings.remembered_urls_max),
            errands: Errands::default(),
            sitemap_sites: match start {
                Start::New | Start::Resumed => SitemapSites::all(settings.filter.scope.kind()),
                Start::Shared => SitemapSites::of_seeds(settings.filter.scope.kind()),
            },
            shares: Shares::default(),
            asides: Asides::default(),
            network: OwnNetwork::default(),
            places: Places::default(),
            settings,
            seeds: HashSet::default(),
            sites: HashMap::default(),
            parked: BTreeMap::new(),
            next_parked: 0,
            spent: HashSet::default(),
            in_flight: HashMap::default(),
            next_task: 0,
            fetches_lost: 0,
            open: VecDeque::new(),
            open_weight: Weight::default(),
            asked: 0,
            in_parts: VecDeque::new(),
            judged: 0,
            search: SiteSearch::Exhausted,
            sites_found: VecDeque::new(),
            sites_missed: false,
            pages: 0,
            bytes: 0,
            started_at: now,
            dates: Dates::default(),
            clock_set_back: None,
            start,
            taken_over: HashMap::default(),
            released: HashSet::default(),
            ending: None,
            finished: false,
            commands: Vec::new(),
        }
    }

    /// Takes in an event and says what is to be done. Given the same events at the same times it says the same.
    ///
    /// `now` is the time by which the run waits, which never goes back; `date` is what the system's clock shows.
    pub fn step(&mut self, now: Timestamp, date: Timestamp, event: Event) -> Vec<Command> {
        self.dates = Dates::read(now, date);
        self.judged = 0;
        match event {
            Event::Begin { seeds, known_seeds, pages, bytes } => self.begin(now, seeds, known_seeds, pages, bytes),
            Event::SitesFound { sites, all } => self.sites_found(&sites, all),
            Event::Loaded { site, record, queue, all } => self.loaded(now, site, record, queue, all),
            Event::Resolved { site, found } => self.resolved(now, site, found),
            Event::Elsewhere { site, address } => self.elsewhere(now, site, address),
            Event::Fetched(fetch) => self.fetched(now, *fetch),
            Event::RobotsRead { url, record } => self.robots_read(now, url, record.map(|record| *record)),
            Event::TargetResolved { url, addresses } => self.target_resolved(now, url, addresses),
            Event::TargetElsewhere(url) => self.target_elsewhere(now, url),
            Event::NotAsked(task) => self.not_asked(now, task),
            Event::Lost { task, detail } => self.lost(now, task, detail),
            Event::Committed { records, committed } => self.committed(now, &records, committed),
            Event::SitesChanged { sites, taken_over } => self.sites_changed(now, &sites, taken_over),
            Event::SitesWaiting(sites) => self.sites_waiting_in_store(now, &sites),
            Event::SeedsAdded(seeds) => self.seeds_added(&seeds),
            Event::Release(sites) => self.release(now, &sites),
            Event::Wake => {}
            Event::Stop => self.stop(),
        }
        self.go_on_in_parts(now);
        self.dispatch(now);
        std::mem::take(&mut self.commands)
    }

    /// Fetches under way.
    #[must_use]
    pub fn fetches_in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sites in front that want a visit.
    #[must_use]
    pub fn sites_waiting(&self) -> usize {
        self.bench.len()
    }

    /// URLs fetched with success, over all runs of this crawl.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// Payload bytes fetched, over all runs of this crawl.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// By how much, at least, the system's clock was set back since the run before, as far as was noticed.
    #[must_use]
    pub fn clock_set_back(&self) -> Option<Duration> {
        self.clock_set_back
    }

    /// Fetches of this run that the program itself broke: each counted as an attempt that failed.
    #[must_use]
    pub fn fetches_lost(&self) -> u64 {
        self.fetches_lost
    }

    fn add_seed(&mut self, seed: &CanonicalUrl) {
        self.seeds.insert(seed.key());
        self.settings.filter.scope.add_seed(seed);
        self.remembered.forget_settled();
    }

    fn stop(&mut self) {
        self.ending.get_or_insert(End::Stopped);
        self.abandon();
    }

    /// Drops the fetches under way. Their URLs stay in the store's queue.
    fn abandon(&mut self) {
        if !self.in_flight.is_empty() {
            self.in_flight.clear();
            self.commands.push(Command::Abandon);
        }
    }

    /// Whether each of a site's addresses may be another's to ask.
    fn shares_addresses(&self) -> bool {
        self.start == Start::Shared && !self.settings.site_rules.politeness.ip_delay.is_zero()
    }

    fn front(&mut self, site: SiteKey) -> Option<&mut Front> {
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) => Some(front),
            Some(Slot::Loading(_)) | None => None,
        }
    }

    /// Gives out a record.
    fn record(&mut self, record: Record) {
        let fetched: u64 = record.exchanges.iter().map(|exchange| exchange.payload.len() as u64).sum();
        let bytes = fetched + record.rendering.as_ref().map_or(0, |rendering| rendering.bytes());
        let weight = Weight { bytes, found: record.found_count() };
        self.open.push_back(weight);
        self.open_weight.bytes += weight.bytes;
        self.open_weight.found += weight.found;
        if let Some(front) = self.front(record.site) {
            front.state.uncommitted += 1;
        }
        self.commands.push(Command::Record(Box::new(record)));
    }

    /// Has the state of a site written down, where nothing else is to be recorded of it.
    fn record_site(&mut self, site: SiteKey) {
        let mut record = Record::of(site);
        record.site_record = self.front(site).map(|front| front.state.record());
        self.record(record);
    }

    fn sites_found(&mut self, sites: &[SiteKey], all: bool) {
        self.asked -= 1;
        self.search = if all { SiteSearch::Exhausted } else { SiteSearch::Wanted(sites.last().copied()) };
        self.sites_found.extend(sites);
    }

    /// Starts reading a site that is not in front. If there is no room it waits.
    fn bring_to_front(&mut self, site: SiteKey) {
        self.bring(site, None);
    }

    fn bring(&mut self, site: SiteKey, its: Option<&Site>) {
        let is_left_alone = self.released.contains(&site)
            || self.spent.contains(&site)
            || self.asides.contains(site)
            || self.places.is_waiting(site);
        if is_left_alone || self.sites.contains_key(&site) {
            return;
        }
        if !self.make_room(self.settings.sites_in_front_max) {
            return self.wait_outside(site, its);
        }
        self.sites.insert(site, Slot::Loading(Loading::default()));
        self.asked += 1;
        self.commands.push(Command::Load { site, with_record: true, after: None, max: self.window() });
    }

    /// The window of each site in front now.
    fn window(&self) -> usize {
        window_urls(self.settings.windows_urls_max, self.sites.len())
    }

    /// Lets parked sites leave memory until there are fewer sites than `max`. Tells whether that was possible.
    fn make_room(&mut self, max: usize) -> bool {
        while self.sites.len() >= max {
            let Some(parked) = self.parked.first_key_value().map(|(_, site)| *site) else { return false };
            let Some(front) = self.leave_front(parked) else { continue };
            if front.held && self.spent.len() < SPENT_REMEMBERED_MAX {
                self.spent.insert(parked);
            }
        }
        true
    }

    /// Takes a site out of front.
    fn leave_front(&mut self, site: SiteKey) -> Option<Box<Front>> {
        self.bench.withdraw(site);
        self.park(site, false);
        self.places.leave(site);
        let Some(Slot::Here(front)) = self.sites.remove(&site) else { return None };
        if let Some(before) =
            front.visited_before.filter(|_| self.start == Start::Shared && front.leaving == Leaving::No)
        {
            self.taken_over.insert(site, before);
        }
        Some(front)
    }

    /// Notes whether a site has nothing left to do.
    fn park(&mut self, site: SiteKey, is_finished: bool) {
        let Some(Slot::Here(front)) = self.sites.get_mut(&site) else { return };
        match front.parked {
            None if is_finished => {
                front.parked = Some(self.next_parked);
                self.parked.insert(self.next_parked, site);
                self.next_parked += 1;
            }
            Some(place) if !is_finished => {
                front.parked = None;
                self.parked.remove(&place);
            }
            Some(_) | None => {}
        }
    }

    fn loaded(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        record: Option<Box<SiteRecord>>,
        queue: Vec<Queued>,
        all: bool,
    ) {
        self.asked -= 1;
        if matches!(self.sites.get(&site), Some(Slot::Loading(_)))
            && let Some(Slot::Loading(Loading { changed, leaving, left_behind })) = self.sites.remove(&site)
        {
            if leaving {
                return self.let_go(site);
            }
            if changed {
                return self.bring_to_front(site);
            }
            let url = queue.first().map(|queued| &queued.candidate.url);
            let Some(mut front) = self.new_front(now, site, record, url) else { return };
            if let Some(left_behind) = left_behind {
                front.state.go_on_behind(left_behind);
            }
            self.places.enter(site, front.domain);
            self.sites.insert(site, Slot::Here(Box::new(front)));
            if self.front(site).is_some_and(|front| front.state.is_aside(now)) {
                return self.put_aside(site);
            }
        }
        if let Some(front) = self.front(site) {
            front.loading = false;
            front.state.loaded(queue, all);
        }
        self.take_up_late_sitemaps(site);
        self.prepare(now, site);
    }

    /// A site as its record has it, or new. `None` where there is neither a record nor a URL to tell what site it is.
    fn new_front(
        &mut self,
        now: Timestamp,
        site: SiteKey,
        record: Option<Box<SiteRecord>>,
        url: Option<&CanonicalUrl>,
    ) -> Option<Front> {
        self.errands.comes_to_front(site);
        let taken_over = self.taken_over.remove(&site);
        let politeness = &self.settings.site_rules.politeness;
        let mut record = match record {
            Some(record) => read_record(*record, now),
            None => SiteRecord::new(url?.site()),
        };
        // Whether its address is refused is up to the settings and the seeds of this run.
        record.given_up.take_if(|failure| failure.kind == FailureKind::AddressDenied);
        let robots = robots_state(record.robots.as_ref(), &self.settings);
        let has_failed =
            record.failures_in_a_row > 0 || record.robots.as_ref().is_some_and(|robots| robots.failed_tries > 0);
        if let Some(aside) = &record.aside
            && self.start == Start::Resumed
            && record.due_at == aside.until
            && aside.until < self.started_at + Politeness::aside_wait(aside.round)
        {
            // It did not ask for that wait, and a new run is somebody's wish to try again.
            record.due_at = record.due_at.min(now);
        }
        let mut state = SiteState::new(record);
        state.robots = robots;
        let longest = if has_failed { politeness.longest_wait() } else { Duration::ZERO };
        let latest = now + longest.max(state.delay(politeness));
        let too_late = state.due_at().since(latest);
        state.set_due_at(state.due_at().min(latest));
        let visited_before = match self.start {
            Start::New => None,
            Start::Resumed => Some(self.started_at),
            Start::Shared => taken_over,
        };
        if let Some(before) = visited_before {
            // Such a visit may have ended unrecorded.
            state.wait_until(before + state.delay(politeness));
        }
        if too_late >= CLOCK_SET_BACK_MIN {
            self.clock_set_back = self.clock_set_back.max(Some(too_late));
        }
        Some(Front {
            domain: domain_of(state.site()),
            waits_for_share: false,
            state,
            visited_before,
            leaving: Leaving::No,
            loading: false,
            resolving: false,
            resolved_at: now,
            resolve_at: now,
            unreachable: None,
            held: false,
            turns: 0,
            yields: false,
            parked: None,
            sitemaps_named: false,
        })
    }

    fn resolved(&mut self, now: Timestamp, site: SiteKey, found: Result<Resolved, Failure>) {
        let politeness = self.settings.site_rules.politeness.clone();
        // A site that is being resolved stays in front. What was given up for lost may be answered after all.
        let Some(front) = self.front(site).filter(|front| front.resolving) else { return };
        front.resolving = false;
        let has_address = front.state.addresses.is_some() && now < front.resolved_at + ADDRESS_KEPT_MAX;
        match found {
            Ok(Resolved { addresses, holds }) => {
                front.state.resolved(addresses);
                (front.resolved_at, front.resolve_at) = (now, now + holds);
                if let Some(address) = front.state.address() {
                    self.places.found_at(site, Network::of(address));
                }
            }
            // That its name leads where it may not be asked is no failure of a name server.
            Err(failure) if has_address && failure.kind != FailureKind::AddressDenied => {
                front.resolve_at = now + RESOLVE_FAILED_AGAIN_AFTER;
            }
            Err(failure) if matches!(failure.kind, FailureKind::NameServer | FailureKind::Internal) => {
                if !self.is_fault_of_network(now, site, failure.kind)
                    && let Some(front) = self.front(site)
                {
                    let failed = Failed { trouble: Trouble::Unreached, failure: &failure, retry_after: None, at: now };
                    front.state.failed(&failed, &politeness);
                    self.record_site(site);
                }
            }
            Err(failure) => front.state.give_up(failure),
        }
        self.asked -= 1;
        self.prepare(now, site);
    }

    fn committed(&mut self, now: Timestamp, records: &[(SiteKey, Option<u64>)], committed: Committed) {
        for (site, url) in records {
            let Weight { bytes, found } = self.open.pop_front().unwrap_or_default();
            self.open_weight.bytes -= bytes;
            self.open_weight.found -= found;
            if let Some(front) = self.front(*site) {
                front.state.uncommitted = front.state.uncommitted.saturating_sub(1);
                if let Some(url) = url {
                    front.state.committed(*url);
                }
            }
        }
        let mut touched: Vec<SiteKey> = records.iter().map(|(site, _)| *site).collect();
        for candidate in committed.fresh {
            touched.push(self.queue(Queued { candidate, attempts: 0, visited: None }));
        }
        for Relaxed { was, queued, .. } in committed.relaxed {
            let Some(queued) = queued else { continue };
            let site = queued.candidate.url.key().site;
            if let Some(front) = self.front(site) {
                front.state.remove(was);
            }
            touched.push(self.queue(queued));
        }
        touched.sort_unstable();
        touched.dedup();
        for site in touched {
            self.take_up_late_sitemaps(site);
            self.prepare(now, site);
        }
    }

    /// Takes in a URL that is in the store's queue now.
    fn queue(&mut self, queued: Queued) -> SiteKey {
        let (site, window) = (queued.candidate.url.key().site, self.window());
        let is_full = self.sites.len() >= self.settings.sites_in_front_max;
        match self.sites.get_mut(&site) {
            Some(Slot::Here(front)) => {
                front.state.insert(queued, window);
                // It must not leave memory before it is prepared.
                self.park(site, false);
            }
            // What is being read now will be seen by that read, or come after it.
            Some(Slot::Loading(_)) => {}
            None => {
                let its = is_full.then(|| queued.candidate.url.site());
                self.bring(site, its.as_ref());
            }
        }
        site
    }
}

#[cfg(test)]
pub(crate) mod tests;
