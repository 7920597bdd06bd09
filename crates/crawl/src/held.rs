//! Whether the directories of a crawl are still those that it began in.
//!
//! They may be removed or moved while it runs, and another crawl may begin in their place. Writing by path would then add to the
//! other crawl's files.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Directories, identified by device and inode.
#[derive(Clone, Debug)]
pub struct Held {
    places: Arc<Vec<(PathBuf, Identity)>>,
}

/// The identity of a file among all existing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of the file at a path; for a symbolic link, of the link.
    ///
    /// # Errors
    /// There is no file, or it cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(Identity { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// A directory no longer exists, or another one is in its place.
#[derive(Debug, thiserror::Error)]
#[error("{path} was removed, moved or replaced while this crawl ran: nothing more is written there")]
pub struct Replaced {
    path: String,
}

impl Held {
    /// Identifies the existing ones of these directories.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn of(directories: impl IntoIterator<Item = PathBuf>) -> io::Result<Self> {
        let mut places = Vec::new();
        for path in directories {
            match Identity::of(&path) {
                Ok(identity) => places.push((path, identity)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Held { places: Arc::new(places) })
    }

    /// Checks that all of them are still in place.
    ///
    /// # Errors
    /// One is not.
    pub fn check(&self) -> Result<(), Replaced> {
        let is_gone = |(path, identity): &&(PathBuf, Identity)| Identity::of(path).ok().as_ref() != Some(identity);
        match self.places.iter().find(is_gone) {
            Some((path, _)) => Err(Replaced { path: path.display().to_string() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_removed_or_replaced_is_noticed() {
        let root = tempfile::tempdir().expect("a directory");
        let (inner, moved) = (root.path().join("archive"), root.path().join("moved"));
        let hold = || Held::of([root.path().to_owned(), root.path().join("archive"), root.path().join("state")]);
        hold().expect("held").check().expect("there is no archive to lose");
        fs::create_dir(&inner).expect("a directory");
        let held = hold().expect("held");
        held.check().expect("as it was");
        fs::rename(&inner, &moved).expect("moved");
        let error = held.check().expect_err("gone").to_string();
        let expect = format!(
            "{} was removed, moved or replaced while this crawl ran: nothing more is written there",
            inner.display()
        );
        assert_eq!(error, expect);
        fs::create_dir(&inner).expect("another");
        held.check().expect_err("another is in its place");
        fs::remove_dir(&inner).expect("removed");
        fs::rename(&moved, &inner).expect("moved back");
        held.check().expect("as it was");
    }
}
