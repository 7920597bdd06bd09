//! Loading one record of a file.

use crate::error::ReadError;
use crate::header::Header;
use crate::http::{HttpHead, archived_head, is_field, split_http};
use crate::reader::{Location, Reader, open_at};
use crate::record_types::RecordType;
use crate::{Chunked, is_chunked};
use std::io::{BufRead, Read};
use std::path::Path;

/// A record in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedRecord {
    /// Where it lies in its file.
    pub location: Location,
    /// Its header.
    pub header: Header,
    /// Its block.
    pub block: Vec<u8>,
}

impl LoadedRecord {
    /// The HTTP head and the payload of the block; no head when the block is no HTTP message.
    pub fn http_parts(&self) -> (&[u8], &[u8]) {
        if self.header.holds_http() { split_http(&self.block) } else { self.block.split_at(0) }
    }

    /// The record with its HTTP body taken out of its chunks, and the head as [`archived_head`] makes it. A body whose chunks are
    /// broken stays as it is.
    #[must_use]
    pub fn without_chunks(mut self) -> Self {
        let (head, body) = self.http_parts();
        if is_chunked(&HttpHead::parse(head.to_vec()), body) {
            let mut block = archived_head(head).into_owned();
            if Chunked::new(body).read_to_end(&mut block).is_ok() {
                self.block = block;
            }
        }
        self
    }

    /// The record without the field Content-Encoding: some tools undo the coding, and keep the field.
    #[must_use]
    pub fn without_coding(mut self) -> Self {
        let (head, body) = self.http_parts();
        let lines = head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_field(line, "Content-Encoding"));
        self.block = [lines.collect::<Vec<_>>().concat().as_slice(), body].concat();
        self
    }

    /// A `resource` record as the response that would have brought it. Others stay as they are.
    #[must_use]
    pub fn into_response(mut self) -> Self {
        if self.header.record_type() == Some(RecordType::Resource) {
            let media_type = self.header.content_type().unwrap_or_default();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n\r\n");
            self.block.splice(0..0, head.into_bytes());
            self.header.set("Content-Type", "application/http; msgtype=response");
        }
        self
    }
}

/// Loads the record at `offset`, when its block has at most `block_bytes_max` bytes, and verifies
/// that it is whole. Nothing is there when the file ends at `offset`: that is damage too.
pub fn read_at(path: impl AsRef<Path>, offset: u64, block_bytes_max: u64) -> Result<LoadedRecord, ReadError> {
    read_from(open_at(path, offset)?, offset, block_bytes_max)
}

/// The same from `input`, whose next byte is the one at `offset` in its file.
pub fn read_from(input: impl BufRead, offset: u64, block_bytes_max: u64) -> Result<LoadedRecord, ReadError> {
    let mut reader = Reader::new(input, offset);
    let Some(mut record) = reader.next_record()? else {
        return Err(ReadError::Damaged { offset, damage: crate::Damage::NotARecord });
    };
    let header = record.header().clone();
    let block_bytes = header.content_length();
    if block_bytes > block_bytes_max {
        return Err(ReadError::TooLong { offset, block_bytes, block_bytes_max });
    }
    // Grows with what is there: Content-Length may lie.
    let mut block = Vec::new();
    record.read_to_end(&mut block).map_err(|error| ReadError::from_io(offset, error))?;
    let location = record.finish()?;
    Ok(LoadedRecord { location, header, block })
}
