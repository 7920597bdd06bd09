//! The types of fields, and texts as values of them.

use serde_json::{Number, Value};
use url::Url;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text with white space collapsed.
    Text,
    /// Markup.
    Html,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A time in UTC.
    Date,
    /// An absolute URL.
    Url,
    /// True or false.
    Bool,
}

impl Kind {
    /// All types with their names in rules.
    pub const ALL: [(&'static str, Kind); 7] = [
        ("text", Kind::Text),
        ("html", Kind::Html),
        ("integer", Kind::Integer),
        ("number", Kind::Number),
        ("date", Kind::Date),
        ("url", Kind::Url),
        ("bool", Kind::Bool),
    ];

    /// A text as a value of the type; `None` if it is none. `decimal` is the sign before the fraction of a number.
    pub(crate) fn value(self, text: &str, decimal: Option<char>, base: Option<&Url>) -> Option<Value> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        match self {
            Kind::Text | Kind::Html => Some(Value::String(text.to_owned())),
            Kind::Integer => {
                let number = number(text, decimal)?;
                let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
                is_whole.then(|| Value::from(number as i64))
            }
            Kind::Number => number(text, decimal).and_then(Number::from_f64).map(Value::Number),
            Kind::Date => date(text).map(|micros| Value::String(rfc3339(micros))),
            Kind::Url => match base {
                Some(base) => base.join(text).ok(),
                None => Url::parse(text).ok(),
            }
            .map(|url| Value::String(url.into())),
            Kind::Bool => match text.to_lowercase().as_str() {
                "true" | "yes" | "1" | "on" => Some(Value::Bool(true)),
                "false" | "no" | "0" | "off" => Some(Value::Bool(false)),
                _ => None,
            },
        }
    }
}

/// The first number in a text: `1,234.50 €`, `EUR 1.234,50`, `-5`. Without a given sign, the last of `.` and `,` is before the fraction if both
/// are there; a single comma with three digits behind it is not.
fn number(text: &str, decimal: Option<char>) -> Option<f64> {
    let begin = text.find(|char: char| char.is_ascii_digit())?;
    let is_part = |char: char| {
        char.is_ascii_digit() || matches!(char, '.' | ',' | '\'' | '\u{a0}' | '\u{202f}' | ' ' | '\u{2019}')
    };
    let end = text[begin..].find(|char| !is_part(char)).map_or(text.len(), |end| begin + end);
    let found = text[begin..end].trim_end_matches(|char: char| !char.is_ascii_digit());
    let found = one_number(found);
    let decimal = decimal.or_else(|| decimal_of(found));
    let plain: String = found
        .chars()
        .filter_map(|char| if Some(char) == decimal { Some('.') } else { char.is_ascii_digit().then_some(char) })
        .collect();
    let before = text[..begin].trim_end();
    let is_negative = before.ends_with(['-', '\u{2212}']) || text[..begin].ends_with(['-', '\u{2212}']);
    let number: f64 = plain.parse().ok()?;
    Some(if is_negative { -number } else { number })
}

/// A space belongs to a number only between groups of three digits.
fn one_number(text: &str) -> &str {
    let mut end = text.len();
    for (at, char) in text.char_indices().filter(|(_, char)| matches!(char, ' ' | '\u{a0}' | '\u{202f}')) {
        let behind = &text[at + char.len_utf8()..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits != 3 {
            end = end.min(at);
            break;
        }
    }
    &text[..end]
}

fn decimal_of(text: &str) -> Option<char> {
    let (point, comma) = (text.rfind('.'), text.rfind(','));
    match (point, comma) {
        (Some(point), Some(comma)) => Some(if point > comma { '.' } else { ',' }),
        (Some(_), None) => (text.matches('.').count() == 1).then_some('.'),
        (None, Some(comma)) => {
            let is_fraction = text.matches(',').count() == 1 && text.len() - comma - 1 != 3;
            is_fraction.then_some(',')
        }
        (None, None) => None,
    }
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Microseconds since 1970 of a date: RFC 3339 and what is near it, `5 March 2024`, `March 5, 2024`, `Tue, 05 Mar 2024 10:00:00 GMT`, `05.03.2024`.
/// Without a zone it counts as UTC.
fn date(text: &str) -> Option<i64> {
    iso(text).or_else(|| with_month(text)).or_else(|| with_points(text))
}

/// The time that [`Kind::Date`] wrote, in microseconds since 1970.
#[must_use]
pub fn micros_of(text: &str) -> Option<i64> {
    iso(text)
}

fn iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked(10)?;
    let mut parts = date.split('-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let days = days(year, month, day)?;
    let time = rest.strip_prefix(['T', 't', ' ']).map_or(Some(0), |time| clock(time.trim()))?;
    let is_read = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
    is_read.then_some(days * 86_400_000_000 + time)
}

/// `10:30`, `10:30:15.5`, with `Z`, `GMT` or `+02:00` behind; in microseconds.
fn clock(text: &str) -> Option<i64> {
    let end = text.find(|char: char| !(char.is_ascii_digit() || matches!(char, ':' | '.'))).unwrap_or(text.len());
    let (time, zone) = (&text[..end], text[end..].trim());
    let mut parts = time.split(':');
    let (hour, minute) = (number_of(parts.next()?)?, number_of(parts.next()?)?);
    let seconds: f64 = parts.next().map_or(Some(0.0), |seconds| seconds.parse().ok())?;
    if hour > 24 || minute > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    let local = (hour * 3600 + minute * 60) * 1_000_000 + (seconds * 1e6) as i64;
    Some(local - zone_seconds(zone)? * 1_000_000)
}

fn zone_seconds(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next() {
        None => return Some(0),
        Some('+') => 1,
        Some('-') => -1,
        Some(_) => {
            let is_utc = ["z", "utc", "gmt", "ut"].iter().any(|name| zone.eq_ignore_ascii_case(name));
            return is_utc.then_some(0);
        }
    };
    let digits: String = zone[1..].chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number_of(minutes)? };
    Some(sign * (number_of(hours)? * 3600 + minutes * 60))
}

/// With the name of a month, which may be short.
fn with_month(text: &str) -> Option<i64> {
    let words: Vec<&str> = text
        .split(|char: char| char.is_whitespace() || char == ',' || char == '-')
        .filter(|word| !word.is_empty())
        .collect();
    let is_month = |word: &&str| {
        let begin = word.get(..3).map(str::to_ascii_lowercase);
        MONTHS.iter().position(|month| begin.as_deref() == Some(*month))
    };
    let (place, month) = words.iter().enumerate().find_map(|(at, word)| Some((at, is_month(word)?)))?;
    let number_at = |at: Option<usize>| {
        let word = words.get(at?)?.trim_end_matches(|char: char| char.is_ascii_alphabetic() || char == '.');
        number_of(word)
    };
    let before = number_at(place.checked_sub(1)).filter(|day| (1..=31).contains(day));
    let (day, year_at) = match before {
        Some(day) => (day, place + 1),
        None => (number_at(Some(place + 1))?, place + 2),
    };
    let year = number_at(Some(year_at)).filter(|year| (1000..=9999).contains(year))?;
    let clock_at = words.iter().position(|word| word.contains(':'));
    let time = clock_at.and_then(|at| clock(&words[at..].join(" "))).unwrap_or(0);
    Some(days(year, month as i64 + 1, day)? * 86_400_000_000 + time)
}

/// `05.03.2024`: day, month, year.
fn with_points(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(|char: char| char.is_whitespace() || char == ',').unwrap_or((text, ""));
    let mut parts = date.split('.');
    let (day, month, year) = (number_of(parts.next()?)?, number_of(parts.next()?)?, digits(parts.next()?, 4)?);
    let time = if time.trim().is_empty() { 0 } else { clock(time.trim())? };
    Some(days(year, month, day)? * 86_400_000_000 + time)
}

fn digits(text: &str, length: usize) -> Option<i64> {
    (text.len() == length).then(|| number_of(text)).flatten()
}

/// A number of a few digits and nothing else.
fn number_of(text: &str) -> Option<i64> {
    let is_short = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

/// Days from 1970-01-01 to a date; `None` if there is no such day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // From March on, so that the day that leap years have more is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468)
}

/// A date in microseconds since 1970, as RFC 3339.
#[must_use]
pub fn rfc3339(micros: i64) -> String {
    let (days, micros) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let seconds = micros / 1_000_000;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: Kind, text: &str, expect: Value) {
        assert_eq!(kind.value(text, None, None).unwrap_or_default(), expect, "{text}");
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expect) in [
            ("1,234.50 €", json!(1234.5)),
            ("EUR 1.234,50", json!(1234.5)),
            ("1 234,5", json!(1234.5)),
            ("12,5", json!(12.5)),
            ("12,500", json!(12500.0)),
            ("1'000", json!(1000.0)),
            ("-5", json!(-5.0)),
            ("$ 3.999 each", json!(3.999)),
            ("5 of 10", json!(5.0)),
            ("none", Value::Null),
            ("", Value::Null),
        ] {
            check(Kind::Number, text, expect);
        }
        check(Kind::Integer, "1,234 reviews", json!(1234));
        check(Kind::Integer, "1.5", Value::Null);
        assert_eq!(Kind::Number.value("1.234", Some(','), None), Some(json!(1234.0)));
    }

    #[test]
    fn dates_are_times_in_utc() {
        for (text, expect) in [
            ("2024-03-05", "2024-03-05T00:00:00Z"),
            ("2024-03-05T10:30:15.5+02:00", "2024-03-05T08:30:15Z"),
            ("2024-02-29 23:00 Z", "2024-02-29T23:00:00Z"),
            ("March 5, 2024", "2024-03-05T00:00:00Z"),
            ("5th March 2024, 10:30", "2024-03-05T10:30:00Z"),
            ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00Z"),
            ("05.03.1969", "1969-03-05T00:00:00Z"),
        ] {
            check(Kind::Date, text, json!(expect));
            assert_eq!(micros_of(expect).map(rfc3339).as_deref(), Some(expect));
        }
        for text in ["2023-02-29", "yesterday", "31.04.2024", "2024-03-05x", "March 2024"] {
            check(Kind::Date, text, Value::Null);
        }
    }

    #[test]
    fn urls_are_resolved_and_flags_are_words() {
        let base = Url::parse("https://a.test/b/c").expect("a URL");
        assert_eq!(Kind::Url.value(" ../d ", None, Some(&base)), Some(json!("https://a.test/d")));
        check(Kind::Url, "d", Value::Null);
        check(Kind::Bool, "Yes", json!(true));
        check(Kind::Bool, "maybe", Value::Null);
    }
}
