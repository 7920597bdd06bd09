//! A file on its way to its name.

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::errors::ParquetError;

use crate::DatasetError;
use crate::layout::unfinished;

/// Where a file is to be, and where it is until it is whole.
pub(crate) struct Target {
    path: PathBuf,
    unfinished: PathBuf,
}

impl Target {
    /// The file at a path, whose directory is made.
    pub(crate) fn of(path: PathBuf) -> Result<Self, DatasetError> {
        let target = Target { unfinished: unfinished(&path), path };
        let dir = target.path.parent().unwrap_or(Path::new(""));
        if let Some(root) = dir.parent() {
            std::fs::create_dir_all(root).map_err(|error| DatasetError::io(root, error))?;
        }
        fresh::directory(dir).map_err(|error| DatasetError::io(dir, error))?;
        Ok(target)
    }

    /// Begins the file under the name that it has until it is whole.
    pub(crate) fn create(&self) -> Result<File, DatasetError> {
        fresh::create(&self.unfinished).map_err(|error| DatasetError::io(&self.unfinished, error))
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn unfinished(&self) -> &Path {
        &self.unfinished
    }

    pub(crate) fn failed(&self, error: ParquetError) -> DatasetError {
        match error {
            ParquetError::External(source) => match source.downcast::<std::io::Error>() {
                Ok(source) => DatasetError::io(&self.unfinished, *source),
                Err(source) => DatasetError::format(&self.unfinished, source),
            },
            error => DatasetError::format(&self.unfinished, error),
        }
    }

    /// The file is whole, but has not its name yet.
    pub(crate) fn whole(self, file: &File) -> Result<Self, DatasetError> {
        file.sync_all().map_err(|error| DatasetError::io(&self.unfinished, error))?;
        Ok(self)
    }

    pub(crate) fn publish(self) -> Result<(), DatasetError> {
        std::fs::rename(&self.unfinished, &self.path).map_err(|error| DatasetError::io(&self.path, error))
    }
}
