//! Dates and the time for waiting. A run waits, and writes down what is due, by a time that nobody sets: it starts with the date, and goes on
//! by the second. Dates are for people: when a page was visited, and what a server means by one.

use model::{RobotsRecord, SiteRecord, Timestamp};

/// How far the date is ahead of the time for waiting, in microseconds. It changes when the system's clock is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dates {
    ahead: i64,
}

impl Dates {
    /// As it is when both are read.
    pub(super) fn read(now: Timestamp, date: Timestamp) -> Self {
        let distance = i128::from(date.0) - i128::from(now.0);
        Dates { ahead: i64::try_from(distance).unwrap_or(if distance < 0 { i64::MIN } else { i64::MAX }) }
    }

    /// The date at a time of the run.
    pub(super) fn of(self, time: Timestamp) -> Timestamp {
        Timestamp(time.0.saturating_add_signed(self.ahead))
    }
}

/// A record as a run goes by it. Nothing can have been fetched after now: a clock was set back since.
pub(super) fn read_record(record: SiteRecord, now: Timestamp) -> SiteRecord {
    SiteRecord { robots: record.robots.map(|robots| read_robots(robots, now)), ..record }
}

/// A robots.txt as a run goes by it.
pub(super) fn read_robots(robots: RobotsRecord, now: Timestamp) -> RobotsRecord {
    RobotsRecord { fetched_at: robots.fetched_at.min(now), ..robots }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_lie_ahead_or_behind() {
        for (now, date) in [(5, 5), (1_000, 9_000), (9_000, 1_000)] {
            let dates = Dates::read(Timestamp(now), Timestamp(date));
            assert_eq!(dates.of(Timestamp(now)), Timestamp(date), "{now} {date}");
            assert_eq!(dates.of(Timestamp(now + 7)), Timestamp(date + 7), "{now} {date}");
        }
        let dates = Dates::read(Timestamp(u64::MAX), Timestamp(0));
        assert!(dates.of(Timestamp(u64::MAX)) < Timestamp(u64::MAX));
    }
}
