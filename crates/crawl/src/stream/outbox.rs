//! The lines that are not sent yet, durable in the crawl's directory: `stream/log` says how far they reach, `stream/outbox.N` has them from
//! byte N of the stream on, and `stream/sent` says how much was given to a reader other than a file.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde::{Deserialize, Serialize};
use settings::usage;
use store::CrawlView;
use tokio::sync::watch;

use super::lines::Witness;
use super::{StreamTo, Target};

/// The version of the files.
const VERSION: u32 = 1;
/// Bytes of the log beyond which it is written from new.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// Bytes of an outbox from which on what was sent of it is removed.
const RECLAIMED_BYTES_MIN: u64 = 16 << 20;
/// The bytes and the lines of a stream, at most: no sum of two such numbers overflows.
const POSITION_MAX: u64 = 1 << 62;
/// How often who waits looks whether the run is to end.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A line of the log.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Note {
    /// The first line.
    Stream {
        version: u32,
        target: String,
        fields: Vec<String>,
        /// The byte of the stream with which the target begins.
        from: u64,
    },
    /// Lines that are in the outbox, written before their commit.
    Lines { begin: Reached, end: Reached, witness: Option<Witness> },
}

/// How far a stream reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Reached {
    bytes: u64,
    lines: u64,
}

/// What the log says, with all doubt resolved.
struct ResolvedLog {
    target: String,
    from: u64,
    reached: Reached,
}

/// Where lines are put.
pub(super) struct Outbox {
    dir: PathBuf,
    log: File,
    log_bytes: u64,
    header: Note,
    /// Committed.
    reached: Reached,
    /// In the outbox.
    appended: Reached,
    buffer_bytes_max: u64,
    shared: Arc<Shared>,
    sent: File,
}

/// What the outbox and its sender share.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    stopping: watch::Sender<bool>,
}

/// Positions are bytes of the stream.
#[derive(Debug)]
pub(super) struct State {
    /// The outbox, and where it begins.
    file: Arc<File>,
    base: u64,
    /// What is committed reaches here.
    end: u64,
    /// Given to the reader, in whole lines where it is no file.
    sent: u64,
    /// So given that it is not needed any more.
    safe: u64,
    /// Nothing comes any more.
    is_ended: bool,
    /// The session is gone.
    is_aborted: bool,
    /// The reader has left.
    is_gone: bool,
    /// A commit waits until the reader has taken more.
    holds_commit: bool,
    failed: Option<String>,
}

/// What the sender is to do.
pub(super) enum Next {
    /// Send bytes that were read, which may be fewer than there are.
    Send(Vec<u8>),
    /// Nothing now.
    Wait,
    /// Everything is sent, and nothing comes any more.
    End,
}

/// Resolves the doubtful lines of a process that was killed, before the state changes. Does nothing without a stream.
///
/// # Errors
/// The state or the log of the stream cannot be read or written.
pub fn settle(dir: &Path, view: &dyn CrawlView) -> anyhow::Result<()> {
    standing(dir, view).map(drop)
}

/// The target and the fields of the last stream.
pub(super) fn last(dir: &Path) -> anyhow::Result<Option<(String, Vec<String>)>> {
    Ok(read_log(dir)?.map(|log| (log.target, log.fields)))
}

fn log_path(dir: &Path) -> PathBuf {
    dir.join("log")
}

/// What a log says: its first note, and its last.
struct Log {
    target: String,
    fields: Vec<String>,
    from: u64,
    begin: Reached,
    end: Reached,
    witness: Option<Witness>,
}

/// Reads the log; `None` if there is none.
fn read_log(dir: &Path) -> anyhow::Result<Option<Log>> {
    let path = log_path(dir);
    let named = || path.display().to_string();
    let file = match fresh::open_to_read(&path) {
        // Opening the crawl's directory says what is wrong with it.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        file => file.with_context(named)?,
    };
    let mut bytes = Vec::new();
    file.take(2 * LOG_BYTES_MAX).read_to_end(&mut bytes).with_context(named)?;
    let mut notes = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    let header = notes.next().and_then(|line| serde_json::from_slice(line).ok());
    let Some(Note::Stream { version, target, fields, from }) = header else { bail!("{}: is damaged", named()) };
    if version != VERSION {
        bail!("{}: is of version {version}; this argiope reads version {VERSION}", named());
    }
    let mut last = (Reached::default(), Reached::default(), None);
    // What a crash cut off is the last line: its commit never came.
    for line in notes {
        match serde_json::from_slice(line) {
            Ok(Note::Lines { begin, end, witness }) => last = (begin, end, witness),
            Ok(Note::Stream { .. }) | Err(_) => break,
        }
    }
    let (begin, end, witness) = last;
    let is_possible = |reached: Reached| reached.bytes.max(reached.lines) <= POSITION_MAX;
    if !is_possible(begin) || !is_possible(end) || from > POSITION_MAX {
        bail!("{}: is damaged", named());
    }
    Ok(Some(Log { target, fields, from, begin, end, witness }))
}

fn standing(dir: &Path, view: &dyn CrawlView) -> anyhow::Result<Option<ResolvedLog>> {
    let Some(Log { target, fields, from, begin, end, witness }) = read_log(dir)? else { return Ok(None) };
    let reached = match witness {
        None => end,
        Some(witness) => {
            let is_it = |at| at == witness.at;
            let last = view.get(witness.url)?.and_then(|entry| entry.visit);
            let is_last = last.as_ref().is_some_and(|visit| is_it(visit.at));
            let was_committed = is_last || view.earlier(witness.url)?.iter().any(|visit| is_it(visit.at));
            let reached = if was_committed { end } else { begin };
            write_log(dir, &Note::Stream { version: VERSION, target: target.clone(), fields, from }, reached)?;
            reached
        }
    };
    Ok(Some(ResolvedLog { target, from, reached }))
}

/// Writes a log that says no more than this, whole or not at all.
fn write_log(dir: &Path, header: &Note, reached: Reached) -> anyhow::Result<File> {
    let path = log_path(dir);
    let temporary = path.with_extension("tmp");
    let write = || -> std::io::Result<File> {
        let notes = [header, &Note::Lines { begin: reached, end: reached, witness: None }];
        let mut file = fresh::create(&temporary)?;
        for note in notes {
            file.write_all(&line_of(note)?)?;
        }
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        File::open(dir)?.sync_all()?;
        Ok(file)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Where a stream goes on.
struct Place {
    reached: Reached,
    /// The byte of the stream with which the target begins.
    from: u64,
    /// The first byte that the target does not have.
    position: u64,
}

impl Place {
    /// The place in a target; `noted` is how much was given to a reader other than a file.
    fn of(target: &Target, standing: Option<ResolvedLog>, noted: Option<u64>) -> anyhow::Result<Self> {
        refuse_taken(target, standing.as_ref().map(|standing| standing.target.as_str()))?;
        let reached = standing.as_ref().map(|standing| standing.reached).unwrap_or_default();
        // What is beyond was never committed.
        let noted = noted.unwrap_or(0).min(reached.bytes);
        let from = match standing {
            Some(standing) if standing.target == target.to_string() => standing.from,
            Some(standing) => standing.target.parse::<Target>().map_or(noted, |before| match before {
                Target::File(path) => file_position(&path, standing.from).unwrap_or(standing.from).min(reached.bytes),
                Target::Stdout | Target::Unix(_) => noted,
            }),
            None => 0,
        };
        let position = match target {
            Target::File(path) => file_position(path, from).unwrap_or(from),
            Target::Stdout | Target::Unix(_) => noted.max(from),
        };
        if position > reached.bytes {
            bail!("--stream {target}: is longer than what was written to it: give another file to --stream");
        }
        Ok(Place { reached, from, position })
    }
}

/// Makes sure that the stream of a crawl, which is settled, can go on in a target. Nothing is written.
///
/// # Errors
/// It cannot.
pub(super) fn check(dir: &Path, view: &dyn CrawlView, target: &Target) -> anyhow::Result<()> {
    let noted = fresh::open_to_read(&dir.join("sent")).ok().and_then(|mut sent| read_number(&mut sent));
    let Place { reached, position, .. } = Place::of(target, standing(dir, view)?, noted)?;
    match bases(dir) {
        Ok(bases) => match bases.last() {
            Some(base) => refuse_shorter(target, position, *base),
            None => refuse_missing(dir, position, reached.bytes),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| dir.display().to_string()),
    }
}

/// Refuses a new target, other than that of the last run, which is a file with something in it. A process that was killed may have left an
/// empty one.
pub(super) fn refuse_taken(target: &Target, last: Option<&str>) -> anyhow::Result<()> {
    let Target::File(path) = target else { return Ok(()) };
    let has_content = || std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if last.is_none_or(|last| last != target.to_string()) && has_content() {
        bail!(usage(format!("--stream {target}: is there already, and is not the stream of this crawl")));
    }
    Ok(())
}

fn refuse_shorter(target: &Target, position: u64, base: u64) -> anyhow::Result<()> {
    if position < base {
        bail!("--stream {target}: is shorter than what was written to it: give another file to --stream");
    }
    Ok(())
}

fn refuse_missing(dir: &Path, position: u64, end: u64) -> anyhow::Result<()> {
    if position < end {
        bail!("{}: lines of the stream are missing: give another target to --stream", dir.display());
    }
    Ok(())
}

/// Where the files of lines begin, in order.
fn bases(dir: &Path) -> std::io::Result<Vec<u64>> {
    let mut bases = Vec::new();
    for entry in dir.read_dir()? {
        let name = entry?.file_name();
        bases.extend(name.to_str().and_then(|name| name.strip_prefix("outbox.")?.parse::<u64>().ok()));
    }
    bases.sort_unstable();
    Ok(bases)
}

fn line_of(note: &Note) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(note)?;
    line.push(b'\n');
    Ok(line)
}

impl Outbox {
    /// Opens the outbox of a crawl.
    pub(super) fn open(
        dir: &Path,
        view: &dyn CrawlView,
        to: &StreamTo,
        stopping: watch::Sender<bool>,
    ) -> anyhow::Result<Self> {
        let StreamTo { target, fields, buffer_bytes_max } = to;
        let buffer_bytes_max = *buffer_bytes_max;
        let make = || -> std::io::Result<()> {
            fresh::directory(dir)?;
            dir.parent().map_or(Ok(()), |root| File::open(root)?.sync_all())
        };
        make().with_context(|| dir.display().to_string())?;
        let standing = standing(dir, view)?;
        let sent_path = dir.join("sent");
        let sent = fresh::open(OpenOptions::new().read(true).write(true).create(true), &sent_path);
        let mut sent = sent.with_context(|| sent_path.display().to_string())?;
        let Place { reached, from, position } = Place::of(target, standing, read_number(&mut sent))?;
        let (file, base) = open_lines(dir, position, reached.bytes)?;
        refuse_shorter(target, position, base)?;
        let fields = fields.iter().map(ToString::to_string).collect();
        let header = Note::Stream { version: VERSION, target: target.to_string(), fields, from };
        let log = write_log(dir, &header, reached)?;
        let log_bytes = log.metadata()?.len();
        let state = State {
            file: Arc::new(file),
            base,
            end: reached.bytes,
            sent: position,
            safe: position,
            is_ended: false,
            is_aborted: false,
            is_gone: false,
            holds_commit: false,
            failed: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), stopping });
        let dir = dir.to_owned();
        Ok(Outbox { dir, log, log_bytes, header, reached, appended: reached, buffer_bytes_max, shared, sent })
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// The file in which the sender notes what was sent.
    pub(super) fn sent(&self) -> std::io::Result<File> {
        self.sent.try_clone()
    }

    /// Lines so far.
    pub(super) fn lines(&self) -> u64 {
        self.reached.lines
    }

    /// Puts in the lines of a batch, durably, once there is room.
    pub(super) fn append(&mut self, bytes: &[u8], lines: u64, witness: Witness) -> anyhow::Result<()> {
        self.shared.wait_for_room(bytes.len() as u64, self.buffer_bytes_max)?;
        self.reclaim()?;
        let begin = self.reached;
        let end = Reached { bytes: begin.bytes + bytes.len() as u64, lines: begin.lines + lines };
        let (file, base) = self.shared.file();
        let log = &mut self.log;
        let note = line_of(&Note::Lines { begin, end, witness: Some(witness) })?;
        let mut write = || -> std::io::Result<()> {
            file.write_all_at(bytes, begin.bytes - base)?;
            log.write_all(&note)?;
            file.sync_data()?;
            log.sync_data()
        };
        write().with_context(|| format!("cannot write the stream to {}", self.dir.display()))?;
        self.log_bytes += note.len() as u64;
        self.appended = end;
        Ok(())
    }

    /// What was put in is committed.
    pub(super) fn confirm(&mut self) -> anyhow::Result<()> {
        self.reached = self.appended;
        if self.log_bytes > LOG_BYTES_MAX {
            self.log = write_log(&self.dir, &self.header, self.reached)?;
            self.log_bytes = self.log.metadata()?.len();
        }
        self.shared.committed(self.reached.bytes);
        Ok(())
    }

    /// Removes what was sent, where that is much: most of the outbox, and more than what may wait.
    fn reclaim(&mut self) -> anyhow::Result<()> {
        let (file, base) = self.shared.file();
        let safe = self.shared.lock().safe;
        let (done, left) = (safe - base, self.reached.bytes - safe);
        if done < RECLAIMED_BYTES_MIN || done < left {
            return Ok(());
        }
        self.sent.sync_data()?;
        let mut tail = vec![0; usize::try_from(left)?];
        file.read_exact_at(&mut tail, done)?;
        let new = create_lines(&self.dir, safe, &tail)?;
        {
            let mut state = self.shared.lock();
            (state.file, state.base) = (Arc::new(new), safe);
        }
        Ok(std::fs::remove_file(lines_path(&self.dir, base))?)
    }
}

fn lines_path(dir: &Path, base: u64) -> PathBuf {
    dir.join(format!("outbox.{base}"))
}

fn create_lines(dir: &Path, base: u64, bytes: &[u8]) -> anyhow::Result<File> {
    let (path, temporary) = (lines_path(dir, base), dir.join("outbox.tmp"));
    let create = || -> std::io::Result<File> {
        fresh::write(&temporary, bytes)?;
        let file = fresh::open(OpenOptions::new().read(true).write(true), &temporary)?;
        file.sync_all()?;
        std::fs::rename(&temporary, &path)?;
        File::open(dir)?.sync_all()?;
        Ok(file)
    };
    create().with_context(|| format!("cannot write {}", path.display()))
}

/// Opens the outbox, which must reach from `position` to `end`. What is beyond the end was never committed.
fn open_lines(dir: &Path, position: u64, end: u64) -> anyhow::Result<(File, u64)> {
    let mut bases = bases(dir).with_context(|| dir.display().to_string())?;
    let newest = bases.pop();
    // Killed before it removed them.
    for base in bases {
        std::fs::remove_file(lines_path(dir, base))?;
    }
    let Some(base) = newest else {
        refuse_missing(dir, position, end)?;
        return Ok((create_lines(dir, end, &[])?, end));
    };
    let path = lines_path(dir, base);
    let file = fresh::open(OpenOptions::new().read(true).write(true), &path);
    let file = file.with_context(|| path.display().to_string())?;
    if file.metadata()?.len() < end.saturating_sub(base) {
        bail!("{}: lines of the stream are missing: is it of another crawl?", path.display());
    }
    file.set_len(end.saturating_sub(base)).with_context(|| path.display().to_string())?;
    Ok((file, base))
}

/// The position of a stream in a file; `None` if there is no such file.
fn file_position(path: &Path, from: u64) -> Option<u64> {
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|metadata| from + metadata.len())
}

fn read_number(file: &mut File) -> Option<u64> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self) -> (Arc<File>, u64) {
        let state = self.lock();
        (state.file.clone(), state.base)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn committed(&self, end: u64) {
        self.change(|state| state.end = end);
    }

    /// Nothing comes any more.
    pub(super) fn end(&self) {
        self.change(|state| state.is_ended = true);
    }

    /// The session is gone: nothing waits for an answer.
    pub(super) fn abort(&self) {
        self.change(|state| state.is_aborted = true);
    }

    /// The unsent bytes, and whether the reader has left.
    pub(super) fn left(&self) -> anyhow::Result<(u64, bool)> {
        let state = self.lock();
        match &state.failed {
            Some(failed) => Err(anyhow!("stream: {failed}")),
            None => Ok((state.end - state.sent, state.is_gone)),
        }
    }

    /// Waits while too many lines wait for the reader, unless the run is about to end: then little is under way.
    fn wait_for_room(&self, bytes: u64, bytes_max: u64) -> anyhow::Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(failed) = &state.failed {
                bail!("stream: {failed}");
            }
            let waiting = state.end - state.sent;
            let is_over = state.is_aborted || state.is_gone || *self.stopping.borrow();
            state.holds_commit = !is_over && waiting > 0 && waiting + bytes > bytes_max;
            if !state.holds_commit {
                return Ok(());
            }
            state = self.changed.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What to send from `position` on, at most `bytes_max`. Waits for it, but not long.
    pub(super) fn next(&self, position: u64, bytes_max: u64) -> std::io::Result<Next> {
        let mut state = self.lock();
        if state.end == position && !state.is_ended {
            state = self.changed.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.end == position {
            return Ok(if state.is_ended { Next::End } else { Next::Wait });
        }
        let (file, base, bytes) = (state.file.clone(), state.base, (state.end - position).min(bytes_max));
        drop(state);
        let mut read = vec![0; usize::try_from(bytes).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut read, position - base)?;
        Ok(Next::Send(read))
    }

    /// Where sending begins.
    pub(super) fn position(&self) -> u64 {
        self.lock().sent
    }

    /// Tells how far was sent, and up to where nothing is needed any more.
    pub(super) fn sent(&self, sent: u64, safe: u64) {
        self.change(|state| (state.sent, state.safe) = (sent, safe));
    }

    /// The reader has left: the run must end.
    pub(super) fn gone(&self) {
        self.change(|state| state.is_gone = true);
        self.stopping.send_replace(true);
    }

    pub(super) fn failed(&self, why: String) {
        self.change(|state| state.failed = Some(why));
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.lock().is_aborted
    }

    /// Whether the run has ended or must end, so it does not wait for a reader that takes nothing.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.is_aborted || *self.stopping.borrow()
    }

    /// True while a commit waits for the reader.
    pub(super) fn holds_commit(&self) -> bool {
        self.lock().holds_commit
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().is_ended
    }
}
