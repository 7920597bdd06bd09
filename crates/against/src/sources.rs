//! The files that hold payloads, found below what a user gives.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::{AgainstError, DIR, cdxj};

/// The name of the file of what was taken in, and how it begins.
pub(crate) const NAME: &str = "payloads";
pub(crate) const MAGIC: &[u8; 16] = b"argiope-against1";
/// How deep directories are searched.
const DEPTH_MAX: usize = 4;
/// The first bytes of a file that show its kind.
const BEGIN_BYTES: u64 = 4_096;

/// A file, or a part of one, to which entries point.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    /// Where the WARC file begins in it, in bytes: in a WACZ file, else 0.
    pub(crate) base: u64,
}

/// What entries point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// What an earlier crawl took in itself.
    TakenIn,
}

/// What lies below a path that a user gives.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<(Form, Seen)>,
    /// Symbolic links that seem to lead to an archive.
    pub(crate) links: Vec<PathBuf>,
}

/// The files below a path that a user gives: the path itself, or what lies in the directory. Where an index of a WARC file lies beside
/// it, the index is read in its place, unless the file was written since.
///
/// # Errors
/// The path cannot be read, or nothing below it can be read against.
pub(crate) fn files_of(given: &Path) -> Result<Found, AgainstError> {
    let path = fs::canonicalize(given).map_err(AgainstError::io(given))?;
    let (mut files, mut links) = (Vec::new(), Vec::new());
    if path.is_dir() {
        search(&path, 0, &mut files, &mut links)?;
        if files.is_empty() {
            let hint = if links.is_empty() { "" } else { "; symbolic links are not followed: name what they lead to" };
            let detail = format!("there is no WARC file, WACZ file or CDXJ index in this directory{hint}");
            return Err(AgainstError::Form { path, detail });
        }
        files.sort();
    } else {
        files.push(path);
    }
    // Of a WARC file and its index, the older one: the index is, if it is stale.
    let mut passed_over = HashSet::new();
    for warc in files.iter().filter(|path| path.to_string_lossy().ends_with(".warc.gz")) {
        let index = warc.with_extension("").with_extension("cdxj");
        if files.binary_search(&index).is_ok() {
            let is_stale = Seen::of(index.clone())?.modified_micros < Seen::of(warc.clone())?.modified_micros;
            passed_over.insert(if is_stale { index } else { warc.clone() });
        }
    }
    let wanted = files.into_iter().filter(|path| !passed_over.contains(path));
    let files = wanted.map(|path| Ok((form_of(&path)?, Seen::of(path)?))).collect::<Result<_, AgainstError>>()?;
    Ok(Found { files, links })
}

/// Finds files by their names. Links are counted, not followed. What a crawl set aside does not count.
fn search(dir: &Path, depth: usize, files: &mut Vec<PathBuf>, links: &mut Vec<PathBuf>) -> Result<(), AgainstError> {
    for entry in fs::read_dir(dir).map_err(AgainstError::io(dir))? {
        let path = entry.map_err(AgainstError::io(dir))?.path();
        let kind = fs::symlink_metadata(&path).map_err(AgainstError::io(&path))?.file_type();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_wanted = [".warc", ".warc.gz", ".wacz", ".cdxj"].iter().any(|ending| name.ends_with(ending))
            || name == NAME && dir.ends_with(DIR);
        if kind.is_dir() && depth < DEPTH_MAX && name != "orphaned" {
            search(&path, depth + 1, files, links)?;
        } else if kind.is_file() && is_wanted {
            files.push(path);
        } else if kind.is_symlink() && (is_wanted || path.is_dir()) {
            links.push(path);
        }
    }
    Ok(())
}

/// What a file is, by its first bytes.
fn form_of(path: &Path) -> Result<Form, AgainstError> {
    let mut begin = Vec::new();
    let read = fresh::open_to_read(path).and_then(|file| file.take(BEGIN_BYTES).read_to_end(&mut begin));
    read.map_err(AgainstError::io(path))?;
    if begin.starts_with(MAGIC) {
        return Ok(Form::TakenIn);
    }
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

/// The WARC file that an index names.
pub(crate) enum Named {
    /// It lies here.
    File(PathBuf),
    /// This symbolic link lies in its place.
    Link(PathBuf),
    /// It is not there.
    Nothing,
}

/// Looks for the WARC file that an index names: beside the index, or in `archive/` beside the directory of the index.
pub(crate) fn named(index: &Path, filename: &str) -> Named {
    let name = Path::new(filename);
    // An index that came from somewhere else must not lead out of its directory.
    let is_plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let dirs =
        [index.parent().map(Path::to_owned), index.parent().and_then(Path::parent).map(|dir| dir.join("archive"))];
    for path in dirs.into_iter().flatten().filter(|_| is_plain).map(|dir| dir.join(name)) {
        match fs::symlink_metadata(&path).map(|found| found.file_type()) {
            Ok(kind) if kind.is_file() => return Named::File(path),
            Ok(kind) if kind.is_symlink() => return Named::Link(path),
            _ => {}
        }
    }
    Named::Nothing
}
