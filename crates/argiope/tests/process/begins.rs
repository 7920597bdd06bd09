//! A crawl begins while others read its state, or change it.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crawl::CrawlDir;
use testweb::{Pages, Web};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

/// Longer than a command takes to come to the state, shorter than it waits for it.
const READ_FOR: Duration = Duration::from_millis(1_200);
/// Crawls that begin while others read without an end.
const CRAWLS: usize = 8;
/// Processes that read at the same time.
const READERS: usize = 2;

fn crawled(dir: &Path) -> Served {
    let served = Served::start(Web::new().site("a.test", Pages::new().html("/", "<a href=/1>1</a>").html("/1", "one")));
    Running::start(&mut crawl(&served, dir, &["http://a.test/"])).end().expect_code(0);
    served
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "--delay", "0", "--ip-delay", "0", "--no-sitemaps", "--progress", "none"]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

fn status(dir: &Path) -> Ended {
    Running::start(Command::new(BINARY).arg("status").arg(dir)).end()
}

#[test]
fn a_crawl_waits_until_those_who_read_have_ended() {
    let dirs = tempfile::tempdir().unwrap();
    let root = dirs.path().join("crawl");
    let served = crawled(&root);
    let dir = CrawlDir::existing(&root).unwrap();
    let reader = dir.open_to_read(&dir.options().unwrap()).unwrap();
    let running = Running::start(&mut crawl(&served, &root, &["--again"]));
    while running.age() < READ_FOR {
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(reader);
    running.end().expect_code(0);
    // The error names a process that reads for longer than that.
    let reader = dir.open_to_read(&dir.options().unwrap()).unwrap();
    let refused = Running::start(&mut crawl(&served, &root, &["--again"])).end().expect_code(1);
    drop(reader);
    let by = format!(", process {})\n", std::process::id());
    assert!(refused.stderr.contains("state is in use by another process (`"), "{}", refused.stderr);
    assert!(refused.stderr.ends_with(&by), "{}", refused.stderr);
}

#[test]
fn crawls_begin_while_others_read_again_and_again() {
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let served = crawled(&dir);
    let is_over = AtomicBool::new(false);
    let ended: Vec<Ended> = std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    status(&dir);
                }
            });
        }
        let ended = (0..CRAWLS).map(|_| Running::start(&mut crawl(&served, &dir, &["--again"])).end()).collect();
        is_over.store(true, Ordering::Relaxed);
        ended
    });
    for ended in ended {
        ended.expect_code(0);
    }
}
