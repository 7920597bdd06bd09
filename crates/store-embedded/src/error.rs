//! The engine's errors in the words of the trait.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::io::ErrorKind::{
    AlreadyExists, FileTooLarge, InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound, QuotaExceeded,
    StorageFull, UnexpectedEof,
};
use std::path::{Path, PathBuf};

use fjall::LsmError;
use store::StoreError;

use crate::place::Place;

/// Bytes written to learn whether there is space: more than is left over in a block that is already there.
const PROBE_BYTES: usize = 1 << 20;

/// The version of the engine's own files.
const ENGINE_FORMAT_VERSION: u32 = 3;

/// An error of the engine met while `doing` something to the store in `dir`. `place` is where the engine writes: there, or in a mirror.
pub(crate) fn engine(dir: &Path, place: &Place, doing: &'static str, error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Locked => StoreError::InUse { place: dir.display().to_string(), by: String::new() },
        fjall::Error::InvalidVersion(Some(found)) => StoreError::Version {
            place: dir.display().to_string(),
            found: u8::from(found).into(),
            expected: ENGINE_FORMAT_VERSION,
        },
        // The engine says this after a failure in its background thread, without the cause.
        fjall::Error::Poisoned if !has_space(place.path()) => full(place.name()),
        error @ (fjall::Error::Poisoned | fjall::Error::KeyspaceDeleted) => {
            backend(place.name(), doing, Box::new(error))
        }
        // The engine names neither the file nor the directory, and shows its errors as code.
        fjall::Error::Io(error) | fjall::Error::Storage(LsmError::Io(error)) => {
            match is_damage(&error) && place.path().is_dir() {
                true => damaged_files(dir, "a file is missing, cut or overwritten"),
                false => system_at(place.name(), doing, &error),
            }
        }
        fjall::Error::JournalRecovery(_) => damaged_files(dir, "its journal is overwritten"),
        fjall::Error::Storage(LsmError::ChecksumMismatch { .. }) => {
            damaged_files(dir, "a file has another content than was written (its checksum says so)")
        }
        fjall::Error::InvalidVersion(None) => damaged_files(dir, "engine/version is cut or overwritten"),
        _ => damaged_files(dir, "a file is missing, cut or overwritten"),
    }
}

/// An error of the system that says of a file that it is not what was written: the engine makes and reads all of them itself.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        AlreadyExists | InvalidData | InvalidInput | IsADirectory | NotADirectory | NotFound | UnexpectedEof
    )
}

/// The store in `dir`, the directory `state` of a crawl, is damaged.
pub(crate) fn damaged_files(dir: &Path, detail: &str) -> StoreError {
    let root = dir.parent().filter(|root| *root != Path::new("")).unwrap_or(Path::new("."));
    StoreError::DamagedFiles {
        place: dir.display().to_string(),
        detail: detail.to_owned(),
        way_out: format!(
            "move it away, and `argiope adopt {}` makes another state from the crawl's archive, without fetching again",
            root.display()
        ),
    }
}

/// An error of the system met while `doing` something to the store in `dir`.
pub(crate) fn system(dir: &Path, doing: &'static str, error: io::Error) -> StoreError {
    backend(dir, doing, Box::new(error))
}

/// The same of a file or directory, which it names.
pub(crate) fn system_at(path: &Path, doing: &'static str, error: &io::Error) -> StoreError {
    let source = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    };
    backend(path, doing, Box::new(At { path: path.to_owned(), source }))
}

/// An error of the system, with its place.
#[derive(Debug)]
struct At {
    path: PathBuf,
    source: io::Error,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.source)
    }
}

impl Error for At {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}

fn backend(dir: &Path, doing: &'static str, source: Box<dyn Error + Send + Sync>) -> StoreError {
    if is_full(&*source) { full(dir) } else { StoreError::Backend { doing, source } }
}

fn full(dir: &Path) -> StoreError {
    StoreError::Full { place: dir.display().to_string() }
}

/// True where an error or one of its sources says that there is no space: the disk is full, a quota is used up, or a
/// file may not grow further.
pub(crate) fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(StorageFull | QuotaExceeded | FileTooLarge)) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn has_space(dir: &Path) -> bool {
    let path = dir.join("probe");
    let written = fresh::write(&path, &vec![1; PROBE_BYTES]);
    let removed = fs::remove_file(&path);
    written.and(removed).map_or_else(|error| !is_full(&error), |()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_space_is_recognised_anywhere_in_the_chain() {
        let full = || io::Error::from(StorageFull);
        assert!(is_full(&full()));
        assert!(is_full(&io::Error::from(FileTooLarge)));
        assert!(is_full(&fjall::Error::Io(full())));
        assert!(is_full(&fjall::Error::Storage(full().into())));
        assert!(!is_full(&fjall::Error::Io(io::Error::from(io::ErrorKind::NotFound))));
    }
}
