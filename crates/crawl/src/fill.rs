//! What rules have found, and whether a field is found less often than before: then pages have changed, and a rule has not.

use dataset::{Fill, Layout, fill_of};

use crate::Notice;

/// How much less often a field is filled before that is worth a warning, in percent of the rows.
const DROP_PERCENT_MIN: u64 = 10;
/// With fewer rows, chance decides.
const ROWS_MIN: u64 = 10;

/// A notice for each table of items, and one for each field that is filled less often than in the round before.
///
/// # Errors
/// A table cannot be read.
pub fn notices(layout: &Layout) -> anyhow::Result<Vec<Notice>> {
    let mut notices = Vec::new();
    for rule in &layout.rules().rules {
        let rounds = fill_of(layout, &rule.name)?;
        let mut rounds = rounds.into_iter().rev();
        let Some((round, now)) = rounds.next() else {
            notices.push(Notice::NoItems(rule.name.clone()));
            continue;
        };
        let earlier = rounds.next();
        let filled = now.filled.iter().map(|(field, filled)| (field.clone(), percent(*filled, now.rows)));
        notices.push(Notice::Items { table: rule.name.clone(), round, rows: now.rows, filled: filled.collect() });
        if let Some((_, before)) = earlier {
            notices.extend(dropped(&rule.name, &before, &now));
        }
    }
    Ok(notices)
}

fn dropped(table: &str, before: &Fill, now: &Fill) -> Vec<Notice> {
    if before.rows < ROWS_MIN || now.rows < ROWS_MIN {
        return Vec::new();
    }
    let fields = now.filled.iter().filter_map(|(field, filled)| {
        let earlier = before.filled.iter().find(|(name, _)| name == field)?.1;
        let (before, now) = (percent(earlier, before.rows), percent(*filled, now.rows));
        let is_less = now + DROP_PERCENT_MIN <= before;
        is_less.then(|| Notice::FillDropped { table: table.to_owned(), field: field.clone(), before, now })
    });
    fields.collect()
}

fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100) / whole.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_found_less_often_is_a_notice() {
        let fill = |rows, filled: u64| Fill { rows, filled: vec![("a".to_owned(), rows), ("b".to_owned(), filled)] };
        let notice = |before, now| Notice::FillDropped { table: "t".to_owned(), field: "b".to_owned(), before, now };
        assert_eq!(dropped("t", &fill(100, 90), &fill(50, 20)), [notice(90, 40)]);
        assert_eq!(dropped("t", &fill(100, 90), &fill(100, 81)), []);
        assert_eq!(dropped("t", &fill(9, 9), &fill(100, 0)), [], "too few to tell");
    }
}
