//! Crawl speed over time: pages by the time at which they were fetched, in steps that grow with the crawl.

use std::collections::BTreeMap;

use model::Timestamp;
use serde::{Deserialize, Serialize};

/// Steps over the whole crawl, at most.
pub const BUCKETS_MAX: u64 = 120;

/// The steps that people read easily, in microseconds; each divides the next. Beyond the last they double.
const STEPS: [u64; 15] = {
    const SECOND: u64 = 1_000_000;
    const HOUR: u64 = 3_600 * SECOND;
    [
        SECOND / 10,
        SECOND / 5,
        SECOND,
        2 * SECOND,
        10 * SECOND,
        30 * SECOND,
        60 * SECOND,
        120 * SECOND,
        600 * SECOND,
        1_800 * SECOND,
        HOUR,
        2 * HOUR,
        6 * HOUR,
        12 * HOUR,
        24 * HOUR,
    ]
};

/// Pages over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// When the first page was fetched (RFC 3339, UTC).
    pub began_at: Option<String>,
    /// When the last page was fetched.
    pub ended_at: Option<String>,
    /// Between the two, in seconds. Where a crawl was resumed, the pause is in it.
    pub seconds: f64,
    /// Pages fetched by the second, over all that time; `None` for a crawl of no time.
    pub pages_per_second: Option<f64>,
    /// How long a step is, in seconds.
    pub bucket_seconds: f64,
    /// The steps in order, those without a page too.
    pub buckets: Vec<Bucket>,
}

/// A step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// When it begins (RFC 3339, UTC).
    pub at: String,
    /// Pages fetched in it: URLs that gave an answer.
    pub pages: u64,
    /// Payload bytes received.
    pub bytes: u64,
}

/// Counts pages whose times come in no order, over a duration that is not known before.
#[derive(Default)]
pub(crate) struct SpeedCounter {
    /// The index of the step in [`STEPS`], and beyond it how often it was doubled.
    step: u32,
    buckets: BTreeMap<u64, (u64, u64)>,
    range: Option<(Timestamp, Timestamp)>,
    pages: u64,
}

impl SpeedCounter {
    pub(crate) fn add(&mut self, at: Timestamp, bytes: u64) {
        let (first, last) = self.range.unwrap_or((at, at));
        let (first, last) = (first.min(at), last.max(at));
        self.range = Some((first, last));
        self.pages += 1;
        while last.0 / self.width() - first.0 / self.width() >= BUCKETS_MAX {
            self.widen();
        }
        let bucket = self.buckets.entry(at.0 / self.width()).or_default();
        *bucket = (bucket.0 + 1, bucket.1.saturating_add(bytes));
    }

    /// The step in microseconds.
    fn width(&self) -> u64 {
        let last = STEPS.len() - 1;
        let at = self.step as usize;
        STEPS[at.min(last)] << at.saturating_sub(last)
    }

    fn widen(&mut self) {
        let before = self.width();
        self.step += 1;
        let factor = self.width() / before;
        for (index, (pages, bytes)) in std::mem::take(&mut self.buckets) {
            let bucket = self.buckets.entry(index / factor).or_default();
            *bucket = (bucket.0 + pages, bucket.1.saturating_add(bytes));
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "rates are shown")]
    pub(crate) fn finish(self) -> Speed {
        let Some((first, last)) = self.range else { return Speed::default() };
        let (width, seconds) = (self.width(), last.since(first).as_secs_f64());
        let bucket = |index: u64| {
            let (pages, bytes) = self.buckets.get(&index).copied().unwrap_or_default();
            Bucket { at: Timestamp(index * width).to_rfc3339(), pages, bytes }
        };
        Speed {
            began_at: Some(first.to_rfc3339()),
            ended_at: Some(last.to_rfc3339()),
            seconds,
            pages_per_second: (seconds > 0.0).then(|| self.pages as f64 / seconds),
            bucket_seconds: width as f64 / 1e6,
            buckets: (first.0 / width..=last.0 / width).map(bucket).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_divides_the_next() {
        assert!(STEPS.windows(2).all(|pair| pair[1] % pair[0] == 0 && pair[1] > pair[0]));
    }

    #[test]
    fn steps_grow_until_the_whole_crawl_fits() {
        let year = 365 * 86_400;
        for seconds in [0, 1, 11, 12, 119, 3_600, 86_400, year, 500 * year] {
            let mut counter = SpeedCounter::default();
            for at in [seconds, 0, seconds / 2] {
                counter.add(Timestamp(1_800_000_000_000_000 + at * 1_000_000), 10);
            }
            let speed = counter.finish();
            assert!(speed.buckets.len() as u64 <= BUCKETS_MAX, "{seconds}");
            assert_eq!(
                speed.buckets.iter().map(|bucket| (bucket.pages, bucket.bytes)).reduce(|a, b| (a.0 + b.0, a.1 + b.1)),
                Some((3, 30))
            );
            assert_eq!(speed.pages_per_second.is_some(), seconds > 0);
        }
    }

    #[test]
    fn a_clock_that_is_wrong_does_no_harm() {
        let mut counter = SpeedCounter::default();
        counter.add(Timestamp(0), 1);
        counter.add(Timestamp(u64::MAX), 1);
        assert!(counter.finish().buckets.len() as u64 <= BUCKETS_MAX);
    }
}
