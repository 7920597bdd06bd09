//! The archive of a crawl: WARC segments in `DIR/archive/`, with a CDXJ index beside each that is sealed.

mod acknowledged;
mod earlier;
mod error;
mod indexing;
mod names;
mod recovery;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use model::{
    ArchiveLocation, Exchange, Made, Method, PayloadDigest, Picture, RenderedDocument, Rendering, Timestamp, Truncation,
};
use store::{Segment, StoreError};
use warc::{Compression, IndexWriter, Location, Record, RecordId, RefersTo, SegmentWriter};

use acknowledged::Acknowledged;
pub use acknowledged::committed_bytes;
pub use earlier::{Earlier, Original, Place, Says};
use earlier::{record_id, response_id};
pub use error::ArchiveError;
use error::{failed, not_indexed};
use indexing::{Ended, Index, Indexing, join};
pub use indexing::{index_path, write_index};
pub use recovery::{
    ArchiveInState, Fate, Orphan, Unknown, belongs_together, is_record_end, is_whole, keep, no_longer_keep, orphans,
    set_aside, set_aside_tails, unknown,
};

/// Writes the exchanges of a crawl into segments.
pub struct Archive {
    dir: PathBuf,
    /// The fields of the warcinfo record about the crawl, its settings included.
    info: Vec<(String, String)>,
    segment_bytes_max: u64,
    compression: Compression,
    current: Option<Current>,
    serials: Serials,
    acknowledged: Acknowledged,
    named_from: Timestamp,
    /// Set aside when it was opened.
    set_aside: Vec<Orphan>,
    /// Sealed since the last sync.
    sealed: Vec<Sealed>,
    /// Ended, and not known to the state yet.
    ended: Vec<Ended>,
    /// Indexes being written.
    indexing: Vec<Indexing>,
}

/// Gives each new segment a serial number that is unique in the crawl.
pub type Serials = Box<dyn FnMut() -> Result<u32, StoreError> + Send>;

struct Current {
    segment: Segment,
    writer: SegmentWriter,
    warcinfo: RecordId,
    index: Index,
    /// When its first record was written; long ago if another process began it.
    begun_at: Timestamp,
}

/// When to seal a segment that is not full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// At once.
    Now,
    /// At once, if it was begun before this time.
    IfBegunBefore(Timestamp),
    /// At once, if it has this serial number or a lower one: that segment is sealed then, whether it was already or not.
    UpTo(u32),
}

/// A sealed segment. Its index is made when it has been committed.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The segment.
    pub segment: Segment,
    path: PathBuf,
    /// Ends without a message if the index cannot be made.
    is_indexed: Arc<Mutex<Receiver<()>>>,
}

impl Sealed {
    /// Waits until the index is beside the segment.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn indexed(self) -> Result<Segment, ArchiveError> {
        let is_indexed = self.is_indexed.lock().is_ok_and(|done| done.recv().is_ok());
        if !is_indexed {
            write_index(&self.path)?;
        }
        Ok(self.segment)
    }
}

/// What became durable.
#[derive(Debug, Default)]
pub struct Synced {
    /// The segments that grew, with their lengths.
    pub grown: Vec<Segment>,
    /// Those among them that are sealed.
    pub sealed: Vec<Sealed>,
}

/// The digests of an answer that were computed already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Digests {
    /// The payload's.
    pub payload: Option<PayloadDigest>,
    /// That of the block of a response record.
    pub block: Option<warc::Digest>,
}

/// The directory in the archive's for segments and tails of segments that the state does not know.
pub const ORPHANED: &str = "orphaned";
/// The media type of a metadata record with the results of hooks.
pub const EXTRA_TYPE: &str = "application/json";
/// The field of a rendering's metadata record with its reason.
pub const RENDERING: &str = "rendering";
/// The field with the links that the page shows without a browser.
pub const LINKS_BEFORE: &str = "links-before";
/// The field with the characters of text that the page shows without a browser.
pub const CHARACTERS_BEFORE: &str = "characters-before";
/// The field with the failure of the browser.
pub const FAILURE: &str = "failure";
/// The field with the target to which the page navigated by itself.
pub const REDIRECT: &str = "redirect";
/// The field of a page whose scripts make pages of hash routes.
pub const ROUTER: &str = "router";
/// The field for each URL that the page's scripts lead to.
pub const OUTLINK: &str = "outlink";

/// When something was committed to the archive in this directory the last time; `None` if nothing was.
#[must_use]
pub fn committed_at(dir: &Path) -> Option<SystemTime> {
    std::fs::symlink_metadata(dir.join(acknowledged::FILE)).and_then(|file| file.modified()).ok()
}

impl Archive {
    /// Opens the archive in `dir`: brings it in line with the state ([`unknown`]), and continues after that. `info` goes
    /// into each segment's warcinfo record, with the crawl's id.
    ///
    /// # Errors
    /// The directory cannot be used, a segment that the state refers to is missing, or the state is empty or of another crawl.
    pub fn open(
        dir: &Path,
        known: &ArchiveInState,
        mut info: Vec<(String, String)>,
        segment_bytes_max: u64,
    ) -> Result<Self, ArchiveError> {
        let (acknowledged, set_aside) = recovery::recover(dir, known)?;
        info.push((recovery::CRAWL_ID.to_owned(), known.crawl_id.clone()));
        let committed = &known.segments;
        let next_serial = committed.iter().map(|segment| segment.serial + 1).max().unwrap_or(0);
        let mut next = next_serial;
        let mut archive = Archive {
            dir: dir.to_owned(),
            info,
            segment_bytes_max,
            compression: Compression::default(),
            current: None,
            serials: Box::new(move || {
                next += 1;
                Ok(next - 1)
            }),
            acknowledged,
            named_from: Timestamp::default(),
            set_aside,
            sealed: Vec::new(),
            ended: Vec::new(),
            indexing: Vec::new(),
        };
        for segment in committed {
            let path = dir.join(&segment.name);
            if segment.serial + 1 == next_serial && segment.length < segment_bytes_max {
                archive.current = Some(reopen(&path, segment)?);
            } else if !index_path(&path).exists() {
                let Segment { serial, length, .. } = *segment;
                let ended = Ended { serial, length, path, index: Index::OfBefore, done: sync_channel(1).0 };
                archive.indexing.push(Indexing::begin(ended));
            }
        }
        Ok(archive)
    }

    /// The same with serial numbers from another source. By default they follow those of the existing segments.
    #[must_use]
    pub fn numbered_by(mut self, serials: Serials) -> Self {
        self.serials = serials;
        self
    }

    /// The same, but no segment is named by an earlier time than this. So names stay in the order of the serial numbers even if old answers
    /// are recorded.
    #[must_use]
    pub fn named_from(mut self, earliest: Timestamp) -> Self {
        self.named_from = earliest;
        self
    }

    /// The same, with all further records compressed like this.
    #[must_use]
    pub fn compressed(mut self, compression: Compression) -> Self {
        self.compression = compression;
        if let Some(current) = &mut self.current {
            current.writer.set_compression(compression);
        }
        self
    }

    /// The files that were set aside when it was opened, since the state does not know them.
    #[must_use]
    pub fn set_aside(&self) -> &[Orphan] {
        &self.set_aside
    }

    /// Notes that the state now knows these segments with their lengths. Those among them that have ended get their index.
    pub fn acknowledge(&mut self, committed: &[Segment]) {
        // Where it cannot be written it says less than the state, which is harmless.
        let _ = self.acknowledged.note(committed);
        let is_known = |ended: &mut Ended| {
            committed.iter().any(|known| known.serial == ended.serial && known.length >= ended.length)
        };
        self.indexing.extend(self.ended.extract_if(.., is_known).map(Indexing::begin));
    }

    /// Appends the exchanges of one fetch. The location is that of the last response, which has these digests. If the archive holds
    /// its payload already, it is recorded as a revisit.
    ///
    /// # Errors
    /// The segment cannot be written; earlier records stay complete.
    pub fn append(
        &mut self,
        exchanges: &[Exchange],
        digests: Digests,
        earlier: Option<&Earlier>,
    ) -> Result<Option<ArchiveLocation>, ArchiveError> {
        let mut location = None;
        for (index, exchange) in exchanges.iter().enumerate() {
            let is_last = index + 1 == exchanges.len();
            let (digests, earlier) = if is_last { (digests, earlier) } else { (Digests::default(), None) };
            location = Some(self.append_exchange(exchange, digests, earlier)?);
        }
        Ok(location)
    }

    fn append_exchange(
        &mut self,
        exchange: &Exchange,
        digests: Digests,
        earlier: Option<&Earlier>,
    ) -> Result<ArchiveLocation, ArchiveError> {
        let at = exchange.started_at.as_millis();
        let response_id = response_id(exchange);
        let request_id = record_id("request for", &response_id.to_string(), exchange.started_at);
        let mut current = self.writable(exchange.started_at)?;
        let path = self.dir.join(&current.segment.name);
        let url = exchange.url.as_str();
        let payload_digest = digests.payload.map(|digest| warc::Digest::from_bytes(digest.0));
        let original_id = earlier.and_then(|earlier| earlier.original.record_id());
        let original_date = earlier.map(|earlier| earlier.original.record_date()).unwrap_or_default();
        let refers_to = earlier.map(|Earlier { original, .. }| RefersTo {
            id: original_id.as_deref(),
            target_uri: &original.url,
            date: &original_date,
        });
        let mut response = match (earlier.zip(refers_to), payload_digest) {
            (Some((Earlier { says: Says::NotModified, .. }, refers_to)), digest) => {
                Record::not_modified(response_id, at, url, digest, &refers_to)
            }
            (Some((Earlier { says: Says::IdenticalPayload, .. }, refers_to)), Some(digest)) => {
                Record::revisit(response_id, at, url, &exchange.response_head, digest, &refers_to)
            }
            (_, _) => {
                let mut response = Record::response(response_id, at, url, &exchange.response_head, &exchange.payload);
                if let Some(digest) = payload_digest {
                    response = response.payload_digest(digest);
                }
                if let Some(digest) = digests.block {
                    response = response.block_digest(digest);
                }
                response
            }
        };
        response = response.warcinfo_id(current.warcinfo);
        if let Some(address) = exchange.address {
            response = response.ip_address(address.ip());
        }
        if is_packed(exchange) {
            response = response.packed();
        }
        if let Some(truncation) = exchange.truncated {
            response = response.truncated(match truncation {
                Truncation::Length | Truncation::Ratio => warc::Truncated::Length,
                Truncation::Time => warc::Truncated::Time,
                Truncation::Disconnect => warc::Truncated::Disconnect,
                Truncation::Unwanted => warc::Truncated::Unspecified,
            });
        }
        let request = Record::request(request_id, at, url, &exchange.request_head, &exchange.request_body)
            .warcinfo_id(current.warcinfo)
            .concurrent_to(response_id);
        // Where nothing has changed the request says no more than that it was asked.
        let is_kept = earlier.is_none_or(|earlier| earlier.says != Says::NotModified);
        let written = current.append(&path, &response);
        let written =
            written.and_then(|place| if is_kept { current.append(&path, &request).map(|_| place) } else { Ok(place) });
        let serial = current.segment.serial;
        self.current = Some(current);
        let place = written?;
        debug_assert!(exchange.method != Method::Head || exchange.payload.is_empty());
        Ok(ArchiveLocation { segment: serial, offset: place.offset, length: place.length })
    }

    /// Appends the rendering of an answer that was appended before: a metadata record with the reason and the targets of
    /// its scripts, resource records with the rendered page and each picture of it (under the URNs of [`Made`]),
    /// and the answered requests of the page.
    ///
    /// # Errors
    /// The segment cannot be written; earlier records stay complete.
    pub fn append_rendering(
        &mut self,
        shown: &Exchange,
        rendering: &Rendering,
    ) -> Result<Vec<ArchiveLocation>, ArchiveError> {
        let of = response_id(shown);
        let (url, at) = (shown.url.as_str(), rendering.at.as_millis());
        let mut fields = vec![
            (RENDERING, rendering.evidence.clone()),
            (LINKS_BEFORE, rendering.before.links.to_string()),
            (CHARACTERS_BEFORE, rendering.before.text_chars.to_string()),
        ];
        match &rendering.document {
            Ok(document) => {
                fields.extend(document.redirect.iter().map(|target| (REDIRECT, target.clone())));
                fields.extend(document.has_router.then(|| (ROUTER, "hash".to_owned())));
                fields.extend(document.outlinks.iter().map(|target| (OUTLINK, target.clone())));
            }
            Err(failure) => fields.push((FAILURE, failure.clone())),
        }
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let fields = warc::warc_fields(&fields);
        let id = record_id("rendering of", &of.to_string(), rendering.at);
        self.append_record(rendering.at, Record::metadata(id, at, url, warc::WARC_FIELDS, &fields).refers_to(of))?;
        if let Ok(document) = &rendering.document {
            let urn = Made::Document.urn(url);
            let id = record_id("document", &urn, rendering.at);
            let seen = Record::resource(id, at, &urn, RenderedDocument::CONTENT_TYPE, &document.html);
            self.append_record(rendering.at, seen.concurrent_to(of))?;
            for Picture { kind, bytes } in &document.pictures.taken {
                let urn = Made::Picture(*kind).urn(url);
                let id = record_id("picture", &urn, rendering.at);
                let picture = Record::resource(id, at, &urn, kind.media_type(), bytes).packed();
                self.append_record(rendering.at, picture.concurrent_to(of))?;
            }
        }
        let exchanges = rendering.resources.iter().chain(&rendering.robots);
        exchanges.map(|exchange| self.append_exchange(exchange, Digests::default(), None)).collect()
    }

    /// Appends the results of hooks for an answer that was appended before, in a metadata record: a JSON object.
    ///
    /// # Errors
    /// The segment cannot be written; earlier records stay complete.
    pub fn append_extra(&mut self, answered: &Exchange, extra: &str) -> Result<(), ArchiveError> {
        let at = answered.started_at;
        let of = response_id(answered);
        let id = record_id("extra of", &of.to_string(), at);
        let urn = Made::Extra.urn(answered.url.as_str());
        let record = Record::metadata(id, at.as_millis(), &urn, EXTRA_TYPE, extra.as_bytes());
        self.append_record(at, record.refers_to(of))
    }

    /// Appends to the last segment even if it is full: related records stay together.
    fn append_record(&mut self, at: Timestamp, record: Record<'_>) -> Result<(), ArchiveError> {
        let mut current = match self.current.take() {
            Some(current) => current,
            None => self.writable(at)?,
        };
        let path = self.dir.join(&current.segment.name);
        let written = current.append(&path, &record.warcinfo_id(current.warcinfo));
        self.current = Some(current);
        written.map(drop)
    }

    /// The segment to write to: a new one if there is none or it is full.
    fn writable(&mut self, now: Timestamp) -> Result<Current, ArchiveError> {
        if let Some(current) = self.current.take() {
            if current.writer.len() < self.segment_bytes_max {
                return Ok(current);
            }
            self.end(current)?;
        }
        let now = now.max(self.named_from);
        let serial = (self.serials)().map_err(ArchiveError::Serial)?;
        let segment = Segment { serial, name: warc::segment_name(now.as_millis(), serial), length: 0 };
        let path = self.dir.join(&segment.name);
        let mut writer = SegmentWriter::create(&path).map_err(|source| failed(&path, source))?;
        writer.set_compression(self.compression);
        let warcinfo = record_id("warcinfo", &segment.name, now);
        let index = Index::Growing(Box::new(IndexWriter::new(&index_path(&path), &segment.name)));
        let mut current = Current { segment, writer, warcinfo, index, begun_at: now };
        self.write_warcinfo(&mut current, now)?;
        Ok(current)
    }

    fn write_warcinfo(&self, current: &mut Current, now: Timestamp) -> Result<(), ArchiveError> {
        let fields: Vec<(&str, &str)> = self.info.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let record = Record::warcinfo(current.warcinfo, now.as_millis(), &current.segment.name, &fields);
        let path = self.dir.join(&current.segment.name);
        current.append(&path, &record).map(drop)
    }

    /// Makes all appended records durable, and returns the length of each segment that grew.
    ///
    /// # Errors
    /// The segment cannot be synced: the state must not refer to records appended since the last sync.
    pub fn sync(&mut self) -> Result<Synced, ArchiveError> {
        let sealed = std::mem::take(&mut self.sealed);
        let mut grown: Vec<Segment> = sealed.iter().map(|sealed| sealed.segment.clone()).collect();
        if let Some(current) = &mut self.current {
            let length = current.sync(&self.dir)?;
            if length != current.segment.length {
                current.segment.length = length;
                grown.push(current.segment.clone());
            }
        }
        Ok(Synced { grown, sealed })
    }

    /// Seals the current segment, if there is one and it is time, and returns whether it did. The next sync reports it.
    ///
    /// # Errors
    /// The segment cannot be synced, or an index could not be made.
    pub fn seal(&mut self, seal: Seal) -> Result<bool, ArchiveError> {
        let is_due = |current: &mut Current| match seal {
            Seal::Now => true,
            Seal::IfBegunBefore(time) => current.begun_at < time,
            Seal::UpTo(serial) => current.segment.serial <= serial,
        };
        self.current.take_if(is_due).map_or(Ok(false), |current| self.end(current).map(|()| true))
    }

    /// Whether the current segment was begun by an earlier run.
    #[must_use]
    pub fn continues(&self) -> bool {
        self.current.as_ref().is_some_and(|current| !matches!(current.index, Index::Growing(_)))
    }

    /// Ends the current segment if it is this one: a segment has at most one visit of a URL, and so have the tables made
    /// of it.
    ///
    /// # Errors
    /// As [`Archive::seal`].
    pub fn leave(&mut self, serial: u32) -> Result<(), ArchiveError> {
        let current = self.current.take_if(|current| current.segment.serial == serial);
        current.map_or(Ok(()), |current| self.end(current))
    }

    /// Ends a segment: synced, and to be indexed.
    fn end(&mut self, mut current: Current) -> Result<(), ArchiveError> {
        current.segment.length = current.sync(&self.dir)?;
        let Segment { serial, length, ref name } = current.segment;
        let path = self.dir.join(name);
        let (done, is_indexed) = sync_channel(1);
        self.ended.push(Ended { serial, length, path: path.clone(), index: current.index, done });
        self.sealed.push(Sealed { segment: current.segment, path, is_indexed: Arc::new(Mutex::new(is_indexed)) });
        let (ended, indexing) = std::mem::take(&mut self.indexing).into_iter().partition(Indexing::is_finished);
        self.indexing = indexing;
        join(ended)
    }

    /// Ends the writing for now, after the indexes that are being made. `finished` says that the crawl has ended: then
    /// the last segment gets its index too. Otherwise the archive can be opened again, and continues in the same segment.
    ///
    /// # Errors
    /// The segment cannot be synced or indexed.
    pub fn close(mut self, finished: bool) -> Result<(), ArchiveError> {
        if !finished {
            return Ok(());
        }
        if let Some(current) = self.current.take() {
            self.end(current)?;
        }
        self.indexing.extend(self.ended.drain(..).map(Indexing::begin));
        join(std::mem::take(&mut self.indexing))
    }
}

/// No thread writes to the directory after the archive was dropped: it could collide with the next opener.
impl Drop for Archive {
    fn drop(&mut self) {
        // An index that cannot be made is made when the archive is opened again.
        let _ = join(std::mem::take(&mut self.indexing));
    }
}

/// The first bytes of formats that are compressed throughout: gzip, zstd, ZIP, PNG, JPEG, WOFF2.
const PACKED: [&[u8]; 6] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"wOF2"];

/// Whether compressing a payload again gains nothing. Brotli has no first bytes of its own: its field tells.
fn is_packed(exchange: &Exchange) -> bool {
    let is_brotli = |line: &[u8]| {
        let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':').unwrap_or(line.len()));
        name.eq_ignore_ascii_case(b"content-encoding") && value.trim_ascii().ends_with(b"br")
    };
    PACKED.iter().any(|magic| exchange.payload.starts_with(magic))
        || exchange.response_head.split(|byte| *byte == b'\n').any(is_brotli)
}

impl Current {
    /// Appends a record to the segment at `path`, and to its index.
    fn append(&mut self, path: &Path, record: &Record<'_>) -> Result<Location, ArchiveError> {
        if let Index::OfBefore = self.index {
            remove_if_there(&index_path(path))?;
            self.index = Index::Removed;
        }
        let location = self.writer.append(record).map_err(|source| failed(path, source))?;
        if let Index::Growing(index) = &mut self.index {
            index.push(record, location).map_err(|error| not_indexed(path, &error))?;
        }
        Ok(location)
    }

    fn sync(&mut self, dir: &Path) -> Result<u64, ArchiveError> {
        let path = dir.join(&self.segment.name);
        let length = self.writer.sync().map_err(|source| failed(&path, source))?;
        match self.writer.is_at(&path) {
            Ok(true) => Ok(length),
            Ok(false) => Err(ArchiveError::Meddled { path: path.display().to_string() }),
            Err(source) => Err(error::directory(&path, source)),
        }
    }
}

/// Continues after the committed part of a segment.
fn reopen(path: &Path, segment: &Segment) -> Result<Current, ArchiveError> {
    let writer = SegmentWriter::open_for_append(path, segment.length).map_err(|source| failed(path, source))?;
    let warcinfo = warcinfo_of(path).unwrap_or_else(|| record_id("warcinfo", &segment.name, Timestamp::default()));
    Ok(Current { segment: segment.clone(), writer, warcinfo, index: Index::OfBefore, begun_at: Timestamp::default() })
}

/// The id of the warcinfo record that a segment begins with.
fn warcinfo_of(path: &Path) -> Option<RecordId> {
    const WARCINFO_BYTES_MAX: u64 = 1 << 20;
    let record = warc::read_at(path, 0, WARCINFO_BYTES_MAX).ok()?;
    let digits: Vec<u8> =
        record.header.record_id()?.rsplit(':').next()?.bytes().filter(u8::is_ascii_hexdigit).collect();
    let bytes = data_encoding::HEXLOWER_PERMISSIVE.decode(&digits).ok()?;
    Some(RecordId::new(bytes.try_into().ok()?))
}

fn remove_if_there(path: &Path) -> Result<(), ArchiveError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(error::directory(path, source)),
        _ => Ok(()),
    }
}
