//! CDXJ: the sorted index in which replay tools look up where a page is archived.
//!
//! The form is the one of pywb and cdxj-indexer: the URL's [SURT key](crate::surt()), the date as
//! 14 digits, and a JSON object whose values are all strings.

use sort::Sorter;

use crate::error::ReadError;
use crate::header::Header;
use crate::http::media_type;
use crate::reader::{Location, Reader, StoredRecord};
use crate::record_types::RecordType;
use crate::replace::write_atomically;
use crate::surt::surt;
use std::fmt;
use std::io::{self, BufRead};
use std::path::Path;

/// Memory of index lines that wait to be sorted, in bytes: an archive is indexed while the crawl runs.
const SORT_MEMORY_BYTES_MAX: usize = 8 << 20;

/// A line of the index: one archived response, revisit or resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdxLine {
    /// The URL as archived.
    pub url: String,
    /// The date as 14 digits.
    pub timestamp14: String,
    /// The payload's media type, or `warc/revisit`.
    pub mime: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The payload digest, `sha1:…`.
    pub digest: Option<String>,
    /// Where the record lies.
    pub location: Location,
    /// The name of the WARC file, without directories.
    pub filename: String,
}

/// The line as it stands in the file, without its end. Fields that are not known are left out.
impl fmt::Display for CdxLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {{\"url\": {}", surt(&self.url), self.timestamp14, json(&self.url))?;
        if let Some(mime) = &self.mime {
            write!(f, ", \"mime\": {}", json(mime))?;
        }
        if let Some(status) = self.status {
            write!(f, ", \"status\": \"{status}\"")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, ", \"digest\": {}", json(digest))?;
        }
        let Location { offset, length } = self.location;
        write!(f, ", \"length\": \"{length}\", \"offset\": \"{offset}\"")?;
        write!(f, ", \"filename\": {}}}", json(&self.filename))
    }
}

fn json(text: &str) -> serde_json::Value {
    serde_json::Value::from(text)
}

/// The lines of all responses, revisits and resources of a file, in the order of the file; answers
/// to HEAD have none. Fails
/// at the first damage: [`repair`](crate::repair()) the file first.
pub fn index(path: impl AsRef<Path>) -> Result<Vec<CdxLine>, ReadError> {
    let mut lines = Vec::new();
    for_each_line(path.as_ref(), |line| lines.push(line))?;
    Ok(lines)
}

/// Writes the index of the file `segment` to `index`, as [`write_sorted`] does, in memory that does
/// not grow with it. Fails as [`index`] does; then `index` is as before.
pub fn write_index(segment: impl AsRef<Path>, index: impl AsRef<Path>) -> Result<(), ReadError> {
    let index = index.as_ref();
    let mut sorter = Sorter::beside(index).with_memory(SORT_MEMORY_BYTES_MAX);
    let mut pushed = Ok(());
    for_each_line(segment.as_ref(), |line| {
        if pushed.is_ok() {
            pushed = sorter.push(&[line.to_string().as_bytes()]);
        }
    })?;
    let lines = pushed.and_then(|()| sorter.sorted()).map_err(|error| ReadError::Io(error.into()))?;
    write_atomically(index, |out| {
        for line in lines {
            out.write_all(&line?)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
    .map_err(ReadError::Io)
}

fn for_each_line(path: &Path, mut take: impl FnMut(CdxLine)) -> Result<(), ReadError> {
    let mut indexer = Indexer::new(&path.file_name().unwrap_or_default().to_string_lossy());
    let mut reader = Reader::open(path, 0)?;
    while let Some(mut record) = reader.next_record()? {
        indexer.begin(&mut record)?.into_iter().for_each(&mut take);
        indexer.end(record.finish()?);
    }
    indexer.finish().into_iter().for_each(take);
    Ok(())
}

/// Makes the lines of the records of a file, which it is shown one after the other.
///
/// The answer to a HEAD request has no payload and would hide the page from replay: it gets no
/// line. Only the request tells, which stands behind the answer in the files that we write; so a
/// record's line is given when the next record is shown.
pub struct Indexer {
    filename: String,
    waiting: Option<CdxLine>,
}

impl Indexer {
    /// For the records of the file of this name.
    pub fn new(filename: &str) -> Indexer {
        Indexer { filename: filename.to_owned(), waiting: None }
    }

    /// Looks at a record of which nothing was read yet; its HTTP head is taken. Gives the line of
    /// the record before, if it has one.
    pub fn begin<R: BufRead>(&mut self, record: &mut StoredRecord<'_, R>) -> Result<Option<CdxLine>, ReadError> {
        let mut before = self.waiting.take();
        let header = record.header();
        let holds_http = header.holds_http();
        if let Some(mut line) = line_of_header(header, &self.filename) {
            if holds_http {
                let head = record.read_http_head()?;
                line.status = head.status();
                line.mime = line.mime.or(head.media_type().map(str::to_owned));
            }
            self.waiting = Some(line);
        } else if holds_http && before.as_ref().is_some_and(|before| header.target_uri() == Some(&before.url)) {
            let head = record.read_http_head()?;
            before = before.filter(|_| !head.start_line().starts_with("HEAD "));
        }
        Ok(before)
    }

    /// Says where the record lies that was shown last.
    pub fn end(&mut self, location: Location) {
        if let Some(line) = &mut self.waiting {
            line.location = location;
        }
    }

    /// The line of the last record, if it has one.
    pub fn finish(self) -> Option<CdxLine> {
        self.waiting
    }
}

/// What the record's header tells of the line. Records without target or date are not indexed.
fn line_of_header(header: &Header, filename: &str) -> Option<CdxLine> {
    let mime = match header.record_type()? {
        RecordType::Revisit => Some("warc/revisit"),
        RecordType::Response if header.holds_http() => None,
        RecordType::Response | RecordType::Resource => header.content_type().and_then(media_type),
        _ => return None,
    };
    Some(CdxLine {
        url: header.target_uri()?.to_owned(),
        timestamp14: header.timestamp14()?,
        mime: mime.map(str::to_owned),
        status: None,
        digest: header.get("WARC-Payload-Digest").map(str::to_owned),
        location: Location { offset: 0, length: 0 },
        filename: filename.to_owned(),
    })
}

/// Writes an index file: sorted by bytes, as tools that search it expect, under a temporary name
/// first, so that `path` never holds half an index.
pub fn write_sorted(path: impl AsRef<Path>, lines: impl IntoIterator<Item = CdxLine>) -> io::Result<()> {
    let mut lines = lines.into_iter().map(|line| line.to_string()).collect::<Vec<_>>();
    lines.sort_unstable();
    write_atomically(path.as_ref(), |out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}
