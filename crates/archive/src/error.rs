//! An error of the archive.

use std::path::Path;

use store::StoreError;
use warc::SegmentError;

/// An error of the archive.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A segment cannot be written.
    #[error("{path}: {source}")]
    Segment {
        /// The segment.
        path: String,
        /// What happened.
        source: SegmentError,
    },
    /// There is no serial number for a new segment.
    #[error("no serial number for a segment: {0}")]
    Serial(#[source] StoreError),
    /// The directory cannot be read or changed.
    #[error("{path}: {source}")]
    Directory {
        /// The directory or file.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
    /// The index of a segment cannot be made.
    #[error("index of {path}: {detail}")]
    Index {
        /// The segment.
        path: String,
        /// What happened.
        detail: String,
    },
    /// There is an archive, and the state is empty. The way out depends on where the state lies, which the caller knows.
    #[error(
        "{dir} holds {segments} segments ({bytes} bytes), but the state of the crawl is empty: it was lost or removed"
    )]
    StateLost {
        /// The archive's directory.
        dir: String,
        /// How many segments there are.
        segments: usize,
        /// How long they are together.
        bytes: u64,
    },
    /// The archive and the state are of different crawls. The way out depends on where the state lies, which the caller knows.
    #[error("{dir} holds {segments} segments ({bytes} bytes) of another crawl than the state")]
    OfAnotherCrawl {
        /// The archive's directory.
        dir: String,
        /// How many segments there are.
        segments: usize,
        /// How long they are together.
        bytes: u64,
    },
    /// The segment that is written was removed, replaced or cut from outside.
    #[error(
        "{path}: another program removed, replaced or cut the file while it was written: put it back if it was moved; \
         `argiope check --repair` gives up what is lost, and the next round visits those pages again"
    )]
    Meddled {
        /// The segment.
        path: String,
    },
    /// A segment that the state refers to was changed from outside.
    #[error(
        "{path} has no end of a record at byte {length}, up to which the state knows it: put back the file as it was; \
         `argiope check --repair` looks for its records"
    )]
    Changed {
        /// The segment.
        path: String,
        /// Its committed length.
        length: u64,
    },
    /// A segment that the state refers to is missing or shorter than before.
    #[error(
        "{path} {}, but the state points into {expected} bytes of it: put the whole file back; `argiope check --repair` \
         gives up what is lost, and the next round visits those pages again",
        has(*found)
    )]
    Lost {
        /// The segment.
        path: String,
        /// Its committed length.
        expected: u64,
        /// Its length; `None` where it is missing.
        found: Option<u64>,
    },
}

fn has(found: Option<u64>) -> String {
    found.map_or_else(|| "is missing".to_owned(), |bytes| format!("has {bytes} bytes"))
}

pub(super) fn directory(path: &Path, source: std::io::Error) -> ArchiveError {
    ArchiveError::Directory { path: path.display().to_string(), source }
}

pub(super) fn not_indexed(segment: &Path, error: &dyn std::fmt::Display) -> ArchiveError {
    ArchiveError::Index { path: segment.display().to_string(), detail: error.to_string() }
}

pub(super) fn failed(path: &Path, source: SegmentError) -> ArchiveError {
    ArchiveError::Segment { path: path.display().to_string(), source }
}
