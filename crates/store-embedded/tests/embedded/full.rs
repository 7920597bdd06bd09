//! No space left: a clear error, and nothing is lost once there is space again.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use store::{Store, StoreError};
use store_embedded::{EmbeddedStore, Options};

use testkit::batches::{content, expected, last_number, numbered};

const LIMITED_DIR: &str = "STORE_EMBEDDED_LIMITED_DIR";
const SMALL_DISK: &str = "STORE_EMBEDDED_SMALL_DISK";
/// Far more batches than fit.
const BATCHES: u64 = 5_000;

fn open(dir: &Path) -> EmbeddedStore {
    let options = Options { write_buffer_bytes: 256 << 10, ..Options::default() };
    EmbeddedStore::open(dir, options).expect("open")
}

/// Commits until there is no space, and checks that this commit and the next report it. Returns the last batch that was
/// acknowledged.
fn commit_until_full(store: &EmbeddedStore) -> u64 {
    for number in last_number(store) + 1..BATCHES {
        let Err(error) = store.commit(&numbered(number)) else { continue };
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        let error = store.commit(&numbered(number)).expect_err("no more commits");
        assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
        return number - 1;
    }
    panic!("the disk is too large for this test");
}

/// Opens the store now that there is space: all that was acknowledged must be there, and commits go on.
fn check_nothing_lost(dir: &Path, acknowledged: u64) {
    let store = open(dir);
    let last = last_number(&store);
    assert!(last == acknowledged || last == acknowledged + 1, "{last} after {acknowledged}");
    assert!(content(&store) == expected(last), "not the content after batch {last}");
    for number in last + 1..last + 10 {
        store.commit(&numbered(number)).expect("commit");
    }
    assert!(content(&store) == expected(last + 9), "not the content after batch {}", last + 9);
}

/// Runs a test of this binary as a child of `launcher`.
fn run(launcher: &[&str], test: &str, variable: &str, value: &Path) -> Output {
    let exe = std::env::current_exe().expect("the test's own path");
    let mut command = Command::new(launcher[0]);
    command.args(&launcher[1..]).arg(exe).args(["--exact", test, "--nocapture"]).env(variable, value);
    command.output().expect("start a child")
}

/// The process whose files may not grow.
#[test]
fn limited_child() {
    let Ok(dir) = std::env::var(LIMITED_DIR) else { return };
    let acknowledged = commit_until_full(&open(Path::new(&dir)));
    fs::write(Path::new(&dir).join("last"), acknowledged.to_string()).expect("write");
}

#[test]
fn files_that_may_not_grow_count_as_a_full_disk() {
    let dir = tempfile::tempdir().expect("a directory");
    drop(open(dir.path()));
    // 4,096 blocks are 2 or 4 MB, depending on the shell. The signal would end the process before it can speak.
    let launcher = ["sh", "-c", "trap '' XFSZ; ulimit -f 4096; exec \"$@\"", "sh"];
    let output = run(&launcher, "full::limited_child", LIMITED_DIR, dir.path());
    assert!(output.status.success(), "{output:?}");
    let acknowledged = fs::read_to_string(dir.path().join("last")).expect("read").parse().expect("a number");
    assert!(acknowledged > 10, "{acknowledged}");
    check_nothing_lost(dir.path(), acknowledged);
}

/// The process on a disk of its own, which is full but for a few megabytes.
#[test]
fn small_disk_child() {
    let Ok(disk) = std::env::var(SMALL_DISK) else { return };
    let (dir, ballast) = (Path::new(&disk).join("store"), Path::new(&disk).join("ballast"));
    fs::write(&ballast, vec![1; 8 << 20]).expect("write the ballast");
    let acknowledged = commit_until_full(&open(&dir));
    fs::remove_file(ballast).expect("remove the ballast");
    check_nothing_lost(&dir, acknowledged);
    println!("survived batch {acknowledged}");
}

#[test]
fn a_full_disk_loses_nothing() {
    let disk = tempfile::tempdir().expect("a directory");
    let mount = format!("mount -t tmpfs -o size=12m tmpfs '{}'", disk.path().display());
    let private = ["unshare", "--user", "--map-root-user", "--mount"];
    let can_mount = Command::new(private[0]).args(&private[1..]).args(["sh", "-c", &mount]).status();
    if !can_mount.is_ok_and(|status| status.success()) {
        println!("not checked: this system lets tests mount no disk of their own");
        return;
    }
    let script = format!("{mount} && exec \"$@\"");
    let launcher = [&private[..], &["sh", "-c", &script, "sh"]].concat();
    let output = run(&launcher, "full::small_disk_child", SMALL_DISK, disk.path());
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("survived batch"), "{output:?}");
}
