//! A running crawl's dataset for other processes: who connects to the socket in the crawl's directory is told when the files
//! hold everything that was committed until then.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::held::Identity;

/// The name of the socket.
const SOCKET: &str = "live.socket";
/// What is said when the files are complete.
const PUBLISHED: &str = "published\n";
/// The longest that a crawl may take to complete its files.
const PUBLISH_TIME_MAX: Duration = Duration::from_secs(300);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// Listens until it is dropped.
pub(super) struct Live {
    /// The directory, wherever it is now.
    dir: File,
    /// Of the socket.
    identity: Identity,
    /// The listening socket once more.
    listener: UnixStream,
    publish: Publish,
    thread: Option<JoinHandle<()>>,
}

/// Completes the files; nothing when the crawl is over.
type Publish = Arc<Mutex<Option<Box<dyn Fn() -> anyhow::Result<()> + Send>>>>;

impl Live {
    /// Listens in a crawl's directory. `publish` completes the files. Where no socket can be made, as on some network file
    /// systems, nobody is listened to: others then see the files as they lie.
    pub(super) fn listen(root: &Path, publish: impl Fn() -> anyhow::Result<()> + Send + 'static) -> Option<Self> {
        let dir = File::open(root).ok()?;
        let path = socket_in(&dir);
        // What a process left that was killed; only one can have the crawl.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).ok()?;
        let identity = Identity::of(&path).ok()?;
        let woken_by = UnixStream::from(OwnedFd::from(listener.try_clone().ok()?));
        let publish: Publish = Arc::new(Mutex::new(Some(Box::new(publish))));
        let publish_there = publish.clone();
        let serve = move || {
            for asking in listener.incoming().map_while(Result::ok) {
                let publish = publish_there.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(publish) = publish.as_ref() else { return };
                answer(asking, publish);
            }
        };
        let thread = std::thread::Builder::new().name("live".to_owned()).spawn(serve).ok()?;
        Some(Live { dir, identity, listener: woken_by, publish, thread: Some(thread) })
    }
}

fn answer(mut asking: UnixStream, publish: &dyn Fn() -> anyhow::Result<()>) {
    let said = match publish() {
        Ok(()) => PUBLISHED.to_owned(),
        Err(error) => format!("{error:#}\n"),
    };
    // Who has gone does not need the answer.
    let _ = asking.set_write_timeout(Some(Duration::from_secs(1))).and_then(|()| asking.write_all(said.as_bytes()));
}

impl Drop for Live {
    fn drop(&mut self) {
        self.publish.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The thread waits for someone to connect. A listening socket that is shut down wakes it (unix(7)), whatever lies at the path.
        let woken = self.listener.shutdown(Shutdown::Both);
        let path = socket_in(&self.dir);
        // The socket of another crawl, which began in this one's place, stays.
        if Identity::of(&path).ok() == Some(self.identity) {
            let _ = std::fs::remove_file(path);
        }
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            // If it panicked, nobody is answered: that is all.
            let _ = thread.join();
        }
    }
}

/// Has a running crawl complete the files of its dataset. False where no crawl is running.
///
/// # Errors
/// The crawl could not complete them.
pub fn publish(root: &Path) -> anyhow::Result<bool> {
    // A link would lead to somebody else's.
    let is_socket = root.join(SOCKET).symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket());
    if !is_socket {
        return Ok(false);
    }
    let Ok(mut live) = File::open(root).and_then(|dir| UnixStream::connect(socket_in(&dir))) else { return Ok(false) };
    live.set_read_timeout(Some(PUBLISH_TIME_MAX))?;
    let mut said = String::new();
    (&mut live).take(ANSWER_BYTES_MAX).read_to_string(&mut said)?;
    match said.as_str() {
        PUBLISHED => Ok(true),
        // It ended just now.
        "" => Ok(false),
        error => anyhow::bail!("the running crawl cannot complete its dataset: {}", error.trim_end()),
    }
}

/// The path of the socket in a directory that is open. The path of a socket is at most some hundred bytes, that of a directory is not:
/// so the directory is named by its descriptor (proc(5)).
fn socket_in(dir: &File) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(SOCKET)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn who_asks_is_answered_when_the_files_are_complete() {
        let root = tempfile::tempdir().expect("a directory");
        let deep = root.path().join("x".repeat(200));
        std::fs::create_dir(&deep).expect("a directory");
        assert!(!publish(&deep).expect("nobody"), "nobody listens");
        let asked = Arc::new(AtomicU32::new(0));
        let counted = asked.clone();
        let live = Live::listen(&deep, move || match counted.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => anyhow::bail!("the disk is full"),
        });
        assert!(publish(&deep).expect("an answer"));
        let error = publish(&deep).expect_err("an error").to_string();
        assert_eq!(error, "the running crawl cannot complete its dataset: the disk is full");
        drop(live);
        assert!(!publish(&deep).expect("nobody"));
        assert_eq!(deep.read_dir().expect("a directory").count(), 0);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_crawl_whose_directory_is_gone_ends() {
        let root = tempfile::tempdir().expect("a directory");
        let (is_held, ended) = std::sync::mpsc::sync_channel::<()>(1);
        let live = Live::listen(root.path(), move || Ok(is_held.send(())?));
        std::fs::remove_file(root.path().join(SOCKET)).expect("the socket");
        drop(live);
        // What completes the files is gone, for which the dataset's thread waits.
        ended.recv().expect_err("nobody holds it");
    }

    #[test]
    fn the_socket_of_a_crawl_that_took_the_place_stays() {
        let root = tempfile::tempdir().expect("a directory");
        let first = Live::listen(root.path(), || Ok(()));
        let second = Live::listen(root.path(), || Ok(()));
        drop(first);
        assert!(publish(root.path()).expect("an answer"), "the second listens");
        drop(second);
        assert_eq!(root.path().read_dir().expect("a directory").count(), 0);
    }
}
