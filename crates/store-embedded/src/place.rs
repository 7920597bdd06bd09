//! Where the engine writes.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A directory by a path that leads to it as long as this value lives.
///
/// The engine opens its files by path, whenever its thread writes out, merges or removes a table. The directory may be moved or
/// removed meanwhile, and another store may begin in its place, whose files must stay as they are.
pub(crate) struct Place {
    path: PathBuf,
    name: PathBuf,
    _open: Option<File>,
}

impl Place {
    /// Holds the directory `dir` open. Its path leads through the descriptor (proc_pid_fd(5)), and by name where there is no `/proc`.
    ///
    /// # Errors
    /// It is not there, or may not be opened.
    pub(crate) fn hold(dir: &Path) -> io::Result<Self> {
        let open = File::open(dir)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        let path = if path.is_dir() { path } else { dir.to_owned() };
        Ok(Place { path, name: dir.to_owned(), _open: Some(open) })
    }

    /// A directory that nobody else knows of.
    pub(crate) fn own(dir: &Path) -> Self {
        Place { path: dir.to_owned(), name: dir.to_owned(), _open: None }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path by which people know the directory.
    pub(crate) fn name(&self) -> &Path {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_is_the_directory_that_it_was_wherever_that_is() {
        let root = tempfile::tempdir().expect("a directory");
        let (dir, moved) = (root.path().join("store"), root.path().join("moved"));
        fs::create_dir(&dir).expect("a directory");
        let place = Place::hold(&dir).expect("held");
        fs::rename(&dir, &moved).expect("moved");
        fs::create_dir(&dir).expect("another");
        assert_eq!(place.name(), dir);
        fs::write(place.path().join("file"), "mine").expect("written");
        assert!(moved.join("file").exists() && !dir.join("file").exists());
        fs::remove_dir_all(&moved).expect("removed");
        fs::write(place.path().join("file"), "mine").expect_err("there is no such place");
        assert!(!dir.join("file").exists());
    }
}
