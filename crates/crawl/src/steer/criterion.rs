//! Which URLs a change concerns. Most are told from their text alone: to parse ten million URLs takes longer than to read them.

use std::collections::HashSet;

use frontier::Filter;
use settings::options::Options;
use settings::plan::Plan;
use settings::site_name::SiteName;
use store::{CrawlView, Outline};
use weburl::{CanonicalUrl, SiteKey};

use super::tally::Affected;
use super::{Change, Removed, Retried};

/// What tells whether a change concerns a URL.
pub(super) enum Criterion {
    /// It concerns no URL that is known.
    None,
    /// Those of these sites.
    OfSites(HashSet<SiteKey>),
    /// Those that belong to the crawl by one filter only.
    Judged(Box<Judged>),
    /// Those that are visited again.
    Retried(Retried),
    /// Those that are taken out of the queue.
    Removed(Removed),
    /// All that wait.
    Waiting,
}

/// The filters before and after the change. They differ in their patterns, since the scope of a crawl cannot change.
pub(super) struct Judged {
    before: Filter,
    after: Filter,
}

impl Criterion {
    /// # Errors
    /// The change cannot be used, or the state cannot be read.
    pub(super) fn of(change: &Change, options: &Options, view: &dyn CrawlView) -> anyhow::Result<Self> {
        let before = Plan::new(options)?;
        let after = change.plan(&before.options)?.map(|plan| plan.settings.filter);
        let before = before.settings.filter;
        Ok(match change {
            Change::Seeds(_) => Criterion::None,
            Change::Hold(sites) | Change::Release(sites) => {
                Criterion::OfSites(sites.iter().flat_map(SiteName::keys).collect())
            }
            Change::DelayFor(delays) => Criterion::OfSites(delays.iter().flat_map(|delay| delay.site.keys()).collect()),
            Change::Retry(words) => Criterion::Retried(Retried::read(words)?),
            Change::Remove(words) => Criterion::Removed(Removed::read(words)?),
            Change::Exclude(_) | Change::Include(_) | Change::Set(_) | Change::Unset(_) => {
                let after = after.filter(|after| after.include != before.include || after.exclude != before.exclude);
                match after {
                    Some(after) => {
                        let seeds = view.seeds()?;
                        let with_seeds = |mut filter: Filter| {
                            for seed in &seeds {
                                filter.scope.add_seed(seed);
                            }
                            filter
                        };
                        let (before, after) = (with_seeds(before), with_seeds(after));
                        Criterion::Judged(Box::new(Judged { before, after }))
                    }
                    // The patterns are in force already.
                    None if matches!(change, Change::Exclude(_) | Change::Include(_)) => Criterion::None,
                    None => Criterion::Waiting,
                }
            }
            Change::Pause | Change::Resume | Change::Stop => Criterion::Waiting,
        })
    }

    /// What a URL counts as: nothing if the change does not concern it.
    pub(super) fn affected(&self, outline: &Outline) -> Affected {
        let waits = outline.outcome.is_none() || outline.again;
        let concerns = match self {
            Criterion::None => false,
            Criterion::OfSites(sites) => sites.contains(&outline.key.site),
            Criterion::Judged(judged) => judged.differs(&outline.url),
            Criterion::Retried(retried) => retried.names(&outline.url, outline.purpose, outline.outcome),
            Criterion::Removed(removed) => waits && removed.pattern_of(&outline.url).is_some(),
            Criterion::Waiting => waits,
        };
        match outline.outcome {
            _ if !concerns => Affected::default(),
            Some(_) if matches!(self, Criterion::Retried(_)) => Affected::AGAIN,
            _ if waits => Affected::QUEUED,
            None => Affected::default(),
            Some(outcome) if outcome.is_final() => Affected::FETCHED,
            Some(_) => Affected::default(),
        }
    }
}

impl Judged {
    fn differs(&self, url: &str) -> bool {
        let is_judged = |url: CanonicalUrl| self.before.judge(&url).is_ok() != self.after.judge(&url).is_ok();
        self.before.admits_text(url) != self.after.admits_text(url)
            && CanonicalUrl::from_canonical(url).is_some_and(is_judged)
    }
}
