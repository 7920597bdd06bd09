//! The engine's errors in the words of the trait.

use std::error::Error;
use std::fs;
use std::io;
use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
use std::path::Path;

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
        fjall::Error::JournalRecovery(error) => StoreError::Damaged { table: "journal", detail: error.to_string() },
        // The engine says this after a failure in its background thread, without the cause.
        fjall::Error::Poisoned if !has_space(place.path()) => full(place.name()),
        error => backend(place.name(), doing, Box::new(error)),
    }
}

/// An error of the system met while `doing` something to the store in `dir`.
pub(crate) fn system(dir: &Path, doing: &'static str, error: io::Error) -> StoreError {
    backend(dir, doing, Box::new(error))
}

/// The same of a file or directory, which it names.
pub(crate) fn system_at(path: &Path, doing: &'static str, error: &io::Error) -> StoreError {
    system(path, doing, io::Error::new(error.kind(), format!("{}: {error}", path.display())))
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
