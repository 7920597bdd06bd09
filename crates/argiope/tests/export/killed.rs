//! An export that is killed leaves nothing that looks finished, and the next one works.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use testweb::{Pages, Web};

use testkit::crawled::Crawled;

/// Pages of the site: so many that an export is not done before it can be killed.
const PAGES: usize = 400;
/// How often it is tried to kill an export before its end.
const TRIES_MAX: usize = 100;

fn crawl() -> Crawled {
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>{n}</a>\n")).collect();
    let pages = (0..PAGES).fold(Pages::new().html("/", links), |pages, n| {
        let text: String = (0..200).map(|word| format!("word{} ", word * n)).collect();
        pages.html(format!("/{n}"), format!("<title>Page {n}</title><h1>Page {n}</h1><p>{text}<img src=/{n}.png>"))
    });
    Crawled::of(Web::new().site("small.test", pages), "http://small.test/", &[])
}

/// Where it is written before it has its name.
fn temporary(target: &Path) -> PathBuf {
    PathBuf::from(format!("{}.tmp", target.display()))
}

/// Kills an export as soon as it writes. True if that was before its end.
fn kill(crawled: &Crawled, format: &str, target: &Path) -> bool {
    // What it leaves of its own goes with this.
    let left = tempfile::tempdir().expect("a directory");
    let mut child = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(["export", crawled.dir(), format, "-o"])
        .arg(target)
        .env("TMPDIR", left.path())
        .stdin(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let has_ended = loop {
        if let Some(status) = child.try_wait().expect("a process") {
            assert!(status.success(), "{format}");
            break true;
        }
        if temporary(target).exists() {
            break false;
        }
    };
    // SIGKILL.
    let _ = child.kill();
    let status = child.wait().expect("an end");
    !has_ended && !status.success()
}

fn check(crawled: &Crawled, format: &str, name: &str) {
    let root = tempfile::tempdir().expect("a directory");
    let target = root.path().join(name);
    let is_killed = (0..TRIES_MAX).any(|_| {
        let is_killed = kill(crawled, format, &target);
        if !is_killed {
            let _ = std::fs::remove_dir_all(&target).or_else(|_| std::fs::remove_file(&target));
        }
        // The kill may have come between the name and the end of the process.
        is_killed && temporary(&target).exists()
    });
    assert!(is_killed, "{format} was never killed before its end");
    assert!(!target.exists(), "{format}: what was not finished has its name");
    let ran = crawled.run("export", &[format, "-o", target.to_str().expect("UTF-8")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format}");
    assert!(target.exists(), "{format}");
    let names: Vec<_> =
        root.path().read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(names, [target], "{format}");
}

#[test]
fn nothing_that_looks_finished_is_left() {
    let crawled = crawl();
    for (format, name) in [
        ("jsonl", "rows.jsonl"),
        ("cdxj", "index.cdxj"),
        ("warc", "copy.warc.gz"),
        ("warc", "copy"),
        ("wacz", "copy.wacz"),
        ("parquet", "tables"),
        ("pages", "pages"),
        ("markdown", "texts"),
    ] {
        check(&crawled, format, name);
    }
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "the crawl itself is whole: {checked:?}");
}
