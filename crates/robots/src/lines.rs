//! The file as numbered lines: byte order mark, line ends and the size limit, in one place.

use memchr::{memchr2, memrchr2};

/// How much of a robots.txt is read, in bytes: 500 KiB, the least that RFC 9309 §2.5 permits as a limit.
///
/// What lies behind is ignored, and so is the line that the limit cuts in two: half of
/// `Disallow: /private` would forbid the whole site. A reader that stops early should therefore
/// hand over at least one byte more than this, so that the cut can be seen.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Lines with their numbers, from 1. A line ends with CR, LF or CRLF (RFC 9309 §2.2, `NL`).
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: u32,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(body: &'a [u8]) -> Self {
        let body = within_limit(body);
        let rest = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        Self { rest, number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = memchr2(b'\r', b'\n', self.rest).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        self.number += 1;
        Some((self.number, line))
    }
}

/// The body up to the last whole line inside [`ROBOTS_BYTES_MAX`].
fn within_limit(body: &[u8]) -> &[u8] {
    // One byte more than the limit: a line that ends exactly there is whole.
    match body.get(..=ROBOTS_BYTES_MAX) {
        Some(head) => &head[..memrchr2(b'\r', b'\n', head).unwrap_or(0)],
        None => body,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], expect: &[(u32, &str)]) {
        let lines: Vec<_> =
            Lines::new(body).map(|(number, line)| (number, String::from_utf8_lossy(line).into_owned())).collect();
        let expect: Vec<_> = expect.iter().map(|&(n, l)| (n, l.to_owned())).collect();
        assert_eq!(lines, expect, "{body:?}");
    }

    #[test]
    fn every_line_end_counts_one_line() {
        check(b"", &[]);
        check(b"\n", &[(1, "")]);
        check(b"a", &[(1, "a")]);
        check(b"a\nb\n", &[(1, "a"), (2, "b")]);
        check(b"a\rb\r", &[(1, "a"), (2, "b")]);
        check(b"a\r\nb\r\n", &[(1, "a"), (2, "b")]);
        check(b"a\n\rb", &[(1, "a"), (2, ""), (3, "b")]);
        check(b"a\r\n\r\nb", &[(1, "a"), (2, ""), (3, "b")]);
        check(b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb", &[(1, "a"), (2, "\u{feff}b")]);
    }

    #[test]
    fn the_limit_cuts_at_a_line_end() {
        let check = |tail_from_limit: isize, tail: &str, kept: &str| {
            let start = ROBOTS_BYTES_MAX.strict_add_signed(tail_from_limit);
            let body = format!("{}\n{tail}", "#".repeat(start - 1));
            let lines: Vec<_> = Lines::new(body.as_bytes()).skip(1).collect();
            let text: Vec<_> = lines.iter().map(|(_, line)| str::from_utf8(line).unwrap()).collect();
            assert_eq!(text.join("|"), kept, "{tail:?} at limit {tail_from_limit:+}");
        };
        check(-3, "abc", "abc");
        check(-3, "abc\n", "abc");
        check(-3, "abc\ndef", "abc");
        check(-3, "abcd", "");
        check(-3, "abcd\n", "");
        check(-3, "a\nbcd\n", "a");
        check(0, "abc\n", "");
    }

    #[test]
    fn one_endless_line_gives_nothing() {
        check(&vec![b'a'; ROBOTS_BYTES_MAX + 1], &[]);
    }
}
