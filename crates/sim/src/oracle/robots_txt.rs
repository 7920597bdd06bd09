//! robots.txt: first, once, obeyed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Purpose, RobotsAnswer, Timestamp};
use store::{Batch, Store};
use weburl::SiteKey;

use super::{Check, Findings, Request, RequestEnd};
use crate::time::TrueTime;
use crate::web::{Name, Reach, Robots, RobotsReply, Site, Web, path_of};
use crate::{Scenario, Served};

/// How long a robots.txt holds (RFC 9309 §2.4).
const HOLDS: Duration = Duration::from_secs(24 * 3600);

/// What the crawler has the right to know of robots.txt.
#[derive(Default)]
pub(super) struct Judge {
    /// It is asked for once, and whatever comes of it holds for ever.
    is_once: bool,
    /// Others crawl too, whose clocks differ.
    is_shared: bool,
    /// When the site's word was had, by the clock by which the crawler waits, which starts with the date.
    known: BTreeMap<SiteKey, FetchTime>,
    in_flight: BTreeSet<SiteKey>,
    acknowledged: BTreeSet<SiteKey>,
    /// Sites whose robots.txt the store had when this run began, wherever it came from.
    stored: BTreeSet<SiteKey>,
}

/// When it was had, at the earliest and at the latest: where the clock was set back since, that is not known.
#[derive(Clone, Copy)]
struct FetchTime {
    earliest: Timestamp,
    latest: Timestamp,
}

impl FetchTime {
    fn at(time: Timestamp) -> Self {
        FetchTime { earliest: time, latest: time }
    }

    /// As the store has it, at this date.
    fn stored(at: Timestamp, date: Timestamp) -> Self {
        FetchTime { earliest: at.min(date), latest: at }
    }

    /// The latest time as it is known at this one: until its date has come, it was had before the run began.
    fn latest_at(self, waited: Timestamp, is_shared: bool) -> Timestamp {
        if waited < self.latest && !is_shared { self.earliest } else { self.latest }
    }
}

impl Judge {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let is_shared = scenario.troubles.hand_overs > 0;
        Judge { is_once: scenario.web.robots_once, is_shared, ..Judge::default() }
    }

    pub(super) fn begins(&mut self, web: &Web, request: &Request, findings: &mut Findings) {
        let had = self.had(web, request);
        let is_robots = request.purpose == Purpose::Robots;
        let holds = had.is_some_and(|had| {
            self.is_once || request.waited < if is_robots { had.earliest } else { had.latest } + HOLDS
        });
        if request.purpose == Purpose::Robots {
            let is_new = self.in_flight.insert(request.key.site);
            if holds || !is_new {
                findings.add(Check::RobotsOnce, request.start, format!("{} is asked for again", request.url));
            }
            return;
        }
        if !holds {
            findings.add(Check::RobotsFirst, request.start, format!("{} is visited without robots.txt", request.url));
        }
        if web.site_of(&request.url).is_some_and(|(_, site)| !allows(web, &site.robots, path_of(&request.url))) {
            findings.add(Check::RobotsObeyed, request.start, format!("{} is forbidden", request.url));
        }
    }

    /// When the word that holds for a site was had: its own, or that to which its own redirects, if both were had.
    fn had(&self, web: &Web, request: &Request) -> Option<FetchTime> {
        let known = |site| {
            let had: FetchTime = *self.known.get(&site)?;
            Some(FetchTime { latest: had.latest_at(request.waited, self.is_shared), ..had })
        };
        let own = known(request.key.site)?;
        let redirect = web.site_of(&request.url).and_then(|(_, site)| match &site.robots.reply {
            RobotsReply::RedirectTo(other) if !self.is_once => weburl::Site::from_text(other),
            _ => None,
        });
        match redirect.filter(|_| !self.stored.contains(&request.key.site)) {
            None => Some(own),
            Some(target) => {
                let target = known(target.key())?;
                // That to which it leads may have been had long before, for another site.
                Some(FetchTime { earliest: own.earliest.min(target.earliest), latest: own.latest.max(target.latest) })
            }
        }
    }

    pub(super) fn ends(&mut self, request: &Request, ended: RequestEnd) {
        if request.purpose == Purpose::Robots {
            self.in_flight.remove(&request.key.site);
            if ended.served == Served::Final || self.is_once {
                self.known.insert(request.key.site, FetchTime::at(ended.waited));
                self.stored.remove(&request.key.site);
            } else if let Some(had) = self.known.get_mut(&request.key.site) {
                // What was had before goes on to hold (RFC 9309 §2.4), until it is asked for again: in a day at the latest.
                had.latest = ended.waited;
            }
        }
    }

    pub(super) fn acknowledged(&mut self, batch: &Batch) {
        let with_robots = batch.sites.iter().filter(|record| record.robots.is_some());
        self.acknowledged.extend(with_robots.map(|record| record.site.key()));
    }

    /// Only what the store has is known to a new run.
    pub(super) fn crawler_begins(
        &mut self,
        store: &dyn Store,
        now: TrueTime,
        date: Timestamp,
        findings: &mut Findings,
    ) {
        self.in_flight.clear();
        self.known.clear();
        self.stored.clear();
        for site in &self.acknowledged {
            let robots = store.site(*site).ok().flatten().and_then(|record| record.robots);
            match robots {
                None => findings.add(Check::Durable, now, format!("the robots.txt of site {site} is lost")),
                Some(robots) if self.is_once || is_final(&robots.answer) => {
                    self.stored.insert(*site);
                    self.known.insert(*site, FetchTime::stored(robots.fetched_at, date));
                }
                Some(_) => {}
            }
        }
        // What is in the store without having been acknowledged is known too.
        for record in store.sites(None, usize::MAX).unwrap_or_default() {
            if let Some(robots) = record.robots.filter(|robots| self.is_once || is_final(&robots.answer)) {
                self.stored.insert(record.site.key());
                self.known.insert(record.site.key(), FetchTime::stored(robots.fetched_at, date));
            }
        }
    }
}

fn is_final(answer: &RobotsAnswer) -> bool {
    matches!(answer, RobotsAnswer::Status { code, .. } if (200..500).contains(code) && *code != 429)
}

/// Whether the crawler gets a site's robots.txt in the end. A site that never sends it is given up.
pub(super) fn is_ever_had(web: &Web, site: &Site) -> bool {
    let says = match &site.robots.reply {
        RobotsReply::RedirectTo(other) => web.sites.get(other),
        RobotsReply::Rules | RobotsReply::Status(_) => Some(site),
    };
    says.is_some_and(|site| {
        !web.forbids_all(&site.robots) && site.reach == Reach::Answers && matches!(site.name, Name::Found { .. })
    })
}

/// The longest prefix decides; the one that allows, where both are of one length (RFC 9309 §2.2.2).
pub(super) fn allows(web: &Web, robots: &Robots, path: &str) -> bool {
    if !web.has_rules(robots) {
        return !web.forbids_all(robots);
    }
    let rules = match &robots.reply {
        RobotsReply::Rules | RobotsReply::Status(_) => robots,
        RobotsReply::RedirectTo(other) => web.sites.get(other).map_or(robots, |site| &site.robots),
    };
    let longest = |prefixes: &[String]| {
        prefixes.iter().filter(|prefix| path.starts_with(prefix.as_str())).map(String::len).max().unwrap_or(0)
    };
    let (forbidden, allowed) = (longest(&rules.disallow), longest(&rules.allow));
    forbidden == 0 || allowed >= forbidden
}
