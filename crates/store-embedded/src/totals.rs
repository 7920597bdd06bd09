//! Totals kept by differences: what a URL counted before a commit is taken off, what it counts after it is put on.

use model::{LimitSet, Outcome, Purpose, Round};
use store::{Standing, Totals, VisitSummary};

/// Moves the totals from how a URL stood before a commit to how it stands after it.
pub(crate) fn shift(totals: &mut Totals, before: Option<Standing>, after: Option<Standing>) {
    totals.shift_limits(limits_of(before), limits_of(after));
    let bytes = |url: Option<Standing>| url.map_or(0, |url| bytes_of_round(totals, url));
    let (less, more) = (bytes(before), bytes(after));
    // A state of an earlier program has not counted the visits of the round in which it was.
    totals.bytes_of_round = totals.bytes_of_round.saturating_add(more).saturating_sub(less);
    if let Some(before) = before {
        totals.urls -= 1;
        totals.pending -= u64::from(before.queued);
        totals.again -= u64::from(before.again);
        totals.requisites_pending -= u64::from(is_requisite_in_queue(before));
        totals.pages_of_round -= u64::from(is_page_of_round(totals, before));
        uncount_visit(totals, before);
    }
    if let Some(after) = after {
        totals.urls += 1;
        totals.pending += u64::from(after.queued);
        totals.again += u64::from(after.again);
        totals.requisites_pending += u64::from(is_requisite_in_queue(after));
        totals.pages_of_round += u64::from(is_page_of_round(totals, after));
        count_visit(totals, after);
    }
}

/// Begins a round, or notes how far it has come.
pub(crate) fn begin_round(totals: &mut Totals, round: &Round) {
    if totals.round.number != round.number {
        (totals.pages_of_round, totals.bytes_of_round) = (0, 0);
    }
    totals.round = round.clone();
}

fn is_requisite_in_queue(url: Standing) -> bool {
    url.queued && url.purpose == Purpose::Requisite
}

/// The last visit, if it is of this round. All are, while it is the first.
fn of_round(totals: &Totals, url: Standing) -> Option<VisitSummary> {
    let Round { number, .. } = totals.round;
    url.visit.filter(|visit| number == 1 || visit.round == number)
}

/// True if the last visit is a page of this round, which is not the first.
fn is_page_of_round(totals: &Totals, url: Standing) -> bool {
    let is_fetched = of_round(totals, url).is_some_and(|visit| visit.outcome.is_fetched());
    totals.round.number > 1 && url.purpose == Purpose::Page && is_fetched
}

fn bytes_of_round(totals: &Totals, url: Standing) -> u64 {
    let visit = of_round(totals, url).filter(|visit| visit.outcome != Outcome::NotModified);
    visit.map_or(0, |visit| visit.length)
}

fn limits_of(url: Option<Standing>) -> LimitSet {
    url.and_then(|url| url.visit).map_or(LimitSet::EMPTY, |visit| visit.limits)
}

/// Sitemaps are large, and no pages.
fn length_of(purpose: Purpose, visit: VisitSummary) -> u64 {
    if purpose == Purpose::Sitemap { 0 } else { visit.length }
}

/// Lengths wrap around, so that taking one off always restores the sum.
fn count_visit(totals: &mut Totals, url: Standing) {
    let Some(visit) = url.visit else { return };
    totals.bytes = totals.bytes.wrapping_add(length_of(url.purpose, visit));
    match totals.outcomes_of(url.purpose) {
        Some(outcomes) => *outcomes.entry(visit.outcome).or_default() += 1,
        None => totals.sitemaps += 1,
    }
}

fn uncount_visit(totals: &mut Totals, url: Standing) {
    let Some(visit) = url.visit else { return };
    totals.bytes = totals.bytes.wrapping_sub(length_of(url.purpose, visit));
    let Some(outcomes) = totals.outcomes_of(url.purpose) else {
        totals.sitemaps -= 1;
        return;
    };
    if let Some(count) = outcomes.get_mut(&visit.outcome) {
        *count -= 1;
        if *count == 0 {
            outcomes.remove(&visit.outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Distance, Position};

    use super::*;

    fn visited(length: u64) -> Option<Standing> {
        let visit =
            VisitSummary { outcome: Outcome::Html, length, has_outlinks: false, limits: LimitSet::EMPTY, round: 2 };
        let (purpose, distance, position) = (Purpose::Page, Distance::default(), Position::of(Purpose::Page, 0, 1));
        Some(Standing { purpose, distance, position, queued: false, again: false, visit: Some(visit) })
    }

    #[test]
    fn a_visit_that_was_not_counted_is_not_taken_off() {
        for (counted, after, expect) in [(100, 40, 40), (0, 40, 0), (0, 100, 0), (30, 140, 70), (300, 100, 300)] {
            let mut totals = Totals { urls: 1, bytes: 100, bytes_of_round: counted, ..Totals::default() };
            (totals.round.number, totals.pages_of_round) = (2, 1);
            totals.outcomes.insert(Outcome::Html, 1);
            shift(&mut totals, visited(100), visited(after));
            assert_eq!((totals.bytes_of_round, totals.bytes), (expect, after), "{counted} {after}");
        }
    }
}
