//! A crawl that goes on: with settings that were edited, taken back or lowered meanwhile.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use testweb::{Reply, Request, Web};

use crate::binary::{self, Ended};
use crate::served::Served;

const DONE: i32 = 0;
const FAILED: i32 = 1;
const USAGE: i32 = 2;
const STOPPED: i32 = 3;

/// Runs `argiope` with these words.
fn run(words: &str) -> Ended {
    binary::run(&words.split_whitespace().collect::<Vec<_>>())
}

/// A crawl of the sandbox that stopped after a page.
fn stopped(served: &Served, dir: &Path, more: &str) -> String {
    let flags = format!("-o {} --no-sitemaps --ip-delay 0 --progress none {}", dir.display(), served.flags().join(" "));
    run(&format!("crawl http://simple.test/ --max-pages 1 {flags} {more}")).expect_code(STOPPED);
    flags
}

#[test]
fn settings_that_were_edited_do_not_change_what_belongs_to_a_crawl() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    stopped(&served, &dir, "--delay 0 --depth 2");
    let path = dir.join("crawl.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    let of = |began: &str| {
        format!(
            "argiope: {}: the crawl began with {began}, which cannot change in mid-crawl: write this back, or choose another directory \
             with -o\n",
            path.display()
        )
    };
    let all = "depth = 2, scope = \"host\", sandbox = false, no-archive = false, max-url-bytes = \"2KiB\", sort-query = false, \
               strip-session-ids = false, strip-tracking = false, collapse-slashes = false, strip-www = false";
    for (text, began) in [
        (before.replace("\ndepth = 2\n", "\ndepth = 9\n"), "depth = 2"),
        (
            before.replace("\nscope = \"host\"\n", "\nscope = \"any\"\n").replace("\ndepth = 2\n", "\n"),
            "depth = 2, scope = \"host\"",
        ),
        (String::new(), all),
    ] {
        assert_ne!(text, before);
        std::fs::write(&path, &text).unwrap();
        for command in ["crawl -o", "steer"] {
            let words = format!("{command} {}{}", dir.display(), if command == "steer" { " pause" } else { "" });
            assert_eq!(run(&words).expect_code(USAGE).stderr, of(began));
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is the user's file");
    }
    std::fs::write(&path, before).unwrap();
    run(&format!("crawl -o {} --unset max-pages", dir.display())).expect_code(DONE);
}

#[test]
fn a_budget_is_taken_back() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    for by_steering in [false, true] {
        let dir = dirs.path().join(by_steering.to_string());
        stopped(&served, &dir, "--delay 0");
        let settings = || std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
        assert!(settings().contains("\nmax-pages = 1\n"));
        if by_steering {
            let told = run(&format!("steer {} unset max-pages delay", dir.display())).expect_code(DONE);
            assert!(told.stdout.starts_with("unset max-pages delay: noted"), "{}", told.stdout);
            assert!(settings().contains("\ndelay = \"1s\"\n"), "the default");
            let fixed = run(&format!("steer {} unset scope", dir.display())).expect_code(USAGE);
            assert_eq!(
                fixed.stderr,
                "argiope: scope cannot change within a crawl: begin another one, in another directory\n"
            );
            run(&format!("crawl -o {} --delay 0", dir.display())).expect_code(DONE);
        } else {
            run(&format!("crawl -o {} --unset max-pages", dir.display())).expect_code(DONE);
        }
        assert!(settings().contains("\n# max-pages =\n"));
    }
}

#[test]
fn a_lowered_delay_is_not_taken_for_the_clock() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let flags = stopped(&served, dirs.path(), "--delay 1h");
    let ended = run(&format!("crawl {flags} --unset max-pages --delay 0")).expect_code(DONE);
    assert!(ended.stderr.contains("the delay was lowered, or the system's clock was set back"), "{}", ended.stderr);
}

#[test]
fn a_page_about_the_crawl_is_named_from_the_next_run_on() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let flags = stopped(&served, dirs.path(), "--delay 0");
    run(&format!("crawl {flags} --unset max-pages --info-url http://a.test/about")).expect_code(DONE);
    let settings = std::fs::read_to_string(dirs.path().join("crawl.toml")).unwrap();
    assert!(settings.contains("(+http://a.test/about)\"\n"), "{settings}");
}

#[test]
fn a_result_that_cannot_be_printed_is_a_failure_unless_nobody_reads_it() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let flags = stopped(&served, dirs.path(), "--delay 0");
    for json in ["", "--json"] {
        let words = format!("crawl {flags} --unset max-pages {json}");
        let mut full = Command::new(binary::BINARY);
        full.args(words.split_whitespace()).stdout(std::fs::File::create("/dev/full").unwrap()).stderr(Stdio::piped());
        let ended = full.output().unwrap();
        assert_eq!(ended.status.code(), Some(FAILED));
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.ends_with("argiope: cannot print the result: No space left on device (os error 28)\n"), "{said}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut unread = Command::new(binary::BINARY);
        unread.args(words.split_whitespace()).stdout(writer).stderr(Stdio::null());
        assert_eq!(unread.status().unwrap().code(), Some(DONE));
    }
}

#[test]
fn a_failing_site_is_asked_once_at_the_next_start_but_not_before_its_retry_after_is_over() {
    for (asked, is_due) in [("1", true), ("3600", false)] {
        let (is_well, requests) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let site = {
            let (is_well, requests) = (is_well.clone(), requests.clone());
            testweb::from_fn(move |request: &Request| match request.path() {
                "/robots.txt" => Reply::new(404),
                _ if is_well.load(SeqCst) => Reply::html("<p>It is well."),
                _ => {
                    requests.fetch_add(1, SeqCst);
                    Reply::error(503, "busy").header("Retry-After", asked)
                }
            })
        };
        let (served, dirs) = (Served::start(Web::new().site("one.test", site)), tempfile::tempdir().unwrap());
        let words = format!(
            "crawl http://one.test/ -o {} --no-sitemaps --delay 1ms --ip-delay 0 --backoff 1ms --max-backoff 1ms \
             --max-failures-in-a-row 1 --patience 100ms --progress none {}",
            dirs.path().join("crawl").display(),
            served.flags().join(" ")
        );
        run(&words).expect_code(FAILED);
        assert_eq!(requests.load(SeqCst), 1, "{asked}");
        std::thread::sleep(Duration::from_millis(1_500));
        // It fails once more, and does not wait longer for that.
        run(&words).expect_code(FAILED);
        assert_eq!(requests.load(SeqCst), 1 + u32::from(is_due), "{asked}");
        std::thread::sleep(Duration::from_millis(1_500));
        is_well.store(true, SeqCst);
        run(&words).expect_code(if is_due { DONE } else { FAILED });
    }
}
