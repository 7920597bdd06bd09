//! What a watch keeps in memory from round to round: what it has learned, and all pages by the time when they are due.
//!
//! Learning reads the whole state. So it is done again only when it takes a small part of the time, or when the pages are no more those that it was
//! about. Rounds in between take the pages that are due from a calendar, and read these alone: a visit costs the same in a crawl of any size. Nothing
//! of it is kept on disk: a watch that begins learns from the state.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::time::Duration;

use engine::Settings;
use engine::clock::Clock;
use frontier::budget::Tests;
use frontier::calendar::Calendar;
use model::{Timestamp, Visit};
use store::{CrawlView, Entry, Store, StoreError, Totals};
use weburl::{SiteKey, UrlKey};

use super::{Learned, Open, Picked, Schedule, Share, visits_of};
use crate::Waits;

/// Learning takes one part in so many of the time, at most.
const LEARNING_ONE_IN: u32 = 16;
/// It is done again when one page more in so many is known.
const NEW_PAGES_ONE_IN: u64 = 16;
/// Pages that are read in a round and not chosen, at most, beside as many as are chosen.
const PASSED_MAX: usize = 4_096;
/// A page is not due as long as it has to wait for this part of its wait, and a second more: it was visited since it was planned.
const UNDUE_PART: f64 = 0.01;

/// Plans the pages of a watch.
#[derive(Debug)]
pub struct Planner {
    clock: Clock,
    agenda: Option<Agenda>,
}

impl Default for Planner {
    fn default() -> Self {
        Planner { clock: Clock::start(), agenda: None }
    }
}

/// What was learned, and the pages that were there then.
#[derive(Debug)]
struct Agenda {
    learned: Learned,
    pages: Pages,
    /// When it was learned, and how long that took.
    learned_at: Timestamp,
    took: Duration,
    /// The last round, and the pages that were known when it was learned.
    round: u32,
    fetched: u64,
}

/// Pages by the time when they are due: 16 bytes each.
#[derive(Debug)]
pub(super) struct Pages {
    /// The date when the calendar began.
    began: Timestamp,
    calendar: Calendar,
    sites: Vec<SiteKey>,
    numbers: BTreeMap<SiteKey, u32>,
    /// Those that were due when their site got no request, or as many as it may get in a round. The first one waits for longest.
    parked: BTreeMap<SiteKey, VecDeque<u64>>,
    /// The site whose parked pages had their turn last.
    parked_last: SiteKey,
    tests: Tests,
}

impl Planner {
    /// The pages of a round: by what was planned before if that still holds, else by the whole state.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn pick(&mut self, schedule: &Schedule, store: &dyn Store, settings: &Settings) -> Result<Picked, StoreError> {
        if schedule.visits == 0 {
            return schedule.pick(store, settings);
        }
        let (began, totals, open) = (self.clock.now(), store.totals()?, schedule.open(store, settings)?);
        if let Some(agenda) = self.agenda.as_mut().filter(|agenda| agenda.holds(&totals, began)) {
            let (pages, waits) = agenda.pages.take(schedule, &agenda.learned, store, &open)?;
            // If nothing is due, the whole state says why.
            if !pages.is_empty() {
                return Ok(Picked { pages, waits, open });
            }
        }
        // The memory of the one before is free first.
        self.agenda = None;
        let (learned, mut pages) = (schedule.learn(store)?, Pages::new(schedule.now));
        let (chosen, waits) = schedule.choose_by(store, &learned, &|url| open.share_of(url), Some(&mut pages))?;
        let learned_at = self.clock.now();
        let (round, fetched) = (totals.round.number, totals.fetched());
        self.agenda = Some(Agenda { learned, pages, learned_at, took: learned_at.since(began), round, fetched });
        Ok(Picked { pages: chosen.into_iter().collect(), waits, open })
    }

    /// A round has begun with what was picked.
    pub fn begun(&mut self, round: u32) {
        self.agenda.iter_mut().for_each(|agenda| agenda.round = round);
    }
}

impl Agenda {
    /// Whether the pages are those that were planned, about: no other command has begun a round, and few pages are new.
    fn holds(&self, totals: &Totals, now: Timestamp) -> bool {
        let is_new = now.since(self.learned_at) < self.took.saturating_mul(LEARNING_ONE_IN);
        is_new
            && totals.round.number == self.round
            && totals.fetched() <= self.fetched + self.fetched / NEW_PAGES_ONE_IN
    }
}

impl Pages {
    fn new(began: Timestamp) -> Self {
        Pages {
            began,
            calendar: Calendar::default(),
            sites: Vec::new(),
            numbers: BTreeMap::new(),
            parked: BTreeMap::new(),
            parked_last: SiteKey(0),
            tests: Tests::default(),
        }
    }

    /// Puts in a page with these last visits.
    pub(super) fn plan(&mut self, schedule: &Schedule, learned: &Learned, entry: &Entry, visits: &[Visit]) {
        let Some(last) = visits.last() else { return };
        let (age, rest) = (schedule.now.apart(last.at).as_secs_f64(), schedule.rest(visits).as_secs_f64());
        let wait = self.tests.choose(schedule.turn(learned, entry, visits));
        self.put(last.key, schedule.now, wait.max(rest) - age);
    }

    /// Puts in a page that is due in so many seconds; at once if it was before.
    fn put(&mut self, key: UrlKey, now: Timestamp, seconds: f64) {
        let next = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        let site = *self.numbers.entry(key.site).or_insert(next);
        if site == next {
            self.sites.push(key.site);
        }
        let at = now.since(self.began).as_secs_f64() + seconds - f64::from(self.calendar.now());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is what fits")]
        self.calendar.put(key.url, site, at.max(0.0) as u32);
    }

    /// The pages that are due first and may be visited, and those that wait, as far as they were looked at.
    fn take(
        &mut self,
        schedule: &Schedule,
        learned: &Learned,
        view: &dyn CrawlView,
        open: &Open,
    ) -> Result<(BTreeSet<UrlKey>, Waits), StoreError> {
        let (now, mut waits) = (schedule.now, Waits::default());
        let (mut chosen, mut of_sites, mut later) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        let mut parked = self.unpark(schedule, open);
        while chosen.len() < schedule.visits && later.len() < 2 * schedule.visits + PASSED_MAX {
            let (key, planned) = match parked.pop_front() {
                Some(key) => (key, 0.0),
                None => match self.next(now) {
                    Some(due) => due,
                    None => break,
                },
            };
            let of_site: &mut u128 = of_sites.entry(key.site).or_default();
            if *of_site >= of_site_max(schedule, open.sites.share_of(key.site)) {
                waits.closed += u64::from(*of_site == 0);
                self.parked.entry(key.site).or_default().push_back(key.url);
                continue;
            }
            // What a rule excludes by now comes back when the whole state is read, if it may.
            let entry = view.get(key)?.filter(|entry| open.filter.judge(&entry.candidate.url).is_ok());
            let visits = entry.as_ref().map(|entry| visits_of(entry, view)).transpose()?.flatten();
            let (Some(entry), Some(visits)) = (entry, visits) else { continue };
            let Some(last) = visits.last() else { continue };
            let (age, rest) = (now.apart(last.at).as_secs_f64(), schedule.rest(&visits));
            let (wait, test) = schedule.turn(learned, &entry, &visits);
            let (least, soonest) = (rest.as_secs_f64(), test.map_or(wait, |test| test.wait.min(wait)));
            let is_visited_since = soonest.max(least) - age > planned.max(0.0) + UNDUE_PART * soonest + 1.0;
            if age < least {
                waits.rest(last.at + rest);
            }
            if age < least || is_visited_since {
                later.push((key, self.tests.choose((wait, test)).max(least) - age));
            } else {
                *of_site += 1;
                chosen.insert(key);
                // Its visit says how long it waits. It is read when its turn comes.
                later.push((key, 0.0));
            }
        }
        parked.into_iter().for_each(|key| self.parked.entry(key.site).or_default().push_front(key.url));
        later.into_iter().for_each(|(key, seconds)| self.put(key, now, seconds));
        Ok((chosen, waits))
    }

    /// The page that is due first, and in how many seconds it is.
    fn next(&mut self, now: Timestamp) -> Option<(UrlKey, f64)> {
        loop {
            let due = self.calendar.take()?;
            if let Some(site) = self.sites.get(due.site as usize) {
                let planned = f64::from(due.at) - now.since(self.began).as_secs_f64();
                return Some((UrlKey { site: *site, url: due.url }, planned));
            }
        }
    }

    /// Parked pages whose sites may be visited now, as many of each as it may get, and half as many as are wanted in all: others have their turns, too.
    /// The sites have theirs one after the other.
    fn unpark(&mut self, schedule: &Schedule, open: &Open) -> VecDeque<UrlKey> {
        let after = (Bound::Excluded(self.parked_last), Bound::Unbounded);
        let sites = self.parked.range(after).chain(self.parked.range(..=self.parked_last));
        let sites: Vec<SiteKey> = sites.map(|(site, _)| *site).collect();
        let mut unparked = VecDeque::new();
        for site in sites {
            let max = of_site_max(schedule, open.sites.share_of(site));
            let Some(parked) = self.parked.get_mut(&site).filter(|_| max > 0) else { continue };
            let room = schedule.visits.div_ceil(2).saturating_sub(unparked.len());
            let count = parked.len().min(room).min(usize::try_from(max).unwrap_or(usize::MAX));
            unparked.extend(parked.drain(..count).map(|url| UrlKey { site, url }));
            if parked.is_empty() {
                self.parked.remove(&site);
            }
            self.parked_last = site;
            if room == count {
                break;
            }
        }
        unparked
    }
}

/// How many pages of a site a round has.
fn of_site_max(schedule: &Schedule, share: Share) -> u128 {
    match share {
        Share::All => schedule.of_site_max(),
        Share::One => 1,
        Share::None => 0,
    }
}

#[cfg(test)]
mod tests;
