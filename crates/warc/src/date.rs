//! Dates: milliseconds since the epoch to text, and WARC-Date to the index's timestamp.

const MS_PER_DAY: u64 = 86_400_000;

/// `2026-11-21T00:00:00.123Z`: the form of WARC-Date (WARC 1.1 §5.4, W3C date and time format),
/// always with milliseconds. `ms` counts from the Unix epoch.
pub fn warc_date(ms: u64) -> String {
    let (year, month, day) = civil(ms / MS_PER_DAY);
    let (hour, minute, second) = time_of_day(ms);
    let fraction = ms % 1000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z")
}

/// `20261121000000`: the 14 digits that CDXJ lines and segment names hold. `ms` counts from the
/// Unix epoch.
pub fn timestamp14(ms: u64) -> String {
    let (year, month, day) = civil(ms / MS_PER_DAY);
    let (hour, minute, second) = time_of_day(ms);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// The 14 digits of a WARC-Date, or nothing when the text is no such date. WARC 1.1 §5.4 allows
/// less precision (`2026`, `2026-11`, `2026-11-21`, `…T00:00Z`; the missing parts are then the
/// first ones possible) and fractions of a second up to nanoseconds (cut off here).
pub(crate) fn date_to_timestamp14(date: &str) -> Option<String> {
    let (day, time) = match date.split_once('T') {
        Some((day, time)) => (day, time.strip_suffix('Z')?),
        None => (date, "00:00:00"),
    };
    let mut parts = day.split('-');
    let year = digits(parts.next()?, 4, 0..=9999)?;
    let month = digits(parts.next().unwrap_or("01"), 2, 1..=12)?;
    let day_of_month = digits(parts.next().unwrap_or("01"), 2, 1..=31)?;
    if parts.next().is_some() || (date.contains('T') && day.len() != 10) {
        return None;
    }

    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    if fraction.is_empty() || fraction.len() > 9 || !all_digits(fraction) {
        return None;
    }
    let mut parts = time.split(':');
    let hour = digits(parts.next()?, 2, 0..=23)?;
    let minute = digits(parts.next()?, 2, 0..=59)?;
    let second = digits(parts.next().unwrap_or("00"), 2, 0..=60)?;
    if parts.next().is_some() {
        return None;
    }
    Some([year, month, day_of_month, hour, minute, second].concat())
}

fn digits(text: &str, count: usize, range: std::ops::RangeInclusive<u32>) -> Option<&str> {
    let right = text.len() == count && all_digits(text) && range.contains(&text.parse().ok()?);
    right.then_some(text)
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn time_of_day(ms: u64) -> (u64, u64, u64) {
    let seconds = ms % MS_PER_DAY / 1000;
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Year, month and day of the proleptic Gregorian calendar, from the days since 1970-01-01.
/// Years are counted from March, so that the leap day is the last of its year; an era is the 400
/// years (146,097 days) after which the calendar repeats.
fn civil(days_since_epoch: u64) -> (u64, u64, u64) {
    let days = days_since_epoch + 719_468; // 0000-03-01 to 1970-01-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_corrected = day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096;
    let year_of_era = leap_corrected / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ms: u64, date: &str, timestamp: &str) {
        assert_eq!(warc_date(ms), date);
        assert_eq!(timestamp14(ms), timestamp);
        assert_eq!(date_to_timestamp14(date).as_deref(), Some(timestamp));
    }

    #[test]
    fn dates_are_formatted_in_utc_with_milliseconds() {
        check(0, "1970-01-01T00:00:00.000Z", "19700101000000");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z", "20000229000000");
        check(1_709_251_199_999, "2024-02-29T23:59:59.999Z", "20240229235959");
        check(1_795_219_200_123, "2026-11-21T00:00:00.123Z", "20261121000000");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z", "21000301000000");
        check(253_402_300_799_000, "9999-12-31T23:59:59.000Z", "99991231235959");
    }

    #[test]
    fn no_time_overflows() {
        assert!(warc_date(u64::MAX).ends_with('Z'));
    }

    #[test]
    fn dates_of_less_and_more_precision_are_read() {
        fn check(date: &str, expect: Option<&str>) {
            assert_eq!(date_to_timestamp14(date).as_deref(), expect, "{date}");
        }
        check("2016", Some("20160101000000"));
        check("2016-09", Some("20160901000000"));
        check("2016-09-19", Some("20160919000000"));
        check("2016-09-19T17:20Z", Some("20160919172000"));
        check("2016-09-19T17:20:14Z", Some("20160919172014"));
        check("2016-09-19T17:20:14.123456789Z", Some("20160919172014"));
        check("", None);
        check("2016-13", None);
        check("2016-09-19T17:20:14", None);
        check("2016-09T17:20:14Z", None);
        check("2016-09-19T17:20:14.Z", None);
        check("2016-09-19T25:20:14Z", None);
        check("2016-09-19T17:20:14+01:00", None);
        check("20160919172014", None);
    }
}
