//! The numbers of a text that may be its own: measurements, prices, numbers of parts.
//!
//! Days, weeks, years and times follow from a date, and small numbers count things: the empty pages of a calendar have them too.

/// Numbers of a text that are looked at.
pub const NUMBERS_MAX: usize = 32;

/// The greatest whole number that may count the days of a year.
const DAYS_MAX: u32 = 366;
/// Numbers that are taken for years.
const YEARS: std::ops::Range<u32> = 1900..2200;

/// What joins digits: also in dates, times and telephone numbers.
const JOINTS: &[u8] = b".,:/-";

/// The first numbers of a text, in order, without those that may belong to a date.
#[must_use]
pub fn of_text(text: &str) -> Vec<u32> {
    let pieces = text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric() && !JOINTS.contains(byte));
    pieces.filter_map(number).take(NUMBERS_MAX).collect()
}

/// The numbers of an address, small ones too.
pub fn of_address(address: &str) -> impl Iterator<Item = u32> {
    let runs = address.as_bytes().split(|byte| !byte.is_ascii_digit());
    runs.filter(|run| !run.is_empty()).map(hash)
}

fn number(piece: &[u8]) -> Option<u32> {
    let is_joint = |byte: &u8| JOINTS.contains(byte);
    let begin = piece.iter().position(|byte| !is_joint(byte))?;
    let end = piece.iter().rposition(|byte| !is_joint(byte))? + 1;
    let piece = &piece[begin..end];
    let groups = piece.split(|byte| matches!(byte, b'.' | b','));
    if !groups.clone().all(|group| !group.is_empty() && group.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let is_number = match groups.clone().count() {
        1 => !may_be_of_date(piece),
        2 => true,
        // Thousands; a date has other groups.
        _ => groups.skip(1).all(|group| group.len() == 3),
    };
    is_number.then(|| hash(piece))
}

fn may_be_of_date(digits: &[u8]) -> bool {
    let value =
        digits.iter().fold(0, |value: u32, digit| value.saturating_mul(10).saturating_add(u32::from(digit - b'0')));
    digits.len() <= 4 && (value <= DAYS_MAX || YEARS.contains(&value))
}

/// FNV-1a.
fn hash(number: &[u8]) -> u32 {
    number.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_belong_to_a_date_or_is_part_of_a_word_is_no_number_of_a_text() {
        for (text, count) in [
            ("", 0),
            ("Calendar 2026-11 1 2 3 29 30 31, week 48, day 334. 2025 2027", 0),
            ("30.11.2026 2026-11-30 11/30/2026 2026年11月30日 23:45 23:45:12", 0),
            ("v1.2.3 8f14e45f 10-20 B2 +49-30-1234567 192.168.10.2", 0),
            ("21.5 °C, -5.0 °C; 0,8 mm.", 3),
            ("1,234,567 1.234.567,", 2),
            ("12.50€ (367) 10001.", 3),
            (&"1000 ".repeat(100), NUMBERS_MAX),
        ] {
            assert_eq!(of_text(text).len(), count, "{text}");
        }
        assert_eq!(of_text("Part 10001: 12.5").first().copied(), of_address("/part/10001?page=2").next());
        assert_ne!(of_text("12.5"), of_text("1.25"));
    }
}
