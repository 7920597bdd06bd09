//! Payloads that earlier archives hold, looked up by their digests: what `--against` reads.
//!
//! [`take_in`] makes one sorted file of all that the given archives hold: WARC files, WACZ files and CDXJ indexes. If an archive refers to an
//! earlier one itself, that one is taken in too. [`Against`] looks
//! payloads up in that file. Memory does not grow with the archives: the file is sorted on the disk and searched on the disk.
//!
//! A record is trusted only after it was read: its payload must be the same, byte for byte. What only an index tells of, since its WARC
//! file is not there, is not referred to, and that is counted.

mod cdxj;
mod entries;
mod sources;
mod taking;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{PayloadDigest, Timestamp};
use warc::{Digest, LoadedRecord};

use entries::{Entries, Entry};
use sources::{Kind, Named, Source};
pub use taking::{Taken, check, take_in};

/// The directory in that of an archive where the file of what was taken in lies.
pub const DIR: &str = "against";

/// The largest HTTP head, and the lines of chunks, that a record may have besides its payload, in bytes.
const HEAD_BYTES_MAX: u64 = 16 << 20;

/// Records with one digest that are tried, at most.
const TRIED_MAX: usize = 4;

/// Records with one digest of which one is to have a certain URL and date, at most.
const COMPARED_MAX: usize = 1_000;

/// An archive cannot be taken in, or the file of what was taken in cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgainstError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A WARC file is damaged, and not at its end.
    #[error("{path}: {source}; {hint}")]
    Warc {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: warc::ReadError,
        /// What helps.
        hint: &'static str,
    },
    /// A file is none of the kinds that can be read, or is broken.
    #[error("{path}: {detail}")]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        detail: String,
    },
}

impl AgainstError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| AgainstError::Io { path: path.to_owned(), source }
    }
}

/// What came of looking payloads up. It is shared with the process that wants to tell of it.
#[derive(Debug, Default)]
pub struct Tally {
    /// Payloads whose earlier record was read and is the same, byte for byte.
    pub verified: AtomicU64,
    /// Payloads that only a CDXJ tells of: its WARC file is not there.
    pub unverified: AtomicU64,
    /// Records that an index lists and that could not be read, or have another payload.
    pub wrong: AtomicU64,
}

/// How an earlier archive stands to a record that another one refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has the record.
    There,
    /// It has the payload only in records with another URL or date.
    Another,
    /// It has none, or none that can be read. It may be that an index tells of one.
    Missing,
}

/// A record of an earlier archive with the payload that was looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its target, as it stands there.
    pub url: String,
    /// Its date.
    pub at: Timestamp,
    /// Its date as it stands there.
    pub date: String,
    /// Its id, if it has one.
    pub id: Option<String>,
}

/// Looks payloads up.
pub struct Against {
    entries: Entries,
    tally: Arc<Tally>,
}

impl Against {
    /// Opens what was taken in at `dir`; `None` where nothing was.
    ///
    /// # Errors
    /// The file cannot be read, or is not one of ours.
    pub fn open(dir: &Path) -> Result<Option<Self>, AgainstError> {
        let entries = Entries::open(&entries::path_in(dir))?;
        Ok(entries.map(|entries| Against { entries, tally: Arc::default() }))
    }

    /// The counts, which go on.
    #[must_use]
    pub fn tally(&self) -> Arc<Tally> {
        self.tally.clone()
    }

    /// The earlier record that has this payload, which has this digest.
    ///
    /// # Errors
    /// What was taken in cannot be read. An archive that cannot be read is no error: its record counts as wrong.
    pub fn find(&self, digest: PayloadDigest, payload: &[u8]) -> Result<Option<Held>, AgainstError> {
        let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        let mut is_listed = false;
        for entry in self.entries.of(digest, TRIED_MAX)? {
            match self.record(&entry, payload.len() as u64) {
                Some(record) if record.http_parts().1 == payload => {
                    if let Some(held) = held_by(&record) {
                        count(&self.tally.verified);
                        return Ok(Some(held));
                    }
                }
                None if self.is_only_listed(&entry) => {
                    is_listed = true;
                    continue;
                }
                Some(_) | None => {}
            }
            count(&self.tally.wrong);
        }
        if is_listed {
            count(&self.tally.unverified);
        }
        Ok(None)
    }

    /// A record that has the payload with this digest, of at most so many bytes.
    ///
    /// # Errors
    /// What was taken in cannot be read.
    pub fn payload(&self, digest: PayloadDigest, bytes_max: u64) -> Result<Option<LoadedRecord>, AgainstError> {
        let entries = self.entries.of(digest, TRIED_MAX)?;
        let records = entries.iter().filter_map(|entry| self.record(entry, bytes_max));
        Ok(records.into_iter().find(|record| has(record, digest)))
    }

    /// Whether the record of this URL and date can be had, with a payload of this digest and at most so many bytes.
    ///
    /// # Errors
    /// What was taken in cannot be read.
    pub fn standing(
        &self,
        digest: PayloadDigest,
        (url, at): (&str, Timestamp),
        bytes_max: u64,
    ) -> Result<Standing, AgainstError> {
        let mut standing = Standing::Missing;
        for entry in self.entries.of(digest, COMPARED_MAX)? {
            let Some(held) = self.held(&entry, digest, bytes_max) else { continue };
            if held.url != url || held.at != at {
                standing = if standing == Standing::Missing { Standing::Another } else { standing };
            } else {
                return Ok(Standing::There);
            }
        }
        Ok(standing)
    }

    /// The record of this URL and date with the payload of this digest, which has at most so many bytes.
    ///
    /// # Errors
    /// What was taken in cannot be read.
    pub fn record_of(
        &self,
        digest: PayloadDigest,
        (url, at): (&str, Timestamp),
        bytes_max: u64,
    ) -> Result<Option<Held>, AgainstError> {
        let entries = self.entries.of(digest, COMPARED_MAX)?;
        let mut held = entries.iter().filter_map(|entry| self.held(entry, digest, bytes_max));
        Ok(held.find(|held| held.url == url && held.at == at))
    }

    /// The record of an entry, if it has the payload with this digest.
    fn held(&self, entry: &Entry, digest: PayloadDigest, bytes_max: u64) -> Option<Held> {
        self.record(entry, bytes_max).filter(|record| has(record, digest)).as_ref().and_then(held_by)
    }

    /// Whether an entry is a line of an index whose WARC file is not there.
    fn is_only_listed(&self, entry: &Entry) -> bool {
        let source = self.entries.source(entry).filter(|source| source.kind == Kind::Lines);
        source.is_some_and(|index| line_of(index, entry).is_none_or(|(warc, _)| warc.is_none()))
    }

    /// The record of an entry, if it can be read.
    fn record(&self, entry: &Entry, payload_bytes_max: u64) -> Option<LoadedRecord> {
        let source = self.entries.source(entry)?;
        let (path, offset) = match source.kind {
            Kind::Warc => (source.path.clone(), source.base.checked_add(entry.offset)?),
            // The WARC file may have been put beside the index since.
            Kind::Lines => {
                let (warc, offset) = line_of(source, entry)?;
                (warc?, offset)
            }
        };
        let record = warc::read_at(&path, offset, payload_bytes_max.saturating_add(HEAD_BYTES_MAX)).ok()?;
        Some(record.without_chunks())
    }
}

/// The WARC file that the line of an entry names, if it is there now, and where the record begins in it. `None` if the index has no such
/// line any more.
fn line_of(index: &Source, entry: &Entry) -> Option<(Option<PathBuf>, u64)> {
    let line = cdxj::line_at(&index.path, entry.offset)?;
    let warc = match sources::named(&index.path, &line.filename) {
        Named::File(warc) => Some(warc),
        Named::Link(_) | Named::Nothing => None,
    };
    Some((warc, line.offset))
}

/// Whether a record has the payload with this digest.
fn has(record: &LoadedRecord, digest: PayloadDigest) -> bool {
    Digest::of(record.http_parts().1).as_bytes() == &digest.0
}

fn held_by(record: &LoadedRecord) -> Option<Held> {
    let header = &record.header;
    let date = header.date()?.to_owned();
    let at = Timestamp::from_rfc3339(&date)?;
    Some(Held { url: header.target_uri()?.to_owned(), at, date, id: header.record_id().map(str::to_owned) })
}
