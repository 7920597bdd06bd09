//! `--retry`: URLs that ended in failures or refusals are in the frontier again before the crawl goes on; and the seeds of a crawl that has
//! fetched nothing.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use anyhow::Context;
use dataset::schema::Table;
use dataset::{Layout, UNRECORDED};
use engine::clock::Clock;
use engine::{Settings, robots_state};
use frontier::{Filter, RobotsState};
use model::{Outcome, Purpose, RobotsRecord, SiteRecord, Timestamp};
use store::{Batch, Entry, Store};
use weburl::{CanonicalUrl, SiteKey};

use crate::{CrawlDir, Notice};
use settings::plan::Plan;

/// URLs looked at, and at most reopened, in one commit.
const ENTRIES_AT_ONCE: usize = 2_048;

/// An outcome as the user names it.
///
/// # Errors
/// No outcome of this name may be reopened; the message lists those that may.
pub fn outcome(text: &str) -> Result<Outcome, String> {
    let may_be: Vec<Outcome> = Outcome::ALL.iter().copied().filter(|outcome| !outcome.is_final()).collect();
    may_be.iter().copied().find(|outcome| outcome.as_str() == text).ok_or_else(|| {
        let words: Vec<&str> = may_be.iter().map(|outcome| outcome.as_str()).collect();
        let what = match Outcome::ALL.iter().any(|outcome| outcome.as_str() == text) {
            true => "was fetched, and stays",
            false => "is no outcome",
        };
        format!("{text} {what}; possible are {}", words.join(", "))
    })
}

/// The URLs that are in the frontier again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reopened {
    urls: u64,
    sites: u64,
}

impl Reopened {
    /// The notice about it.
    #[must_use]
    pub fn notice(self) -> Notice {
        Notice::Reopened { urls: self.urls, sites: self.sites }
    }
}

/// What is reopened, and by which rules.
pub struct Retry<'a> {
    /// The state, which no other process changes meanwhile.
    pub store: &'a dyn Store,
    /// The dataset.
    pub layout: Layout,
    /// The rules of the crawl, and the date.
    pub forgiveness: Forgiveness<'a>,
    /// With all seeds.
    pub filter: Filter,
    /// URLs with these outcomes are reopened.
    pub outcomes: BTreeSet<Outcome>,
    /// Only these URLs, if not all.
    pub only: Option<&'a HashSet<CanonicalUrl>>,
}

/// What of a site is requested again, besides its pages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// So many sitemaps.
    pub(crate) sitemaps: u32,
    /// Its robots.txt: it may allow by now what it did not.
    pub(crate) robots: bool,
}

/// How a site in trouble gets another chance.
#[derive(Clone, Copy, Debug)]
pub struct Forgiveness<'a> {
    pub(crate) settings: &'a Settings,
    /// The date.
    pub(crate) now: Timestamp,
}

impl<'a> Retry<'a> {
    /// Of this crawl, now, by the rules of this plan; nothing yet.
    #[must_use]
    pub fn new(dir: &CrawlDir, store: &'a dyn Store, plan: &'a Plan) -> Self {
        Retry {
            store,
            layout: Layout::at(dir.dataset()),
            forgiveness: Forgiveness::now(&plan.settings),
            filter: plan.settings.filter.clone(),
            outcomes: BTreeSet::new(),
            only: None,
        }
    }

    /// Of the URLs with these outcomes, by the rules of this plan with these further seeds.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of_outcomes(
        dir: &CrawlDir,
        store: &'a dyn Store,
        plan: &'a Plan,
        seeds: &[CanonicalUrl],
        outcomes: Vec<Outcome>,
    ) -> anyhow::Result<Self> {
        let mut retry = Retry { outcomes: outcomes.into_iter().collect(), ..Retry::new(dir, store, plan) };
        for seed in store.seeds()?.iter().chain(seeds) {
            retry.filter.scope.add_seed(seed);
        }
        Ok(retry)
    }

    /// Puts the URLs back into the frontier, a part of the state in each commit: a run after a kill finds the rest. The sites are tried again,
    /// whatever their failures.
    ///
    /// # Errors
    /// The state or the dataset cannot be read or written.
    pub fn run(&self) -> anyhow::Result<Reopened> {
        let names: BTreeMap<u32, String> =
            self.store.segments()?.into_iter().map(|segment| (segment.serial, segment.name)).collect();
        let before = self.store.totals()?.pending;
        let (mut sites, mut last_site, mut after) = (0, None, None);
        let mut removed = HashSet::new();
        loop {
            let entries = self.store.scan(after, ENTRIES_AT_ONCE)?;
            let Some(last) = entries.last() else { break };
            after = Some(last.candidate.url.key());
            let chosen: Vec<&Entry> = entries.iter().filter(|entry| self.is_chosen(entry)).collect();
            if chosen.is_empty() {
                continue;
            }
            let segments = chosen.iter().filter_map(|entry| entry.visit.as_ref()?.location);
            let segments = segments.filter_map(|location| names.get(&location.segment)).map(String::as_str);
            for name in segments.chain([UNRECORDED]) {
                if removed.insert(name.to_owned()) {
                    self.remove_rows(name)?;
                }
            }
            let mut by_site: BTreeMap<SiteKey, Wanted> = BTreeMap::new();
            for entry in &chosen {
                let wanted = by_site.entry(entry.candidate.url.key().site).or_default();
                wanted.sitemaps += u32::from(entry.candidate.purpose == Purpose::Sitemap);
                wanted.robots |= entry.visit.as_ref().is_some_and(|visit| visit.outcome == Outcome::Disallowed);
            }
            sites += by_site.keys().filter(|site| last_site != Some(**site)).count() as u64;
            last_site = by_site.last_key_value().map(|(site, _)| *site);
            let mut batch =
                Batch { reopened: chosen.iter().map(|entry| entry.candidate.url.key()).collect(), ..Batch::default() };
            for (site, wanted) in by_site {
                let record = self.store.site(site)?;
                batch.sites.extend(record.and_then(|record| self.forgiveness.forgiven(record, wanted)));
            }
            self.store.commit(&batch)?;
        }
        Ok(Reopened { urls: self.store.totals()?.pending.saturating_sub(before), sites })
    }

    /// Whether there is any such URL.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn is_due(&self) -> anyhow::Result<bool> {
        let mut after = None;
        loop {
            let entries =
                if self.outcomes.is_empty() { Vec::new() } else { self.store.scan(after, ENTRIES_AT_ONCE)? };
            let Some(last) = entries.last() else { return Ok(false) };
            after = Some(last.candidate.url.key());
            if entries.iter().any(|entry| self.is_chosen(entry)) {
                return Ok(true);
            }
        }
    }

    fn is_chosen(&self, entry: &Entry) -> bool {
        let Some(visit) = &entry.visit else { return false };
        let url = &entry.candidate.url;
        let is_admitted = match visit.outcome {
            // They were judged when they were found, and would not be judged so again.
            outcome if outcome.is_refused() && outcome != Outcome::Disallowed => self.admits(url),
            _ => true,
        };
        // What is in the state for the sake of a robots.txt is no page.
        self.outcomes.contains(&visit.outcome)
            && entry.candidate.purpose != Purpose::Robots
            && is_admitted
            && self.only.is_none_or(|only| only.contains(url))
    }

    fn admits(&self, url: &CanonicalUrl) -> bool {
        self.filter.judge(url).is_ok() && self.forgiveness.settings.site_rules.traps.broken_by(url).is_none()
    }

    /// Removes the files of the dataset with rows that become wrong, before the state changes: they are derived again from the
    /// archive, which keeps the records.
    fn remove_rows(&self, segment: &str) -> anyhow::Result<()> {
        // Without this one the others do not count.
        let path = self.layout.file(Table::Pages, segment);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| path.display().to_string())
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Forgiveness<'a> {
    /// By these rules, from now on.
    #[must_use]
    pub fn now(settings: &'a Settings) -> Self {
        Forgiveness { settings, now: Clock::start().date() }
    }

    /// The record of a site without its failures; `None` if it has none and nothing is requested again besides pages.
    pub(crate) fn forgiven(&self, record: SiteRecord, wanted: Wanted) -> Option<SiteRecord> {
        let sitemaps = wanted.sitemaps;
        let robots = record.robots.clone().and_then(|robots| self.robots_forgiven(robots, wanted));
        let latest = self.now + self.delay_of(&record);
        let was_left = record.aside.is_some() || record.given_up.is_some();
        // Else it has asked for the wait itself, or backs off, which does not take long.
        let due_at = if was_left { record.due_at.min(latest) } else { record.due_at };
        let failures_in_a_row = record.failures_in_a_row.min(u32::from(due_at > latest));
        let has_changed = was_left || failures_in_a_row != record.failures_in_a_row || robots.is_some() || sitemaps > 0;
        let sitemaps_read = record.sitemaps_read.saturating_sub(sitemaps);
        let (aside, given_up, shapes) = (None, None, Vec::new());
        let forgiven =
            SiteRecord { due_at, failures_in_a_row, robots, sitemaps_read, aside, given_up, shapes, ..record };
        has_changed.then_some(forgiven)
    }

    /// A robots.txt that failed, or is wanted again, from now on: it is requested before anything else.
    fn robots_forgiven(&self, robots: RobotsRecord, wanted: Wanted) -> Option<RobotsRecord> {
        // One that holds is kept otherwise; with --robots-once that is any, since there is no second request.
        let holds = matches!(robots_state(Some(&robots), self.settings), RobotsState::Known { .. });
        let is_wanted = wanted.robots && !self.settings.robots_once;
        (!holds || is_wanted).then(|| RobotsRecord { fetched_at: Timestamp::default(), failed_tries: 0, ..robots })
    }

    /// The wait after a visit, by the record of the site.
    fn delay_of(&self, record: &SiteRecord) -> Duration {
        let crawl_delay = match robots_state(record.robots.as_ref(), self.settings) {
            RobotsState::Known { rules, .. } => rules.crawl_delay(),
            RobotsState::Unknown | RobotsState::InFlight { .. } | RobotsState::Stored { .. } => None,
        };
        self.settings.site_rules.politeness.delay_after(record.site.key(), crawl_delay, record.response_time).0
    }
}
