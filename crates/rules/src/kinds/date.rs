//! Dates as people write them.

/// Names of months and their usual abbreviations, in lower case: English, German, Swedish, French.
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "januari", "janvier", "janv"],
    &["february", "feb", "februar", "februari", "février", "fevrier", "févr"],
    &["march", "mar", "märz", "mär", "mrz", "mars"],
    &["april", "apr", "avril", "avr"],
    &["may", "mai", "maj"],
    &["june", "jun", "juni", "juin"],
    &["july", "jul", "juli", "juillet", "juil"],
    &["august", "aug", "augusti", "août", "aout"],
    &["september", "sep", "sept", "septembre"],
    &["october", "oct", "oktober", "okt", "octobre"],
    &["november", "nov", "novembre"],
    &["december", "dec", "dezember", "dez", "décembre", "decembre", "déc"],
];
/// What is written behind a day.
const ORDINALS: [&str; 6] = ["st", "nd", "rd", "th", "er", "."];
/// What is written behind a time, and whether it is the second half of the day, if it says so.
const MARKS: [(&str, Option<bool>); 5] =
    [("am", Some(false)), ("a.m.", Some(false)), ("pm", Some(true)), ("p.m.", Some(true)), ("uhr", None)];
/// Words behind the time of a date that may belong to it: `AM` and a zone.
const CLOCK_WORDS_MAX: usize = 2;

/// Zones by their names, and their hours before UTC: those of RFC 5322 (§4.3), and those of Europe.
const ZONES: [(&str, i64); 20] = [
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("wet", 0),
    ("west", 1),
    ("cet", 1),
    ("cest", 2),
    ("mez", 1),
    ("mesz", 2),
    ("eet", 2),
    ("eest", 3),
];
/// How far a zone is from UTC, in hours.
const ZONE_HOURS_MAX: i64 = 14;

/// Microseconds since 1970 of a date: RFC 3339 and what is near it, `2024/03/05`, `5 March 2024`, `March 5, 2024`, `05.03.2024`,
/// `Tue, 05 Mar 2024 10:00:00 GMT`, `Tuesday, 05-Mar-24 10:00:00 GMT`, `Tue Mar  5 10:00:00 2024`. Without a zone it counts as UTC.
pub(super) fn date(text: &str) -> Option<i64> {
    iso(text).or_else(|| with_month(text)).or_else(|| with_points(text))
}

/// The time that [`Kind::Date`](super::Kind::Date) wrote, in microseconds since 1970.
#[must_use]
pub fn micros_of(text: &str) -> Option<i64> {
    iso(text)
}

fn iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at(text.find(['T', 't', ' ']).unwrap_or(text.len()));
    let sign = date.get(4..)?.chars().next().filter(|sign| matches!(sign, '-' | '/'))?;
    let mut parts = date.splitn(3, sign);
    let (year, month, day) = (digits(parts.next()?, 4)?, number_of(parts.next()?)?, number_of(parts.next()?)?);
    let days = days(year, month, day)?;
    let time = rest.strip_prefix(['T', 't', ' ']).map_or(Some(0), |time| clock(time.trim()))?;
    Some(days * 86_400_000_000 + time)
}

/// `10:30`, `10:30:15.5`, `10:30 PM`, `10:30 Uhr`, with a zone behind; in microseconds.
fn clock(text: &str) -> Option<i64> {
    let end = text.find(|char: char| !(char.is_ascii_digit() || matches!(char, ':' | '.'))).unwrap_or(text.len());
    let (time, zone) = (&text[..end], text[end..].trim());
    let (half, zone) = half_of_day(zone);
    let mut parts = time.split(':');
    let (hour, minute) = (number_of(parts.next()?)?, number_of(parts.next()?)?);
    let seconds: f64 = parts.next().map_or(Some(0.0), |seconds| seconds.parse().ok())?;
    let hour = match half {
        Some(_) if hour > 12 => return None,
        Some(is_second) => hour % 12 + if is_second { 12 } else { 0 },
        None => hour,
    };
    if hour > 24 || minute > 59 || !(0.0..61.0).contains(&seconds) {
        return None;
    }
    let local = (hour * 3600 + minute * 60) * 1_000_000 + (seconds * 1e6) as i64;
    Some(local - zone_seconds(zone)? * 1_000_000)
}

/// The half of the day at the beginning of a text, and the rest.
fn half_of_day(text: &str) -> (Option<bool>, &str) {
    let marked = MARKS.into_iter().find_map(|(mark, half)| {
        let (begin, rest) = text.split_at_checked(mark.len())?;
        let is_word = begin.eq_ignore_ascii_case(mark) && !rest.starts_with(char::is_alphanumeric);
        is_word.then_some((half, rest.trim_start()))
    });
    marked.unwrap_or((None, text))
}

/// `+02:00`, `-0500`, `GMT`, `GMT-5`, `EST`; a comment in parentheses may be behind it.
fn zone_seconds(zone: &str) -> Option<i64> {
    let zone = zone.split('(').next().unwrap_or_default().trim();
    let (name, offset) = zone.split_at(zone.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(zone.len()));
    let named = ZONES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, hours)| *hours);
    let hours = if name.is_empty() { 0 } else { named? };
    let (sign, offset) = match offset.chars().next() {
        None => return Some(hours * 3600),
        Some('+') if hours == 0 => (1, &offset[1..]),
        Some('-') if hours == 0 => (-1, &offset[1..]),
        Some(_) => return None,
    };
    let parts = offset.split_once(':').or_else(|| offset.split_at_checked(2)).unwrap_or((offset, ""));
    let (hours, minutes) = (number_of(parts.0)?, if parts.1.is_empty() { 0 } else { number_of(parts.1)? });
    (hours <= ZONE_HOURS_MAX && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// With the name of a month, which may be short.
fn with_month(text: &str) -> Option<i64> {
    let (parts, time) = without_clock(text);
    let words: Vec<&str> = parts.iter().flat_map(|part| part.split('-')).filter(|word| !word.is_empty()).collect();
    let month_at = |at: usize| {
        let word = words.get(at)?.trim_end_matches('.').to_lowercase();
        MONTHS.iter().position(|names| names.contains(&word.as_str()))
    };
    let number_at = |at: Option<usize>| {
        let word = words.get(at?)?;
        number_of(ORDINALS.iter().find_map(|ordinal| word.strip_suffix(ordinal)).unwrap_or(word))
    };
    let day_at = |at: Option<usize>| number_at(at).filter(|day| (1..=31).contains(day));
    // `mar. 5 mars 2024` begins with a Tuesday, `5 mar - 8 mar 2024` does not.
    let is_weekday = |at: usize| {
        let is_first = day_at(at.checked_sub(1)).is_none();
        is_first && day_at(Some(at + 1)).is_some() && month_at(at + 2).is_some()
    };
    let mut months = (0..words.len()).filter_map(|at| Some((at, month_at(at)?)));
    let (place, month) = months.find(|(at, _)| !is_weekday(*at))?;
    let (day, year_at) = match day_at(place.checked_sub(1)) {
        Some(day) => (day, place + 1),
        None => (number_at(Some(place + 1))?, place + 2),
    };
    let year = match number_at(Some(year_at))? {
        year @ 1000..=9999 => year,
        // RFC 850 has two digits.
        year if text.contains(&format!("-{year:02} ")) => year + if year < 70 { 2000 } else { 1900 },
        _ => return None,
    };
    Some(days(year, month as i64 + 1, day)? * 86_400_000_000 + time)
}

/// The words of a date, and the time among them as far as it can be read; of a span of times, its begin.
fn without_clock(text: &str) -> (Vec<&str>, i64) {
    let parts = text.split(|char: char| char.is_whitespace() || char == ',').filter(|part| !part.is_empty());
    let mut parts: Vec<&str> = parts.collect();
    let is_clock = |part: &&str| part.contains(':') && part.starts_with(|char: char| char.is_ascii_digit());
    let Some(at) = parts.iter().position(is_clock) else { return (parts, 0) };
    // With seconds, a program wrote it, and a zone is behind.
    let has_minutes = |time: &str| time.matches(':').count() == 1;
    let is_mark = |word: &str| matches!(half_of_day(word), (Some(_), ""));
    for part in parts[at..].iter_mut().take(2) {
        if let Some((begin, end)) = part.split_once(['-', '–'])
            && (has_minutes(begin) || is_mark(begin))
            && has_minutes(end)
        {
            *part = begin;
        }
    }
    let read = (0..=CLOCK_WORDS_MAX).rev().find_map(|more| {
        let end = at + 1 + more;
        Some((end, clock(&parts.get(at..end)?.join(" "))?))
    });
    let (end, time) = read.unwrap_or((at + 1, 0));
    parts.drain(at..end);
    (parts, time)
}

/// `05.03.2024`: day, month, year.
fn with_points(text: &str) -> Option<i64> {
    let (parts, time) = without_clock(text);
    let [date] = parts[..] else { return None };
    let mut parts = date.split('.');
    let (day, month, year) = (number_of(parts.next()?)?, number_of(parts.next()?)?, digits(parts.next()?, 4)?);
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

/// A time in microseconds since 1970 as RFC 3339, with the milliseconds or microseconds that it has.
#[must_use]
pub fn rfc3339_exact(micros: i64) -> String {
    let whole = rfc3339(micros);
    match (micros.rem_euclid(1_000_000), whole.strip_suffix('Z')) {
        (0, _) | (_, None) => whole,
        (fraction, Some(seconds)) if fraction % 1_000 == 0 => format!("{seconds}.{:03}Z", fraction / 1_000),
        (fraction, Some(seconds)) => format!("{seconds}.{fraction:06}Z"),
    }
}

/// A date in microseconds since 1970, as RFC 3339, in whole seconds.
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
    use super::*;

    #[test]
    fn an_exact_time_has_the_fraction_that_it_has() {
        for (micros, expect) in [
            (0, "1970-01-01T00:00:00Z"),
            (1_500_000, "1970-01-01T00:00:01.500Z"),
            (1_000_007, "1970-01-01T00:00:01.000007Z"),
            (-1_000, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339_exact(micros), expect);
        }
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
            ("2024/03/05", "2024-03-05T00:00:00Z"),
            ("2024/03/05 10:30", "2024-03-05T10:30:00Z"),
            ("Sept. 1st, 2024", "2024-09-01T00:00:00Z"),
            ("22nd Dec. 2024", "2024-12-22T00:00:00Z"),
            ("2024-3-5", "2024-03-05T00:00:00Z"),
            ("2024/3/5 9:05", "2024-03-05T09:05:00Z"),
            ("2024-03-05 12:30 AM", "2024-03-05T00:30:00Z"),
            ("March 5, 2024 10:00 AM", "2024-03-05T10:00:00Z"),
            ("March 5, 2024 at 10:00 p.m. GMT", "2024-03-05T22:00:00Z"),
            ("5 March 2024 12:00PM", "2024-03-05T12:00:00Z"),
            ("10:30, 5 March 2024", "2024-03-05T10:30:00Z"),
            ("10:30 - 5 March 2024", "2024-03-05T10:30:00Z"),
            ("10:30 - 12 March 2024", "2024-03-12T10:30:00Z"),
            ("Tuesday, 05-Mar-24 10:00:00 GMT", "2024-03-05T10:00:00Z"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("Tue Mar  5 10:00:00 2024", "2024-03-05T10:00:00Z"),
            ("Tue Mar  5 10:00:00 UTC 2024", "2024-03-05T10:00:00Z"),
            ("Tue, 05 Mar 2024 10:00:00 -0500", "2024-03-05T15:00:00Z"),
            ("Updated: 5 March 2024 10:00", "2024-03-05T10:00:00Z"),
            ("1er août 2024", "2024-08-01T00:00:00Z"),
            ("lundi 5 févr. 2024 à 10:00", "2024-02-05T10:00:00Z"),
            ("05-Mar-2024", "2024-03-05T00:00:00Z"),
            ("5. März 2024", "2024-03-05T00:00:00Z"),
            ("den 5 maj 2024", "2024-05-05T00:00:00Z"),
            ("mar. 5 mars 2024", "2024-03-05T00:00:00Z"),
            ("05.03.1969", "1969-03-05T00:00:00Z"),
            ("05.03.2024, 10:00 Uhr", "2024-03-05T10:00:00Z"),
            ("05.03.2024 10:00–12:00 Uhr", "2024-03-05T10:00:00Z"),
            ("5 March 2024, 14:00-16:00", "2024-03-05T14:00:00Z"),
            ("March 5, 2024, 2:00-4:00 PM", "2024-03-05T14:00:00Z"),
            ("March 5, 2024 2:00 PM-4:00 PM", "2024-03-05T14:00:00Z"),
            ("5 March 2024 10:00 GMT-05:00", "2024-03-05T15:00:00Z"),
            ("5 March 2024, 10:00-11:30 GMT", "2024-03-05T10:00:00Z"),
            ("Tue Mar 05 2024 10:00:00-05:00", "2024-03-05T15:00:00Z"),
            ("Tue Mar 05 2024 10:00:00 GMT-0500 (Eastern Standard Time)", "2024-03-05T15:00:00Z"),
            ("Tue, 05 Mar 2024 10:00:00 +0100 (CET)", "2024-03-05T09:00:00Z"),
            ("Tue, 05 Mar 2024 10:00:00 EST", "2024-03-05T15:00:00Z"),
            ("5 March 2024 10:00 UTC+2", "2024-03-05T08:00:00Z"),
            ("2024-03-05 10:00 CET", "2024-03-05T09:00:00Z"),
            ("2024-03-05 10:00:00 +0530", "2024-03-05T04:30:00Z"),
        ] {
            assert_eq!(date(text).map(rfc3339).as_deref(), Some(expect), "{text}");
            assert_eq!(micros_of(expect).map(rfc3339).as_deref(), Some(expect));
        }
        for text in [
            "2023-02-29",
            "yesterday",
            "31.04.2024",
            "2024-03-05x",
            "2024/03-05",
            "March 2024",
            // Words that only begin like a month.
            "5 marraskuuta 2024",
            "3 Marathon 2024",
            "Maybe 5, 2024",
            "7 Junkyards 1999",
            "5 Decimal 2024",
            "5kg March 2024",
            "2024-3-5-6",
            "5 March 24",
            "2024-03-05 10:00+16:00",
            "2024-03-05 10:00 +02:00 12",
            "05.03.2024 and more",
            // Which year the first day is in, nothing says.
            "28 Dec - 5 Jan 2024",
            "5 mar - 8 mar 2024",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
