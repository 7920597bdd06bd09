//! Dates of cookies, which have any form (RFC 6265bis §5.1.1).

use model::Timestamp;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The earliest year that is a date.
const YEAR_MIN: u32 = 1601;

/// Reads the date of `Expires`; what lies before 1970 is 1970. `None` if it is no date.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some(found) = number(token, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some(found) = number(token, 2..=4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = time?;
    let (day, month, year) = (day?, month?, whole_year(year?));
    if year < YEAR_MIN || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    if year < 1970 {
        return Some(Timestamp(0));
    }
    Timestamp::from_rfc3339(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

fn is_delimiter(char: char) -> bool {
    matches!(char, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

/// Digits in front of a token, as many as these; what follows is no digit.
fn number(token: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let end = token.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(token.len());
    if digits.contains(&end) { token.get(..end)?.parse().ok() } else { None }
}

fn time_of(token: &str) -> Option<(u32, u32, u32)> {
    let mut parts = token.splitn(3, ':');
    let mut exact = || parts.next().filter(|part| part.len() <= 2).and_then(|part| part.parse().ok());
    let (hour, minute) = (exact()?, exact()?);
    Some((hour, minute, number(parts.next()?, 1..=2)?))
}

fn month_of(token: &str) -> Option<u32> {
    let begin = token.get(..3)?;
    let at = MONTHS.iter().position(|month| month.eq_ignore_ascii_case(begin))?;
    u32::try_from(at + 1).ok()
}

fn whole_year(year: u32) -> u32 {
    match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        _ => year,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_form_are_read() {
        for text in [
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "Wed, 21-Oct-2026 07:28:00 GMT",
            "Wednesday, 21-Oct-26 07:28:00 GMT",
            "Wed Oct 21 07:28:00 2026",
            "21 october 2026 7:28:0",
            "07:28:00 2026 Oct 21",
        ] {
            let read = parse(text).map(Timestamp::to_rfc3339);
            assert_eq!(read.as_deref(), Some("2026-10-21T07:28:00.000Z"), "{text}");
        }
        assert_eq!(parse("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Timestamp(0)));
        assert_eq!(parse("Mon, 01 Jan 1900 00:00:00 GMT"), Some(Timestamp(0)));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "0",
            "tomorrow",
            "21 Oct 2026",
            "32 Oct 2026 00:00:00",
            "30 Feb 2026 00:00:00",
            "21 Oct 2026 24:00:00",
            "21 Oct 1600 00:00:00",
            "ž Oct 2026 00:00:00",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
