//! Which known page is worth the next visit.
//!
//! A page that changes at a rate `Δ`, of importance `μ`, last visited `τ` ago: a visit is worth `V = μ (1 − e^(−Δτ)(1 + Δτ)) / Δ` (Azar et
//! al., *Tractable near-optimal policies for crawling*, PNAS 2018; Google, *A Scalable Crawling Algorithm Utilizing Noisy Change-Indicating
//! Signals*, WWW 2025). Visiting always the page with the greatest `V` is all but the optimum for the budget that there is. `V` grows with
//! `τ`, so every page has its turn, but for those that change so fast that no visit lasts.
//!
//! Rates are not known. Each page has a belief: a weight for each rate of a grid, from seconds to years. A visit that finds a change, or
//! none, shifts the weights (Bayes). A page begins with what is known of its site ([`Prior::learn`], empirical Bayes), so one bit a visit is
//! enough.
//!
//! A page that changes between any two visits shows a change each time, whatever its rate. Whether it is worth visits at all is told only by
//! a [`Test`]: a visit soon after another one.

use std::sync::LazyLock;

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
/// No rate becomes less likely than this beside the likeliest one, so that none ends at zero. A much greater limit would forget the evidence
/// against a rate but keep the evidence for it.
const LIKELIHOOD_MIN: f64 = 1e-200;
/// When a test may be made, in steps of [`TIMES`] from the time that a visit costs: a quarter to twice that time.
const TEST_STEPS: [isize; 4] = [-12, -6, 0, 6];

/// The rates, in changes a second, the fastest first.
static GRID: LazyLock<[f64; RATES]> = LazyLock::new(|| {
    let step = (SLOWEST_SECONDS / FASTEST_SECONDS).ln() / (RATES - 1) as f64;
    std::array::from_fn(|n| 1.0 / (FASTEST_SECONDS * (step * n as f64).exp()))
});

/// A time after a visit, and what each rate says of it.
pub(crate) struct AtTime {
    pub(crate) seconds: f64,
    /// What the next visit is worth then.
    values: [f64; RATES],
    /// How likely it is that the page is as it was.
    pub(crate) same: [f64; RATES],
}

/// The logarithm of the ratio between two times.
static TIME_STEP: LazyLock<f64> = LazyLock::new(|| (WAIT_MAX / WAIT_MIN).ln() / (WAITS - 1) as f64);

/// Times after a visit, the shortest first.
static TIMES: LazyLock<Vec<AtTime>> = LazyLock::new(|| {
    let at = |seconds: f64| AtTime {
        seconds,
        values: GRID.map(|rate| value(rate, seconds)),
        same: GRID.map(|rate| (-rate * seconds).exp()),
    };
    (0..WAITS).map(|n| at(WAIT_MIN * (*TIME_STEP * n as f64).exp())).collect()
});

/// How many [`TIMES`] there are.
pub(crate) const TIMES_COUNT: usize = WAITS;

/// One of [`TIMES`].
pub(crate) fn time_at(place: usize) -> &'static AtTime {
    &TIMES[place]
}

/// The rates, the fastest first.
pub(crate) fn rates() -> &'static [f64; RATES] {
    &GRID
}

/// What each rate gains, where a visit costs as many seconds as each of [`TIMES`] has.
static KNOWN_GAINS: LazyLock<Vec<[f64; RATES]>> = LazyLock::new(|| {
    let only = |rate: usize| std::array::from_fn(|n| f64::from(n == rate));
    let gain = |rate: usize, cost: f64| Turn::of(&only(rate), cost).map_or(0.0, |turn| turn.gain);
    TIMES.iter().map(|time| std::array::from_fn(|rate| gain(rate, time.seconds))).collect()
});

/// The place among [`TIMES`] of the time nearest to this one: at most 7 % away.
pub(crate) fn time_place(seconds: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped to the table")]
    let place = ((seconds / WAIT_MIN).ln() / *TIME_STEP).round().clamp(0.0, (WAITS - 1) as f64) as usize;
    place
}

/// Sums that [`dot`] adds up beside each other: one sum alone would wait for each addition.
const LANES: usize = 8;

fn dot(weights: &[f64], of: &[f64]) -> f64 {
    let (weights, of) = (weights.chunks_exact(LANES), of.chunks_exact(LANES));
    let rest: f64 = weights.remainder().iter().zip(of.remainder()).map(|(weight, of)| weight * of).sum();
    let mut sums = [0.0; LANES];
    for (weights, of) in weights.zip(of) {
        for lane in 0..LANES {
            sums[lane] += weights[lane] * of[lane];
        }
    }
    rest + sums.iter().sum::<f64>()
}

/// The next visit of a page.
#[derive(Clone, Copy)]
struct Turn {
    /// Seconds after the last one.
    wait: f64,
    /// The part of the time for which the copy is right, less what its visits cost. Where a visit is made when it is worth what it costs,
    /// that is how likely it is that the copy is still right then.
    gain: f64,
}

impl Turn {
    /// When a visit is worth so much; `None` where it never is.
    fn of(weights: &[f64; RATES], worth: f64) -> Option<Turn> {
        let (mut low, mut high) = (0, WAITS - 1);
        let (mut below, mut above) = (dot(weights, &TIMES[low].values), dot(weights, &TIMES[high].values));
        if worth <= below {
            // The first times are so short that it grows with their square.
            let wait = WAIT_MIN * (worth / below.max(f64::MIN_POSITIVE)).sqrt();
            return Some(Turn { wait, gain: dot(weights, &TIMES[low].same) });
        }
        if worth > above {
            return None;
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let value = dot(weights, &TIMES[middle].values);
            if value < worth { (low, below) = (middle, value) } else { (high, above) = (middle, value) }
        }
        let part = (worth - below) / (above - below).max(f64::MIN_POSITIVE);
        let between = |low: f64, high: f64| low + part * (high - low);
        Some(Turn {
            wait: between(TIMES[low].seconds, TIMES[high].seconds),
            gain: between(dot(weights, &TIMES[low].same), dot(weights, &TIMES[high].same)),
        })
    }
}

/// How a page is visited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Seconds to the next visit; infinite where none is worth its cost.
    pub wait: f64,
    /// The part of the time for which the copy is right, less what visits cost.
    pub gain: f64,
}

/// A visit made for what it tells of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// Seconds after the last visit.
    pub wait: f64,
    /// What is expected of it beyond its cost, as a multiple of the cost.
    pub gain: f64,
}

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
    /// Takes in a visit, so many seconds after the one before: whether it found a change.
    pub fn visit(&mut self, seconds: f64, has_changed: bool) {
        let time = &TIMES[time_place(seconds)];
        self.weigh(|rate| if has_changed { 1.0 - time.same[rate] } else { time.same[rate] });
    }

    /// Takes in when a page changed last: so many seconds before a visit, and not since.
    pub(crate) fn last_change(&mut self, ago: f64) {
        let time = &TIMES[time_place(ago)];
        self.weigh(|rate| GRID[rate] * time.same[rate]);
    }

    /// Takes in how likely it is what was seen, by each rate.
    pub(crate) fn weigh(&mut self, likely: impl Fn(usize) -> f64) {
        let mut greatest = f64::MIN_POSITIVE;
        for (rate, likelihood) in self.0.iter_mut().enumerate() {
            *likelihood *= likely(rate);
            greatest = greatest.max(*likelihood);
        }
        // Only their ratios matter.
        self.0.iter_mut().for_each(|likelihood| *likelihood = (*likelihood / greatest).max(LIKELIHOOD_MIN));
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

    /// The same by the nearest of the times that are worked out beforehand, which is quicker.
    #[must_use]
    pub fn likely_same(&self, seconds: f64) -> f64 {
        self.mean(&TIMES[time_place(seconds)].same)
    }

    /// How many seconds after a visit the next one is worth so much; `None` where it never is.
    #[must_use]
    pub fn wait(&self, worth: f64) -> Option<f64> {
        Turn::of(&self.0, worth).map(|turn| turn.wait)
    }

    /// The mean of what each rate has.
    pub(crate) fn mean(&self, of: &[f64; RATES]) -> f64 {
        dot(&self.0, of)
    }

    /// How a page is visited where a visit costs so many seconds.
    #[must_use]
    pub fn plan(&self, cost: f64) -> Plan {
        let turn = Turn::of(&self.0, cost);
        turn.map_or(Plan { wait: f64::INFINITY, gain: 0.0 }, |Turn { wait, gain }| Plan { wait, gain })
    }

    /// How long a page waits where a visit costs so many seconds (as [`Belief::wait`]), and the best test until then, where what is learned
    /// helps for as long as `lasts`. No test where none is worth its cost.
    ///
    /// Perfect knowledge would gain as much as the best turn for each rate gains more than one turn for all. A test gains the share of it
    /// by which it lessens the doubt whether the page is worth visits (by the mutual information of both). One outcome alone often changes no
    /// decision, so the next decision does not measure what tests are worth.
    #[must_use]
    pub fn wait_and_test(&self, cost: f64, lasts: f64) -> (Option<f64>, Option<Test>) {
        let turn = Turn::of(&self.0, cost);
        let test = self.test(turn.unwrap_or(Turn { wait: f64::INFINITY, gain: 0.0 }), cost, lasts);
        (turn.map(|turn| turn.wait), test)
    }

    fn test(&self, turn: Turn, cost: f64, lasts: f64) -> Option<Test> {
        let at = time_place(cost);
        let gain_max = lasts * (dot(&self.0, &KNOWN_GAINS[at]) - turn.gain);
        if gain_max <= 0.0 {
            return None;
        }
        // From this rate on a page changes so slowly that visits are worth their cost.
        let slow = GRID.partition_point(|rate| rate * cost > 1.0);
        let is_slow: f64 = self.0[slow..].iter().sum();
        let doubt = entropy(is_slow);
        if doubt <= 0.0 {
            return None;
        }
        let test = |time: &AtTime| {
            let same = dot(&self.0, &time.same);
            let right = dot(&self.0, &time.values) + time.seconds * same;
            let loss = cost + time.seconds * turn.gain - right;
            let same_and_slow = dot(&self.0[slow..], &time.same[slow..]);
            let if_known = is_slow * entropy(same_and_slow / is_slow)
                + (1.0 - is_slow) * entropy((same - same_and_slow) / (1.0 - is_slow));
            let told = (entropy(same) - if_known).max(0.0) / doubt;
            Test { wait: time.seconds, gain: (gain_max * told - loss) / cost }
        };
        let times = TEST_STEPS.iter().filter_map(|step| TIMES.get(at.checked_add_signed(*step)?));
        let tests = times.filter(|time| time.seconds < turn.wait).map(test).filter(|test| test.gain > 0.0);
        tests.max_by(|one, other| one.gain.total_cmp(&other.gain))
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
    fn tests_are_worth_their_cost_where_it_is_in_doubt_whether_visits_are() {
        let seen = |visits: usize, days: f64, changed: fn(usize) -> bool| {
            let mut seen = Seen::default();
            (0..visits).for_each(|n| seen.visit(days * DAY, changed(n)));
            seen
        };
        // A site with pages of both kinds.
        let (fast, slow) = (seen(20, 1.0, |n| n % 2 == 0), seen(20, 20.0, |n| n % 2 == 0));
        let prior = Prior::learn(&Prior::default(), &vec![[fast, slow]; 20].concat());
        let (cost, lasts) = (15.0 * DAY, 3_000.0 * DAY);
        let test = |seen: &Seen, lasts: f64| Belief::new(&prior, seen).wait_and_test(cost, lasts).1;
        // It changed once: does it change each day, or every few weeks? A visit soon after another one tells.
        let in_doubt = seen(1, 30.0, |_| true);
        let best = test(&in_doubt, lasts).expect("a test");
        assert!((cost / 5.0..2.5 * cost).contains(&best.wait) && best.gain > 0.5, "{best:?}");
        // The longer the lesson helps, the more it is worth.
        assert!(test(&in_doubt, 2.0 * lasts).expect("a test").gain > best.gain);
        assert_eq!(test(&in_doubt, 0.0), None);
        // What is known is not tested: that visits are worth their cost, and that they are not.
        assert_eq!(test(&seen(200, 20.0, |n| n % 8 == 0), lasts), None);
        assert_eq!(test(&seen(500, 1.0, |n| n % 3 == 0), lasts), None);
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
