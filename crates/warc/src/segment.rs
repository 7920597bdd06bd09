//! Writing segments: WARC files that grow record by record, up to a size, and survive a crash.

use crate::compress::MemberCompressor;
use crate::date::timestamp14;
use crate::header::HEADER_BYTES_MAX;
use crate::reader::Location;
use crate::record::Record;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The length at which a segment is full and the next one begins, by custom of the archives
/// (WARC 1.1, Annex C.2). The caller decides; the last record may go over it.
pub const SEGMENT_BYTES_MAX: u64 = 1_000_000_000;

/// The name of a segment: `argiope-20261121000000-00000.warc.gz`. `date_ms` is when it was begun,
/// `serial` its number in the crawl.
pub fn segment_name(date_ms: u64, serial: u32) -> String {
    format!("argiope-{}-{serial:05}.warc.gz", timestamp14(date_ms))
}

/// What a segment is written to: something that grows at its end and can be cut.
pub trait SegmentFile: Write {
    /// Cuts everything from `len` on; the next byte is written there.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
    /// Makes all bytes written durable.
    fn sync(&mut self) -> io::Result<()>;
}

impl SegmentFile for File {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)?;
        self.seek(SeekFrom::Start(len)).map(drop)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Why a segment cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The file cannot be created or opened.
    #[error("cannot open archive segment {path}: {source}")]
    Open {
        /// Its path.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is shorter than the state says, so records that were durable are gone.
    #[error("archive segment {path} has {found} bytes, but {committed} were committed")]
    ShorterThanCommitted {
        /// Its path.
        path: PathBuf,
        /// Its length in bytes.
        found: u64,
        /// The length it should at least have.
        committed: u64,
    },
    /// The record was not written (disk full, for example). The segment ends with the record
    /// before, so it is valid, and can be written to again.
    #[error("cannot write to the archive: {0}")]
    Write(#[source] io::Error),
    /// The record was not written, and what was written of it could not be cut off either; that
    /// is tried again before the next record.
    #[error("cannot write to the archive ({write}), nor cut off the partial record ({truncate})")]
    WriteAndTruncate {
        /// Why the record was not written.
        #[source]
        write: io::Error,
        /// Why it was not cut off.
        truncate: io::Error,
    },
    /// The bytes written may never reach the disk. The writer takes no more records, for after a
    /// failed sync nobody knows which of its bytes are durable: open the segment again, with the
    /// committed length.
    #[error("cannot make the archive durable: {0}")]
    Sync(#[source] io::Error),
    /// An earlier sync failed.
    #[error("the archive segment could not be made durable before")]
    SyncFailedBefore,
    /// The header is longer than [`HEADER_BYTES_MAX`]; the record was not written.
    #[error("a record header of {header_bytes} bytes is longer than {HEADER_BYTES_MAX}")]
    HeaderTooLong {
        /// Its length.
        header_bytes: usize,
    },
}

/// Appends records to a segment, one gzip member a record.
///
/// Between two calls the segment is a valid WARC file. What was not [`sync`](Self::sync)ed may
/// be lost in a power failure; the caller notes the synced length and passes it to
/// [`open_for_append`](Self::open_for_append) after a restart.
pub struct SegmentWriter<F = File> {
    file: F,
    compressor: MemberCompressor,
    len: u64,
    has_partial_record: bool,
    sync_failed: bool,
}

impl SegmentWriter<File> {
    /// Creates a segment that does not exist yet. Its name is durable before this returns.
    pub fn create(path: &Path) -> Result<SegmentWriter, SegmentError> {
        let open = || {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            crate::replace::sync_parent(path)?;
            Ok(file)
        };
        let file = open().map_err(|source| SegmentError::Open { path: path.to_owned(), source })?;
        Ok(SegmentWriter::new(file, 0))
    }

    /// Opens a segment to write on from `committed_len` bytes; what is behind is cut off.
    pub fn open_for_append(path: &Path, committed_len: u64) -> Result<SegmentWriter, SegmentError> {
        let open_error = |source| SegmentError::Open { path: path.to_owned(), source };
        let mut file = OpenOptions::new().write(true).open(path).map_err(open_error)?;
        let found = file.metadata().map_err(open_error)?.len();
        if found < committed_len {
            let path = path.to_owned();
            return Err(SegmentError::ShorterThanCommitted { path, found, committed: committed_len });
        }
        file.truncate(committed_len).map_err(open_error)?;
        Ok(SegmentWriter::new(file, committed_len))
    }
}

impl<F: SegmentFile> SegmentWriter<F> {
    /// Writes to `file`, which holds `len` bytes of whole records and stands at their end.
    pub fn new(file: F, len: u64) -> SegmentWriter<F> {
        let compressor = MemberCompressor::new();
        SegmentWriter { file, compressor, len, has_partial_record: false, sync_failed: false }
    }

    /// The length in bytes, of whole records only.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether no record has been written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a record, all of it or nothing.
    pub fn append(&mut self, record: &Record<'_>) -> Result<Location, SegmentError> {
        if self.sync_failed {
            return Err(SegmentError::SyncFailedBefore);
        }
        let header = record.header_bytes();
        if header.len() > HEADER_BYTES_MAX {
            return Err(SegmentError::HeaderTooLong { header_bytes: header.len() });
        }
        if self.has_partial_record {
            self.cut_partial_record().map_err(SegmentError::Write)?;
        }
        let [head, payload, end] = record.body_parts();
        let mut out = Counting { out: &mut self.file, count: 0 };
        match self.compressor.write(&[&header, head, payload, end], record.is_packed(), &mut out) {
            Ok(()) => {
                let location = Location { offset: self.len, length: out.count };
                self.len += location.length;
                Ok(location)
            }
            Err(write) => Err(self.give_up_record(write)),
        }
    }

    fn give_up_record(&mut self, write: io::Error) -> SegmentError {
        self.has_partial_record = true;
        match self.cut_partial_record() {
            Ok(()) => SegmentError::Write(write),
            Err(truncate) => SegmentError::WriteAndTruncate { write, truncate },
        }
    }

    fn cut_partial_record(&mut self) -> io::Result<()> {
        self.file.truncate(self.len)?;
        self.has_partial_record = false;
        Ok(())
    }

    /// Makes all records durable (fdatasync) and returns the durable length.
    pub fn sync(&mut self) -> Result<u64, SegmentError> {
        if self.sync_failed {
            return Err(SegmentError::SyncFailedBefore);
        }
        self.file.sync().map_err(|error| {
            self.sync_failed = true;
            SegmentError::Sync(error)
        })?;
        Ok(self.len)
    }
}

struct Counting<'a, W> {
    out: &'a mut W,
    count: u64,
}

impl<W: Write> Write for Counting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.count += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
