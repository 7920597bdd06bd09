//! How a moment is shown to people who know what time it is.

use model::Timestamp;

/// Where the day is in a date by RFC 3339.
const DAY: std::ops::Range<usize> = 0..10;
/// Where the hours and minutes are.
const TIME_OF_DAY: std::ops::Range<usize> = 11..16;

/// A moment as it is shown now: hours and minutes in UTC, and the day if it is not today's. A time without a day reads as one of today.
#[must_use]
pub fn shown(moment: Timestamp, now: Timestamp) -> String {
    let (date, today) = (moment.to_rfc3339(), now.to_rfc3339());
    match (date.get(DAY), date.get(TIME_OF_DAY)) {
        (Some(day), Some(time)) if today.starts_with(day) => format!("{time} UTC"),
        (Some(day), Some(time)) => format!("{day} {time} UTC"),
        // A year with more than four digits.
        _ => date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_another_day_has_its_day() {
        let at = |text: &str| Timestamp::from_rfc3339(text).expect("a time");
        for (moment, now, expect) in [
            ("2026-11-29T14:33:00Z", "2026-11-29T14:31:00Z", "14:33 UTC"),
            ("2026-11-30T14:29:00Z", "2026-11-29T14:31:00Z", "2026-11-30 14:29 UTC"),
            ("2026-11-30T00:01:00Z", "2026-11-29T23:59:59Z", "2026-11-30 00:01 UTC"),
            ("2026-11-28T14:33:00Z", "2026-11-29T14:31:00Z", "2026-11-28 14:33 UTC"),
            ("2027-11-29T14:33:00Z", "2026-11-29T14:31:00Z", "2027-11-29 14:33 UTC"),
        ] {
            assert_eq!(shown(at(moment), at(now)), expect);
        }
    }
}
