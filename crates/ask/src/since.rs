//! Times as they are given: a date, a time in UTC, or how long ago.

use anyhow::bail;
use model::Timestamp;
use settings::units::any_duration;
use settings::usage;

/// A plain number with so many digits, or more, is meant as seconds since 1970: as seconds ago it would be three years and more.
const UNIX_TIME_DIGITS_MIN: usize = 9;

/// A time as it is given.
///
/// # Errors
/// The text is none.
pub fn time(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Some(time) = Timestamp::from_rfc3339(text) {
        return Ok(time);
    }
    if text.len() >= UNIX_TIME_DIGITS_MIN && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let as_date = text.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1_000_000));
        let as_date = as_date.filter(|micros| *micros <= now.0).map(|micros| Timestamp(micros).to_rfc3339());
        let hint = as_date.map_or_else(String::new, |date| format!("; in seconds since 1970 it is {date}"));
        bail!(usage(format!(
            "since `{text}`: so many seconds are no time ago{hint}; give a date, or a unit (7d, 12h)"
        )));
    }
    match any_duration(text) {
        Ok(ago) => Ok(Timestamp(now.0.saturating_sub(u64::try_from(ago.as_micros()).unwrap_or(u64::MAX)))),
        Err(_) => bail!(usage(format!(
            "`{text}`: no date (2026-11-21), no time in UTC (2026-11-21T08:30:00Z), and no time ago (7d, 12h)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_or_durations_from_now() {
        let now = Timestamp::from_rfc3339("2026-11-25T12:00:00Z").expect("a time");
        for (text, expect) in [
            ("2026-11-21", "2026-11-21T00:00:00.000Z"),
            ("2026-11-21T08:30:00Z", "2026-11-21T08:30:00.000Z"),
            ("1d", "2026-11-24T12:00:00.000Z"),
            ("1h 30m", "2026-11-25T10:30:00.000Z"),
            ("100000000d", "1970-01-01T00:00:00.000Z"),
            ("1000000000000000000000d", "1970-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(time(text, now).expect("a time").to_rfc3339(), expect, "{text}");
        }
        for (text, expect) in [
            ("1796053470", "no time ago; in seconds since 1970 it is 2026-11-30T15:44:30.000Z; give a date"),
            ("179605347000000", "since `179605347000000`: so many seconds are no time ago; give a date"),
        ] {
            let now = Timestamp::from_rfc3339("2026-12-01T00:00:00Z").expect("a time");
            let error = time(text, now).expect_err("no time").to_string();
            assert!(error.contains(expect), "{error}");
        }
        assert_eq!(time("86400", now).expect("seconds").to_rfc3339(), "2026-11-24T12:00:00.000Z");
        for text in ["yesterday", "", "-1d", "2026-13-01"] {
            let error = time(text, now).expect_err("no time").to_string();
            assert!(error.contains(&format!("`{text}`: no date")), "{error}");
        }
    }
}
