//! `argiope check`: damage is noticed.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};

use testkit::crawled::{Crawled, flip};
use testkit::ran::Ran;

/// Checks the directory: the exit code, and the findings as `severity: problem`.
pub fn checked(crawled: &Crawled) -> (i32, Vec<String>) {
    let ran = crawled.run("check", &["--json"]);
    let report = ran.json();
    assert_eq!(report["ok"], json!(ran.code == 0));
    (ran.code, findings(&report["findings"]))
}

pub fn findings(list: &Value) -> Vec<String> {
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let line = |finding: &Value| {
        let about = finding["url"].as_str().map(|url| format!("{url}: ")).unwrap_or_default();
        format!("{}: {about}{}", word(finding, "severity"), word(finding, "problem"))
    };
    list.as_array().expect("findings").iter().map(line).collect()
}

fn has(findings: &[String], expect: &str) {
    assert!(findings.iter().any(|finding| finding.contains(expect)), "{expect}\n{findings:#?}");
}

#[test]
fn a_whole_crawl_is_clean() {
    let crawled = Crawled::small();
    let Ran { code, stdout, .. } = crawled.run("check", &[]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.starts_with("no errors: 21 records ("), "{stdout}");
    assert!(
        stdout.ends_with(") in 1 segment: 10 request, 9 response, 1 revisit, 1 warcinfo; 9 pointers followed\n"),
        "{stdout}"
    );
    let report = crawled.run("check", &["--json"]).json();
    let keys = [
        "directory",
        "ok",
        "archive",
        "segments",
        "records",
        "bytes",
        "by_type",
        "pointers",
        "errors",
        "warnings",
        "findings",
        "findings_left_out",
        "repair",
    ];
    assert_eq!(report.as_object().expect("an object").keys().collect::<Vec<_>>(), keys);
    assert_eq!(report["by_type"], json!({"request": 10, "response": 9, "revisit": 1, "warcinfo": 1}));
    assert_eq!(report["repair"], Value::Null);
}

#[test]
fn crawls_of_many_segments_and_crawls_with_work_left_are_clean() {
    for arguments in
        [&["--segment-size", "2KB"][..], &["--max-pages", "2"], &["--max-pages", "3", "--segment-size", "1KB"]]
    {
        let crawled = Crawled::with(arguments);
        assert_eq!(checked(&crawled), (0, vec![]), "{arguments:?}");
        crawled.crawl(&[]);
        assert_eq!(checked(&crawled), (0, vec![]), "{arguments:?}, and resumed");
    }
}

#[test]
fn a_crawl_without_archive_has_nothing_to_check() {
    let crawled = Crawled::with(&["--no-archive"]);
    let ran = crawled.run("check", &[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "no errors: this crawl keeps no archive\n"));
}

#[test]
fn a_flipped_byte_is_noticed_and_its_url_is_named() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/target");
    flip(&segment, offset + length / 2);
    let (code, findings) = checked(&crawled);
    assert_eq!(code, 1);
    has(&findings, "bytes are no whole record");
    has(&findings, "http://small.test/target: its response cannot be read: damaged record");
    let errors = findings.iter().filter(|finding| finding.starts_with("error"));
    assert_eq!(errors.count(), 2, "nothing else is touched: {findings:#?}");
    let text = crawled.run("check", &[]).stdout;
    let name = segment.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(text.contains(&format!("error: {name} at {offset}: {length} bytes are no whole record: ")), "{text}");
}

#[test]
fn a_file_that_ends_in_mid_record_is_noticed() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/copy");
    let file = OpenOptions::new().write(true).open(&segment).expect("a segment");
    file.set_len(offset + length / 2).expect("cut");
    let (code, findings) = checked(&crawled);
    assert_eq!(code, 1);
    has(&findings, "committed bytes are missing");
    has(&findings, "the file ends inside the record");
    has(&findings, "http://small.test/copy: its response cannot be read: damaged record");
}

#[test]
fn a_missing_segment_is_noticed() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    std::fs::remove_file(&crawled.segments()[1]).expect("removed");
    let (code, findings) = checked(&crawled);
    assert_eq!(code, 1);
    has(&findings, "error: is missing");
    has(&findings, "its response cannot be read");
}

#[test]
fn an_index_that_is_missing_or_wrong_is_noticed() {
    let crawled = Crawled::small();
    let index = archive::index_path(&crawled.segments()[0]);
    let lines = std::fs::read_to_string(&index).expect("an index");
    std::fs::write(&index, lines.replacen("/target", "/tarket", 1)).expect("written");
    assert_eq!(checked(&crawled), (1, vec!["error: does not agree with its segment: --repair rebuilds it".to_owned()]));
    std::fs::remove_file(&index).expect("removed");
    assert_eq!(checked(&crawled), (1, vec!["error: is missing: --repair rebuilds it".to_owned()]));
}

#[test]
fn an_index_that_the_crawl_would_still_write_is_no_error() {
    let crawled = Crawled::with(&["--max-pages", "5", "--segment-size", "2KB"]);
    let index = archive::index_path(&crawled.segments()[0]);
    std::fs::remove_file(&index).expect("removed");
    let note = "note: is not written yet: the next crawl or --repair writes it";
    assert_eq!(checked(&crawled), (0, vec![note.to_owned()]));
    assert_eq!(crawled.run("check", &["--repair"]).code, 0);
    assert!(index.exists());
}

#[test]
fn what_lies_behind_the_committed_end_is_no_error() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    let mut file = OpenOptions::new().append(true).open(&segment).expect("a segment");
    file.write_all(b"garbage").expect("written");
    std::fs::write(segment.with_file_name("argiope-20260101000000-00009.warc.gz"), "").expect("written");
    let expect = [
        "note: is not known to the state: the next crawl in this directory removes it",
        "note: the last 7 bytes are uncommitted: the next crawl or --repair cuts them off",
    ];
    assert_eq!(checked(&crawled), (0, expect.map(str::to_owned).to_vec()));
}

#[test]
fn a_record_of_another_url_is_noticed() {
    let crawled = Crawled::small();
    let (segment, a, length) = crawled.record("/a");
    let (_, gone, _) = crawled.record("/gone");
    let bytes = std::fs::read(&segment).expect("a segment");
    let at = |offset: u64| usize::try_from(offset).expect("in memory");
    let mut swapped = bytes.clone();
    let (first, second) = (a.min(gone), a.max(gone));
    assert!(first + length <= second);
    // The records change places, and all others keep theirs, if what lies between moves by the difference.
    let end = |start: u64| {
        at(start) + usize::try_from(if start == a { length } else { crawled.record("/gone").2 }).expect("small")
    };
    let parts = [&bytes[at(second)..end(second)], &bytes[end(first)..at(second)], &bytes[at(first)..end(first)]];
    swapped[at(first)..end(second)].copy_from_slice(&parts.concat());
    std::fs::write(&segment, swapped).expect("written");
    let (code, findings) = checked(&crawled);
    assert_eq!(code, 1);
    let is_about = |url: &str| findings.iter().any(|finding| finding.starts_with(&format!("error: {url}: ")));
    assert!(is_about("http://small.test/a") && is_about("http://small.test/gone"), "{findings:#?}");
}
