//! What lies behind an answer in the archive and belongs to it: its request, and how a browser showed the page.

use std::io::{self, BufRead, Read};

use model::{Made, PictureKind};
use store::Entry;
use warc::{Header, ReadError, Reader, RecordType, StoredRecord};

use crate::{Replay, ReplayError};

/// What a record behind an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    /// The request.
    Request,
    /// Notes on the answer: the reason for its rendering, the results of hooks.
    Metadata,
    /// The page as a browser showed it.
    Seen,
    /// A picture of the page.
    Picture(PictureKind),
}

impl Beside {
    /// `None` if the record belongs to another answer.
    fn of(header: &Header, url: &str) -> Option<Self> {
        let uri = header.target_uri()?;
        match header.record_type()? {
            RecordType::Request if uri == url => Some(Beside::Request),
            // The results of hooks are such a one in archives of earlier versions, and the document is a conversion.
            RecordType::Metadata if uri == url => Some(Beside::Metadata),
            RecordType::Conversion if uri == url => Some(Beside::Seen),
            RecordType::Metadata | RecordType::Resource => {
                let (made, pages) = Made::of(uri)?;
                pages.iter().any(|page| page == url).then_some(match made {
                    Made::Document => Beside::Seen,
                    Made::Extra => Beside::Metadata,
                    Made::Picture(kind) => Beside::Picture(kind),
                })
            }
            _ => None,
        }
    }
}

/// A record that is read.
type Stored<'r, 's> = StoredRecord<'r, Box<dyn BufRead + 's>>;

impl Replay<'_> {
    /// A page as a browser showed it, in UTF-8, if the crawl rendered it.
    ///
    /// # Errors
    /// The archive cannot be read there.
    pub fn seen(&mut self, entry: &Entry) -> Result<Option<Vec<u8>>, ReplayError> {
        let bytes_max = self.payload_bytes_max;
        self.beside(entry, |beside, record| (beside == Beside::Seen).then(|| whole(record, bytes_max)).transpose())
    }

    /// The HTTP head of the request for an answer. There is none where nothing has changed.
    ///
    /// # Errors
    /// The archive cannot be read there.
    pub fn request(&mut self, entry: &Entry) -> Result<Option<Vec<u8>>, ReplayError> {
        self.beside(entry, |beside, record| {
            let is_request = beside == Beside::Request && record.header().holds_http();
            is_request.then(|| Ok(record.read_http_head()?.bytes().to_vec())).transpose()
        })
    }

    /// The pictures that the crawl took of a page.
    ///
    /// # Errors
    /// The archive cannot be read there.
    pub fn pictures(&mut self, entry: &Entry) -> Result<Vec<PictureKind>, ReplayError> {
        let mut pictures = Vec::new();
        self.beside(entry, |beside, _| {
            if let Beside::Picture(kind) = beside {
                pictures.push(kind);
            }
            Ok(None::<()>)
        })?;
        Ok(pictures)
    }

    /// A picture of a page.
    ///
    /// # Errors
    /// The archive cannot be read there, or the picture has more bytes than a payload may have.
    pub fn picture(&mut self, entry: &Entry, kind: PictureKind) -> Result<Option<Vec<u8>>, ReplayError> {
        let bytes_max = self.payload_bytes_max;
        self.beside(entry, |beside, record| {
            if beside != Beside::Picture(kind) {
                return Ok(None);
            }
            let block_bytes = record.header().content_length();
            if block_bytes > bytes_max {
                return Err(ReadError::TooLong { offset: record.offset(), block_bytes, block_bytes_max: bytes_max });
            }
            whole(record, bytes_max).map(Some)
        })
    }

    /// Reads the records that belong to an answer, until `read` finds what it looks for. They end before the record of another answer, and at
    /// the committed end of the segment: a crawl may be writing behind it.
    fn beside<T>(
        &mut self,
        entry: &Entry,
        mut read: impl FnMut(Beside, &mut Stored<'_, '_>) -> Result<Option<T>, ReadError>,
    ) -> Result<Option<T>, ReplayError> {
        let Some(location) = entry.visit.as_ref().and_then(|visit| visit.location) else { return Ok(None) };
        let segment = self.segment(location.segment)?;
        let failed = |source| self.failed(&segment, source);
        let mut end = location.offset + location.length;
        if end >= segment.length {
            return Ok(None);
        }
        let mut reader = Reader::new(self.source.open(&segment, end).map_err(failed)?, end);
        while end < segment.length {
            let Some(mut record) = reader.next_record().map_err(failed)? else { break };
            let Some(beside) = Beside::of(record.header(), entry.candidate.url.as_str()) else { break };
            if let Some(found) = read(beside, &mut record).map_err(failed)? {
                return Ok(Some(found));
            }
            let place = record.finish().map_err(failed)?;
            end = place.offset + place.length;
        }
        Ok(None)
    }
}

/// The block of a record, cut at a number of bytes.
fn whole(record: &mut Stored<'_, '_>, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let mut block = Vec::new();
    let read: io::Result<usize> = record.by_ref().take(bytes_max).read_to_end(&mut block);
    read.map_err(ReadError::Io)?;
    Ok(block)
}
