//! A directory that is there whole or not at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::ExportError;
use crate::pending::temporary;

/// Says that a directory is an export's, and not finished: only such a directory is replaced.
const MARK: &str = ".argiope-export";

/// A directory that is filled under another name first (`NAME.tmp` beside it). What is dropped unfinished is removed; what a
/// killed process left is replaced by the next export to the same place.
pub struct PendingDir {
    temporary: PathBuf,
    target: PathBuf,
    is_finished: bool,
}

impl PendingDir {
    /// Begins to fill a directory, which must not exist or be empty.
    ///
    /// # Errors
    /// There is something at `path` or in its way, or the directory cannot be made.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        let error = |source| ExportError::io(path, source);
        let is_new = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(source) if source.kind() == io::ErrorKind::NotFound => true,
            Err(source) => return Err(error(source)),
        };
        if !is_new {
            return Err(ExportError::Other(format!("{} is not empty: choose another directory", path.display())));
        }
        let path = std::path::absolute(path).map_err(error)?;
        if path.file_name().is_none() {
            return Err(ExportError::Other(format!("{} has no name: choose another directory", path.display())));
        }
        let temporary = temporary(&path);
        remove_leftover(&temporary)?;
        let error = |source| ExportError::io(&temporary, source);
        if let Some(parent) = temporary.parent() {
            fs::create_dir_all(parent).map_err(error)?;
        }
        // Fails where somebody else has put something there meanwhile.
        fs::create_dir(&temporary).map_err(error)?;
        fresh::create(&temporary.join(MARK)).map_err(error)?;
        Ok(PendingDir { temporary, target: path, is_finished: false })
    }

    /// Where it is filled.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Ends the filling: what is in the directory is made durable, and it takes its place.
    ///
    /// # Errors
    /// What was written did not all get there.
    pub fn finish(mut self) -> Result<(), ExportError> {
        let finished = sync_below(&self.temporary)
            .and_then(|()| fs::remove_file(self.temporary.join(MARK)))
            .and_then(|()| fs::rename(&self.temporary, &self.target));
        finished.map_err(|error| ExportError::io(&self.target, error))?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for PendingDir {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// Removes what a killed export left, and nothing else.
fn remove_leftover(temporary: &Path) -> Result<(), ExportError> {
    let error = |source| ExportError::io(temporary, source);
    let is_ours =
        temporary.join(MARK).exists() || fs::read_dir(temporary).is_ok_and(|mut entries| entries.next().is_none());
    match fs::symlink_metadata(temporary) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(error(source)),
        Ok(metadata) if metadata.is_dir() && is_ours => fs::remove_dir_all(temporary).map_err(error),
        Ok(_) => {
            Err(ExportError::Other(format!("{} is in the way: it is no leftover of an export", temporary.display())))
        }
    }
}

/// Makes all files of a file system durable at once: there may be very many.
#[cfg(target_os = "linux")]
fn sync_below(dir: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(dir)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_below(_: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_appears_when_it_is_finished() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x");
        for is_there in [false, true] {
            if is_there {
                fs::remove_dir_all(&path).unwrap();
                fs::create_dir(&path).unwrap();
            }
            let pending = PendingDir::create(&path).unwrap();
            fs::write(pending.path().join("file"), "text").unwrap();
            assert!(!path.join("file").exists());
            pending.finish().unwrap();
            assert_eq!((names(root.path()), names(&path)), (vec!["x".to_owned()], vec!["file".to_owned()]));
        }
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        drop(PendingDir::create(&root.path().join("x")).unwrap());
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn leftovers_are_replaced_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("x");
        let left = PendingDir::create(&path).unwrap();
        fs::write(left.path().join("half"), "").unwrap();
        std::mem::forget(left);
        PendingDir::create(&path).unwrap().finish().unwrap();
        assert!(names(&path).is_empty());
        fs::create_dir(root.path().join("x.tmp")).unwrap();
        fs::write(root.path().join("x.tmp/mine"), "").unwrap();
        assert!(PendingDir::create(&path).is_err());
        fs::write(path.join("mine"), "").unwrap();
        assert!(PendingDir::create(&path).is_err());
        assert_eq!(names(root.path()), ["x", "x.tmp"]);
    }
}
