//! A store whose directory is taken away while it is open.

use std::fs;
use std::path::Path;

use store::{CrawlView, Store};
use store_embedded::{EmbeddedStore, Options};
use testkit::batches::{content, expected, numbered};

/// The engine makes and writes out tables all the time.
fn open(dir: &Path) -> EmbeddedStore {
    let options = Options { generation_urls: 100, write_buffer_bytes: 4 << 10, ..Options::default() };
    EmbeddedStore::open(dir, options).expect("open")
}

fn commit(store: &EmbeddedStore, numbers: std::ops::RangeInclusive<u64>) {
    numbers.for_each(|number| assert_ne!(store.commit(&numbered(number)).ok(), None));
}

#[test]
fn a_store_goes_on_where_its_directory_was_moved_to_and_leaves_the_next_alone() {
    let root = tempfile::tempdir().expect("a directory");
    let (dir, moved) = (root.path().join("state"), root.path().join("moved"));
    let first = open(&dir);
    commit(&first, 1..=10);
    fs::rename(&dir, &moved).expect("moved");
    let second = open(&dir);
    commit(&second, 1..=10);
    commit(&first, 11..=60);
    drop(first);
    commit(&second, 11..=20);
    drop(second);
    assert_eq!(content(&open(&dir)), expected(20));
    assert_eq!(content(&open(&moved)), expected(60));
}

#[test]
fn a_store_whose_directory_was_removed_leaves_the_next_alone() {
    let root = tempfile::tempdir().expect("a directory");
    let dir = root.path().join("state");
    let first = open(&dir);
    commit(&first, 1..=10);
    // The engine may make a file at this moment.
    while fs::remove_dir_all(&dir).is_err() {}
    let second = open(&dir);
    commit(&second, 1..=10);
    // It fails when it next makes a file.
    let _ = (11..=60).try_for_each(|number| first.commit(&numbered(number)).map(drop));
    drop(first);
    commit(&second, 11..=20);
    let totals = second.totals().expect("totals");
    drop(second);
    let again = open(&dir);
    assert_eq!(again.totals().expect("totals"), totals);
    assert_eq!(content(&again), expected(20));
}
