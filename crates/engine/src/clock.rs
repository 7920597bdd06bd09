//! The only place where clocks are read: one for dates, which people may set, and a monotonic one for waiting.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use model::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// The clocks of a crawl.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    readings: Readings,
    /// The date when it was started, from which the time for waiting is counted.
    start: Timestamp,
    /// The other clock at that time.
    since: Duration,
}

/// The clocks that are read.
#[derive(Clone, Copy, Debug)]
pub struct Readings {
    /// The system's date and time. It jumps when it is set.
    pub date: fn() -> Timestamp,
    /// The time since the machine was started, also while it sleeps. It never jumps or goes back.
    pub awake: fn() -> Duration,
}

impl Clock {
    /// The system's clocks.
    #[must_use]
    pub fn start() -> Self {
        Clock::reading(Readings { date: system_date, awake: since_boot })
    }

    /// Clocks with these sources.
    #[must_use]
    pub fn reading(readings: Readings) -> Self {
        Clock { readings, start: (readings.date)(), since: (readings.awake)() }
    }

    /// The time for all waiting: it starts at the date, and advances steadily even if the date is set.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.start + (self.readings.awake)().saturating_sub(self.since)
    }

    /// The date and time for records.
    #[must_use]
    pub fn date(&self) -> Timestamp {
        (self.readings.date)()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn system_date() -> Timestamp {
    Timestamp::default() + SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time since the machine was started, sleep counted (`CLOCK_BOOTTIME`).
#[must_use]
pub fn since_boot() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    use super::*;

    static DATE: AtomicU64 = AtomicU64::new(5_000_000);
    static AWAKE: AtomicU64 = AtomicU64::new(77);

    #[test]
    fn dates_follow_the_system_and_waiting_does_not() {
        let readings =
            Readings { date: || Timestamp(DATE.load(SeqCst)), awake: || Duration::from_micros(AWAKE.load(SeqCst)) };
        let clock = Clock::reading(readings);
        AWAKE.fetch_add(3, SeqCst);
        for date in [5_000_003, 9_000_000, 1_000_000] {
            DATE.store(date, SeqCst);
            assert_eq!((clock.date(), clock.now()), (Timestamp(date), Timestamp(5_000_003)));
        }
    }

    #[test]
    fn the_clock_for_waiting_starts_with_the_date() {
        let clock = Clock::start();
        let apart = clock.now().since(clock.date()).max(clock.date().since(clock.now()));
        assert!(apart < Duration::from_secs(60), "{apart:?}");
        assert!(since_boot() > Duration::ZERO);
    }
}
