//! Where the files of a dataset lie.

use std::path::{Path, PathBuf};

use crate::DatasetError;
use crate::schema::Table;

/// The name, in place of a segment's, of the file of pages that have no record in the archive.
pub const UNRECORDED: &str = "unrecorded";

/// The directory of a dataset.
#[derive(Clone, Debug)]
pub struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The dataset in a directory, which need not exist yet.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Layout { root: root.into() }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a table for a segment (`NAME.warc.gz`, or [`UNRECORDED`]).
    #[must_use]
    pub fn file(&self, table: Table, segment: &str) -> PathBuf {
        self.root.join(table.as_str()).join(format!("{}.parquet", segment.trim_end_matches(".warc.gz")))
    }

    /// The finished files of a table in the order of their names, which is the order of the segments.
    ///
    /// # Errors
    /// The directory cannot be read. One that is not there has no files.
    pub fn files(&self, table: Table) -> Result<Vec<PathBuf>, DatasetError> {
        let dir = self.root.join(table.as_str());
        let entries = match std::fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(DatasetError::io(&dir, error)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| DatasetError::io(&dir, error))?.path();
            if path.extension().is_some_and(|extension| extension == "parquet") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }

    /// True where there is at least one file of pages.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.files(Table::Pages).is_ok_and(|files| !files.is_empty())
    }
}
