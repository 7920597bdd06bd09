//! Who reads the output may stop at any time, as in `| head`: that is no failure, and nothing is said about it.

use std::process::{Command, Stdio};

use testkit::crawled::Crawled;

/// Runs the binary with an output that nobody reads.
fn check(arguments: &[&str]) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(writer)
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
}

#[test]
fn who_does_not_read_causes_no_error() {
    let crawled = Crawled::small();
    let dir = crawled.dir();
    let segment = crawled.segments().remove(0).display().to_string();
    for arguments in [
        &["status", dir] as &[&str],
        &["status", dir, "--json"],
        &["explain", dir, "http://small.test/a"],
        &["check", dir],
        &["changes", dir, "--since", "9999d"],
        &["changes", dir, "--since", "9999d", "--json"],
        &["changes", dir, "--since", "9999d", "--html"],
        &["changes", dir, "--since", "9999d", "--feed"],
        &["derive", dir],
        &["export", dir, "jsonl"],
        &["export", dir, "cdxj"],
        &["export", dir, "kvs"],
        &["report", dir],
        &["report", dir, "--json"],
        &["rank", dir],
        &["overlap", dir, "http://small.test/", "http://other.test/"],
        &["search", dir, "title"],
        &["links", dir, "http://small.test/"],
        &["path", dir, "http://small.test/", "http://small.test/a"],
        &["inspect", "warc", &segment],
        &["crawl", "-o", dir, "--json"],
        &["completions", "bash"],
        &["testweb", "--listen", "127.0.0.1:0"],
    ] {
        check(arguments);
    }
    let pages = tempfile::tempdir().expect("a directory");
    let pages_dir = pages.path().join("pages");
    std::fs::create_dir(&pages_dir).expect("a directory");
    let fixed = ["pages", "http://small.test/", pages_dir.to_str().expect("UTF-8"), "1"];
    let fast = ["--delay", "0", "--ip-delay", "0", "--max-crawl-delay", "0"];
    check(&[&fixed[..], &["--connect-to", &crawled.connect_to[0]], &fast].concat());
}
