//! The brain: `step(state, now, date, event)` to commands. No clock, no I/O, no tasks.
//!
//! All times in here are of the clock by which the run waits; when a page was visited is a date (`dates`).

mod again;
mod aside;
mod begin;
mod counts;
mod dates;
mod dispatch;
mod errands;
mod fetched;
mod front;
mod gone;
mod in_parts;
mod kept_out;
mod known;
mod line;
mod links;
mod network;
mod ownership;
mod paces;
mod patience;
mod places;
mod prospect;
mod remembered;
mod renewal;
mod requisites;
mod robots_txt;
mod room;
mod rules;
mod shares;
mod sitemaps;
mod slot;
mod steered;
mod yields;

pub use paces::Pace;
pub use prospect::{OnAddress, Prospect, SiteWaits, Turn, Wait};
pub use requisites::LOADED_WITH_PAGE;
pub(crate) use robots_txt::{
    ROBOTS_PATH, access_by as robots_access_by, expiry as robots_expiry, is_robots_txt, retry_after, robots_txt_of,
};
pub use robots_txt::{robots_state, robots_unread};
pub use rules::read_rules;
pub use sitemaps::sitemaps_of;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use foldhash::{HashMap, HashSet};
use frontier::{Failed, Group, Novelty, Trouble, Workbench};
use model::{Failure, FailureKind, Network, Queued, Resolved, TaskId, Timestamp};
use store::{Committed, Relaxed};
use weburl::{CanonicalUrl, SiteKey, UrlKey};

use aside::Asides;
use counts::Counts;
use dates::{Ahead, Dates};
use errands::Errands;
use gone::Gone;
use in_parts::InParts;
use kept_out::KeptOut;
use line::Line;
use network::OwnNetwork;
use patience::Patience;
use places::Places;
use remembered::Remembered;
use requisites::Requisites;
use room::Room;
use rules::Rulebook;
use shares::{Share, Shares};
use sitemaps::SitemapSites;
use slot::{Front, Leaving, Slot};
use yields::Watch;

use crate::{Command, End, Event, Hooks, Record, Settings};

/// Records on their way to the store, at most: beyond it nothing new is begun.
const RECORDS_OPEN_MAX: usize = 1_024;

/// URLs found on their way to the store, at most, but for those of what is under way already: each takes some kilobyte, in its record,
/// in the commit, and in what the store says of it. A commit of half as many costs no more for each.
const FOUND_OPEN_MAX: usize = 1 << 15;

/// After how long a name is looked up again where the last look-up failed. Its site keeps its address meanwhile.
const RESOLVE_FAILED_AGAIN_AFTER: Duration = Duration::from_secs(300);

/// How long a site keeps an address that its name server does not confirm.
const ADDRESS_KEPT_MAX: Duration = Duration::from_secs(24 * 3600);

/// A request that was under way for so long when the run ends counts as one that failed.
const UNANSWERED_MIN: Duration = Duration::from_secs(10);

/// The whole state of a running crawl. What must outlive the process is in the store.
pub struct State {
    settings: Settings,
    hooks: Hooks,
    remembered: Remembered,
    errands: Errands,
    shares: Shares,
    asides: Asides,
    gone: Gone,
    network: OwnNetwork,
    places: Places,
    rulebook: Rulebook,
    /// Sites whose turn waits until their large robots.txt may be read.
    line: Line,
    large_files: slot::LargeFiles,
    room: Room,
    watch: Watch,
    novelty: Novelty,
    /// The seeds, and the URLs that they redirect to.
    seeds: HashSet<UrlKey>,
    /// The sites of these that had no place in front yet.
    first_sites: HashSet<SiteKey>,
    sitemap_sites: SitemapSites,
    requisites: Requisites,
    bench: Workbench,
    sites: HashMap<SiteKey, Slot>,
    /// Sites with nothing left to do, the longest idle first: they leave memory when room is needed.
    parked: BTreeMap<u64, SiteKey>,
    next_parked: u64,
    /// Sites whose budget is spent and that have left memory: they are not read again for each link to them.
    spent: HashSet<SiteKey>,
    kept_out: KeptOut,
    in_flight: HashMap<TaskId, Flight>,
    next_task: u64,
    /// Fetches of this run that the program itself broke.
    fetches_lost: u64,
    /// No request begins before, by the pace of all sites together.
    paced_until: Timestamp,
    /// What each record given out and not committed yet holds, in order; and the sum.
    open: VecDeque<Weight>,
    open_weight: Weight,
    /// Loads, name look-ups and rules given out and not answered yet.
    asked: usize,
    /// Pages with many links, some of which are not judged yet.
    in_parts: VecDeque<InParts>,
    /// Links judged for the event of this step.
    judged: usize,
    search: SiteSearch,
    /// What it has found: brought to front as there is room.
    sites_found: VecDeque<SiteKey>,
    /// Some site that got a URL found no room in front: after its end, the search begins again.
    sites_missed: bool,
    /// The round of the crawl.
    round: u32,
    counts: Counts,
    started_at: Timestamp,
    patience: Patience,
    dates: Dates,
    ahead: Ahead,
    /// By how much the longest recorded wait of a site was cut.
    waits_cut: Option<Duration>,
    /// How long the run was paused before, and since when it is.
    paused_before: Duration,
    paused_since: Option<Timestamp>,
    start: Start,
    /// Sites that others may have asked just before they became this run's own, and when that was; while they are not in front.
    taken_over: HashMap<SiteKey, Timestamp>,
    /// Sites that were let go of: they come to front only when they are said to be this run's own again.
    released: HashSet<SiteKey>,
    /// Those among them that are on hold, and that have something to do.
    held_up: BTreeSet<SiteKey>,
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

/// How much memory records take, about.
#[derive(Clone, Copy, Default)]
struct Weight {
    /// Payload bytes.
    bytes: u64,
    /// Bytes of the texts and links of contents.
    contents: u64,
    /// URLs found.
    found: usize,
}

/// A fetch under way.
struct Flight {
    site: SiteKey,
    group: Group,
    share: Share,
    asked: TaskKind,
    /// The request had validators.
    is_conditional: bool,
    /// When it began.
    begun: Timestamp,
}

/// What a fetch asks for.
enum TaskKind {
    /// A URL.
    Url(Box<Queued>),
    /// The site's robots.txt.
    Robots,
    /// A page that has changed, with the validators that it had before: whether the server says so. The answer is not recorded.
    Truth(CanonicalUrl),
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
            hooks: Hooks::default(),
            bench: Workbench::new(politeness.connections_per_site, quiet_until),
            remembered: Remembered::new(settings.remembered_urls_max),
            errands: Errands::default(),
            sitemap_sites: match start {
                Start::New | Start::Resumed => SitemapSites::all(settings.filter.scope.kind()),
                Start::Shared => SitemapSites::of_seeds(settings.filter.scope.kind()),
            },
            requisites: Requisites::default(),
            shares: Shares::default(),
            asides: Asides::default(),
            gone: Gone::default(),
            network: OwnNetwork::default(),
            places: Places::default(),
            rulebook: Rulebook::default(),
            line: Line::default(),
            large_files: Default::default(),
            room: Room::default(),
            watch: Watch::default(),
            novelty: Novelty::default(),
            seeds: HashSet::default(),
            first_sites: HashSet::default(),
            sites: HashMap::default(),
            parked: BTreeMap::new(),
            next_parked: 0,
            spent: HashSet::default(),
            kept_out: KeptOut::default(),
            in_flight: HashMap::default(),
            next_task: 0,
            fetches_lost: 0,
            paced_until: Timestamp::default(),
            open: VecDeque::new(),
            open_weight: Weight::default(),
            asked: 0,
            in_parts: VecDeque::new(),
            judged: 0,
            search: SiteSearch::Exhausted,
            sites_found: VecDeque::new(),
            sites_missed: false,
            round: 1,
            counts: Counts::default(),
            started_at: now,
            patience: Patience::new(now),
            dates: Dates::default(),
            ahead: Ahead::default(),
            waits_cut: None,
            paused_before: Duration::ZERO,
            paused_since: settings.paused.then_some(now),
            start,
            taken_over: HashMap::default(),
            released: settings.held_sites.iter().copied().collect(),
            held_up: BTreeSet::new(),
            ending: None,
            finished: false,
            commands: Vec::new(),
            settings,
        }
    }

    /// The same with hooks, which are asked about every URL found.
    #[must_use]
    pub fn with_hooks(self, hooks: Hooks) -> Self {
        State { hooks, ..self }
    }

    /// Takes in an event and says what is to be done. Given the same events at the same times it says the same.
    ///
    /// `now` is the time by which the run waits, which never goes back; `date` is what the system's clock shows.
    pub fn step(&mut self, now: Timestamp, date: Timestamp, event: Event) -> Vec<Command> {
        self.dates = Dates::read(now, date);
        self.judged = 0;
        match event {
            Event::Begin { seeds, known_seeds, round, pages, bytes, requisites } => {
                self.requisites.begin(requisites);
                self.begin(now, seeds, known_seeds, (round, pages, bytes));
            }
            Event::SitesFound { sites, all } => self.sites_found(&sites, all),
            Event::Loaded { site, record, queue, all } => self.loaded(now, site, record, queue, all),
            Event::Resolved { site, found } => self.resolved(now, site, found),
            Event::Elsewhere { site, address } => self.elsewhere(now, site, address),
            Event::Fetched(fetch) => self.fetched(now, *fetch),
            Event::RobotsRead { url, record } => self.robots_read(now, url, record.map(|record| *record)),
            Event::RulesFound { site, record } => self.rules_found(now, site, record.as_deref()),
            Event::RulesRead { site, rules } => self.rules_read(now, site, rules),
            Event::TargetResolved { url, addresses } => self.target_resolved(now, url, addresses),
            Event::TargetElsewhere(url) => self.target_elsewhere(now, url),
            Event::NotAsked(task) => self.not_asked(now, task),
            Event::Lost { task, detail } => self.lost(now, task, detail),
            Event::Committed { records, committed } => self.committed(now, &records, committed),
            Event::SitesChanged { sites, taken_over } => self.sites_changed(now, &sites, taken_over),
            Event::SitesWaiting(sites) => self.sites_waiting_in_store(now, &sites),
            Event::SeedsAdded(seeds) => self.seeds_added(&seeds),
            Event::RoundBegan(round) => self.round_began(now, round),
            Event::SpentElsewhere(spent) => self.spent_elsewhere(now, spent),
            Event::Release(sites) => self.release(now, &sites),
            Event::SettingsChanged(settings) => self.settings_changed(now, *settings),
            Event::NewSeeds(seeds) => self.new_seeds(now, seeds),
            Event::Wake => {}
            Event::Stop => self.stop(now),
        }
        self.go_on_in_parts(now);
        self.dispatch(now);
        self.room.peak = self.room.peak.max(self.front_bytes());
        std::mem::take(&mut self.commands)
    }

    /// Fetches under way.
    #[must_use]
    pub fn fetches_in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Bytes that the texts and links of fetched contents take that are not recorded yet, about.
    #[must_use]
    pub fn content_bytes(&self) -> u64 {
        let in_parts: usize = self.in_parts.iter().map(InParts::content_bytes).sum();
        self.open_weight.contents + in_parts as u64
    }

    /// Sites in front that want a visit.
    #[must_use]
    pub fn sites_waiting(&self) -> usize {
        self.bench.len() + self.line.len()
    }

    /// URLs fetched with success by this run, and before it in the round in which it began.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.counts.pages()
    }

    /// Payload bytes fetched by this run, and before it in the round in which it began.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.counts.bytes()
    }

    /// By how much the longest recorded wait of a site was cut: since the run before, its delay was lowered or the system's clock set back.
    #[must_use]
    pub fn waits_cut(&self) -> Option<Duration> {
        self.waits_cut
    }

    /// Fetches of this run that the program itself broke: each counted as an attempt that failed.
    #[must_use]
    pub fn fetches_lost(&self) -> u64 {
        self.fetches_lost
    }

    fn add_seed(&mut self, seed: &CanonicalUrl) {
        self.seeds.insert(seed.key());
        let site = seed.key().site;
        if !self.sites.contains_key(&site) && self.first_sites.insert(site) {
            self.places.prefer(site);
        }
        self.settings.filter.scope.add_seed(seed);
        self.remembered.forget_settled();
    }

    fn stop(&mut self, now: Timestamp) {
        self.ending.get_or_insert(End::Stopped);
        self.abandon(now);
    }

    /// Drops the fetches under way. Their URLs stay in the store's queue.
    ///
    /// A request that hangs counts for its site: the next run begins with others.
    fn abandon(&mut self, now: Timestamp) {
        if self.in_flight.is_empty() {
            return;
        }
        let hang =
            |flight: &&Flight| flight.begun + UNANSWERED_MIN <= now && !matches!(flight.asked, TaskKind::Errand { .. });
        let hanging: BTreeSet<SiteKey> = self.in_flight.values().filter(hang).map(|flight| flight.site).collect();
        self.in_flight.clear();
        self.commands.push(Command::Abandon);
        for site in hanging {
            if let Some(front) = self.front(site) {
                front.state.note_unanswered();
                self.record_site(site);
            }
        }
    }

    /// Whether each of a site's addresses may be another's to ask.
    fn shares_addresses(&self) -> bool {
        self.start == Start::Shared && !self.settings.site_rules.politeness.ip_delay.is_zero()
    }

    /// Gives out a record.
    fn record(&mut self, mut record: Record) {
        let settled = record.settled.iter_mut().map(|(_, visit)| visit);
        record.visit.iter_mut().chain(settled).for_each(|visit| visit.round = self.round);
        record.pages_are_few = self.pages_are_few();
        let fetched: u64 = record.exchanges.iter().map(|exchange| exchange.payload.len() as u64).sum();
        let bytes = fetched + record.rendering.as_ref().map_or(0, |rendering| rendering.bytes());
        let weight = Weight { bytes, contents: record.content_bytes as u64, found: record.found_count() };
        self.open.push_back(weight);
        self.open_weight.bytes += weight.bytes;
        self.open_weight.contents += weight.contents;
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

    fn resolved(&mut self, now: Timestamp, site: SiteKey, found: Result<Resolved, Failure>) {
        let politeness = self.settings.site_rules.politeness.clone();
        // A site that is being resolved stays in front. What was given up for lost may be answered after all.
        if !self.end_look_up(now, site) {
            return;
        }
        let Some(front) = self.front(site) else { return };
        let has_address = front.state.addresses.is_some() && now < front.resolved_at + ADDRESS_KEPT_MAX;
        match found {
            Ok(Resolved { addresses, holds }) => {
                front.state.resolved(addresses);
                (front.resolved_at, front.resolve_at) = (now, now + holds);
                if let Some(address) = front.state.address() {
                    self.places.found_at(site, Network::of(address));
                }
                self.network.found_name(site);
                self.name_found(site);
            }
            // That its name leads where it may not be asked is no failure of a name server.
            Err(failure) if has_address && failure.kind != FailureKind::AddressDenied => {
                front.resolve_at = now + RESOLVE_FAILED_AGAIN_AFTER;
                self.network.found_name(site);
            }
            Err(failure)
                if matches!(failure.kind, FailureKind::NameServer | FailureKind::Internal)
                    || front.state.may_pass(failure.kind) =>
            {
                if !self.is_fault_of_network(now, site, &failure)
                    && let Some(front) = self.front(site)
                {
                    let failed = Failed { trouble: Trouble::Unreached, failure: &failure, retry_after: None, at: now };
                    front.state.failed(&failed, &politeness);
                    self.site_failed(now, site);
                    self.record_site(site);
                }
            }
            Err(failure) => front.state.give_up(now, failure),
        }
        self.asked -= 1;
        self.prepare(now, site);
    }

    fn committed(&mut self, now: Timestamp, records: &[(SiteKey, Option<u64>)], committed: Committed) {
        for (site, url) in records {
            let Weight { bytes, contents, found } = self.open.pop_front().unwrap_or_default();
            self.open_weight.bytes -= bytes;
            self.open_weight.contents -= contents;
            self.open_weight.found -= found;
            if let Some(front) = self.front(*site) {
                front.state.uncommitted = front.state.uncommitted.saturating_sub(1);
                if let Some(url) = url {
                    front.state.committed(*url);
                }
            }
        }
        self.requisites.add(committed.more_requisites);
        let mut touched: Vec<SiteKey> = records.iter().map(|(site, _)| *site).collect();
        for candidate in committed.fresh {
            touched.push(self.queue(Queued::first(candidate)));
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
}

#[cfg(test)]
pub(crate) mod tests;
