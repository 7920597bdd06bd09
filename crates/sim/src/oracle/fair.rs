//! Does every site have its turn?

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use store::{Batch, Store};
use weburl::UrlKey;

use super::politeness::{domain_of, holders, network};
use super::{Check, Findings, Request, RequestEnd};
use crate::scenario::Scenario;
use crate::time::TrueTime;
use crate::web::{Name, Reach, RobotsReply, Site, Web, site_text};
use crate::{Served, Wishes};

/// How many times its fair share a site may wait.
const K: u32 = 4;

/// How long it takes to look for an address, at most, and to begin with what was found.
const LOOK_UP: Duration = Duration::from_secs(1);

/// Commits and reads that a site waits for between two visits, at most: it leaves, comes back, and others are before it in the queue.
const STORE_PAUSES: u32 = 4;

/// Bytes that a site takes in memory, at most: so there are as many places at least as there are times these bytes.
const SITE_BYTES_MAX: usize = 6_000;

/// Counts for each site how often others are asked while it waits.
pub(super) struct Judge {
    wishes: Wishes,
    sites: BTreeMap<String, Watch>,
    holders: BTreeMap<Vec<u8>, Busy>,
    asked: BTreeSet<UrlKey>,
    /// From the first outage on nobody is judged.
    until: TrueTime,
    others_max: u32,
    waits_max: Duration,
}

/// A site that answers whenever it is asked.
struct Watch {
    holders: Vec<Vec<u8>>,
    crawl_delay: Duration,
    /// URLs that the store has acknowledged and that were not asked for.
    open: BTreeSet<UrlKey>,
    /// URLs that failed and come behind all others, after a wait of their own.
    failed: BTreeSet<UrlKey>,
    due: TrueTime,
    passed_over: Option<PassedOver>,
}

/// While a site waits.
struct PassedOver {
    since: TrueTime,
    others: u32,
}

#[derive(Default)]
struct Busy {
    under_way: usize,
    until: TrueTime,
}

impl Judge {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let Scenario { web, wishes, troubles, .. } = scenario;
        let has_budget = wishes.pages_max.is_some() || wishes.pages_per_site_max.is_some();
        let is_clock_set = troubles.clock_jumps > 0 || troubles.clock_chance > 0;
        let judges = !has_budget && !is_clock_set && troubles.hand_overs == 0;
        let is_judged = |(text, site): &(&String, &Site)| !web.farm.contains(*text) && always_answers(site);
        let judged = web.sites.iter().filter(is_judged).filter(|_| judges);
        let places = wishes.sites_in_front_max.min(web.sites.len()).min(wishes.front_bytes_max / SITE_BYTES_MAX).max(1);
        let looks = u32::try_from(1 + web.sites.len() / places).unwrap_or(u32::MAX);
        Judge {
            sites: judged.map(|(text, site)| (text.clone(), Watch::new(text, site, web))).collect(),
            holders: BTreeMap::new(),
            asked: BTreeSet::new(),
            until: scenario.outages.iter().map(|outage| outage.from).min().unwrap_or(TrueTime(u64::MAX)),
            others_max: round(web, wishes, places).saturating_mul(K),
            waits_max: K * looks * (LOOK_UP + STORE_PAUSES * troubles.store_pause),
            wishes: wishes.clone(),
        }
    }

    pub(super) fn begins(&mut self, request: &Request, findings: &mut Findings) {
        let now = request.start;
        if now >= self.until {
            return;
        }
        if let Some(site) = self.sites.get_mut(&request.site) {
            site.passed_over = None;
            site.open.remove(&request.key);
        }
        self.asked.insert(request.key);
        for (text, site) in self.sites.iter_mut().filter(|(text, _)| **text != request.site) {
            let is_free = |holder| self.holders.get(holder).is_none_or(|busy| busy.under_way == 0 && busy.until <= now);
            let waits =
                !site.open.is_empty() && site.failed.is_empty() && site.due <= now && site.holders.iter().all(is_free);
            if !waits {
                site.passed_over = None;
                continue;
            }
            let passed_over = site.passed_over.get_or_insert(PassedOver { since: now, others: 0 });
            passed_over.others += 1;
            if passed_over.others > self.others_max && now.since(passed_over.since) > self.waits_max {
                let (waited, others) = (now.since(passed_over.since), passed_over.others);
                let detail =
                    format!("{text} waits for {waited:?} with {} URLs, {others} others came first", site.open.len());
                findings.add(Check::Fair, now, detail);
                site.passed_over = None;
            }
        }
        for holder in holders(request) {
            self.holders.entry(holder).or_default().under_way += 1;
        }
    }

    pub(super) fn ends(&mut self, request: &Request, ended: RequestEnd) {
        for holder in holders(request) {
            let busy = self.holders.entry(holder).or_default();
            busy.under_way = busy.under_way.saturating_sub(1);
            busy.until = busy.until.max(ended.end + self.wishes.politeness.ip_delay);
        }
        if let Some(site) = self.sites.get_mut(&request.site) {
            let delay = ended.took.mul_f64(self.wishes.politeness.delay_factor).max(self.wishes.politeness.delay);
            site.due = ended.end + delay.max(site.crawl_delay);
            if ended.served == Served::Final {
                site.failed.remove(&request.key);
            } else {
                site.failed.insert(request.key);
            }
        }
    }

    pub(super) fn acknowledged(&mut self, batch: &Batch) {
        for candidate in &batch.found {
            let (key, text) = (candidate.url.key(), site_text(candidate.url.as_str()));
            if let Some(site) = self.sites.get_mut(text).filter(|_| !self.asked.contains(&key)) {
                site.open.insert(key);
            }
        }
        for visit in &batch.visits {
            self.asked.insert(visit.key);
            self.sites.values_mut().for_each(|site| {
                site.open.remove(&visit.key);
                site.failed.remove(&visit.key);
            });
        }
    }

    /// The run is over; every site waits its delay again.
    pub(super) fn crawler_begins(&mut self, store: &dyn Store, now: TrueTime) {
        self.holders.clear();
        let politeness = &self.wishes.politeness;
        for site in self.sites.values_mut() {
            site.open.clear();
            site.passed_over = None;
            site.due = now + politeness.delay.max(site.crawl_delay).max(politeness.ip_delay);
        }
        for entry in store.scan(None, usize::MAX).unwrap_or_default() {
            let (key, text) = (entry.candidate.url.key(), site_text(entry.candidate.url.as_str()));
            let is_open = entry.visit.is_none() && !self.asked.contains(&key);
            if let Some(site) = self.sites.get_mut(text).filter(|_| is_open) {
                site.open.insert(key);
            }
        }
    }
}

impl Watch {
    fn new(text: &str, site: &Site, web: &Web) -> Self {
        let crawl_delay = web.rules_of(site).crawl_delay.map(Duration::from_secs).unwrap_or_default();
        Watch {
            holders: std::iter::once(domain_of(text))
                .chain(site.addresses.iter().map(|address| network(*address)))
                .collect(),
            crawl_delay,
            open: BTreeSet::new(),
            failed: BTreeSet::new(),
            due: TrueTime::default(),
            passed_over: None,
        }
    }
}

fn always_answers(site: &Site) -> bool {
    let has_robots = match site.robots.reply {
        RobotsReply::Rules => true,
        RobotsReply::Status(status) => status < 500,
        RobotsReply::RedirectTo(_) => false,
    };
    let is_found = site.name == Name::Found { failures_first: 0 };
    is_found && site.reach == Reach::Answers && has_robots && site.robots.faults.is_empty()
}

/// So many requests are a round, in which everybody has a turn: each site, and each place in front. Where there are more owners than
/// places, those in front have all their turns first.
fn round(web: &Web, wishes: &Wishes, places: usize) -> u32 {
    let of_farm = |text: &str| web.farm.contains(text);
    let honest = web.sites.keys().filter(|text| !of_farm(text)).count();
    let addresses: BTreeSet<_> =
        web.sites.iter().filter(|(text, _)| of_farm(text)).flat_map(|(_, site)| &site.addresses).collect();
    let turns = if honest + addresses.len() > places { wishes.turns_in_front_max } else { 1 };
    u32::try_from(honest + places).unwrap_or(u32::MAX).saturating_mul(turns)
}
