//! What can go wrong with an export. The crawl is never changed by one.

use std::path::Path;

use dataset::DatasetError;
use replay::ReplayError;
use sort::SortError;
use store::StoreError;

/// An error of an export; it says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The state cannot be read.
    #[error("state: {0}")]
    Store(#[from] StoreError),
    /// A record cannot be read back from the archive.
    #[error("archive of {url}: {source}")]
    Replay {
        /// The URL of the record.
        url: String,
        /// What happened.
        source: ReplayError,
    },
    /// The dataset cannot be read.
    #[error("dataset: {0}")]
    Dataset(#[from] DatasetError),
    /// What is sorted does not fit on the disk.
    #[error("{0}")]
    Sort(#[from] SortError),
    /// The target, or another file, cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
    /// Something else, in words.
    #[error("{0}")]
    Other(String),
}

impl ExportError {
    /// An error of a file.
    #[must_use]
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        ExportError::Io { path: path.display().to_string(), source }
    }
}
