//! CDXJ: the sorted index in which replay tools look up where a page is archived.
//!
//! The form is the one of pywb and cdxj-indexer: the URL's [SURT key](crate::surt()), the date as
//! 14 digits, and a JSON object whose values are all strings.

use sort::Sorter;

use crate::asked::{self, Asked};
use crate::date::timestamp14;
use crate::error::ReadError;
use crate::header::Header;
use crate::http::{HttpHead, media_type};
use crate::reader::{Location, Reader, StoredRecord};
use crate::record::Record;
use crate::record_types::RecordType;
use crate::replace::write_atomically;
use crate::surt::surt;
use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

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
    /// What it was asked with, unless that was GET. It is part of the key.
    pub asked: Option<Asked>,
}

impl CdxLine {
    /// The URL that a browser requests: the fragment of a hash route is not sent.
    fn requested(&self) -> &str {
        let is_http = self.url.starts_with("http:") || self.url.starts_with("https:");
        self.url.split('#').next().filter(|_| is_http).unwrap_or(&self.url)
    }

    /// The line with what the HTTP head tells.
    fn with(self, head: &HttpHead) -> CdxLine {
        let mime = self.mime.or_else(|| head.media_type().map(str::to_owned));
        CdxLine { status: head.status(), mime, ..self }
    }
}

/// The line as it stands in the file, without its end. Fields that are not known are left out.
impl fmt::Display for CdxLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = self.asked.as_ref();
        let values = [
            ("url", Some(Cow::from(self.requested()))),
            ("mime", self.mime.as_deref().map(Cow::from)),
            ("status", self.status.map(|status| status.to_string().into())),
            ("digest", self.digest.as_deref().map(Cow::from)),
            ("length", Some(self.location.length.to_string().into())),
            ("offset", Some(self.location.offset.to_string().into())),
            ("filename", Some(Cow::from(&self.filename))),
            ("requestBody", asked.map(|asked| asked.query.as_str()).filter(|query| !query.is_empty()).map(Cow::from)),
            ("method", asked.map(|asked| Cow::from(&asked.method))),
        ];
        let key = asked.map_or_else(|| surt(&self.url), |asked| surt(&asked.append_to(&self.url)));
        for part in [&key, " ", &self.timestamp14, " {"] {
            f.write_str(part)?;
        }
        let known = values.into_iter().filter_map(|(name, value)| Some((name, value?)));
        for (index, (name, value)) in known.enumerate() {
            let value = serde_json::to_string(&value).map_err(|_| fmt::Error)?;
            for part in [if index > 0 { ", \"" } else { "\"" }, name, "\": ", &value] {
                f.write_str(part)?;
            }
        }
        f.write_str("}")
    }
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
    let mut sorter = sorter_for(index.as_ref());
    let mut pushed = Ok(());
    for_each_line(segment.as_ref(), |line| {
        if pushed.is_ok() {
            pushed = sorter.push(&[line.to_string().as_bytes()]);
        }
    })?;
    pushed.map_err(io::Error::from).and_then(|()| write_lines(sorter, index.as_ref())).map_err(ReadError::Io)
}

/// The index of a segment, made while the segment is written, so that nothing has to be read again.
pub struct IndexWriter {
    path: PathBuf,
    indexer: Indexer,
    sorter: Sorter,
}

impl IndexWriter {
    /// The index at `path` of a segment of this name, to which nothing has been written yet.
    pub fn new(path: &Path, segment: &str) -> IndexWriter {
        IndexWriter { path: path.to_owned(), indexer: Indexer::new(segment), sorter: sorter_for(path) }
    }

    /// Takes in the record that was written last, and where it lies. Fails when lines that no longer fit into memory
    /// cannot be written beside the index.
    pub fn push(&mut self, record: &Record<'_>, location: Location) -> io::Result<()> {
        let before = self.indexer.written(record, location);
        before.map_or(Ok(()), |line| Ok(self.sorter.push(&[line.to_string().as_bytes()])?))
    }

    /// Writes the file, which is the one that [`write_index`] makes of the segment.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(line) = self.indexer.finish() {
            self.sorter.push(&[line.to_string().as_bytes()])?;
        }
        write_lines(self.sorter, &self.path)
    }
}

fn sorter_for(index: &Path) -> Sorter {
    Sorter::beside(index).with_memory(SORT_MEMORY_BYTES_MAX)
}

fn write_lines(sorter: Sorter, index: &Path) -> io::Result<()> {
    let lines = sorter.sorted()?;
    write_atomically(index, |out| {
        for line in lines {
            out.write_all(&line?)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
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
/// line; that to a POST request is found by the body of the request too. Only the request tells, which
/// stands behind the answer in the files that we write; so a record's line is given when the next record is shown.
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
        let header = record.header();
        let line = line_of_header(header, &self.filename);
        let is_of_waiting = self.waits_for(header.target_uri());
        if !header.holds_http() || (line.is_none() && !is_of_waiting) {
            return Ok(self.show(line));
        }
        let head = record.read_http_head()?;
        if let Some(line) = line {
            return Ok(self.show(Some(line.with(&head))));
        }
        let mut body = Vec::new();
        let (offset, rest) = (record.offset(), record.take(asked::BODY_BYTES_MAX));
        { rest }.read_to_end(&mut body).map_err(|error| ReadError::from_io(offset, error))?;
        Ok(self.take_request(&head, &body))
    }

    /// Looks at a record that was written to `location`. Gives the line of the record before, if it has one.
    fn written(&mut self, record: &Record<'_>, location: Location) -> Option<CdxLine> {
        match (line_of_record(record, location, &self.filename), record.http_head()) {
            (None, Some(head)) if self.waits_for(record.archived_target().as_deref()) => {
                self.take_request(&head, record.payload())
            }
            (line, head) => self.show(line.map(|line| match &head {
                Some(head) => line.with(head),
                None => line,
            })),
        }
    }

    /// Whether the line that waits is of this target.
    fn waits_for(&self, target: Option<&str>) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| target == Some(&waiting.url))
    }

    /// Goes on to the next record: its line, if it may have one, waits. Gives the one that has waited.
    fn show(&mut self, line: Option<CdxLine>) -> Option<CdxLine> {
        std::mem::replace(&mut self.waiting, line)
    }

    /// Goes on to the request for the answer whose line waits. Gives that line, unless the request was HEAD.
    fn take_request(&mut self, head: &HttpHead, body: &[u8]) -> Option<CdxLine> {
        let asked = Asked::of(head, body);
        let line = self.show(None).filter(|_| !head.start_line().starts_with("HEAD "))?;
        Some(CdxLine { asked, ..line })
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
    Some(CdxLine {
        mime: mime_of(header.record_type()?, header.holds_http(), header.content_type())?,
        url: header.target_uri()?.to_owned(),
        timestamp14: header.timestamp14()?,
        status: None,
        digest: header.get("WARC-Payload-Digest").map(str::to_owned),
        location: Location { offset: 0, length: 0 },
        filename: filename.to_owned(),
        asked: None,
    })
}

/// The same of a record that was written.
fn line_of_record(record: &Record<'_>, location: Location, filename: &str) -> Option<CdxLine> {
    Some(CdxLine {
        mime: mime_of(record.kind(), record.holds_http(), Some(record.content_type()))?,
        url: record.archived_target()?.into_owned(),
        timestamp14: timestamp14(record.date_ms()),
        status: None,
        digest: record.archived_digest().map(|digest| digest.to_string()),
        location,
        filename: filename.to_owned(),
        asked: None,
    })
}

/// The media type as far as the header tells it; nothing for records that have no line.
fn mime_of(kind: RecordType, holds_http: bool, content_type: Option<&str>) -> Option<Option<String>> {
    let mime = match kind {
        RecordType::Revisit => Some("warc/revisit"),
        RecordType::Response if holds_http => None,
        RecordType::Response | RecordType::Resource => content_type.and_then(media_type),
        _ => return None,
    };
    Some(mime.map(str::to_owned))
}

/// Writes an index file: sorted by bytes, as tools that search it expect, under a temporary name
/// first, so that `path` never holds half an index.
pub fn write_sorted(path: impl AsRef<Path>, lines: impl IntoIterator<Item = CdxLine>) -> io::Result<()> {
    let mut lines = lines.into_iter().map(|line| line.to_string()).collect::<Vec<_>>();
    lines.sort_unstable();
    write_atomically(path.as_ref(), |out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}
