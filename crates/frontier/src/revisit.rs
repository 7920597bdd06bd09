//! Which known page is worth the next visit.
//!
//! A page that changes at a rate `Δ`, of importance `μ`, last visited `τ` ago: a visit is worth `V = μ (1 − e^(−Δτ)(1 + Δτ)) / Δ` (Azar et
//! al., *Tractable near-optimal policies for crawling*, PNAS 2018; Google, *A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating
//! Signals*, WWW 2025). Visiting always the page with the greatest `V` is all but the optimum for the budget that there is. `V` grows with
//! `τ`, so every page has its turn, but for those that change so fast that no visit lasts.
//!
//! Rates are not known. Each page has a belief: a weight for each rate of a grid, from minutes to years. A visit that finds a change, or
//! none, shifts the weights (Bayes). A page begins with what is known of its site ([`Prior::learn`], empirical Bayes), so one bit a visit is
//! enough.

use std::sync::LazyLock;
use std::time::Duration;

use model::{Change, Visit};

/// A visit that would tell less is not made for that, in nats.
pub const INFORMATION_MIN: f64 = 0.05;
/// Rates of the grid.
pub const RATES: usize = 40;
/// The fastest: a change in so many seconds.
const FASTEST_SECONDS: f64 = 1.0;
/// The slowest: ten years.
const SLOWEST_SECONDS: f64 = 10.0 * 365.25 * 86_400.0;
/// Times after a visit for which the value of the next one is worked out beforehand. Between them it is interpolated.
const WAITS: usize = 160;
/// The shortest of them, in seconds.
const WAIT_MIN: f64 = 1.0;
/// The longest: thirty years.
const WAIT_MAX: f64 = 30.0 * 365.25 * 86_400.0;
/// How often the weights of pages and of their site are fitted to each other.
const FITTINGS: usize = 30;
/// The part of a prior that stays what it was before anything was seen: no rate is ever impossible.
const UNSEEN_PART: f64 = 0.02;
/// The least variance of the bell that a prior has in it, in steps of the grid.
const BELL_VARIANCE_MIN: f64 = 0.5;
/// What the visits of a page have shown counts by so much less with each later visit: rates change, too.
const MEMORY: f64 = 0.985;

/// The rates, in changes a second, the fastest first.
static GRID: LazyLock<[f64; RATES]> = LazyLock::new(|| {
    let step = (SLOWEST_SECONDS / FASTEST_SECONDS).ln() / (RATES - 1) as f64;
    std::array::from_fn(|n| 1.0 / (FASTEST_SECONDS * (step * n as f64).exp()))
});

/// The times after a visit, and what the next one is worth then by each rate.
static VALUES: LazyLock<Vec<(f64, [f64; RATES])>> = LazyLock::new(|| {
    let step = (WAIT_MAX / WAIT_MIN).ln() / (WAITS - 1) as f64;
    let wait = |n: usize| WAIT_MIN * (step * n as f64).exp();
    (0..WAITS).map(|n| (wait(n), std::array::from_fn(|rate| value(GRID[rate], wait(n))))).collect()
});

/// How unsure it is what happens with a probability, in nats.
fn entropy(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 { 0.0 } else { -(p * p.ln() + (1.0 - p) * (1.0 - p).ln()) }
}

/// How likely each rate is, for the pages of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior([f64; RATES]);

/// What was seen of a page: how likely that is by each rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen([f64; RATES]);

/// How likely each rate is, for a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief([f64; RATES]);

impl Default for Prior {
    /// Where nothing was seen: every time scale is as likely as any other.
    fn default() -> Self {
        Prior([1.0 / RATES as f64; RATES])
    }
}

impl Prior {
    /// What is seen of many pages, as far as it goes beyond what was believed `before`.
    #[must_use]
    pub fn learn(before: &Prior, pages: &[Seen]) -> Prior {
        let mut prior = before.clone();
        if pages.is_empty() {
            return prior;
        }
        for _ in 0..FITTINGS {
            let mut sum = [0.0; RATES];
            for page in pages {
                let Belief(weights) = Belief::new(&prior, page);
                sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
            }
            // One page more, of which nothing is known: few pages say little of the others.
            let total = pages.len() as f64 + 1.0;
            for ((weight, sum), before) in prior.0.iter_mut().zip(sum).zip(before.0) {
                *weight = (1.0 - UNSEEN_PART) * (sum + before) / total + UNSEEN_PART / RATES as f64;
            }
            prior.smooth();
        }
        prior
    }

    /// Half of it becomes a bell around its middle (a lognormal distribution of rates). Visits do not tell pages that change fast from
    /// those that change faster: of these, all that is known is how many there are of the others.
    fn smooth(&mut self) {
        let known = self.0.map(|weight| (weight - UNSEEN_PART / RATES as f64) / (1.0 - UNSEEN_PART));
        let moment =
            |of: &dyn Fn(f64) -> f64| (0..RATES).zip(known).map(|(n, weight)| weight * of(n as f64)).sum::<f64>();
        let mean = moment(&|n| n);
        let variance = moment(&|n| (n - mean).powi(2)) + BELL_VARIANCE_MIN;
        let bell: [f64; RATES] = std::array::from_fn(|n| (-(n as f64 - mean).powi(2) / 2.0 / variance).exp());
        let whole: f64 = bell.iter().sum();
        for (weight, bell) in self.0.iter_mut().zip(bell) {
            let bell = UNSEEN_PART / RATES as f64 + (1.0 - UNSEEN_PART) * bell / whole;
            *weight = f64::midpoint(*weight, bell);
        }
    }
}

impl Default for Seen {
    /// Nothing: one visit says nothing of changes.
    fn default() -> Self {
        Seen([1.0; RATES])
    }
}

impl Seen {
    /// The evidence of a page's visits, in their order. A failed one gives none: the next one covers the time since the one before it.
    #[must_use]
    pub fn of(visits: &[Visit]) -> Seen {
        let mut seen = Seen::default();
        let mut before: Option<&Visit> = None;
        for visit in visits {
            let change = before.map(|before| (Change::between(Some(before), visit), visit.at.since(before.at)));
            match change {
                Some((Change::Failed, _)) => continue,
                // The clock was set back in between: how much time passed is unknown.
                Some((_, Duration::ZERO)) => {}
                Some((change, time)) => seen.visit(time.as_secs_f64(), change != Change::Unchanged),
                None => {}
            }
            before = Some(visit);
        }
        seen
    }

    /// Takes in a visit, so many seconds after the one before: whether it found a change.
    pub fn visit(&mut self, seconds: f64, has_changed: bool) {
        let mut greatest = f64::MIN_POSITIVE;
        for (likelihood, rate) in self.0.iter_mut().zip(GRID.iter()) {
            let unchanged = (-rate * seconds.max(0.0)).exp();
            *likelihood = likelihood.powf(MEMORY) * if has_changed { 1.0 - unchanged } else { unchanged };
            greatest = greatest.max(*likelihood);
        }
        // Only their ratios matter; and what was seen may be wrong once.
        self.0.iter_mut().for_each(|likelihood| *likelihood = (*likelihood / greatest).max(1e-12));
    }
}

impl Belief {
    /// What is believed of a page: by its site, and by what was seen of it.
    #[must_use]
    pub fn new(prior: &Prior, seen: &Seen) -> Belief {
        let mut weights: [f64; RATES] = std::array::from_fn(|n| prior.0[n] * seen.0[n]);
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum.max(f64::MIN_POSITIVE));
        Belief(weights)
    }

    /// What is believed of a page whose rate is known, in changes a second.
    #[must_use]
    pub fn of_rate(rate: f64) -> Belief {
        let mut weights = [0.0; RATES];
        let faster = GRID.partition_point(|of_grid| *of_grid > rate).clamp(1, RATES - 1);
        let part = (GRID[faster - 1].ln() - rate.ln()) / (GRID[faster - 1].ln() - GRID[faster].ln());
        (weights[faster - 1], weights[faster]) = (1.0 - part.clamp(0.0, 1.0), part.clamp(0.0, 1.0));
        Belief(weights)
    }

    /// What a visit is worth, so many seconds after the last one: the seconds for which the copy of a page of importance 1 is expected to be
    /// right that it would not be otherwise, weighed as the module says.
    #[must_use]
    pub fn value(&self, seconds: f64) -> f64 {
        self.0.iter().zip(GRID.iter()).map(|(weight, rate)| weight * value(*rate, seconds)).sum()
    }

    /// How likely it is that the page is as it was so many seconds ago.
    #[must_use]
    pub fn freshness(&self, seconds: f64) -> f64 {
        self.0.iter().zip(GRID.iter()).map(|(weight, rate)| weight * (-rate * seconds).exp()).sum()
    }

    /// How many seconds after a visit the next one is worth so much; `None` where it never is.
    #[must_use]
    pub fn wait(&self, worth: f64) -> Option<f64> {
        let value_at = |n: usize| self.0.iter().zip(&VALUES[n].1).map(|(weight, value)| weight * value).sum::<f64>();
        let (mut low, mut high) = (0, WAITS - 1);
        let (mut below, mut above) = (value_at(low), value_at(high));
        if worth <= below {
            // The first times are so short that it grows with their square.
            return Some(WAIT_MIN * (worth / below.max(f64::MIN_POSITIVE)).sqrt());
        }
        if worth > above {
            return None;
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let value = value_at(middle);
            if value < worth { (low, below) = (middle, value) } else { (high, above) = (middle, value) }
        }
        let part = (worth - below) / (above - below).max(f64::MIN_POSITIVE);
        Some(VALUES[low].0 + part * (VALUES[high].0 - VALUES[low].0))
    }

    /// How much a visit would tell of the rate, so many seconds after the last one, in nats: nothing where it is sure what it would find.
    #[must_use]
    pub fn information(&self, seconds: f64) -> f64 {
        let by_rate: f64 =
            self.0.iter().zip(GRID.iter()).map(|(weight, rate)| weight * entropy((-rate * seconds).exp())).sum();
        (entropy(self.freshness(seconds)) - by_rate).max(0.0)
    }

    /// For how many seconds the page is expected to have been different from a copy that is so many seconds old.
    #[must_use]
    pub fn age(&self, seconds: f64) -> f64 {
        let since = |rate: f64| seconds - (1.0 - (-rate * seconds).exp()) / rate;
        self.0.iter().zip(GRID.iter()).map(|(weight, rate)| weight * since(*rate)).sum()
    }

    /// The typical time between two changes, in seconds: the geometric mean.
    #[must_use]
    pub fn interval(&self) -> f64 {
        self.0.iter().zip(GRID.iter()).map(|(weight, rate)| -weight * rate.ln()).sum::<f64>().exp()
    }

    /// The expected changes a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.0.iter().zip(GRID.iter()).map(|(weight, rate)| weight * rate).sum()
    }
}

/// What a visit of a page is worth that changes so many times a second.
#[must_use]
pub fn value(rate: f64, seconds: f64) -> f64 {
    let expected = rate * seconds.max(0.0);
    // By its series where the difference would vanish.
    let part = if expected < 1e-4 { expected * expected / 2.0 } else { 1.0 - (-expected).exp() * (1.0 + expected) };
    part / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    #[test]
    fn a_visit_is_worth_more_the_longer_ago_the_last_one_is() {
        for rate in GRID.iter() {
            let values: Vec<f64> =
                [0.0, 1.0, 60.0, DAY, 30.0 * DAY, 3_000.0 * DAY].map(|tau| value(*rate, tau)).to_vec();
            assert!(values.is_sorted() && values[0] == 0.0, "{rate}: {values:?}");
            assert!(values[5] <= 1.0 / rate, "{rate}: {values:?}");
        }
        // It is the same on both sides of where the series is used.
        let (rate, around) = (1.0 / DAY, 1e-4 * DAY);
        assert!((value(rate, around * 0.999_9) / value(rate, around * 1.000_1) - 1.0).abs() < 1e-3);
    }

    #[test]
    fn beliefs_follow_what_is_seen() {
        let believed = |every: f64, visits: usize, changed: fn(usize) -> bool| {
            let mut seen = Seen::default();
            (0..visits).for_each(|n| seen.visit(every, changed(n)));
            Belief::new(&Prior::default(), &seen)
        };
        let (never, always) = (believed(DAY, 30, |_| false), believed(DAY, 30, |_| true));
        assert!(never.rate() < 1.0 / (20.0 * DAY) && always.rate() > 2.0 / DAY, "{} {}", never.rate(), always.rate());
        // A change in every second visit: about ln 2 a day.
        let half = believed(DAY, 200, |n| n % 2 == 0).rate() * DAY;
        assert!((0.5..0.9).contains(&half), "{half}");
        assert!(never.freshness(DAY) > 0.9 && always.freshness(DAY) < 0.1);
        // However long nothing is seen, or the opposite of what was: it stays a belief.
        let mut seen = Seen::default();
        (0..10_000).for_each(|n| seen.visit(60.0, n % 100 == 0));
        let sum: f64 = Belief::new(&Prior::default(), &seen).0.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    #[test]
    fn a_visit_tells_most_where_it_is_least_sure_what_it_finds() {
        let mut seen = Seen::default();
        // A change each month: every day, or every few weeks?
        (0..6).for_each(|_| seen.visit(30.0 * DAY, true));
        let belief = Belief::new(&Prior::default(), &seen);
        let soon = belief.information(2.0 * DAY);
        assert!(soon > 5.0 * belief.information(90.0 * DAY) && soon > INFORMATION_MIN, "{soon}");
        assert!(soon > belief.information(1.0) && belief.information(0.0) == 0.0);
        // What is known is not worth a visit.
        let mut seen = Seen::default();
        (0..500).for_each(|n| seen.visit(DAY, n % 3 == 0));
        let known = Belief::new(&Prior::default(), &seen);
        assert!(known.information(DAY) < INFORMATION_MIN, "{}", known.information(DAY));
    }

    #[test]
    fn a_page_waits_until_its_visit_is_worth_so_much() {
        for every in [60.0, DAY, 200.0 * DAY] {
            let belief = Belief::of_rate(1.0 / every);
            for part in [1e-6, 0.01, 0.3, 0.9] {
                let worth = part * every;
                let wait = belief.wait(worth).expect("less than it may come to");
                assert!((belief.value(wait) / worth - 1.0).abs() < 0.05, "{every} {part}: {wait}");
            }
            assert_eq!(belief.wait(2.0 * every), None);
        }
    }

    #[test]
    fn a_site_tells_of_pages_that_were_seen_once() {
        let page = |every: f64| {
            let mut seen = Seen::default();
            (0..6).for_each(|_| seen.visit(every, true));
            (0..2).for_each(|_| seen.visit(every / 20.0, false));
            seen
        };
        let fast: Vec<Seen> = (0..50).map(|_| page(3_600.0)).collect();
        let slow: Vec<Seen> = (0..50).map(|_| page(100.0 * DAY)).collect();
        let believed =
            |pages: &[Seen]| Belief::new(&Prior::learn(&Prior::default(), pages), &Seen::default()).freshness(DAY);
        assert!(believed(&fast) < 0.1 && believed(&slow) > 0.8, "{} {}", believed(&fast), believed(&slow));
        assert_eq!(Prior::learn(&Prior::default(), &[]), Prior::default());
        // One page says less than fifty.
        let one = believed(&slow[..1]);
        assert!(one < believed(&slow), "{one}");
    }
}
