//! Values that are not recorded: of cookies, of request fields and of forms that the crawl sends. Servers repeat them in their answers.
//! Against forged requests, scripts copy a cookie into a field or a body (`X-XSRF-TOKEN` of Angular and axios, `csrfmiddlewaretoken` of
//! Django): it is as secret there.

use std::collections::HashMap;

use data_encoding::BASE64;
use http::header::{self, HeaderMap};

use crate::REDACTED;
use crate::decode::decode;
use crate::written::Written;

/// Shorter values may stand anywhere by chance. In bytes.
const VALUE_BYTES_MIN: usize = 8;

/// What is looked through of the content of a body that is coded. A page may send 1 MiB.
const CONTENT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Encodings around a value that are undone, one in the other.
const LAYERS_MAX: usize = 4;

/// Fields that say how a record is to be read. A server cannot have them replaced by a cookie of the same value.
const OF_THE_RECORD: [&[u8]; 5] =
    [b"content-type", b"content-encoding", b"content-length", b"transfer-encoding", b"host"];

type Begin = [u8; VALUE_BYTES_MIN];

/// A text as it is recorded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) recorded: Vec<u8>,
    /// The values that are not in it.
    pub(crate) values: u64,
}

/// Pairs of bytes, of which there are 65,536, in words of 64 bits.
const PAIRS_WORDS: usize = 65_536 / 64;

/// Values that are not recorded, by their first bytes.
#[derive(Default)]
pub(crate) struct KnownValues {
    by_begin: HashMap<Begin, Vec<Vec<u8>>>,
    /// The pairs of bytes with which values begin: few places of a text have to be looked up.
    pairs: Vec<u64>,
}

impl KnownValues {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_begin.is_empty()
    }

    /// Adds a value: as it is, and as scripts read it that undo its encoding.
    pub(crate) fn add(&mut self, value: &str) {
        let mut written = Some(Written::of(value.trim_matches('"').as_bytes()));
        for _ in 0..LAYERS_MAX {
            let Some(value) = written else { break };
            self.add_as_it_is(value.folded());
            written = value.unescaped();
        }
    }

    fn add_as_it_is(&mut self, value: Vec<u8>) {
        let Some(begin) = value.first_chunk().copied() else { return };
        self.pairs.resize(PAIRS_WORDS, 0);
        let (word, bit) = word_and_bit(&begin);
        self.pairs[word] |= bit;
        self.by_begin.entry(begin).or_default().push(value);
    }

    /// Adds those of a field `Cookie`.
    pub(crate) fn add_cookies(&mut self, field: &str) {
        for pair in field.split(';') {
            self.add(pair.split_once('=').map_or(pair, |(_, value)| value).trim());
        }
    }

    /// Adds those of a field `Authorization`: all of it, what follows its scheme, and the password.
    pub(crate) fn add_authorization(&mut self, field: &str) {
        self.add(field);
        let Some((_, credentials)) = field.split_once(' ') else { return };
        self.add(credentials.trim());
        let decoded = BASE64.decode(credentials.trim().as_bytes()).ok().and_then(|user| String::from_utf8(user).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|user| user.split_once(':')) {
            self.add(password);
        }
    }

    /// Adds the values of secret fields of a request.
    pub(crate) fn add_fields(&mut self, fields: &HeaderMap) {
        for (name, value) in fields.iter().filter(|(_, value)| value.is_sensitive()) {
            match (name, String::from_utf8_lossy(value.as_bytes())) {
                (&header::COOKIE, value) => self.add_cookies(&value),
                (&header::AUTHORIZATION, value) => self.add_authorization(&value),
                (_, value) => self.add(&value),
            }
        }
    }

    /// A head as it is recorded. If its body is recorded with another length, it says so. Its first line stays: the target of a request is
    /// the URL of the record.
    pub(crate) fn redacted_head(&self, head: &[u8], length: Option<usize>) -> Text {
        let mut lines = head.split_inclusive(|byte| *byte == b'\n');
        let (mut recorded, mut values) = (lines.next().unwrap_or_default().to_vec(), 0);
        for line in lines {
            let (name, _) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
            let is_of_record = OF_THE_RECORD.iter().any(|known| name.trim_ascii().eq_ignore_ascii_case(known));
            match length.filter(|_| name.eq_ignore_ascii_case(b"content-length")) {
                Some(length) => recorded.extend([name, format!(": {length}\r\n").as_bytes()].concat()),
                None if is_of_record => recorded.extend(line),
                None => match self.redacted(line) {
                    Some(redacted) => {
                        recorded.extend(redacted.recorded);
                        values += redacted.values;
                    }
                    None => recorded.extend(line),
                },
            }
        }
        Text { recorded, values }
    }

    /// A text with [`REDACTED`] in place of each value, however it is encoded; `None` if there is none in it. Takes linear time, but for
    /// values that begin as something in the text does.
    pub(crate) fn redacted(&self, text: &[u8]) -> Option<Text> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        self.find(&Written::of(text), LAYERS_MAX, &mut found);
        if found.is_empty() {
            return None;
        }
        found.sort_unstable_by_key(|(start, _)| *start);
        let (mut recorded, mut values, mut behind) = (Vec::with_capacity(text.len()), 0, 0);
        for (start, end) in found {
            if start >= behind {
                recorded.extend_from_slice(&text[behind..start]);
                recorded.extend_from_slice(REDACTED.as_bytes());
                values += 1;
            }
            behind = behind.max(end);
        }
        recorded.extend_from_slice(&text[behind..]);
        Some(Text { recorded, values })
    }

    /// The same for a body of this content coding. One that has a value in its content is left out as a whole.
    pub(crate) fn redacted_body<'a>(&self, body: &[u8], coding: impl Iterator<Item = &'a str>) -> Option<Text> {
        let mut coding = coding.filter(|coding| !coding.trim().is_empty()).peekable();
        if coding.peek().is_none() {
            return self.redacted(body);
        }
        let content = decode(coding, body.to_vec(), CONTENT_BYTES_MAX);
        let Text { values, .. } = self.redacted(&content).or_else(|| self.redacted(body))?;
        Some(Text { recorded: REDACTED.as_bytes().to_vec(), values })
    }

    /// Finds the parts of a text that have a value, within so many encodings.
    fn find(&self, text: &Written, layers: usize, found: &mut Vec<(usize, usize)>) {
        let plain = text.folded();
        for (at, window) in plain.windows(VALUE_BYTES_MIN).enumerate() {
            let Some(begin) = window.first_chunk().filter(|begin| self.may_begin(begin)) else { continue };
            for value in self.by_begin.get(begin).into_iter().flatten().filter(|value| plain[at..].starts_with(value)) {
                found.push(text.part(at, value.len()));
            }
        }
        if layers == 0 {
            return;
        }
        for inner in text.unescaped().into_iter().chain(text.decoded(VALUE_BYTES_MIN)) {
            self.find(&inner, layers - 1, found);
        }
    }

    fn may_begin(&self, begin: &Begin) -> bool {
        let (word, bit) = word_and_bit(begin);
        self.pairs.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

/// Where the first two bytes of a value are noted.
fn word_and_bit(begin: &Begin) -> (usize, u64) {
    let pair = usize::from(u16::from_be_bytes([begin[0], begin[1]]));
    (pair / 64, 1 << (pair % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"id":"S3CRET-JSON/+=","n":1}"#;

    fn values() -> KnownValues {
        let mut values = KnownValues::default();
        [
            "S3CRET-1",
            "S3CRET-1-and-more",
            "eyJpdiI6IkEvQi8%3D",
            "\"quoted-value\"",
            "short",
            "1234567",
            "S3CRET/+==abc7",
        ]
        .iter()
        .for_each(|value| values.add(value));
        values.add_cookies("a=of-the-page; b=x; =no-name-here; alone-in-it");
        values.add(JSON);
        values.add_authorization("Basic YW5hOkJhc2ljUHctNTVhYTY2YmI=");
        values
    }

    fn check(text: &str, expect: &str) {
        let Text { recorded, values } = values().redacted(text.as_bytes()).expect(text);
        let counted = expect.matches(REDACTED).count() as u64;
        assert_eq!((String::from_utf8(recorded).expect(text).as_str(), values), (expect, counted), "{text}");
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
            check(text, expect);
        }
        for text in ["", "short 1234567 S3CRET- S3CRET-2", "s3cret-1", "S3CRET%2", "%", r"\", r"\u00", "YW5hOkJhc2lj"] {
            assert_eq!(values().redacted(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn values_are_found_in_strings_of_json() {
        for (text, expect) in [
            (r#"{"t":"S3CRET\/+==abc7"}"#, r#"{"t":"***"}"#),
            (r#"{"t":"S3CRET\/\u002b==abc7","u":"\u00e9"}"#, r#"{"t":"***","u":"\u00e9"}"#),
            (r#"{"t":"\u0053\u0033CRET-1"}"#, r#"{"t":"***"}"#),
            (r#"{"t":"{\"id\":\"S3CRET-JSON/+=\",\"n\":1}"}"#, r#"{"t":"***"}"#),
            (r#"{"t":"{\"u\":\"{\\\"id\\\":\\\"S3CRET-JSON/+=\\\",\\\"n\\\":1}\"}"}"#, r#"{"t":"{\"u\":\"***\"}"}"#),
            ("t=%7B%22id%22%3A%22S3CRET-JSON%2F%2B%3D%22%2C%22n%22%3A1%7D&x=1", "t=***&x=1"),
        ] {
            check(text, expect);
        }
    }

    #[test]
    fn values_are_found_in_base64_and_in_hexadecimal() {
        let base64 = |text: &str| BASE64.encode(text.as_bytes());
        for before in ["", "a", "ab", "abc"] {
            let body = base64(&format!("{before}S3CRET-1{before}"));
            check(&format!("{{\"t\":\"{body}\",\"n\":1}}"), r#"{"t":"***","n":1}"#);
        }
        check(&base64(JSON), "***");
        check(&base64(&base64(JSON)), "***");
        check(&base64(r#"{"t":"S3CRET\/+==abc7"}"#).replace('=', "%3D"), "***");
        check(&data_encoding::BASE64URL_NOPAD.encode(b"~~~???S3CRET-1"), "***");
        check("x-echo: Basic YW5hOkJhc2ljUHctNTVhYTY2YmI=\r\n", "x-echo: ***\r\n");
        check("basic=YW5hOkJhc2ljUHctNTVhYTY2YmI=", "basic=***");
        check("x-echo: BasicPw-55aa66bb\r\n", "x-echo: ***\r\n");
        check("t=5333435245542d31&n=2", "t=***&n=2");
        check("t=05333435245542D31", "t=***");
    }

    #[test]
    fn a_coded_body_is_left_out_where_its_content_has_a_value() {
        let gzip = |text: &str| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("memory");
            gzip.finish().expect("memory")
        };
        let twice = format!("token=S3CRET-1&again=S3CRET-1{}", "&n=1".repeat(10_000));
        for (coding, body, expect) in [
            (&["gzip"][..], gzip(&twice), Some(("***", 2))),
            (&["x-gzip, identity"], gzip("t=5333435245542d31"), Some(("***", 1))),
            (&["gzip"], gzip("token=none"), None),
            (&["gzip"], b"S3CRET-1, but no gzip".to_vec(), Some(("***", 1))),
            (&["unheard-of"], b"t=S3CRET-1".to_vec(), Some(("***", 1))),
            (&[""], b"t=S3CRET-1".to_vec(), Some(("t=***", 1))),
            (&[], b"t=S3CRET-1".to_vec(), Some(("t=***", 1))),
        ] {
            let redacted = values().redacted_body(&body, coding.iter().copied());
            let redacted = redacted.map(|text| (String::from_utf8(text.recorded).expect("text"), text.values));
            assert_eq!(redacted, expect.map(|(text, values)| (text.to_owned(), values)), "{coding:?}");
        }
    }

    #[test]
    fn a_head_has_the_length_of_the_body_that_is_recorded() {
        let head = b"POST /S3CRET-1 HTTP/1.1\r\ncontent-length: 30\r\nx-token: S3CRET-1\r\nx-other: a\r\n\r\n";
        for (length, says) in [(Some(25), 25), (None, 30)] {
            let expect =
                format!("POST /S3CRET-1 HTTP/1.1\r\ncontent-length: {says}\r\nx-token: ***\r\nx-other: a\r\n\r\n");
            assert_eq!(String::from_utf8_lossy(&values().redacted_head(head, length).recorded), expect);
        }
        let mut values = KnownValues::default();
        values.add("text/html");
        let head = b"HTTP/1.1 200 text/html\r\nContent-Type : text/html\r\nX-Type: text/html\r\n\r\n";
        let expect = "HTTP/1.1 200 text/html\r\nContent-Type : text/html\r\nX-Type: ***\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&values.redacted_head(head, None).recorded), expect);
    }
}
