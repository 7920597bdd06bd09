//! Records to be written.

use crate::date::warc_date;
use crate::digest::Digest;
use crate::http::{HttpHead, archived_head, is_http};
use crate::id::RecordId;
use crate::reader::RECORD_END;
use crate::record_types::{RecordType, Truncated};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::IpAddr;

/// WARC 1.1 §6.7.2.
const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
/// The media type of [`warc_fields`].
pub const WARC_FIELDS: &str = "application/warc-fields";

/// A record to be written (WARC 1.1). It borrows its block; nothing is copied until it is written.
///
/// Times are milliseconds since the Unix epoch. Control characters in values are written
/// percent-encoded, so that no value can add a field.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    kind: RecordType,
    id: RecordId,
    date_ms: u64,
    target_uri: Option<&'a str>,
    fields: Vec<(&'static str, String)>,
    payload_digest: Option<Digest>,
    block_digest: Option<Digest>,
    content_type: &'a str,
    head: Cow<'a, [u8]>,
    payload: Cow<'a, [u8]>,
    is_packed: bool,
}

/// The record that a revisit record stands for (WARC 1.1 §5.11, §5.14, §5.15).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefersTo<'a> {
    /// Its id (WARC-Refers-To), if it is known.
    pub id: Option<&'a str>,
    /// Its target (WARC-Refers-To-Target-URI).
    pub target_uri: &'a str,
    /// Its date as it stands there (WARC-Refers-To-Date).
    pub date: &'a str,
}

impl<'a> Record<'a> {
    /// Describes the file it is the first record of (§6.2). `filename` is the file's name without
    /// directories; of `fields`, `software` and `format` are the usual ones.
    pub fn warcinfo(id: RecordId, date_ms: u64, filename: &str, fields: &[(&str, &str)]) -> Record<'a> {
        let block = Cow::Owned(warc_fields(fields));
        let record = Record::new(RecordType::Warcinfo, id, date_ms, WARC_FIELDS, block);
        record.field("WARC-Filename", filename.to_owned())
    }

    /// What was sent (§6.5): HTTP head, empty line included, and body.
    pub fn request(id: RecordId, date_ms: u64, target_uri: &'a str, head: &'a [u8], body: &'a [u8]) -> Record<'a> {
        let content_type = "application/http;msgtype=request";
        let mut record = Record::new(RecordType::Request, id, date_ms, content_type, Cow::Borrowed(body));
        record.head = Cow::Borrowed(head);
        record.target(target_uri)
    }

    /// What was received (§6.3): HTTP head as received, empty line included, and the body with
    /// its transfer coding removed. The head is stored as [`archived_head`] makes it.
    pub fn response(id: RecordId, date_ms: u64, target_uri: &'a str, head: &'a [u8], payload: &'a [u8]) -> Record<'a> {
        let content_type = "application/http;msgtype=response";
        let mut record = Record::new(RecordType::Response, id, date_ms, content_type, Cow::Borrowed(payload));
        record.head = archived_head(head);
        record.target(target_uri)
    }

    /// A response whose payload another record holds (§6.7.2): the block is the HTTP head only,
    /// and `payload_digest` is the digest of the payload left out.
    pub fn revisit(
        id: RecordId,
        date_ms: u64,
        target_uri: &'a str,
        head: &'a [u8],
        payload_digest: Digest,
        refers_to: &RefersTo<'_>,
    ) -> Record<'a> {
        let mut record = Record::response(id, date_ms, target_uri, head, &[]);
        record.kind = RecordType::Revisit;
        record.payload_digest(payload_digest).of_earlier(refers_to, IDENTICAL_PAYLOAD)
    }

    /// A visit at which the server said that the content is that of `refers_to` still (§6.7.3): a 304. Its block is empty, though the HTTP
    /// head of the answer may be there: tools that replay it show a 304 without content then, where they show what was recorded before.
    pub fn not_modified(
        id: RecordId,
        date_ms: u64,
        target_uri: &'a str,
        payload_digest: Option<Digest>,
        refers_to: &RefersTo<'_>,
    ) -> Record<'a> {
        let mut record = Record::response(id, date_ms, target_uri, &[], &[]);
        record.kind = RecordType::Revisit;
        record.payload_digest = payload_digest;
        record.of_earlier(refers_to, NOT_MODIFIED)
    }

    fn of_earlier(self, refers_to: &RefersTo<'_>, profile: &str) -> Record<'a> {
        let record = match refers_to.id {
            Some(id) => self.field("WARC-Refers-To", id.to_owned()),
            None => self,
        };
        record
            .field("WARC-Refers-To-Target-URI", escaped_uri(refers_to.target_uri).into_owned())
            .field("WARC-Refers-To-Date", refers_to.date.to_owned())
            .field("WARC-Profile", profile.to_owned())
    }

    /// What is known about `target_uri` besides its content (§6.6), as [`warc_fields`] or any
    /// other media type.
    pub fn metadata(
        id: RecordId,
        date_ms: u64,
        target_uri: &'a str,
        content_type: &'a str,
        block: &'a [u8],
    ) -> Record<'a> {
        Record::new(RecordType::Metadata, id, date_ms, content_type, Cow::Borrowed(block)).target(target_uri)
    }

    /// A content that was made of another record's (§6.8); [`Record::refers_to`] names that one.
    pub fn conversion(
        id: RecordId,
        date_ms: u64,
        target_uri: &'a str,
        content_type: &'a str,
        payload: &'a [u8],
    ) -> Record<'a> {
        Record::new(RecordType::Conversion, id, date_ms, content_type, Cow::Borrowed(payload)).target(target_uri)
    }

    /// A content that came without a protocol's head (§6.4).
    pub fn resource(
        id: RecordId,
        date_ms: u64,
        target_uri: &'a str,
        content_type: &'a str,
        payload: &'a [u8],
    ) -> Record<'a> {
        Record::new(RecordType::Resource, id, date_ms, content_type, Cow::Borrowed(payload)).target(target_uri)
    }

    fn new(kind: RecordType, id: RecordId, date_ms: u64, content_type: &'a str, payload: Cow<'a, [u8]>) -> Record<'a> {
        Record {
            kind,
            id,
            date_ms,
            target_uri: None,
            fields: Vec::new(),
            payload_digest: None,
            block_digest: None,
            content_type,
            head: Cow::Borrowed(&[]),
            payload,
            is_packed: false,
        }
    }

    /// Names another record of the same exchange (§5.7). May be called several times.
    pub fn concurrent_to(self, id: RecordId) -> Record<'a> {
        self.field("WARC-Concurrent-To", id.to_string())
    }

    /// Names the record that this one is about (§5.11).
    pub fn refers_to(self, id: RecordId) -> Record<'a> {
        self.field("WARC-Refers-To", id.to_string())
    }

    /// The address the content came from (§5.10).
    pub fn ip_address(self, address: IpAddr) -> Record<'a> {
        self.field("WARC-IP-Address", address.to_string())
    }

    /// The warcinfo record that describes this one (§5.9).
    pub fn warcinfo_id(self, id: RecordId) -> Record<'a> {
        self.field("WARC-Warcinfo-ID", id.to_string())
    }

    /// Marks the content as cut off, and says why (§5.13).
    pub fn truncated(self, reason: Truncated) -> Record<'a> {
        self.field("WARC-Truncated", reason.as_str().to_owned())
    }

    /// The payload's media type as found by looking at it (§5.18).
    pub fn identified_payload_type(self, media_type: &str) -> Record<'a> {
        self.field("WARC-Identified-Payload-Type", media_type.to_owned())
    }

    /// The digest of the payload, when the caller has computed it already. It must be the right
    /// one: it is written unseen. Without it, response and resource records get the computed one.
    pub fn payload_digest(mut self, digest: Digest) -> Record<'a> {
        self.payload_digest = Some(digest);
        self
    }

    /// The digest of the block, when the caller has computed it already ([`Digest::of_response`]). It must be the right one: it is written unseen.
    pub fn block_digest(mut self, digest: Digest) -> Record<'a> {
        debug_assert_eq!(digest, Digest::of_parts(&[&self.head, &self.payload]));
        self.block_digest = Some(digest);
        self
    }

    /// Says that the payload is compressed already, so that compressing the record takes time and gains little: with
    /// [`Compression::Fast`](crate::Compression::Fast) it is stored in its gzip member as it is.
    pub fn packed(mut self) -> Record<'a> {
        self.is_packed = true;
        self
    }

    fn target(mut self, target_uri: &'a str) -> Record<'a> {
        self.target_uri = Some(target_uri);
        self
    }

    fn field(mut self, name: &'static str, value: String) -> Record<'a> {
        self.fields.push((name, value));
        self
    }

    /// The record's id.
    pub fn id(&self) -> RecordId {
        self.id
    }

    pub(crate) fn kind(&self) -> RecordType {
        self.kind
    }

    pub(crate) fn date_ms(&self) -> u64 {
        self.date_ms
    }

    /// The media type of the block.
    pub(crate) fn content_type(&self) -> &str {
        self.content_type
    }

    /// Whether the block is an HTTP message.
    pub(crate) fn holds_http(&self) -> bool {
        is_http(self.content_type)
    }

    /// The HTTP head of the block.
    pub(crate) fn http_head(&self) -> Option<HttpHead> {
        self.holds_http().then(|| HttpHead::parse(self.head.to_vec()))
    }

    /// What follows the HTTP head of the block.
    pub(crate) fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The target as it is written.
    pub(crate) fn archived_target(&self) -> Option<Cow<'a, str>> {
        self.target_uri.map(escaped_uri)
    }

    /// The digest of the payload as it is written.
    pub(crate) fn archived_digest(&self) -> Option<Digest> {
        let has_payload = matches!(self.kind, RecordType::Response | RecordType::Resource);
        self.payload_digest.or_else(|| has_payload.then(|| Digest::of(&self.payload)))
    }

    /// The record's header, from the version line to the empty line.
    pub(crate) fn header_bytes(&self) -> Vec<u8> {
        let mut header = String::with_capacity(512);
        header.push_str("WARC/1.1\r\n");
        push_field(&mut header, "WARC-Type", self.kind.as_str());
        push_field(&mut header, "WARC-Record-ID", &self.id.to_string());
        push_field(&mut header, "WARC-Date", &warc_date(self.date_ms));
        if let Some(uri) = self.archived_target() {
            push_field(&mut header, "WARC-Target-URI", &uri);
        }
        for (name, value) in &self.fields {
            push_field(&mut header, name, value);
        }
        if let Some(digest) = self.archived_digest() {
            push_field(&mut header, "WARC-Payload-Digest", &digest.to_string());
        }
        let block_digest = self.block_digest.unwrap_or_else(|| Digest::of_parts(&[&self.head, &self.payload]));
        push_field(&mut header, "WARC-Block-Digest", &block_digest.to_string());
        push_field(&mut header, "Content-Type", self.content_type);
        let block_bytes = self.head.len() + self.payload.len();
        push_field(&mut header, "Content-Length", &block_bytes.to_string());
        header.push_str("\r\n");
        header.into_bytes()
    }

    pub(crate) fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// What follows the header: the block in two parts, and the end of the record.
    pub(crate) fn body_parts(&self) -> [&[u8]; 3] {
        [&self.head, &self.payload, RECORD_END]
    }

    /// Writes the record as it is, not compressed.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.header_bytes())?;
        self.body_parts().iter().try_for_each(|part| out.write_all(part))
    }
}

/// Fields as a block of media type `application/warc-fields` (§9.2). A line break in a value
/// becomes a continuation line, empty lines are left out; a name must be a token.
pub fn warc_fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = String::new();
    for (name, value) in fields {
        // An empty continuation line would be the end of the fields for some readers.
        let lines = value.lines().filter(|line| !line.trim().is_empty()).map(escaped_controls);
        let lines = lines.collect::<Vec<_>>();
        let _ = write!(block, "{name}: {}\r\n", lines.join("\r\n\t"));
    }
    block.into_bytes()
}

fn push_field(header: &mut String, name: &str, value: &str) {
    header.push_str(name);
    header.push_str(": ");
    header.push_str(&escaped_controls(value));
    header.push_str("\r\n");
}

/// A space would end the URI for some readers.
fn escaped_uri(uri: &str) -> Cow<'_, str> {
    match escaped_controls(uri) {
        escaped if escaped.contains(' ') => Cow::Owned(escaped.replace(' ', "%20")),
        escaped => escaped,
    }
}

fn escaped_controls(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| byte.is_ascii_control()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if character.is_ascii_control() {
            let _ = write!(escaped, "%{:02X}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_add_a_field_to_the_header() {
        let id = RecordId::new([0; 16]);
        let record = Record::resource(id, 0, "http://a.example/ b\r\nEvil: 1", "a\nEvil: 2", b"")
            .identified_payload_type("text/x\r\n\r\nEvil");
        let header = String::from_utf8(record.header_bytes()).unwrap();
        assert!(header.contains("\r\nWARC-Target-URI: http://a.example/%20b%0D%0AEvil:%201\r\n"));
        assert!(!header.contains("\nEvil"), "{header}");
        assert_eq!(header.matches("\r\n\r\n").count(), 1);
    }

    #[test]
    fn settings_of_several_lines_are_folded() {
        let block = warc_fields(&[("software", "argiope/0.1"), ("settings", "a = 1\r\n\r\nb = 2\n"), ("empty", "")]);
        let expect = "software: argiope/0.1\r\nsettings: a = 1\r\n\tb = 2\r\nempty: \r\n";
        assert_eq!(String::from_utf8(block).unwrap(), expect);
    }
}
