//! `argiope adopt` of a damaged archive: every whole record is used, and what is lost is named.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::crawled::{Crawled, flip};
use testweb::{Pages, Web};

const SEED: &str = "http://small.test/";

/// Takes the state away and adopts the archive: the exit code, and the report.
fn adopted(crawled: &Crawled) -> (i32, Value) {
    fs::remove_dir_all(Path::new(crawled.dir()).join("state")).expect("a state");
    let ran = crawled.run("adopt", &[SEED, "--json"]);
    (ran.code, ran.json())
}

/// How many pages the whole archive has.
fn pages_of_whole() -> u64 {
    let (code, report) = adopted(&Crawled::small());
    assert_eq!((code, &report["damaged_records"]), (0, &Value::from(0)), "{report}");
    report["pages"].as_u64().expect("a number")
}

/// Adopts an archive with one damaged record at `offset`. All pages but `lost` come in, and the damage is named.
fn check_damaged(crawled: &Crawled, segment: &Path, offset: u64, lost: u64) -> Value {
    let (code, report) = adopted(crawled);
    let name = segment.file_name().expect("a name").to_string_lossy();
    assert_eq!((code, &report["damaged_records"]), (1, &Value::from(1)), "{report}");
    assert_eq!(report["damaged_files"], 1, "{report}");
    let said = report["damaged"][0].as_str().expect("a text");
    assert!(said.starts_with(&format!("{name} at {offset}: ")), "{said}");
    assert_eq!(report["pages"].as_u64().map(|pages| pages + lost), Some(pages_of_whole()), "{report}");
    // The same again, in words: nothing more comes in, and the damage is still there.
    let again = crawled.run("adopt", &[]);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stdout.contains("\n1 damaged record in 1 file: passed over, "), "{again:?}");
    assert!(again.stdout.contains("0 pages adopted from 1 file"), "{again:?}");
    let checked = crawled.run("check", &[]);
    let warning = format!("warning: orphaned/{name} at {offset}: ");
    assert!(checked.code == 0 && checked.stdout.contains(&warning), "{checked:?}");
    assert!(!checked.stdout.contains("no errors"), "{checked:?}");
    report
}

#[test]
fn records_behind_a_damaged_response_are_adopted() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    // In the checksum of its gzip member, so that its header can be read.
    flip(&segment, offset + length - 6);
    // /copy repeats what is lost.
    let report = check_damaged(&crawled, &segment, offset, 2);
    let said = report["damaged"][0].as_str().expect("a text");
    assert!(said.ends_with("; a response record of http://small.test/a"), "{said}");
    assert_eq!((&report["without_original"], &report["left"]), (&1.into(), &1.into()), "{report}");
    // What links lead to is fetched, and nothing else.
    let asked = crawled.log().len();
    assert_eq!(crawled.crawl(&[]).code, 0);
    let log = crawled.log();
    let mut targets: Vec<&str> = log[asked..].iter().map(|entry| entry.target.as_str()).collect();
    targets.retain(|target| *target != "/robots.txt");
    assert_eq!(targets, ["/a", "/copy"]);
}

#[test]
fn a_damaged_revisit_costs_one_page() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/copy");
    flip(&segment, offset + length / 2);
    check_damaged(&crawled, &segment, offset, 1);
}

#[test]
fn a_damaged_request_costs_no_page() {
    let crawled = Crawled::small();
    let (segment, offset, length) = crawled.record("/a");
    flip(&segment, offset + length + 40);
    check_damaged(&crawled, &segment, offset + length, 0);
}

#[test]
fn a_damaged_warcinfo_costs_no_page() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    flip(&segment, 40);
    check_damaged(&crawled, &segment, 0, 0);
}

#[test]
fn garbage_behind_the_last_record_costs_no_page() {
    let crawled = Crawled::small();
    let segment = crawled.segments().remove(0);
    let whole = fs::metadata(&segment).expect("a segment").len();
    let mut file = OpenOptions::new().append(true).open(&segment).expect("a segment");
    file.write_all(&[0x55; 1_000]).expect("appended");
    check_damaged(&crawled, &segment, whole, 0);
}

#[test]
fn of_a_cut_segment_all_before_the_cut_is_adopted() {
    let crawled = Crawled::small();
    let last = warc::index(crawled.segments().remove(0)).expect("an index");
    let last = last.iter().max_by_key(|line| line.location.offset).expect("a record").location;
    let segment = crawled.segments().remove(0);
    let file = OpenOptions::new().write(true).open(&segment).expect("a segment");
    file.set_len(last.offset + last.length / 2).expect("cut");
    check_damaged(&crawled, &segment, last.offset, 1);
}

/// A crawl has found by their texts that these pages are no trap. Their archive has no more of them than it has.
#[test]
fn pages_that_look_like_a_trap_and_are_none_are_adopted() {
    const PAGES: u64 = 120;
    let path = |n: u64| format!("/i?id={:032x}", u128::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
    let links: String = (0..PAGES).map(|n| format!("<a href='{}'>{n}</a>", path(n))).collect();
    let site = (0..PAGES).fold(Pages::new().html("/", links), |site, n| {
        let words: String = (0..80).map(|word| format!("word{}letter{} ", n * 80 + word, n)).collect();
        site.html(path(n), format!("<title>{n}</title><p>{words}"))
    });
    let crawled = Crawled::of(Web::new().site("small.test", site), SEED, &[]);
    let rows = |crawled: &Crawled| crawled.run("export", &["jsonl", "--outcome", "html"]).stdout.lines().count() as u64;
    assert_eq!(rows(&crawled), 1 + PAGES, "the crawl has them");
    let (code, report) = adopted(&crawled);
    assert_eq!((code, &report["pages"]), (0, &Value::from(1 + PAGES)), "{report}");
    assert_eq!(rows(&crawled), 1 + PAGES);
}

/// The index of a segment names no record that a crawl has cut off and set aside.
#[test]
fn an_older_state_leaves_no_index_of_what_was_set_aside() {
    let crawled = Crawled::small();
    let (dir, backup) = (Path::new(crawled.dir()), tempfile::tempdir().expect("a directory"));
    let copy = |from: &Path, to: &Path| {
        assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().expect("copied").success());
    };
    copy(&dir.join("state"), backup.path());
    let segments = crawled.segments();
    let length = || fs::metadata(&segments[0]).expect("a segment").len();
    let before = length();
    assert_eq!(crawled.crawl(&["http://small.test/never-linked"]).code, 0);
    assert!(crawled.segments() == segments && length() > before, "it goes on in the same segment");
    fs::remove_dir_all(dir.join("state")).expect("removed");
    copy(&backup.path().join("state"), dir);
    let ran = crawled.crawl(&[]);
    assert!(ran.code == 0 && ran.stderr.contains("set aside"), "{ran:?}");
    assert_eq!(length(), before);
    let ran = crawled.run("check", &[]);
    assert!(ran.code == 0 && !ran.stdout.contains("does not agree"), "{ran:?}");
    let index = crawled.run("export", &["cdxj"]);
    assert!(index.code == 0 && !index.stdout.is_empty(), "{index:?}");
    for line in index.stdout.lines() {
        let (_, json) = line.split_once(" {").expect("a line of an index");
        let fields: Value = serde_json::from_str(&format!("{{{json}")).expect("JSON");
        let offset: u64 = fields["offset"].as_str().expect("a text").parse().expect("a number");
        assert!(offset < before, "{line}");
    }
    // What is set aside can be taken in as before.
    let ran = crawled.run("adopt", &[]);
    assert!(ran.code == 0 && ran.stdout.contains(" adopted from 1 file"), "{ran:?}");
    assert_eq!(crawled.run("check", &[]).code, 0);
}
