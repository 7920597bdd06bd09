//! How a moment is shown to people who know what time it is.

use model::Timestamp;

/// Where hours and minutes are in the time of a date by RFC 3339.
const HOURS_AND_MINUTES: std::ops::Range<usize> = 0..5;

/// A moment as it is shown now: hours and minutes in UTC, and the day if it is not today's. A time without a day reads as one of today.
#[must_use]
pub fn shown(moment: Timestamp, now: Timestamp) -> String {
    let (date, today) = (moment.to_rfc3339(), now.to_rfc3339());
    // `2026-11-29T14:33:00.000Z`; a year may have more than four digits.
    let Some((day, time)) = date.split_once('T') else { return date };
    let time = time.get(HOURS_AND_MINUTES).unwrap_or(time);
    match today.split_once('T') {
        Some((today, _)) if today == day => format!("{time} UTC"),
        _ => format!("{day} {time} UTC"),
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
        let far = Timestamp::MAX;
        assert_eq!(shown(far, far), "08:01 UTC");
        assert_eq!(shown(far, at("2026-11-29T14:31:00Z")), "586524-01-19 08:01 UTC");
    }
}
