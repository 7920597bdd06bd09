//! What can go wrong with the files of a dataset.

use std::path::Path;

/// An error of the dataset; every one names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// A file or directory cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
    /// A file is no Parquet file, or not one of ours.
    #[error("{path}: {detail}")]
    Format {
        /// The file.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A file is of another version of the schema.
    #[error(
        "{path}: has version {found} of the table, this argiope reads version {expected}: `argiope derive` makes it again"
    )]
    Version {
        /// The file.
        path: String,
        /// The version it says it has.
        found: String,
        /// The version known here.
        expected: u32,
    },
}

impl DatasetError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        DatasetError::Io { path: path.display().to_string(), source }
    }

    pub(crate) fn format(path: &Path, detail: impl ToString) -> Self {
        DatasetError::Format { path: path.display().to_string(), detail: detail.to_string() }
    }
}
