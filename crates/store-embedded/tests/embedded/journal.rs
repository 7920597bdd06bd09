//! A journal that ends early: a batch nobody was promised vanishes whole, the loss of an acknowledged one is noticed.

use std::fs;
use std::path::{Path, PathBuf};

use model::{RobotsAnswer, RobotsRecord, SiteRecord, Timestamp};
use store::{Batch, Store, StoreError};
use store_embedded::{EmbeddedStore, EmbeddedView, Options};
use tempfile::TempDir;
use testkit::batches::{content, expected, last_number, numbered};
use weburl::UrlKey;

const ACKNOWLEDGED: u64 = 8;
const CUTS: usize = 30;
/// The engine makes its journals this long at once; what is not written yet is zeros.
const JOURNAL_BYTES: u64 = 64 << 20;

/// The pages of which the disk writes some and not others.
const PAGE_BYTES: usize = 4096;

/// A store as at a crash in the middle of a commit.
struct Crashed {
    dir: TempDir,
    /// The bytes of the journal, with the batch that was not acknowledged.
    journal: Vec<u8>,
    /// Where each acknowledged batch ends, by number; at 0 the beginning of the first.
    ends: Vec<usize>,
}

impl Crashed {
    /// In the middle of committing `last`.
    fn in_the_middle_of(last: &Batch) -> Self {
        let (live, dir) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
        let store = EmbeddedStore::open(live.path(), Options::default()).expect("open");
        let mut ends = vec![written(&journal(live.path()))];
        for number in 1..=ACKNOWLEDGED {
            store.commit(&numbered(number)).expect("commit");
            ends.push(written(&journal(live.path())));
        }
        copy_without_journal(live.path(), dir.path());
        store.commit(last).expect("commit");
        let mut journal = fs::read(journal(live.path())).expect("read the journal");
        journal.truncate(written(&self::journal(live.path())));
        Crashed { dir, journal, ends }
    }

    /// The store with a journal that ends after `length` bytes, or goes on with zeros.
    fn cut(&self, length: usize, padded: bool) -> TempDir {
        self.with_journal(&self.journal[..length], padded)
    }

    fn with_journal(&self, bytes: &[u8], padded: bool) -> TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        copy_without_journal(self.dir.path(), dir.path());
        let path = journal(dir.path());
        fs::write(&path, bytes).expect("write the journal");
        if padded {
            fs::File::options().write(true).open(&path).and_then(|file| file.set_len(JOURNAL_BYTES)).expect("pad");
        }
        dir
    }
}

fn journal(dir: &Path) -> PathBuf {
    dir.join("engine/0.jnl")
}

/// How much of the journal is written.
fn written(journal: &Path) -> usize {
    let bytes = fs::read(journal).expect("read the journal");
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

fn copy_without_journal(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("read a directory").map(|entry| entry.expect("an entry")) {
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            fs::create_dir_all(&to).expect("make a directory");
            copy_without_journal(&entry.path(), &to);
        } else if entry.path().extension().is_none_or(|extension| extension != "jnl") {
            fs::copy(entry.path(), to).expect("copy a file");
        }
    }
}

fn open(dir: &Path) -> Result<EmbeddedStore, StoreError> {
    EmbeddedStore::open(dir, Options::default())
}

fn open_to_read(dir: &Path) -> Result<EmbeddedView, StoreError> {
    EmbeddedStore::open_to_read(dir, &Options::default())
}

/// `count` places spread over the range.
fn spread(from: usize, to: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |n| from + n.wrapping_mul(0x9E37_79B9) % (to - from))
}

#[test]
fn a_batch_that_was_not_acknowledged_vanishes_whole() {
    let crashed = Crashed::in_the_middle_of(&numbered(ACKNOWLEDGED + 1));
    let expect = expected(ACKNOWLEDGED);
    let (from, to) = (crashed.ends[ACKNOWLEDGED as usize], crashed.journal.len());
    for (n, length) in spread(from, to, CUTS).enumerate() {
        let dir = crashed.cut(length, n.is_multiple_of(2));
        let before = fs::read(journal(dir.path())).expect("read the journal");
        assert!(content(&open_to_read(dir.path()).expect("read")) == expect, "cut at {length}, then read");
        assert!(fs::read(journal(dir.path())).expect("read the journal") == before, "who reads cuts nothing");
        let store = open(dir.path()).expect("open");
        assert!(content(&store) == expect, "cut at {length} of {from}..{to}");
        store.commit(&numbered(ACKNOWLEDGED + 1)).expect("commit");
        drop(store);
        let store = open(dir.path()).expect("open again");
        assert!(content(&store) == expected(ACKNOWLEDGED + 1), "cut at {length} of {from}..{to}, then committed");
    }
}

/// After a loss of power: the end of the batch reached the disk, a page before it did not.
#[test]
fn a_batch_with_a_hole_vanishes_whole() {
    let noise: Vec<u8> = (0..4_000u32).flat_map(|n| UrlKey::of("noise", &n.to_string()).url.to_le_bytes()).collect();
    let site = numbered(1).sites.remove(0).site;
    let answer = RobotsAnswer::Status { code: 200, body: noise.into() };
    let robots = Some(RobotsRecord { fetched_at: Timestamp(1), failed_tries: 0, answer, is_cut: false, renewal: None });
    let sites = vec![SiteRecord { robots, ..SiteRecord::new(site) }];
    let crashed = Crashed::in_the_middle_of(&Batch { sites, ..Batch::default() });
    let expect = expected(ACKNOWLEDGED);
    let first = crashed.ends[ACKNOWLEDGED as usize].next_multiple_of(PAGE_BYTES);
    for hole in (first..crashed.journal.len() - PAGE_BYTES).step_by(PAGE_BYTES) {
        let mut bytes = crashed.journal.clone();
        bytes[hole..hole + PAGE_BYTES].fill(0);
        let dir = crashed.with_journal(&bytes, true);
        assert!(content(&open_to_read(dir.path()).expect("read")) == expect, "a hole at {hole}, then read");
        let store = open(dir.path()).expect("open");
        assert!(content(&store) == expect, "a hole at {hole}");
    }
}

/// A wrong byte in a batch that was acknowledged is no torn end: the store stays closed and as it is.
#[test]
fn a_damaged_batch_in_the_middle_is_noticed() {
    let crashed = Crashed::in_the_middle_of(&numbered(ACKNOWLEDGED + 1));
    let mut bytes = crashed.journal.clone();
    bytes[crashed.ends[4] - 20] ^= 1;
    let dir = crashed.with_journal(&bytes, false);
    for _ in 0..2 {
        let error = open(dir.path()).err().expect("not to open");
        assert!(matches!(error, StoreError::DamagedFiles { .. }), "{error}");
        let to_reader = open_to_read(dir.path()).err().expect("not to open");
        assert_eq!(to_reader.to_string(), error.to_string());
        assert_eq!(fs::read(journal(dir.path())).expect("read the journal"), bytes);
    }
}

#[test]
fn the_loss_of_acknowledged_batches_is_noticed() {
    let crashed = Crashed::in_the_middle_of(&numbered(ACKNOWLEDGED + 1));
    let (from, to) = (crashed.ends[0], crashed.ends[ACKNOWLEDGED as usize]);
    for length in spread(from, to, 5) {
        let dir = crashed.cut(length, true);
        let error = open(dir.path()).err().expect("not to open");
        assert!(matches!(error, StoreError::DamagedFiles { .. }), "{error}");
        assert!(error.to_string().contains(&format!("batch {ACKNOWLEDGED} was acknowledged")), "{error}");
        let to_reader = open_to_read(dir.path()).err().expect("not to open");
        assert_eq!(to_reader.to_string(), error.to_string());
        fs::remove_file(dir.path().join("acknowledged")).expect("remove the witness");
        let store = open(dir.path()).expect("open what is left");
        let last = last_number(&store);
        assert_eq!(last, crashed.ends.iter().filter(|end| **end <= length).count() as u64 - 1);
        assert!(content(&store) == expected(last), "cut at {length}");
    }
}

/// A table that was written out knows more than the journal: noticed even without the witness.
#[test]
fn batches_by_halves_are_noticed() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = Options { write_buffer_bytes: 4 << 10, ..Options::default() };
    let store = EmbeddedStore::open(dir.path(), options.clone()).expect("open");
    let tables = dir.path().join("engine/keyspaces/1/tables");
    let written_out = |number: &u64| {
        store.commit(&numbered(*number)).expect("commit");
        fs::read_dir(&tables).is_ok_and(|mut tables| tables.next().is_some())
    };
    (1..10_000).find(written_out).expect("a table written out");
    drop(store);
    for length in [0, 500] {
        fs::File::options().write(true).open(journal(dir.path())).and_then(|file| file.set_len(length)).expect("cut");
        let _ = fs::remove_file(dir.path().join("acknowledged"));
        let error = EmbeddedStore::open(dir.path(), options.clone()).err().expect("not to open");
        assert!(matches!(error, StoreError::DamagedFiles { .. }), "{error}");
    }
}
