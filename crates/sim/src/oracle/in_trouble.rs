//! Sites in trouble: does the crawler remember them, wait for them, and ask little while nobody can be reached?

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Aside, Outcome, Timestamp};
use store::{Batch, Store};
use weburl::SiteKey;

use super::{Check, Findings, RequestEnd};
use crate::outage::Kind;
use crate::time::TrueTime;
use crate::{Scenario, Served};

/// How often a site is asked, or its name, in one outage of the crawler's own network, at most: till it is in trouble, and when it was
/// left alone for long enough. Restarts come on top, but a site in trouble stays so.
const ASKED_PER_SITE_MAX: u32 = 12;

/// Probes in an outage of the crawler's own network, at most: 1, 2, 5, 10, 30 s, and every minute of the longest one.
const PROBES_MAX: u32 = 36;

/// How long before its patience ends a run may end: a site that has just failed is not asked again for a minute, or for the longest
/// Crawl-delay while its robots.txt is not read.
const LAST_MOMENTS: Duration = Duration::from_secs(330);

/// Longer than any server asks to be left alone.
const LONG: Duration = Duration::from_secs(2 * 24 * 3_600);

pub(super) struct Judge {
    /// The outages of the crawler's own network, and what was asked in each.
    cut_off: Vec<(TrueTime, TrueTime, u32)>,
    asked_max: u32,
    /// What the store has acknowledged of sites in trouble.
    asides: BTreeMap<SiteKey, Option<Aside>>,
    /// A page was had: the crawler waits as long as its patience lasts.
    has_pages: bool,
    patience: Duration,
    /// When the run began, or an answer came last.
    answered_at: TrueTime,
    /// Some site asked to be left alone: a run does not wait for it that ends before.
    is_asked_to_wait: bool,
}

impl Judge {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let own = scenario.outages.iter().filter(|outage| matches!(outage.kind, Kind::OwnNetwork { .. }));
        let sites = u32::try_from(scenario.web.sites.len()).unwrap_or(u32::MAX);
        Judge {
            cut_off: own.map(|outage| (outage.from, outage.until, 0)).collect(),
            asked_max: PROBES_MAX + ASKED_PER_SITE_MAX.saturating_mul(sites),
            asides: BTreeMap::new(),
            has_pages: false,
            patience: scenario.wishes.patience,
            answered_at: TrueTime::default(),
            is_asked_to_wait: false,
        }
    }

    /// Something is asked: a server, or a name server.
    pub(super) fn asks(&mut self, now: TrueTime) {
        for (_, _, asked) in self.cut_off.iter_mut().filter(|(from, until, _)| *from <= now && now < *until) {
            *asked += 1;
        }
    }

    pub(super) fn acknowledged(&mut self, batch: &Batch) {
        // A sitemap is no page; of what is not HTML it cannot be told here.
        self.has_pages |= batch.visits.iter().any(|visit| visit.outcome == Outcome::Html);
        self.is_asked_to_wait |= batch.sites.iter().any(|record| record.asked_until > Timestamp::default());
        for record in &batch.sites {
            self.asides.insert(record.site.key(), record.aside.clone());
        }
    }

    /// A commit was under way: the store may know more than it has acknowledged.
    pub(super) fn commit_torn(&mut self) {
        self.asides.clear();
    }

    pub(super) fn crawler_begins(&mut self, store: &dyn Store, now: TrueTime, findings: &mut Findings) {
        self.answered_at = now;
        for (site, aside) in &self.asides {
            let found = store.site(*site).ok().flatten().and_then(|record| record.aside);
            if found != *aside {
                let detail = format!("site {site}: {aside:?} was acknowledged, there is {found:?}");
                findings.add(Check::Durable, now, detail);
            }
        }
    }

    /// A request has ended.
    pub(super) fn ends(&mut self, ended: RequestEnd) {
        if ended.served == Served::Final {
            self.answered_at = ended.end;
        }
    }

    /// A run ends although there are sites left, which are in trouble. One that has no page yet may give up so soon, and one that has
    /// waited for as long as it was asked to, but for the last moments, when nobody is asked any more.
    pub(super) fn ends_waiting(&self, now: TrueTime, findings: &mut Findings) {
        let waited = now.since(self.answered_at);
        let is_long_enough = waited + LAST_MOMENTS >= self.patience || self.is_asked_to_wait && self.patience < LONG;
        if self.has_pages && !is_long_enough {
            findings.add(Check::Patience, now, "the run ends while there is patience");
        }
    }

    pub(super) fn judge_end(&self, now: TrueTime, findings: &mut Findings) {
        for (from, until, asked) in self.cut_off.iter().filter(|(_, _, asked)| *asked > self.asked_max) {
            let detail = format!("{asked} times asked without a network, from {from} to {until}");
            findings.add(Check::Quiet, now, detail);
        }
    }
}
