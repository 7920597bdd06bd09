//! What rules have found, and whether they find less than before: then pages have changed, and a rule has not.

use dataset::{Fill, ItemRound, Layout, item_counts};

use crate::Notice;

/// How much less than before is worth a warning: of the rows, of the pages with rows, and of the rows with a value of a field, in percent.
const DROP_PERCENT_MIN: u64 = 10;
/// With fewer rows, chance decides.
const ROWS_MIN: u64 = 10;

/// A notice for each table of items, one for each that has lost rows, and one for each field that is filled less often than before.
///
/// # Errors
/// A table cannot be read.
pub fn notices(layout: &Layout) -> anyhow::Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for rule in &layout.rules().rules {
        let mut rounds = item_counts(layout, &rule.name)?.rounds.into_iter().rev();
        let Some((number, round)) = rounds.next() else {
            notices.push(Notice::NoItems(rule.name.clone()));
            continue;
        };
        let earlier = rounds.next().map(|(_, earlier)| earlier);
        notices.push(found(&rule.name, number, &round));
        notices.extend(rows_dropped(&rule.name, &round));
        notices.extend(fields_dropped(&rule.name, &round, earlier.as_ref()));
    }
    Ok(notices)
}

fn found(table: &str, number: u32, round: &ItemRound) -> Notice {
    let now = &round.now;
    let filled = now.filled.iter().map(|(field, filled)| (field.clone(), percent(*filled, now.rows)));
    Notice::Items {
        table: table.to_owned(),
        round: number,
        rows: now.rows,
        filled: if now.rows > 0 { filled.collect() } else { Vec::new() },
        lost: round.pages_lost,
        gone: round.pages_gone,
    }
}

/// Whether pages have fewer rows than before. Pages that are gone do not count.
fn rows_dropped(table: &str, round: &ItemRound) -> Option<Notice> {
    let ItemRound { again, before, pages_before, pages_lost, .. } = round;
    let of_rows = before.rows.saturating_sub(again.rows);
    let is_dropped = is_worth_it(of_rows, before.rows) || is_worth_it(*pages_lost, *pages_before);
    (before.rows >= ROWS_MIN && is_dropped).then(|| Notice::RowsDropped {
        table: table.to_owned(),
        before: before.rows,
        now: again.rows,
        pages: *pages_before,
        lost: *pages_lost,
    })
}

/// The fields that are filled less often than before: on the same pages, or else than in the round before. Rows that were lost count as rows, so
/// that those which are left are not too few to tell.
fn fields_dropped(table: &str, round: &ItemRound, earlier: Option<&ItemRound>) -> Vec<Notice> {
    let is_enough =
        |before: &Fill, now: &Fill| before.rows >= ROWS_MIN && now.rows > 0 && now.rows + round.rows_lost >= ROWS_MIN;
    let shares = |before: &Fill, now: &Fill, field: &str| {
        let share = |fill: &Fill| {
            let (_, filled) = fill.filled.iter().find(|(name, _)| name == field)?;
            Some(percent(*filled, fill.rows))
        };
        let (then, share) = (share(before)?, share(now)?);
        (is_enough(before, now) && share + DROP_PERCENT_MIN <= then).then_some((then, share))
    };
    let fields = round.now.filled.iter().filter_map(|(field, _)| {
        let on_the_same = shares(&round.before, &round.again, field);
        let (before, now) = on_the_same.or_else(|| shares(&earlier?.now, &round.now, field))?;
        Some(Notice::FillDropped { table: table.to_owned(), field: field.clone(), before, now })
    });
    fields.collect()
}

fn is_worth_it(part: u64, whole: u64) -> bool {
    part > 0 && part.saturating_mul(100) >= whole.saturating_mul(DROP_PERCENT_MIN)
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100) / whole.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(rows: u64, filled: u64) -> Fill {
        Fill { rows, filled: vec![("a".to_owned(), rows), ("b".to_owned(), filled)] }
    }

    /// A round whose pages have so many rows with a `b`, in all and where there were some before, and had so many then.
    fn round(now: (u64, u64), again: (u64, u64), before: (u64, u64)) -> ItemRound {
        let of = |(rows, filled)| fill(rows, filled);
        ItemRound { now: of(now), again: of(again), before: of(before), ..ItemRound::default() }
    }

    #[test]
    fn a_field_that_is_found_less_often_is_a_notice() {
        let check = |round: &ItemRound, earlier: Option<(u64, u64)>, expect: Option<(u64, u64)>| {
            let earlier = earlier.map(|now| self::round(now, (0, 0), (0, 0)));
            let notice =
                |(before, now)| Notice::FillDropped { table: "t".to_owned(), field: "b".to_owned(), before, now };
            let expect: Vec<Notice> = expect.map(notice).into_iter().collect();
            assert_eq!(fields_dropped("t", round, earlier.as_ref()), expect, "{round:?} {earlier:?}");
        };
        check(&round((50, 20), (50, 20), (100, 90)), None, Some((90, 40)));
        check(&round((100, 81), (100, 81), (100, 90)), Some((100, 90)), None);
        check(&round((100, 0), (9, 0), (9, 9)), None, None);
        // Of other pages than before.
        check(&round((50, 20), (0, 0), (0, 0)), Some((100, 90)), Some((90, 40)));
        check(&round((100, 0), (0, 0), (0, 0)), Some((9, 9)), None);
        // Among many new ones.
        check(&round((500, 480), (20, 0), (20, 20)), Some((20, 20)), Some((100, 0)));
        // With rows that were lost there are enough, and without any it is not a matter of the field.
        let lost = |round| ItemRound { rows_lost: 15, pages_lost: 15, ..round };
        check(&lost(round((5, 0), (5, 0), (20, 20))), None, Some((100, 0)));
        check(&round((5, 0), (5, 0), (20, 20)), None, None);
        check(&lost(round((0, 0), (0, 0), (15, 15))), None, None);
    }

    #[test]
    fn rows_that_pages_have_no_more_are_a_notice() {
        let check = |(again, before): (u64, u64), (lost, pages): (u64, u64), expect: bool| {
            let round = ItemRound {
                pages_before: pages,
                pages_lost: lost,
                ..round((again, again), (again, again), (before, before))
            };
            let notice = Notice::RowsDropped { table: "t".to_owned(), before, now: again, pages, lost };
            assert_eq!(rows_dropped("t", &round), expect.then_some(notice), "{round:?}");
        };
        check((0, 30), (30, 30), true);
        check((10, 30), (20, 30), true);
        check((27, 30), (3, 30), true);
        check((28, 30), (2, 30), false);
        check((30, 30), (0, 30), false);
        check((0, 9), (9, 9), false);
        check((0, 0), (0, 0), false);
        // Pages with many rows have fewer, or some have more while others have none.
        check((50, 500), (0, 10), true);
        check((500, 500), (5, 10), true);
    }
}
