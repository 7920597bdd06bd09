//! Reading: the answers of the open store, by many at once, and nothing in the directory changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use store::{CrawlView, Store, StoreError};
use store_embedded::{EmbeddedStore, EmbeddedView, Options};
use tempfile::TempDir;
use testkit::batches::{content, expected, numbered};

const BATCHES: u64 = 300;

/// Small enough that tables are written out and merged, and the queue has generations.
fn options() -> Options {
    Options { write_buffer_bytes: 16 << 10, generation_urls: 500, ..Options::default() }
}

fn open(dir: &Path) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(dir, options())
}

fn open_to_read(dir: &Path) -> Result<EmbeddedView, StoreError> {
    EmbeddedStore::open_to_read(dir, &options())
}

fn closed_after(batches: u64) -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let store = open(dir.path()).expect("open");
    (1..=batches).for_each(|number| assert!(store.commit(&numbered(number)).is_ok(), "batch {number}"));
    dir
}

/// All that can be told of the files below a directory, but when they were last read.
fn files(dir: &Path) -> BTreeMap<PathBuf, (u32, [i64; 4], Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().expect("a file");
        if metadata.is_dir() {
            left.extend(path.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()));
        }
        let bytes = if metadata.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        found.insert(path, (metadata.mode(), times, bytes));
    }
    found
}

fn is_in_use(error: Option<StoreError>) -> bool {
    matches!(error, Some(StoreError::InUse { .. }))
}

#[test]
fn readers_find_what_the_open_store_has_and_change_nothing() {
    let dir = closed_after(BATCHES);
    let store = open(dir.path()).expect("open");
    let (expect, crawl_id) = (content(&store), store.crawl_id().expect("an id"));
    assert!(expect == expected(BATCHES));
    drop(store);
    let tables = |path: &&PathBuf| path.parent().is_some_and(|parent| parent.ends_with("tables"));
    let before = files(dir.path());
    assert!(before.keys().filter(tables).count() > 5, "the state is more than a journal");
    let readers: Vec<_> = (0..3).map(|_| open_to_read(dir.path()).expect("read")).collect();
    for reader in &readers {
        assert!(content(reader) == expect);
        assert_eq!(reader.crawl_id().expect("an id"), crawl_id);
        let unrecorded = reader.unrecorded(None, usize::MAX).expect("visits");
        assert!(!unrecorded.is_empty() && reader.get(unrecorded[0].candidate.url.key()).is_ok());
    }
    drop(readers);
    assert!(files(dir.path()) == before, "a reader changes nothing");
    assert!(content(&open(dir.path()).expect("open")) == expect);
}

#[test]
fn who_commits_and_who_reads_keep_each_other_away() {
    let dir = closed_after(3);
    let store = open(dir.path()).expect("open");
    assert!(is_in_use(open_to_read(dir.path()).err()));
    drop(store);
    let readers = [open_to_read(dir.path()).expect("read"), open_to_read(dir.path()).expect("read")];
    for reader in readers {
        assert!(is_in_use(open(dir.path()).err()), "while one reads");
        drop(reader);
    }
    open(dir.path()).expect("nobody reads").commit(&numbered(4)).expect("commit");
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(4));
}

/// A view of an open store and a reader are the same but for that.
#[test]
fn a_view_outlives_its_store_as_a_reader_does() {
    let dir = closed_after(3);
    let view = open(dir.path()).and_then(|store| store.view()).expect("a view");
    assert!(is_in_use(open_to_read(dir.path()).err()));
    assert!(content(&*view) == expected(3));
}

#[test]
fn a_store_without_locks_can_be_read() {
    let dir = closed_after(3);
    fs::remove_file(dir.path().join("lock")).expect("removed");
    let engine_lock = fs::File::open(dir.path().join("engine/lock")).expect("a lock");
    engine_lock.lock().expect("an early program has it open");
    assert!(is_in_use(open_to_read(dir.path()).err()));
    drop(engine_lock);
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(3));
    fs::remove_file(dir.path().join("engine/lock")).expect("removed");
    let before = files(dir.path());
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(3));
    assert!(files(dir.path()) == before);
}

#[test]
fn what_was_hardly_begun_is_read_as_empty() {
    let dir = tempfile::tempdir().expect("a directory");
    let before = files(dir.path());
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(0));
    assert!(files(dir.path()) == before, "nothing is made");
    drop(open(dir.path()).expect("open"));
    fs::remove_file(dir.path().join("engine/version")).expect("removed");
    fs::remove_file(dir.path().join("acknowledged")).expect("removed");
    let before = files(dir.path());
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(0));
    assert!(files(dir.path()) == before, "nothing is removed");
}

/// Root may write to it all the same.
#[test]
fn a_directory_that_may_only_be_read_is_read() {
    let dir = closed_after(BATCHES);
    let modes = |directories, of_files| {
        for path in files(dir.path()).into_keys() {
            let mode = if path.is_dir() { directories } else { of_files };
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the mode is set");
        }
    };
    modes(0o555, 0o444);
    let before = files(dir.path());
    assert!(content(&open_to_read(dir.path()).expect("read")) == expected(BATCHES));
    assert!(files(dir.path()) == before);
    modes(0o755, 0o644);
}

#[test]
fn a_directory_that_is_not_there_is_an_error_with_its_name() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = dir.path().join("missing");
    let error = open_to_read(&missing).err().expect("not to open").to_string();
    assert!(error.contains(&missing.display().to_string()), "{error}");
    assert!(!missing.exists());
}
