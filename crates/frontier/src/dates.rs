//! What the dates of contents say (`Last-Modified`): when a page changed last, not only whether it did.
//!
//! A date says more than one bit a visit: even the first visit of a page tells how long it was as it is. But servers send dates that mean
//! nothing: the time of the request, or one that never changes. So the dates of a site count once they have proved right, and those of a page as
//! long as they are right. A date never forces a visit: it is known only after one.

use crate::revisit::Seen;
use crate::signals::Interval;

/// So many pages of a site, at least, must have had right dates, both at changes and without.
const PROOF_PAGES: u32 = 8;
/// The least part of dates that are right.
const RIGHT_PART: f64 = 0.9;
/// A date of a first visit that is no older, in seconds, says nothing: it may be that of the request.
const RECENT_SECONDS: f64 = 60.0;

/// How often dates were right.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    /// Changes, and those with a new date since the visit before.
    changes: u32,
    dated: u32,
    /// Visits without a change, and those with the same date.
    stays: u32,
    kept: u32,
}

impl Counts {
    fn of(page: &[Interval]) -> Self {
        let mut counts = Counts::default();
        for (dating, interval) in page.iter().filter_map(|interval| Some((interval.dating?, interval))) {
            if interval.has_changed {
                counts.changes += 1;
                counts.dated += u32::from(dating.is_new && dating.ago <= interval.seconds);
            } else {
                counts.stays += 1;
                counts.kept += u32::from(!dating.is_new);
            }
        }
        counts
    }

    fn wrong(self) -> u32 {
        self.changes - self.dated + self.stays - self.kept
    }

    /// Only a page that changed at some visits and not at others tells right dates from those that are always new, or never.
    fn tells(self) -> bool {
        self.changes > 0 && self.stays > 0
    }
}

/// Whether the dates of a site have proved right, by visits of its pages.
#[must_use]
pub fn are_right<'a>(pages: impl Iterator<Item = &'a [Interval]>) -> bool {
    let (mut sum, mut count) = (Counts::default(), 0);
    for page in pages.map(Counts::of).filter(|page| page.tells()) {
        count += 1;
        sum.changes += page.changes;
        sum.dated += page.dated;
        sum.stays += page.stays;
        sum.kept += page.kept;
    }
    let are_right = |right: u32, of: u32| f64::from(right) >= RIGHT_PART * f64::from(of);
    count >= PROOF_PAGES && are_right(sum.dated, sum.changes) && are_right(sum.kept, sum.stays)
}

/// Whether the dates of a page count, where those of its site do.
#[must_use]
pub fn count_of(page: &[Interval]) -> bool {
    let of = page.iter().filter(|interval| interval.dating.is_some()).count();
    f64::from(Counts::of(page).wrong()) <= (1.0 - RIGHT_PART) * of as f64
}

/// Takes in the date at the first visit of a page, whose dates count.
pub fn see_first(seen: &mut Seen, ago: f64) {
    if ago > RECENT_SECONDS {
        seen.last_change(ago);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revisit::{Belief, Prior};
    use crate::signals::{Dating, Signals};

    const DAY: f64 = 86_400.0;

    /// Visits every ten days, of which one in three finds a change; dated by this rule.
    fn page(dating: impl Fn(u32, bool) -> (f64, bool)) -> Vec<Interval> {
        let visit = |n: u32| {
            let has_changed = n.is_multiple_of(3);
            let (ago, is_new) = dating(n, has_changed);
            Interval { seconds: 10.0 * DAY, said_after: None, has_changed, dating: Some(Dating { ago, is_new }) }
        };
        (1..10).map(visit).collect()
    }

    fn honest(n: u32, has_changed: bool) -> (f64, bool) {
        (f64::from(n % 3) * 10.0 * DAY + 4.0 * DAY, has_changed)
    }

    #[test]
    fn dates_count_where_they_proved_right() {
        let is_right = |pages: &[Vec<Interval>]| are_right(pages.iter().map(Vec::as_slice));
        let now = |_: u32, _: bool| (0.0, true);
        let never = |n: u32, _: bool| (f64::from(n) * 10.0 * DAY, false);
        // At other times than the page changes.
        let random = |n: u32, _: bool| (5.0 * DAY, n.is_multiple_of(2));
        // Whatever changed bears the date of long ago.
        let old = |_: u32, has_changed: bool| (500.0 * DAY, has_changed);
        assert!(is_right(&vec![page(honest); 8]));
        assert!(count_of(&page(honest)));
        assert!(!is_right(&vec![page(honest); 7]), "few pages prove nothing");
        for (name, lies) in [("now", page(now)), ("never", page(never)), ("random", page(random)), ("old", page(old))] {
            assert!(!is_right(&vec![lies.clone(); 100]) && !count_of(&lies), "{name}");
        }
        // Files with right dates beside pages that are always new: only the files count.
        assert!(is_right(&[vec![page(honest); 50], vec![page(now)]].concat()));
        // Pages that always changed, or never, cannot tell.
        let always = page(now).into_iter().map(|interval| Interval { has_changed: true, ..interval }).collect();
        assert!(!is_right(&vec![always; 100]));
        assert!(!is_right(&[]));
    }

    #[test]
    fn a_date_says_more_than_that_there_was_a_change() {
        let days = |dated: &[(f64, bool)]| {
            let mut seen = Seen::default();
            for (ago, has_changed) in dated {
                let interval = Interval {
                    seconds: 100.0 * DAY,
                    said_after: None,
                    has_changed: *has_changed,
                    dating: Some(Dating { ago: *ago, is_new: *has_changed }),
                };
                Signals::default().see(&mut seen, interval);
            }
            Belief::new(&Prior::default(), &seen).interval() / DAY
        };
        // It changed between each two visits: by its dates a page that changes twice in that time, or ten times.
        let (slow, fast) = (days(&[(50.0 * DAY, true); 20]), days(&[(10.0 * DAY, true); 20]));
        assert!((40.0..60.0).contains(&slow) && (8.0..12.0).contains(&fast), "{slow} {fast}");
        // A date of the request says no more than the change itself.
        let unknown = days(&[(1.0, true); 20]);
        assert!(unknown < 8.0 && (unknown - days(&[(500.0 * DAY, true); 20])).abs() < 1e-9, "{unknown}");
        // One visit is enough to tell a page that has not changed for years.
        let first = |ago: f64| {
            let mut seen = Seen::default();
            see_first(&mut seen, ago);
            Belief::new(&Prior::default(), &seen).interval() / DAY
        };
        assert!(first(1_000.0 * DAY) > 50.0 * first(DAY) && first(1.0) < first(1_000.0 * DAY));
    }
}
