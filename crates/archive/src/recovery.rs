//! Files in the archive's directory that the state does not know, and what happens to them.
//!
//! A crash leaves records that were never committed: they are cut off, and their pages are fetched again. A state that does not belong to
//! the archive, since it was lost or restored from an older backup, looks similar. Then the records exist nowhere else, so they are *set
//! aside* in `archive/orphaned/`, and `argiope adopt` takes them in again.
//!
//! [`acknowledged`](super::acknowledged) and the indexes distinguish the two: what was committed is never cut. If that file is
//! missing (archives of earlier programs), or there is more than can be in flight, everything is set aside.
//!
//! Each step may be the last of a process: a tail is copied and durable before it is cut, a segment moves by a
//! rename, and nothing is set aside twice. Temporary files that a killed process left are removed: their names are
//! those of segments that may never come back.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use model::Limits;
use store::{CrawlView, Segment, StoreError};

use super::acknowledged::{Acknowledged, FILE as ACKNOWLEDGED, Reach, Said};
use super::error::directory;
use super::names::{BEGINNING, ENDING, serial_of, stem_of};
use super::{ArchiveError, ORPHANED, index_path, remove_if_there};

/// The field of a warcinfo record that names the crawl.
pub(super) const CRAWL_ID: &str = "argiope-crawl";
/// The mark of a file that is kept, beside it, has this ending. It holds the length of the file.
const MARK_ENDING: &str = ".kept";
/// The length of a mark: that of a number.
const MARK_BYTES_MAX: u64 = 20;
/// The largest size of a record beyond its payload, in bytes: heads, request, header.
const RECORD_OVERHEAD_BYTES_MAX: u64 = 256 << 10;
/// Records that wait to be committed, at most (`step::RECORDS_OPEN_MAX`), and those fetched meanwhile.
const RECORDS_UNCOMMITTED_MAX: u64 = 2_048;
/// Bytes of a warcinfo record that are read, at most.
const WARCINFO_BYTES_MAX: u64 = 1 << 20;
/// The first bytes of a record: those of a gzip member with deflate (RFC 1952 §2.3.1).
const GZIP: &[u8] = b"\x1f\x8b\x08";
/// The place of a record in a line of an index (CDXJ).
const OFFSET: &str = "\"offset\": \"";
/// Bytes of a line of an index, at most: URLs are shorter.
const INDEX_LINE_BYTES_MAX: u64 = 1 << 20;
/// Bytes behind a committed length that are looked at.
const PROBE_BYTES: u64 = 4 << 10;
/// Bytes copied or compared at once.
const COPY_BYTES: u64 = 1 << 20;

/// The archive as the state knows it.
#[derive(Clone, Debug)]
pub struct ArchiveInState {
    /// The crawl's id.
    pub crawl_id: String,
    /// The segments with their committed lengths.
    pub segments: Vec<Segment>,
    /// The state is empty: it has no URL.
    pub is_empty: bool,
    /// The largest size that can be in flight, in bytes of the archive: a crash leaves no more.
    pub in_flight_bytes_max: u64,
}

impl ArchiveInState {
    /// From a state, and from what a crawl within these limits can have in flight.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(store: &dyn CrawlView, limits: &Limits) -> Result<Self, StoreError> {
        let segments = store.segments()?;
        // The limit is looked at before a fetch is begun, so what was fetched by then comes on top.
        let payloads = limits.in_flight_bytes_max.saturating_add(limits.body_bytes_max);
        Ok(ArchiveInState {
            crawl_id: store.crawl_id()?,
            is_empty: segments.is_empty() && store.totals()?.urls == 0,
            segments,
            in_flight_bytes_max: payloads.saturating_add(RECORDS_UNCOMMITTED_MAX * RECORD_OVERHEAD_BYTES_MAX),
        })
    }
}

/// A segment or tail in the archive's directory that the state does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The segment's name.
    pub name: String,
    /// The offset of the unknown part, in bytes; 0 if the state does not know the segment.
    pub from: u64,
    /// The length of the unknown part, in bytes.
    pub bytes: u64,
    /// Its fate.
    pub fate: Fate,
}

/// The fate of a segment or tail that the state does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A crash left it: it is cut off, and its pages are fetched again.
    Cut,
    /// The state does not belong to the archive, or is an older one: it is set aside.
    SetAside,
}

/// A file that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    /// Its name in `archive/orphaned/`.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// What could be adopted of it was: it stays for the rest, which the crawl does not have.
    pub is_kept: bool,
}

impl Orphan {
    /// One that was just set aside, or is looked at for the first time.
    fn new(name: String, bytes: u64) -> Self {
        Orphan { name, bytes, is_kept: false }
    }
}

/// Finds the segments and tails in `dir` that the state does not know, with their fate. Changes nothing.
///
/// # Errors
/// The directory or a file cannot be read.
pub fn unknown(dir: &Path, known: &ArchiveInState) -> Result<Vec<Unknown>, ArchiveError> {
    let last = Reach::of(&known.segments);
    let is_last = |serial: u32| last.is_none_or(|last| serial >= last.serial);
    let mut unknown = Vec::new();
    for segment in &known.segments {
        let path = dir.join(&segment.name);
        let found = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(directory(&path, error)),
        };
        if let Some(bytes) = found.checked_sub(segment.length).filter(|bytes| *bytes > 0) {
            let fate = if is_last(segment.serial) { Fate::Cut } else { Fate::SetAside };
            unknown.push(Unknown { name: segment.name.clone(), from: segment.length, bytes, fate });
        }
    }
    for Orphan { name, bytes, .. } in segments_in(dir)? {
        if known.segments.iter().any(|segment| segment.name == name) {
            continue;
        }
        let follows = serial_of(&name).is_some_and(is_last);
        let is_left = follows && is_of(&dir.join(&name), &known.crawl_id);
        unknown.push(Unknown { name, from: 0, bytes, fate: if is_left { Fate::Cut } else { Fate::SetAside } });
    }
    let left = |unknown: &Unknown| if unknown.fate == Fate::Cut { unknown.bytes } else { 0 };
    let is_more_than_left = unknown.iter().map(left).sum::<u64>() > known.in_flight_bytes_max;
    if is_more_than_left || was_committed(dir, known, &unknown)? {
        unknown.iter_mut().for_each(|unknown| unknown.fate = Fate::SetAside);
    }
    Ok(unknown)
}

/// Whether a part that the state does not know was committed once: then the state is an older one, or of another crawl.
///
/// The file beside the segments may say so. It may also have been restored together with the state. So may an index: segments get theirs when
/// the state knows all of them, and lose it before more is written to them.
fn was_committed(dir: &Path, known: &ArchiveInState, unknown: &[Unknown]) -> Result<bool, ArchiveError> {
    let said = Said::read(dir).map_err(|source| directory(&dir.join(ACKNOWLEDGED), source))?;
    let is_beyond = |said: Said| said.crawl_id != known.crawl_id || said.reach > Reach::of(&known.segments);
    if said.is_none_or(is_beyond) {
        return Ok(true);
    }
    for part in unknown {
        let index = index_path(&dir.join(&part.name));
        if is_listed(&index, part.from).map_err(|source| directory(&index, source))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether there is this index, and it lists a record at `from` or behind.
fn is_listed(index: &Path, from: u64) -> io::Result<bool> {
    let mut lines = match fresh::open_to_read(index) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    if from == 0 {
        return Ok(true);
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        Read::by_ref(&mut lines).take(INDEX_LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(false);
        }
        let text = String::from_utf8_lossy(&line);
        let offset = text.split_once(OFFSET).and_then(|(_, rest)| rest.split_once('"')?.0.parse::<u64>().ok());
        if offset.is_some_and(|offset| offset >= from) {
            return Ok(true);
        }
    }
}

/// Brings the archive in `dir` in line with the state. Returns the files set aside.
///
/// # Errors
/// The state is empty, or of another crawl, beside segments: nothing was changed. Or the directory cannot be changed.
pub(super) fn recover(dir: &Path, known: &ArchiveInState) -> Result<(Acknowledged, Vec<Orphan>), ArchiveError> {
    make(dir)?;
    belongs_together(dir, known)?;
    bring_in_line(dir, known)
}

/// Checks quickly that the archive in `dir` belongs to the state. Changes nothing.
///
/// # Errors
/// The state is empty, or of another crawl, beside segments. Or the directory cannot be read.
pub fn belongs_together(dir: &Path, known: &ArchiveInState) -> Result<(), ArchiveError> {
    match fresh::is_directory(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|source| directory(dir, source))?,
    }
    let segments = segments_in(dir)?;
    if segments.is_empty() {
        return Ok(());
    }
    let bytes = segments.iter().map(|segment| segment.bytes).sum();
    if known.is_empty {
        return Err(ArchiveError::StateLost { dir: shown(dir), segments: segments.len(), bytes });
    }
    let said = Said::read(dir).map_err(|source| directory(&dir.join(ACKNOWLEDGED), source))?;
    if said.is_some_and(|said| said.crawl_id != known.crawl_id) {
        return Err(ArchiveError::OfAnotherCrawl { dir: shown(dir), segments: segments.len(), bytes });
    }
    Ok(())
}

/// Sets aside what the state does not know, even if the state is empty or of another crawl. From now on the archive belongs to
/// the state's crawl.
///
/// # Errors
/// The state points into segments that are not there: of its own crawl, or those of another crawl are there instead. Or the directory cannot be
/// changed.
pub fn set_aside(dir: &Path, known: &ArchiveInState) -> Result<Vec<Orphan>, ArchiveError> {
    make(dir)?;
    // Beside another crawl's segments, a repair of the state's own is no way out.
    is_whole(dir, known).map_err(|lost| belongs_together(dir, known).err().unwrap_or(lost))?;
    Ok(bring_in_line(dir, known)?.1)
}

/// Sets aside the tails that would be ([`unknown`]), without cutting them off: the caller cuts each segment to its length. What lies behind no
/// end of a record is no tail ([`is_record_end`]).
///
/// # Errors
/// The directory cannot be changed.
pub fn set_aside_tails(dir: &Path, known: &ArchiveInState) -> Result<Vec<Orphan>, ArchiveError> {
    let mut aside = Vec::new();
    for tail in unknown(dir, known)? {
        let path = dir.join(&tail.name);
        if tail.fate == Fate::SetAside && tail.from > 0 && is_record_end(&path, tail.from)? {
            aside.push(copy_tail(dir, &tail.name, tail.from).map_err(|source| directory(&path, source))?);
        }
    }
    Ok(aside)
}

/// What was set aside in the archive in `dir` and not adopted yet, by name.
///
/// # Errors
/// The directory cannot be read. One that is not there has nothing.
pub fn orphans(dir: &Path) -> Result<Vec<Orphan>, ArchiveError> {
    let orphaned = dir.join(ORPHANED);
    match fresh::is_directory(&orphaned) {
        Ok(()) => {
            let orphans = segments_in(&orphaned)?.into_iter();
            Ok(orphans.map(|orphan| Orphan { is_kept: is_marked(&orphaned, &orphan), ..orphan }).collect())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(directory(&orphaned, error)),
    }
}

/// Marks a file of the archive in `dir` that was set aside: what could be adopted of it was, and it is kept for the rest.
///
/// # Errors
/// The directory cannot be changed.
pub fn keep(dir: &Path, orphan: &Orphan) -> Result<(), ArchiveError> {
    let mark = mark_of(&dir.join(ORPHANED), &orphan.name);
    fresh::write(&mark, orphan.bytes.to_string().as_bytes()).map_err(|source| directory(&mark, source))
}

/// Takes such a mark away, if there is one.
///
/// # Errors
/// The directory cannot be changed.
pub fn no_longer_keep(dir: &Path, name: &str) -> Result<(), ArchiveError> {
    remove_if_there(&mark_of(&dir.join(ORPHANED), name))
}

fn mark_of(orphaned: &Path, name: &str) -> PathBuf {
    orphaned.join(format!("{name}{MARK_ENDING}"))
}

/// Whether a file is marked, and is the one that was: another of its name has another length.
fn is_marked(orphaned: &Path, orphan: &Orphan) -> bool {
    let mark = fresh::open_to_read(&mark_of(orphaned, &orphan.name));
    let mut said = String::new();
    let read = mark.and_then(|mark| mark.take(MARK_BYTES_MAX).read_to_string(&mut said));
    read.is_ok() && said == orphan.bytes.to_string()
}

fn make(dir: &Path) -> Result<(), ArchiveError> {
    let parent = dir.parent().map_or(Ok(()), fs::create_dir_all);
    parent.and_then(|()| fresh::directory(dir)).map_err(|source| directory(dir, source))
}

/// Checks quickly that each segment of the archive in `dir` has what the state points into. Changes nothing.
///
/// # Errors
/// A segment is missing, shorter, or changed from outside ([`is_record_end`]); the error names the way out. Or the directory cannot be read.
pub fn is_whole(dir: &Path, known: &ArchiveInState) -> Result<(), ArchiveError> {
    for segment in &known.segments {
        let path = dir.join(&segment.name);
        let found = fresh::open_to_read(&path).and_then(|file| file.metadata());
        let found = match found {
            Ok(metadata) => Some(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(directory(&path, error)),
        };
        if found.is_none_or(|found| found < segment.length) {
            return Err(ArchiveError::Lost { path: shown(&path), expected: segment.length, found });
        }
        if found > Some(segment.length) && !is_record_end(&path, segment.length)? {
            return Err(ArchiveError::Changed { path: shown(&path), length: segment.length });
        }
    }
    Ok(())
}

/// Whether a record of a segment ends at `offset`, up to which the state knows it. If none does, the segment was changed from outside: bytes
/// came in between, or it changed places with another one. Then the offset says nothing about what was committed.
///
/// # Errors
/// The segment cannot be read.
pub fn is_record_end(segment: &Path, offset: u64) -> Result<bool, ArchiveError> {
    let mut behind = Vec::new();
    let read = fresh::open_to_read(segment).and_then(|mut file| {
        file.seek(SeekFrom::Start(offset))?;
        file.take(PROBE_BYTES).read_to_end(&mut behind)
    });
    read.map_err(|source| directory(segment, source))?;
    // Another record begins there, or a crash left bytes that never reached the disk.
    let begun = &behind[..behind.len().min(GZIP.len())];
    if GZIP.starts_with(begun) || behind.iter().all(|byte| *byte == 0) {
        return Ok(true);
    }
    let failed = |error: warc::ReadError| directory(segment, io::Error::other(error));
    let mut walk = warc::Walk::open(segment).map_err(failed)?;
    while let Some(stretch) = walk.next(|_| Ok(())).map_err(failed)? {
        let warc::Stretch::Whole(location, ()) = stretch else { continue };
        let end = location.offset + location.length;
        if end >= offset {
            return Ok(end == offset);
        }
    }
    // No whole record lies behind.
    Ok(true)
}

fn bring_in_line(dir: &Path, known: &ArchiveInState) -> Result<(Acknowledged, Vec<Orphan>), ArchiveError> {
    is_whole(dir, known)?;
    remove_temporary(dir)?;
    let mut orphaned = Vec::new();
    for Unknown { name, from, fate, .. } in unknown(dir, known)? {
        let path = dir.join(&name);
        let done = match (fate, from) {
            (Fate::Cut, 0) => remove_if_there(&index_path(&path)).and_then(|()| remove_if_there(&path)).map(|()| None),
            (Fate::SetAside, 0) => move_aside(dir, &name).map(Some).map_err(|source| directory(&path, source)),
            (Fate::Cut, _) => cut(&path, from).map(|()| None).map_err(|source| directory(&path, source)),
            (Fate::SetAside, _) => {
                let copied = copy_tail(dir, &name, from).and_then(|orphan| cut(&path, from).map(|()| Some(orphan)));
                copied.map_err(|source| directory(&path, source))
            }
        };
        orphaned.extend(done?);
    }
    let said = Said { crawl_id: known.crawl_id.clone(), reach: Reach::of(&known.segments) };
    let acknowledged = Acknowledged::begin(dir, said).map_err(|source| directory(&dir.join(ACKNOWLEDGED), source))?;
    Ok((acknowledged, orphaned))
}

/// Removes the unfinished indexes and repairs of segments. No other process writes here: the crawl's lock is held.
fn remove_temporary(dir: &Path) -> Result<(), ArchiveError> {
    for name in names_in(dir)? {
        if name.starts_with(BEGINNING) && name.ends_with(".tmp") {
            remove_if_there(&dir.join(name))?;
        }
    }
    Ok(())
}

/// Cuts a segment to its committed length. An index that lists what is cut off goes first, so that no index ever names a record that is not
/// there; it is made again as for any segment without one.
fn cut(path: &Path, length: u64) -> io::Result<()> {
    let index = index_path(path);
    if is_listed(&index, length)? {
        fs::remove_file(&index)?;
    }
    let file = fresh::open_to_write(path)?;
    file.set_len(length)?;
    file.sync_all()
}

/// Moves a segment with its index aside.
fn move_aside(dir: &Path, name: &str) -> io::Result<Orphan> {
    let path = dir.join(name);
    let target = free_name(&orphaned(dir)?, stem_of(name));
    let bytes = fs::symlink_metadata(&path)?.len();
    let index = index_path(&path);
    if fs::symlink_metadata(&index).is_ok() {
        fs::rename(&index, index_path(&target))?;
    }
    fs::rename(&path, &target)?;
    sync(dir)?;
    Ok(Orphan::new(file_name(&target), bytes))
}

/// Copies what lies behind `from` in a segment to a file of its own: whole records of a valid file, up to where a write broke off.
fn copy_tail(dir: &Path, name: &str, from: u64) -> io::Result<Orphan> {
    let aside = orphaned(dir)?;
    let mut segment = fresh::open_to_read(&dir.join(name))?;
    let bytes = segment.metadata()?.len() - from;
    let stem = format!("{}-from-{from}", stem_of(name));
    // A process was killed behind the copying and before the cutting.
    let copied = aside.join(format!("{stem}{ENDING}"));
    if let Ok(mut copy) = fresh::open_to_read(&copied)
        && copy.metadata()?.len() == bytes
        && is_equal(&mut segment, from, &mut copy)?
    {
        return Ok(Orphan::new(file_name(&copied), bytes));
    }
    let (target, temporary) = (free_name(&aside, &stem), aside.join("tail.tmp"));
    let mut out = fresh::create(&temporary)?;
    segment.seek(SeekFrom::Start(from))?;
    io::copy(&mut segment.take(bytes), &mut out)?;
    out.flush()?;
    out.sync_all()?;
    fs::rename(&temporary, &target)?;
    sync(dir)?;
    Ok(Orphan::new(file_name(&target), bytes))
}

fn is_equal(segment: &mut File, from: u64, copy: &mut File) -> io::Result<bool> {
    segment.seek(SeekFrom::Start(from))?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        ours.clear();
        theirs.clear();
        Read::by_ref(segment).take(COPY_BYTES).read_to_end(&mut ours)?;
        Read::by_ref(copy).take(COPY_BYTES).read_to_end(&mut theirs)?;
        if ours != theirs {
            return Ok(false);
        }
        if ours.is_empty() {
            return Ok(true);
        }
    }
}

/// The directory of what is set aside, made if it is not there.
fn orphaned(dir: &Path) -> io::Result<PathBuf> {
    let path = dir.join(ORPHANED);
    fresh::directory(&path)?;
    Ok(path)
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir.join(ORPHANED))?.sync_all()?;
    File::open(dir)?.sync_all()
}

/// A path that nothing has: an older state may have been restored more than once.
fn free_name(dir: &Path, stem: &str) -> PathBuf {
    let mut path = dir.join(format!("{stem}{ENDING}"));
    let mut number = 1;
    while fs::symlink_metadata(&path).is_ok() {
        number += 1;
        path = dir.join(format!("{stem}-again-{number}{ENDING}"));
    }
    path
}

/// The segments in a directory, by name.
fn segments_in(dir: &Path) -> Result<Vec<Orphan>, ArchiveError> {
    let mut segments = Vec::new();
    for name in names_in(dir)? {
        if name.starts_with(BEGINNING) && name.ends_with(ENDING) {
            let path = dir.join(&name);
            let bytes = fs::symlink_metadata(&path).map_err(|source| directory(&path, source))?.len();
            segments.push(Orphan::new(name, bytes));
        }
    }
    segments.sort();
    Ok(segments)
}

/// The names of the files in a directory.
fn names_in(dir: &Path) -> Result<Vec<String>, ArchiveError> {
    let names = fs::read_dir(dir).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned())).collect()
    });
    names.map_err(|source| directory(dir, source))
}

/// Whether a segment is of this crawl, or was cut off before it said of which it is.
fn is_of(segment: &Path, crawl_id: &str) -> bool {
    let warcinfo = match warc::read_at(segment, 0, WARCINFO_BYTES_MAX) {
        Ok(warcinfo) => warcinfo,
        Err(error) => return matches!(error, warc::ReadError::Damaged { .. }),
    };
    let fields = String::from_utf8_lossy(&warcinfo.block).into_owned();
    let id = fields.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| *name == CRAWL_ID);
    id.is_some_and(|(_, id)| id == crawl_id)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests;
