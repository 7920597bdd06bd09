//! What readers open in place of the engine: a directory with links to its tables and copies of the rest.
//!
//! Opening an engine cuts its journals, replaces its manifests and removes files that these do not name. The files in `tables/` are
//! created exclusively, written once, and after that only read or removed. In the mirror a removal takes the link.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fresh::Temporary;
use store::StoreError;

use crate::error;
use crate::tables::ENGINE_DIR;

/// The directory of a table's files that are never written again.
const TABLES_DIR: &str = "tables";
/// The engine's own lock.
const LOCK_FILE: &str = "lock";
/// Bytes copied at once.
const WINDOW_BYTES: usize = 64 << 10;
static ZEROS: [u8; WINDOW_BYTES] = [0; WINDOW_BYTES];
const DOING: &str = "copying the journals of the state, to read it";

/// Table files that a mirror holds open, at most: a process has a thousand descriptors as a rule, and needs others.
const HELD_MAX: usize = 512;

/// A mirror, until it is dropped.
pub(crate) struct Mirror {
    dir: Temporary,
    /// The files of the tables that the links lead to, where the mirror outlives the lock of the store.
    _held: Vec<File>,
}

/// What the links to the files of tables lead to.
enum Links {
    /// The files by their names: nothing removes them while the store is locked.
    Named,
    /// The files themselves, held open. A removed one is there as long as it is open.
    Held(Vec<File>),
}

impl Mirror {
    /// Mirrors the engine of the store in `dir`, which no process has open to commit as long as the mirror is there.
    pub(crate) fn of(dir: &Path) -> Result<Self, StoreError> {
        Mirror::with(dir, Links::Named)
    }

    /// The same, but a process may have the store open to commit as soon as this returns. `None` where there are too many tables.
    pub(crate) fn apart(dir: &Path) -> Result<Option<Self>, StoreError> {
        match Mirror::with(dir, Links::Held(Vec::new())) {
            Err(StoreError::Backend { source, .. }) if source.is::<TooMany>() => Ok(None),
            mirror => mirror.map(Some),
        }
    }

    fn with(dir: &Path, mut links: Links) -> Result<Self, StoreError> {
        // Relative links would lead elsewhere.
        let from = dir.canonicalize().map_err(|error| error::system_at(dir, DOING, &error))?.join(ENGINE_DIR);
        let temporary = std::env::temp_dir();
        let made = Temporary::new_in(&temporary);
        let mut mirror = Mirror { dir: made.map_err(|error| not_written(&temporary, error))?, _held: Vec::new() };
        if from.try_exists().map_err(|error| error::system_at(&from, DOING, &error))? {
            let to = mirror.dir.path().join(ENGINE_DIR);
            fill(&from, &to, &mut links)?;
            // The engine misses its lock, which who copied the directory may have left out.
            let lock = to.join(LOCK_FILE);
            let there = File::options().append(true).create(true).open(&lock);
            there.map_err(|error| not_written(&lock, error))?;
        }
        if let Links::Held(held) = links {
            mirror._held = held;
        }
        Ok(mirror)
    }

    /// Where the engine's directory is in.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Empties and removes the journals, by far the largest of what was copied, once the engine has read them. From then on the mirror
    /// takes hardly any space, also where a process is killed and leaves it behind.
    pub(crate) fn remove_journals(&self) {
        let entries = fs::read_dir(self.dir.path().join(ENGINE_DIR)).into_iter().flatten().map_while(Result::ok);
        for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "jnl")) {
            // Where it cannot be, it goes with the mirror.
            let _ = File::create(&path).and_then(|_| fs::remove_file(&path));
        }
    }
}

/// There are more tables than a mirror holds open.
#[derive(Debug)]
struct TooMany;

impl std::fmt::Display for TooMany {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more than {HELD_MAX} tables")
    }
}

impl std::error::Error for TooMany {}

impl Links {
    /// Where a link to this file leads.
    fn target(&mut self, file: &Path) -> Result<PathBuf, StoreError> {
        let Links::Held(held) = self else { return Ok(file.to_owned()) };
        if held.len() >= HELD_MAX {
            return Err(StoreError::Backend { doing: DOING, source: Box::new(TooMany) });
        }
        let open = fresh::open_to_read(file).map_err(|error| error::system_at(file, DOING, &error))?;
        // A file that is open can be opened again by its descriptor, also when it has no name any more (proc_pid_fd(5)).
        let target = PathBuf::from(format!("/proc/self/fd/{}", open.as_raw_fd()));
        held.push(open);
        Ok(target)
    }
}

/// Makes the directory `to` a mirror of `from`.
fn fill(from: &Path, to: &Path, links: &mut Links) -> Result<(), StoreError> {
    let unread = |error| error::system_at(from, DOING, &error);
    fs::create_dir(to).map_err(|error| not_written(to, error))?;
    let is_of_tables = from.file_name().is_some_and(|name| name == TABLES_DIR);
    for entry in fs::read_dir(from).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(unread)?.is_dir() {
            fill(&from, &to, links)?;
        } else if is_of_tables {
            let target = links.target(&from)?;
            symlink(target, &to).map_err(|error| not_written(&to, error))?;
        } else {
            copy(&from, &to)?;
        }
    }
    Ok(())
}

/// Copies a file. Journals are made 64 MB long at once, and most of that may never be written: zeros take no space in the copy.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let unread = |error| error::system_at(from, DOING, &error);
    let unwritten = |error| not_written(to, error);
    let mut source = fresh::open_to_read(from).map_err(unread)?;
    let mut target = File::create_new(to).map_err(unwritten)?;
    let (mut window, mut length) = ([0; WINDOW_BYTES], 0);
    loop {
        let bytes = match source.read(&mut window) {
            Ok(0) => break,
            Ok(bytes) => &window[..bytes],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unread(error)),
        };
        if bytes != &ZEROS[..bytes.len()] {
            target.seek(SeekFrom::Start(length)).and_then(|_| target.write_all(bytes)).map_err(unwritten)?;
        }
        length += bytes.len() as u64;
    }
    target.set_len(length).map_err(unwritten)
}

/// Says which directory is full, for it is not the one that was asked to be read.
fn not_written(path: &Path, error: io::Error) -> StoreError {
    if error::is_full(&error) {
        let place = format!("{}: set TMPDIR to a directory with more of it", path.display());
        return StoreError::Full { place };
    }
    let why = format!("{}: {error}; set TMPDIR to a directory that may be written to", path.display());
    StoreError::Backend { doing: DOING, source: Box::new(io::Error::new(error.kind(), why)) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn tables_are_links_the_rest_are_copies_and_all_goes_with_the_mirror() {
        let dir = tempfile::tempdir().expect("a directory");
        let tables = dir.path().join("engine/keyspaces/1/tables");
        fs::create_dir_all(&tables).expect("made");
        for file in ["engine/7.jnl", "engine/version", "engine/keyspaces/1/current", "engine/keyspaces/1/tables/3"] {
            fs::write(dir.path().join(file), file).expect("written");
        }
        let mirror = Mirror::of(dir.path()).expect("a mirror");
        let at = |file: &str| mirror.path().join(file);
        for file in ["engine/7.jnl", "engine/version", "engine/keyspaces/1/current"] {
            assert_eq!(fs::read_to_string(at(file)).expect("a copy"), file);
            assert!(!at(file).is_symlink());
        }
        let table = at("engine/keyspaces/1/tables/3");
        assert!(table.is_symlink());
        fs::remove_file(&table).expect("removed");
        assert!(tables.join("3").exists());
        mirror.remove_journals();
        assert!(!at("engine/7.jnl").exists() && at("engine/version").exists());
        let path = mirror.path().to_owned();
        drop(mirror);
        assert!(!path.exists() && tables.join("3").exists() && dir.path().join("engine/7.jnl").exists());
    }

    #[test]
    fn a_mirror_apart_has_the_tables_that_were_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let tables = dir.path().join("engine/keyspaces/1/tables");
        fs::create_dir_all(&tables).expect("made");
        fs::write(tables.join("3"), "rows").expect("written");
        let mirror = Mirror::apart(dir.path()).expect("a mirror").expect("few tables");
        fs::remove_file(tables.join("3")).expect("removed");
        let table = mirror.path().join("engine/keyspaces/1/tables/3");
        assert_eq!(fs::read_to_string(table).expect("the file that it was"), "rows");
        drop(mirror);
        for table in 0..=HELD_MAX {
            fs::write(tables.join(table.to_string()), "").expect("written");
        }
        assert!(Mirror::apart(dir.path()).expect("looked at").is_none(), "too many are held open");
    }

    #[test]
    fn a_copy_has_all_bytes_and_no_space_for_zeros() {
        let dir = tempfile::tempdir().expect("a directory");
        let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
        let zeros = |windows: usize| vec![0; windows * WINDOW_BYTES];
        for parts in
            [[vec![], vec![1; 3]], [vec![2; WINDOW_BYTES + 1], zeros(40)], [zeros(40), vec![3; 5]], [vec![], vec![]]]
        {
            fs::write(&from, parts.concat()).expect("written");
            copy(&from, &to).expect("a copy");
            assert!(fs::read(&to).expect("a copy") == parts.concat());
            assert!(to.metadata().expect("a copy").blocks() * 512 <= 3 * WINDOW_BYTES as u64);
            fs::remove_file(&to).expect("removed");
        }
    }
}
