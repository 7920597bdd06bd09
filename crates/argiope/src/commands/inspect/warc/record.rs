//! What a record says: in one line of the listing, or in full.

use std::fmt;
use std::io::{self, BufRead, Read, Write};

use ::warc::{Header, HttpHead, ReadError, Reader, RecordType, StoredRecord};
use anyhow::anyhow;
use printable::Printable;
use serde::Serialize;

use super::super::output::Output;
use super::place::{Place, failed};

/// The block of a record that describes something is shown up to this many bytes.
const FIELDS_SHOWN_BYTES_MAX: u64 = 64 << 10;

/// The line above the listing.
pub(super) const LISTING_HEAD: &str = "      offset     length type         status mime                     date                     \
     digest                                target";

/// A record in one line.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "warc")]
pub(super) struct Summary {
    offset: u64,
    /// As stored, in bytes; so compressed where the file is.
    length: u64,
    #[serde(rename = "type")]
    kind: Option<String>,
    target_uri: Option<String>,
    date: Option<String>,
    record_id: Option<String>,
    /// The length of the block in bytes.
    content_length: u64,
    block_digest: Option<String>,
    payload_digest: Option<String>,
    status: Option<u16>,
    mime: Option<String>,
    truncated: Option<String>,
}

/// A record in full, but for its payload.
#[derive(Debug, Serialize)]
pub(in super::super) struct RecordAnswer {
    #[serde(flatten)]
    summary: Summary,
    version: String,
    /// Names and values as they stand in the file, in order.
    header: Vec<(String, String)>,
    /// The HTTP head of the block.
    http_head: Option<String>,
    /// The block of a record that describes something.
    fields: Option<String>,
    /// The length of the payload as stored: with its content coding, without the HTTP head.
    payload_bytes: u64,
}

/// Reads and verifies the next record of a file.
pub(super) fn next<R: BufRead>(reader: &mut Reader<R>) -> Result<Option<Summary>, ReadError> {
    let Some(mut record) = reader.next_record()? else { return Ok(None) };
    let head = http_head(&mut record)?;
    let mut summary = Summary::new(&record, head.as_ref());
    summary.length = record.finish()?.length;
    Ok(Some(summary))
}

/// Reads and verifies the record at an offset.
pub(super) fn load(place: &Place, offset: u64) -> anyhow::Result<RecordAnswer> {
    let mut reader = Reader::new(place.open(offset)?, offset);
    let answer = read(&mut reader).map_err(|error| failed(place, error))?;
    answer.ok_or_else(|| no_record(place, offset))
}

/// The error where the file ends.
pub(super) fn no_record(place: &Place, offset: u64) -> anyhow::Error {
    anyhow!("{place}: the file ends at or before offset {offset}")
}

/// The HTTP head of a record's block, if it has one.
pub(super) fn http_head<R: BufRead>(record: &mut StoredRecord<'_, R>) -> Result<Option<HttpHead>, ReadError> {
    if record.header().holds_http() { record.read_http_head().map(Some) } else { Ok(None) }
}

fn read<R: BufRead>(reader: &mut Reader<R>) -> Result<Option<RecordAnswer>, ReadError> {
    let Some(mut record) = reader.next_record()? else { return Ok(None) };
    let head = http_head(&mut record)?;
    let mut summary = Summary::new(&record, head.as_ref());
    let header = record.header();
    let (version, fields) = (header.version().to_owned(), header.fields().to_vec());
    let describes = media_type(header).is_some_and(|kind| kind.eq_ignore_ascii_case("application/warc-fields"));
    let head_bytes = head.as_ref().map_or(0, |head| head.bytes().len() as u64);
    let mut text = None;
    if describes {
        let mut bytes = Vec::new();
        // What is damaged in the block is reported by `finish`.
        let _ = record.by_ref().take(FIELDS_SHOWN_BYTES_MAX).read_to_end(&mut bytes);
        text = Some(String::from_utf8_lossy(&bytes).into_owned());
    }
    summary.length = record.finish()?.length;
    Ok(Some(RecordAnswer {
        version,
        header: fields,
        http_head: head.map(|head| String::from_utf8_lossy(head.bytes()).into_owned()),
        fields: text,
        payload_bytes: summary.content_length.saturating_sub(head_bytes),
        summary,
    }))
}

fn media_type(header: &Header) -> Option<&str> {
    header.content_type()?.split(';').next().map(str::trim)
}

impl Summary {
    /// All but the length, which is known behind the record only.
    fn new<R: BufRead>(record: &StoredRecord<'_, R>, head: Option<&HttpHead>) -> Self {
        let header = record.header();
        let get = |name: &str| header.get(name).map(str::to_owned);
        let mime = match head {
            Some(_) if header.record_type() == Some(RecordType::Request) => None,
            Some(head) => head.media_type(),
            None => media_type(header),
        };
        Summary {
            offset: record.offset(),
            length: 0,
            kind: get("WARC-Type"),
            target_uri: header.target_uri().map(str::to_owned),
            date: get("WARC-Date"),
            record_id: get("WARC-Record-ID"),
            content_length: header.content_length(),
            block_digest: get("WARC-Block-Digest"),
            payload_digest: get("WARC-Payload-Digest"),
            status: head.and_then(HttpHead::status),
            mime: mime.map(str::to_owned),
            truncated: get("WARC-Truncated"),
        }
    }
}

/// The line of the listing. The columns are as wide as what is usual in them; a longer value moves the rest.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), |text| Printable(text).to_string());
        let Summary { offset, length, .. } = self;
        let (kind, mime, date) = (shown(&self.kind), shown(&self.mime), shown(&self.date));
        let status = self.status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let digest = shown(if self.payload_digest.is_some() { &self.payload_digest } else { &self.block_digest });
        let target = shown(&self.target_uri);
        write!(f, "{offset:>12} {length:>10} {kind:<12} {status:<6} {mime:<24} {date:<24} {digest:<37} {target}")
    }
}

impl RecordAnswer {
    pub(super) fn write_text(&self, output: &mut Output<impl Write>) -> io::Result<()> {
        output.field("offset", self.summary.offset)?;
        output.field("length", self.summary.length)?;
        output.field("payload", format_args!("{} bytes", self.payload_bytes))?;
        output.line(format_args!(""))?;
        output.line(format_args!("WARC/{}", Printable(&self.version)))?;
        for (name, value) in &self.header {
            output.line(format_args!("{}: {}", Printable(name), Printable(value)))?;
        }
        for text in [&self.http_head, &self.fields].into_iter().flatten() {
            output.line(format_args!(""))?;
            for line in text.trim_end().lines() {
                output.line(format_args!("{}", Printable(line)))?;
            }
        }
        Ok(())
    }
}
