//! Numbers as people write them. A wrong guess would be wrong by powers of ten, so what can be no number, or two, is none.

/// The first number in a text: `1,234.50 €`, `EUR 1.234,50`, `.5`, `-5`, `1e3`. `decimal` is the sign before its fraction, if it is known.
pub(super) fn number(text: &str, decimal: Option<char>) -> Option<f64> {
    plain(text, decimal)?.parse().ok()
}

/// The first number in a text, if it is whole. It keeps all digits.
pub(super) fn integer(text: &str, decimal: Option<char>) -> Option<i64> {
    let plain = plain(text, decimal)?;
    let (whole, fraction) = plain.split_once('.')?;
    if fraction.bytes().all(|digit| digit == b'0') {
        return whole.parse().ok();
    }
    // A fraction, or an exponent.
    let number: f64 = plain.parse().ok()?;
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

/// The first number in a text, as Rust reads it.
fn plain(text: &str, decimal: Option<char>) -> Option<String> {
    let begin = begin_of(text)?;
    let (before, rest) = text.split_at(begin);
    let written = Written::read(rest);
    let behind = &rest[written.length..];
    // `1½` is not 1.
    let has_fraction = behind.trim_start().starts_with(|char| matches!(char, '¼'..='¾' | '⅐'..='⅞'));
    if has_fraction || goes_on(behind) || written.is_doubtful(behind) || is_in_accounts(before, behind, &written) {
        return None;
    }
    let sign = if is_negative(before) { "-" } else { "" };
    Some(format!("{sign}{}{}", written.plain(decimal)?, exponent_of(behind)))
}

/// Where the first number begins: at a digit, or at the sign of a fraction that has no digit before it.
fn begin_of(text: &str) -> Option<usize> {
    let digit = text.find(|char: char| char.is_ascii_digit())?;
    let before = &text[..digit];
    let Some(outside) = before.strip_suffix(['.', ',']) else { return Some(digit) };
    let is_fraction = !outside.ends_with(|char: char| char.is_alphanumeric() || matches!(char, '.' | ','));
    Some(if is_fraction { outside.len() } else { digit })
}

/// Groups of digits, and the sign before each.
struct Written<'t> {
    groups: Vec<(Option<char>, &'t str)>,
    /// In bytes.
    length: usize,
}

impl<'t> Written<'t> {
    fn read(text: &'t str) -> Self {
        let mut written = Written { groups: Vec::new(), length: 0 };
        loop {
            let rest = &text[written.length..];
            let sign = rest.chars().next().filter(|char| !char.is_ascii_digit());
            let begin = sign.map_or(0, char::len_utf8);
            let digits = rest[begin..].bytes().take_while(u8::is_ascii_digit).count();
            let is_sign = sign.is_none_or(|sign| matches!(sign, '.' | ',' | '\'' | '\u{2019}') || is_space(sign));
            let is_part = digits > 0 && is_sign && (!sign.is_some_and(is_space) || written.may_have_space(digits));
            if !is_part {
                return written;
            }
            // Signs that mean the same are the same here.
            let sign = sign.map(|sign| match sign {
                '\u{2019}' => '\'',
                space if is_space(space) => ' ',
                other => other,
            });
            written.groups.push((sign, &rest[begin..begin + digits]));
            written.length += begin + digits;
        }
    }

    /// A space belongs to a number only between groups of three digits.
    fn may_have_space(&self, digits: usize) -> bool {
        let [(None, first), more @ ..] = &self.groups[..] else { return false };
        digits == 3 && is_first_group(first) && more.iter().all(|(sign, _)| *sign == Some(' '))
    }

    /// Whether programs write such numbers (`0x10`, `1_000`), or another group follows that does not fit to those between spaces (`12 345 6`).
    fn is_doubtful(&self, behind: &str) -> bool {
        let mut chars = behind.chars();
        let (sign, next) = (chars.next(), chars.next().unwrap_or(' '));
        match (sign, &self.groups[..]) {
            (Some('x' | 'X'), [(None, "0")]) => next.is_ascii_hexdigit(),
            (Some('_'), _) => next.is_ascii_digit(),
            (Some(sign), [.., (Some(' '), _)]) => is_space(sign) && next.is_ascii_digit(),
            _ => false,
        }
    }

    /// The number as Rust reads it.
    fn plain(&self, decimal: Option<char>) -> Option<String> {
        let decimal = decimal.or_else(|| self.decimal());
        let (whole, fraction) = match &self.groups[..] {
            [whole @ .., (sign @ Some(_), fraction)] if *sign == decimal => (whole, *fraction),
            whole => (whole, ""),
        };
        let is_right = are_groups(whole) && whole.iter().all(|(sign, _)| sign.is_none() || *sign != decimal);
        is_right.then(|| {
            let whole: String = whole.iter().map(|(_, digits)| *digits).collect();
            format!("0{whole}.{fraction}0")
        })
    }

    /// The sign before the fraction, where none is given: the last of points and commas. One alone between groups of three is not, if it is a comma.
    fn decimal(&self) -> Option<char> {
        let (last, digits) = self.groups.last()?;
        let sign = last.filter(|sign| matches!(sign, '.' | ','))?;
        let others = &self.groups[..self.groups.len() - 1];
        if others.iter().any(|(other, _)| *other == Some(sign)) {
            return None;
        }
        let is_thousands =
            matches!(others, [(None, first)] if sign == ',' && digits.len() == 3 && is_first_group(first));
        (!is_thousands).then_some(sign)
    }
}

/// Whether the groups of a whole number are right: threes with the same sign between them, or twos and a three at the end as in India.
fn are_groups(groups: &[(Option<char>, &str)]) -> bool {
    let [(None, first), more @ ..] = groups else { return groups.is_empty() };
    let [between @ .., (sign, last)] = more else { return true };
    let has_length = |length: usize| between.iter().all(|(other, digits)| other == sign && digits.len() == length);
    let is_indian = *sign == Some(',') && has_length(2) && first.len() <= 2;
    last.len() == 3 && is_first_group(first) && (has_length(3) || is_indian)
}

/// Whether groups of three can follow.
fn is_first_group(digits: &str) -> bool {
    (1..=3).contains(&digits.len()) && !digits.starts_with('0')
}

/// `e3` directly behind.
fn exponent_of(text: &str) -> &str {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return "" };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let end = text.len() - digits.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let is_exponent = digits.starts_with(|char: char| char.is_ascii_digit())
        && !text[end..].starts_with(|char: char| char.is_alphanumeric());
    if is_exponent { &text[..end] } else { "" }
}

/// Whether what is behind makes it a date, a time, a phone number, or a number of parts: `-03-05`, `:30`, `.1`.
fn goes_on(behind: &str) -> bool {
    let part = |text: &str| {
        let sign = text.chars().next().filter(|char| matches!(char, '-' | '/' | ':' | '.' | ',' | '\''))?;
        let rest = &text[1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some((sign, digits + 1))
    };
    // One more number is a range (`10-20`) or a rating (`4/5`).
    match part(behind) {
        Some(('-' | '/', length)) => part(&behind[length..]).is_some(),
        Some(_) => true,
        None => false,
    }
}

/// Two decimals alone in brackets: negative in accounts, and positive elsewhere.
fn is_in_accounts(before: &str, behind: &str, written: &Written<'_>) -> bool {
    let is_alone = before.trim_start().starts_with('(') && behind.trim_end().ends_with(')');
    is_alone && matches!(written.groups.last(), Some((Some('.' | ','), digits)) if digits.len() == 2)
}

/// Whether a minus stands before the number: directly or with a currency between (`-$5`), and as no hyphen of a word (`A-5`).
fn is_negative(before: &str) -> bool {
    let is_currency = |char: char| !char.is_alphanumeric() && !char.is_ascii_punctuation() || char == '$';
    let is_minus = |char: char| matches!(char, '-' | '\u{2212}');
    let joined = before.trim_end_matches(|char| is_currency(char) && !is_minus(char) && !char.is_whitespace());
    let Some(outside) = joined.strip_suffix(is_minus) else { return joined.trim().strip_suffix(is_minus) == Some("") };
    !outside.ends_with(|char: char| char.is_alphanumeric() || is_minus(char))
}

fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a text is: with a guess, with a point before the fraction, with a comma before it.
    const CASES: &[(&str, [Option<f64>; 3])] = &[
        // Groups of three, and a fraction.
        ("1,234.50 €", [Some(1234.5), Some(1234.5), None]),
        ("EUR 1.234,50", [Some(1234.5), None, Some(1234.5)]),
        ("1,234,567.89", [Some(1_234_567.89), Some(1_234_567.89), None]),
        ("1.234.567,89", [Some(1_234_567.89), None, Some(1_234_567.89)]),
        ("1.234.567", [Some(1_234_567.0), None, Some(1_234_567.0)]),
        ("1,234,567", [Some(1_234_567.0), Some(1_234_567.0), None]),
        ("12,500", [Some(12_500.0), Some(12_500.0), Some(12.5)]),
        ("1 234,5", [Some(1234.5), None, Some(1234.5)]),
        ("1\u{a0}234\u{202f}567.5", [Some(1_234_567.5), Some(1_234_567.5), None]),
        ("1'234.50", [Some(1234.5), Some(1234.5), None]),
        ("1\u{2019}234", [Some(1234.0), Some(1234.0), Some(1234.0)]),
        ("₹ 12,34,567.50", [Some(1_234_567.5), Some(1_234_567.5), None]),
        // One sign.
        ("12,5", [Some(12.5), None, Some(12.5)]),
        ("1.5", [Some(1.5), Some(1.5), None]),
        ("$ 3.999 each", [Some(3.999), Some(3.999), Some(3999.0)]),
        ("1.234", [Some(1.234), Some(1.234), Some(1234.0)]),
        ("1,234 reviews", [Some(1234.0), Some(1234.0), Some(1.234)]),
        ("1234,567", [Some(1234.567), None, Some(1234.567)]),
        // A zero or nothing before the sign: a fraction.
        (".5", [Some(0.5), Some(0.5), None]),
        (",5", [Some(0.5), None, Some(0.5)]),
        ("$.99", [Some(0.99), Some(0.99), None]),
        ("-.5", [Some(-0.5), Some(-0.5), None]),
        ("0,5", [Some(0.5), None, Some(0.5)]),
        ("0,999", [Some(0.999), None, Some(0.999)]),
        ("-0,250 kg", [Some(-0.25), None, Some(-0.25)]),
        ("0.123", [Some(0.123), Some(0.123), None]),
        // Signs of a minus.
        ("-5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("\u{2212}5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("- 5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("- $5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("-$5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("$-5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("EUR -5", [Some(-5.0), Some(-5.0), Some(-5.0)]),
        ("Model A-5", [Some(5.0), Some(5.0), Some(5.0)]),
        ("Price - 5 EUR", [Some(5.0), Some(5.0), Some(5.0)]),
        // Exponents.
        ("1e3", [Some(1000.0), Some(1000.0), Some(1000.0)]),
        ("-1.5E-2", [Some(-0.015), Some(-0.015), None]),
        ("1em", [Some(1.0), Some(1.0), Some(1.0)]),
        ("2e3x", [Some(2.0), Some(2.0), Some(2.0)]),
        ("1e999", [Some(f64::INFINITY), Some(f64::INFINITY), Some(f64::INFINITY)]),
        // The first of several, and words around.
        ("5 of 10", [Some(5.0), Some(5.0), Some(5.0)]),
        ("3, 4 and 5", [Some(3.0), Some(3.0), Some(3.0)]),
        ("10-20 €", [Some(10.0), Some(10.0), Some(10.0)]),
        ("4.5/5", [Some(4.5), Some(4.5), None]),
        ("2024 100", [Some(2024.0), Some(2024.0), Some(2024.0)]),
        ("10x20 cm", [Some(10.0), Some(10.0), Some(10.0)]),
        ("0x", [Some(0.0), Some(0.0), Some(0.0)]),
        ("5 1234", [Some(5.0), Some(5.0), Some(5.0)]),
        ("No.5.", [Some(5.0), Some(5.0), Some(5.0)]),
        ("007", [Some(7.0), Some(7.0), Some(7.0)]),
        ("5,- €", [Some(5.0), Some(5.0), Some(5.0)]),
        ("(12)", [Some(12.0), Some(12.0), Some(12.0)]),
        ("(4.5)", [Some(4.5), Some(4.5), None]),
        // No number, or which one is unknown.
        ("1.2.3", [None, None, None]),
        ("192.168.1.1", [None, None, None]),
        ("2024-03-05", [None, None, None]),
        ("03/05/2024", [None, None, None]),
        ("10:30", [None, None, None]),
        ("+1-800-555", [None, None, None]),
        ("12,34,5", [None, None, None]),
        ("1.234,567.8", [None, None, None]),
        ("5'11", [None, None, None]),
        ("0x10", [None, None, None]),
        ("1_000", [None, None, None]),
        ("12 345 6", [None, None, None]),
        ("(5.00)", [None, None, None]),
        ("1½", [None, None, None]),
        ("2 ⅔ cups", [None, None, None]),
        ("none", [None, None, None]),
        ("", [None, None, None]),
    ];

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for &(text, [guess, point, comma]) in CASES {
            assert_eq!(number(text, None), guess, "{text}");
            assert_eq!(number(text, Some('.')), point, "{text} with a point");
            assert_eq!(number(text, Some(',')), comma, "{text} with a comma");
        }
    }
}
