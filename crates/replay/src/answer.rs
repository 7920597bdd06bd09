//! An answer as it was fetched.

use bytes::Bytes;
use model::{Headers, Response, Truncation};
use warc::{LoadedRecord, Truncated};

/// An answer from the archive.
#[derive(Clone, Debug)]
pub struct RecordedAnswer {
    /// The WARC record it comes from: a response or a revisit.
    pub record: LoadedRecord,
    /// The record whose payload it has, where that is another one.
    original: Option<LoadedRecord>,
}

impl RecordedAnswer {
    /// The answer in a record, with the payload of its original where it is a revisit.
    #[must_use]
    pub fn new(record: LoadedRecord, original: Option<LoadedRecord>) -> Self {
        RecordedAnswer { record, original }
    }

    /// The HTTP head as archived, to and including the empty line.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        self.record.http_parts().0
    }

    /// The payload as received: without transfer coding, with its content coding.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.original.as_ref().unwrap_or(&self.record).http_parts().1
    }

    /// The status code; 0 where the head has none.
    #[must_use]
    pub fn status(&self) -> u16 {
        fetch::parse_status(self.head()).unwrap_or_default()
    }

    /// The fields of the head.
    #[must_use]
    pub fn headers(&self) -> Headers {
        fetch::parse_fields(self.head())
    }

    /// Why the payload is not whole.
    #[must_use]
    pub fn truncated(&self) -> Option<Truncation> {
        Some(match self.warc_truncated()? {
            Truncated::Length => Truncation::Length,
            Truncated::Time => Truncation::Time,
            Truncated::Disconnect => Truncation::Disconnect,
            Truncated::Unspecified => Truncation::Unwanted,
        })
    }

    /// The same as the archive has it.
    #[must_use]
    pub fn warc_truncated(&self) -> Option<Truncated> {
        let word = self.original.as_ref().unwrap_or(&self.record).header.get("WARC-Truncated")?;
        Some(Truncated::parse(word).unwrap_or(Truncated::Unspecified))
    }

    /// The body: the payload without its content coding, at most `bytes_max` bytes.
    #[must_use]
    pub fn body(&self, bytes_max: usize) -> Vec<u8> {
        self.decoded(&self.headers(), bytes_max)
    }

    /// The answer as the fetch gave it, its body cut at `bytes_max` bytes.
    #[must_use]
    pub fn response(&self, bytes_max: usize) -> Response {
        let headers = self.headers();
        let body = Bytes::from(self.decoded(&headers, bytes_max));
        Response { status: self.status(), headers, body, truncated: self.truncated(), is_undecoded: false, note: None }
    }

    fn decoded(&self, headers: &Headers, bytes_max: usize) -> Vec<u8> {
        fetch::decode(headers.all("content-encoding"), self.payload().to_owned(), bytes_max)
    }
}
