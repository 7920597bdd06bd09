//! Where the segments of an archive are read.

use std::io::BufRead;
use std::path::PathBuf;

use against::{Against, AgainstError};
use store::Segment;
use warc::ReadError;

/// The segments of an archive.
pub trait Source: Send + Sync {
    /// What an error calls a segment.
    fn name(&self, segment: &Segment) -> String;

    /// The bytes of a segment from `offset` on.
    ///
    /// # Errors
    /// They cannot be read.
    fn open(&self, segment: &Segment, offset: u64) -> Result<Box<dyn BufRead + '_>, ReadError>;

    /// What earlier archives hold (`--against`), if there is any.
    ///
    /// # Errors
    /// It cannot be looked up.
    fn against(&self) -> Result<Option<Against>, AgainstError> {
        Ok(None)
    }
}

/// The segments in a directory.
pub(crate) struct Dir(pub(crate) PathBuf);

impl Source for Dir {
    fn name(&self, segment: &Segment) -> String {
        self.0.join(&segment.name).display().to_string()
    }

    fn open(&self, segment: &Segment, offset: u64) -> Result<Box<dyn BufRead + '_>, ReadError> {
        Ok(Box::new(warc::open_at(self.0.join(&segment.name), offset)?))
    }

    fn against(&self) -> Result<Option<Against>, AgainstError> {
        Against::open(&self.0.join(against::DIR))
    }
}
