//! What an answer sets: for the jar, and as it is recorded.

use std::borrow::Cow;

use crate::REDACTED;

/// The second was never in wide use (RFC 6265 §9.3), but may have values all the same.
const NAMES: [&[u8]; 2] = [b"set-cookie", b"set-cookie2"];

/// The attributes of a cookie (RFC 6265bis §5.6, CHIPS, and `Priority` of Chromium). Other text behind a semicolon may belong to a value.
const ATTRIBUTES: [&[u8]; 9] =
    [b"expires", b"max-age", b"domain", b"path", b"secure", b"httponly", b"samesite", b"partitioned", b"priority"];

/// A head without the values of the cookies that it sets: `Set-Cookie: id=***; Path=/`. Everything else of it stays as it came.
pub(crate) fn without_values(head: &[u8]) -> Cow<'_, [u8]> {
    if !lines(head).any(sets_cookie) {
        return Cow::Borrowed(head);
    }
    let mut recorded = Vec::with_capacity(head.len());
    let mut is_of_one = false;
    for line in lines(head) {
        // A continued line (RFC 9112 §5.2) goes with the line before, where the value may have begun.
        let is_continued = line.starts_with(b" ") || line.starts_with(b"\t");
        is_of_one = if is_continued { is_of_one } else { sets_cookie(line) };
        match (is_of_one, is_continued) {
            (false, _) => recorded.extend_from_slice(line),
            (true, false) => redact(line, &mut recorded),
            (true, true) => {}
        }
    }
    Cow::Owned(recorded)
}

/// The lines of a head, each with its end.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split_inclusive(|byte| *byte == b'\n')
}

fn sets_cookie(line: &[u8]) -> bool {
    let name = line.iter().position(|byte| *byte == b':').and_then(|colon| line.get(..colon));
    name.is_some_and(|name| NAMES.iter().any(|known| name.trim_ascii().eq_ignore_ascii_case(known)))
}

fn redact(line: &[u8], recorded: &mut Vec<u8>) {
    let end = line.len() - line.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let (text, newline) = line.split_at(end);
    let at = |byte: u8, from: usize| text.iter().skip(from).position(|found| *found == byte).map(|at| from + at);
    let pair = at(b':', 0).map_or(0, |colon| colon + 1);
    let attributes = at(b';', pair).unwrap_or(end);
    match at(b'=', pair).filter(|equals| *equals < attributes) {
        Some(equals) => recorded.extend_from_slice(&text[..=equals]),
        // All of it is the value (RFC 6265bis §5.6).
        None => recorded.extend([&text[..pair], b" "].concat()),
    }
    recorded.extend_from_slice(REDACTED.as_bytes());
    for attribute in text[attributes..].split(|byte| *byte == b';').skip(1) {
        recorded.push(b';');
        match is_attribute(attribute) {
            true => recorded.extend_from_slice(attribute),
            false => recorded.extend([b" ", REDACTED.as_bytes()].concat()),
        }
    }
    recorded.extend_from_slice(newline);
}

/// Whether a text is an attribute with its value and nothing else, such as another cookie behind a comma.
fn is_attribute(text: &[u8]) -> bool {
    let (name, value) = match text.iter().position(|byte| *byte == b'=') {
        Some(equals) => (&text[..equals], &text[equals + 1..]),
        None => (text, &b""[..]),
    };
    let name = name.trim_ascii();
    let is_date = name.eq_ignore_ascii_case(b"expires");
    let is_foreign = |byte: &u8| matches!(byte, b'=' | b'"') || (*byte == b',' && !is_date);
    ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known)) && !value.iter().any(is_foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_head_has_no_value_of_a_cookie() {
        let check = |given: &str, expect: &str| {
            assert_eq!(String::from_utf8_lossy(&without_values(given.as_bytes())), expect, "{given}");
        };
        check("HTTP/1.1 200 OK\r\nA: b=S3CRET\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b=S3CRET\r\n\r\n");
        check(
            "HTTP/1.1 200 OK\r\nA: b\r\nset-cookie: id=S3CRET=; Path=/; HttpOnly\r\nSet-Cookie:b=S3CRET\r\nC: d\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\nset-cookie: id=***; Path=/; HttpOnly\r\nSet-Cookie:b=***\r\nC: d\r\n\r\n",
        );
        for (given, expect) in [
            ("S3CRET; Path=/", "***; Path=/"),
            (
                "id=S3CRET; Expires=Wed, 21 Oct 2026 07:28:00 GMT; secure",
                "id=***; Expires=Wed, 21 Oct 2026 07:28:00 GMT; secure",
            ),
            ("k=\"a;S3CRET\"; Path=/", "k=***; ***; Path=/"),
            ("e=1; Path=/, f=S3CRET; Secure", "e=***; ***; Secure"),
            ("id=1;S3CRET;a=S3CRET", "id=***; ***; ***"),
        ] {
            check(
                &format!("HTTP/1.1 200 OK\nSet-Cookie: {given}\n\n"),
                &format!("HTTP/1.1 200 OK\nSet-Cookie: {expect}\n\n"),
            );
        }
        check("HTTP/1.1 200 OK\nSet-Cookie2: h=S3CRET\n\n", "HTTP/1.1 200 OK\nSet-Cookie2: h=***\n\n");
        check(
            "HTTP/1.1 200 OK\r\nSet-Cookie:\r\n id=S3CRET;\r\n\tPath=/\r\nA: b\r\n c\r\n\r\n",
            "HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\nA: b\r\n c\r\n\r\n",
        );
    }
}
