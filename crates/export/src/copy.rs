//! A copy of the archive that stands alone: the records of what the filter admits, and nothing that points elsewhere.
//!
//! Records are copied byte for byte, unless another compression is wanted. A `revisit` whose original is left out, or in an earlier archive, becomes a full response, with an id of its
//! own and a request made again, since that names the record it belongs to.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::IpAddr;
use std::path::Path;

use flate2::bufread::GzDecoder;
use model::{ArchiveLocation, Timestamp};
use replay::{PayloadPlace, Replay};
use sha1::{Digest as _, Sha1};
use store::{Entry, Segment};
use warc::{
    CdxLine, Compression, Encoder, Header, Indexer, Location, Reader, Record, RecordId, RecordType, SegmentFile,
    SegmentWriter, StoredRecord,
};

use crate::archive::{Admission, OpenSegment, damaged};
use crate::unlisted::Unlisted;
use crate::{Crawl, ExportError, Filter, Progress};

/// Bytes copied at once.
const COPY_BYTES: usize = 64 << 10;
/// Records of more bytes, before compression, are not compressed again. They are held in memory for that. 64 MB.
pub const RECOMPRESSED_BYTES_MAX: u64 = 64_000_000;
/// Records between two reports of progress.
const REPORT_RECORDS: u64 = 1_000;

/// What a copy needs to know besides the crawl.
#[derive(Clone, Copy, Debug)]
pub struct CopySettings {
    /// When it is made.
    pub now: Timestamp,
    /// The size at which the next segment is begun, in bytes.
    pub segment_bytes_max: u64,
    /// How all records are compressed. Without it they are copied byte for byte.
    pub compression: Option<Compression>,
}

/// What a copy lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Revisits whose payload is in no archive that can be read. The copy has them without it.
    pub without_payload: u64,
    /// Records that were not compressed again, since they are larger than [`RECOMPRESSED_BYTES_MAX`].
    pub as_recorded: u64,
    /// Pages and requisites that could not be read for what they need, where a filter chooses pages.
    pub unread: u64,
}

/// What is written to.
pub(crate) trait Target {
    /// Begins a segment, and gives its file name.
    fn begin(&mut self, serial: u32) -> Result<String, ExportError>;
    /// Writes on to the segment.
    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError>;
    /// Ends the segment.
    fn end(&mut self) -> Result<(), ExportError>;
    /// Takes a line of the index.
    fn index(&mut self, _line: &CdxLine) -> Result<(), ExportError> {
        Ok(())
    }
    /// Whether it wants to be told of answers.
    fn wants_answers(&self) -> bool {
        false
    }
    /// Receives the final answer of a URL, and the date of its record.
    fn answered(&mut self, _entry: &Entry, _date: &str) -> Result<(), ExportError> {
        Ok(())
    }
}

/// Copies what the filter admits into `target`.
pub(crate) fn copy(
    crawl: &Crawl<'_>,
    filter: &Filter,
    settings: CopySettings,
    target: &mut dyn Target,
    progress: Progress<'_>,
) -> Result<Copied, ExportError> {
    let segments = crawl.segments()?;
    let about = about(&segments, filter);
    let encoder = settings.compression.map(Encoder::new);
    let mut copier = Copier { settings, about, target, encoder, as_recorded: 0, begun: 0, current: None };
    copier.begin()?;
    let mut source = Source {
        admission: Admission::new(crawl, filter)?,
        replay: crawl.replay(),
        is_whole: filter.is_everything(),
        warcinfo: None,
        remade: None,
        unlisted: Unlisted::default(),
        copied: Copied::default(),
    };
    let mut done = 0;
    for segment in segments.iter().cloned() {
        let mut open = crawl.open_segment(segment)?;
        let mut file = fresh::open_to_read(&open.path).map_err(|error| ExportError::io(&open.path, error))?;
        while source.next(&mut open, &mut file, &mut copier)? {
            done += 1;
            if done % REPORT_RECORDS == 0 {
                progress(done);
            }
        }
    }
    copier.end()?;
    let unread = source.admission.unread();
    let without_payload = source.copied.without_payload + source.unlisted.lost(crawl, segments)?;
    Ok(Copied { as_recorded: copier.as_recorded, unread, without_payload })
}

/// What the copy is, for its warcinfo records.
fn about(segments: &[Segment], filter: &Filter) -> String {
    let segments = match segments {
        [] => String::new(),
        [one] => one.name.clone(),
        [first, .., last] => format!("{} segments, {} to {}", segments.len(), first.name, last.name),
    };
    match filter.is_everything() {
        true => format!("a copy of all records of {segments}"),
        false => format!("a copy of records of {segments}, {filter}"),
    }
}

/// Reads the records of the archive, one after the other, and says what becomes of each.
struct Source<'a, 's> {
    admission: Admission<'a, 's>,
    replay: Replay<'s>,
    is_whole: bool,
    /// The warcinfo record of the segment while nothing that it describes was copied.
    warcinfo: Option<Location>,
    /// The response that was made in place of a revisit: the id of the one and of the other.
    remade: Option<(String, RecordId)>,
    unlisted: Unlisted,
    copied: Copied,
}

/// What becomes of a record.
enum Fate {
    Skip,
    Copy,
    /// A revisit whose original is left out: it needs the payload.
    Full,
    /// A request whose response was made again.
    Request(RecordId),
}

impl Source<'_, '_> {
    /// Handles the next record of a segment; false at its end.
    fn next(&mut self, open: &mut OpenSegment, file: &mut File, copier: &mut Copier<'_>) -> Result<bool, ExportError> {
        let OpenSegment { path, segment, reader, read } = open;
        let failed = |error| damaged(path, &error);
        if *read >= segment.length {
            return Ok(false);
        }
        let Some(mut record) = reader.next_record().map_err(failed)? else { return Ok(false) };
        let fate = self.fate(record.header())?;
        let header = record.header().clone();
        let kind = header.record_type();
        if kind != Some(RecordType::Request) && !matches!(fate, Fate::Skip) {
            copier.make_room()?;
        }
        if matches!(fate, Fate::Copy) {
            copier.show(path, &mut record)?;
        }
        let location = record.finish().map_err(failed)?;
        *read = location.offset + location.length;
        match fate {
            Fate::Skip if kind == Some(RecordType::Warcinfo) => self.warcinfo = Some(location),
            Fate::Skip => {}
            Fate::Copy if kind == Some(RecordType::Warcinfo) => copier.copy(path, file, location)?,
            fate => {
                if let Some(warcinfo) = self.warcinfo.take() {
                    copier.copy_unseen(path, file, warcinfo)?;
                }
                match fate {
                    Fate::Copy => copier.copy(path, file, location)?,
                    Fate::Full => self.full(&header, segment.serial, location, copier)?,
                    Fate::Request(response) => self.request(&header, segment.serial, location, response, copier)?,
                    Fate::Skip => {}
                }
            }
        }
        self.tell_of_answer(&header, segment.serial, location, copier)?;
        Ok(true)
    }

    fn fate(&mut self, header: &Header) -> Result<Fate, ExportError> {
        let url = header.target_uri();
        if !self.is_whole {
            let Some(url) = url else { return Ok(Fate::Skip) };
            if !self.admission.of(url)?.is_admitted {
                return Ok(Fate::Skip);
            }
        }
        let error = |source| ExportError::Replay { url: url.unwrap_or_default().to_owned(), source };
        Ok(match header.record_type() {
            Some(RecordType::Revisit) => match self.replay.payload_of(header).map_err(error)? {
                PayloadPlace::Here if self.is_whole || !self.is_original_left_out(header)? => Fate::Copy,
                PayloadPlace::Here | PayloadPlace::Again | PayloadPlace::Earlier => Fate::Full,
                // It is of the same URL, so it is copied where this is.
                PayloadPlace::Lost if self.unlisted.may_have_original_of(header) => Fate::Copy,
                PayloadPlace::Lost => {
                    self.copied.without_payload += 1;
                    Fate::Copy
                }
            },
            Some(RecordType::Response) => {
                self.unlisted.see(header);
                Fate::Copy
            }
            Some(RecordType::Request) => match &self.remade {
                Some((of, response)) if header.get("WARC-Concurrent-To") == Some(of) => Fate::Request(*response),
                _ => Fate::Copy,
            },
            _ => Fate::Copy,
        })
    }

    /// Whether the copy is not to have the URL whose payload a revisit has.
    fn is_original_left_out(&mut self, header: &Header) -> Result<bool, ExportError> {
        match header.get("WARC-Refers-To-Target-URI") {
            Some(original) => Ok(!self.admission.look_up(original)?.is_admitted),
            None => Ok(false),
        }
    }

    /// Writes the response that a revisit stands for.
    fn full(
        &mut self,
        header: &Header,
        segment: u32,
        Location { offset, length }: Location,
        copier: &mut Copier<'_>,
    ) -> Result<(), ExportError> {
        let url = header.target_uri().unwrap_or_default();
        let error = |source| ExportError::Replay { url: url.to_owned(), source };
        let revisit = self.replay.record(ArchiveLocation { segment, offset, length }).map_err(error)?;
        let answer = self.replay.answer_of(revisit).map_err(error)?;
        let of = header.record_id().unwrap_or_default();
        let id = id_from(&["response for", of]);
        let mut response = Record::response(id, date_of(header), url, answer.head(), answer.payload());
        response = response.warcinfo_id(copier.warcinfo());
        if let Some(address) = header.get("WARC-IP-Address").and_then(|address| address.parse::<IpAddr>().ok()) {
            response = response.ip_address(address);
        }
        if let Some(truncated) = answer.warc_truncated() {
            response = response.truncated(truncated);
        }
        self.remade = Some((of.to_owned(), id));
        copier.add(&response)
    }

    /// Writes a request that names the response which was made.
    fn request(
        &mut self,
        header: &Header,
        segment: u32,
        Location { offset, length }: Location,
        response: RecordId,
        copier: &mut Copier<'_>,
    ) -> Result<(), ExportError> {
        let url = header.target_uri().unwrap_or_default();
        let error = |source| ExportError::Replay { url: url.to_owned(), source };
        let request = self.replay.record(ArchiveLocation { segment, offset, length }).map_err(error)?;
        let (head, body) = request.http_parts();
        let id = id_from(&["request for", header.record_id().unwrap_or_default()]);
        let record = Record::request(id, date_of(header), url, head, body);
        copier.add(&record.warcinfo_id(copier.warcinfo()).concurrent_to(response))
    }

    /// Tells the target of the answer that a URL ended with.
    fn tell_of_answer(
        &mut self,
        header: &Header,
        segment: u32,
        Location { offset, .. }: Location,
        copier: &mut Copier<'_>,
    ) -> Result<(), ExportError> {
        let is_answer = matches!(header.record_type(), Some(RecordType::Response | RecordType::Revisit));
        let (Some(url), Some(date)) = (header.target_uri().filter(|_| is_answer), header.date()) else { return Ok(()) };
        if !copier.target.wants_answers() {
            return Ok(());
        }
        let known = self.admission.of(url)?;
        let Some(entry) = known.entry.as_ref().filter(|_| known.is_chosen) else { return Ok(()) };
        match entry.visit.as_ref().and_then(|visit| visit.location) {
            Some(last) if (last.segment, last.offset) == (segment, offset) => copier.target.answered(entry, date),
            _ => Ok(()),
        }
    }
}

/// Writes the segments of the copy.
struct Copier<'t> {
    settings: CopySettings,
    about: String,
    target: &'t mut dyn Target,
    /// Where records get another compression.
    encoder: Option<Encoder>,
    /// Records that are too large for that.
    as_recorded: u64,
    /// Segments begun so far.
    begun: u32,
    current: Option<Current>,
}

/// The segment that is being written.
struct Current {
    length: u64,
    warcinfo: RecordId,
    indexer: Indexer,
}

impl Copier<'_> {
    fn begin(&mut self) -> Result<(), ExportError> {
        let name = self.target.begin(self.begun)?;
        self.begun += 1;
        let now = self.settings.now;
        let warcinfo = id_from(&[&name, &self.about, &now.to_rfc3339()]);
        self.current = Some(Current { length: 0, warcinfo, indexer: Indexer::new(&name) });
        let software = format!("argiope/{}", env!("CARGO_PKG_VERSION"));
        let about = self.about.clone();
        let fields = [
            ("software", software.as_str()),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("description", &about),
        ];
        self.add(&Record::warcinfo(warcinfo, now.as_millis(), &name, &fields))
    }

    /// Begins the next segment if this one is full.
    fn make_room(&mut self) -> Result<(), ExportError> {
        if self.current.as_ref().is_some_and(|current| current.length < self.settings.segment_bytes_max) {
            return Ok(());
        }
        self.end()?;
        self.begin()
    }

    fn end(&mut self) -> Result<(), ExportError> {
        let Some(current) = self.current.take() else { return Ok(()) };
        if let Some(line) = current.indexer.finish() {
            self.target.index(&line)?;
        }
        self.target.end()
    }

    /// The id of the segment's first record.
    fn warcinfo(&self) -> RecordId {
        self.current.as_ref().map_or(RecordId::new([0; 16]), |current| current.warcinfo)
    }

    /// Shows the indexer the record that is copied or added next.
    fn show<R: BufRead>(&mut self, path: &Path, record: &mut StoredRecord<'_, R>) -> Result<(), ExportError> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let before = current.indexer.begin(record).map_err(|error| damaged(path, &error))?;
        before.map_or(Ok(()), |line| self.target.index(&line))
    }

    /// Copies the record that was shown last.
    fn copy(&mut self, path: &Path, file: &mut File, location: Location) -> Result<(), ExportError> {
        let offset = self.length();
        self.copy_unseen(path, file, location)?;
        self.tell_end(Location { offset, length: self.length() - offset });
        Ok(())
    }

    /// Copies a record that the indexer need not see.
    fn copy_unseen(&mut self, path: &Path, file: &mut File, at: Location) -> Result<(), ExportError> {
        let failed = |error| ExportError::io(path, error);
        if let Some(encoder) = &mut self.encoder {
            match compressed_again(encoder, file, at).map_err(failed)? {
                Some(member) => return self.write(&member),
                None => self.as_recorded += 1,
            }
        }
        file.seek(SeekFrom::Start(at.offset)).map_err(failed)?;
        let mut buffer = vec![0; COPY_BYTES.min(usize::try_from(at.length).unwrap_or(COPY_BYTES))];
        let mut left = at.length;
        while left > 0 {
            let part = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            file.read_exact(&mut buffer[..part]).map_err(failed)?;
            self.write(&buffer[..part])?;
            left -= part as u64;
        }
        Ok(())
    }

    /// Writes a record that was made here.
    fn add(&mut self, record: &Record<'_>) -> Result<(), ExportError> {
        let mut member = Vec::new();
        let mut segment = SegmentWriter::new(Member(&mut member), 0);
        segment.set_compression(self.settings.compression.unwrap_or_default());
        let written = segment.append(record).and_then(|_| segment.flush());
        written.map_err(|error| ExportError::Other(error.to_string()))?;
        let mut reader = Reader::new(&member[..], 0);
        let made = Path::new("a record that was made");
        if let Some(mut record) = reader.next_record().map_err(|error| damaged(made, &error))? {
            self.show(made, &mut record)?;
        }
        let offset = self.length();
        self.write(&member)?;
        self.tell_end(Location { offset, length: member.len() as u64 });
        Ok(())
    }

    /// The length of the segment so far, in bytes.
    fn length(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.length)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExportError> {
        self.target.write(bytes)?;
        if let Some(current) = &mut self.current {
            current.length += bytes.len() as u64;
        }
        Ok(())
    }

    fn tell_end(&mut self, location: Location) {
        if let Some(current) = &mut self.current {
            current.indexer.end(location);
        }
    }
}

/// The record as a member of the encoder's; `None` if it is too large.
fn compressed_again(encoder: &mut Encoder, file: &mut File, at: Location) -> io::Result<Option<Vec<u8>>> {
    file.seek(SeekFrom::Start(at.offset))?;
    let mut record = Vec::new();
    let stored = GzDecoder::new(BufReader::new(file.take(at.length)));
    stored.take(RECOMPRESSED_BYTES_MAX + 1).read_to_end(&mut record)?;
    if record.len() as u64 > RECOMPRESSED_BYTES_MAX {
        return Ok(None);
    }
    let mut member = Vec::new();
    encoder.member(&[&record], &mut member)?;
    Ok(Some(member))
}

fn date_of(header: &Header) -> u64 {
    header.date().and_then(Timestamp::from_rfc3339).unwrap_or_default().as_millis()
}

/// An id made from what it is about, so that the same copy has the same ids.
fn id_from(parts: &[&str]) -> RecordId {
    let mut hash = Sha1::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest: [u8; 20] = hash.finalize().into();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    RecordId::new(id)
}

/// One record, in memory.
struct Member<'b>(&'b mut Vec<u8>);

impl Write for Member<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SegmentFile for Member<'_> {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
