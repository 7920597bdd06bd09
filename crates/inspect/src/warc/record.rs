//! What a record says: in short, or in full.

use std::io::{BufRead, Read};

use ::warc::{Header, HttpHead, ReadError, Reader, RecordType, StoredRecord};
use anyhow::anyhow;
use serde::Serialize;

use super::place::{Place, failed};

/// The block of a record that describes something is shown up to this many bytes.
const FIELDS_SHOWN_BYTES_MAX: u64 = 64 << 10;

/// A record in short.
#[derive(Debug, Serialize)]
#[serde(tag = "inspect", rename = "warc")]
pub struct Summary {
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// As stored, in bytes; so compressed where the file is.
    pub length: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The URL that it is about.
    pub target_uri: Option<String>,
    /// When it was made.
    pub date: Option<String>,
    /// Its id.
    pub record_id: Option<String>,
    /// The length of the block in bytes.
    pub content_length: u64,
    /// The digest of its block.
    pub block_digest: Option<String>,
    /// The digest of its payload.
    pub payload_digest: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The media type of its content.
    pub mime: Option<String>,
    /// Why it is cut, if it is.
    pub truncated: Option<String>,
}

/// A record in full, but for its payload.
#[derive(Debug, Serialize)]
pub struct RecordAnswer {
    /// The record in short.
    #[serde(flatten)]
    pub summary: Summary,
    /// The version of WARC.
    pub version: String,
    /// Names and values as they stand in the file, in order.
    pub header: Vec<(String, String)>,
    /// The HTTP head of the block.
    pub http_head: Option<String>,
    /// The block of a record that describes something.
    pub fields: Option<String>,
    /// The length of the payload as stored: with its content coding, without the HTTP head.
    pub payload_bytes: u64,
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
///
/// # Errors
/// There is no whole record.
pub fn load(place: &Place, offset: u64) -> anyhow::Result<RecordAnswer> {
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
