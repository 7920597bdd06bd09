//! What the crawler says of its sites is what it does next. It is asked before a step, and before a run begins.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{Command, Event, Prospect, Turn};
use frontier::{Held, Reason};
use model::{Purpose, Queued, Timestamp};
use store::CrawlView as _;
use weburl::{Site, SiteKey};

use super::Process;
use crate::oracle::Check;
use crate::scenario::Sabotage;

/// One step in so many is looked at: every site is asked for.
const LOOKED_AT_ONE_IN: u64 = 16;
/// A robots.txt is used for so long, at most (RFC 9309 §2.4).
const ROBOTS_HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

/// What was said before.
#[derive(Default)]
pub(super) struct Said {
    sites: Vec<SiteKey>,
    /// When the crawler was asked last for each step: at the end of the step before.
    stepped_at: Timestamp,
    /// When the run began.
    began_at: Timestamp,
    /// What was said before the run began, of sites that have not had a turn in it.
    before_run: BTreeMap<SiteKey, Prospect>,
}

/// The predictions for the sites before a step.
pub(super) struct BeforeStep {
    /// By the time of the step before.
    held: BTreeMap<SiteKey, Option<Held>>,
    /// By the time of this step: a name or a robots.txt may have expired.
    now: BTreeMap<SiteKey, Prospect>,
    is_wake: bool,
}

impl Process<'_> {
    /// Asks what a run would do that goes on now.
    pub(super) fn ask_before_run(&mut self, resumed: bool) {
        if !self.world.scenario.explains {
            return;
        }
        let sites = self.world.scenario.web.sites.keys();
        self.said.sites = sites.filter_map(|site| Site::from_text(site)).map(|site| site.key()).collect();
        let now = self.clocks().0;
        (self.said.stepped_at, self.said.began_at) = (now, now);
        let asks = resumed && self.world.scenario.troubles.hand_overs == 0;
        for site in self.said.sites.iter().filter(|_| asks) {
            match engine::State::resumed(self.settings.clone(), &*self.store, *site, now) {
                Ok(state) => drop(self.said.before_run.insert(*site, state.prospect(now, *site))),
                Err(error) => self.world.oracle.complain(Check::Explained, self.world.now, error.to_string()),
            }
        }
    }

    /// Asks before a step.
    pub(super) fn ask_before_step(&mut self, event: &Event) -> Option<BeforeStep> {
        self.forget_what_changed(event);
        let is_looked_at = self.world.scenario.explains && self.world.steps.is_multiple_of(LOOKED_AT_ONE_IN);
        let about = sites_of(event).filter(|_| is_looked_at)?;
        let now = self.clocks().0;
        let others = || self.said.sites.iter().copied().filter(|site| !about.contains(site));
        let held = others().map(|site| (site, self.held_as_told(self.said.stepped_at, site)));
        let held = held.collect();
        let now: BTreeMap<_, _> = others().map(|site| (site, self.state.prospect(now, site))).collect();
        let wrong: Vec<String> = now.values().filter_map(|said| self.comes_though_behind(said)).collect();
        for wrong in wrong {
            self.world.oracle.complain(Check::Explained, self.world.now, wrong);
        }
        Some(BeforeStep { held, now, is_wake: matches!(event, Event::Wake) })
    }

    /// What is next comes behind no other URL.
    fn comes_though_behind(&self, said: &Prospect) -> Option<String> {
        let Some(Turn::Fetch(url) | Turn::Settle { url, .. }) = &said.turn else { return None };
        let entry = self.store.get(url.key()).ok()??;
        let queued = Queued { attempts: entry.attempts, ..Queued::first(entry.candidate) };
        said.behind.has(&queued).then(|| format!("{url} is next and comes behind others: {said:?}"))
    }

    fn held_as_told(&self, now: Timestamp, site: SiteKey) -> Option<Held> {
        let held = self.state.prospect(now, site).held;
        let forgets = self.world.scenario.sabotage == Some(Sabotage::ForgetAddresses);
        held.filter(|held| !forgets || !matches!(held.reason, Reason::Address | Reason::AddressDelay))
    }

    /// URLs that a commit brings may come before those that were named.
    fn forget_what_changed(&mut self, event: &Event) {
        match event {
            Event::Committed { .. } => {
                let about = sites_of(event).unwrap_or_default();
                let is_idle = |said: &Prospect| said.held.is_some_and(|held| held.reason == Reason::Nothing);
                self.said.before_run.retain(|site, said| !about.contains(site) || !is_idle(said));
                for (_, said) in self.said.before_run.iter_mut().filter(|(site, _)| about.contains(site)) {
                    said.turn = None;
                }
            }
            // Whoever changes the rules changes what comes of them.
            Event::SettingsChanged(_) => self.said.before_run.clear(),
            _ => {}
        }
    }

    /// Compares what was said with what the step does.
    pub(super) fn check_what_was_said(&mut self, before: Option<BeforeStep>, commands: &[Command]) {
        let now = self.clocks().0;
        self.said.stepped_at = now;
        for command in commands {
            if let Some(wrong) = self.wrong_before_run(now, command) {
                self.world.oracle.complain(Check::Explained, self.world.now, wrong);
            }
        }
        let Some(before) = before else { return };
        let mut wrong: Vec<String> = Vec::new();
        let mut begun = BTreeSet::new();
        for command in commands {
            let Some((site, done)) = done_by(command) else { continue };
            if begun.insert(site) {
                wrong.extend(before.wrong(now, site, &done));
            }
        }
        // Who is not held up has had a turn.
        for site in self.said.sites.iter().filter(|_| before.is_wake) {
            if self.held_as_told(now, *site).is_none() {
                wrong.push(format!("nothing holds site {site} up, and nothing comes of it"));
            }
        }
        for wrong in wrong {
            self.world.oracle.complain(Check::Explained, self.world.now, wrong);
        }
    }

    fn wrong_before_run(&mut self, now: Timestamp, command: &Command) -> Option<String> {
        let (site, done) = done_by(command)?;
        let said = self.said.before_run.get(&site)?;
        let is_look_up = done == Done::Name && said.held.is_some_and(|held| held.reason == Reason::SiteBudget);
        if let Some(wrong) = too_early(said.held, now).filter(|_| !is_look_up) {
            return Some(format!("site {site}: {done:?} {wrong}, as was said before the run"));
        }
        if done == Done::Name {
            return None;
        }
        let said = self.said.before_run.remove(&site)?;
        // Every robots.txt from before the run has expired by then.
        if done == Done::Robots && now.since(self.said.began_at) >= ROBOTS_HOLDS {
            return None;
        }
        is_another(said.turn.as_ref(), &done).then(|| format!("site {site}: {done:?}, and before the run: {said:?}"))
    }
}

impl BeforeStep {
    /// What was wrong about a site for which something is done.
    fn wrong(&self, now: Timestamp, site: SiteKey, done: &Done) -> Option<String> {
        let held = *self.held.get(&site)?;
        if held.is_some_and(|held| !self.is_wake && ends_with_events(held.reason)) {
            return None;
        }
        // A step goes on with what the one before could not begin at once, and with the next site of an address.
        let strictly = held.filter(|held| !matches!(held.reason, Reason::Busy | Reason::Address));
        let strictly = strictly.filter(|held| held.reason != Reason::SiteBudget || *done != Done::Name);
        if let Some(wrong) = too_early(strictly, now) {
            return Some(format!("site {site}: {done:?} {wrong}"));
        }
        let Prospect { wants_name, turn, .. } = self.now.get(&site)?;
        let is_another = match done {
            Done::Name => !wants_name,
            done => *wants_name || is_another(turn.as_ref(), done),
        };
        is_another.then(|| format!("site {site}: {done:?} in place of {turn:?}, after its name {wants_name}"))
    }
}

/// What a step does for a site. Its name may be looked up before it is seen that its budget is spent: that is no request to the site.
#[derive(Debug, PartialEq, Eq)]
enum Done {
    Name,
    Robots,
    Fetch(String),
    /// A URL ends without a request.
    Settle(u64),
}

fn done_by(command: &Command) -> Option<(SiteKey, Done)> {
    match command {
        Command::Resolve { site, .. } => Some((site.key(), Done::Name)),
        Command::Fetch(task) if task.purpose == Purpose::Robots => Some((task.url.key().site, Done::Robots)),
        Command::Fetch(task) => Some((task.url.key().site, Done::Fetch(task.url.to_string()))),
        Command::Record(record) => {
            let settled = record.visit.as_ref().filter(|_| record.exchanges.is_empty() && record.ends.is_some())?;
            Some((record.site, Done::Settle(settled.key.url)))
        }
        _ => None,
    }
}

/// True where something else was said to come.
fn is_another(turn: Option<&Turn>, done: &Done) -> bool {
    match (turn, done) {
        (Some(Turn::Fetch(url) | Turn::Truth(url)), Done::Fetch(fetched)) => url.as_str() != fetched,
        (Some(Turn::Settle { url, .. }), Done::Settle(settled)) => url.key().url != *settled,
        (Some(Turn::Robots), Done::Robots) => false,
        // The next URL is not known before; nor what comes of rules that are read.
        (Some(Turn::JudgeAgain(_) | Turn::ReadRules) | None, _) => false,
        // A robots.txt that is known from another site is not requested.
        (Some(Turn::Robots), Done::Settle(_) | Done::Fetch(_)) => false,
        (Some(_), _) => true,
    }
}

fn too_early(held: Option<Held>, now: Timestamp) -> Option<String> {
    let held = held?;
    held.until.is_none_or(|until| until > now).then(|| format!("though held up by {held:?}, at {now}"))
}

/// True if another event than its time may end such a wait.
fn ends_with_events(reason: Reason) -> bool {
    match reason {
        Reason::Place | Reason::CrawlBudget | Reason::Address | Reason::Network | Reason::Robots | Reason::Share => {
            true
        }
        Reason::Nothing
        | Reason::Hold
        | Reason::Elsewhere
        | Reason::SiteBudget
        | Reason::End
        | Reason::Paused
        | Reason::Aside
        | Reason::BackOff
        | Reason::Vanished
        | Reason::Delay
        | Reason::AddressDelay
        | Reason::Rate
        | Reason::Name
        | Reason::UnderWay
        | Reason::Busy
        | Reason::Reader => false,
    }
}

/// The sites that an event is about; `None` if it may be about all.
fn sites_of(event: &Event) -> Option<BTreeSet<SiteKey>> {
    match event {
        Event::Wake => Some(BTreeSet::new()),
        Event::Loaded { site, .. }
        | Event::Resolved { site, .. }
        | Event::Elsewhere { site, .. }
        | Event::RulesFound { site, .. }
        | Event::RulesRead { site, .. } => Some(BTreeSet::from([*site])),
        Event::Fetched(fetch) => Some(BTreeSet::from([fetch.outcome.url.key().site])),
        Event::RobotsRead { url, .. } | Event::TargetResolved { url, .. } | Event::TargetElsewhere(url) => {
            Some(BTreeSet::from([url.site]))
        }
        Event::Committed { records, committed } => {
            let fresh = committed.fresh.iter().map(|candidate| candidate.url.key().site);
            let relaxed = committed.relaxed.iter().map(|relaxed| relaxed.key.site);
            Some(records.iter().map(|(site, _)| *site).chain(fresh).chain(relaxed).collect())
        }
        Event::SitesChanged { sites, .. } | Event::SitesWaiting(sites) | Event::Release(sites) => {
            Some(sites.iter().copied().collect())
        }
        Event::Begin { .. }
        | Event::SitesFound { .. }
        | Event::SeedsAdded(_)
        | Event::RoundBegan(_)
        | Event::SpentElsewhere(_)
        | Event::SettingsChanged(_)
        | Event::NewSeeds(_)
        | Event::NotAsked(_)
        | Event::Lost { .. }
        | Event::Stop => None,
    }
}
