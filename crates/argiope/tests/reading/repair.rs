//! `argiope check --repair`: what can be mended is mended, what is lost is named, and the crawl can go on.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};

use crate::check::{checked, findings};
use testkit::crawled::{Crawled, flip};

/// Repairs the directory: the exit code, and what the repair says of itself.
fn repaired(crawled: &Crawled) -> (i32, Value) {
    let ran = crawled.run("check", &["--repair", "--json"]);
    (ran.code, ran.json()["repair"].clone())
}

/// The crawl must be able to go on, and to end.
fn goes_on(crawled: &Crawled) {
    let ran = crawled.crawl(&["http://small.test/never-linked"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let row = crawled.explain("/never-linked")["row"].clone();
    assert_eq!(row["outcome"], "http_error", "it was asked for: {row}");
}

#[test]
fn nothing_is_touched_where_nothing_is_wrong() {
    let crawled = Crawled::small();
    let before = std::fs::read(&crawled.segments()[0]).expect("a segment");
    assert_eq!(repaired(&crawled), (0, Value::Null));
    assert_eq!(std::fs::read(&crawled.segments()[0]).expect("a segment"), before);
}

#[test]
fn a_damaged_request_costs_no_response() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length + 40);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
    assert!(repair["moved"].as_u64() > Some(0), "{repair}");
    assert_eq!(findings(&repair["found"]).len(), 1);
    assert_eq!(checked(&crawled), (0, vec![]));
    assert!(segment.with_extension("gz.damaged").exists(), "the old file is kept");
    goes_on(&crawled);
    assert_eq!(checked(&crawled), (0, vec![]));
}

#[test]
fn a_damaged_response_is_named_as_lost_and_so_is_what_repeats_it() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length / 2);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (1, &json!(["http://small.test/a"])), "{repair}");
    let left = [
        "error: http://small.test/a: its response is not in the archive",
        "error: http://small.test/copy: it repeats http://small.test/a, whose response is not in the archive",
    ];
    let (code, mut findings) = checked(&crawled);
    findings.retain(|finding| finding.starts_with("error"));
    findings.sort_unstable();
    assert_eq!((code, findings), (1, left.map(str::to_owned).to_vec()));
    let story = crawled.explain("/a");
    assert_eq!((&story["record"], &story["record_is_missing"]), (&Value::Null, &json!(true)));
    goes_on(&crawled);
    let errors = checked(&crawled).1.into_iter().filter(|finding| finding.starts_with("error"));
    assert_eq!(errors.count(), 2, "nothing more is wrong");
}

#[test]
fn a_cut_segment_loses_only_what_was_cut() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/copy");
    let file = OpenOptions::new().write(true).open(&segment).expect("a segment");
    file.set_len(offset + length / 2).expect("cut");
    let (code, repair) = repaired(&crawled);
    assert_eq!(code, 1);
    assert!(repair["lost"].as_array().expect("a list").contains(&json!("http://small.test/copy")), "{repair}");
    assert_eq!(std::fs::metadata(&segment).expect("a segment").len(), offset, "cut behind the last whole record");
    goes_on(&crawled);
}

#[test]
fn a_missing_segment_does_not_keep_the_crawl_from_going_on() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let segments = crawled.segments();
    assert!(segments.len() > 2);
    for segment in [&segments[1], segments.last().expect("there are three")] {
        std::fs::remove_file(segment).expect("removed");
    }
    let ran = crawled.crawl(&[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let (code, repair) = repaired(&crawled);
    assert_eq!(code, 1);
    assert!(!repair["lost"].as_array().expect("a list").is_empty());
    let (_, left) = checked(&crawled);
    assert!(left.iter().all(|finding| finding.ends_with("not in the archive")), "{left:#?}");
    goes_on(&crawled);
}

#[test]
fn a_segment_of_garbage_is_set_aside() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    std::fs::write(&segment, "not one record").expect("written");
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, repair["lost"].as_array().map(Vec::len)), (1, Some(9)), "{repair}");
    assert_eq!(std::fs::read(segment.with_extension("gz.damaged")).expect("kept"), b"not one record");
    goes_on(&crawled);
}

#[test]
fn indexes_are_rebuilt() {
    let crawled = Crawled::with(&["--segment-size", "2KB"]);
    let index = archive::index_path(&crawled.segments()[0]);
    let before = std::fs::read(&index).expect("an index");
    std::fs::remove_file(&index).expect("removed");
    let last = archive::index_path(crawled.segments().last().expect("segments"));
    std::fs::write(&last, "nonsense\n").expect("written");
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, repair["actions"].as_array().map(Vec::len)), (0, Some(2)), "{repair}");
    assert_eq!(std::fs::read(&index).expect("an index"), before);
    assert_eq!(checked(&crawled), (0, vec![]));
}

#[test]
fn uncommitted_tails_are_cut_off() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    let before = std::fs::read(&segment).expect("a segment");
    let mut file = OpenOptions::new().append(true).open(&segment).expect("a segment");
    file.write_all(b"garbage").expect("written");
    let ran = crawled.run("check", &["--repair"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("\nrepair: cut 7 bytes off "), "{}", ran.stdout);
    assert!(ran.stdout.contains("\nAfter the repair nothing is wrong now\nno errors: 21 records"), "{}", ran.stdout);
    assert_eq!(std::fs::read(&segment).expect("a segment"), before);
}

/// The archive was rewritten, but the process was killed before the state followed.
#[test]
fn an_interrupted_repair_is_carried_on() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length + 40);
    assert!(matches!(warc::repair(&segment), Ok(warc::Repair::Rewritten { .. })));
    assert_eq!(checked(&crawled).0, 1);
    let (code, repair) = repaired(&crawled);
    assert_eq!((code, &repair["lost"]), (0, &json!([])), "{repair}");
    assert_eq!(checked(&crawled), (0, vec![]));
}
