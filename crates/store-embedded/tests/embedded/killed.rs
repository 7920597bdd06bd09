//! A process that is killed loses no acknowledged batch and leaves none by halves.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use store::Store;
use store_embedded::{EmbeddedStore, Options};
use testkit::batches::{content, expected, last_number, numbered};

const DIR: &str = "STORE_EMBEDDED_KILLED_DIR";
const ROUNDS: u64 = 20;

/// Small enough that tables are written out, compacted and begun all the time.
fn options() -> Options {
    Options { write_buffer_bytes: 64 << 10, generation_urls: 500, ..Options::default() }
}

/// The process that is killed: commits batch after batch and prints the number of each that is acknowledged.
#[test]
fn child() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let store = EmbeddedStore::open(Path::new(&dir), options()).expect("open");
    let first = last_number(&store) + 1;
    for number in first.. {
        store.commit(&numbered(number)).expect("commit");
        writeln!(std::io::stdout(), "acknowledged {number}").expect("print");
    }
}

fn spawn(dir: &Path) -> Child {
    let exe = std::env::current_exe().expect("the test's own path");
    let mut command = Command::new(exe);
    command.args(["--exact", "killed::child", "--nocapture"]).env(DIR, dir);
    command.stdout(Stdio::piped()).spawn().expect("start a child")
}

/// Lets a child commit, kills it, and returns the number of the last batch it acknowledged.
fn run_and_kill(dir: &Path, acknowledgements: u64, then: Duration) -> Option<u64> {
    let mut child = spawn(dir);
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut numbers = lines.by_ref().map_while(Result::ok).filter_map(|line| number(&line));
    let mut last = None;
    for _ in 0..acknowledgements {
        last = numbers.next();
    }
    std::thread::sleep(then);
    child.kill().expect("kill");
    child.wait().expect("wait");
    numbers.last().or(last)
}

fn number(line: &str) -> Option<u64> {
    line.strip_prefix("acknowledged ")?.parse().ok()
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        // The first rounds hit the making of the store, the others commits; the moments are spread by a fixed rule.
        let acknowledgements = if round < 5 { 0 } else { round * 7 % 40 };
        let then = Duration::from_micros(if round < 5 { round * 30_000 } else { round * 1_237 % 9_000 });
        acknowledged = run_and_kill(dir.path(), acknowledgements, then).unwrap_or(acknowledged);
        let read = EmbeddedStore::open_to_read(dir.path(), &options()).map(|view| content(&view));
        let store = EmbeddedStore::open(dir.path(), options()).expect("open after the kill");
        assert!(read.expect("read after the kill") == content(&store), "round {round}: a reader finds something else");
        let last = last_number(&store);
        assert!(last == acknowledged || last == acknowledged + 1, "round {round}: {last} after {acknowledged}");
        assert!(content(&store) == expected(last), "round {round}: not the content after batch {last}");
        acknowledged = last;
    }
    assert!(acknowledged > 100, "only {acknowledged} batches");
}
