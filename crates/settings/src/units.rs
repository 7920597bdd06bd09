//! Durations and sizes as people write them, on the command line and in `crawl.toml`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A duration: `250ms`, `1s`, `1m 30s`, `2h`, or a number of seconds such as `0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A number of bytes: `10000000`, `10MB`, `500KiB`, `1GB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Reads a whole number from 0 on.
///
/// # Errors
/// The text is none, or larger than the option allows.
pub fn whole<N: FromStr + Bounded>(text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| format!("is no whole number from 0 to {}", N::MAX))
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

impl Bounded for u64 {
    const MAX: u64 = u64::MAX;
}

impl Bounded for usize {
    const MAX: u64 = usize::MAX as u64;
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

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(seconds) = text.parse::<f64>() {
            let span = Duration::try_from_secs_f64(seconds);
            return span.map(Span).map_err(|_| format!("`{text}` is no duration"));
        }
        let span = humantime::parse_duration(text);
        span.map(Span).map_err(|_| format!("`{text}` is no duration such as 250ms, 1s or `1m 30s`"))
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
