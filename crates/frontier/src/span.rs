//! Lengths of time in words.

use std::time::Duration;

/// Units with their seconds, the longest first.
const UNITS: [(&str, u64); 4] = [("day", 24 * 3600), ("hour", 3600), ("minute", 60), ("second", 1)];

/// A length of time in the longest unit of which it is a whole number: `7 days`, `36 hours`, `2 minutes`. Parts of a second are left out.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    let is_whole = |unit: &u64| seconds > 0 && seconds.is_multiple_of(*unit);
    let (unit, length) = UNITS.into_iter().find(|(_, length)| is_whole(length)).unwrap_or(("second", 1));
    let count = seconds / length;
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_its_longest_unit() {
        for (seconds, expect) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (90, "90 seconds"),
            (120, "2 minutes"),
            (3_600, "1 hour"),
            (36 * 3_600, "36 hours"),
            (7 * 86_400, "7 days"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), expect);
        }
    }
}
