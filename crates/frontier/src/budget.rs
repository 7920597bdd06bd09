//! What a visit must be worth to be made: so much that just the visits are made that the budget allows.
//!
//! Each page is visited when the value of a visit reaches `Λ` ([`crate::revisit`]). The smaller `Λ`, the more visits. A site that may not be
//! asked as often as that comes to has a `Λ` of its own, a greater one: its best pages are visited as often as its delay allows, and the
//! visits that it cannot have go to other sites.

use crate::revisit::{Belief, INFORMATION_MIN};

/// Of so many visits at most one is made for what it tells of a rate.
pub const TEST_ONE_IN: f64 = 33.0;
/// By how much the information for which a test is made rises with each test. It falls as fast where one in [`TEST_ONE_IN`] is made.
const TEST_STEP: f64 = 0.02;

/// No page waits longer than so many times the average wait. Pages that are worth no visit take at most one visit in so many for that.
pub const STARVED_AFTER: f64 = 256.0;
/// The part of the visits that a site may have for which its pages are planned where they want more: what was late is made up for by the rest.
const SITE_PART: f64 = 0.95;
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
}

/// The pages of a site.
#[derive(Clone, Debug, Default)]
pub struct SiteSample {
    /// Some of them, or all.
    pub pages: Vec<Sampled>,
    /// Visits a second that the site may have.
    pub rate_max: f64,
}

/// How often pages are visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// What a visit must be worth, by a page of importance 1.
    pub worth: f64,
    /// No page waits longer, in seconds.
    pub wait_max: f64,
}

impl Budget {
    /// Finds what visits must be worth where so many are made a second. Gives it for all sites, and the factor for each.
    #[must_use]
    pub fn solve(sites: &[SiteSample], visits_per_second: f64) -> (Budget, Vec<f64>) {
        let pages: f64 = sites.iter().flat_map(|site| &site.pages).map(|page| page.stands_for).sum();
        let wait_max = STARVED_AFTER * pages.max(1.0) / visits_per_second;
        let demand = |site: &SiteSample, worth: f64| -> f64 {
            let budget = Budget { worth, wait_max };
            let rate = |page: &Sampled| page.stands_for / budget.wait(&page.belief, page.importance);
            site.pages.iter().map(rate).sum()
        };
        let worth =
            halve(visits_per_second, |worth| sites.iter().map(|site| demand(site, worth).min(site.rate_max)).sum());
        let factor = |site: &SiteSample| match demand(site, worth) > site.rate_max {
            true => (halve(SITE_PART * site.rate_max, |worth| demand(site, worth)) / worth).max(1.0),
            false => 1.0,
        };
        (Budget { worth, wait_max }, sites.iter().map(factor).collect())
    }

    /// How long a page waits from one visit to the next, in seconds.
    #[must_use]
    pub fn wait(&self, belief: &Belief, importance: f64) -> f64 {
        belief.wait(self.worth / importance).map_or(self.wait_max, |wait| wait.min(self.wait_max))
    }
}

/// Chooses visits that are made for what they tell: so soon after another that a page worth visiting would often be as it was. A page
/// that changes faster than it is visited shows a change each time, whatever its rate.
#[derive(Clone, Copy, Debug)]
pub struct Tests {
    /// What a test must tell, in nats of a page of importance 1.
    nats: f64,
}

impl Default for Tests {
    fn default() -> Self {
        Tests { nats: 2.0 * INFORMATION_MIN }
    }
}

impl Tests {
    /// How long a page waits from a visit to the next one, which may be a test.
    pub fn wait(&mut self, budget: &Budget, belief: &Belief, importance: f64) -> f64 {
        let wait = budget.wait(belief, importance);
        // A page that changes more slowly than this is worth visits.
        let at = budget.worth / importance;
        let nats = if at < wait { belief.information(at) } else { 0.0 };
        if nats > INFORMATION_MIN && nats * importance > self.nats {
            self.nats *= 1.0 + TEST_STEP;
            return at;
        }
        self.nats = (self.nats * (1.0 - TEST_STEP / TEST_ONE_IN)).max(f64::MIN_POSITIVE);
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
        let page = |days: &f64| Sampled { belief: Belief::of_rate(1.0 / days / DAY), importance: 1.0, stands_for: 1.0 };
        SiteSample { pages: days.iter().map(page).collect(), rate_max }
    }

    fn visits(site: &SiteSample, budget: Budget, factor: f64) -> f64 {
        site.pages.iter().map(|page| 1.0 / budget.wait(&page.belief, page.importance / factor)).sum()
    }

    #[test]
    fn just_the_visits_of_the_budget_are_made() {
        let sites = [site(&[1.0, 3.0, 10.0, 30.0, 100.0], f64::INFINITY), site(&[0.01, 1_000.0], f64::INFINITY)];
        for per_second in [0.1 / DAY, 1.0 / DAY, 20.0 / DAY] {
            let (budget, factors) = Budget::solve(&sites, per_second);
            let all: f64 = sites.iter().map(|site| visits(site, budget, 1.0)).sum();
            assert!((all / per_second - 1.0).abs() < 0.01, "{all} {per_second}");
            assert_eq!(factors, [1.0, 1.0]);
        }
    }

    #[test]
    fn a_site_that_may_not_be_asked_so_often_leaves_its_visits_to_others() {
        let days = [1.0, 2.0, 4.0, 8.0, 16.0];
        let sites = [site(&days, 0.2 / DAY), site(&days, f64::INFINITY)];
        let (budget, factors) = Budget::solve(&sites, 2.0 / DAY);
        let [slow, other] = [0, 1].map(|n| DAY * visits(&sites[n], budget, factors[n]));
        assert!((slow - SITE_PART * 0.2).abs() < 0.01 && (other - 1.8).abs() < 0.02, "{slow} {other}");
        assert!(factors[0] > 1.0 && factors[1] == 1.0, "{factors:?}");
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
        let mut seen = Seen::default();
        (0..3).for_each(|_| seen.visit(60.0 * DAY, true));
        let belief = Belief::new(&Prior::default(), &seen);
        let budget = Budget { worth: 20.0 * DAY, wait_max: 1e9 };
        let mut tests = Tests::default();
        let waits = (0..10_000).map(|_| tests.wait(&budget, &belief, 1.0));
        let tested = waits.filter(|wait| *wait == budget.worth).count();
        assert!((200..400).contains(&tested), "{tested}");
        // What is known is not tested.
        let known = Belief::of_rate(1.0 / DAY);
        assert!((0..1_000).all(|_| tests.wait(&budget, &known, 1.0) == budget.wait(&known, 1.0)));
    }
}
