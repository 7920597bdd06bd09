//! What comes of visiting a page at equal intervals, by the manner in which it changes: the bounds of the table.

use std::sync::LazyLock;

use super::manner::{BURST_CHANGES, BURSTS, DAILY, DAY, Manner, Windows};

/// A wait between two visits of a page, and what comes of it. The unit of time is that in which one change is expected.
struct Point {
    wait: f64,
    /// What a visit is worth after it.
    value: f64,
    /// The time for which the copy is right.
    right: f64,
}

/// What comes of a page's waits, the shortest first.
pub struct Curve(Vec<Point>);

/// The shortest wait.
const WAIT_MIN: f64 = 1e-5;
/// Waits for one unit of the logarithm.
const STEPS: f64 = 200.0;
/// The longest wait is not shorter than this, and not shorter than so many periods.
const WAIT_MAX: f64 = 88.0;
const PERIODS_MAX: f64 = 20.0;
/// A wait begins at any time of a period: at one of so many. A multiple of ten and three, so that windows have their part of them.
const PHASES: u32 = 120;
/// The days between two changes for which daily cycles have curves, and curves for one unit of the logarithm. Slower pages do not notice days.
const DAILY_DAYS: (f64, f64) = (1e-3, 1e3);
const DAILY_STEPS: f64 = 4.0;

static POISSON: LazyLock<Curve> = LazyLock::new(|| Curve::new(WAIT_MAX, |wait| (-wait).exp()));
static OF_BURSTS: LazyLock<Curve> = LazyLock::new(|| Curve::in_windows(&BURSTS, BURST_CHANGES));
static OF_DAYS: LazyLock<Vec<Curve>> = LazyLock::new(|| {
    let count = ((DAILY_DAYS.1 / DAILY_DAYS.0).ln() * DAILY_STEPS) as u32;
    let days = |n: u32| DAILY_DAYS.0 * (f64::from(n) / DAILY_STEPS).exp();
    (0..=count).map(|n| Curve::in_windows(&DAILY, 1.0 / days(n))).collect()
});

impl Curve {
    /// That of pages that change so often, in changes a second.
    pub fn of(manner: Manner, rate: f64) -> &'static Curve {
        match manner {
            Manner::Poisson | Manner::Together | Manner::Mixed => &POISSON,
            Manner::Bursts => &OF_BURSTS,
            Manner::Daily => {
                let place = ((1.0 / (rate * DAY) / DAILY_DAYS.0).ln() * DAILY_STEPS).round().max(0.0) as usize;
                &OF_DAYS[place.min(OF_DAYS.len() - 1)]
            }
        }
    }

    /// By how likely a page is as it was after a wait.
    fn new(wait_max: f64, same: impl Fn(f64) -> f64) -> Curve {
        let count = ((wait_max / WAIT_MIN).ln() * STEPS).ceil() as u32;
        let (mut before, mut right) = ((0.0, 1.0), 0.0);
        let point = |n: u32| {
            let wait = WAIT_MIN * (f64::from(n) / STEPS).exp();
            let same = same(wait);
            right += (wait - before.0) * f64::midpoint(before.1, same);
            before = (wait, same);
            Point { wait, value: right - wait * same, right }
        };
        Curve((0..=count).map(point).collect())
    }

    /// Where changes come in windows, so many in each period on average.
    fn in_windows(windows: &Windows, period: f64) -> Curve {
        let phases: Vec<f64> = (0..PHASES).map(|n| period * (f64::from(n) + 0.5) / f64::from(PHASES)).collect();
        Curve::new(WAIT_MAX.max(PERIODS_MAX * period), |wait| {
            let same = |from: &f64| (windows.counted(*from, period) - windows.counted(from + wait, period)).exp();
            phases.iter().map(same).sum::<f64>() / f64::from(PHASES)
        })
    }

    /// The visits while one change is expected, where a visit is made when it is worth so much; and the part of the time for which the copy is
    /// right.
    pub fn visits(&self, worth: f64) -> (f64, f64) {
        let points = &self.0;
        if points.last().is_none_or(|last| worth >= last.value) {
            return (0.0, 0.0);
        }
        let high = points.partition_point(|point| point.value < worth).max(1);
        let (low, high) = (&points[high - 1], &points[high]);
        let part = ((worth - low.value) / (high.value - low.value).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        let between = |low: f64, high: f64| low + part * (high - low);
        let wait = between(low.wait, high.wait);
        (1.0 / wait, between(low.right, high.right) / wait)
    }
}
