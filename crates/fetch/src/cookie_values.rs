//! Values of cookies in the requests of pages. Against forged requests, scripts copy a cookie into a field or a form (`X-XSRF-TOKEN` of
//! Angular and axios, `csrfmiddlewaretoken` of Django): it is as secret there.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use crate::REDACTED;

/// Shorter values may stand anywhere by chance. In bytes.
const VALUE_BYTES_MIN: usize = 8;

type Begin = [u8; VALUE_BYTES_MIN];

/// Values that are not recorded, by their first bytes.
#[derive(Default)]
pub(crate) struct CookieValues(HashMap<Begin, Vec<Vec<u8>>>);

impl CookieValues {
    /// Adds a value: as it is, and as scripts read it that undo its encoding.
    pub(crate) fn add(&mut self, value: &str) {
        let value = value.trim_matches('"').as_bytes().to_vec();
        let decoded = decode(&value).0;
        for value in [(decoded != value).then_some(decoded), Some(value)].into_iter().flatten() {
            if let Some(begin) = value.first_chunk() {
                self.0.entry(*begin).or_default().push(value);
            }
        }
    }

    /// Adds those of a field `Cookie`.
    pub(crate) fn add_field(&mut self, field: &str) {
        for pair in field.split(';') {
            self.add(pair.split_once('=').map_or(pair, |(_, value)| value).trim());
        }
    }

    /// The head of a request as it is recorded. If its body is recorded with another length, it says so. Its target stays: it is the URL of
    /// the record.
    pub(crate) fn redacted_head(&self, head: &[u8], length: Option<usize>) -> Vec<u8> {
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let mut recorded = lines.next().unwrap_or_default().to_vec();
        for line in lines {
            let (name, _) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
            match length.filter(|_| name.eq_ignore_ascii_case(b"content-length")) {
                Some(length) => recorded.extend([name, format!(": {length}\r\n").as_bytes()].concat()),
                None => recorded.extend(self.redacted(line).as_deref().unwrap_or(line)),
            }
        }
        recorded
    }

    /// A text with [`REDACTED`] in place of each value, which may be percent-encoded; `None` if there is none in it. Takes linear time,
    /// but for values that begin as something in the text does.
    pub(crate) fn redacted(&self, text: &[u8]) -> Option<Vec<u8>> {
        let (plain, places) = decode(text);
        let begins = plain.windows(VALUE_BYTES_MIN).filter_map(|window| window.first_chunk::<VALUE_BYTES_MIN>());
        let begins: HashSet<&Begin> = begins.filter(|begin| self.0.contains_key(*begin)).collect();
        let mut found: Vec<Range<usize>> = Vec::new();
        for value in begins.into_iter().filter_map(|begin| self.0.get(begin)).flatten() {
            found.extend(memmem::find_iter(&plain, value).map(|at| places[at]..places[at + value.len()]));
        }
        if found.is_empty() {
            return None;
        }
        found.sort_unstable_by_key(|range| range.start);
        let (mut recorded, mut behind) = (Vec::with_capacity(text.len()), 0);
        for Range { start, end } in found {
            if start >= behind {
                recorded.extend_from_slice(&text[behind..start]);
                recorded.extend_from_slice(REDACTED.as_bytes());
            }
            behind = behind.max(end);
        }
        recorded.extend_from_slice(&text[behind..]);
        Some(recorded)
    }
}

/// A text with its percent-encoding undone, with the place in the text of each byte of it, and of its end.
fn decode(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut plain, mut places) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let encoded = if *byte == b'%' { text.get(at + 1..at + 3).and_then(hexadecimal) } else { None };
        places.push(at);
        plain.push(encoded.unwrap_or(*byte));
        at += if encoded.is_some() { 3 } else { 1 };
    }
    places.push(text.len());
    (plain, places)
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits.iter().try_fold(0, |number, byte| Some(number * 16 + digit(*byte)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> CookieValues {
        let mut values = CookieValues::default();
        ["S3CRET-1", "S3CRET-1-and-more", "eyJpdiI6IkEvQi8%3D", "\"quoted-value\"", "short", "1234567"]
            .iter()
            .for_each(|value| values.add(value));
        values.add_field("a=of-the-page; b=x; =no-name-here; alone-in-it");
        values
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        for (text, expect) in [
            ("q=1&csrfmiddlewaretoken=S3CRET-1&n=2", "q=1&csrfmiddlewaretoken=***&n=2"),
            (r#"{"token":"S3CRET-1-and-more","again":"S3CRET-1"}"#, r#"{"token":"***","again":"***"}"#),
            ("x-xsrf-token: eyJpdiI6IkEvQi8%3D\r\n", "x-xsrf-token: ***\r\n"),
            ("x-xsrf-token: eyJpdiI6IkEvQi8=\r\n", "x-xsrf-token: ***\r\n"),
            ("token=eyJpdiI6IkEvQi8%253D&x=%26", "token=***&x=%26"),
            ("%53%33CRET%2d1%", "***%"),
            ("quoted-value of-the-page no-name-here alone-in-it", "*** *** *** ***"),
            ("S3CRET-1S3CRET-1", "******"),
        ] {
            let recorded = values().redacted(text.as_bytes()).expect(text);
            assert_eq!(String::from_utf8(recorded).expect(text), expect, "{text}");
        }
        for text in ["", "short 1234567 S3CRET- S3CRET-2", "s3cret-1", "S3CRET%2", "%"] {
            assert_eq!(values().redacted(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_head_has_the_length_of_the_body_that_is_recorded() {
        let head = b"POST /S3CRET-1 HTTP/1.1\r\ncontent-length: 30\r\nx-token: S3CRET-1\r\nx-other: a\r\n\r\n";
        for (length, says) in [(Some(25), 25), (None, 30)] {
            let expect =
                format!("POST /S3CRET-1 HTTP/1.1\r\ncontent-length: {says}\r\nx-token: ***\r\nx-other: a\r\n\r\n");
            assert_eq!(String::from_utf8_lossy(&values().redacted_head(head, length)), expect);
        }
    }
}
