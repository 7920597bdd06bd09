//! The value of a `Crawl-delay` record, and other waits that servers write as freely. RFC 9309 does not know the record; its use is
//! older and wide.

use std::time::Duration;

/// The longest Crawl-delay that is believed: one day. A longer one is read as this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The units that people write behind the number, in any case, and their length in seconds. None is seconds.
const UNITS: [(&[&str], f64); 4] = [
    (&["", "s", "sec", "secs", "second", "seconds"], 1.0),
    (&["ms", "msec", "msecs", "millisecond", "milliseconds"], 0.001),
    (&["m", "min", "mins", "minute", "minutes"], 60.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600.0),
];

/// A delay, at most [`CRAWL_DELAY_MAX`].
pub(crate) fn parse(value: &[u8]) -> Option<Duration> {
    wait(value).map(|delay| delay.min(CRAWL_DELAY_MAX))
}

/// The wait that a server writes as a decimal number, with a fraction or an exponent (`10`, `0.05`, `.5`, `1e2`, also `1,5`), and its unit (`5s`, `10 minutes`).
///
/// One that no [`Duration`] holds is the longest there is. Anything else is no wait: what `1m30s`, `1_0` or `1,000` mean cannot be known.
#[must_use]
pub fn wait(value: &[u8]) -> Option<Duration> {
    let digits = |text: &[u8]| text.iter().take_while(|octet| octet.is_ascii_digit()).count();
    let mantissa = value.iter().take_while(|octet| octet.is_ascii_digit() || b".,".contains(octet)).count();
    let exponent = match &value[mantissa..] {
        [b'e' | b'E', b'+' | b'-', rest @ ..] if digits(rest) > 0 => 2 + digits(rest),
        [b'e' | b'E', rest @ ..] if digits(rest) > 0 => 1 + digits(rest),
        _ => 0,
    };
    let (number, unit) = value.split_at(mantissa + exponent);
    let number = str::from_utf8(number).ok()?;
    // Three digits behind a comma may be a thousand, or a fraction.
    if number.split_once(',').is_some_and(|(_, behind)| digits(behind.as_bytes()) == 3) {
        return None;
    }
    // `f64` reads neither `1.2.3` nor a lone point; a number too large for it becomes infinite.
    let number: f64 = number.replace(',', ".").parse().ok()?;
    let unit = unit.trim_ascii();
    let is_unit = |name: &&str| name.as_bytes().eq_ignore_ascii_case(unit);
    let (_, length) = UNITS.iter().find(|(names, _)| names.iter().any(is_unit))?;
    let seconds = number * length;
    // Without a sign there is no negative number: it is too large.
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, milliseconds: Option<u64>) {
        assert_eq!(parse(value.as_bytes()), milliseconds.map(Duration::from_millis), "{value:?}");
    }

    #[test]
    fn a_delay_is_a_number_of_seconds() {
        check("10", Some(10_000));
        check("0", Some(0));
        check("0.05", Some(50));
        check(".5", Some(500));
        check("1.", Some(1_000));
        check("1,5", Some(1_500));
        check("1e2", Some(100_000));
        check("5E-1", Some(500));
        check("1,5e+1 s", Some(15_000));
    }

    #[test]
    fn a_number_may_have_a_unit() {
        for (value, milliseconds) in [
            ("5s", 5_000),
            ("10 seconds", 10_000),
            ("1 Sec", 1_000),
            ("500ms", 500),
            ("2 milliseconds", 2),
            ("1m", 60_000),
            ("1.5 MIN", 90_000),
            ("2\tminutes", 120_000),
            ("1h", 3_600_000),
            ("0,5 hours", 1_800_000),
        ] {
            check(value, Some(milliseconds));
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_delay() {
        for value in ["", ".", "-1", "-3", "+1", "soon", "banana", "NaN", "inf", "1.2.3", "\u{661}", "s", "m"] {
            check(value, None);
        }
        for value in ["1_0", "5each", "5e+", "1m30s", "5 s 5", "10;", "1,000", "2 days", "10 pages", "1 / 5", "5-10"] {
            check(value, None);
        }
    }

    #[test]
    fn the_longest_delay_is_one_day() {
        let day = Some(24 * 60 * 60 * 1000);
        check("86400", day);
        check("86401", day);
        check(&"9".repeat(400), day);
        check("86399.999", Some(86_399_999));
        check("25h", day);
    }
}
