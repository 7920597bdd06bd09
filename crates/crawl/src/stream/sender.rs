//! The thread that gives lines to their reader.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use settings::usage;

use super::Target;
use super::outbox::{LOOK_EVERY, Next, Outbox, Shared};

/// Bytes read and sent at once.
const CHUNK_BYTES_MAX: u64 = 256 << 10;
/// Bytes that a pipe takes whole once it has said that it takes some (`PIPE_BUF` of Linux).
const PIPE_BYTES: usize = 4_096;
/// Bytes written to a file before they are synced.
const UNSYNCED_BYTES_MAX: u64 = 16 << 20;
/// Looks for a reader that has gone, at the end of a run, before what is left is left to the next.
const LOOKS_AT_END_MAX: u32 = 100;

/// Where lines go.
pub(super) struct Output {
    to: To,
    /// Where it is noted how much was sent.
    sent: File,
}

/// A target that is open.
pub(super) enum To {
    File { file: File, path: PathBuf, synced: u64 },
    Stdout,
    Unix { path: PathBuf, reader: Option<UnixStream> },
}

/// What came of sending.
enum Sent {
    /// So many bytes were taken.
    Bytes(usize),
    /// Nothing was, for now.
    Nothing,
    /// The reader has gone. It may come back, where it can.
    Gone,
}

impl To {
    /// Opens a target of a crawl in the directory `root`. Gives its path, too, if it is a file that was made.
    pub(super) fn open(target: &Target, root: &Path) -> anyhow::Result<(Self, Option<PathBuf>)> {
        let refused = |error: io::Error| usage(format!("--stream {target}: {error}"));
        match target {
            Target::Stdout => Ok((To::Stdout, None)),
            Target::Unix(path) => {
                lies_within(path, root).map_err(refused)?;
                let reader = connect(path);
                let unheard = || usage(format!("--stream {target}: no reader listens there: start it first"));
                let reader = reader.map_err(|error| unheard().context(error))?;
                Ok((To::Unix { path: path.clone(), reader: Some(reader) }, None))
            }
            Target::File(path) => {
                // A named pipe would let nobody go on.
                if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
                    let why = "is not a regular file: use - or unix:PATH for a pipe or socket";
                    bail!(usage(format!("--stream {target}: {why}")));
                }
                let (file, is_new) = open_file(path, root).map_err(refused)?;
                if let Some(directory) = path.parent() {
                    // So that the name is as durable as what will be in the file.
                    File::open(directory)?.sync_all()?;
                }
                Ok((To::File { file, path: path.clone(), synced: 0 }, is_new.then(|| path.clone())))
            }
        }
    }
}

/// Opens a file to append to it, or creates it. Also tells whether it is new.
fn open_file(path: &Path, root: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.append(true);
    let opened = if lies_within(path, root)? { fresh::open(&mut options, path) } else { options.open(path) };
    match opened {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((options.create_new(true).open(path)?, true)),
        opened => Ok((opened?, false)),
    }
}

/// Whether a path lies in a crawl's directory. Elsewhere, links are the user's own.
///
/// # Errors
/// It lies there, and a symbolic link is in its way.
fn lies_within(path: &Path, root: &Path) -> io::Result<bool> {
    let Ok(root) = std::fs::metadata(root) else { return Ok(false) };
    let path = std::path::absolute(path)?;
    let is_root =
        |dir: &&Path| std::fs::metadata(dir).is_ok_and(|found| (found.dev(), found.ino()) == (root.dev(), root.ino()));
    let way: Vec<&Path> = path.ancestors().collect();
    let Some(depth) = way.iter().rposition(is_root) else { return Ok(false) };
    let is_link = |path: &&&Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    match way[..depth].iter().find(is_link) {
        Some(link) => {
            let why = "is a symbolic link, which is not followed within a crawl's directory";
            Err(io::Error::new(ErrorKind::InvalidInput, format!("{} {why}", link.display())))
        }
        None => Ok(true),
    }
}

impl Output {
    /// What gives the lines of an outbox to a target.
    pub(super) fn new(mut to: To, outbox: &Outbox) -> anyhow::Result<Self> {
        if let To::File { synced, .. } = &mut to {
            *synced = outbox.shared().position();
        }
        Ok(Output { to, sent: outbox.sent()? })
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<Sent> {
        match &mut self.to {
            To::File { file, .. } => file.write(bytes).map(Sent::Bytes),
            To::Stdout => send_to_stdout(bytes),
            To::Unix { path, reader } => {
                let Some(stream) = reader else {
                    *reader = connect(path).ok();
                    return Ok(Sent::Nothing);
                };
                match stream.write(bytes) {
                    Ok(count) => Ok(Sent::Bytes(count)),
                    Err(error) if is_for_now(&error) => Ok(Sent::Nothing),
                    Err(_) => {
                        *reader = None;
                        Ok(Sent::Gone)
                    }
                }
            }
        }
    }

    /// Notes how much was sent. Gives up to where nothing is needed any more.
    fn note(&mut self, position: u64, is_at_end: bool) -> io::Result<u64> {
        match &mut self.to {
            To::File { file, synced, .. } => {
                if position - *synced >= UNSYNCED_BYTES_MAX || (is_at_end && position > *synced) {
                    file.sync_data()?;
                    *synced = position;
                }
                Ok(*synced)
            }
            To::Stdout | To::Unix { .. } => {
                self.sent.write_all_at(format!("{position:020}\n").as_bytes(), 0)?;
                Ok(position)
            }
        }
    }

    fn is_file(&self) -> bool {
        matches!(self.to, To::File { .. })
    }

    fn may_come_back(&self) -> bool {
        matches!(self.to, To::Unix { .. })
    }

    fn has_reader(&self) -> bool {
        !matches!(self.to, To::Unix { reader: None, .. })
    }

    fn name(&self) -> String {
        match &self.to {
            To::File { path, .. } => path.display().to_string(),
            To::Stdout => "standard output".to_owned(),
            To::Unix { path, .. } => format!("unix:{}", path.display()),
        }
    }
}

/// Sends committed lines until the stream ends and all are sent, or the reader has left.
pub(super) fn send(mut output: Output, shared: &Shared) {
    if let Err(error) = send_all(&mut output, shared) {
        shared.failed(format!("{}: {error}", output.name()));
    }
}

fn send_all(output: &mut Output, shared: &Shared) -> io::Result<()> {
    // The octets sent, and those up to the end of the last whole line: the next reader begins with a line.
    let (mut position, mut whole) = (shared.position(), shared.position());
    let mut looks_at_end = 0;
    while !shared.is_aborted() {
        let bytes = match shared.next(position, CHUNK_BYTES_MAX)? {
            Next::Send(bytes) => bytes,
            Next::Wait => continue,
            Next::End => {
                output.note(whole, true)?;
                return Ok(());
            }
        };
        match output.send(&bytes)? {
            Sent::Bytes(count) => {
                position += count as u64;
                let last = bytes[..count].iter().rposition(|byte| *byte == b'\n');
                whole = match last {
                    _ if output.is_file() => position,
                    Some(last) => position - (count - 1 - last) as u64,
                    None => whole,
                };
                let safe = output.note(whole, false)?;
                shared.sent(whole, safe);
            }
            Sent::Gone if output.may_come_back() => position = whole,
            Sent::Gone => {
                shared.gone();
                return Ok(());
            }
            Sent::Nothing => {
                looks_at_end += u32::from(shared.is_ended() && !output.has_reader());
                if shared.is_over() || looks_at_end > LOOKS_AT_END_MAX {
                    return Ok(());
                }
                if !output.has_reader() {
                    sleep(LOOK_EVERY);
                }
            }
        }
    }
    Ok(())
}

fn connect(path: &Path) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path)?;
    stream.set_write_timeout(Some(LOOK_EVERY))?;
    Ok(stream)
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// Writes to standard output what it takes without waiting, but for a moment.
fn send_to_stdout(bytes: &[u8]) -> io::Result<Sent> {
    let stdout = io::stdout();
    let moment = Timespec::try_from(LOOK_EVERY).map_err(io::Error::other)?;
    let mut looked = [PollFd::from_borrowed_fd(stdout.as_fd(), PollFlags::OUT)];
    match poll(&mut looked, Some(&moment)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Sent::Nothing),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    // Not by the buffer of the standard library: what it holds counts as sent.
    match rustix::io::write(stdout.as_fd(), &bytes[..bytes.len().min(PIPE_BYTES)]) {
        Ok(count) => Ok(Sent::Bytes(count)),
        Err(rustix::io::Errno::PIPE) => Ok(Sent::Gone),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(Sent::Nothing),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_leads_to_a_target_within_the_directory_however_it_is_named() {
        let dirs = tempfile::tempdir().expect("a directory");
        let (root, away) = (dirs.path().join("crawl"), dirs.path().join("away"));
        for dir in [&root, &root.join("real"), &away] {
            std::fs::create_dir(dir).expect("a directory");
        }
        for (to, link) in [("file", "crawl/link"), ("away", "crawl/out"), ("crawl", "alias"), ("file", "away/link")] {
            symlink(dirs.path().join(to), dirs.path().join(link)).expect("a link");
        }
        std::env::set_current_dir(&root).expect("it is there");
        let absolute = |name: &str| dirs.path().join(name);
        for (path, expect) in [
            (absolute("crawl/lines"), Some(true)),
            (absolute("crawl/real/../lines"), Some(true)),
            (absolute("alias/real/lines"), Some(true)),
            (absolute("away/link"), Some(false)),
            // Not within, but refused: it is named by a way through the directory.
            (absolute("crawl/../away/link"), None),
            (absolute("crawl/link"), None),
            (absolute("crawl/out/lines"), None),
            (absolute("crawl/out/../lines"), None),
            (absolute("alias/link"), None),
            ("lines".into(), Some(true)),
            ("link".into(), None),
        ] {
            assert_eq!(lies_within(&path, &root).ok(), expect, "{}", path.display());
        }
    }
}
