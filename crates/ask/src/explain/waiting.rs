//! What a URL or a site waits for.

use std::time::Duration;

use engine::{OnAddress, Prospect, Settings, Turn};
use frontier::yields::{Group, groups_of};
use frontier::{Behind, DelayRule, Held, Reason, RobotsState, SiteState, UNREACHED_IN_A_ROW_MAX};
use model::{SiteRecord, Timestamp};
use serde::Serialize;
use weburl::{CanonicalUrl, Site};

use super::asked::{Asked, Run};

/// Why something waits, or what would become of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Why {
    /// Nothing that was read leads to the URL.
    Unfound,
    /// The crawl knows a similar URL.
    Similar {
        /// The URL.
        url: String,
    },
    /// Links of pages at this depth are not followed.
    DepthLimit {
        /// `--depth`.
        max: u32,
    },
    /// What would become of a URL that was not found.
    IfFound {
        /// The rules that would refuse it.
        refused_by: Vec<&'static str>,
    },
    /// No URL of the host is known.
    UnknownHost,
    /// What the scope says of the root of a site that is not known.
    Root {
        /// The URL.
        url: String,
        /// The rule that excludes it.
        excluded_by: Option<String>,
    },
    /// The URL is to be visited again in this round.
    Again,
    /// It was to be visited again in this round. Patterns exclude it by now, so it keeps its last visit.
    Kept {
        /// The pattern.
        excluded_by: String,
    },
    /// The next turn of its site is the URL's own.
    Next,
    /// Its place in the queue of its site.
    Queued {
        /// URLs before it.
        before: u64,
        /// There are more.
        at_least: bool,
    },
    /// It was requested, and that did not count.
    Tried {
        /// Requests so far.
        attempts: u8,
        /// Requests before a failure of its own is final. `null` if its site failed so often that it has had as many.
        max: Option<u8>,
        /// Of a page that is visited again: requests that must find it gone or moved before that counts. They are among those so far.
        vanished_max: Option<u8>,
        /// It comes behind the others of its site.
        is_behind: bool,
    },
    /// Its group seems to bring only more of itself: most of its URLs come last.
    LowYield {
        /// The group.
        group: String,
    },
    /// The site is given up: its URLs end without a request.
    GivenUp {
        /// Why.
        detail: String,
    },
    /// The site is in trouble.
    InTrouble {
        /// The last failure.
        detail: String,
        /// Which of its waits this is.
        round: u32,
        /// The wait after which it is given up.
        rounds: u32,
    },
    /// The site failed.
    Failures {
        /// So often in a row.
        in_a_row: u32,
        /// With so many it is put aside.
        max: u32,
        /// With so many, if it cannot be reached, or if all its URLs fail.
        unreached_max: u32,
    },
    /// What the scheduler waits for.
    Held {
        /// Why.
        reason: Reason,
        /// No request before this date. `null` if the wait ends with an event.
        until: Option<String>,
        /// The same from now on, in seconds.
        wait_s: Option<f64>,
    },
    /// The budgets of the crawl that are spent.
    Spent {
        /// Their keys.
        budgets: Vec<&'static str>,
    },
    /// Its turn begins with a request for robots.txt.
    RobotsFirst {
        /// The answer to the request before.
        answer: Option<String>,
    },
    /// Its turn ends it without a request.
    Ends {
        /// The outcome.
        outcome: &'static str,
        /// Why.
        reason: String,
    },
    /// The rate of visits.
    Pace {
        /// Seconds from one visit to the next.
        delay_s: f64,
        /// The rule that makes it that long.
        rule: DelayRule,
        /// URLs to visit.
        urls: u64,
        /// There are more.
        at_least: bool,
        /// Seconds that they take; less where some of them end without a request.
        takes_s: f64,
    },
    /// A crawl is running that cannot be asked about its sites.
    CannotBeAsked,
    /// No crawl is running.
    NotRunning,
    /// Several workers crawl, who cannot be asked here.
    OfWorkers,
    /// The crawl is by several workers, and none is there.
    NoWorker,
}

/// A site, as the scheduler sees it.
pub(super) struct SiteNow<'a> {
    pub(super) record: SiteRecord,
    /// The scheduler's state of the site by its record, with nothing of its queue.
    pub(super) state: SiteState,
    /// `None` if a crawl is running that cannot be asked.
    pub(super) prospect: Option<Prospect>,
    pub(super) settings: &'a Settings,
    /// The budgets of the crawl that workers have spent.
    spent: Vec<&'static str>,
    run: Run<'a>,
    now: Timestamp,
}

impl<'a> SiteNow<'a> {
    /// A site by its record; one without a record has not had a turn yet.
    ///
    /// # Errors
    /// The state cannot be read, or the running crawl cannot be asked.
    pub(super) fn new(asked: &'a Asked<'a>, site: &Site, record: Option<SiteRecord>) -> anyhow::Result<Self> {
        let record = record.unwrap_or_else(|| SiteRecord::new(site.clone()));
        let mut state = SiteState::new(record.clone());
        if asked.settings.site_rules.matching.is_some() {
            state.set_robots(engine::robots_state(record.robots.as_ref(), &asked.settings));
        }
        let prospect = asked.prospect(site)?;
        let Asked { settings, run, now, .. } = asked;
        let is_spent = prospect.as_ref().and_then(|prospect| prospect.held).map(|held| held.reason);
        let spent = match (run, is_spent) {
            (Run::Workers(_), Some(Reason::CrawlBudget)) => settings.budgets_spent(&asked.spent()?).collect(),
            _ => Vec::new(),
        };
        Ok(SiteNow { record, state, prospect, settings, spent, run: *run, now: *now })
    }

    /// The delay between visits, and the rule that decides it.
    pub(super) fn delay(&self) -> (Duration, DelayRule) {
        self.state.delay_by(&self.settings.site_rules.politeness)
    }

    /// The time from one visit to the next, and the rule that decides it: other sites on its address may leave it less than its delay does.
    fn pace(&self) -> (Duration, DelayRule) {
        match self.prospect.as_ref().and_then(|prospect| prospect.on_address) {
            Some(OnAddress { sites, interval }) => (interval, DelayRule::IpDelay { sites }),
            None => self.pace_alone(),
        }
    }

    /// The same without other sites: a crawl that does not run knows of none that has a turn.
    fn pace_alone(&self) -> (Duration, DelayRule) {
        let (own, rule) = self.delay();
        let politeness = &self.settings.site_rules.politeness;
        match self.record.address.filter(|_| politeness.ip_delay > own) {
            Some(_) => (politeness.ip_delay, DelayRule::IpDelay { sites: 1 }),
            None => (own, rule),
        }
    }

    /// The URL whose turn is the next of the site, as far as the scheduler knows it.
    pub(super) fn next_url(&self) -> Option<&CanonicalUrl> {
        match self.prospect.as_ref()?.turn.as_ref()? {
            Turn::Fetch(url) | Turn::JudgeAgain(url) | Turn::Settle { url, .. } => Some(url),
            Turn::Nothing | Turn::Robots | Turn::ReadRules | Turn::Truth(_) => None,
        }
    }

    /// The URLs in its queue that come behind the others.
    pub(super) fn behind(&self) -> Behind {
        self.prospect.as_ref().map(|prospect| prospect.behind.clone()).unwrap_or_default()
    }

    /// Why the site is slow or stopped, with this many URLs left to visit, or at least so many.
    pub(super) fn why(&self, urls: u64, at_least: bool) -> Vec<Why> {
        if let Some(failure) = &self.record.given_up {
            return vec![Why::GivenUp { detail: failure.detail.clone() }];
        }
        let mut why: Vec<Why> = self.failures().into_iter().collect();
        let held = self.prospect.as_ref().and_then(|prospect| prospect.held);
        match held {
            // The store may have more than the run knows of.
            Some(Held { reason: Reason::Nothing, .. }) if urls == 0 => return vec![self.held(Reason::Nothing.into())],
            Some(held) => why.push(self.held(held)),
            None => {}
        }
        if !self.spent.is_empty() {
            why.push(Why::Spent { budgets: self.spent.clone() });
        }
        if held.is_some_and(|held| lasts(held.reason)) {
            return why;
        }
        let turn = self.prospect.as_ref().and_then(|prospect| prospect.turn.as_ref());
        if let Some(Turn::Robots) = turn {
            let failed = self.record.robots.as_ref().filter(|robots| robots.failed_tries > 0);
            why.push(Why::RobotsFirst { answer: failed.map(|robots| robots.answer.to_string()) });
        }
        let (wait, rule) = self.pace();
        if !wait.is_zero() && urls > 0 {
            let takes = wait.saturating_mul(u32::try_from(urls).unwrap_or(u32::MAX));
            why.push(Why::Pace { delay_s: wait.as_secs_f64(), rule, urls, at_least, takes_s: takes.as_secs_f64() });
        }
        why.extend(match (self.run, &self.prospect) {
            (Run::Nobody, _) => Some(Why::NotRunning),
            (Run::Workers(None), _) => Some(Why::OfWorkers),
            (Run::Workers(Some(0)), _) => Some(Why::NoWorker),
            (Run::Live(_), None) => Some(Why::CannotBeAsked),
            (Run::Workers(Some(_)), _) | (Run::Live(_), Some(_)) => None,
        });
        why
    }

    fn held(&self, Held { reason, until }: Held) -> Why {
        Why::Held {
            reason,
            until: until.map(Timestamp::to_rfc3339),
            wait_s: until.map(|until| until.since(self.now).as_secs_f64()),
        }
    }

    fn failures(&self) -> Option<Why> {
        let politeness = &self.settings.site_rules.politeness;
        match (&self.record.aside, self.record.failures_in_a_row) {
            (Some(aside), _) => Some(Why::InTrouble {
                detail: aside.reason.detail.clone(),
                round: aside.round,
                rounds: politeness.rounds_before_giving_up(),
            }),
            (None, 0) => None,
            (None, in_a_row) => {
                let max = politeness.failures_in_a_row_max;
                Some(Why::Failures { in_a_row, max, unreached_max: UNREACHED_IN_A_ROW_MAX.min(max) })
            }
        }
    }

    /// What the turn of a URL brings, if it is not a request.
    pub(super) fn end_of(&self, url: &CanonicalUrl) -> Option<Why> {
        match self.prospect.as_ref()?.turn.as_ref()? {
            Turn::Settle { url: next, outcome, reason } if next == url => {
                Some(Why::Ends { outcome: outcome.as_str(), reason: reason.clone() })
            }
            _ => None,
        }
    }

    /// The group of a URL that seems to bring only more of itself.
    pub(super) fn low_group(&self, url: &CanonicalUrl) -> Option<Why> {
        let low = |group: &Group<'_>| self.state.is_low_group(group.key());
        let is_on = self.settings.site_rules.traps.low_yield_pages_max > 0;
        let group = groups_of(url).filter(|_| is_on).find(low)?;
        Some(Why::LowYield { group: group.to_string() })
    }

    /// What came of asking for robots.txt, in words.
    pub(super) fn robots_answer(&self) -> Option<String> {
        self.record.robots.as_ref().map(|robots| robots.answer.to_string())
    }

    /// What is known of its robots.txt.
    pub(super) fn robots(&self) -> &RobotsState {
        self.state.robots()
    }
}

/// True if only somebody's decision ends the wait.
fn lasts(reason: Reason) -> bool {
    matches!(reason, Reason::Hold | Reason::SiteBudget | Reason::Elsewhere | Reason::Paused)
}
