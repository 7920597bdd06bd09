//! Escapes in names and texts (CSS Syntax, 4.3.7).

/// Hexadecimal digits of an escape, at most.
const DIGITS_MAX: usize = 6;

/// What a backslash stands for with what follows it, and how many bytes of that belong to it. `None` if a line ends there, which is no escape.
pub(super) fn escaped(behind: &str) -> Option<(char, usize)> {
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    let digits = behind.bytes().take(DIGITS_MAX).take_while(is_digit).count();
    if digits > 0 {
        let code = u32::from_str_radix(&behind[..digits], 16).ok()?;
        let char = char::from_u32(code).filter(|char| *char != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
        return Some((char, digits + white_space(&behind[digits..])));
    }
    match behind.chars().next() {
        None => Some((char::REPLACEMENT_CHARACTER, 0)),
        Some('\n' | '\r' | '\x0c') => None,
        Some(char) => Some((char, char.len_utf8())),
    }
}

/// The length of one white space, which ends the digits of an escape. It is also that of the end of a line.
pub(super) fn white_space(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b' ' | b'\t' | b'\n' | b'\r' | b'\x0c', ..] => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_as_the_standard_says() {
        for (behind, expect) in [
            ("31 num", Some(('1', 3))),
            ("31num", Some(('1', 2))),
            ("000031num", Some(('1', 6))),
            ("0000317", Some(('1', 6))),
            ("3a\r\nd", Some((':', 4))),
            (":d", Some((':', 1))),
            ("é", Some(('é', 2))),
            ("0 x", Some(('\u{fffd}', 2))),
            ("d800", Some(('\u{fffd}', 4))),
            ("110000", Some(('\u{fffd}', 6))),
            ("", Some(('\u{fffd}', 0))),
            ("\nx", None),
        ] {
            assert_eq!(escaped(behind), expect, "{behind:?}");
        }
    }
}
