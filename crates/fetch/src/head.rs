//! Message heads as bytes: where one ends, and what fields it has (RFC 9112 §2–5).

use std::fmt::Write;

use http::{HeaderMap, StatusCode};
use model::Headers;

use crate::message::Request;

/// Fields of a head, and bytes of one, for which there is room at first: most have no more.
const FIELDS_USUAL: usize = 16;
const HEAD_BYTES_USUAL: usize = 512;

/// Fields whose values are URLs, or have some in them.
const OF_URLS: [&str; 4] = ["location", "content-location", "link", "refresh"];

/// Looks for the end of a head, the empty line, in bytes that come bit by bit. Lines may end in LF alone, and empty
/// lines before the first are skipped (RFC 9112 §2.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EndOfHead {
    begun: bool,
    line_has_bytes: bool,
}

impl EndOfHead {
    /// The index just after the head's last byte, if that byte is in `bytes`.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.begun && !self.line_has_bytes => return Some(index + 1),
                b'\n' => self.line_has_bytes = false,
                b'\r' => {}
                _ => (self.begun, self.line_has_bytes) = (true, true),
            }
        }
        None
    }
}

/// The status in the first line of an answer's head.
#[must_use]
pub fn parse_status(head: &[u8]) -> Option<u16> {
    let text = head.trim_ascii_start().strip_prefix(b"HTTP/")?;
    let space = text.iter().position(|byte| *byte == b' ')?;
    std::str::from_utf8(text.get(space + 1..space + 4)?).ok()?.parse().ok()
}

/// The fields of a head as text, in order. Continued lines are joined (RFC 9112 §5.2); lines without a colon are left out. A value that is not
/// in UTF-8 is in ISO 8859-1 (RFC 9110 §5.5). A URL keeps its bytes, percent-encoded, as browsers request it.
#[must_use]
pub fn parse_fields(head: &[u8]) -> Headers {
    let mut fields: Vec<(String, String)> = Vec::with_capacity(FIELDS_USUAL);
    let lines = head.trim_ascii_start().split(|byte| *byte == b'\n').skip(1);
    for line in lines.take_while(|line| !line.trim_ascii().is_empty()) {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            if let Some((name, value)) = fields.last_mut() {
                value.push(' ');
                value.push_str(&text(name, line));
            }
        } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
            let name = text("", &line[..colon]);
            let value = text(&name, &line[colon + 1..]);
            fields.push((name, value));
        }
    }
    Headers(fields)
}

/// A part of the field `name`.
fn text(name: &str, bytes: &[u8]) -> String {
    let bytes = bytes.trim_ascii();
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let has_urls = OF_URLS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let mut text = String::with_capacity(3 * bytes.len());
    for byte in bytes {
        match byte {
            0x80.. if has_urls => {
                // Nothing fails to be written to a text.
                let _ = write!(text, "%{byte:02X}");
            }
            _ => text.push(char::from(*byte)),
        }
    }
    text
}

/// The head of a request over HTTP/1.1, as it is sent. The words of its names begin with capitals: some servers know no others.
pub(crate) fn request(request: &Request<'_>) -> Vec<u8> {
    let mut line = String::with_capacity(HEAD_BYTES_USUAL);
    // Nothing fails to be written to a text.
    let _ = write!(line, "{} {} HTTP/1.1\r\n", request.method(), request.uri());
    let mut head = line.into_bytes();
    for (name, value) in request.headers() {
        let begin = head.len();
        field(&mut head, name.as_str(), value.as_bytes());
        for word in head[begin..begin + name.as_str().len()].split_mut(|byte| *byte == b'-') {
            if let Some(first) = word.first_mut() {
                first.make_ascii_uppercase();
            }
        }
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// The head of an HTTP/2 answer, written as one of HTTP/1.1. The tools of the archive world (warcio, pywb) read no
/// status line but `HTTP/1.0` and `HTTP/1.1`, so this is the form in which they, too, write HTTP/2.
pub(crate) fn written_response(status: StatusCode, fields: &HeaderMap) -> Vec<u8> {
    let line = format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or_default());
    written(line, None, fields)
}

/// The head of an HTTP/2 request, likewise.
pub(crate) fn written_request(request: &Request<'_>) -> Vec<u8> {
    let uri = request.uri();
    let target = uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
    let host = uri.authority().map_or("", http::uri::Authority::as_str);
    written(format!("{} {target} HTTP/1.1\r\n", request.method()), Some(host), request.headers())
}

fn written(line: String, host: Option<&str>, fields: &HeaderMap) -> Vec<u8> {
    let mut head = line.into_bytes();
    if let Some(host) = host {
        field(&mut head, "host", host.as_bytes());
    }
    for (name, value) in fields {
        field(&mut head, name.as_str(), value.as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

fn field(head: &mut Vec<u8>, name: &str, value: &[u8]) {
    for part in [name.as_bytes(), b": ", value, b"\r\n"] {
        head.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_ends_after_its_empty_line_however_the_bytes_are_cut() {
        for (bytes, end) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", Some(25)),
            ("HTTP/1.1 200 OK\nA: b\n\nbody", Some(22)),
            ("\r\n\nHTTP/1.1 200 OK\r\n\r\n\r\n", Some(22)),
            ("HTTP/1.1 200 OK\r\nA: b\r\n", None),
            ("\r\n\r\n", None),
        ] {
            assert_eq!(EndOfHead::default().find(bytes.as_bytes()), end, "{bytes:?}");
            let mut by_byte = EndOfHead::default();
            let found = bytes.bytes().position(|byte| by_byte.find(&[byte]).is_some());
            assert_eq!(found.map(|index| index + 1), end, "{bytes:?}");
        }
    }

    #[test]
    fn the_status_is_read_from_the_first_line() {
        for (head, expect) in [
            ("HTTP/1.1 200 OK\r\n", Some(200)),
            ("\r\nHTTP/1.0 404\r\n", Some(404)),
            ("HTTP/1.1 103 Early Hints\r\n", Some(103)),
            ("ICY 200 OK\r\n", None),
            ("HTTP/1.1 2", None),
        ] {
            assert_eq!(parse_status(head.as_bytes()), expect, "{head:?}");
        }
    }

    #[test]
    fn fields_keep_order_case_and_repetition() {
        let head = b"HTTP/1.1 200 OK\r\nX-MiXed: 1\r\nset-cookie: a\r\nnonsense\r\nSet-Cookie:b\r\nLong: x\r\n  y\r\n\r\nNot: this";
        let expect = [("X-MiXed", "1"), ("set-cookie", "a"), ("Set-Cookie", "b"), ("Long", "x y")];
        let expect = expect.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse_fields(head).0, expect);
    }

    #[test]
    fn a_value_that_is_not_in_utf_8_is_read_byte_by_byte_and_urls_keep_their_bytes() {
        for (line, expect) in [
            (&b"A: caf\xe9"[..], "caf\u{e9}"),
            ("A: caf\u{e9}".as_bytes(), "caf\u{e9}"),
            (b"Content-Disposition: inline; filename=\"\xe9.html\"", "inline; filename=\"\u{e9}.html\""),
            (b"Location: /x/t\xe4rget?q=\xff", "/x/t%E4rget?q=%FF"),
            ("LOCATION: /x/t\u{e4}rget".as_bytes(), "/x/t\u{e4}rget"),
            (b"link: </t\xe4>; rel=next,\r\n </\xe4>; rel=x", "</t%E4>; rel=next, </%E4>; rel=x"),
            (b"Refresh: 0; url=/\xe4", "0; url=/%E4"),
            (b"Content-Location: /\xe4", "/%E4"),
        ] {
            let head = [b"HTTP/1.1 200 OK\r\n", line, b"\r\n\r\n"].concat();
            let fields = parse_fields(&head).0;
            assert_eq!((fields.len(), fields[0].1.as_str()), (1, expect), "{}", line.escape_ascii());
        }
    }
}
