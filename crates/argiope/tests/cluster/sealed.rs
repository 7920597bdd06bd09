//! What workers have sealed is read while they go on: reported, checked and exported.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testdb::until;

use crate::lab::{Lab, Laid};
use testkit::ran::argiope;

/// Removes what lies of a segment on shared storage, as before its upload.
fn take_back(shared: &Path, name: &str) {
    let stem = name.trim_end_matches(".warc.gz");
    for dir in ["archive", "dataset/pages", "dataset/links", "dataset/images"] {
        for entry in shared.join(dir).read_dir().into_iter().flatten().map(|entry| entry.expect("an entry")) {
            if entry.file_name().to_str().is_some_and(|found| found.starts_with(stem)) {
                std::fs::remove_file(entry.path()).expect("removed");
            }
        }
    }
}

#[test]
fn sealed_segments_are_read_while_the_crawl_runs() {
    let lab = Lab::new(Laid::out(4, 80, 4), &[]);
    let seal_soon = ["--seal-after", "1s"];
    let _workers = [(); 2].map(|()| lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &seal_soon));
    lab.crawl();
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    let shared = lab.shared();
    let dir = shared.to_str().expect("UTF-8");
    let read = |arguments: &[&str]| {
        let ran = argiope(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.stdout
    };
    let fetched = |text: &str| {
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        rows.filter(|row| row["outcome"] == "html").count()
    };
    assert_eq!(fetched(&read(&["export", dir, "jsonl"])), 80);

    // A segment with some of the pages, as if it were still being written.
    let in_segment = "SELECT g.name, count(*) FROM argiope.visit v JOIN argiope.segment g ON g.serial = v.segment
        WHERE v.outcome = 'html' GROUP BY g.name ORDER BY 2 LIMIT 1";
    let row = lab.query(in_segment).swap_remove(0);
    let (name, pages): (String, i64) = (row.get(0), row.get(1));
    take_back(&shared, &name);
    lab.execute(&format!("UPDATE argiope.segment SET is_sealed = false WHERE name = '{name}'"));
    let sealed = 80 - usize::try_from(pages).expect("some");
    assert_eq!(fetched(&read(&["export", dir, "jsonl"])), sealed, "{pages} pages are not sealed");
    read(&["check", dir]);
    let report: Value = serde_json::from_str(&read(&["report", dir, "--json"])).expect("JSON");
    assert!(report.is_object());
    let target = tempfile::tempdir().expect("a directory");
    let warcs = target.path().join("warcs");
    read(&["export", dir, "warc", "-o", warcs.to_str().expect("UTF-8")]);
    let copies = warcs.read_dir().expect("the copies").map(|copy| copy.expect("an entry").file_name());
    let copies: Vec<_> = copies.collect();
    assert!(!copies.is_empty() && copies.iter().all(|copy| *copy != *name), "{copies:?} without {name}");
    assert_eq!(lab.served.asked(&["stats"])["workers"], 2, "they go on");
}
