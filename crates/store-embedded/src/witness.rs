//! The number of the last acknowledged batch, in a file of its own beside the engine.
//!
//! The engine ends the replay of its journal silently at a batch it cannot read, wherever that is. The witness tells a
//! torn last batch, which nobody was promised, from the loss of acknowledged ones. It is written after each commit and
//! never synced: after a loss of power it may be older than the engine, which is harmless, but never newer.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use store::StoreError;

use crate::error;

/// The file's name in the store's directory.
pub(crate) const FILE: &str = "acknowledged";

/// The open file.
pub(crate) struct Witness {
    file: File,
}

impl Witness {
    /// Opens the witness of the store in `dir`, and says what it remembers; `None` where it remembers nothing.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Option<u64>), StoreError> {
        let path = dir.join(FILE);
        let opened = fresh::open(File::options().read(true).write(true).create(true), &path);
        let file = opened.map_err(|error| failed(&path, &error))?;
        let sequence = sequence_in(&file).map_err(|error| failed(&path, &error))?;
        Ok((Witness { file }, sequence))
    }

    /// Notes that the batch with this number is acknowledged.
    pub(crate) fn note(&mut self, sequence: u64) -> io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(&sequence.to_be_bytes())
    }
}

/// What the witness of the store in `dir` remembers, if there is one.
pub(crate) fn read(dir: &Path) -> Result<Option<u64>, StoreError> {
    let path = dir.join(FILE);
    match fresh::open_to_read(&path).and_then(|file| sequence_in(&file)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map_err(|error| failed(&path, &error)),
    }
}

fn sequence_in(file: &File) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    file.take(9).read_to_end(&mut bytes)?;
    Ok(<[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes))
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    error::system_at(path, "opening the witness", error)
}
