//! What a visit must be worth to be made: so much that just the visits are made that the budget allows.
//!
//! Each page is visited when the value of a visit reaches `Λ` ([`crate::revisit`]). The smaller `Λ`, the more visits. A site that may not be
//! asked as often as that comes to has a `Λ` of its own, a greater one: its best pages are visited as often as its delay allows, and the
//! visits that it cannot have go to other sites. So it has a [`Budget`] of its own: its pages wait longer on average, and what a test tells
//! helps for longer there.

use crate::common_changes;
use crate::revisit::{Belief, Test};
use crate::signals;

/// Of so many visits at most one is a test.
pub const TEST_ONE_IN: f64 = 8.0;
/// By how much the gain for which a test is made rises with each test. It falls as fast where one visit in [`TEST_ONE_IN`] is a test.
const TEST_STEP: f64 = 0.02;
/// The least gain of a test at the beginning, as a multiple of the cost of a visit.
const TEST_GAIN_FIRST: f64 = 0.1;
/// What a test tells helps for so many average waits.
const TEST_LASTS: f64 = 30.0;

/// No page waits longer than so many times the average wait. Pages that are worth no visit take at most one visit in so many for that.
pub const STARVED_AFTER: f64 = 256.0;
/// The part of the visits that a site may have for which its pages are planned where they want more: what was late is made up for by the rest.
const SITE_PART: f64 = 0.98;
/// Where sitemaps tell changes, at most one visit of a site in so many is one of a sitemap.
const LISTING_PAGES: f64 = 32.0;
/// The shortest wait of a sitemap, as a part of the average wait.
const LISTING_PART_MIN: f64 = 1.0 / 64.0;
/// How often the range of `Λ` is halved.
const HALVINGS: usize = 48;
/// The range of `Λ`, in seconds of a page of importance 1.
const WORTH_RANGE: (f64, f64) = (1e-6, 1e12);

/// A page of a sample.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// What is believed of it.
    pub belief: Belief,
    /// How important it is.
    pub importance: f64,
    /// How many pages it stands for.
    pub stands_for: f64,
    /// Its site says when it changes.
    pub is_told: bool,
}

/// What tells that pages of a site change, and what comes of visits by that.
#[derive(Clone, Debug)]
pub enum Outlook {
    /// The site says it.
    Signals(signals::Outlook),
    /// Visits of other pages of the site tell it.
    Common(common_changes::Outlook),
}

/// The pages of a site.
#[derive(Clone, Debug, Default)]
pub struct SiteSample {
    /// Some of them, or all.
    pub pages: Vec<Sampled>,
    /// Visits a second that the site may have.
    pub rate_max: f64,
    /// What tells that they change, if anything does.
    pub outlook: Option<Outlook>,
}

/// How often pages are visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// What a visit must be worth, by a page of importance 1.
    pub worth: f64,
    /// The average time from one visit of a page to the next, in seconds.
    pub interval: f64,
}

impl Budget {
    /// Finds what visits must be worth where so many are made a second. Gives it for all sites together, and for each.
    #[must_use]
    pub fn solve(sites: &[SiteSample], visits_per_second: f64) -> (Budget, Vec<Budget>) {
        let pages = |site: &SiteSample| site.pages.iter().map(|page| page.stands_for).sum::<f64>();
        let interval = sites.iter().map(pages).sum::<f64>().max(1.0) / visits_per_second;
        let demand = |site: &SiteSample, worth: f64| -> f64 {
            let budget = Budget { worth, interval };
            let interval = |page: &Sampled| match site.outlook.as_ref().filter(|_| page.is_told) {
                Some(outlook) => budget.interval_with(outlook, &page.belief, page.importance),
                None => budget.wait(&page.belief, page.importance),
            };
            site.pages.iter().map(|page| page.stands_for / interval(page)).sum()
        };
        let worth =
            halve(visits_per_second, |worth| sites.iter().map(|site| demand(site, worth).min(site.rate_max)).sum());
        let budget = Budget { worth, interval };
        let of_site = |site: &SiteSample| match demand(site, worth) > site.rate_max {
            true => Budget {
                worth: halve(SITE_PART * site.rate_max, |worth| demand(site, worth)).max(worth),
                interval: (pages(site) / site.rate_max).max(interval),
            },
            false => budget,
        };
        (budget, sites.iter().map(of_site).collect())
    }

    /// How long a page waits from one visit to the next, in seconds.
    #[must_use]
    pub fn wait(&self, belief: &Belief, importance: f64) -> f64 {
        self.at_most(belief.wait(self.worth / importance).unwrap_or(f64::INFINITY))
    }

    /// The same, and the best test until then.
    #[must_use]
    pub fn wait_and_test(&self, belief: &Belief, importance: f64) -> (f64, Option<Test>) {
        let (wait, test) = belief.wait_and_test(self.worth / importance, TEST_LASTS * self.interval);
        (self.at_most(wait.unwrap_or(f64::INFINITY)), test)
    }

    /// How long a page waits whose site says when it changes. A change was said when the page was so old, or not.
    #[must_use]
    pub fn wait_with(
        &self,
        outlook: &signals::Outlook,
        belief: &Belief,
        importance: f64,
        said_after: Option<f64>,
    ) -> f64 {
        self.at_most(outlook.wait(belief, self.worth / importance, said_after))
    }

    /// How long a page waits from one visit to the next whose site has common changes, where none becomes known; and the best test until then.
    #[must_use]
    pub fn wait_without(
        &self,
        outlook: &common_changes::Outlook,
        belief: &Belief,
        importance: f64,
    ) -> (f64, Option<Test>) {
        let turn = outlook.turn(belief, self.worth / importance);
        let wait = self.at_most(turn.map_or(f64::INFINITY, |turn| turn.wait));
        // Visits after common changes tell little of the page, so that tests are needed all the more.
        let (_, test) = self.wait_and_test(belief, importance);
        (wait, test.filter(|test| test.wait < wait))
    }

    /// How much more a visit of such a page is worth than it must be, where a common change is known since the last one, so many seconds
    /// ago.
    #[must_use]
    pub fn worth_after(
        &self,
        outlook: &common_changes::Outlook,
        belief: &Belief,
        importance: f64,
        seconds: f64,
    ) -> f64 {
        importance * outlook.worth_after(belief, seconds) / self.worth
    }

    /// The seconds between two visits of a page of which something tells that it changes, on average.
    fn interval_with(&self, outlook: &Outlook, belief: &Belief, importance: f64) -> f64 {
        let cost = self.worth / importance;
        self.at_most(match outlook {
            Outlook::Signals(outlook) => outlook.plan(belief, cost, belief.plan(cost)).1,
            Outlook::Common(outlook) => outlook.turn(belief, cost).map_or(f64::INFINITY, |turn| turn.length),
        })
    }

    /// How long a sitemap or feed waits that says when so many pages change. It is read as often as a page is visited on average; more often
    /// where its site `tells` changes, by the pages that it may save visits.
    #[must_use]
    pub fn listing_wait(&self, pages: f64, tells: bool) -> f64 {
        let part = if tells { LISTING_PAGES / pages.max(1.0) } else { 1.0 };
        self.interval * part.clamp(LISTING_PART_MIN, 1.0)
    }

    /// This time, or that after which every page has its turn.
    #[must_use]
    pub fn at_most(&self, wait: f64) -> f64 {
        wait.min(STARVED_AFTER * self.interval)
    }
}

/// Chooses which tests are made: those with the greatest gain, at most one visit in [`TEST_ONE_IN`].
#[derive(Clone, Copy, Debug)]
pub struct Tests {
    /// What a test must gain, as a multiple of the cost of a visit.
    gain_min: f64,
}

impl Default for Tests {
    fn default() -> Self {
        Tests { gain_min: TEST_GAIN_FIRST }
    }
}

impl Tests {
    /// How long a page waits from a visit to the next one, which may be a test.
    pub fn wait(&mut self, budget: &Budget, belief: &Belief, importance: f64) -> f64 {
        self.choose(budget.wait_and_test(belief, importance))
    }

    /// The time of the test, if it is made; otherwise that of the visit.
    pub fn choose(&mut self, (wait, test): (f64, Option<Test>)) -> f64 {
        if let Some(test) = test.filter(|test| test.gain > self.gain_min) {
            self.gain_min *= 1.0 + TEST_STEP;
            return test.wait;
        }
        self.gain_min = (self.gain_min * (1.0 - TEST_STEP / TEST_ONE_IN)).max(f64::MIN_POSITIVE);
        wait
    }
}

/// The worth at which so many visits a second are wanted; `demand` falls with the worth.
fn halve(visits_per_second: f64, demand: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = WORTH_RANGE;
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if demand(middle) > visits_per_second { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::{Prior, Seen};

    const DAY: f64 = 86_400.0;

    fn site(days: &[f64], rate_max: f64) -> SiteSample {
        let page = |days: &f64| Sampled {
            belief: Belief::of_rate(1.0 / days / DAY),
            importance: 1.0,
            stands_for: 1.0,
            is_told: false,
        };
        SiteSample { pages: days.iter().map(page).collect(), rate_max, outlook: None }
    }

    fn visits(site: &SiteSample, budget: Budget) -> f64 {
        site.pages.iter().map(|page| 1.0 / budget.wait(&page.belief, page.importance)).sum()
    }

    #[test]
    fn just_the_visits_of_the_budget_are_made() {
        let sites = [site(&[1.0, 3.0, 10.0, 30.0, 100.0], f64::INFINITY), site(&[0.01, 1_000.0], f64::INFINITY)];
        for per_second in [0.1 / DAY, 1.0 / DAY, 20.0 / DAY] {
            let (budget, of_sites) = Budget::solve(&sites, per_second);
            let all: f64 = sites.iter().map(|site| visits(site, budget)).sum();
            assert!((all / per_second - 1.0).abs() < 0.01, "{all} {per_second}");
            assert_eq!(of_sites, [budget, budget]);
        }
    }

    #[test]
    fn a_site_that_may_not_be_asked_so_often_leaves_its_visits_to_others() {
        let days = [1.0, 2.0, 4.0, 8.0, 16.0];
        let sites = [site(&days, 0.2 / DAY), site(&days, f64::INFINITY)];
        let (budget, of_sites) = Budget::solve(&sites, 2.0 / DAY);
        let [slow, other] = [0, 1].map(|n| DAY * visits(&sites[n], of_sites[n]));
        assert!((slow - SITE_PART * 0.2).abs() < 0.01 && (other - 1.8).abs() < 0.02, "{slow} {other}");
        assert!(of_sites[0].worth > budget.worth && of_sites[1] == budget, "{of_sites:?}");
        // Its pages wait longer on average: five pages, and a visit in five days.
        assert!((of_sites[0].interval / DAY - 25.0).abs() < 1e-6, "{of_sites:?}");
    }

    #[test]
    fn no_page_starves() {
        // One that changes each second is worth no visit beside the others.
        let sites = [site(&[1.0 / DAY, 10.0, 10.0, 10.0], f64::INFINITY)];
        let (budget, _) = Budget::solve(&sites, 0.1 / DAY);
        let wait = budget.wait(&sites[0].pages[0].belief, 1.0);
        assert_eq!(wait, STARVED_AFTER * 4.0 / (0.1 / DAY));
        // Importance does what it should.
        assert!(budget.wait(&sites[0].pages[1].belief, 2.0) < budget.wait(&sites[0].pages[1].belief, 1.0));
    }

    #[test]
    fn few_visits_are_tests() {
        // A visit found a change: that page may change each day or each month.
        let mut seen = Seen::default();
        seen.visit(3.0 * DAY, true);
        let belief = Belief::new(&Prior::default(), &seen);
        let budget = Budget { worth: 2.0 * DAY, interval: 30.0 * DAY };
        let mut tests = Tests::default();
        let waits = (0..10_000).map(|_| tests.wait(&budget, &belief, 1.0));
        let tested = waits.filter(|wait| *wait < budget.wait(&belief, 1.0)).count();
        let most = 10_000.0 / TEST_ONE_IN;
        assert!((0.8 * most..1.2 * most + 200.0).contains(&(tested as f64)), "{tested}");
        // What is known is not tested.
        let known = Belief::of_rate(1.0 / DAY);
        assert!((0..1_000).all(|_| tests.wait(&budget, &known, 1.0) == budget.wait(&known, 1.0)));
    }

    #[test]
    fn visits_after_common_changes_count_towards_the_budget() {
        // All pages change at once each twenty days, and are visited in turn once in ten.
        let visit = |page: u32, n: u32| {
            let before = f64::from(10 * n) + f64::from(page) / 10.0;
            let event = |day: f64| (day / 20.0).floor();
            let has_changed = event(before) < event(before + 10.0);
            common_changes::Visited { before: before * DAY, at: (before + 10.0) * DAY, has_changed }
        };
        let visits: Vec<Vec<_>> = (0..100).map(|page| (0..30).map(|n| visit(page, n)).collect()).collect();
        let common = common_changes::Common::learn(&Prior::default(), &visits);
        let outlook = common_changes::Outlook::new(&common).expect("it is proved");
        let mut site =
            SiteSample { outlook: Some(Outlook::Common(outlook.clone())), ..site(&[400.0; 10], f64::INFINITY) };
        site.pages.iter_mut().for_each(|page| page.is_told = true);
        let belief = site.pages[0].belief.clone();
        let per_second = 10.0 / 19.0 / DAY;
        let (budget, _) = Budget::solve(std::slice::from_ref(&site), per_second);
        // A page waits longer than it takes from visit to visit on average: common changes come between.
        let interval = budget.interval_with(&Outlook::Common(outlook.clone()), &belief, 1.0);
        let (wait, _) = budget.wait_without(&outlook, &belief, 1.0);
        assert!((interval / DAY - 19.0).abs() < 0.2 && wait > interval, "{interval} {wait}");
        assert!(budget.worth_after(&outlook, &belief, 1.0, 15.0 * DAY) > 1.0);
        // With half of the visits they are worth less; with importance more.
        let (scarce, _) = Budget::solve(&[site], 10.0 / 40.0 / DAY);
        let [few, more] = [0.5, 2.0].map(|importance| scarce.worth_after(&outlook, &belief, importance, 15.0 * DAY));
        assert!(scarce.worth > budget.worth && few < 1.0 && more > few, "{few} {more}");
    }
}
