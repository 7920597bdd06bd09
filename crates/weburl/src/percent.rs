//! Percent-encoding in one spelling (RFC 3986 §6.2.2.1 and §6.2.2.2).

use std::borrow::Cow;

/// Decodes what encodes an unreserved character and writes the hexadecimal digits of the rest in upper case.
/// A `%` that no two hexadecimal digits follow is left alone, and what encodes a digit right behind it stays encoded:
/// `%%341` is not `%41`, and must not become it.
pub(crate) fn normalise(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // The end of the last `%` that was left alone.
    let mut lone = None;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let behind_lone = lone.is_some_and(|end| out.len() < end + 2);
        match encoded_byte(rest.as_bytes()) {
            Some(byte) if is_unreserved(byte) && !(behind_lone && byte.is_ascii_hexdigit()) => {
                out.push(char::from(byte));
                rest = &rest[3..];
            }
            Some(_) => {
                out.push_str(&rest[..3].to_ascii_uppercase());
                rest = &rest[3..];
            }
            None => {
                out.push('%');
                lone = Some(out.len());
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

fn encoded_byte(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    u8::try_from(digit(1)? * 16 + digit(2)?).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn one_spelling() {
        for (input, expect) in [
            ("/a", "/a"),
            ("/%7euser", "/~user"),
            ("/%41%2d%2E%5f", "/A-._"),
            ("/%e3%83%84", "/%E3%83%84"),
            ("/%2f%3f", "/%2F%3F"),
            ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"),
            ("/%%41", "/%%41"),
            ("/%%341", "/%%341"),
            ("/%%34%31", "/%%341"),
            ("/%6%31", "/%6%31"),
            ("/%6a%31", "/j1"),
            ("/%%7e%31", "/%~%31"),
            ("/%%7ea%31", "/%~a1"),
            ("/%2541", "/%2541"),
            ("/ž%c5", "/ž%C5"),
        ] {
            assert_eq!(normalise(input), expect, "{input}");
            assert_eq!(normalise(expect), expect, "once more");
        }
    }
}
