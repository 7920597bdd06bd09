//! Temporary directories that do not outlive their process for long, even when it is killed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use tempfile::TempDir;

/// The beginning of the name of each such directory. No other files may have it: what has it and is not locked is removed.
const PREFIX: &str = "argiope-run-";
/// How often a directory is made until one is locked. Another process that sweeps may lock a new one first.
const ATTEMPTS_MAX: usize = 16;

/// A temporary directory, removed when the value is dropped. A process that is killed leaves it behind; the next one that makes a
/// directory in the same place, or sweeps there, removes it.
#[derive(Debug)]
pub struct Temporary {
    dir: TempDir,
    /// The directory itself, locked. The system releases the lock when the process ends, however it ends.
    _lock: File,
}

impl Temporary {
    /// Makes a directory in `parent`, and removes those that killed processes left there.
    ///
    /// # Errors
    /// The directory cannot be made or locked.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        Temporary::sweep(parent);
        for _ in 0..ATTEMPTS_MAX {
            let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            if let Some(lock) = lock(dir.path())? {
                return Ok(Temporary { dir, _lock: lock });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "other processes remove each new directory"))
    }

    /// Removes the directories in `parent` whose processes have ended. What cannot be removed, such as those of other users, stays.
    pub fn sweep(parent: &Path) {
        let entries = fs::read_dir(parent).into_iter().flatten().map_while(Result::ok);
        for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
            if let Ok(Some(_lock)) = lock(&entry.path()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Locks a directory. None where another process has the lock, or has removed the directory.
fn lock(dir: &Path) -> io::Result<Option<File>> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY).open(dir);
    let file = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    let is_there =
        fs::symlink_metadata(dir).is_ok_and(|there| file.metadata().is_ok_and(|own| own.ino() == there.ino()));
    Ok(is_there.then_some(file))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_with_the_next_directory_and_what_is_in_use_stays() {
        let parent = tempfile::tempdir().expect("a directory");
        let left = parent.path().join(format!("{PREFIX}left"));
        let foreign = parent.path().join("argiope-of-somebody");
        for dir in [&left, &foreign] {
            fs::create_dir_all(dir.join("deep/er")).expect("made");
            fs::write(dir.join("deep/file"), "content").expect("written");
        }
        symlink(&foreign, parent.path().join(format!("{PREFIX}link"))).expect("a link");
        symlink(&foreign, left.join("link")).expect("a link");

        let first = Temporary::new_in(parent.path()).expect("a directory");
        assert!(!left.exists() && foreign.join("deep/file").exists());
        fs::write(first.path().join("mine"), "in use").expect("written");
        let second = Temporary::new_in(parent.path()).expect("a directory");
        assert!(first.path().join("mine").exists());

        let paths = [first.path().to_owned(), second.path().to_owned()];
        drop((first, second));
        assert!(paths.iter().all(|path| !path.exists()) && foreign.join("deep/file").exists());
    }

    #[test]
    fn directories_made_at_the_same_time_all_stay() {
        let parent = tempfile::tempdir().expect("a directory");
        let made: Vec<Temporary> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Temporary::new_in(parent.path()))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic").expect("a directory")).collect()
        });
        assert!(made.iter().all(|made| made.path().is_dir()));
        drop(made);
        assert_eq!(fs::read_dir(parent.path()).expect("a directory").count(), 0);
    }
}
