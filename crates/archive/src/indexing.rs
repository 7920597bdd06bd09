//! The index of a segment: it is made beside the segment while that is written, or read from it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use warc::IndexWriter;

use crate::ArchiveError;
use crate::error::not_indexed;
use crate::names;

/// The index of the segment that is written.
pub(crate) enum Index {
    /// Made while the segment is written.
    Growing(Box<IndexWriter>),
    /// Another process began the segment: it must be read for its index. The index that lies there lists it up to this process.
    OfBefore,
    /// The same, and this process has written to the segment.
    Removed,
}

/// A segment that has ended. Its index is begun when the state knows all of it: so what has an index was committed once, whatever the state
/// says later ([`unknown`](crate::unknown)).
pub(crate) struct Ended {
    pub(crate) serial: u32,
    pub(crate) length: u64,
    pub(crate) path: PathBuf,
    pub(crate) index: Index,
    /// Sends when the index is there.
    pub(crate) done: SyncSender<()>,
}

/// An index that is being made.
pub(crate) enum Indexing {
    Running(JoinHandle<Result<(), ArchiveError>>),
    Done(Result<(), ArchiveError>),
}

impl Indexing {
    /// Begins the index of a segment that has ended, while the next one is written. Where no thread can be had, it is made at once.
    pub(crate) fn begin(ended: Ended) -> Self {
        let ended = Arc::new(Mutex::new(Some(ended)));
        let taken = Arc::clone(&ended);
        let thread = std::thread::Builder::new().spawn(move || write_index_of(&taken));
        thread.map_or_else(|_| Indexing::Done(write_index_of(&ended)), Indexing::Running)
    }

    pub(crate) fn is_finished(&self) -> bool {
        match self {
            Indexing::Running(thread) => thread.is_finished(),
            Indexing::Done(_) => true,
        }
    }
}

/// Waits for indexes.
pub(crate) fn join(indexing: Vec<Indexing>) -> Result<(), ArchiveError> {
    indexing.into_iter().try_for_each(|indexing| match indexing {
        Indexing::Running(thread) => thread.join().unwrap_or(Ok(())),
        Indexing::Done(done) => done,
    })
}

/// Writes the index of a segment that has ended, unless another has taken it.
fn write_index_of(ended: &Mutex<Option<Ended>>) -> Result<(), ArchiveError> {
    let Some(ended) = ended.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
    let Ended { path, index, done, .. } = ended;
    match index {
        Index::Growing(index) => index.finish().map_err(|error| not_indexed(&path, &error))?,
        Index::OfBefore if index_path(&path).exists() => {}
        Index::OfBefore | Index::Removed => write_index(&path)?,
    }
    // Nobody may wait for it.
    let _ = done.send(());
    Ok(())
}

/// Writes the CDXJ index of a segment beside it.
///
/// # Errors
/// The segment cannot be read to its end, or the index cannot be written.
pub fn write_index(segment: &Path) -> Result<(), ArchiveError> {
    warc::write_index(segment, index_path(segment)).map_err(|error| not_indexed(segment, &error))
}

/// The path of the index of a segment: `NAME.cdxj` beside `NAME.warc.gz`.
#[must_use]
pub fn index_path(segment: &Path) -> PathBuf {
    let name = segment.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    segment.with_file_name(format!("{}.cdxj", names::stem_of(&name)))
}
