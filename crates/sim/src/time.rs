//! True time, which only the simulator knows, and the crawler's clock, which may be wrong.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use model::Timestamp;

/// Microseconds since the simulation began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrueTime(pub u64);

impl TrueTime {
    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: TrueTime) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for TrueTime {
    type Output = TrueTime;

    fn add(self, duration: Duration) -> TrueTime {
        TrueTime(self.0.saturating_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for TrueTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// The crawler's clock in one run: right in its pace, wrong by what people set it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkewedClock {
    /// What it shows when the simulation begins, in microseconds since the Unix epoch.
    zero: u64,
}

impl SkewedClock {
    /// A clock that shows the 1st of November 2026 when the simulation begins.
    #[must_use]
    pub fn new() -> Self {
        SkewedClock { zero: 1_793_491_200_000_000 }
    }

    /// What it shows.
    #[must_use]
    pub fn at(self, time: TrueTime) -> Timestamp {
        Timestamp(self.zero + time.0)
    }

    /// When it shows this; the beginning for anything before.
    #[must_use]
    pub fn when(self, shown: Timestamp) -> TrueTime {
        TrueTime(shown.0.saturating_sub(self.zero))
    }

    /// Sets it forward.
    pub fn set_forward(&mut self, by: Duration) {
        self.zero += u64::try_from(by.as_micros()).unwrap_or(0);
    }

    /// Sets it back.
    pub fn set_back(&mut self, by: Duration) {
        self.zero -= u64::try_from(by.as_micros()).unwrap_or(0);
    }
}

impl Default for SkewedClock {
    fn default() -> Self {
        SkewedClock::new()
    }
}
