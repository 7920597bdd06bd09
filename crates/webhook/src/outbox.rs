//! What is to be posted, and how much of it was accepted, in files.
//!
//! ```text
//! DIR/NAME.json         the round under way, and the accepted bytes of its lines
//! DIR/NAME.ROUND.jsonl  the lines of the round: there as a whole, or not at all
//! DIR/NAME.lock         locked by the process that posts
//! ```
//!
//! `NAME` is a digest of the URL, which may be secret.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use ring::digest::{SHA256, digest};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::WebhookError;

/// Lines of one post, at most.
const LINES_MAX: usize = 100;
/// Bytes of the lines of one post, beyond which no line is added.
const BYTES_MAX: u64 = 1 << 20;
/// Bytes of the file with the place, at most.
const PLACE_BYTES_MAX: u64 = 1_024;
/// Bytes of the digest of a URL that name its files.
const NAME_BYTES: usize = 16;

/// How far the lines were accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The round whose lines are posted, or the next one.
    round: u32,
    /// The accepted bytes of its lines.
    bytes: u64,
}

/// The lines for a URL. They are locked until this is dropped, or its process ends.
#[derive(Debug)]
pub struct Outbox {
    dir: PathBuf,
    name: String,
    place: Option<Place>,
    _lock: File,
}

/// Lines of a round that are posted together.
#[derive(Debug, PartialEq, Eq)]
pub struct Lines {
    /// The round.
    pub round: u32,
    /// Each without its end.
    pub lines: Vec<String>,
    end: u64,
}

impl Outbox {
    /// Opens the outbox for a URL in a directory, which is made if it does not exist.
    ///
    /// # Errors
    /// Another process has it open, or its files cannot be read.
    pub fn open(dir: &Path, url: &str) -> Result<Self, WebhookError> {
        fresh::directory(dir).map_err(failed(dir))?;
        let name = HEXLOWER.encode(&digest(&SHA256, url.as_bytes()).as_ref()[..NAME_BYTES]);
        let lock_path = dir.join(format!("{name}.lock"));
        let lock = fresh::open_or_create(&lock_path).map_err(failed(&lock_path))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(WebhookError::InUse(lock_path)),
            Err(TryLockError::Error(error)) => return Err(failed(&lock_path)(error)),
            Ok(()) => {}
        }
        let mut outbox = Outbox { dir: dir.to_owned(), name, place: None, _lock: lock };
        let path = outbox.place_path();
        let mut text = String::new();
        match fresh::open_to_read(&path).and_then(|file| file.take(PLACE_BYTES_MAX).read_to_string(&mut text)) {
            Ok(_) => {
                let damaged = |error: serde_json::Error| {
                    let then = "posting begins with the last round that has ended, as for a new URL".to_owned();
                    WebhookError::Damaged { path: path.clone(), line: error.line(), problem: error.to_string(), then }
                };
                outbox.place = Some(serde_json::from_str(&text).map_err(damaged)?);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(&path)(error)),
        }
        Ok(outbox)
    }

    /// The round whose lines are posted, or the next one; `None` in a new outbox.
    #[must_use]
    pub fn round(&self) -> Option<u32> {
        self.place.map(|place| place.round)
    }

    /// Whether the lines of a round are here.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        self.round().is_some_and(|round| self.lines_path(round).exists())
    }

    /// Takes in the lines of a round, which `write` writes. They are durable when this returns.
    ///
    /// # Errors
    /// They cannot be written, or `write` fails.
    pub fn fill<E: From<WebhookError>>(
        &mut self,
        round: u32,
        write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
    ) -> Result<(), E> {
        self.advance(Place { round, bytes: 0 })?;
        let path = self.lines_path(round);
        let temporary = path.with_extension("tmp");
        let mut file = BufWriter::new(create(&temporary).map_err(failed(&temporary))?);
        write(&mut file)?;
        let finish = || file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all();
        finish().and_then(|()| self.publish(&temporary, &path)).map_err(failed(&path))?;
        Ok(())
    }

    /// The next lines to post; `None` if all were accepted.
    ///
    /// # Errors
    /// They cannot be read, or are damaged.
    pub fn next(&self) -> Result<Option<Lines>, WebhookError> {
        let Some(Place { round, bytes }) = self.place.filter(|_| self.is_filled()) else { return Ok(None) };
        let path = self.lines_path(round);
        let read = || -> io::Result<Result<Lines, String>> {
            let mut file = fresh::open_to_read(&path)?;
            let length = file.metadata()?.len();
            if length < bytes {
                return Ok(Err(format!("the file ends after {length} bytes, but {bytes} were accepted")));
            }
            file.seek(SeekFrom::Start(bytes))?;
            let mut file = BufReader::new(file);
            let (mut lines, mut end) = (Vec::new(), bytes);
            while lines.len() < LINES_MAX && end - bytes < BYTES_MAX {
                let mut line = Vec::new();
                let read = file.read_until(b'\n', &mut line)?;
                if read == 0 {
                    break;
                }
                match whole(line) {
                    Ok(line) => lines.push(line),
                    // What is whole before it is posted first.
                    Err(_) if !lines.is_empty() => break,
                    Err(problem) => return Ok(Err(problem)),
                }
                end += read as u64;
            }
            Ok(Ok(Lines { round, lines, end }))
        };
        match read().map_err(failed(&path))? {
            Ok(lines) => Ok(Some(lines).filter(|lines| !lines.lines.is_empty())),
            Err(problem) => {
                let line = line_at(&path, bytes).map_err(failed(&path))?;
                let then = format!("all changes of round {round} are posted again");
                Err(WebhookError::Damaged { path, line, problem, then })
            }
        }
    }

    /// Notes that lines were accepted. That is durable when this returns.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn accepted(&mut self, lines: &Lines) -> Result<(), WebhookError> {
        self.advance(Place { round: lines.round, bytes: lines.end })
    }

    /// Ends a round, all lines of which were accepted.
    ///
    /// # Errors
    /// The files cannot be changed.
    pub fn end(&mut self) -> Result<(), WebhookError> {
        let Some(round) = self.round() else { return Ok(()) };
        self.advance(Place { round: round.saturating_add(1), bytes: 0 })?;
        let path = self.lines_path(round);
        std::fs::remove_file(&path).map_err(failed(&path))
    }

    fn advance(&mut self, place: Place) -> Result<(), WebhookError> {
        let path = self.place_path();
        let temporary = path.with_extension("tmp");
        let write = || -> io::Result<()> {
            let mut file = create(&temporary)?;
            file.write_all(&serde_json::to_vec(&place)?)?;
            file.sync_all()?;
            self.publish(&temporary, &path)
        };
        write().map_err(failed(&path))?;
        self.place = Some(place);
        Ok(())
    }

    /// Gives a complete file its name.
    fn publish(&self, temporary: &Path, path: &Path) -> io::Result<()> {
        std::fs::rename(temporary, path)?;
        File::open(&self.dir)?.sync_all()
    }

    fn place_path(&self) -> PathBuf {
        self.dir.join(format!("{}.json", self.name))
    }

    fn lines_path(&self, round: u32) -> PathBuf {
        self.dir.join(format!("{}.{round}.jsonl", self.name))
    }
}

/// Makes a file, in place of one that a killed process left.
fn create(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fresh::create(path)
}

/// A line without its end, if it is all there: lines are published whole.
fn whole(mut line: Vec<u8>) -> Result<String, String> {
    if line.pop() != Some(b'\n') {
        return Err("the line is cut".to_owned());
    }
    let text = String::from_utf8(line).map_err(|error| error.to_string())?;
    match serde_json::from_str::<IgnoredAny>(&text) {
        Ok(_) => Ok(text),
        Err(error) => Err(format!("no JSON at column {}", error.column())),
    }
}

/// The number of the line, from 1, that begins behind so many bytes.
fn line_at(path: &Path, bytes: u64) -> io::Result<usize> {
    let before = BufReader::new(fresh::open_to_read(path)?.take(bytes));
    before.split(b'\n').try_fold(1, |line, before| before.map(|_| line + 1))
}

fn failed(path: &Path) -> impl Fn(io::Error) -> WebhookError + use<> {
    let path = path.to_owned();
    move |source| WebhookError::File { path: path.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://a.test/hook?token=secret";

    fn fill(outbox: &mut Outbox, round: u32, lines: usize) {
        let write = |to: &mut dyn Write| {
            (0..lines).try_for_each(|line| writeln!(to, "{{\"n\":{line}}}")).map_err(failed(Path::new("test")))
        };
        outbox.fill(round, write).expect("filled");
    }

    #[test]
    fn a_damaged_file_is_named_with_its_line_and_what_to_do() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("webhooks");
        let mut outbox = Outbox::open(&dir, URL).expect("an outbox");
        fill(&mut outbox, 3, 150);
        let path = outbox.lines_path(3);
        let whole = std::fs::read_to_string(&path).expect("lines");
        let next = |outbox: &Outbox| outbox.next().map(|lines| lines.map_or(0, |lines| lines.lines.len()));
        let told = |outbox: &Outbox| next(outbox).expect_err("damaged").to_string();

        std::fs::write(&path, whole.replace("{\"n\":120}", "{\"n\":!20}")).expect("written");
        let lines = outbox.next().expect("whole so far").expect("lines");
        outbox.accepted(&lines).expect("noted");
        let lines = outbox.next().expect("whole so far").expect("lines");
        assert_eq!(lines.lines.len(), 20, "those before the damage");
        outbox.accepted(&lines).expect("noted");
        let expect = format!(
            "{}, line 121: no JSON at column 6: the file is damaged. Remove it: all changes of round 3 are posted again",
            path.display()
        );
        assert_eq!(told(&outbox), expect);
        // Cut in a line, and before what was accepted.
        std::fs::write(&path, &whole[..whole.find("{\"n\":120}").expect("a line") + 4]).expect("written");
        assert!(told(&outbox).contains("line 121: the line is cut"), "{}", told(&outbox));
        std::fs::write(&path, "{}\n").expect("written");
        assert!(told(&outbox).contains("line 2: the file ends after 3 bytes"), "{}", told(&outbox));
        // As the message says.
        std::fs::remove_file(&path).expect("removed");
        assert!(!outbox.is_filled());
        fill(&mut outbox, 3, 2);
        assert_eq!(next(&outbox).expect("whole"), 2);

        let place = outbox.place_path();
        drop(outbox);
        std::fs::write(&place, "{\"round\":").expect("written");
        let error = Outbox::open(&dir, URL).map(drop).expect_err("damaged").to_string();
        let expect = format!("{}, line 1: ", place.display());
        assert!(error.starts_with(&expect) && error.contains("Remove it: posting begins with the last"), "{error}");
        std::fs::remove_file(&place).expect("removed");
        assert_eq!(Outbox::open(&dir, URL).expect("an outbox").round(), None);
    }

    #[test]
    fn lines_are_posted_in_order_until_they_are_accepted_over_restarts() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("webhooks");
        let open = || Outbox::open(&dir, URL).expect("an outbox");
        let mut outbox = open();
        assert_eq!((outbox.round(), outbox.is_filled(), outbox.next().expect("read")), (None, false, None));
        let error = Outbox::open(&dir, URL).map(drop).expect_err("locked").to_string();
        assert!(error.contains("another process posts"), "{error}");
        fill(&mut outbox, 3, 250);
        let mut seen = Vec::new();
        for count in [100, 100, 50] {
            let first = outbox.next().expect("read").expect("lines");
            drop(outbox);
            // Killed before the lines were accepted: they come again.
            outbox = open();
            let lines = outbox.next().expect("read").expect("lines");
            assert_eq!((lines.lines.len(), lines.round, &lines), (count, 3, &first));
            outbox.accepted(&lines).expect("noted");
            seen.extend(lines.lines);
        }
        assert_eq!(seen, (0..250).map(|line| format!("{{\"n\":{line}}}")).collect::<Vec<_>>());
        assert_eq!((outbox.next().expect("read"), outbox.is_filled()), (None, true));
        outbox.end().expect("ended");
        drop(outbox);
        let mut outbox = open();
        assert_eq!((outbox.round(), outbox.is_filled()), (Some(4), false));

        // Lines that were not written to their end are none.
        let killed = outbox.fill(4, |to| {
            let _ = to.write_all(b"{}\n");
            Err(WebhookError::Secret("killed".to_owned()))
        });
        killed.expect_err("killed");
        drop(outbox);
        let mut outbox = open();
        assert_eq!((outbox.round(), outbox.is_filled()), (Some(4), false));
        fill(&mut outbox, 4, 0);
        assert_eq!(outbox.next().expect("read"), None);
        outbox.end().expect("ended");
        // Of the URL nothing is written.
        for file in std::fs::read_dir(&dir).expect("a directory") {
            let path = file.expect("a file").path();
            let content = std::fs::read_to_string(&path).expect("a text");
            assert!(!format!("{}{content}", path.display()).contains("token"), "{path:?}: {content}");
        }
        assert_eq!(Outbox::open(&dir, "https://b.test/").expect("another").round(), None);
    }
}
