//! How far a dataset has rows of the archive.

use std::fmt;

use printable::counted;
use settings::units::human_bytes;

/// What a dataset has rows of, by segments of the archive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Segments.
    pub segments: u64,
    /// Those of which rows are missing, or count no more.
    pub lacking: u64,
    /// Bytes of the segments, as far as they are committed.
    pub bytes: u64,
    /// Those of them of which no rows are there.
    pub bytes_lacking: u64,
}

impl fmt::Display for Covered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Covered { segments, lacking, bytes, bytes_lacking } = *self;
        match lacking {
            0 => f.write_str("rows of URLs without a record, and the shortest paths, may be out of date"),
            _ => write!(
                f,
                "it lacks rows of {lacking} of {} ({} of {} of the archive), and perhaps of URLs without a record",
                counted(segments, "segment"),
                human_bytes(bytes_lacking),
                human_bytes(bytes)
            ),
        }
    }
}
