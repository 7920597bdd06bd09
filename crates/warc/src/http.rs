//! HTTP messages in blocks: where the head ends, what it says, how it is archived.

use crate::head::{Head, field, head_len, read_head, unfolded_lines};
use std::borrow::Cow;
use std::io::{self, BufRead};

/// An HTTP head of more bytes than this is not taken apart when it is read from a record.
pub const HTTP_HEAD_BYTES_MAX: usize = 1024 * 1024;

/// What is put before the names of the fields that must not be obeyed any more.
const RENAMING_PREFIX: &[u8] = b"X-Crawler-";

/// The head as it is archived when the body is archived with its transfer coding removed: byte
/// for byte as received, except that the field name `Transfer-Encoding` becomes
/// `X-Crawler-Transfer-Encoding`, and with it `Content-Length` becomes `X-Crawler-Content-Length`:
/// that field does not count beside the first (RFC 9112 §6.3), so it may say anything.
///
/// The payload of a record is the body without transfer coding (WARC 1.1 §2, RFC 9112 §7), but a
/// reader that finds the field would try to remove the coding a second time. The value, letters'
/// case, line ends, folded lines and all other fields stay.
pub fn archived_head(head: &[u8]) -> Cow<'_, [u8]> {
    let lines = || head.split_inclusive(|byte| *byte == b'\n');
    if !lines().any(|line| is_field(line, "Transfer-Encoding")) {
        return Cow::Borrowed(head);
    }
    let mut archived = Vec::new();
    let mut copied = 0;
    let mut line_start = 0;
    for line in lines() {
        if is_field(line, "Transfer-Encoding") || is_field(line, "Content-Length") {
            archived.extend_from_slice(&head[copied..line_start]);
            archived.extend_from_slice(RENAMING_PREFIX);
            copied = line_start;
        }
        line_start += line.len();
    }
    archived.extend_from_slice(&head[copied..]);
    Cow::Owned(archived)
}

/// A folded line begins with a space and is therefore never taken for the field; space between
/// name and colon is wrong (RFC 9112 §5.1), but readers forgive it.
pub(crate) fn is_field(line: &[u8], field: &str) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or(line);
    name.len() < line.len() && name.trim_ascii_end().eq_ignore_ascii_case(field.as_bytes())
}

/// Splits the block of a request or response record into head (empty line included) and payload.
/// A block without an empty line is all head.
pub fn split_http(block: &[u8]) -> (&[u8], &[u8]) {
    block.split_at(head_len(block).unwrap_or(block.len()))
}

/// An HTTP head that was read from a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpHead {
    bytes: Vec<u8>,
    is_whole: bool,
    start_line: String,
    fields: Vec<(String, String)>,
}

impl HttpHead {
    /// Takes a head apart: the bytes up to and including the empty line.
    pub fn parse(bytes: Vec<u8>) -> HttpHead {
        let is_whole = head_len(&bytes) == Some(bytes.len());
        let mut lines = unfolded_lines(&bytes).into_iter();
        let start_line = lines.next().unwrap_or_default().into_owned();
        let fields = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        });
        let fields = fields.collect();
        HttpHead { bytes, is_whole, start_line, fields }
    }

    /// Reads the head at the beginning of a block. The payload is what `input` holds after it.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<HttpHead> {
        let (Head::Whole(bytes) | Head::Ended(bytes) | Head::TooLong(bytes)) = read_head(input, HTTP_HEAD_BYTES_MAX)?;
        Ok(HttpHead::parse(bytes))
    }

    /// The head as archived, empty line included.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the head ends with its empty line. Otherwise the record ended first, or the head
    /// is longer than [`HTTP_HEAD_BYTES_MAX`], and no payload is known.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The request line or status line.
    pub fn start_line(&self) -> &str {
        &self.start_line
    }

    /// The status code, when the head is that of a response.
    pub fn status(&self) -> Option<u16> {
        let mut words = self.start_line.split_ascii_whitespace();
        let is_response = words.next()?.starts_with("HTTP/");
        let code = words.next().filter(|code| is_response && code.len() == 3)?;
        code.parse().ok()
    }

    /// The value of the first field of this name, letters of any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        field(&self.fields, name)
    }

    /// The media type in Content-Type, without its parameters.
    pub fn media_type(&self) -> Option<&str> {
        media_type(self.get("Content-Type")?)
    }
}

/// Whether a block of this Content-Type is an HTTP message.
pub(crate) fn is_http(content_type: &str) -> bool {
    content_type.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("application/http")
}

/// The media type without its parameters.
pub(crate) fn media_type(content_type: &str) -> Option<&str> {
    let end = content_type.find(|c: char| c == ';' || c.is_whitespace());
    Some(&content_type[..end.unwrap_or(content_type.len())]).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_transfer_encoding_and_of_what_it_overrides_change() {
        fn check(head: &str, expect: &str) {
            let archived = archived_head(head.as_bytes());
            assert_eq!(String::from_utf8_lossy(&archived), expect);
            assert_eq!(matches!(archived, Cow::Borrowed(_)), head == expect);
        }
        check(
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\nC: d\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\nX-Crawler-Transfer-Encoding: chunked\r\nC: d\r\n\r\n",
        );
        // Letters of any case; the case stays.
        check(
            "HTTP/1.1 200 OK\r\ntransfer-ENCODING:chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Crawler-transfer-ENCODING:chunked\r\n\r\n",
        );
        // Several fields, and a folded one.
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip,\r\n chunked\r\nTransfer-Encoding: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: gzip,\r\n chunked\r\n\
             X-Crawler-Transfer-Encoding: x\r\n\r\n",
        );
        // Its length is none beside it, and one without it stays.
        check(
            "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nTransfer-Encoding: chunked\r\nContent-Length : 9\r\n\r\n",
            "HTTP/1.1 200 OK\r\nX-Crawler-content-length: 10\r\nX-Crawler-Transfer-Encoding: chunked\r\n\
             X-Crawler-Content-Length : 9\r\n\r\n",
        );
        check("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
        // A folded line that looks like the field belongs to the field before it.
        check(
            "HTTP/1.1 200 OK\r\nA: b\r\n Transfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n Transfer-Encoding: chunked\r\n\r\n",
        );
        // Bare line feeds, no line end at all, space before the colon.
        check("HTTP/1.1 200 OK\nTransfer-Encoding: x\n\n", "HTTP/1.1 200 OK\nX-Crawler-Transfer-Encoding: x\n\n");
        check("Transfer-Encoding: chunked", "X-Crawler-Transfer-Encoding: chunked");
        check("H\r\nTransfer-Encoding : x\r\n\r\n", "H\r\nX-Crawler-Transfer-Encoding : x\r\n\r\n");
        // Other fields, and no field.
        check("H\r\nX-Transfer-Encoding: x\r\n\r\n", "H\r\nX-Transfer-Encoding: x\r\n\r\n");
        check("H\r\nTransfer-Encodings: x\r\n\r\n", "H\r\nTransfer-Encodings: x\r\n\r\n");
        check("H\r\nTransfer-Encoding\r\n\r\n", "H\r\nTransfer-Encoding\r\n\r\n");
        check("H\r\nTE: trailers\r\n\r\n", "H\r\nTE: trailers\r\n\r\n");
        check("", "");
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let head = b"HTTP/1.1 200 \xff\r\nTransfer-Encoding: \xfe\r\nA: \x80\r\n\r\n";
        let expect = b"HTTP/1.1 200 \xff\r\nX-Crawler-Transfer-Encoding: \xfe\r\nA: \x80\r\n\r\n";
        assert_eq!(archived_head(head).as_ref(), expect);
    }

    #[test]
    fn a_block_splits_after_the_empty_line() {
        assert_eq!(split_http(b"H\r\n\r\nbody"), (&b"H\r\n\r\n"[..], &b"body"[..]));
        assert_eq!(split_http(b"H\r\nA: b\r\n"), (&b"H\r\nA: b\r\n"[..], &b""[..]));
        assert_eq!(split_http(b""), (&b""[..], &b""[..]));
    }

    #[test]
    fn status_and_media_type_are_read_from_the_head() {
        fn check(head: &str, status: Option<u16>, media_type: Option<&str>) {
            let head = HttpHead::parse(head.as_bytes().to_vec());
            assert_eq!((head.status(), head.media_type()), (status, media_type), "{head:?}");
        }
        check("HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n", Some(200), Some("text/html"));
        check("HTTP/2 404\r\nContent-Type:\r\n\r\n", Some(404), None);
        check("HTTP/1.1 20x\r\nContent-Type: text/plain charset=x\r\n\r\n", None, Some("text/plain"));
        check("GET /200 HTTP/1.1\r\nrubbish\r\n\r\n", None, None);
        check("", None, None);
    }
}
