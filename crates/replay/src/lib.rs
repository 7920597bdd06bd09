//! Recorded answers read back: from what the state points to in the archive to the answer as it was fetched.
//!
//! What came over the wire (head, payload with its content coding) is as it lies in the archive; a `revisit` is given the
//! payload of its original. The body is the payload without its content coding, cut at the same limit as in the fetch.

mod answer;
mod beside;
mod source;

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use against::{Against, AgainstError};
use model::{ArchiveLocation, PayloadDigest, Timestamp, Visit};
use store::{CrawlView, Segment, StoreError};
use warc::{Digest, Header, LoadedRecord, ReadError, RecordType};
use weburl::{CanonicalUrl, UrlKey};

pub use answer::RecordedAnswer;
pub use source::Source;

/// The greatest HTTP head that an archived block may have besides its payload, in bytes.
const HEAD_BYTES_MAX: u64 = 16 << 20;

/// Counts the answers whose payload is lost, over everything that reads with it.
#[derive(Clone, Debug, Default)]
pub struct Lost(Arc<AtomicU64>);

impl Lost {
    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Reads answers back.
pub struct Replay<'s> {
    store: &'s dyn CrawlView,
    source: Box<dyn Source + 's>,
    segments: HashMap<u32, Segment>,
    payload_bytes_max: u64,
    against: Option<Option<Against>>,
    lost: Lost,
    /// The visit whose payload was found lost last: one that is asked for again is counted once.
    last_lost: Option<(UrlKey, Timestamp)>,
}

/// Why an answer cannot be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The archive has it not, or has it damaged.
    #[error("{path}: {source}{}", advice(source))]
    Archive {
        /// The segment.
        path: String,
        /// What happened.
        source: ReadError,
    },
    /// The state points to a segment that it does not know.
    #[error("the state does not know segment {0} of the archive")]
    Segment(u32),
    /// The answer equals that of a URL of which there is no record.
    #[error("the original of this duplicate has no record")]
    Original,
    /// The answer has its payload from an earlier archive, which cannot be read.
    #[error(
        "its payload is in an earlier archive (--against), as the record of {url} of {date}, and cannot be read there"
    )]
    Elsewhere {
        /// The URL of the record.
        url: String,
        /// Its date.
        date: String,
    },
    /// What earlier archives hold cannot be looked up.
    #[error("--against: {0}")]
    Against(#[from] AgainstError),
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
}

/// What to do where an archive lacks what its state points to.
fn advice(error: &ReadError) -> &'static str {
    let is_lost = match error {
        ReadError::Damaged { .. } => true,
        ReadError::Io(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof),
        _ => false,
    };
    if is_lost { " (`argiope check --repair` gives up what is lost)" } else { "" }
}

/// Where the payload of a revisit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadPlace {
    /// In this archive, in the record that it names.
    Here,
    /// In this archive, in another record: the one that it names is lost.
    Again,
    /// In an earlier archive (`--against`), where it can be read.
    Earlier,
    /// Nowhere that can be read.
    Lost,
}

impl<'s> Replay<'s> {
    /// Reads from the archive in `dir` what `store` points to; payloads of at most `payload_bytes_max` bytes.
    #[must_use]
    pub fn new(store: &'s dyn CrawlView, dir: &Path, payload_bytes_max: u64) -> Self {
        Replay::of(store, Box::new(source::Dir(dir.to_owned())), payload_bytes_max)
    }

    /// The same from segments that lie elsewhere.
    #[must_use]
    pub fn of(store: &'s dyn CrawlView, source: Box<dyn Source + 's>, payload_bytes_max: u64) -> Self {
        let (segments, lost) = (HashMap::new(), Lost::default());
        Replay { store, source, segments, payload_bytes_max, against: None, lost, last_lost: None }
    }

    /// Counts in `lost` the answers whose payload is lost.
    #[must_use]
    pub fn counting(self, lost: Lost) -> Self {
        Replay { lost, ..self }
    }

    /// The answer recorded of a visit; `None` where there is no record, or where its payload is known to be lost: that of a duplicate whose
    /// original is lost is as lost as the original itself. Those are counted ([`Replay::counting`]).
    ///
    /// # Errors
    /// The record, or that of its original, is damaged.
    pub fn answer(&mut self, visit: &Visit) -> Result<Option<RecordedAnswer>, ReplayError> {
        let Some(location) = visit.location else { return Ok(None) };
        let record = self.record(location)?;
        match self.answer_of(record) {
            Err(ReplayError::Original | ReplayError::Elsewhere { .. }) => {
                if self.last_lost.replace((visit.key, visit.at)) != Some((visit.key, visit.at)) {
                    self.lost.0.fetch_add(1, Ordering::Relaxed);
                }
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    /// The answer in a record that was read already. A revisit has the payload of the record to which it refers, and the head too where the
    /// server sent none to keep.
    ///
    /// # Errors
    /// The original is lost or damaged.
    pub fn answer_of(&mut self, record: LoadedRecord) -> Result<RecordedAnswer, ReplayError> {
        if record.header.record_type() != Some(RecordType::Revisit) {
            return Ok(RecordedAnswer::new(record, None));
        }
        let original = match self.original_of(&record.header)? {
            Some((_, place)) => self.record(place)?,
            None => self.elsewhere(&record.header)?.ok_or_else(|| self.missing(&record.header))?,
        };
        Ok(if record.http_parts().0.is_empty() {
            RecordedAnswer::new(original, None)
        } else {
            RecordedAnswer::new(record, Some(original))
        })
    }

    /// Where the record lies to which a revisit refers: that of the visit of its date. Where it is lost, another visit of the URL may have
    /// recorded the same payload.
    fn original_of(&self, revisit: &Header) -> Result<Option<(PayloadPlace, ArchiveLocation)>, StoreError> {
        let url = revisit.get("WARC-Refers-To-Target-URI").and_then(CanonicalUrl::from_canonical);
        let Some(url) = url else { return Ok(None) };
        let date = revisit.get("WARC-Refers-To-Date");
        let is_meant = |visit: &Visit| date == Some(visit.at.to_rfc3339().as_str());
        let Some(last) = self.store.get(url.key())?.and_then(|entry| entry.visit) else { return Ok(None) };
        if let Some(place) = last.location.filter(|_| is_meant(&last)) {
            return Ok(Some((PayloadPlace::Here, place)));
        }
        let mut visits = self.store.earlier(url.key())?;
        visits.push(last);
        let Some(meant) = visits.iter().find(|visit| is_meant(visit)) else { return Ok(None) };
        if let Some(place) = meant.location {
            return Ok(Some((PayloadPlace::Here, place)));
        }
        // Another revisit has no payload either.
        let has_it = |visit: &&Visit| {
            let is_whole = visit.content_at.is_none() && !visit.outcome.repeats_content();
            is_whole && meant.digest.is_some() && visit.digest == meant.digest
        };
        let place = visits.iter().filter(has_it).find_map(|visit| visit.location);
        Ok(place.map(|place| (PayloadPlace::Again, place)))
    }

    /// Where the payload of a revisit is.
    ///
    /// # Errors
    /// The state cannot be read, or what earlier archives hold cannot be looked up.
    pub fn payload_of(&mut self, revisit: &Header) -> Result<PayloadPlace, ReplayError> {
        Ok(match self.original_of(revisit)? {
            Some((place, _)) => place,
            None if self.elsewhere(revisit)?.is_some() => PayloadPlace::Earlier,
            None => PayloadPlace::Lost,
        })
    }

    /// Whether the record of a visit is a revisit whose payload cannot be read anywhere.
    ///
    /// # Errors
    /// The record or the state cannot be read.
    pub fn is_payload_lost(&mut self, visit: &Visit) -> Result<bool, ReplayError> {
        let may_repeat = visit.duplicate_of.is_some() || visit.content_at.is_some();
        let Some(location) = visit.location.filter(|_| may_repeat) else { return Ok(false) };
        let header = self.record(location)?.header;
        Ok(header.record_type() == Some(RecordType::Revisit) && self.payload_of(&header)? == PayloadPlace::Lost)
    }

    /// Why the payload of a revisit cannot be read.
    fn missing(&self, revisit: &Header) -> ReplayError {
        let named = |name| revisit.get(name).unwrap_or_default().to_owned();
        match self.against {
            Some(Some(_)) => {
                ReplayError::Elsewhere { url: named("WARC-Refers-To-Target-URI"), date: named("WARC-Refers-To-Date") }
            }
            _ => ReplayError::Original,
        }
    }

    fn against(&mut self) -> Result<Option<&Against>, AgainstError> {
        let against = match &mut self.against {
            Some(against) => against,
            unopened => unopened.insert(self.source.against()?),
        };
        Ok(against.as_ref())
    }

    /// The record of an earlier archive (`--against`) with the payload of a revisit.
    ///
    /// # Errors
    /// What earlier archives hold cannot be looked up.
    pub fn elsewhere(&mut self, revisit: &Header) -> Result<Option<LoadedRecord>, AgainstError> {
        let Some(digest) = revisit.get("WARC-Payload-Digest").and_then(Digest::parse) else { return Ok(None) };
        let (digest, bytes_max) = (PayloadDigest(*digest.as_bytes()), self.payload_bytes_max);
        self.against()?.map_or(Ok(None), |against| against.payload(digest, bytes_max))
    }

    /// The record at a place of the archive.
    ///
    /// # Errors
    /// It is lost or damaged.
    pub fn record(&mut self, location: ArchiveLocation) -> Result<LoadedRecord, ReplayError> {
        let segment = self.segment(location.segment)?;
        let bytes_max = self.payload_bytes_max.saturating_add(HEAD_BYTES_MAX);
        let input = self.source.open(&segment, location.offset);
        input
            .and_then(|input| warc::read_from(input, location.offset, bytes_max))
            .map_err(|source| self.failed(&segment, source))
    }

    /// The error of reading a segment.
    fn failed(&self, segment: &Segment, source: ReadError) -> ReplayError {
        ReplayError::Archive { path: self.source.name(segment), source }
    }

    /// The segment of a serial number.
    fn segment(&mut self, serial: u32) -> Result<Segment, ReplayError> {
        if !self.segments.contains_key(&serial) {
            let segments = self.store.segments()?;
            self.segments = segments.into_iter().map(|segment| (segment.serial, segment)).collect();
        }
        self.segments.get(&serial).cloned().ok_or(ReplayError::Segment(serial))
    }
}
