//! Rows that later visits have superseded: for each segment the keys of the URLs whose rows there say no more what is at the URL.
//!
//! A segment holds one visit of a URL at most, so a key tells which rows are meant. The rows stay: they are the history of the crawl.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read};
use std::path::Path;

use weburl::UrlKey;

use crate::layout::{SUPERSEDED_DIR, SUPERSEDED_EXTENSION, superseded_list};
use crate::schema::Table;
use crate::{DatasetError, Layout, UNRECORDED};

/// The file that is locked while the lists are replaced: several processes may answer queries from one dataset.
const LOCK: &str = "lock";
/// The file that says of which state of the crawl the lists are.
const SETTLED: &str = "settled";
/// The longest such file, in bytes: a line for each list.
const SETTLED_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a key in a list.
const KEY_BYTES: usize = 16;

/// Superseded rows by the names of their segments (`NAME.warc.gz`, or [`crate::UNRECORDED`]).
pub type Superseded = BTreeMap<String, BTreeSet<UrlKey>>;

/// Of which state of the crawl the lists and the file of unrecorded pages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Of none: there are no lists.
    No,
    /// An earlier version wrote them, and did not say it.
    Unsaid,
    /// They are not the files that were written then: some are gone, or of an older copy.
    Changed,
    /// Of this one.
    As(String),
}

/// Finds out of which state of the crawl the lists and the file of unrecorded pages are.
///
/// # Errors
/// The directory cannot be read.
pub fn settled(layout: &Layout) -> Result<Settled, DatasetError> {
    let path = layout.root().join(SUPERSEDED_DIR).join(SETTLED);
    let mut text = String::new();
    let read = fresh::open_to_read(&path).and_then(|file| file.take(SETTLED_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(if has_superseded(layout) { Settled::Unsaid } else { Settled::No });
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => return Ok(Settled::Changed),
        Err(error) => return Err(DatasetError::io(&path, error)),
    }
    let files = files_of(layout)?;
    Ok(match text.split_once('\n') {
        Some((state, said)) if said == files => Settled::As(state.to_owned()),
        _ => Settled::Changed,
    })
}

/// Says that the lists and the file of unrecorded pages, as they are, are of this state of the crawl, which is one line.
///
/// # Errors
/// The file cannot be written.
pub fn mark_settled(layout: &Layout, state: &str) -> Result<(), DatasetError> {
    let path = layout.root().join(SUPERSEDED_DIR).join(SETTLED);
    replace(&path, format!("{state}\n{}", files_of(layout)?).as_bytes())
}

/// A line for each of these files: its length and its name. Lists mostly grow, so an older one has another length.
fn files_of(layout: &Layout) -> Result<String, DatasetError> {
    let dir = layout.root().join(SUPERSEDED_DIR);
    let mut lines = BTreeSet::new();
    let entries = std::fs::read_dir(&dir).map_err(|error| DatasetError::io(&dir, error))?;
    let paths = entries.map(|entry| Ok(entry.map_err(|error| DatasetError::io(&dir, error))?.path()));
    let mut paths = paths.collect::<Result<Vec<_>, DatasetError>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == SUPERSEDED_EXTENSION));
    paths.push(layout.file(Table::Pages, UNRECORDED));
    for path in paths {
        match std::fs::metadata(&path) {
            Ok(metadata) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                lines.insert(format!("{} {name}\n", metadata.len()));
            }
            // Another process may replace them.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(DatasetError::io(&path, error)),
        }
    }
    Ok(lines.into_iter().collect())
}

/// Writes the lists, in place of all that there were.
///
/// # Errors
/// A list cannot be written or removed.
pub fn write_superseded(layout: &Layout, superseded: &Superseded) -> Result<(), DatasetError> {
    let dir = layout.root().join(SUPERSEDED_DIR);
    fresh::directory(&dir).map_err(|error| DatasetError::io(&dir, error))?;
    let lock = dir.join(LOCK);
    let locked = fresh::open_or_create(&lock).and_then(|file| file.lock().map(|()| file));
    let _locked = locked.map_err(|error| DatasetError::io(&lock, error))?;
    // With other lists than it names, it says that they changed.
    let mut written = BTreeSet::from([lock, dir.join(SETTLED)]);
    for (segment, keys) in superseded {
        let path = layout.superseded(segment);
        write(&path, keys)?;
        written.insert(path);
    }
    for entry in std::fs::read_dir(&dir).map_err(|error| DatasetError::io(&dir, error))? {
        let path = entry.map_err(|error| DatasetError::io(&dir, error))?.path();
        if !written.contains(&path) {
            std::fs::remove_file(&path).map_err(|error| DatasetError::io(&path, error))?;
        }
    }
    Ok(())
}

/// Whether the lists exist. The first settling writes them.
#[must_use]
pub fn has_superseded(layout: &Layout) -> bool {
    layout.root().join(SUPERSEDED_DIR).is_dir()
}

/// Whether a row of this dataset is superseded.
///
/// # Errors
/// The dataset cannot be read.
pub fn supersedes_rows(layout: &Layout) -> Result<bool, DatasetError> {
    for table in layout.files(Table::Pages)? {
        let list = superseded_list(layout.root(), &table.file_stem().unwrap_or_default().to_string_lossy());
        match std::fs::metadata(&list) {
            Ok(metadata) if metadata.len() > 0 => return Ok(true),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(DatasetError::io(&list, error)),
        }
    }
    Ok(false)
}

/// Brings what the lists say of some URLs up to date: adds the rows that are superseded, and takes out those that say what is there. A list may
/// name a row that was not there when it was written: a file is made again after a repair, and gets a later visit of the same URL.
///
/// # Errors
/// A list cannot be read or written.
pub fn update_superseded(layout: &Layout, superseded: &Superseded, present: &Superseded) -> Result<(), DatasetError> {
    let none = BTreeSet::new();
    let segments: BTreeSet<&String> = superseded.keys().chain(present.keys()).collect();
    for segment in segments {
        let path = layout.superseded(segment);
        let before = read(&path)?;
        let mut keys = before.clone();
        keys.extend(superseded.get(segment).unwrap_or(&none));
        for key in present.get(segment).unwrap_or(&none) {
            keys.remove(key);
        }
        if keys != before {
            write(&path, &keys)?;
        }
    }
    Ok(())
}

/// Copies the lists of the keys that `admits` lets through. A dataset without lists is copied without.
///
/// # Errors
/// A list cannot be read or written, or `admits` fails.
pub fn copy_superseded<E: From<DatasetError>>(
    from: &Layout,
    to: &Layout,
    admits: &mut dyn FnMut(UrlKey) -> Result<bool, E>,
) -> Result<(), E> {
    if !has_superseded(from) {
        return Ok(());
    }
    let mut copied = Superseded::new();
    let mut stems = BTreeSet::new();
    for table in Table::ALL {
        let files = from.files(table)?;
        stems.extend(files.iter().filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())));
    }
    for stem in stems {
        let mut admitted = BTreeSet::new();
        for key in read(&from.superseded(&stem))? {
            if admits(key)? {
                admitted.insert(key);
            }
        }
        copied.insert(stem, admitted);
    }
    Ok(write_superseded(to, &copied)?)
}

fn write(path: &Path, keys: &BTreeSet<UrlKey>) -> Result<(), DatasetError> {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_bytes()).collect();
    replace(path, &bytes)
}

fn replace(path: &Path, bytes: &[u8]) -> Result<(), DatasetError> {
    let unfinished = path.with_extension("unfinished");
    let renamed = fresh::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path));
    renamed.map_err(|error| DatasetError::io(path, error))
}

/// The keys whose rows in this file of a table of the dataset at `root` are superseded.
pub(crate) fn of_file(root: &Path, table: &Path) -> Result<BTreeSet<UrlKey>, DatasetError> {
    let stem = table.file_stem().unwrap_or_default();
    read(&superseded_list(root, &stem.to_string_lossy()))
}

fn read(path: &Path) -> Result<BTreeSet<UrlKey>, DatasetError> {
    let mut bytes = Vec::new();
    match fresh::open_to_read(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(DatasetError::io(path, error)),
    }
    let (keys, rest) = bytes.as_chunks::<KEY_BYTES>();
    if !rest.is_empty() {
        return Err(DatasetError::format(path, "a list of keys ends within a key"));
    }
    Ok(keys.iter().map(|key| UrlKey::from_bytes(*key)).collect())
}

#[cfg(test)]
mod tests {
    use weburl::SiteKey;

    use super::*;

    #[test]
    fn a_list_names_no_row_that_says_what_is_there() {
        let root = tempfile::tempdir().expect("a directory");
        let layout = Layout::at(root.path());
        let keys =
            |urls: &[u64]| urls.iter().map(|url| UrlKey { site: SiteKey(1), url: *url }).collect::<BTreeSet<_>>();
        let of = |segment: &str, urls: &[u64]| Superseded::from([(segment.to_owned(), keys(urls))]);
        write_superseded(&layout, &of("a.warc.gz", &[1, 2])).expect("written");
        let check = |superseded: &Superseded, present: &Superseded, expect: [&[u64]; 2]| {
            update_superseded(&layout, superseded, present).expect("written");
            let lists = ["a.warc.gz", "b.warc.gz"].map(|name| read(&layout.superseded(name)).expect("a list"));
            assert_eq!(lists, expect.map(keys));
        };
        check(&of("a.warc.gz", &[3]), &of("a.warc.gz", &[2]), [&[1, 3], &[]]);
        check(&of("b.warc.gz", &[1]), &of("a.warc.gz", &[1, 3, 4]), [&[], &[1]]);
        check(&Superseded::new(), &of("b.warc.gz", &[1]), [&[], &[]]);
    }
}
