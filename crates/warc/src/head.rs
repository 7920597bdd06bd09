//! Heads: the lines before the first empty line, of a WARC record and of an HTTP message alike.

use std::borrow::Cow;
use std::io::{self, BufRead};

/// A head that was read from a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// The bytes up to and including the empty line.
    Whole(Vec<u8>),
    /// The stream ended first: all its bytes.
    Ended(Vec<u8>),
    /// The limit came first: that many bytes.
    TooLong(Vec<u8>),
}

/// Finds the empty line at the end of a head. Lines end with LF; a CR before it is not counted,
/// so that heads of bare LF end too.
struct EmptyLine {
    line_is_empty: bool,
}

impl EmptyLine {
    /// How many bytes belong to the head, when it ends in these.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (i, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.line_is_empty => return Some(i + 1),
                b'\n' => self.line_is_empty = true,
                b'\r' => {}
                _ => self.line_is_empty = false,
            }
        }
        None
    }
}

/// The length of the head that these bytes begin with, empty line included.
pub(crate) fn head_len(bytes: &[u8]) -> Option<usize> {
    EmptyLine { line_is_empty: true }.find(bytes)
}

/// Reads a head, at most `bytes_max` bytes of it.
pub(crate) fn read_head(input: &mut impl BufRead, bytes_max: usize) -> io::Result<Head> {
    let mut head = Vec::new();
    let mut end = EmptyLine { line_is_empty: true };
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(Head::Ended(head));
        }
        let some = &available[..available.len().min(bytes_max - head.len())];
        let found = end.find(some);
        let taken = found.unwrap_or(some.len());
        head.extend_from_slice(&some[..taken]);
        input.consume(taken);
        if found.is_some() {
            return Ok(Head::Whole(head));
        }
        if head.len() == bytes_max {
            return Ok(Head::TooLong(head));
        }
    }
}

/// The lines of a head without their ends, continuation lines (which begin with a space or a tab;
/// RFC 2822 §2.2.3) joined to the line before by one space, the empty line left out. Bytes that
/// are not UTF-8 become U+FFFD.
pub(crate) fn unfolded_lines(head: &[u8]) -> Vec<Cow<'_, str>> {
    let mut lines: Vec<Cow<'_, str>> = Vec::new();
    for line in head.split(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        match lines.last_mut() {
            Some(last) if text.starts_with([' ', '\t']) => {
                let last = last.to_mut();
                last.push(' ');
                last.push_str(text.trim());
            }
            _ if text.is_empty() => {}
            _ => lines.push(text),
        }
    }
    lines
}

/// The value of the first field of this name, letters of any case.
pub(crate) fn field<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_at_its_first_empty_line() {
        fn check(bytes: &[u8], expect: Option<usize>) {
            assert_eq!(head_len(bytes), expect, "{bytes:?}");
        }
        check(b"a\r\n\r\nrest", Some(5));
        check(b"a\n\nrest", Some(3));
        check(b"a\r\n\nrest", Some(4));
        check(b"\r\nrest", Some(2));
        check(b"\r\r\n\r\n", Some(3));
        check(b"a\r\nb: c\r\n", None);
        check(b"a\r\n \r\n\r\n", Some(8));
        check(b"", None);
    }

    #[test]
    fn reading_a_head_leaves_the_rest_and_respects_the_limit() {
        let mut input: &[u8] = b"a\r\n\r\nrest";
        assert_eq!(read_head(&mut input, 5).unwrap(), Head::Whole(b"a\r\n\r\n".to_vec()));
        assert_eq!(input, b"rest");
        let mut input: &[u8] = b"a\r\n\r\nrest";
        assert_eq!(read_head(&mut input, 4).unwrap(), Head::TooLong(b"a\r\n\r".to_vec()));
        let mut input: &[u8] = b"a\r\n";
        assert_eq!(read_head(&mut input, 4).unwrap(), Head::Ended(b"a\r\n".to_vec()));
    }

    #[test]
    fn continuation_lines_are_joined() {
        assert_eq!(unfolded_lines(b"a: b\r\n\t c\r\nd: e\n\r\n"), ["a: b c", "d: e"]);
        assert_eq!(unfolded_lines(b" a: b\r\n\r\n"), [" a: b"]);
    }
}
