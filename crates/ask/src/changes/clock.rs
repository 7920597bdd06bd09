//! When visits were made, where the system clock was wrong.
//!
//! Rounds are in the order of their numbers. So a round whose dates are before those of an earlier round had a clock that was set back, and a
//! date after now is of a clock that was ahead. Nobody knows when such a visit was made, only between which others. It counts as the
//! latest time that is possible: `changes` lists a change twice rather than never.

use std::collections::BTreeMap;

use model::{Timestamp, Visit};
use store::{CrawlView, Dates, StoreError};

/// When the visits of each round can have been made.
#[derive(Debug, Default)]
pub(super) struct Calendar {
    now: Timestamp,
    rounds: BTreeMap<u32, Bounds>,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// A round before it has no earlier date: an earlier one is wrong.
    begin: Timestamp,
    /// The next round whose clock was right began then, or it is now.
    end: Timestamp,
    /// All of its dates are wrong.
    is_set_back: bool,
}

impl Calendar {
    /// Of a crawl, as of now.
    pub(super) fn of(view: &dyn CrawlView, now: Timestamp) -> Result<Self, StoreError> {
        // Of one round alone, no date says anything of another.
        let rounds = if view.totals()?.round.number > 1 { view.rounds()? } else { BTreeMap::new() };
        Ok(Calendar::new(&rounds, now))
    }

    fn new(rounds: &BTreeMap<u32, Dates>, now: Timestamp) -> Self {
        let mut calendar = Calendar { now, rounds: BTreeMap::new() };
        let (mut begin, mut last) = (Timestamp(0), Timestamp(0));
        for (number, dates) in rounds {
            // A round that begins while requests are on their way has these too, so only its last date says that the clock was set back.
            let own_last = [dates.last, dates.first].into_iter().find(|date| *date <= now);
            let is_set_back = own_last.is_some_and(|own| own < last);
            calendar.rounds.insert(*number, Bounds { begin, end: now, is_set_back });
            if let Some(own) = own_last.filter(|_| !is_set_back) {
                (begin, last) = (begin.max(dates.first), own);
            }
        }
        let mut end = now;
        for (number, bounds) in calendar.rounds.iter_mut().rev() {
            bounds.end = end;
            let dates = rounds.get(number).filter(|dates| !bounds.is_set_back && dates.first <= now);
            // Where the clock was set back within a round, its first date is wrong too.
            end = dates.map_or(end, |dates| if dates.first < bounds.begin { dates.last.min(end) } else { dates.first });
        }
        calendar
    }

    /// The latest time at which a visit can have been made.
    pub(super) fn latest(&self, visit: &Visit) -> Timestamp {
        let none = Bounds { begin: Timestamp(0), end: self.now, is_set_back: false };
        let bounds = self.rounds.get(&visit.round).unwrap_or(&none);
        let is_wrong = bounds.is_set_back || visit.at < bounds.begin || visit.at > self.now;
        if is_wrong { bounds.end } else { visit.at }
    }
}

#[cfg(test)]
mod tests {
    use model::Outcome;
    use weburl::{SiteKey, UrlKey};

    use super::*;

    /// Rounds by their first and last dates, what the clock says now, and visits by round and date, with the latest time at which they can
    /// have been made.
    fn check(rounds: &[(u64, u64)], now: u64, visits: &[(u32, u64, u64)]) {
        let dates = rounds.iter().map(|(first, last)| Dates { first: Timestamp(*first), last: Timestamp(*last) });
        let calendar = Calendar::new(&(1..).zip(dates).collect(), Timestamp(now));
        for (round, at, expect) in visits {
            let key = UrlKey { site: SiteKey(1), url: 1 };
            let visit = Visit::without_fetch(key, Outcome::Html, String::new(), Timestamp(*at));
            let visit = Visit { round: *round, ..visit };
            assert_eq!(calendar.latest(&visit), Timestamp(*expect), "{rounds:?} at {now}: {round}, {at}");
        }
    }

    #[test]
    fn a_wrong_date_counts_as_the_latest_time_that_is_possible() {
        // The clock was right. A request was on its way while the second round began.
        check(&[(10, 20), (19, 40), (41, 50)], 60, &[(1, 10, 10), (1, 20, 20), (2, 19, 19), (2, 40, 40), (3, 50, 50)]);
        // It was set back for the second round, and the third.
        check(&[(10, 20), (2, 3)], 60, &[(1, 15, 15), (2, 2, 60), (2, 3, 60)]);
        check(&[(10, 20), (2, 3), (41, 50)], 60, &[(1, 15, 15), (2, 3, 41), (3, 45, 45)]);
        check(&[(10, 20), (2, 3), (4, 5), (41, 50)], 60, &[(2, 3, 41), (3, 4, 41), (4, 41, 41)]);
        // By less than a round.
        check(&[(10, 20), (12, 15), (41, 50)], 60, &[(2, 12, 41)]);
        // Within a round.
        check(&[(10, 20), (3, 30), (41, 50)], 60, &[(2, 30, 30), (2, 3, 41)]);
        check(&[(10, 20), (2, 3), (4, 30)], 60, &[(2, 3, 30), (3, 30, 30), (3, 4, 60)]);
        // It was ahead for the first round, or for a moment of it.
        check(&[(90, 99), (30, 40), (41, 50)], 60, &[(1, 90, 30), (2, 35, 35), (3, 41, 41)]);
        check(&[(10, 99), (30, 40)], 60, &[(1, 10, 10), (1, 99, 30), (2, 30, 30)]);
        check(&[(90, 99)], 60, &[(1, 90, 60)]);
        // Of no round that is known.
        check(&[], 60, &[(1, 10, 10), (1, 99, 60)]);
    }
}
