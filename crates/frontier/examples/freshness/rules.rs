//! Rules that choose the next page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use frontier::budget::{Budget, Outlook, STARVED_AFTER, Sampled, SiteSample, Tests};
use frontier::calendar::{Calendar, Due};
use frontier::common_changes::{self, Common, Visited};
use frontier::dates;
use frontier::revisit::{Belief, Prior, Seen};
use frontier::signals::{self, Dating, Interval, Signals};

use super::web::{Dates, Web};

/// A rule that chooses.
pub trait Rule {
    /// The page that it visits next. Sites that are not open have had the visits that their delay allows.
    fn take(&mut self, now: f64, is_open: &dyn Fn(usize) -> bool) -> Option<usize>;
    /// The page was visited, so many seconds after the visit before: whether it had changed, and what its date says.
    fn visited(&mut self, page: usize, now: f64, seconds: f64, found: (bool, Option<Dating>));
    /// The date of the page at its first visit, when everything begins: so many seconds before it.
    fn dated(&mut self, _page: usize, _ago: f64) {}
    /// How often it reads what a site says of its pages, in seconds; each time costs a visit.
    fn reads_every(&self, _site: usize) -> Option<f64> {
        None
    }
    /// A change of the page was announced, so many seconds after its last visit. The copy is so old now.
    fn signalled(&mut self, _page: usize, _said_after: f64, _age: f64) {}
    /// Whether it begins again with all pages, also with those that it gave and that could not be visited.
    fn begins_again(&mut self) -> bool {
        false
    }
}

/// An interval that shrinks where a change was found and grows where none was; what is due first comes first. Uniform where it does neither.
pub struct Intervals {
    shrinks: f64,
    grows: f64,
    bounds: (f64, f64),
    intervals: Vec<f64>,
    due: BinaryHeap<Reverse<(u64, usize)>>,
}

impl Intervals {
    pub fn new(pages: usize, interval: f64, shrinks: f64, grows: f64, bounds: (f64, f64)) -> Self {
        let due = (0..pages).map(|page| Reverse((page as u64, page))).collect();
        Intervals { shrinks, grows, bounds, intervals: vec![interval; pages], due }
    }
}

impl Rule for Intervals {
    fn take(&mut self, _now: f64, _is_open: &dyn Fn(usize) -> bool) -> Option<usize> {
        self.due.pop().map(|Reverse((_, page))| page)
    }

    fn visited(&mut self, page: usize, now: f64, _seconds: f64, (has_changed, _): (bool, Option<Dating>)) {
        let factor = if has_changed { self.shrinks } else { self.grows };
        self.intervals[page] = (self.intervals[page] * factor).clamp(self.bounds.0, self.bounds.1);
        self.due.push(Reverse(((1e3 * (now + self.intervals[page])) as u64, page)));
    }
}

/// Ours; also as if it knew the rates.
pub struct Ours<'a> {
    web: &'a Web,
    per_second: f64,
    calendar: Calendar,
    /// The sites that want more visits than their delay allows.
    full: BTreeMap<u32, FullSite>,
    budgets: Vec<Budget>,
    seen: Vec<Seen>,
    /// The visits of each page, the last ones.
    visited: Vec<VecDeque<Interval>>,
    /// How right each site is about changes.
    signals: Vec<Signals>,
    /// Whose dates are right.
    are_dates_right: Vec<bool>,
    /// The dates of first visits.
    first_ago: Vec<Option<f64>>,
    /// The pages of each site.
    pages_of: Vec<Vec<u32>>,
    /// The common changes of each site that has such.
    common: Vec<Option<Common>>,
    /// When each page was visited, the last times, and whether it had changed.
    times: Vec<VecDeque<(f64, bool)>>,
    outlooks: Vec<Option<Outlook>>,
    /// How old a page was when it was said to have changed.
    said_after: Vec<Option<f64>>,
    /// The visit for which a page is in the calendar: an announcement puts it in once more.
    entries: Vec<u32>,
    prior: Prior,
    of_max_ages: BTreeMap<(u32, u8), Prior>,
    visited_at: Vec<f64>,
    visits: usize,
    learn_at: usize,
    has_learned: bool,
    given: Given,
    tests: Tests,
}

/// A site that wants more visits than its delay allows has a clock of its own. It goes on with the visits that the site has, so all its pages
/// wait longer by the same factor.
struct FullSite {
    /// When its calendar began.
    began: f64,
    calendar: Calendar,
    /// After a common change more is due at once than planned, and less at other times: its clock may be ahead.
    may_be_ahead: bool,
}

impl FullSite {
    /// The page that is due first, unless the site's clock is ahead.
    fn take(&mut self, now: f64) -> Option<Due> {
        let is_ahead = self.began + f64::from(self.calendar.now()) > now;
        if is_ahead && !self.may_be_ahead { None } else { self.calendar.take() }
    }
}

fn pages_of(web: &Web) -> Vec<Vec<u32>> {
    let mut pages = vec![Vec::new(); web.site_count()];
    (0..).zip(&web.sites).for_each(|(page, site)| pages[*site as usize].push(page));
    pages
}

/// Visits of a page that count.
const VISITS_MAX: usize = 64;
/// Pages by which it finds common changes.
const WATCHED_MAX: usize = 32_768;
/// Pages from which it learns what all are like.
const SAMPLE: usize = 8_192;
/// Pages of a group in it from which the group is learned.
const GROUP_MIN: usize = 4;

/// What our rule is given beside its visits.
#[derive(Clone, Copy)]
pub struct Given {
    /// All rates.
    pub rates: bool,
    /// For how long sites say that copies may be used.
    pub max_ages: bool,
}

impl<'a> Ours<'a> {
    pub fn new(web: &'a Web, per_second: f64, given: Given) -> Self {
        let pages = web.rates.len();
        let mut ours = Ours {
            web,
            per_second,
            calendar: Calendar::default(),
            full: BTreeMap::new(),
            budgets: Vec::new(),
            seen: vec![Seen::default(); pages],
            visited: vec![VecDeque::new(); pages],
            pages_of: pages_of(web),
            common: vec![None; web.site_count()],
            times: vec![VecDeque::from([(0.0, false)]); pages],
            signals: vec![Signals::default(); web.site_count()],
            are_dates_right: vec![false; web.site_count()],
            first_ago: vec![None; pages],
            outlooks: vec![None; web.site_count()],
            said_after: vec![None; pages],
            entries: vec![0; pages],
            prior: Prior::default(),
            of_max_ages: BTreeMap::new(),
            visited_at: vec![0.0; pages],
            visits: 0,
            learn_at: pages / 16,
            has_learned: false,
            given,
            tests: Tests::default(),
        };
        ours.learn(0.0);
        ours
    }

    fn belief(&self, page: usize) -> Belief {
        if self.given.rates {
            return Belief::of_rate(self.web.rates[page]);
        }
        let prior = self.of_max_ages.get(&self.max_age(page)).unwrap_or(&self.prior);
        Belief::new(prior, &self.seen[page])
    }

    fn max_age(&self, page: usize) -> (u32, u8) {
        (self.web.sites[page], self.web.max_ages[page])
    }

    /// Learns what those pages of a site are like that state the same time.
    fn learn_max_ages(&mut self, every: usize) {
        let mut groups: BTreeMap<(u32, u8), Vec<Seen>> = BTreeMap::new();
        for page in (0..self.seen.len()).step_by(every) {
            groups.entry(self.max_age(page)).or_default().push(self.seen[page].clone());
        }
        let groups = groups.into_iter().filter(|(_, pages)| pages.len() >= GROUP_MIN);
        self.of_max_ages = groups.map(|(group, pages)| (group, Prior::learn(&self.prior, &pages))).collect();
    }

    /// Learns the prior and the budget, and plans all pages by them. Once more when half as many visits again were made.
    fn learn(&mut self, now: f64) {
        let pages = self.web.rates.len();
        let every = (pages / SAMPLE).max(1);
        let sample: Vec<Seen> = self.seen.iter().step_by(every).cloned().collect();
        self.prior = Prior::learn(&Prior::default(), &sample);
        if self.given.max_ages {
            self.learn_max_ages(every);
        }
        let cap = self.web.site_part * self.per_second;
        if !self.given.rates && (self.web.says_anything() || self.web.kind.dates != Dates::Nothing) {
            self.learn_signals();
        }
        if !self.given.rates {
            self.learn_common();
            if self.common.iter().any(Option::is_some) {
                let sample: Vec<Seen> = self.seen.iter().step_by(every).cloned().collect();
                self.prior = Prior::learn(&Prior::default(), &sample);
            }
        }
        let site =
            |outlook: &Option<Outlook>| SiteSample { pages: Vec::new(), rate_max: cap, outlook: outlook.clone() };
        let mut sites: Vec<SiteSample> = self.outlooks.iter().map(site).collect();
        for page in (0..pages).step_by(every) {
            let sampled = Sampled {
                belief: self.belief(page),
                importance: self.web.importances[page],
                stands_for: every as f64,
                is_told: self.is_told(page),
            };
            sites[self.web.sites[page] as usize].pages.push(sampled);
        }
        let (of_all, budgets) = Budget::solve(&sites, self.per_second);
        let full = (0..).zip(&budgets).filter(|(_, budget)| budget.worth > of_all.worth);
        let full_site = |site: u32| {
            let may_be_ahead = self.common[site as usize].is_some();
            FullSite { began: now, calendar: Calendar::default(), may_be_ahead }
        };
        self.full = full.map(|(site, _)| (site, full_site(site))).collect();
        (self.calendar, self.budgets) = (Calendar::default(), budgets);
        (0..pages).for_each(|page| self.put(page, now - self.visited_at[page]));
    }

    /// Learns which sites have common changes, and what visits tell by that. Where a site tells what changes, nobody asks.
    fn learn_common(&mut self) {
        for (site, pages) in self.pages_of.iter().enumerate() {
            let had_common = self.common[site].take().is_some();
            self.outlooks[site] = signals::Outlook::new(&self.signals[site]).map(Outlook::Signals);
            if self.signals[site].tell() || self.are_dates_right[site] {
                continue;
            }
            let visits = |page: &u32| -> Vec<Visited> {
                let times = &self.times[*page as usize];
                let visit = |((before, _), (at, has_changed)): (&(f64, bool), &(f64, bool))| Visited {
                    before: *before,
                    at: *at,
                    has_changed: *has_changed,
                };
                times.iter().zip(times.iter().skip(1)).map(visit).collect()
            };
            let watched = pages.iter().filter(|page| self.is_watched(**page as usize));
            let common = Common::learn(&self.prior, &watched.map(visits).collect::<Vec<_>>());
            if common.is_proved() || had_common {
                pages.iter().for_each(|page| self.seen[*page as usize] = common.seen(&visits(page)));
            }
            self.outlooks[site] =
                self.outlooks[site].take().or(common_changes::Outlook::new(&common).map(Outlook::Common));
            self.common[site] = Some(common).filter(Common::is_proved);
        }
    }

    /// Common changes are found by these pages: as many as the program reads.
    fn is_watched(&self, page: usize) -> bool {
        page.is_multiple_of(self.seen.len().div_ceil(WATCHED_MAX))
    }

    /// Learns how right each site is, and what its visits tell by that.
    fn learn_signals(&mut self) {
        let mut sites: Vec<Vec<usize>> = vec![Vec::new(); self.web.site_count()];
        self.web.sites.iter().enumerate().for_each(|(page, site)| sites[*site as usize].push(page));
        for (site, pages) in sites.into_iter().enumerate() {
            let visited: Vec<Vec<Interval>> =
                pages.iter().map(|page| self.visited[*page].iter().copied().collect()).collect();
            let signals =
                if self.web.says_anything() { Signals::learn(&self.prior, &visited) } else { Signals::default() };
            let are_dates_right = dates::are_right(visited.iter().map(Vec::as_slice));
            if (signals, are_dates_right) == (self.signals[site], self.are_dates_right[site]) {
                continue;
            }
            (self.signals[site], self.are_dates_right[site]) = (signals, are_dates_right);
            for (page, mut visits) in pages.into_iter().zip(visited) {
                let count = are_dates_right && dates::count_of(&visits);
                visits.iter_mut().for_each(|visit| visit.dating = visit.dating.filter(|_| count));
                self.seen[page] = signals.seen(&visits);
                let first_ago = self.first_ago[page].filter(|_| count && visits.len() < VISITS_MAX);
                first_ago.into_iter().for_each(|ago| dates::see_first(&mut self.seen[page], ago));
            }
        }
    }

    /// Whether anything tells that a page changes.
    fn is_told(&self, page: usize) -> bool {
        let has_common = self.common[self.web.sites[page] as usize].is_some();
        has_common || self.said_after[page].is_some() || !self.visited[page].iter().all(Interval::is_silent)
    }

    fn put(&mut self, page: usize, age: f64) {
        let site = self.web.sites[page];
        let (budget, belief) = (&self.budgets[site as usize], self.belief(page));
        let importance = self.web.importances[page];
        let last = self.visited_at[page];
        let is_different =
            self.common[site as usize].as_ref().is_some_and(|common| common.is_between(last, last + age));
        let wait = match self.outlooks[site as usize].as_ref().filter(|_| self.is_told(page)) {
            Some(Outlook::Signals(outlook)) => {
                budget.wait_with(outlook, &belief, importance, self.said_after[page].map(|_| age))
            }
            Some(Outlook::Common(outlook)) if is_different => {
                match budget.worth_after(outlook, &belief, importance, age) {
                    // The site's clock goes on with its visits: what is worth most comes first.
                    worth if self.full.contains_key(&site) => age + budget.interval / worth.max(1.0 / STARVED_AFTER),
                    worth if worth >= 1.0 => age,
                    _ => STARVED_AFTER * budget.interval,
                }
            }
            Some(Outlook::Common(outlook)) => self.tests.choose(budget.wait_without(outlook, &belief, importance)),
            None => self.tests.wait(budget, &belief, importance),
        };
        self.entries[page] = self.entries[page].wrapping_add(1);
        let calendar = self.full.get_mut(&site).map_or(&mut self.calendar, |full| &mut full.calendar);
        let entry = u64::from(self.entries[page]) << 32 | page as u64;
        calendar.put(entry, site, (wait - age).max(0.0) as u32);
    }

    /// Takes in a visit of a page whose site has common changes. Pages are due by the one that it makes known, if it does.
    fn visited_common(&mut self, page: usize, visit: Visited) {
        let (site, belief) = (self.web.sites[page] as usize, self.belief(page));
        let is_watched = self.is_watched(page);
        let Some(common) = &mut self.common[site] else { return };
        let same = belief.likely_same(visit.at - visit.before);
        let event = if is_watched { common.visit(visit, same) } else { None };
        common.see(&mut self.seen[page], visit);
        let Some(event) = event else { return };
        let pages = std::mem::take(&mut self.pages_of[site]);
        for page in pages.iter().map(|page| *page as usize) {
            if self.visited_at[page] < event {
                self.put(page, visit.at - self.visited_at[page]);
            }
        }
        self.pages_of[site] = pages;
    }

    /// The next page of the calendars that was put in last for this visit.
    fn next(&mut self, now: f64, is_open: &dyn Fn(usize) -> bool) -> Option<usize> {
        loop {
            let mut full = self.full.iter_mut().filter(|(site, _)| is_open(**site as usize));
            let of_full = full.find_map(|(_, site)| site.take(now));
            let due = of_full.or_else(|| self.calendar.take())?;
            let page = (due.url & u64::from(u32::MAX)) as usize;
            if due.url >> 32 == u64::from(self.entries[page]) {
                return Some(page);
            }
        }
    }
}

impl Rule for Ours<'_> {
    fn take(&mut self, now: f64, is_open: &dyn Fn(usize) -> bool) -> Option<usize> {
        self.next(now, is_open)
    }

    fn visited(&mut self, page: usize, now: f64, seconds: f64, (has_changed, dating): (bool, Option<Dating>)) {
        let (site, said_after) = (self.web.sites[page] as usize, self.said_after[page].take());
        let interval = Interval { seconds, said_after, has_changed, dating };
        let dating = dating.filter(|_| self.are_dates_right[site]);
        self.times[page].push_back((now, has_changed));
        self.visited_at[page] = now;
        match self.common[site] {
            Some(_) => self.visited_common(page, Visited { before: now - seconds, at: now, has_changed }),
            None => self.signals[site].see(&mut self.seen[page], Interval { dating, ..interval }),
        }
        let times = &mut self.times[page];
        times.drain(..times.len().saturating_sub(VISITS_MAX));
        if self.web.says_anything() || self.web.kind.dates != Dates::Nothing {
            let visits = &mut self.visited[page];
            visits.push_back(interval);
            visits.drain(..visits.len().saturating_sub(VISITS_MAX));
        }
        self.visits += 1;
        self.put(page, 0.0);
        if self.visits >= self.learn_at {
            self.learn_at = self.visits + self.visits / 2;
            self.learn(now);
            self.has_learned = true;
        }
    }

    fn dated(&mut self, page: usize, ago: f64) {
        self.first_ago[page] = Some(ago);
    }

    fn reads_every(&self, site: usize) -> Option<f64> {
        let budget = &self.budgets[site];
        (!self.given.rates).then(|| budget.listing_wait(self.pages_of[site].len() as f64, self.signals[site].tell()))
    }

    fn signalled(&mut self, page: usize, said_after: f64, age: f64) {
        self.said_after[page] = Some(said_after);
        if self.outlooks[self.web.sites[page] as usize].is_some() {
            self.put(page, age);
        }
    }

    fn begins_again(&mut self) -> bool {
        std::mem::take(&mut self.has_learned)
    }
}
