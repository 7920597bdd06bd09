//! Runs that are broken off, and what the next run makes of what they left.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::Duration;

use testweb::{Faults, Reply, Web, from_fn, simple};

use crate::run::{Course, Page, text};

/// A run that has made no progress by then is broken.
const LOOKS_MAX: u32 = 6_000;

/// How often a run is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The simple sandbox, slow enough to be broken off in between.
fn slow() -> Web {
    Web::new().site("simple.test", Faults::new(simple::site()).latency(Duration::from_millis(100)))
}

const ARGUMENTS: [&str; 5] = ["http://simple.test/", "data", "9", "--delay", "0"];

/// Whether the pages are those of a run that nothing disturbed. Within a depth their order may differ.
fn is_whole(mut pages: Vec<Page>) -> bool {
    let course = Course::on(slow());
    course.run_well(&ARGUMENTS[..3]);
    let mut expect = course.pages("data");
    pages.sort();
    expect.sort();
    pages == expect
}

/// Begins a run and sends it a signal when there are so many pages; the exit code.
fn broken_off(course: &Course, signal: &str, pages: usize) -> Option<i32> {
    let mut run = course.begin(&ARGUMENTS);
    for _ in 0..LOOKS_MAX {
        if course.path("data").read_dir().unwrap().count() >= pages || run.try_wait().unwrap().is_some() {
            break;
        }
        sleep(LOOK_EVERY);
    }
    // It may just have ended by itself.
    let _ = Command::new("kill").args([format!("-{signal}"), run.id().to_string()]).output();
    run.wait_with_output().unwrap().status.code()
}

#[test]
fn killed_again_and_again_it_saves_the_same_pages() {
    let course = Course::on(slow());
    let mut before = Vec::new();
    for pages in 1..10 {
        broken_off(&course, "KILL", pages);
        let now = course.pages("data");
        assert!(now.starts_with(&before), "a page once written keeps its id");
        before = now;
    }
    course.run(&ARGUMENTS);
    assert!(course.pages("data").starts_with(&before));
    assert!(is_whole(course.pages("data")));
}

#[test]
fn interrupted_it_stops_with_code_3_and_goes_on() {
    let course = Course::on(slow());
    assert_eq!(broken_off(&course, "INT", 3), Some(3));
    let begun = course.pages("data").len();
    assert!((3..10).contains(&begun), "{begun} pages");
    let output = course.run(&ARGUMENTS);
    assert_eq!(text(&output.stderr), format!("argiope: going on behind {begun} pages in data\n"));
    assert_eq!(output.status.code(), Some(0));
    assert!(is_whole(course.pages("data")));
}

#[test]
fn a_finished_crawl_is_not_fetched_again_but_its_files_are_mended() {
    let course = Course::on(slow());
    course.run_well(&ARGUMENTS[..3]);
    let (pages, requests) = (course.pages("data"), course.log().len());
    let file = |id: usize| course.path("data").join(id.to_string());
    std::fs::remove_file(file(4)).unwrap();
    std::fs::write(file(5), "http://si").unwrap();
    std::fs::write(file(9), format!("{}\n{}\n<!doc", pages[9].url, pages[9].depth)).unwrap();
    let output = course.run(&ARGUMENTS);
    assert_eq!(
        text(&output.stderr),
        "argiope: this crawl has already ended: to start over, remove data.crawl and the pages in data\n"
    );
    assert_eq!(output.status.code(), Some(0));
    assert!(course.pages("data") == pages);
    assert_eq!(course.log().len(), requests);
}

#[test]
fn what_is_not_of_this_crawl_is_refused() {
    let course = Course::on(slow());
    course.run_well(&["http://simple.test/", "data", "1"]);
    let pages = course.pages("data");
    let check = |arguments: [&str; 3], expect: &str| {
        let output = course.run(&arguments);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), format!("argiope: {expect}\n")));
    };
    check(
        ["http://simple.test/", "data", "2"],
        "data.crawl holds a crawl with maxDepth 1: remove it and the pages, or choose another pageDirectory",
    );
    check(
        ["http://simple.test/web.html", "data", "1"],
        "data.crawl holds the crawl of http://simple.test/: remove it and the pages, or choose another pageDirectory",
    );
    for (name, bytes) in [("5", "one page more"), ("3", "http://simple.test/other\n1\n"), ("notes.txt", "mine")] {
        let file = course.path("data").join(name);
        let kept = std::fs::read(&file).ok();
        std::fs::write(&file, bytes).unwrap();
        let expect =
            format!("pageDirectory data holds `{name}`, which is no page of this crawl: choose an empty directory");
        check(["http://simple.test/", "data", "1"], &expect);
        assert_eq!(text(&std::fs::read(&file).unwrap()), bytes, "it is left as it is");
        match kept {
            Some(kept) => std::fs::write(&file, kept).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
    }
    assert_eq!(course.pages("data"), pages);
}

#[test]
fn the_state_may_lie_elsewhere() {
    let course = Course::on(slow());
    course.run_well(&["http://simple.test/", "data", "1", "-o", "state"]);
    assert_eq!(course.names(), ["data", "state"]);
    assert_eq!(course.pages("data").len(), 5);
    course.make("again");
    let output = course.run(&["http://simple.test/", "again", "1", "-o", "state"]);
    assert_eq!((output.status.code(), course.pages("again")), (Some(0), course.pages("data")));
}

#[test]
fn a_page_directory_that_is_lost_ends_the_crawl() {
    let lost: Arc<OnceLock<PathBuf>> = Arc::default();
    let directory = lost.clone();
    let site = from_fn(move |request| {
        if request.target == "/" {
            std::fs::remove_dir(directory.get().expect("set before the run")).unwrap();
        }
        Reply::html("the only page")
    });
    let course = Course::on(Web::new().site("seed.test", site));
    lost.set(course.path("data")).unwrap();
    let output = course.run(&["http://seed.test/", "data", "0", "--robots", "ignore", "--delay", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let line = text(&output.stderr);
    assert!(line.starts_with("argiope: cannot write data/0: No such file or directory"), "{line}");
    course.make("data");
    course.run(&["http://seed.test/", "data", "0", "--delay", "0"]);
    assert_eq!(course.pages("data").len(), 1, "it was recorded, so it is written now");
}
