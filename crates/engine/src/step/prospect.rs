//! What is next for a site, and what holds it up. These answers read the state by which the step decides, and change nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use frontier::{Behind, Group, Held, LeftBehind, Next, Reason, Settled};
use model::{Outcome, Timestamp};
use serde::{Deserialize, Serialize};
use store::{CrawlView, StoreError, Totals};
use weburl::{CanonicalUrl, SiteKey};

use super::{Front, Leaving, SiteSearch, Slot, Start, State, read_rules};
use crate::settings::TIME_LIMIT;
use crate::{Command, End, Settings, Spent};

/// What is next for a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prospect {
    /// What holds the site up; `None` if its turn comes with the next step.
    pub held: Option<Held>,
    /// Its turn begins with a look-up of its name.
    pub wants_name: bool,
    /// What its turn brings. `None` if the site is not in memory.
    pub turn: Option<Turn>,
    /// The URLs in its queue that come behind the others.
    pub behind: Behind,
    /// How its address spaces its visits, if they are further apart than its own delay makes them.
    pub on_address: Option<OnAddress>,
}

/// A site that takes turns with others on its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnAddress {
    /// Sites on the address that want visits, with this one. Those that are not in memory are not counted.
    pub sites: usize,
    /// The time from one visit of the site to the next, as long as they do.
    pub interval: Duration,
}

/// What the turn of a site brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turn {
    /// No URL of it can be taken.
    Nothing,
    /// A request for robots.txt.
    Robots,
    /// Its stored robots.txt is read.
    ReadRules,
    /// A request for a page that has changed, to test whether the site tells the truth about changes.
    Truth(CanonicalUrl),
    /// A request for this URL.
    Fetch(CanonicalUrl),
    /// The end of this URL without a request.
    Settle {
        /// The URL.
        url: CanonicalUrl,
        /// Its outcome.
        outcome: Outcome,
        /// Why.
        reason: String,
    },
    /// The links of this URL are judged again.
    JudgeAgain(CanonicalUrl),
}

/// What holds the sites of a crawl up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SiteWaits(pub BTreeMap<Reason, Wait>);

/// The sites that are held up for one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// How many.
    pub sites: u64,
    /// When the wait of the first of them ends. `None` if it ends with an event, not at a time.
    pub until: Option<Timestamp>,
}

impl Prospect {
    /// The same with dates in place of times of the run, given the time of the run and the date now.
    #[must_use]
    pub fn dated(self, now: Timestamp, date: Timestamp) -> Self {
        let held = self.held.map(|held| Held { until: dated(held.until, now, date), ..held });
        Prospect { held, ..self }
    }
}

impl SiteWaits {
    /// The same with dates in place of times of the run.
    #[must_use]
    pub fn dated(mut self, now: Timestamp, date: Timestamp) -> Self {
        self.0.values_mut().for_each(|wait| wait.until = dated(wait.until, now, date));
        self
    }

    fn add(&mut self, held: Held, sites: usize) {
        if sites > 0 {
            let wait = self.0.entry(held.reason).or_default();
            wait.sites += sites as u64;
            wait.until = [wait.until, held.until].into_iter().flatten().min();
        }
    }
}

fn dated(until: Option<Timestamp>, now: Timestamp, date: Timestamp) -> Option<Timestamp> {
    until.map(|until| date + until.since(now))
}

impl State {
    /// A run that goes on now with this site alone: to ask what holds the site up in a crawl that does not run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn resumed(
        settings: Settings,
        view: &dyn CrawlView,
        site: SiteKey,
        now: Timestamp,
    ) -> Result<State, StoreError> {
        let mut state = State::new(settings, now, Start::Resumed);
        state.bring_alone(view, (&view.totals()?, view.seeds()?), site, now)?;
        Ok(state)
    }

    /// One of several workers that goes on now with this site alone, which it had before: to ask what holds the site up. All of them have spent
    /// as much of the budgets. Of its seeds those count that are given.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn shared(
        settings: Settings,
        view: &dyn CrawlView,
        (seeds, spent): (Vec<CanonicalUrl>, Spent),
        (site, now): (SiteKey, Timestamp),
    ) -> Result<State, StoreError> {
        let mut state = State::new(settings, now, Start::Shared);
        state.bring_alone(view, (&Totals::default(), seeds), site, now)?;
        state.counts.spent_elsewhere(spent);
        Ok(state)
    }

    /// Brings a site to the front.
    fn bring_alone(
        &mut self,
        view: &dyn CrawlView,
        (totals, seeds): (&Totals, Vec<CanonicalUrl>),
        site: SiteKey,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let counts = (totals.round.number, totals.pages_in_round(), totals.bytes_of_round);
        self.requisites.begin(totals.requisites_pending);
        self.begin(now, Vec::new(), seeds, counts);
        self.search = SiteSearch::Exhausted;
        self.bring_to_front(site);
        while let Some(command) = self.commands.pop() {
            match command {
                Command::Load { site, with_record, after, max } => {
                    let record = if with_record { view.site(site)?.map(Box::new) } else { None };
                    let queue = view.pending(site, after, max)?;
                    let all = queue.len() < max;
                    self.loaded(now, site, record, queue, all);
                }
                // The sitemaps that its robots.txt names are looked for.
                Command::FindRules { site } => self.rules_found(now, site, view.site(site)?.as_ref()),
                Command::ReadRules { site, code, body } => {
                    let rules = read_rules(code, &body, &self.settings);
                    self.rules_read(now, site, Some(rules));
                }
                _ => {}
            }
        }
        self.check_limits(now);
        Ok(())
    }

    /// What is next for a site.
    #[must_use]
    pub fn prospect(&self, now: Timestamp, site: SiteKey) -> Prospect {
        let front = match self.sites.get(&site) {
            Some(Slot::Here(front)) => Some(front),
            Some(Slot::Loading(_)) | None => None,
        };
        let held = self.held(now, site);
        // Its name and its robots.txt may expire until then.
        let then = held.and_then(|held| held.until).map_or(now, |until| until.max(now));
        Prospect {
            held,
            wants_name: front.is_some_and(|front| front.wants_name(then)),
            turn: front.map(|front| self.turn(then, front)),
            behind: self.behind(site),
            on_address: front.and_then(|front| self.on_address(front)),
        }
    }

    fn behind(&self, site: SiteKey) -> Behind {
        let left_behind = match self.sites.get(&site) {
            Some(Slot::Here(front)) => return front.state.behind(),
            Some(Slot::Loading(loading)) => loading.left_behind.as_deref(),
            None => self.asides.left_behind_of(site).or_else(|| self.gone.get(site)),
        };
        left_behind.map_or_else(Behind::default, LeftBehind::behind)
    }

    /// Looks at every site in front.
    fn on_address(&self, front: &Front) -> Option<OnAddress> {
        let politeness = &self.settings.site_rules.politeness;
        let group = front.state.address().filter(|_| !politeness.ip_delay.is_zero()).map(Group::of_address)?;
        let delays = self.sites.values().filter_map(|slot| match slot {
            Slot::Here(other) if other.state.key != front.state.key && other.wants_visits_of(group) => {
                Some(other.state.delay(politeness))
            }
            Slot::Here(_) | Slot::Loading(_) => None,
        });
        let (own, others) = (front.state.delay(politeness), delays.collect::<Vec<_>>());
        let interval = politeness.interval_on_address(own, &others);
        (interval > own).then_some(OnAddress { sites: others.len() + 1, interval })
    }

    /// What holds the sites of the crawl up. It looks at every site in front.
    #[must_use]
    pub fn waits(&self, now: Timestamp) -> SiteWaits {
        let mut waits = SiteWaits::default();
        for held in self.sites.keys().filter_map(|site| self.held(now, *site)) {
            let is_wait = !matches!(held.reason, Reason::Nothing | Reason::UnderWay | Reason::Hold);
            waits.add(held, usize::from(is_wait));
        }
        waits.add(Reason::Hold.into(), self.held_up());
        waits.add(Reason::Place.into(), self.places.len_outside());
        let back = [self.asides.next_due(), self.last_probe(now)].into_iter().flatten().min();
        waits.add(Held { reason: Reason::Aside, until: back }, self.asides.len());
        waits
    }

    /// What holds a site up. What lasts until somebody changes it comes before what passes.
    pub(super) fn held(&self, now: Timestamp, site: SiteKey) -> Option<Held> {
        if self.settings.held_sites.contains(&site) {
            return Some(Reason::Hold.into());
        }
        let held = match self.sites.get(&site) {
            Some(Slot::Here(front)) => self.held_in_front(now, front),
            Some(Slot::Loading(_)) => Some(Reason::Place.into()),
            None => Some(self.held_outside(now, site)),
        };
        let lasts = |held: &Held| {
            matches!(held.reason, Reason::Nothing | Reason::Elsewhere | Reason::SiteBudget | Reason::CrawlBudget)
        };
        held.filter(lasts).or_else(|| self.held_with_all()).or(held)
    }

    /// What holds all sites up.
    fn held_with_all(&self) -> Option<Held> {
        let reason = match &self.ending {
            Some(End::Limit(limit, _)) if *limit != TIME_LIMIT => Reason::CrawlBudget,
            Some(_) => Reason::End,
            None if self.settings.paused => Reason::Paused,
            None if self.is_budget_under_way() || self.spent_by_all().is_some() => Reason::CrawlBudget,
            None => return None,
        };
        Some(reason.into())
    }

    fn held_outside(&self, now: Timestamp, site: SiteKey) -> Held {
        if self.released.contains(&site) {
            return Reason::Elsewhere.into();
        }
        if self.spent.contains(&site) {
            return self.spent_budget().into();
        }
        if let Some(until) = self.asides.due_of(site).filter(|until| *until > now) {
            let last_probe = self.last_probe(now).filter(|probe| self.asides.may_probe(site, *probe));
            return Held::until(Reason::Aside, last_probe.map_or(until, |probe| probe.min(until)));
        }
        let is_done = self.search == SiteSearch::Exhausted && !self.sites_missed && self.sites_found.is_empty();
        let is_known = self.places.is_waiting(site) || self.asides.contains(site);
        if is_done && !is_known { Reason::Nothing.into() } else { Reason::Place.into() }
    }

    /// The budget that a site has no more of: while requisites alone are requested, that of the crawl.
    fn spent_budget(&self) -> Reason {
        if self.pages_are_over() { Reason::CrawlBudget } else { Reason::SiteBudget }
    }

    fn held_in_front(&self, now: Timestamp, front: &Front) -> Option<Held> {
        let state = &front.state;
        let reason = match self.peek_of(front, now) {
            _ if front.leaving != Leaving::No => Reason::Elsewhere,
            _ if state.is_aside(now) => return Some(Held::until(Reason::Aside, state.due_at())),
            _ if front.yields => Reason::Place,
            _ if front.held => self.spent_budget(),
            _ if front.resolving => Reason::Name,
            _ if front.reading.is_done() => Reason::Busy,
            _ if front.reading.is_under_way() => Reason::Robots,
            _ if front.waits_for_share => Reason::Share,
            _ if self.line.has(state.key) => return Some(self.held_in_line(now)),
            Next::Held(Reason::Nothing) if front.is_busy() || state.has_waiting() => Reason::UnderWay,
            Next::Held(Reason::SiteBudget) if self.peek_kept_out(front).is_some() => {
                return self.held_on_bench(now, front);
            }
            Next::Held(Reason::Nothing) if front.truth_wanted().is_some() => return self.held_on_bench(now, front),
            Next::Held(reason) => reason,
            _ => return self.held_on_bench(now, front),
        };
        Some(reason.into())
    }

    /// What holds a site in line up: it is called when its robots.txt may be read, and a turn may begin.
    fn held_in_line(&self, now: Timestamp) -> Held {
        if !self.may_read_stored() {
            return Reason::Robots.into();
        }
        match self.network.quiet_until().filter(|until| *until > now) {
            Some(until) => Held::until(Reason::Network, until),
            None => Reason::Busy.into(),
        }
    }

    fn held_on_bench(&self, now: Timestamp, front: &Front) -> Option<Held> {
        let Some(waiting) = self.bench.waiting(front.state.key) else { return Some(Reason::UnderWay.into()) };
        if waiting.is_taken {
            let is_own = front.state.in_flight > 0 || matches!(waiting.group, Group::Site(_));
            return Some(if is_own { Reason::UnderWay } else { Reason::Address }.into());
        }
        // Its turn belongs to the last probe, and comes before that of others.
        let is_found = self.network.found() == Some(front.state.key);
        let waits = [
            (Reason::Network, self.network.quiet_until().filter(|_| !is_found)),
            (Reason::Rate, Some(self.paced_until)),
            (Reason::AddressDelay, Some(waiting.group_due)),
            (front.state.waits_for(), Some(waiting.due)),
        ];
        let waits = waits.into_iter().filter_map(|(reason, until)| Some((reason, until?)));
        match waits.max_by_key(|(_, until)| *until) {
            Some((reason, until)) if until > now => Some(Held::until(reason, until)),
            // Others of its address may come and go until then.
            _ if !is_found && waiting.first_from.is_none_or(|from| from > now) => Some(Reason::Address.into()),
            _ if !self.has_room() => Some(Reason::Busy.into()),
            _ => None,
        }
    }

    fn turn(&self, now: Timestamp, front: &Front) -> Turn {
        if let Some((url, _)) = front.truth_wanted() {
            return Turn::Truth(url.clone());
        }
        match self.peek_of(front, now) {
            Next::Held(Reason::SiteBudget) => match self.peek_kept_out(front) {
                Some((queued, Settled { outcome, reason, .. })) => {
                    Turn::Settle { url: queued.candidate.url.clone(), outcome, reason }
                }
                None => Turn::Nothing,
            },
            Next::Held(_) => Turn::Nothing,
            Next::Robots => Turn::Robots,
            Next::ReadRules => Turn::ReadRules,
            Next::JudgeAgain(queued) => Turn::JudgeAgain(queued.candidate.url),
            Next::Settle(queued, Settled { outcome, reason, .. }) => {
                Turn::Settle { url: queued.candidate.url, outcome, reason }
            }
            Next::Fetch(queued) => match self.kept_out(&queued.candidate) {
                Some(Settled { outcome, reason, .. }) => Turn::Settle { url: queued.candidate.url, outcome, reason },
                None => Turn::Fetch(queued.candidate.url),
            },
        }
    }
}
