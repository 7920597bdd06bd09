//! What is asked why a URL or a site waits: the state of a crawl with its settings, its changes and its scheduler.

use crawl::steer::Retried;
use crawl::{Change, Changed, LiveView};
use engine::clock::Clock;
use engine::{Prospect, Settings, Spent, State};
use model::Timestamp;
use store::{CrawlView, StoreError};
use weburl::{CanonicalUrl, Pattern, Site};

use crate::urls::LOOKED_AT_MAX;

/// Changes from outside that an explanation of a site or URL lists.
const CHANGES_TOLD_MAX: usize = 10;

/// How much of a large site an explanation looks at. What is beyond is not counted, and the explanation says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// URLs of a site whose outcomes are counted.
    pub(super) urls_max: usize,
    /// How far into a site's queue a URL's place is looked for, in URLs.
    pub(super) queued_max: usize,
    /// Records of sites among which those of a host at unusual ports are looked for.
    pub(super) sites_max: usize,
}

impl Looks {
    pub(super) const LONG: Self = Looks { urls_max: 200_000, queued_max: 100_000, sites_max: usize::MAX };
    pub(super) const SHORT: Self =
        Looks { urls_max: LOOKED_AT_MAX, queued_max: LOOKED_AT_MAX, sites_max: LOOKED_AT_MAX };
}

/// Who crawls.
#[derive(Clone, Copy)]
pub(super) enum Run<'a> {
    /// A process that answers.
    Live(&'a LiveView),
    /// Nobody now.
    Nobody,
    /// Several workers, of which so many are alive; `None` if that is not known.
    Workers(Option<u64>),
}

/// A crawl that is asked.
pub struct Asked<'a> {
    pub(super) view: &'a dyn CrawlView,
    pub(super) settings: Settings,
    pub(super) run: Run<'a>,
    pub(super) now: Timestamp,
    pub(super) looks: Looks,
    /// What was changed from outside, the oldest first.
    changes: Vec<Changed>,
    /// The seeds that count, where not all are read.
    seeds: Option<Vec<CanonicalUrl>>,
    /// What workers have spent of the budgets of the crawl, where that is counted already.
    spent: Option<Spent>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(view: &'a dyn CrawlView, settings: Settings, run: Run<'a>, changes: Vec<Changed>) -> Self {
        Asked { view, settings, run, now: Clock::start().date(), looks: Looks::LONG, changes, seeds: None, spent: None }
    }

    /// A crawl by workers, of which so many are alive, as its server sees it. What workers know and do not commit is not in it: requests under
    /// way, and visits to an address. Of the seeds those count that are given. It looks at no more than [`LOOKED_AT_MAX`] URLs of a queue.
    #[must_use]
    pub fn of_workers(
        view: &'a dyn CrawlView,
        settings: Settings,
        alive: u64,
        changes: Vec<Changed>,
        seeds: Vec<CanonicalUrl>,
        spent: Spent,
    ) -> Self {
        let asked = Asked::new(view, settings, Run::Workers(Some(alive)), changes);
        Asked { looks: Looks::SHORT, seeds: Some(seeds), spent: Some(spent), ..asked }
    }

    /// What the scheduler of the run says of a site; or that of a run which would go on now. `None` if a crawl is running that cannot be asked.
    pub(super) fn prospect(&self, site: &Site) -> anyhow::Result<Option<Prospect>> {
        let (settings, view, key) = (self.settings.clone(), self.view, site.key());
        let state = match self.run {
            Run::Live(live) => return live.prospect(key),
            Run::Nobody => State::resumed(settings, view, key, self.now)?,
            Run::Workers(_) => State::shared(settings, view, (self.seeds()?, self.spent()?), (key, self.now))?,
        };
        Ok(Some(state.prospect(self.now, key)))
    }

    /// What workers have spent of the budgets of the crawl.
    fn spent(&self) -> Result<Spent, StoreError> {
        if let Some(spent) = self.spent {
            return Ok(spent);
        }
        if !self.settings.has_budget() {
            return Ok(Spent::default());
        }
        let totals = self.view.totals()?;
        let began_at = if totals.round.number > 1 { totals.round.began_at } else { self.now };
        Ok(Spent {
            round: totals.round.number,
            pages: totals.pages_in_round(),
            bytes: totals.bytes_of_round,
            lasts: self.now.since(began_at),
        })
    }

    /// The seeds that count.
    pub(super) fn seeds(&self) -> Result<Vec<CanonicalUrl>, StoreError> {
        self.seeds.clone().map_or_else(|| self.view.seeds(), Ok)
    }

    /// The same as [`Asked::changes_of`], each in words with its date.
    pub(super) fn dated_changes_of(&self, site: &Site, url: Option<&CanonicalUrl>) -> Vec<String> {
        let changes = self.changes_of(site, url).into_iter();
        changes.map(|Changed { at, change, .. }| format!("{change}, {at}")).collect()
    }

    /// The last changes from outside that concern a site, or a URL of it.
    #[must_use]
    pub fn changes_of(&self, site: &Site, url: Option<&CanonicalUrl>) -> Vec<&Changed> {
        let matches = |patterns: &[String]| {
            let patterns = patterns.iter().filter_map(|pattern| Pattern::new(pattern).ok());
            url.is_none_or(|url| patterns.into_iter().any(|pattern| pattern.matches(url.as_str())))
        };
        let concerns = |changed: &&Changed| match &changed.change {
            Change::Exclude(patterns) | Change::Include(patterns) | Change::Remove(patterns) => matches(patterns),
            Change::Retry(words) => {
                Retried::read(words).is_ok_and(|retried| url.is_none_or(|url| retried.matches(url.as_str())))
            }
            Change::Hold(sites) | Change::Release(sites) => sites.iter().any(|named| named.names(site)),
            Change::DelayFor(delays) => delays.iter().any(|delay| delay.site.names(site)),
            Change::Seeds(seeds) => url.is_some_and(|url| seeds.iter().any(|seed| seed == url.as_str())),
            Change::Pause | Change::Resume | Change::Stop | Change::Set(_) | Change::Unset(_) => true,
        };
        let mut last: Vec<&Changed> = self.changes.iter().rev().filter(concerns).take(CHANGES_TOLD_MAX).collect();
        last.reverse();
        last
    }
}
