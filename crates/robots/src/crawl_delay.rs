//! The value of a `Crawl-delay` record. RFC 9309 does not know the record; its use is older and wide.

use std::time::Duration;

/// The longest Crawl-delay that is believed: one day. A longer one is read as this.
pub const CRAWL_DELAY_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Seconds as a decimal number, with a fraction or an exponent (`10`, `0.05`, `.5`, `1e2`, also `1,5`).
///
/// What follows the number (`5s`, `10 seconds`) is ignored; a value that does not begin with one is no delay.
pub(crate) fn parse(value: &[u8]) -> Option<Duration> {
    let digits = |text: &[u8]| text.iter().take_while(|octet| octet.is_ascii_digit()).count();
    let mantissa = value.iter().take_while(|octet| octet.is_ascii_digit() || b".,".contains(octet)).count();
    let exponent = match &value[mantissa..] {
        [b'e' | b'E', b'+' | b'-', rest @ ..] if digits(rest) > 0 => 2 + digits(rest),
        [b'e' | b'E', rest @ ..] if digits(rest) > 0 => 1 + digits(rest),
        _ => 0,
    };
    let number = String::from_utf8_lossy(&value[..mantissa + exponent]).replace(',', ".");
    // `f64` reads neither `1.2.3` nor a lone point; a number too large for it becomes infinite.
    let seconds: f64 = number.parse().ok()?;
    if seconds >= CRAWL_DELAY_MAX.as_secs_f64() {
        return Some(CRAWL_DELAY_MAX);
    }
    Duration::try_from_secs_f64(seconds).ok()
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
        check("5s", Some(5_000));
        check("10 seconds", Some(10_000));
        check("1e2", Some(100_000));
        check("5E-1", Some(500));
        check("1,5e+1 s", Some(15_000));
        check("5each", Some(5_000));
        check("5e+", Some(5_000));
    }

    #[test]
    fn what_is_no_number_is_no_delay() {
        for value in ["", ".", "-1", "soon", "NaN", "inf", "1.2.3", "\u{661}"] {
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
    }
}
