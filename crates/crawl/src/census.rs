//! The totals of a crawl that runs, counted as often as that costs little.
//!
//! A state in the directory knows its totals. A database counts all URLs each time, which takes long in a large crawl. So it is asked at
//! most a tenth of the time, and the last counts are given meanwhile.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::clock::Clock;
use model::Timestamp;
use store::{StoreError, Totals};

/// The pause after counting, at least, and as a multiple of the time that it took.
const PAUSE_MIN: Duration = Duration::from_secs(5);
const PAUSE_SHARE: u32 = 9;

/// The totals counted last.
pub(crate) struct Census {
    clock: Clock,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    totals: Option<Totals>,
    /// They are not counted before. [`Timestamp::MAX`] while they are.
    due: Timestamp,
}

impl Census {
    pub(crate) fn new(clock: Clock) -> Self {
        Census { clock, last: Mutex::default() }
    }

    /// The totals, counted now if that is due. Where there are none, the last ones stay: the crawl itself says what ails the database.
    pub(crate) fn count(&self, count: impl FnOnce() -> Result<Option<Totals>, StoreError>) -> Option<Totals> {
        self.count_at(|| self.clock.now(), count)
    }

    fn count_at(
        &self,
        now: impl Fn() -> Timestamp,
        count: impl FnOnce() -> Result<Option<Totals>, StoreError>,
    ) -> Option<Totals> {
        let began = now();
        {
            let mut last = self.locked();
            if began < last.due {
                return last.totals.clone();
            }
            last.due = Timestamp::MAX;
        }
        let counted = count();
        let ended = now();
        let mut last = self.locked();
        last.due = ended + (ended.since(began) * PAUSE_SHARE).max(PAUSE_MIN);
        last.totals = counted.ok().flatten().or(last.totals.take());
        last.totals.clone()
    }

    /// The totals counted last; `None` before the first count.
    pub(crate) fn last(&self) -> Option<Totals> {
        self.locked().totals.clone()
    }

    fn locked(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_database_counts_a_tenth_of_the_time_and_a_failure_loses_nothing() {
        let (census, now) = (Census::new(Clock::start()), Cell::new(Timestamp::default()));
        let passes = |time: Duration| now.set(now.get() + time);
        let count = |takes: Duration, counted: Option<u64>| {
            let asked = Cell::new(false);
            let told = census.count_at(
                || now.get(),
                || {
                    asked.set(true);
                    passes(takes);
                    let lost = || StoreError::Damaged { table: "url", detail: "lost".to_owned() };
                    counted.map(|urls| Some(Totals { urls, ..Totals::default() })).ok_or_else(lost)
                },
            );
            (asked.get(), told.map(|totals| totals.urls))
        };
        let minute = Duration::from_secs(60);
        assert_eq!(count(minute, Some(3)), (true, Some(3)));
        assert_eq!(count(minute, Some(4)), (false, Some(3)));
        passes(minute * PAUSE_SHARE);
        assert_eq!(count(Duration::ZERO, None), (true, Some(3)), "the database is away");
        assert_eq!(count(minute, Some(4)), (false, Some(3)));
        passes(PAUSE_MIN);
        assert_eq!(count(minute, Some(4)), (true, Some(4)));
        assert_eq!(census.last().map(|totals| totals.urls), Some(4));
    }
}
