//! The files that hold payloads, found below what a user gives.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::{AgainstError, cdxj};

/// How deep directories are searched.
const DEPTH_MAX: usize = 4;
/// The first bytes of a file that show its kind.
const BEGIN_BYTES: u64 = 4_096;

/// A file, or a part of one, to which entries point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// Where the WARC file begins in it, in bytes: in a WACZ file, else 0.
    pub(crate) base: u64,
}

/// What entries point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Records of a WARC file.
    Warc,
    /// Lines of an index whose WARC files are not there.
    Lines,
}

/// A file that was taken in, as it was then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) path: PathBuf,
    bytes: u64,
    modified_micros: u64,
}

impl Seen {
    fn of(path: PathBuf) -> Result<Self, AgainstError> {
        let metadata = fs::metadata(&path).map_err(AgainstError::io(&path))?;
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified_micros = modified.map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        Ok(Seen { path, bytes: metadata.len(), modified_micros })
    }
}

/// A file with payloads, or with an index of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Warc,
    Wacz,
    Cdxj,
}

/// The files below a path that a user gives: the path itself, or what lies in the directory. Where an index of a WARC file lies beside
/// it, the index is read in its place.
///
/// # Errors
/// The path cannot be read, or nothing below it can be read against.
pub(crate) fn files_of(given: &Path) -> Result<Vec<(Form, Seen)>, AgainstError> {
    let path = fs::canonicalize(given).map_err(AgainstError::io(given))?;
    let mut files = Vec::new();
    if path.is_dir() {
        search(&path, 0, &mut files)?;
        if files.is_empty() {
            let detail = "there is no WARC file, WACZ file or CDXJ index in this directory".to_owned();
            return Err(AgainstError::Form { path, detail });
        }
        files.sort();
    } else {
        files.push(path);
    }
    let is_indexed = |path: &PathBuf| files.binary_search(&path.with_extension("").with_extension("cdxj")).is_ok();
    let wanted: Vec<PathBuf> = files
        .iter()
        .filter(|path| !(path.to_string_lossy().ends_with(".warc.gz") && is_indexed(path)))
        .cloned()
        .collect();
    wanted.into_iter().map(|path| Ok((form_of(&path)?, Seen::of(path)?))).collect()
}

/// Finds files by their names. Links are not followed, and what a crawl set aside does not count.
fn search(dir: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), AgainstError> {
    for entry in fs::read_dir(dir).map_err(AgainstError::io(dir))? {
        let path = entry.map_err(AgainstError::io(dir))?.path();
        let kind = fs::symlink_metadata(&path).map_err(AgainstError::io(&path))?.file_type();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if kind.is_dir() && depth < DEPTH_MAX && name != "orphaned" {
            search(&path, depth + 1, files)?;
        } else if kind.is_file() && [".warc", ".warc.gz", ".wacz", ".cdxj"].iter().any(|ending| name.ends_with(ending))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// What a file is, by its first bytes.
fn form_of(path: &Path) -> Result<Form, AgainstError> {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(BEGIN_BYTES).read_to_end(&mut begin));
    read.map_err(AgainstError::io(path))?;
    if begin.starts_with(b"PK\x03\x04") {
        return Ok(Form::Wacz);
    }
    let is_gzip = begin.starts_with(&[0x1f, 0x8b]);
    if is_gzip || begin.starts_with(b"WARC/") {
        return Ok(Form::Warc);
    }
    // An index of nothing is one too.
    if cdxj::is_index(&begin) || begin.is_empty() {
        return Ok(Form::Cdxj);
    }
    let detail = "is no WARC file, WACZ file or CDXJ index".to_owned();
    Err(AgainstError::Form { path: path.to_owned(), detail })
}

/// Where the WARC file lies that an index names: beside the index, or in `archive/` beside the directory of the index.
pub(crate) fn beside(index: &Path, filename: &str) -> Option<PathBuf> {
    let dir = index.parent()?;
    let name = Path::new(filename);
    // An index that came from somewhere else must not lead out of its directory.
    let is_plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let places = [Some(dir.join(name)), dir.parent().map(|parent| parent.join("archive").join(name))];
    places.into_iter().flatten().filter(|_| is_plain).find(|path| path.is_file())
}
