//! Dates and the time for waiting. A run waits, and writes down what is due, by a time that nobody sets: it starts with the date, and goes on
//! by the second. Dates are for people: when a page was visited, and what a server means by one.

use foldhash::HashSet;
use model::{RobotsRecord, SiteRecord, Timestamp};
use weburl::SiteKey;

use super::{Start, State};

/// Sites whose robots.txt has a date ahead that are remembered, 16 bytes each. The files of more seem younger than they are when their date has come.
const AHEAD_REMEMBERED_MAX: usize = 1_000_000;

/// Sites whose stored robots.txt had a date ahead when it was read, and that have no new one yet.
#[derive(Default)]
pub(super) struct Ahead(HashSet<SiteKey>);

impl Ahead {
    /// Notes that a site has a new robots.txt.
    pub(super) fn renewed(&mut self, site: SiteKey) {
        self.0.remove(&site);
    }
}

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

impl State {
    /// A record as a run goes by it.
    pub(super) fn read_record(&mut self, now: Timestamp, record: SiteRecord) -> SiteRecord {
        let site = record.site.key();
        SiteRecord { robots: record.robots.map(|robots| self.read_robots(now, site, robots)), ..record }
    }

    /// A robots.txt as a run goes by it. One with a date ahead is of an earlier run: a clock was set back since. So it is as old as this run, at least,
    /// and that does not change when its date has come. Clocks of other workers differ a little.
    pub(super) fn read_robots(&mut self, now: Timestamp, site: SiteKey, robots: RobotsRecord) -> RobotsRecord {
        if self.start == Start::Shared {
            return RobotsRecord { fetched_at: robots.fetched_at.min(now), ..robots };
        }
        if robots.fetched_at > now && self.ahead.0.len() < AHEAD_REMEMBERED_MAX {
            self.ahead.0.insert(site);
        }
        let is_earlier = robots.fetched_at > now || self.ahead.0.contains(&site);
        let fetched_at = if is_earlier { self.started_at } else { robots.fetched_at };
        RobotsRecord { fetched_at, ..robots }
    }
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
