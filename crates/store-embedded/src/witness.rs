//! The number of the last acknowledged batch, in a file of its own beside the engine.
//!
//! The engine ends the replay of its journal silently at a batch it cannot read, wherever that is. The witness tells a
//! torn last batch, which nobody was promised, from the loss of acknowledged ones. It is written after each commit and
//! never synced: after a loss of power it may be older than the engine, which is harmless, but never newer.

use std::fs::File;
use std::io::{Read, Seek, Write};
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
        let failed = |error| error::system(dir, "opening the witness", error);
        let mut options = File::options();
        let mut file = fresh::open(options.read(true).write(true).create(true), &dir.join(FILE)).map_err(failed)?;
        let mut bytes = Vec::new();
        (&mut file).take(9).read_to_end(&mut bytes).map_err(failed)?;
        let sequence = <[u8; 8]>::try_from(bytes).ok().map(u64::from_be_bytes);
        Ok((Witness { file }, sequence))
    }

    /// Notes that the batch with this number is acknowledged.
    pub(crate) fn note(&mut self, sequence: u64) -> std::io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(&sequence.to_be_bytes())
    }
}
