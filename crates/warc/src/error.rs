//! What can go wrong when a WARC file is read.

use std::io;

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read the archive: {0}")]
    Io(#[source] io::Error),
    /// The file was read, and what it holds is no whole record.
    #[error("damaged record at offset {offset}: {damage}")]
    Damaged {
        /// Where the record begins in the file, in bytes.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The record is longer than the caller allows.
    #[error("record at offset {offset} has a block of {block_bytes} bytes, more than {block_bytes_max}")]
    TooLong {
        /// Where the record begins in the file, in bytes.
        offset: u64,
        /// The length the record claims.
        block_bytes: u64,
        /// The limit it exceeds.
        block_bytes_max: u64,
    },
}

impl ReadError {
    /// Takes the damage out of an `io::Error` that [`Damage`] was turned into.
    pub fn from_io(offset: u64, error: io::Error) -> ReadError {
        match Damage::in_io(&error) {
            Some(damage) => ReadError::Damaged { offset, damage: damage.clone() },
            None => ReadError::Io(error),
        }
    }
}

/// What makes a stretch of a file something else than a whole record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// Neither a gzip member nor `WARC/` begins here.
    #[error("no record begins here")]
    NotARecord,
    /// The file ends inside the record.
    #[error("the file ends inside the record")]
    Truncated,
    /// The gzip header uses flags that RFC 1952 reserves, or is longer than any real one.
    #[error("wrong gzip header")]
    GzipHeader,
    /// The compressed data cannot be decompressed.
    #[error("corrupt compressed data")]
    Deflate,
    /// The CRC-32 in the gzip trailer is not the one of the data (RFC 1952 §2.3.1).
    #[error("wrong gzip checksum")]
    Checksum,
    /// The ISIZE in the gzip trailer is not the one of the data (RFC 1952 §2.3.1).
    #[error("wrong length in the gzip trailer")]
    Size,
    /// The record's header has no end within [`HEADER_BYTES_MAX`](crate::HEADER_BYTES_MAX), or the
    /// gzip member ends in it.
    #[error("the record's header has no end")]
    HeaderEnd,
    /// A line of the header is not `name: value`.
    #[error("wrong line in the record's header: {line:?}")]
    HeaderLine {
        /// The beginning of that line.
        line: String,
    },
    /// There is no Content-Length, or it is no number.
    #[error("missing or wrong Content-Length")]
    ContentLength,
    /// The gzip member ends before Content-Length bytes.
    #[error("Content-Length is {declared}, but {missing} bytes of the block are missing")]
    BlockShort {
        /// The Content-Length.
        declared: u64,
        /// How many bytes are not there.
        missing: u64,
    },
    /// The two CRLF that end a record do not follow the block.
    #[error("the block is not followed by CRLF CRLF")]
    RecordEnd,
    /// The gzip member goes on after the record: it holds more than one, or rubbish.
    #[error("the gzip member goes on after its record")]
    MemberGoesOn,
}

impl Damage {
    /// The damage that this error was made from.
    pub(crate) fn in_io(error: &io::Error) -> Option<&Damage> {
        error.get_ref()?.downcast_ref()
    }

    /// Whether a write that was cut off, or a disk that lost blocks, explains it. The other kinds
    /// are the work of the program that wrote the file.
    pub(crate) fn is_broken_write(&self) -> bool {
        matches!(
            self,
            Damage::NotARecord
                | Damage::Truncated
                | Damage::GzipHeader
                | Damage::Deflate
                | Damage::Checksum
                | Damage::Size
        )
    }
}

impl From<Damage> for io::Error {
    fn from(damage: Damage) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, damage)
    }
}
