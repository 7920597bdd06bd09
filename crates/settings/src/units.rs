//! Durations and sizes as people write them, on the command line and in `crawl.toml`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The longest duration that a setting may have, in years of 365.25 days. Dates that far ahead can still be written and added to.
pub const DURATION_YEARS_MAX: u64 = 100;
/// The same as a duration.
pub const DURATION_MAX: Duration = Duration::from_secs(DURATION_YEARS_MAX * 31_557_600);

/// A duration: `250ms`, `1s`, `1m 30s`, `2h`, or a number of seconds such as `0.5`; at most [`DURATION_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A number of bytes: `10000000`, `10MB`, `500KiB`, `1GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Reads a whole number from 0 on.
///
/// # Errors
/// The text is none, or larger than the option allows.
pub fn whole<N: TryFrom<u64> + Bounded>(text: &str) -> Result<N, String> {
    let number = text.trim().parse::<u64>().ok().filter(|number| *number <= N::MAX);
    number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| format!("is no whole number from 0 to {}", N::MAX))
}

/// A number with a largest value.
pub trait Bounded {
    /// The largest value.
    const MAX: u64;
}

impl Bounded for u8 {
    const MAX: u64 = u8::MAX as u64;
}

impl Bounded for u32 {
    const MAX: u64 = u32::MAX as u64;
}

/// TOML has no larger whole numbers, so `crawl.toml` could not have them.
const TOML_MAX: u64 = i64::MAX as u64;

impl Bounded for u64 {
    const MAX: u64 = TOML_MAX;
}

impl Bounded for usize {
    const MAX: u64 = if usize::BITS < 64 { usize::MAX as u64 } else { TOML_MAX };
}

const UNITS: [(&str, u64); 10] = [
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("", 1),
];

impl Span {
    /// The duration of so many seconds.
    ///
    /// # Errors
    /// It is none, or longer than [`DURATION_MAX`].
    pub fn of_seconds(seconds: f64) -> Result<Self, String> {
        if seconds > DURATION_MAX.as_secs_f64() {
            return Err(too_long(&format!("{seconds:e} s")));
        }
        let span = Duration::try_from_secs_f64(seconds);
        span.map(Span).map_err(|error| format!("{seconds} is no number of seconds: {error}"))
    }
}

/// A duration without the limit of [`Span`], for how long ago something was: nothing is added to it. Beyond what a number holds it is the longest.
///
/// # Errors
/// The text is none.
pub fn any_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let none = || format!("`{text}` is no duration such as 250ms, 1s or `1m 30s`");
    match text.parse::<f64>() {
        Ok(seconds) if seconds > DURATION_MAX.as_secs_f64() => {
            Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        }
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| none()),
        Err(_) => match humantime::parse_duration(text) {
            Ok(duration) => Ok(duration),
            Err(humantime::DurationError::NumberOverflow) => Ok(Duration::MAX),
            Err(_) => Err(none()),
        },
    }
}

fn too_long(text: &str) -> String {
    format!("`{text}` is longer than {DURATION_YEARS_MAX} years, the longest duration")
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let span = any_duration(text)?;
        if span <= DURATION_MAX { Ok(Span(span)) } else { Err(too_long(text.trim())) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| *factor);
        let bytes = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
        bytes.map(Bytes).ok_or_else(|| format!("`{text}` is no size such as 10MB, 500KiB or 10000000"))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = UNITS.iter().filter(|(_, factor)| self.0 > 0 && *factor > 1 && self.0.is_multiple_of(*factor));
        match unit.max_by_key(|(_, factor)| *factor) {
            Some((name, factor)) => write!(f, "{}{}", self.0 / factor, name.to_uppercase().replace('I', "i")),
            None => write!(f, "{}", self.0),
        }
    }
}

/// Bytes for people, with one decimal: `12.3 MB`.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    let (unit, factor) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => ("kB", 1e3),
        1_000_000..1_000_000_000 => ("MB", 1e6),
        1_000_000_000..1_000_000_000_000 => ("GB", 1e9),
        _ => ("TB", 1e12),
    };
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let amount = bytes as f64 / factor;
    format!("{amount:.1} {unit}")
}

macro_rules! as_text {
    ($type:ident, $expected:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                        number.to_string().parse().map_err(E::custom)
                    }

                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$type, E> {
                        number.to_string().parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }
    };
}

as_text!(Span, "a duration such as \"250ms\", or seconds");
as_text!(Bytes, "a size such as \"10MB\", or bytes");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in
            [("250ms", 250), ("1s", 1000), ("1m 30s", 90_000), ("0.5", 500), ("2h", 7_200_000), ("0", 0)]
        {
            assert_eq!(text.parse::<Span>().map(|span| span.0.as_millis()), Ok(millis), "{text}");
        }
        for text in ["", "soon", "-1", "1 parsec"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn no_duration_is_longer_than_the_limit() {
        for text in ["100years", "3155760000", "36525d"] {
            assert_eq!(text.parse::<Span>(), Ok(Span(DURATION_MAX)), "{text}");
        }
        for text in ["1000000000000d", "101years", "36526d", "99999999999999999999999y", "3155760001", "1e300", "inf"] {
            let expect = format!("`{text}` is longer than 100 years, the longest duration");
            assert_eq!(text.parse::<Span>(), Err(expect), "{text}");
        }
        assert_eq!(Span::of_seconds(1.5), Ok(Span(Duration::from_millis(1_500))));
        assert!(Span::of_seconds(8.64e16).is_err_and(|error| error.contains("longer than 100 years")));
        assert!(Span::of_seconds(-1.0).is_err_and(|error| error.starts_with("-1 is no number of seconds")));
        // As a number in a file.
        let read = toml::from_str::<std::collections::BTreeMap<String, Span>>("delay = 1e30")
            .map_err(|error| error.to_string());
        assert!(read.is_err_and(|error| error.contains("longer than 100 years")));
    }

    #[test]
    fn whole_numbers_are_those_that_a_file_of_settings_can_have() {
        let largest = i64::MAX.to_string();
        assert_eq!(whole::<u64>(&largest), Ok(i64::MAX as u64));
        assert_eq!(whole::<usize>(&largest), Ok(i64::MAX as usize));
        assert_eq!(whole::<u8>(" 255 "), Ok(255));
        for error in [
            whole::<u64>("9223372036854775808").map(|_| ()),
            whole::<u64>("18446744073709551615").map(|_| ()),
            whole::<usize>("18446744073709551615").map(|_| ()),
        ] {
            assert_eq!(error, Err(format!("is no whole number from 0 to {largest}")));
        }
        assert_eq!(whole::<u8>("256"), Err("is no whole number from 0 to 255".to_owned()));
        assert_eq!(whole::<u8>("-1"), Err("is no whole number from 0 to 255".to_owned()));
    }

    #[test]
    fn sizes() {
        for (text, bytes, shown) in [
            ("10MB", 10_000_000, "10MB"),
            ("500 KiB", 512_000, "500KiB"),
            ("1gib", 1 << 30, "1GiB"),
            ("77", 77, "77"),
            ("0", 0, "0"),
        ] {
            assert_eq!(text.parse::<Bytes>().map(|size| (size.0, size.to_string())), Ok((bytes, shown.to_owned())));
        }
        for text in ["", "MB", "-1", "1.5MB", "99999999999999TB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }
}
