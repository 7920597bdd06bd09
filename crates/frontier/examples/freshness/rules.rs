//! Rules that choose the next page.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use frontier::budget::{Budget, Sampled, SiteSample, Tests};
use frontier::calendar::{Calendar, Due};
use frontier::revisit::{Belief, Prior, Seen};

use super::web::Web;

/// A rule that chooses.
pub trait Rule {
    /// The page that it visits next. Sites that are not open have had the visits that their delay allows.
    fn take(&mut self, now: f64, is_open: &dyn Fn(usize) -> bool) -> Option<usize>;
    /// The page was visited, so many seconds after the visit before, and was so.
    fn visited(&mut self, page: usize, now: f64, seconds: f64, has_changed: bool);
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

    fn visited(&mut self, page: usize, now: f64, _seconds: f64, has_changed: bool) {
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
    prior: Prior,
    visited_at: Vec<f64>,
    visits: usize,
    learn_at: usize,
    has_learned: bool,
    knows: bool,
    tests: Tests,
}

/// A site that wants more visits than its delay allows has a clock of its own. It goes on with the visits that the site has, so all its pages
/// wait longer by the same factor.
struct FullSite {
    /// When its calendar began.
    began: f64,
    calendar: Calendar,
}

impl FullSite {
    /// The page that is due first, unless the site's clock is ahead.
    fn take(&mut self, now: f64) -> Option<Due> {
        if self.began + f64::from(self.calendar.now()) > now { None } else { self.calendar.take() }
    }
}

/// Pages from which it learns what all are like.
const SAMPLE: usize = 8_192;

impl<'a> Ours<'a> {
    pub fn new(web: &'a Web, per_second: f64, knows: bool) -> Self {
        let pages = web.rates.len();
        let mut ours = Ours {
            web,
            per_second,
            calendar: Calendar::default(),
            full: BTreeMap::new(),
            budgets: Vec::new(),
            seen: vec![Seen::default(); pages],
            prior: Prior::default(),
            visited_at: vec![0.0; pages],
            visits: 0,
            learn_at: pages / 16,
            has_learned: false,
            knows,
            tests: Tests::default(),
        };
        ours.learn(0.0);
        ours
    }

    fn belief(&self, page: usize) -> Belief {
        if self.knows { Belief::of_rate(self.web.rates[page]) } else { Belief::new(&self.prior, &self.seen[page]) }
    }

    /// Learns the prior and the budget, and plans all pages by them. Once more when half as many visits again were made.
    fn learn(&mut self, now: f64) {
        let pages = self.web.rates.len();
        let every = (pages / SAMPLE).max(1);
        let sample: Vec<Seen> = self.seen.iter().step_by(every).cloned().collect();
        self.prior = Prior::learn(&Prior::default(), &sample);
        let cap = self.web.site_part * self.per_second;
        let mut sites = vec![SiteSample { pages: Vec::new(), rate_max: cap }; self.web.site_count()];
        for page in (0..pages).step_by(every) {
            let sampled =
                Sampled { belief: self.belief(page), importance: self.web.importances[page], stands_for: every as f64 };
            sites[self.web.sites[page] as usize].pages.push(sampled);
        }
        let (of_all, budgets) = Budget::solve(&sites, self.per_second);
        let full = (0..).zip(&budgets).filter(|(_, budget)| budget.worth > of_all.worth);
        self.full = full.map(|(site, _)| (site, FullSite { began: now, calendar: Calendar::default() })).collect();
        (self.calendar, self.budgets) = (Calendar::default(), budgets);
        (0..pages).for_each(|page| self.put(page, now - self.visited_at[page]));
    }

    fn put(&mut self, page: usize, age: f64) {
        let site = self.web.sites[page];
        let belief = self.belief(page);
        let wait = self.tests.wait(&self.budgets[site as usize], &belief, self.web.importances[page]);
        let calendar = self.full.get_mut(&site).map_or(&mut self.calendar, |full| &mut full.calendar);
        calendar.put(page as u64, site, (wait - age).max(0.0) as u32);
    }
}

impl Rule for Ours<'_> {
    fn take(&mut self, now: f64, is_open: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut full = self.full.iter_mut().filter(|(site, _)| is_open(**site as usize));
        let of_full = full.find_map(|(_, site)| site.take(now));
        of_full.or_else(|| self.calendar.take()).map(|due| due.url as usize)
    }

    fn visited(&mut self, page: usize, now: f64, seconds: f64, has_changed: bool) {
        self.seen[page].visit(seconds, has_changed);
        self.visited_at[page] = now;
        self.visits += 1;
        self.put(page, 0.0);
        if self.visits >= self.learn_at {
            self.learn_at = self.visits + self.visits / 2;
            self.learn(now);
            self.has_learned = true;
        }
    }

    fn begins_again(&mut self) -> bool {
        std::mem::take(&mut self.has_learned)
    }
}
