//! The socket in a crawl's directory: who finds one that answers knows that a crawl runs there.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use store_embedded::EmbeddedStore;

/// The name of the directory of the state. Its lock says who crawls.
pub const STATE: &str = "state";
/// The name of the socket. A socket with this name takes connections, or its crawl was killed.
pub(crate) const SOCKET: &str = "live.socket";
/// Its name until it takes connections.
pub(crate) const SOCKET_BEGUN: &str = "live.socket.begun";

/// Whether a crawl runs in a directory that can be asked.
#[must_use]
pub fn runs(root: &Path) -> bool {
    // A process that is stopped takes no connections: after some, who connects would wait for it.
    stopped(root).is_some() || connect(root, "").is_some()
}

/// The process that crawls in a directory, if it is stopped (SIGSTOP, Ctrl-Z): in words, and its number. Not known of a crawl with its state in
/// a database.
pub(crate) fn stopped(root: &Path) -> Option<(String, u32)> {
    EmbeddedStore::stopped_by(&root.join(STATE))
}

/// Connects to the crawl that runs in a directory, and sends this request.
pub(crate) fn connect(root: &Path, request: &str) -> Option<UnixStream> {
    // A link would lead to somebody else's.
    let is_socket = root.join(SOCKET).symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket());
    let dir = File::open(root).ok().filter(|_| is_socket)?;
    let mut live = UnixStream::connect(socket_in(&dir, SOCKET)).ok()?;
    live.write_all(request.as_bytes()).ok()?;
    Some(live)
}

/// A socket of a crawl that this user may not connect to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Forbidden {
    /// Where it is.
    pub(crate) socket: PathBuf,
    /// The number of the user whose it is.
    pub(crate) owner: u32,
}

/// The socket in a directory, if this user may not connect to it. Whether a crawl runs there is not known then.
pub(crate) fn forbidden(root: &Path) -> Option<Forbidden> {
    let socket = root.join(SOCKET);
    let metadata = socket.symlink_metadata().ok().filter(|metadata| metadata.file_type().is_socket())?;
    let dir = File::open(root).ok()?;
    let refused = UnixStream::connect(socket_in(&dir, SOCKET)).err()?;
    (refused.kind() == ErrorKind::PermissionDenied).then(|| Forbidden { socket, owner: metadata.uid() })
}

/// The path of a socket in a directory that is open. The path of a socket is at most some hundred bytes, that of a directory is not:
/// so the directory is named by its descriptor (proc(5)).
pub(crate) fn socket_in(dir: &File, name: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}
