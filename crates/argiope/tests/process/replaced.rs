//! A crawl whose directory, or whose archive, is taken away while it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use testweb::{Reply, Web, from_fn};

use crate::binary::{self, BINARY, Running};
use crate::served::Served;

/// A site without end.
fn web() -> Web {
    let page = |request: &testweb::Request| {
        let n: u64 = request.path().trim_start_matches('/').parse().unwrap_or(0);
        Reply::html(format!("<title>{n}</title><a href=/{}>next</a>", n + 1))
    };
    Web::new().site("*.test", from_fn(page))
}

fn start(served: &Served, seed: &str, dir: &Path, more: &[&str]) -> Running {
    let mut command = Command::new(BINARY);
    command.args(["crawl", seed, "--delay", "20ms", "--ip-delay", "0", "--progress", "none", "--no-sitemaps"]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    Running::start(&mut command)
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it does not come to this: {what}");
}

fn asked_for(served: &Served, host: &str) -> usize {
    served.log().iter().filter(|entry| entry.host == host).count()
}

fn refused(first: Running) {
    let ended = first.end().expect_code(1);
    let expect = "was removed, moved or replaced while this crawl ran: nothing more is written there";
    assert!(ended.stderr.contains(expect), "{}", ended.stderr);
}

#[test]
fn a_crawl_whose_place_another_took_ends_and_leaves_the_other_alone() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let first = start(&served, "http://first.test/", &dir, &[]);
    until("the first crawls", || asked_for(&served, "first.test") > 5);
    // It may write a file at this moment.
    until("the directory is gone", || fs::remove_dir_all(&dir).is_ok());
    let second = start(&served, "http://second.test/", &dir, &[]);
    until("the second crawls", || asked_for(&served, "second.test") > 5);
    refused(first);
    assert!(dir.join("live.socket").exists(), "it is the second's");
    second.signal("INT");
    second.end().expect_code(3);
    let checked = binary::run(&["check", dir.to_str().unwrap()]).expect_code(0);
    assert!(checked.stdout.contains("no errors"), "{}", checked.stdout);
    let seeds = binary::run(&["status", dir.to_str().unwrap()]).expect_code(0);
    assert!(seeds.stdout.contains("1 seed: http://second.test/"), "{}", seeds.stdout);
}

/// The last answer of the first crawl comes when the other has its place: it has nothing left to do but to end.
#[test]
fn a_crawl_whose_place_another_took_at_its_end_ends_and_leaves_the_other_alone() {
    let (answer, may_answer) = sync_channel::<()>(0);
    let may_answer = Mutex::new(may_answer);
    let site = from_fn(move |request| match request.path() {
        "/" => Reply::html("<title>first</title><a href=/last>last</a>"),
        "/last" => {
            // A server of its own: nothing else waits meanwhile. Where the test has failed nobody says it.
            let _ = may_answer.lock().unwrap().recv();
            Reply::html("<title>last</title>")
        }
        path => Reply::error(404, path),
    });
    let (ending, endless) = (Served::start(Web::new().site("first.test", site)), Served::start(web()));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let first = start(&ending, "http://first.test/", &dir, &[]);
    until("the last page is asked for", || ending.log().iter().any(|entry| entry.target == "/last"));
    until("the directory is gone", || fs::remove_dir_all(&dir).is_ok());
    let second = start(&endless, "http://second.test/", &dir, &[]);
    until("the second crawls", || asked_for(&endless, "second.test") > 5);
    answer.send(()).unwrap();
    refused(first);
    assert!(dir.join("live.socket").exists(), "it is the second's");
    let asked = asked_for(&endless, "second.test");
    until("the second goes on", || asked_for(&endless, "second.test") > asked);
    second.signal("INT");
    second.end().expect_code(3);
    let checked = binary::run(&["check", dir.to_str().unwrap()]).expect_code(0);
    assert!(checked.stdout.contains("no errors"), "{}", checked.stdout);
}

#[test]
fn a_crawl_whose_directory_is_moved_ends() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, moved) = (dirs.path().join("crawl"), dirs.path().join("moved"));
    let first = start(&served, "http://first.test/", &dir, &[]);
    until("the first crawls", || asked_for(&served, "first.test") > 5);
    fs::rename(&dir, &moved).unwrap();
    refused(first);
    assert!(!dir.exists(), "nothing is written where it was");
    start(&served, "http://first.test/", &moved, &["--max-pages", "20"]).end().expect_code(3);
    binary::run(&["check", moved.to_str().unwrap()]).expect_code(0);
}

/// The segments of a crawl, in their order.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("archive")).into_iter().flatten().flatten().map(|file| file.path());
    let mut segments: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(".warc.gz")).collect();
    segments.sort();
    segments
}

#[test]
fn a_crawl_whose_archive_another_program_harms_ends_with_an_error() {
    type Harm<'a> = &'a dyn Fn(&Path);
    let remove = |segment: &Path| fs::remove_file(segment).unwrap();
    let cut = |segment: &Path| fs::OpenOptions::new().write(true).open(segment).unwrap().set_len(300).unwrap();
    let replace = |segment: &Path| {
        let copy = segment.with_extension("copy");
        fs::copy(segment, &copy).unwrap();
        fs::rename(copy, segment).unwrap();
    };
    let cases: [(&str, &str, Harm<'_>); 5] = [
        ("the segment that is written is removed", "1GB", &remove),
        ("it is cut", "1GB", &cut),
        ("it is replaced", "1GB", &replace),
        ("an earlier segment is removed", "4kB", &remove),
        ("an earlier segment is cut", "4kB", &cut),
    ];
    for (what, size, harm) in cases {
        let served = Served::start(web());
        let dirs = tempfile::tempdir().unwrap();
        let dir = dirs.path().join("crawl");
        let running = start(&served, "http://harmed.test/", &dir, &["--segment-size", size, "--max-pages", "150"]);
        until("there is a segment before the last one, if they are small", || {
            asked_for(&served, "harmed.test") > 10 && (size == "1GB" || segments(&dir).len() > 2)
        });
        harm(&segments(&dir)[0]);
        let ended = running.end().expect_code(1);
        assert!(ended.stderr.contains("`argiope check --repair`"), "{what}: {}", ended.stderr);
        let status = binary::run(&["status", dir.to_str().unwrap()]).expect_code(0).stdout;
        let is_replaced = what.ends_with("replaced");
        assert!(is_replaced || status.contains("`argiope check --repair`"), "{what}: {status}");
    }
}
