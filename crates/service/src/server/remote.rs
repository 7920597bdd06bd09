//! The segments of a crawl by several workers, as a server reads them: what is sealed on shared storage, and what is not with the worker
//! that writes it.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use replay::Source;
use shared_archive::SharedArchive;
use store::Segment;
use store_postgres::cluster::{Control, SegmentPlace};
use tokio::runtime::Handle;
use warc::ReadError;

use crate::queries::{Coordinator, Members, PIECE_BYTES_MAX, PieceRequest, QueryError};

/// Bytes of the first piece of a record; each further one has four times as many, up to [`PIECE_BYTES_MAX`].
const FIRST_PIECE_BYTES: u64 = 256 << 10;
/// Bytes of segments that one question may read.
const BYTES_READ_MAX: u64 = 128 << 20;
/// How often a piece is looked for: a segment may be sealed between two looks.
const LOOKS_MAX: u32 = 3;

/// What reads segments for one question.
pub(super) struct Remote<'a> {
    control: &'a Control,
    archive: Arc<SharedArchive>,
    coordinator: Coordinator,
    runtime: Handle,
    bytes_left: AtomicU64,
}

impl<'a> Remote<'a> {
    /// Reads where `control` says. It is for a thread that may wait, within this runtime.
    pub(super) fn new(
        control: &'a Control,
        archive: Arc<SharedArchive>,
        coordinator: Coordinator,
        runtime: Handle,
    ) -> Self {
        Remote { control, archive, coordinator, runtime, bytes_left: AtomicU64::new(BYTES_READ_MAX) }
    }

    /// Bytes of a segment, at least one.
    fn piece(&self, segment: &Segment, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let left = self.bytes_left.load(Ordering::Relaxed);
        let bytes = bytes.min(left);
        if bytes == 0 {
            return Err(io::Error::other(format!(
                "more than {BYTES_READ_MAX} bytes of the archive would be read: `argiope inspect warc` reads the record"
            )));
        }
        let piece = self.look(segment, offset, bytes)?;
        if piece.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.bytes_left.fetch_sub(piece.len() as u64, Ordering::Relaxed);
        Ok(piece)
    }

    fn look(&self, segment: &Segment, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        for _ in 0..LOOKS_MAX {
            match self.control.segment_at(segment.serial).map_err(io::Error::other)? {
                SegmentPlace::Shared => {
                    let piece = self.archive.piece(&segment.name, offset..offset + bytes).map_err(io::Error::other)?;
                    return piece.ok_or_else(|| {
                        let what = format!("it is not in {}", self.archive.url());
                        io::Error::new(io::ErrorKind::NotFound, what)
                    });
                }
                SegmentPlace::With(worker) => {
                    if let Some(piece) = self.ask(&worker, segment, offset, bytes)? {
                        return Ok(piece);
                    }
                }
                SegmentPlace::Lost => return Err(io::Error::other(LOST)),
            }
        }
        Err(io::Error::other("the worker that writes it does not have it"))
    }

    /// The same of the worker that writes the segment; `None` if it does not have it any more.
    fn ask(&self, worker: &str, segment: &Segment, offset: u64, bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let bytes = bytes.min(PIECE_BYTES_MAX);
        let request = PieceRequest { segment: segment.name.clone(), offset, bytes };
        let members = || async {
            match self.control.segment_at(segment.serial)? {
                SegmentPlace::Lost => Err(QueryError::Failed(LOST.to_owned()).into()),
                _ => Ok(Members { workers: vec![format!("http://{worker}")], segments: Vec::new() }),
            }
        };
        let piece = self.runtime.block_on(self.coordinator.ask(&request, members)).map_err(io::Error::other)?;
        piece.bytes(bytes).map_err(io::Error::other)
    }
}

/// The message for a segment whose worker is gone.
const LOST: &str = "the worker that wrote it is gone, and had not sealed it: the URL is visited again";

impl Source for Remote<'_> {
    fn name(&self, segment: &Segment) -> String {
        segment.name.clone()
    }

    fn open(&self, segment: &Segment, offset: u64) -> Result<Box<dyn BufRead + '_>, ReadError> {
        let piece = Vec::new();
        let bytes = FIRST_PIECE_BYTES;
        Ok(Box::new(Pieces { remote: self, segment: segment.clone(), offset, bytes, piece, taken: 0 }))
    }
}

/// A segment from some place on, piece by piece, to its committed end.
struct Pieces<'a> {
    remote: &'a Remote<'a>,
    segment: Segment,
    /// Where the next piece begins, and how many bytes it may have.
    offset: u64,
    bytes: u64,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Pieces<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let left = self.segment.length.saturating_sub(self.offset);
        if self.taken >= self.piece.len() && left > 0 {
            self.piece = self.remote.piece(&self.segment, self.offset, self.bytes.min(left))?;
            self.taken = 0;
            self.offset += self.piece.len() as u64;
            self.bytes = (self.bytes * 4).min(PIECE_BYTES_MAX);
        }
        Ok(&self.piece[self.taken.min(self.piece.len())..])
    }

    fn consume(&mut self, amount: usize) {
        self.taken += amount;
    }
}
