//! The lock of a watch: one process watches a crawl at a time, and others can end it between two rounds, when nothing of it runs.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};

use crate::CrawlDir;

/// The locked file in the crawl's directory. What it holds is an order to the watch.
const LOCK: &str = "watch.lock";
/// The order to end.
const STOP: &str = "stop";
/// Bytes of an order, at most.
const ORDER_BYTES_MAX: u64 = 64;
/// How often a watch looks for an order.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The lock, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct WatchLock {
    path: PathBuf,
    file: File,
}

impl WatchLock {
    /// Locks the watch of this crawl.
    ///
    /// # Errors
    /// Another process watches it, or the directory cannot be written to.
    pub fn take(dir: &CrawlDir) -> anyhow::Result<Self> {
        let path = path(dir);
        loop {
            let file = fresh::open_or_create(&path).with_context(|| path.display().to_string())?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => bail!("{}: another `argiope watch` runs on it", dir.root().display()),
                Err(TryLockError::Error(error)) => Err(error).with_context(|| path.display().to_string())?,
                Ok(()) => {}
            }
            // One that ended meanwhile has removed it.
            if !is_at(&file, &path) {
                continue;
            }
            // An order to a watch that was killed.
            file.set_len(0).with_context(|| path.display().to_string())?;
            return Ok(WatchLock { path, file });
        }
    }

    /// Makes sure that the directory is the one whose watch this is.
    ///
    /// # Errors
    /// Another was put in its place, or somebody has removed the lock.
    pub fn check(&self) -> anyhow::Result<()> {
        match is_at(&self.file, &self.path) {
            true => Ok(()),
            false => bail!(
                "{} is not the file that this watch has locked: another directory was put in the place of the watched one, or the file was \
                 removed. The watch ends; it can begin again",
                self.path.display()
            ),
        }
    }

    /// Whether somebody has ordered the watch to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let mut order = String::new();
        let read =
            fresh::open_to_read(&self.path).and_then(|file| file.take(ORDER_BYTES_MAX).read_to_string(&mut order));
        read.is_ok() && order == STOP
    }

    /// Ends when somebody has ordered the watch to end.
    pub async fn stopped(&self) {
        while !self.is_stopped() {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for WatchLock {
    fn drop(&mut self) {
        // While it is locked: another file there is somebody else's.
        if is_at(&self.file, &self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Whether a file is the one at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let number = |metadata: &std::fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), path.symlink_metadata()), (Ok(file), Ok(there)) if number(&file) == number(&there))
}

/// Whether a process watches this crawl.
#[must_use]
pub fn is_watched(dir: &CrawlDir) -> bool {
    fresh::open_to_read(&path(dir)).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Orders the watch of this crawl to end. False where there is none.
///
/// # Errors
/// The directory cannot be written to.
pub fn stop(dir: &CrawlDir) -> anyhow::Result<bool> {
    if !is_watched(dir) {
        return Ok(false);
    }
    let path = path(dir);
    match fresh::open_to_write(&path).and_then(|mut file| file.write_all(STOP.as_bytes())) {
        // It has ended just now, and removed the file.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        written => written.map(|()| true).with_context(|| path.display().to_string()),
    }
}

fn path(dir: &CrawlDir) -> PathBuf {
    Path::new(dir.root()).join(LOCK)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn one_watches_and_others_can_end_it() {
        let temporary = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(temporary.path());
        assert!(!is_watched(&dir) && !stop(&dir).expect("asked"));
        let first = WatchLock::take(&dir).expect("nobody watches");
        assert!(is_watched(&dir) && !first.is_stopped());
        first.check().expect("it is there");
        let refused = WatchLock::take(&dir).expect_err("one watches").to_string();
        assert!(refused.ends_with("another `argiope watch` runs on it"), "{refused}");
        assert!(stop(&dir).expect("ordered") && first.is_stopped());
        drop(first);
        assert!(!is_watched(&dir));
        assert!(!WatchLock::take(&dir).expect("nobody watches").is_stopped(), "an order ends one watch");
        assert_eq!(temporary.path().read_dir().expect("a directory").count(), 0, "a watch leaves no file");
    }

    #[test]
    fn a_directory_that_another_has_taken_the_place_of_is_noticed() {
        let temporary = tempfile::tempdir().expect("a directory");
        let [here, there] = ["here", "there"].map(|name| temporary.path().join(name));
        std::fs::create_dir(&here).expect("made");
        let lock = WatchLock::take(&CrawlDir::at(&here)).expect("nobody watches");
        std::fs::rename(&here, &there).expect("moved");
        std::fs::create_dir(&here).expect("made");
        let refused = lock.check().expect_err("another directory").to_string();
        assert!(refused.contains("another directory was put in the place of the watched one"), "{refused}");
        // Also where somebody watches that one.
        let _other = WatchLock::take(&CrawlDir::at(&here)).expect("nobody watches");
        assert!(lock.check().is_err());
    }

    #[test]
    fn an_order_to_a_watch_that_ends_meanwhile_is_no_failure() {
        let temporary = tempfile::tempdir().expect("a directory");
        let dir = CrawlDir::at(temporary.path());
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // A command that looks for a watch has the lock for a moment.
                (0..5_000).for_each(|_| drop(WatchLock::take(&dir)));
                has_ended.store(true, Ordering::Relaxed);
            });
            while !has_ended.load(Ordering::Relaxed) {
                stop(&dir).expect("ordered, or nobody watches");
            }
        });
    }
}
