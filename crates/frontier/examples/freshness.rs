//! How fresh the copies of a changing web are by several rules, beside the analytic optimum.
//!
//! `cargo run --release -p frontier --example freshness -- [PAGES]`
//!
//! Pages change by themselves (Poisson), with rates from a lognormal distribution that no rule knows. Every rule has the same visits in each
//! step. In the second half of the time, the share of copies that are right is averaged, weighed by importance. Nutch's rule is that of
//! AdaptiveFetchSchedule (interval × 1.4 or × 0.8, by nutch-default.xml), StormCrawler's that of AdaptiveScheduler (× 1.5 or × 0.5); both
//! are scaled to the budget by visiting what is longest overdue.

#![expect(clippy::print_stdout, reason = "its output is a table")]

use frontier::revisit::{Belief, INFORMATION_MIN, LEARN_ONE_IN, Prior, Seen, value};

/// Pages, unless told otherwise.
const PAGES: usize = 100_000;
/// Visits a page, on average, over the whole time.
const VISITS: f64 = 240.0;
/// Steps in that time.
const STEPS: usize = 4_800;
/// The mean of the logarithm of the time between changes, in seconds: ten days. Its deviation is 1.5: mostly from a day to half a year.
const MEAN_LOG: f64 = 13.67;
const DEVIATION_LOG: f64 = 1.5;
/// The prior of the site is learned again each time so many steps have passed.
const LEARN_EVERY: usize = 100;
/// Pages from which it is learned.
const SAMPLE: usize = 4_000;

/// Random numbers (splitmix64), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.next().max(1e-300).ln()).sqrt(), std::f64::consts::TAU * self.next());
        radius * angle.cos()
    }
}

/// The web: rates and importances.
struct Web {
    rates: Vec<f64>,
    importances: Vec<f64>,
}

impl Web {
    fn new(pages: usize, is_pareto: bool) -> Self {
        let mut random = Random(7);
        let rates = (0..pages).map(|_| 1.0 / (MEAN_LOG + DEVIATION_LOG * random.normal()).exp()).collect();
        let importance = |random: &mut Random| if is_pareto { random.next().max(1e-6).powf(-1.0 / 1.5) } else { 1.0 };
        Web { rates, importances: (0..pages).map(|_| importance(&mut random)).collect() }
    }

    /// The freshness of the best schedule that knows all rates, for so many visits a second: each page is visited when a visit is worth
    /// `Λ`, which the budget sets.
    fn optimum(&self, visits_per_second: f64) -> f64 {
        let interval = |rate: f64, importance: f64, worth: f64| {
            if importance / rate <= worth {
                return f64::INFINITY;
            }
            let (mut low, mut high) = (0.0, 1e13);
            for _ in 0..100 {
                let middle = (low + high) / 2.0;
                if importance * value(rate, middle) < worth { low = middle } else { high = middle }
            }
            high
        };
        let pages = || self.rates.iter().zip(&self.importances);
        let (mut low, mut high) = (1e-3_f64, 1e13_f64);
        for _ in 0..60 {
            let middle = (low * high).sqrt();
            let visits: f64 = pages().map(|(rate, importance)| 1.0 / interval(*rate, *importance, middle)).sum();
            if visits > visits_per_second { low = middle } else { high = middle }
        }
        let fresh = |(rate, importance): (&f64, &f64)| {
            let interval = interval(*rate, *importance, high);
            let fresh = if interval.is_finite() { (1.0 - (-rate * interval).exp()) / (rate * interval) } else { 0.0 };
            fresh * importance
        };
        pages().map(fresh).sum::<f64>() / self.importances.iter().sum::<f64>()
    }
}

/// A rule that chooses.
trait Rule {
    /// How urgent each page is, so many seconds after its last visit.
    fn urgency(&self, page: usize, seconds: f64) -> f64;
    /// How much a visit of a page would tell; where it is nothing, no visit is made for that.
    fn information(&self, _page: usize, _seconds: f64) -> f64 {
        0.0
    }
    /// A visit, so many seconds after the one before.
    fn visited(&mut self, page: usize, seconds: f64, has_changed: bool);
    /// A step has passed.
    fn step(&mut self, _step: usize) {}
}

/// All pages alike.
struct Uniform;

impl Rule for Uniform {
    fn urgency(&self, _page: usize, seconds: f64) -> f64 {
        seconds
    }

    fn visited(&mut self, _page: usize, _seconds: f64, _has_changed: bool) {}
}

/// An interval that shrinks where a change was found and grows where none was; what is longest overdue comes first.
struct Adaptive {
    shrinks: f64,
    grows: f64,
    intervals: Vec<f64>,
    bounds: (f64, f64),
}

impl Rule for Adaptive {
    fn urgency(&self, page: usize, seconds: f64) -> f64 {
        seconds / self.intervals[page]
    }

    fn visited(&mut self, page: usize, _seconds: f64, has_changed: bool) {
        let factor = if has_changed { self.shrinks } else { self.grows };
        self.intervals[page] = (self.intervals[page] * factor).clamp(self.bounds.0, self.bounds.1);
    }
}

/// Ours, if rates were known.
struct Known {
    rates: Vec<f64>,
    importances: Vec<f64>,
}

impl Rule for Known {
    fn urgency(&self, page: usize, seconds: f64) -> f64 {
        self.importances[page] * value(self.rates[page], seconds)
    }

    fn visited(&mut self, _page: usize, _seconds: f64, _has_changed: bool) {}
}

/// Ours.
struct Greedy {
    prior: Prior,
    seen: Vec<Seen>,
    beliefs: Vec<Belief>,
    importances: Vec<f64>,
}

impl Rule for Greedy {
    fn urgency(&self, page: usize, seconds: f64) -> f64 {
        self.importances[page] * self.beliefs[page].value(seconds)
    }

    fn information(&self, page: usize, seconds: f64) -> f64 {
        self.importances[page] * self.beliefs[page].information(seconds)
    }

    fn visited(&mut self, page: usize, seconds: f64, has_changed: bool) {
        self.seen[page].visit(seconds, has_changed);
        self.beliefs[page] = Belief::new(&self.prior, &self.seen[page]);
    }

    fn step(&mut self, step: usize) {
        if step % LEARN_EVERY == LEARN_EVERY - 1 {
            let every = (self.seen.len() / SAMPLE).max(1);
            let sample: Vec<Seen> = self.seen.iter().step_by(every).cloned().collect();
            self.prior = Prior::learn(&Prior::default(), &sample);
            for (belief, seen) in self.beliefs.iter_mut().zip(&self.seen) {
                *belief = Belief::new(&self.prior, seen);
            }
        }
    }
}

/// The freshness that a rule comes to.
fn run(web: &Web, step_seconds: f64, rule: &mut dyn Rule) -> f64 {
    let per_step = VISITS * web.rates.len() as f64 / STEPS as f64;
    let pages = web.rates.len();
    let mut random = Random(11);
    let (mut visited_at, mut is_fresh) = (vec![0.0_f64; pages], vec![true; pages]);
    let (mut carry, mut fresh, mut measured) = (0.0, 0.0, 0.0);
    let all: f64 = web.importances.iter().sum();
    for step in 0..STEPS {
        let now = (step + 1) as f64 * step_seconds;
        for (is_fresh, rate) in is_fresh.iter_mut().zip(&web.rates) {
            *is_fresh = *is_fresh && random.next() <= (-rate * step_seconds).exp();
        }
        carry += per_step;
        let visits = carry.floor();
        carry -= visits;
        let count = visits as usize;
        let mut urgent: Vec<(f64, usize)> =
            (0..pages).map(|page| (rule.urgency(page, now - visited_at[page]), page)).collect();
        if count > 0 && count < pages {
            urgent.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0));
        }
        let to_learn = count / LEARN_ONE_IN;
        let mut telling: Vec<(f64, usize)> = urgent
            .iter()
            .skip(count)
            .map(|(_, page)| (rule.information(*page, now - visited_at[*page]), *page))
            .collect();
        telling.retain(|(information, _)| *information > INFORMATION_MIN);
        telling.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        telling.truncate(to_learn);
        urgent.truncate(count);
        urgent.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        urgent.truncate(count - telling.len());
        urgent.extend(telling);
        for (_, page) in urgent {
            rule.visited(page, now - visited_at[page], !is_fresh[page]);
            (visited_at[page], is_fresh[page]) = (now, true);
        }
        rule.step(step);
        if step >= STEPS / 2 {
            // For how much of the step until the next one it is expected to be right.
            let lasts = |page: usize| {
                let expected = web.rates[page] * step_seconds;
                web.importances[page] * (1.0 - (-expected).exp()) / expected
            };
            let right: f64 = (0..pages).filter(|page| is_fresh[*page]).map(lasts).sum();
            fresh += right / all;
            measured += 1.0;
        }
    }
    fresh / measured
}

fn main() {
    let pages = std::env::args().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(PAGES);
    println!("{pages} pages, {VISITS} visits of each on average; freshness, and its part of the optimum");
    println!(
        "importance  visits a page and month  optimum  uniform          nutch            stormcrawler     argiope"
    );
    for is_pareto in [false, true] {
        let web = Web::new(pages, is_pareto);
        for per_month in [0.5, 1.0, 3.0, 10.0] {
            let per_second = per_month * pages as f64 / (30.0 * 86_400.0);
            let optimum = web.optimum(per_second);
            let month = 30.0 * 86_400.0 / per_month;
            let adaptive = |shrinks, grows, bounds| Adaptive { shrinks, grows, bounds, intervals: vec![month; pages] };
            let greedy = Greedy {
                prior: Prior::default(),
                seen: vec![Seen::default(); pages],
                beliefs: vec![Belief::new(&Prior::default(), &Seen::default()); pages],
                importances: web.importances.clone(),
            };
            let known = Known { rates: web.rates.clone(), importances: web.importances.clone() };
            let mut rules: [Box<dyn Rule>; 5] = [
                Box::new(Uniform),
                Box::new(adaptive(0.8, 1.4, (60.0, 365.0 * 86_400.0))),
                Box::new(adaptive(0.5, 1.5, (3_600.0, 14.0 * 86_400.0))),
                Box::new(greedy),
                Box::new(known),
            ];
            let name = if is_pareto { "Pareto" } else { "flat" };
            print!("{name:<10}  {per_month:>23}  {optimum:>7.3}");
            for rule in &mut rules {
                let fresh = run(&web, VISITS * month / STEPS as f64, rule.as_mut());
                print!("  {fresh:.3} ({:.3})  ", fresh / optimum);
            }
            println!();
        }
    }
}
