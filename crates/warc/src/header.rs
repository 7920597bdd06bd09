//! The header of a record: version line and named fields (WARC 1.1 §4).

use crate::date::date_to_timestamp14;
use crate::error::Damage;
use crate::head::{Head, field, read_head, unfolded_lines};
use crate::http::is_http;
use crate::record_types::RecordType;
use std::io::{self, BufRead};

/// A record's header of more bytes than this is neither written nor read. Real ones have a few
/// hundred bytes and up to three URLs.
pub const HEADER_BYTES_MAX: usize = 256 * 1024;

/// How much of a wrong line is shown.
const SHOWN_LINE_CHARS_MAX: usize = 80;

/// The header of a record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    version: String,
    fields: Vec<(String, String)>,
    content_length: u64,
}

impl Header {
    /// The version of the format as the record states it, `1.1` for `WARC/1.1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// All fields as they stand in the file, in order, continuation lines joined.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// The value of the first field of this name, letters of any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        field(&self.fields, name)
    }

    /// The values of all fields of this name. WARC-Concurrent-To may be repeated (§5.7).
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.fields.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// WARC-Type, when it is one the standard knows.
    pub fn record_type(&self) -> Option<RecordType> {
        RecordType::parse(self.get("WARC-Type")?)
    }

    /// WARC-Record-ID as it stands there, with `<` and `>`.
    pub fn record_id(&self) -> Option<&str> {
        self.get("WARC-Record-ID")
    }

    /// WARC-Target-URI without the `<` and `>` that WARC 1.0 had around it.
    pub fn target_uri(&self) -> Option<&str> {
        let uri = self.get("WARC-Target-URI")?;
        Some(uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')).unwrap_or(uri))
    }

    /// WARC-Date as it stands there.
    pub fn date(&self) -> Option<&str> {
        self.get("WARC-Date")
    }

    /// WARC-Date as 14 digits, when it is a date.
    pub fn timestamp14(&self) -> Option<String> {
        date_to_timestamp14(self.date()?)
    }

    /// Content-Type, the media type of the block.
    pub fn content_type(&self) -> Option<&str> {
        self.get("Content-Type")
    }

    /// Content-Length, the length of the block in bytes.
    pub fn content_length(&self) -> u64 {
        self.content_length
    }

    /// Whether the block is an HTTP message: a head, and the payload after it.
    pub fn holds_http(&self) -> bool {
        self.content_type().is_some_and(is_http)
    }

    /// Sets the value of the fields of this name.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        let named = self.fields.iter_mut().filter(|(field, _)| field.eq_ignore_ascii_case(name));
        named.for_each(|(_, old)| value.clone_into(old));
    }

    /// Reads a header up to and including the empty line after it.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Header> {
        let head = match read_head(input, HEADER_BYTES_MAX)? {
            Head::Whole(head) => head,
            Head::Ended(head) | Head::TooLong(head) if is_record(&head) => {
                return Err(Damage::HeaderEnd.into());
            }
            Head::Ended(_) | Head::TooLong(_) => return Err(Damage::NotARecord.into()),
        };
        Ok(Header::parse(&head)?)
    }

    fn parse(head: &[u8]) -> Result<Header, Damage> {
        let mut lines = unfolded_lines(head).into_iter();
        let version = lines.next().unwrap_or_default();
        let version = version.strip_prefix("WARC/").ok_or(Damage::NotARecord)?.trim().to_owned();
        let fields = lines.map(|line| named_field(&line)).collect::<Result<Vec<_>, _>>()?;
        let content_length = field(&fields, "Content-Length").ok_or(Damage::ContentLength)?;
        let all_digits = content_length.bytes().all(|byte| byte.is_ascii_digit());
        let content_length = content_length.parse().ok().filter(|_| all_digits);
        let content_length = content_length.ok_or(Damage::ContentLength)?;
        Ok(Header { version, fields, content_length })
    }
}

/// Whether these bytes are the beginning of a record, as far as they go.
pub(crate) fn is_record(beginning: &[u8]) -> bool {
    let len = beginning.len().min(5);
    len > 0 && beginning[..len] == b"WARC/"[..len]
}

fn named_field(line: &str) -> Result<(String, String), Damage> {
    match line.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err(Damage::HeaderLine { line: line.chars().take(SHOWN_LINE_CHARS_MAX).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut text: &[u8]) -> Result<Header, String> {
        Header::read(&mut text).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_are_found_in_any_case_and_continued_lines_are_joined() {
        let header = read(
            b"WARC/1.0\r\nwarc-type: RESPONSE\r\nWARC-Target-URI: <http://a.example/>\r\n\
              x-long: one\r\n  two\r\n\tthree\r\nWARC-Concurrent-To: <a>\r\n\
              warc-concurrent-to: <b>\r\ncontent-length:0\r\n\r\nblock",
        )
        .unwrap();
        assert_eq!(header.version(), "1.0");
        assert_eq!(header.record_type(), Some(RecordType::Response));
        assert_eq!(header.target_uri(), Some("http://a.example/"));
        assert_eq!(header.get("X-Long"), Some("one two three"));
        assert_eq!(header.get_all("WARC-Concurrent-To").collect::<Vec<_>>(), ["<a>", "<b>"]);
        assert_eq!(header.content_length(), 0);
    }

    #[test]
    fn bare_line_feeds_are_read() {
        assert_eq!(read(b"WARC/1.1\nContent-Length: 7\n\n").unwrap().content_length(), 7);
    }

    #[test]
    fn wrong_headers_are_named() {
        fn check(text: &[u8], expect: Damage) {
            assert_eq!(read(text), Err(expect.to_string()));
        }
        check(b"HTTP/1.1 200 OK\r\n\r\n", Damage::NotARecord);
        check(b"\r\n\r\n", Damage::NotARecord);
        check(b"hello", Damage::NotARecord);
        check(b"WARC/1.1\r\nContent-Length: 7\r\n", Damage::HeaderEnd);
        check(b"WARC/1.1\r\n\r\n", Damage::ContentLength);
        for length in ["", "-1", "+1", "1x", "99999999999999999999", "1, 1"] {
            let text = format!("WARC/1.1\r\nContent-Length: {length}\r\n\r\n");
            check(text.as_bytes(), Damage::ContentLength);
        }
        let line = String::from("rubbish");
        check(b"WARC/1.1\r\nrubbish\r\n\r\n", Damage::HeaderLine { line });
    }

    #[test]
    fn an_endless_header_is_not_held_in_memory() {
        struct Endless(usize);
        impl io::Read for Endless {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                self.0 += buf.len();
                buf.fill(b'a');
                Ok(buf.len())
            }
        }
        let chain = io::Read::chain(&b"WARC/1.1\r\nname: "[..], Endless(0));
        let mut input = io::BufReader::new(chain);
        let error = Header::read(&mut input).unwrap_err();
        assert_eq!(error.to_string(), Damage::HeaderEnd.to_string());
        assert!(input.get_ref().get_ref().1.0 <= 2 * HEADER_BYTES_MAX);
    }
}
