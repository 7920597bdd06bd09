//! The lines of a CDXJ index, as argiope, pywb, cdxj-indexer and Common Crawl write them.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use model::PayloadDigest;
use serde::Deserialize;
use warc::Digest;

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// The media type of a record that has no payload itself.
const REVISIT: &str = "warc/revisit";

/// A line of an index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) url: String,
    pub(crate) digest: PayloadDigest,
    pub(crate) offset: u64,
    pub(crate) filename: String,
}

/// The JSON of a line. Numbers may be strings.
#[derive(Deserialize)]
struct Fields {
    url: String,
    #[serde(default)]
    mime: String,
    #[serde(default)]
    status: Number,
    digest: String,
    offset: Number,
    filename: String,
    /// Of an answer to a request that was not GET.
    method: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Text(String),
    #[default]
    Nothing,
}

impl Number {
    fn get(&self) -> Option<u64> {
        match self {
            Number::Plain(number) => Some(*number),
            Number::Text(text) => text.parse().ok(),
            Number::Nothing => None,
        }
    }
}

impl Line {
    /// Reads a line; `None` for one that tells of no HTTP response to GET with a payload and a SHA-1 digest.
    fn parse(text: &str) -> Option<Self> {
        let (_surt, rest) = text.split_once(' ')?;
        let (timestamp14, json) = rest.split_once(' ')?;
        let is_time = timestamp14.len() == 14 && timestamp14.bytes().all(|byte| byte.is_ascii_digit());
        let fields: Fields = serde_json::from_str(json).ok()?;
        let is_get = fields.method.as_deref().is_none_or(|method| method == "GET");
        let is_response = is_get && fields.mime != REVISIT && fields.status.get().is_some();
        if !is_time || !is_response {
            return None;
        }
        Some(Line {
            digest: digest_of(&fields.digest)?,
            offset: fields.offset.get()?,
            url: fields.url,
            filename: fields.filename,
        })
    }
}

/// A SHA-1 digest as indexes and records have it, with its label or, in some indexes, without.
pub(crate) fn digest_of(text: &str) -> Option<PayloadDigest> {
    let labelled = if text.contains(':') { text.to_owned() } else { format!("sha1:{text}") };
    Digest::parse(&labelled).map(|digest| PayloadDigest(*digest.as_bytes()))
}

/// Calls `each` for every line that tells of a payload, with the place of the line in the input.
pub(crate) fn for_each_line<E: From<io::Error>>(
    input: &mut dyn BufRead,
    mut each: impl FnMut(u64, Line) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = Vec::new();
    let mut place = 0;
    loop {
        bytes.clear();
        let read = input.take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? as u64;
        if read == 0 {
            return Ok(());
        }
        let is_whole = read < LINE_BYTES_MAX || bytes.ends_with(b"\n");
        if let Some(line) = std::str::from_utf8(&bytes).ok().filter(|_| is_whole).and_then(Line::parse) {
            each(place, line)?;
        }
        place += read;
    }
}

/// The line at this place of a file, if there is one that tells of a payload.
pub(crate) fn line_at(path: &Path, place: u64) -> Option<Line> {
    let mut file = fresh::open_to_read(path).ok()?;
    file.seek(SeekFrom::Start(place)).ok()?;
    let mut text = String::new();
    BufReader::new(file).take(LINE_BYTES_MAX).read_line(&mut text).ok()?;
    Line::parse(&text)
}

/// Whether a file begins as an index does.
pub(crate) fn is_index(begin: &[u8]) -> bool {
    let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(line);
    let mut words = text.splitn(3, ' ');
    let (Some(_surt), Some(timestamp), Some(json)) = (words.next(), words.next(), words.next()) else { return false };
    text.starts_with('!') || timestamp.bytes().all(|byte| byte.is_ascii_digit()) && json.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

    fn line(json: &str) -> Option<Line> {
        Line::parse(&format!("test,a)/ 20261121083000 {json}"))
    }

    #[test]
    fn lines_of_several_tools_are_read() {
        for json in [
            format!(
                r#"{{"url": "http://a.test/", "mime": "text/html", "status": "200", "digest": "sha1:{DIGEST}", "length": "9", "offset": "7", "filename": "a.warc.gz"}}"#
            ),
            format!(
                r#"{{"url": "http://a.test/", "status": 200, "digest": "{DIGEST}", "offset": 7, "filename": "a.warc.gz"}}"#
            ),
        ] {
            let line = line(&json).expect("a line");
            assert_eq!((&*line.url, line.offset, &*line.filename), ("http://a.test/", 7, "a.warc.gz"));
            assert_eq!(Digest::from_bytes(line.digest.0), Digest::of(b""));
        }
    }

    #[test]
    fn what_has_no_payload_is_no_line() {
        let with = |mime: &str, status: &str, digest: &str| {
            line(&format!(
                r#"{{"url": "http://a.test/", "mime": "{mime}"{status}, "digest": "{digest}", "offset": "7", "filename": "a"}}"#
            ))
        };
        assert!(with("text/html", r#", "status": "200""#, DIGEST).is_some());
        assert!(with("warc/revisit", r#", "status": "200""#, DIGEST).is_none());
        assert!(with("text/html", "", DIGEST).is_none(), "no HTTP response");
        assert!(with("text/html", r#", "status": "200""#, "sha256:00").is_none());
        for text in ["", "!meta 0 {}", "a 2026 {}", "a 20261121083000 {"] {
            assert!(Line::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_index_is_told_by_its_first_line() {
        assert!(is_index(b"test,a)/ 20261121083000 {\"url\": 1}\n"));
        assert!(is_index(b"!meta 0 {\"format\": \"cdxj\"}\n"));
        for other in ["", "WARC/1.0\r\n", " CDX a b m\n", "PK\u{3}\u{4}"] {
            assert!(!is_index(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn lines_that_are_too_long_are_passed_over() {
        let good = format!(
            r#"test,a)/ 20261121083000 {{"url": "u", "status": "200", "digest": "{DIGEST}", "offset": "7", "filename": "a"}}"#
        );
        let text = format!("{}\n{good}\n", "x".repeat(2 << 20));
        let mut places = Vec::new();
        for_each_line::<io::Error>(&mut text.as_bytes(), |place, _| {
            places.push(place);
            Ok(())
        })
        .expect("read");
        assert_eq!(places, [(2 << 20) + 1]);
    }
}
