//! Is every URL fetched to its end once, recorded once, and never forgotten?

use std::collections::{BTreeMap, BTreeSet};

use model::{Outcome, Purpose, Visit};
use store::{Batch, Store};
use weburl::UrlKey;

use super::{Check, Findings, Request, RequestEnd};
use crate::time::TrueTime;
use crate::web::{Reply, Web};
use crate::{Scenario, Served};

/// How often a URL that never has an answer is asked for, at most, where its site has no other answers: in seven days of growing waits.
const ASKED_IN_TROUBLE_MAX: u32 = 80;

/// Requests that find a page vanished before it counts as gone, at most.
const VANISHED_ATTEMPTS: u32 = 3;

/// Of how many times the attempts a URL may have whose site fails by chance.
const BY_CHANCE_TIMES_MAX: u32 = 6;

pub(super) struct Judge {
    attempts_max: u32,
    /// The outcomes that the store has acknowledged or was found to have.
    recorded: BTreeMap<UrlKey, Outcome>,
    /// What this run of the crawler has had an answer for that will not change.
    answered: BTreeSet<UrlKey>,
    /// How often each URL was asked for outside of outages.
    asked: BTreeMap<UrlKey, (u32, String)>,
    /// How often it failed where its site could be reached.
    failed: BTreeMap<UrlKey, u32>,
    /// How often a page that is gone was found so in this run of the crawler.
    vanished: BTreeMap<UrlKey, u32>,
    /// URLs whose sites could not be reached once: that counts as one attempt, however often it was.
    unreached: BTreeSet<UrlKey>,
}

impl Judge {
    pub(super) fn new(scenario: &Scenario) -> Self {
        Judge {
            attempts_max: u32::from(scenario.wishes.politeness.attempts_max),
            recorded: BTreeMap::new(),
            answered: BTreeSet::new(),
            asked: BTreeMap::new(),
            failed: BTreeMap::new(),
            vanished: BTreeMap::new(),
            unreached: BTreeSet::new(),
        }
    }

    pub(super) fn begins(&mut self, request: &Request, findings: &mut Findings) {
        if request.purpose == Purpose::Robots {
            return;
        }
        let (asked, _) = self.asked.entry(request.key).or_insert_with(|| (0, request.url.clone()));
        *asked += 1;
        if let Some(outcome) = self.recorded.get(&request.key) {
            let detail = format!("{} is fetched again, though recorded as {outcome}", request.url);
            findings.add(Check::FetchedOnce, request.start, detail);
        }
        if self.answered.contains(&request.key) {
            let detail = format!("{} is fetched again, though answered in this run", request.url);
            findings.add(Check::FetchedOnce, request.start, detail);
        }
    }

    pub(super) fn ends(&mut self, web: &Web, request: &Request, ended: RequestEnd) {
        if ended.in_outage
            && let Some((asked, _)) = self.asked.get_mut(&request.key)
        {
            *asked -= 1;
        }
        if ended.served == Served::Refused {
            self.unreached.insert(request.key);
        }
        if matches!(ended.served, Served::Busy { .. } | Served::Failed) {
            *self.failed.entry(request.key).or_default() += 1;
        }
        let is_gone = request.purpose == Purpose::Page && web.is_gone(&request.url);
        match ended.served {
            Served::Final if is_gone && self.is_vanishing(request.key) => {
                *self.failed.entry(request.key).or_default() += 1;
            }
            Served::Final if request.purpose != Purpose::Robots => {
                self.answered.insert(request.key);
            }
            _ => {}
        }
    }

    /// Whether a page that was found vanished once more may be asked for again.
    fn is_vanishing(&mut self, key: UrlKey) -> bool {
        let found = self.vanished.entry(key).or_default();
        *found += 1;
        *found < VANISHED_ATTEMPTS.min(self.attempts_max)
    }

    pub(super) fn acknowledged(&mut self, batch: &Batch, now: TrueTime, findings: &mut Findings) {
        for visit in &batch.visits {
            // One more may have succeeded.
            let unreached = u32::from(self.unreached.contains(&visit.key));
            let attempts_max = self.failed.get(&visit.key).copied().unwrap_or_default() + unreached + 1;
            if u32::from(visit.attempts) > attempts_max {
                let detail = format!("URL {} has {} attempts, not {attempts_max}", visit.key, visit.attempts);
                findings.add(Check::Attempts, now, detail);
            }
            if let Some(outcome) = self.recorded.insert(visit.key, visit.outcome) {
                let detail = format!("URL {} is recorded as {} after {outcome}", visit.key, visit.outcome);
                findings.add(Check::RecordedOnce, now, detail);
            }
        }
    }

    /// All that was recorded before may be visited once more.
    pub(super) fn round_begins(&mut self) {
        let Judge { attempts_max: _, recorded, answered, asked, failed, vanished, unreached } = self;
        recorded.clear();
        answered.clear();
        asked.clear();
        failed.clear();
        vanished.clear();
        unreached.clear();
    }

    pub(super) fn crawler_begins(&mut self, store: &dyn Store, now: TrueTime, findings: &mut Findings) {
        self.answered.clear();
        self.vanished.clear();
        let visits: Vec<Visit> =
            store.scan(None, usize::MAX).unwrap_or_default().into_iter().filter_map(|entry| entry.visit).collect();
        let found: BTreeMap<UrlKey, Outcome> = visits.iter().map(|visit| (visit.key, visit.outcome)).collect();
        for (key, outcome) in &self.recorded {
            if found.get(key) != Some(outcome) {
                let detail = format!("URL {key}: {outcome} was acknowledged, there is {:?}", found.get(key));
                findings.add(Check::Durable, now, detail);
            }
        }
        // What was visited in an earlier round may be visited in this one.
        let round = store.totals().map_or(0, |totals| totals.round.number);
        let of_round = visits.iter().filter(|visit| visit.round >= round);
        self.recorded = of_round.map(|visit| (visit.key, visit.outcome)).collect();
    }

    /// URLs that failed so often that this counts as final.
    pub(super) fn failed(&self) -> BTreeSet<UrlKey> {
        let counts = |(key, failed): (&UrlKey, &u32)| failed + u32::from(self.unreached.contains(key));
        let failed = self.failed.iter().filter(|failed| counts(*failed) >= self.attempts_max);
        failed.map(|(key, _)| *key).collect()
    }

    /// Every crash and every stop may cost the attempts that were not committed yet.
    pub(super) fn judge_end(&self, scenario: &Scenario, interruptions: u32, now: TrueTime, findings: &mut Findings) {
        for (asked, url) in self.asked.values() {
            let page = scenario.web.pages.get(url);
            let max = match page.map(|page| &page.reply) {
                Some(Reply::Html(html)) if html.breaks_after.is_some() => {
                    self.attempts_max * BY_CHANCE_TIMES_MAX
                        + page.map_or(0, |page| u32::try_from(page.faults.len()).unwrap_or(u32::MAX))
                }
                Some(Reply::AlwaysBusy(_) | Reply::AlwaysFails(_)) => self.attempts_max + ASKED_IN_TROUBLE_MAX,
                _ => 1 + page.map_or(0, |page| u32::try_from(page.faults.len()).unwrap_or(u32::MAX)),
            };
            let max = if scenario.web.is_gone(url) { max + VANISHED_ATTEMPTS - 1 } else { max };
            if *asked > max + self.attempts_max * interruptions {
                findings.add(Check::FetchedOnce, now, format!("{url} was asked for {asked} times"));
            }
        }
    }
}
