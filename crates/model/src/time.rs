//! Points in time as values: nothing in the pure parts reads a clock.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Add;
use std::time::Duration;

/// Microseconds since the Unix epoch (UTC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Later than any other time: never.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The time `milliseconds` after the Unix epoch.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Timestamp(milliseconds.saturating_mul(1000))
    }

    /// Whole milliseconds since the Unix epoch.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0 / 1000
    }

    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The time so long before; at the earliest 1970.
    #[must_use]
    pub fn before(self, time: Duration) -> Self {
        Timestamp(self.0.saturating_sub(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
    }

    /// How far the two times are apart.
    #[must_use]
    pub const fn apart(self, other: Timestamp) -> Duration {
        Duration::from_micros(self.0.abs_diff(other.0))
    }

    /// RFC 3339 with milliseconds, in UTC: `2026-11-21T00:00:00.123Z`.
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        let (days, seconds) = (self.0 / 86_400_000_000, self.0 / 1_000_000 % 86_400);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", self.as_millis() % 1000)
    }
}

impl Timestamp {
    /// Reads a date (`2026-11-21`), or a time in UTC with or without a fraction of a second (`2026-11-21T08:30:00Z`): the
    /// forms of RFC 3339 that need no time zone. `None` for anything else.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once('T') {
            Some((date, time)) => (date, time.strip_suffix('Z')?),
            None => (text, "00:00:00"),
        };
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
        let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
        let is_fraction = (1..=9).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
        let micros: u64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
        if !(1970..=9999).contains(&year) || hour > 23 || minute > 59 || second > 59 || !is_fraction {
            return None;
        }
        let days = days_from_civil(year, month, day);
        let is_date = civil_from_days(days) == (year, month, day);
        is_date.then(|| Timestamp((days * 86_400 + hour * 3600 + minute * 60 + second) * 1_000_000 + micros))
    }
}

/// The numbers of a text, each with exactly this many digits.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u64; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The inverse of [`civil_from_days`], from the same source, for dates from 1970 on; what is no date gives some day.
fn days_from_civil(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day.saturating_sub(1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * 146_097 + day_of_era).saturating_sub(719_468)
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

/// The date of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (millis, expect) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_795_219_199_999, "2026-11-20T23:59:59.999Z"),
            (4_102_444_800_001, "2100-01-01T00:00:00.001Z"),
        ] {
            assert_eq!(Timestamp::from_millis(millis).to_rfc3339(), expect);
        }
    }

    #[test]
    fn times_read_back() {
        let check = |text: &str, expect: Option<&str>| {
            assert_eq!(Timestamp::from_rfc3339(text).map(Timestamp::to_rfc3339).as_deref(), expect, "{text}");
        };
        check("1970-01-01", Some("1970-01-01T00:00:00.000Z"));
        check("2000-02-29", Some("2000-02-29T00:00:00.000Z"));
        check("2100-01-01T00:00:00.001Z", Some("2100-01-01T00:00:00.001Z"));
        check("2026-11-21T23:59:59Z", Some("2026-11-21T23:59:59.000Z"));
        check("2026-11-21T23:59:59.1234567Z", Some("2026-11-21T23:59:59.123Z"));
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-30",
            "2026-00-10",
            "2026-01-00",
            "26-01-01",
            "1969-12-31",
            "2026-11-21T24:00:00Z",
            "2026-11-21T08:30Z",
            "2026-11-21T08:30:00",
            "2026-11-21T08:30:00+01:00",
            "2026-11-21T08:30:00.Z",
            "2026-11-21-01",
            "+026-11-21",
            "yesterday",
        ] {
            check(text, None);
        }
    }
}
