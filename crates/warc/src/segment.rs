//! Writing segments: WARC files that grow record by record, up to a size, and survive a crash.

use crate::date::timestamp14;
use crate::header::HEADER_BYTES_MAX;
use crate::reader::Location;
use crate::record::Record;
use deflate::{Compression, Encoder};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The length at which a segment is full and the next one begins, by custom of the archives
/// (WARC 1.1, Annex C.2). The caller decides; the last record may go over it.
pub const SEGMENT_BYTES_MAX: u64 = 1_000_000_000;

/// Bytes of records that wait to be written together: one call of the system for some fifty pages.
const PENDING_BYTES_MAX: usize = 256 * 1024;

/// Payloads of at least this many bytes that are compressed already are not compressed again, unless the archive is to be small: the header
/// would have gained some 200 bytes.
const PACKED_BYTES_MIN: usize = 4 * 1024;

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
    /// The record was not taken (disk full, for example), or those taken before could not be written
    /// yet. The segment ends with a whole record, so it is valid, and can be written to again.
    #[error("cannot write to the archive: {0}")]
    Write(#[source] io::Error),
    /// The same, and what was written of a record could not be cut off either; that is tried again
    /// before anything else is written.
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
/// Records wait in memory, up to 256 kB of them, until [`flush`](Self::flush) or
/// [`sync`](Self::sync). Between two calls the segment is a valid WARC file. What was not synced may
/// be lost; the caller notes the synced length and passes it to
/// [`open_for_append`](Self::open_for_append) after a restart.
pub struct SegmentWriter<F = File> {
    file: F,
    encoder: Encoder,
    pending: Pending,
    /// The length with all records taken.
    len: u64,
    has_partial_record: bool,
    sync_failed: bool,
}

impl SegmentWriter<File> {
    /// Creates a segment that does not exist yet. Its name is durable before this returns. All is written at the end of the file: where
    /// another program cuts it, no hole hides that.
    pub fn create(path: &Path) -> Result<SegmentWriter, SegmentError> {
        let open = || {
            let file = OpenOptions::new().append(true).create_new(true).open(path)?;
            crate::replace::sync_parent(path)?;
            Ok(file)
        };
        let file = open().map_err(|source| SegmentError::Open { path: path.to_owned(), source })?;
        Ok(SegmentWriter::new(file, 0))
    }

    /// Opens a segment to write on from `committed_len` bytes; what is behind is cut off. A symbolic link is refused.
    pub fn open_for_append(path: &Path, committed_len: u64) -> Result<SegmentWriter, SegmentError> {
        let open_error = |source| SegmentError::Open { path: path.to_owned(), source };
        let mut file = fresh::open(OpenOptions::new().append(true), path).map_err(open_error)?;
        let found = file.metadata().map_err(open_error)?.len();
        if found < committed_len {
            let path = path.to_owned();
            return Err(SegmentError::ShorterThanCommitted { path, found, committed: committed_len });
        }
        file.truncate(committed_len).map_err(open_error)?;
        Ok(SegmentWriter::new(file, committed_len))
    }

    /// Whether the file at `path` is still the one that is written, with all that was.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub fn is_at(&self, path: &Path) -> io::Result<bool> {
        let own = self.file.metadata()?;
        match std::fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino()) && own.len() == self.pending.on_file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl<F: SegmentFile> SegmentWriter<F> {
    /// Writes to `file`, which holds `len` bytes of whole records and stands at their end.
    pub fn new(file: F, len: u64) -> SegmentWriter<F> {
        let pending = Pending { bytes: Vec::with_capacity(PENDING_BYTES_MAX), on_file: len };
        let encoder = Encoder::new(Compression::default());
        SegmentWriter { file, encoder, pending, len, has_partial_record: false, sync_failed: false }
    }

    /// Compresses the records to come like this, where it was [`Compression::Fast`] before. A segment may have records of both kinds.
    pub fn set_compression(&mut self, compression: Compression) {
        self.encoder = Encoder::new(compression);
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
        self.cut_partial_record().map_err(SegmentError::Write)?;
        let [head, payload, end] = record.body_parts();
        let parts = [&header, head, payload, end];
        let mut out = Through { pending: &mut self.pending, file: &mut self.file };
        let written = match record.is_packed() && payload.len() >= PACKED_BYTES_MIN {
            true => self.encoder.packed_member(&parts, &mut out),
            false => self.encoder.member(&parts, &mut out),
        };
        written.map_err(|write| self.give_up(write))?;
        let location = Location { offset: self.len, length: self.pending.end() - self.len };
        self.len = self.pending.end();
        Ok(location)
    }

    /// Writes what waits in memory. A reader of the file then sees all records.
    pub fn flush(&mut self) -> Result<(), SegmentError> {
        self.cut_partial_record().map_err(SegmentError::Write)?;
        self.pending.flush(&mut self.file).map_err(|write| self.give_up(write))
    }

    /// Forgets what was not written of the last record, and cuts off what was.
    fn give_up(&mut self, write: io::Error) -> SegmentError {
        self.has_partial_record = true;
        self.pending.shorten(self.len);
        match self.cut_partial_record() {
            Ok(()) => SegmentError::Write(write),
            Err(truncate) => SegmentError::WriteAndTruncate { write, truncate },
        }
    }

    fn cut_partial_record(&mut self) -> io::Result<()> {
        if self.has_partial_record {
            self.file.truncate(self.pending.on_file)?;
            self.has_partial_record = false;
        }
        Ok(())
    }

    /// Makes all records durable (written, then fdatasync) and returns the durable length.
    pub fn sync(&mut self) -> Result<u64, SegmentError> {
        if self.sync_failed {
            return Err(SegmentError::SyncFailedBefore);
        }
        self.flush()?;
        self.file.sync().map_err(|error| {
            self.sync_failed = true;
            SegmentError::Sync(error)
        })?;
        Ok(self.len)
    }
}

/// Bytes that wait to be written.
struct Pending {
    bytes: Vec<u8>,
    /// The length of the file without them.
    on_file: u64,
}

impl Pending {
    /// The length of the file with them.
    fn end(&self) -> u64 {
        self.on_file + self.bytes.len() as u64
    }

    fn flush(&mut self, file: &mut impl Write) -> io::Result<()> {
        file.write_all(&self.bytes)?;
        self.on_file = self.end();
        self.bytes.clear();
        Ok(())
    }

    /// Forgets what is behind `len`. If some of that is on the file, it has to be cut.
    fn shorten(&mut self, len: u64) {
        self.on_file = self.on_file.min(len);
        self.bytes.truncate((len - self.on_file) as usize);
    }
}

/// Writes to those that wait, and those to the file when they are many.
struct Through<'a, F> {
    pending: &'a mut Pending,
    file: &'a mut F,
}

impl<F: Write> Write for Through<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pending.bytes.len() + bytes.len() > PENDING_BYTES_MAX {
            self.flush()?;
        }
        self.pending.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pending.flush(self.file)
    }
}
