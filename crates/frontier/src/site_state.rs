//! One site in front: the head of its queue, its robots rules, its counters, and what it wants next.

mod chance;
mod left_behind;
mod low_yield;
mod memory;
mod shapes;
mod trouble;
mod turn;
mod window;

use std::net::IpAddr;
use std::time::Duration;

use foldhash::{HashMap, HashSet};
use model::{Failure, Limit, LimitSet, Outcome, Position, Purpose, Queued, SiteRecord, Timestamp};
use robots::{Matching, RobotsTxt};
use weburl::SiteKey;

use self::left_behind::has_failed;
pub use self::left_behind::{Behind, LeftBehind};
pub use self::low_yield::Counts;
use self::low_yield::LowGroups;
use self::shapes::Counted;
use self::trouble::Sweep;
pub use self::trouble::{Failed, Failing};
use self::window::Window;
use crate::{DelayRule, Politeness, Reason, TrapRules};

/// The window of a site: URLs of its queue read from the store at a time. Up to twice as many are in memory while it grows.
const WINDOW_URLS_MIN: usize = 16;

/// The window of a site where few are in front. One that may be asked without delay goes through it while the next is being
/// read, which waits for a commit.
const WINDOW_URLS_MAX: usize = 1_024;

/// The window of each of so many sites, where those of all are not to have more URLs than `all` unless they are as small as
/// they can be.
#[must_use]
pub fn window_urls(all: usize, sites: usize) -> usize {
    (all / sites.max(1)).clamp(WINDOW_URLS_MIN, WINDOW_URLS_MAX)
}

/// What is known of a site's robots.txt.
#[derive(Clone, Debug)]
pub enum RobotsState {
    /// Nothing valid: it must be requested.
    Unknown,
    /// It is being requested.
    InFlight {
        /// The earlier rules, which stay valid if it cannot be fetched (RFC 9309 §2.4).
        earlier: Option<Box<RobotsState>>,
    },
    /// The rules hold until the time given, but are in the store. They must be read before the next visit.
    Stored {
        /// How long the site asks to wait between visits, as far as that is known.
        crawl_delay: Option<Duration>,
        /// When they must be requested again.
        expires_at: Timestamp,
    },
    /// The rules hold until the time given.
    Known {
        /// The rules.
        rules: RobotsTxt,
        /// When they must be requested again.
        expires_at: Timestamp,
    },
}

/// What a site wants to be done next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Fetch robots.txt.
    Robots,
    /// Read the rules that are in the store.
    ReadRules,
    /// Fetch this URL.
    Fetch(Queued),
    /// Record this end; no fetch is needed.
    Settle(Queued, Settled),
    /// Judge the links of this URL again.
    JudgeAgain(Queued),
    /// Nothing, for this reason.
    Held(Reason),
}

/// The end of a URL that is not fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// The limit or trap rule that decided it.
    pub limits: LimitSet,
}

impl Settled {
    /// An end that no limit decided.
    #[must_use]
    pub fn new(outcome: Outcome, reason: String) -> Self {
        Settled { outcome, reason, limits: LimitSet::EMPTY }
    }

    fn by(limit: Limit, outcome: Outcome, reason: String) -> Self {
        Settled { outcome, reason, limits: limit.into() }
    }
}

/// The rules a site is subject to, besides its own.
#[derive(Clone, Debug)]
pub struct SiteRules {
    /// Politeness.
    pub politeness: Politeness,
    /// Traps.
    pub traps: TrapRules,
    /// How robots.txt is read; `None` ignores it.
    pub matching: Option<Matching>,
    /// The budget of a site: URLs fetched with success.
    pub pages_per_site_max: Option<u64>,
    /// Sitemaps read of a site.
    pub sitemaps_per_site_max: u32,
}

/// One site in front.
#[derive(Debug)]
pub struct SiteState {
    /// Its key.
    pub key: SiteKey,
    /// What is kept of it. Its `robots` and `shapes` are not kept up to date here: see [`SiteState::record`].
    record: SiteRecord,
    /// Its robots.txt.
    robots: RobotsState,
    /// Its addresses, the one in use first; `None` until the name is resolved.
    pub addresses: Option<Vec<IpAddr>>,
    /// Visits under way.
    pub in_flight: usize,
    /// Records on their way to the store.
    pub uncommitted: usize,
    /// How many bytes the rules of its robots.txt take on the heap.
    robots_bytes: usize,
    queue: Window,
    /// URLs taken from the queue whose end is not committed yet.
    taken: HashSet<u64>,
    /// All of the store's queue up to here is in memory or taken.
    loaded_to: Option<Position>,
    /// The store's queue has nothing that is not in memory or taken.
    all_loaded: bool,
    /// URLs were passed over since their budget is spent: they are in the store's queue, and no more in memory.
    passed_over: bool,
    /// The window was cut or dropped since a read of the queue began: the read may lie behind a gap.
    cut: bool,
    /// The requests to it that failed since it answered one.
    failing: Option<Failing>,
    sweep: Sweep,
    /// What it waits for until it is due.
    waits_for: Reason,
    /// Where it is in trouble: when its wait is over.
    aside_until: Timestamp,
    /// When it is due by the last record of it.
    recorded_due_at: Timestamp,
    /// How many requests in a row for a new robots.txt failed, while an earlier one is valid.
    stale_tries: u32,
    shapes: HashMap<u64, Counted>,
    /// Shapes whose count has come to be worth writing.
    shapes_due: Vec<u64>,
    /// Shapes whose count is no more what is written.
    shapes_changed: Vec<u64>,
    /// The groups that bring only more of themselves.
    low_groups: LowGroups,
}

impl SiteState {
    /// A site as its record has it, with nothing loaded of its queue.
    #[must_use]
    pub fn new(mut record: SiteRecord) -> Self {
        let shapes = std::mem::take(&mut record.shapes);
        // `robots` has the rules; the file stays in the store.
        record.robots = None;
        SiteState {
            key: record.site.key(),
            robots: RobotsState::Unknown,
            addresses: None,
            in_flight: 0,
            uncommitted: 0,
            robots_bytes: 0,
            queue: Window::default(),
            taken: HashSet::default(),
            loaded_to: None,
            all_loaded: false,
            passed_over: false,
            cut: false,
            failing: None,
            sweep: Sweep::default(),
            waits_for: if record.failures_in_a_row > 0 { Reason::BackOff } else { Reason::Delay },
            aside_until: record.due_at,
            recorded_due_at: record.due_at,
            stale_tries: 0,
            low_groups: LowGroups::of(&shapes),
            shapes: shapes.into_iter().map(|(shape, count)| (shape, Counted { count, written: count })).collect(),
            shapes_due: Vec::new(),
            shapes_changed: Vec::new(),
            record,
        }
    }

    /// What is known of its robots.txt.
    #[must_use]
    pub fn robots(&self) -> &RobotsState {
        &self.robots
    }

    /// The site.
    #[must_use]
    pub fn site(&self) -> &weburl::Site {
        &self.record.site
    }

    /// The record as it is to be written now, without robots.txt. It must be written: counters of shapes that it has are not in the next one.
    #[must_use]
    pub fn record(&mut self) -> SiteRecord {
        let address = self.address().or(self.record.address);
        self.recorded_due_at = self.record.due_at;
        SiteRecord { robots: None, shapes: self.shapes_to_write(), address, ..self.record.clone() }
    }

    /// The record to be written where the site leaves the front with work left, if it says more than the last one: what failed is not to
    /// be asked for again before `again_at`, and small counters of shapes are kept.
    #[must_use]
    pub fn record_at_leaving(&mut self, again_at: Timestamp) -> Option<SiteRecord> {
        if self.sweep.left > 0 {
            self.wait_until(again_at, Reason::BackOff);
        }
        let waits_longer = self.record.due_at > self.recorded_due_at;
        if waits_longer {
            // It does not wait because of a clock that was set back.
            self.record.failures_in_a_row = self.record.failures_in_a_row.max(1);
        }
        let shapes = self.unwritten_shapes();
        (waits_longer || !shapes.is_empty()).then(|| SiteRecord { shapes, ..self.record() })
    }

    /// The address it is pinned to.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.addresses.as_ref().and_then(|addresses| addresses.first().copied())
    }

    /// Takes in the addresses that its name has now. It stays with the one in use if that is still among them.
    pub fn resolved(&mut self, mut addresses: Vec<IpAddr>) {
        let in_use = self.address().and_then(|in_use| addresses.iter().position(|address| *address == in_use));
        addresses.rotate_left(in_use.unwrap_or_default());
        self.addresses = Some(addresses);
    }

    /// Goes over to its next address, since the one in use does not answer.
    pub fn try_next_address(&mut self) {
        if let Some(addresses) = &mut self.addresses
            && !addresses.is_empty()
        {
            addresses.rotate_left(1);
        }
    }

    /// When it may be visited next.
    #[must_use]
    pub fn due_at(&self) -> Timestamp {
        self.record.due_at
    }

    /// Moves the next visit to `due` if that is later.
    pub fn wait_until(&mut self, due: Timestamp, reason: Reason) {
        if due > self.record.due_at {
            self.record.due_at = due;
            self.waits_for = reason;
        }
    }

    /// What it waits for until it is due.
    #[must_use]
    pub fn waits_for(&self) -> Reason {
        if self.record.aside.is_some() && self.aside_until >= self.record.due_at {
            Reason::Aside
        } else {
            self.waits_for
        }
    }

    /// Sets the time of the next visit, also to an earlier one: for a record from before a clock was set back.
    pub fn set_due_at(&mut self, due: Timestamp) {
        self.record.due_at = due;
        self.aside_until = self.aside_until.min(due);
        self.record.asked_until = self.record.asked_until.min(due);
    }

    /// Moves the next visit by the change of the delay after visits, where nothing else is waited for.
    pub fn change_delay(&mut self, was: Duration, is: Duration, now: Timestamp) {
        let waits_for_delay = self.record.failures_in_a_row == 0
            && self.record.aside.is_none()
            && self.record.due_at > now.max(self.record.asked_until);
        if waits_for_delay {
            let was = u64::try_from(was.as_micros()).unwrap_or(u64::MAX);
            let visited = Timestamp(self.record.due_at.0.saturating_sub(was));
            self.record.due_at = (visited + is).max(self.record.asked_until);
        }
    }

    /// How long the site asks to wait between visits.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        match &self.robots {
            RobotsState::Known { rules, .. } => rules.crawl_delay(),
            RobotsState::Stored { crawl_delay, .. } => *crawl_delay,
            RobotsState::Unknown | RobotsState::InFlight { .. } => None,
        }
    }

    /// The wait after a visit.
    #[must_use]
    pub fn delay(&self, politeness: &Politeness) -> Duration {
        self.delay_by(politeness).0
    }

    /// The wait after a visit, and the rule that decides it.
    #[must_use]
    pub fn delay_by(&self, politeness: &Politeness) -> (Duration, DelayRule) {
        politeness.delay_after(self.key, self.crawl_delay(), self.record.response_time)
    }

    /// The longest possible wait after a visit. Rules that are not read yet may ask for a delay.
    #[must_use]
    pub fn delay_max(&self, politeness: &Politeness) -> Duration {
        let delay = self.delay(politeness);
        match &self.robots {
            RobotsState::Stored { crawl_delay: None, .. } => delay.max(politeness.crawl_delay_max),
            _ => delay,
        }
    }

    /// Gives up the site: all its URLs end with this. Its record keeps the time as that of its last visit.
    pub fn give_up(&mut self, at: Timestamp, failure: Failure) {
        self.wait_until(at, Reason::Delay);
        self.record.aside = None;
        self.record.given_up.get_or_insert(failure);
    }

    /// True if the site is given up.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.record.given_up.is_some()
    }

    /// Counts a URL fetched with success.
    pub fn count_page(&mut self) {
        self.record.pages_fetched += 1;
    }

    /// URLs fetched with success.
    #[must_use]
    pub fn pages_fetched(&self) -> u64 {
        self.record.pages_fetched
    }

    /// True if its answers about changes are not trusted.
    #[must_use]
    pub fn misleads(&self) -> bool {
        self.record.misleads
    }

    /// From now on its answers about changes are not trusted.
    pub fn set_misleads(&mut self) {
        self.record.misleads = true;
    }

    /// Counts a sitemap read.
    pub fn count_sitemap(&mut self) {
        self.record.sitemaps_read = self.record.sitemaps_read.saturating_add(1);
    }

    /// True if a window of its queue should be read from the store: less than half of one is left and there is more.
    #[must_use]
    pub fn wants_load(&self, window: usize) -> bool {
        !self.all_loaded && self.queue.len() < window / 2
    }

    /// From behind which position the store's queue should be read on.
    #[must_use]
    pub fn loaded_to(&self) -> Option<Position> {
        self.loaded_to
    }

    /// Begins a read of the queue, and gives the position behind which it starts. The read covers earlier cuts.
    pub fn begin_load(&mut self) -> Option<Position> {
        self.cut = false;
        self.loaded_to
    }

    /// Takes the entries read from the store's queue after [`SiteState::loaded_to`]; `all` says that there are no more.
    pub fn loaded(&mut self, entries: Vec<Queued>, all: bool) {
        if std::mem::take(&mut self.cut) {
            // It must be read again from behind the cut.
            return;
        }
        self.all_loaded = all;
        for waiting in entries {
            let position = waiting.candidate.position();
            self.loaded_to = self.loaded_to.max(Some(position));
            if self.taken.contains(&position.url) || self.sweep.remembered.contains(&position.url) {
                continue;
            }
            if !has_failed(&waiting) || self.sweep.is_repeated || !self.sweep.leave(position.url) {
                self.queue.insert(position, waiting);
            }
        }
    }

    /// Forgets what was read of the store's queue, which others have changed. What is being read now may be older than the
    /// change.
    pub fn reload(&mut self, is_being_read: bool) {
        self.queue.clear();
        self.loaded_to = None;
        self.all_loaded = false;
        self.passed_over = false;
        self.cut = is_being_read;
    }

    /// True if URLs were passed over ([`SiteState::take_ending`]). [`SiteState::reload`] has them read again.
    #[must_use]
    pub fn has_passed_over(&self) -> bool {
        self.passed_over
    }

    /// True if URLs were passed over, and no others are left.
    #[must_use]
    pub fn has_passed_over_all(&self) -> bool {
        self.passed_over && self.all_loaded && self.queue.is_empty()
    }

    /// Takes in a URL that was put into the store's queue. It stays out of memory if it lies beyond what is loaded, and makes
    /// others leave where it is one too many for the window.
    pub fn insert(&mut self, waiting: Queued, window: usize) {
        let position = waiting.candidate.position();
        if self.taken.contains(&position.url) {
            // Where it fails it is left behind, in the place that the store gave it.
            return;
        }
        if self.sweep.remembered.contains(&position.url) {
            return;
        }
        if !self.all_loaded && Some(position) > self.loaded_to {
            return;
        }
        self.queue.insert(position, waiting);
        if self.queue.len() > window * 2 {
            self.cut_window(window);
        }
    }

    /// Drops the last URLs of a window that is larger than `urls`. They are read again when their turn comes.
    pub fn cut_window(&mut self, window: usize) {
        if self.queue.len() <= window {
            return;
        }
        self.queue.cut_to(window);
        self.loaded_to = self.queue.last_position();
        self.all_loaded = false;
        self.cut = true;
    }

    /// Forgets the place of a URL that has moved in the queue.
    pub fn remove(&mut self, position: Position) {
        self.queue.remove(position);
    }

    /// The end of a URL taken by [`SiteState::next`] is committed.
    pub fn committed(&mut self, url: u64) {
        self.taken.remove(&url);
    }

    /// True if there is no work for it, in memory or in the store, and nothing under way.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let is_through = self.all_loaded && self.queue.is_empty() && !self.passed_over;
        is_through && !self.sweep.leaves_something() && !self.is_under_way()
    }

    /// True if a visit or a record of it is under way.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.in_flight > 0 || self.uncommitted > 0
    }

    /// True if a URL waits in memory.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        !self.queue.is_empty()
    }

    /// True if a requisite waits in memory: before all pages, but maybe behind sitemaps.
    #[must_use]
    pub fn has_requisite_waiting(&self) -> bool {
        let before_pages = self.queue.iter().take_while(|waiting| waiting.candidate.position().rank == 0);
        before_pages.into_iter().any(|waiting| waiting.candidate.purpose == Purpose::Requisite)
    }

    /// True if what waits in memory are requisites alone, for the sake of pages elsewhere maybe.
    #[must_use]
    pub fn has_only_requisites_waiting(&self) -> bool {
        !self.queue.is_empty() && self.queue.iter().all(|waiting| waiting.candidate.purpose == Purpose::Requisite)
    }

    /// True if a URL of it waits in memory, other than its robots.txt, which waits on behalf of other sites.
    #[must_use]
    pub fn has_more_than_robots_waiting(&self) -> bool {
        self.queue.iter().any(|waiting| waiting.candidate.purpose != Purpose::Robots)
    }

    /// True if it has ever answered with a page.
    #[must_use]
    pub fn was_reached(&self) -> bool {
        !self.record.response_time.is_zero()
    }

    /// True if neither a page nor a sitemap of it was fetched successfully.
    #[must_use]
    pub fn has_fetched_nothing(&self) -> bool {
        self.record.pages_fetched == 0 && self.record.sitemaps_read == 0
    }

    /// True if every waiting URL of it can be settled without the network.
    #[must_use]
    pub fn needs_no_network(&self) -> bool {
        self.is_given_up()
    }
}

#[cfg(test)]
mod tests;
