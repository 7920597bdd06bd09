//! An archive with states that do not fit it.

use std::collections::BTreeSet;

use model::{Exchange, Method, Timestamp};
use tempfile::TempDir;
use weburl::{CanonicalRules, CanonicalUrl};

use super::*;
use crate::{Archive, Digests};

const ID: &str = "0123456789abcdef";
const SEGMENT_BYTES_MAX: u64 = 1_500;
const IN_FLIGHT_BYTES_MAX: u64 = 1 << 20;

fn known(crawl_id: &str, segments: &[Segment]) -> ArchiveInState {
    let is_empty = false;
    ArchiveInState {
        crawl_id: crawl_id.to_owned(),
        segments: segments.to_vec(),
        is_empty,
        in_flight_bytes_max: IN_FLIGHT_BYTES_MAX,
    }
}

fn open(dir: &Path, known: &ArchiveInState) -> Result<Archive, ArchiveError> {
    Archive::open(dir, known, Vec::new(), SEGMENT_BYTES_MAX)
}

/// Appends pages, each followed by a commit. Returns the segments after each.
fn crawl(archive: &mut Archive, segments: &mut Vec<Segment>, pages: std::ops::Range<u64>, commits: bool) {
    for page in pages {
        let url = format!("http://one.test/{page}");
        let exchange = Exchange {
            url: CanonicalUrl::parse(&url, &CanonicalRules::default()).expect("a URL"),
            method: Method::Get,
            address: None,
            started_at: Timestamp(1_000_000 * page),
            request_head: b"GET / HTTP/1.1\r\n\r\n".as_slice().into(),
            request_body: Default::default(),
            response_head: b"HTTP/1.1 200 OK\r\n\r\n".as_slice().into(),
            payload: url.into_bytes().into(),
            truncated: None,
            redacted: Default::default(),
        };
        archive.append(&[exchange], Digests::default(), None).expect("appended");
        let grown = archive.sync().expect("synced").grown;
        if commits {
            for segment in &grown {
                segments.retain(|before| before.serial != segment.serial);
                segments.push(segment.clone());
            }
            archive.acknowledge(&grown);
        }
    }
}

/// An archive of ten pages, and what the state knew after five.
struct Crawled {
    root: TempDir,
    early: Vec<Segment>,
    all: Vec<Segment>,
}

impl Crawled {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        let mut archive = open(&root.path().join("archive"), &known(ID, &[])).expect("an archive");
        let (mut segments, early);
        segments = Vec::new();
        crawl(&mut archive, &mut segments, 0..5, true);
        early = segments.clone();
        crawl(&mut archive, &mut segments, 5..10, true);
        archive.close(false).expect("closed");
        assert!(early.len() > 1 && segments.len() > early.len() + 1, "{early:?} {segments:?}");
        assert_ne!(early.last(), segments.get(early.len() - 1), "the last segment grew");
        Crawled { root, early, all: segments }
    }

    fn dir(&self) -> PathBuf {
        self.root.path().join("archive")
    }

    fn bytes(&self) -> u64 {
        let segments = segments_in(&self.dir()).expect("readable");
        segments.into_iter().chain(orphans(&self.dir()).expect("readable")).map(|file| file.bytes).sum()
    }

    fn lengths(&self) -> Vec<u64> {
        segments_in(&self.dir()).expect("readable").iter().map(|segment| segment.bytes).collect()
    }
}

fn lengths(segments: &[Segment]) -> Vec<u64> {
    segments.iter().map(|segment| segment.length).collect()
}

#[test]
fn what_a_crash_leaves_is_cut_off() {
    let crawled = Crawled::new();
    let mut archive = open(&crawled.dir(), &known(ID, &crawled.all)).expect("opened");
    assert_eq!(archive.set_aside(), []);
    crawl(&mut archive, &mut Vec::new(), 10..15, false);
    drop(archive);
    assert!(segments_in(&crawled.dir()).expect("readable").len() > crawled.all.len());
    let archive = open(&crawled.dir(), &known(ID, &crawled.all)).expect("opened");
    assert_eq!(archive.set_aside(), []);
    assert_eq!((crawled.lengths(), orphans(&crawled.dir()).expect("readable")), (lengths(&crawled.all), vec![]));
}

#[test]
fn what_is_indexed_was_committed_though_all_else_was_restored() {
    // A backup unpacked over the directory: state and `acknowledged` of before, beside segments of later.
    let crawled = Crawled::new();
    let before = crawled.bytes();
    let reach = Reach::of(&crawled.early);
    drop(Acknowledged::begin(&crawled.dir(), Said { crawl_id: ID.to_owned(), reach }).expect("restored"));
    let archive = open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened");
    assert_eq!(archive.set_aside().len(), 1 + crawled.all.len() - crawled.early.len());
    assert_eq!((crawled.lengths(), crawled.bytes()), (lengths(&crawled.early), before));
}

#[test]
fn a_segment_gets_its_index_when_all_of_it_is_committed() {
    let root = tempfile::tempdir().expect("a directory");
    let dir = root.path().join("archive");
    let mut archive = open(&dir, &known(ID, &[])).expect("an archive");
    let mut segments = Vec::new();
    crawl(&mut archive, &mut segments, 0..2, true);
    crawl(&mut archive, &mut Vec::new(), 2..9, false);
    let indexed = |dir: &Path| names_in(dir).expect("readable").iter().filter(|name| name.ends_with(".cdxj")).count();
    drop(archive);
    let all = segments_in(&dir).expect("readable").len();
    assert!(all > segments.len() + 1 && indexed(&dir) <= segments.len(), "{all} segments");
    // So nothing keeps from cutting off what a crash left.
    let archive = open(&dir, &known(ID, &segments)).expect("opened");
    assert_eq!((archive.set_aside().len(), segments_in(&dir).expect("readable").len()), (0, segments.len()));
}

#[test]
fn what_an_older_state_does_not_know_is_set_aside() {
    let crawled = Crawled::new();
    let before = crawled.bytes();
    let archive = open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened");
    // The tail of the last segment that it knows, and those behind.
    assert_eq!(archive.set_aside().len(), 1 + crawled.all.len() - crawled.early.len());
    assert_eq!((crawled.lengths(), crawled.bytes()), (lengths(&crawled.early), before));
    for orphan in orphans(&crawled.dir()).expect("readable") {
        let report = warc::check(crawled.dir().join(ORPHANED).join(&orphan.name)).expect("readable");
        assert!(report.records > 1 && report.findings.is_empty(), "{report:?}");
    }
    // From now on the archive is that of the older state.
    drop(archive);
    assert_eq!(open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened").set_aside(), []);
}

/// The segment that was cut was whole and had its index. The index names no record that is not there any more.
#[test]
fn an_index_does_not_outlive_the_records_that_are_cut_off() {
    let crawled = Crawled::new();
    let segment = &crawled.early[crawled.early.len() - 1];
    let path = crawled.dir().join(&segment.name);
    let index = index_path(&path);
    assert!(is_listed(&index, segment.length).expect("readable"), "the later state knew more");
    let archive = open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened");
    assert!(!index.exists());
    // As the segment is ended, it gets an index of what it has.
    archive.close(true).expect("closed");
    let lines = warc::index(&path).expect("a segment").iter().map(|line| format!("{line}\n")).collect::<Vec<_>>();
    let found = fs::read_to_string(&index).expect("an index");
    assert!(!lines.is_empty());
    assert_eq!(found.lines().collect::<BTreeSet<_>>(), lines.iter().map(|line| line.trim_end()).collect());
    // One that lists nothing of what is cut off stays.
    let mut tail = fs::OpenOptions::new().append(true).open(&path).expect("a segment");
    tail.write_all(&[0; 9]).expect("written");
    drop(open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened"));
    assert_eq!(fs::metadata(&path).expect("a segment").len(), segment.length);
    assert_eq!(fs::read_to_string(&index).expect("an index"), found);
}

#[test]
fn each_step_may_be_the_last_of_a_process() {
    let crawled = Crawled::new();
    let before = crawled.bytes();
    let tail = &crawled.early[crawled.early.len() - 1];
    // Killed when the tail was copied and not cut, and when one segment was moved and not the next.
    let orphan = copy_tail(&crawled.dir(), &tail.name, tail.length).expect("copied");
    move_aside(&crawled.dir(), &crawled.all[crawled.early.len()].name).expect("moved");
    open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened");
    let orphans = orphans(&crawled.dir()).expect("readable");
    assert!(orphans.contains(&orphan), "{orphans:?}");
    assert_eq!((orphans.len(), crawled.bytes()), (1 + crawled.all.len() - crawled.early.len(), before));
}

#[test]
fn temporary_files_that_a_killed_process_left_are_removed() {
    let crawled = Crawled::new();
    let left = ["argiope-20260101000000-00099.cdxj.tmp", "argiope-20260101000000-00000.warc.gz.repair.tmp"];
    let foreign = ["notes.tmp", "argiope-notes.txt"];
    for name in left.iter().chain(&foreign) {
        fs::write(crawled.dir().join(name), "half").expect("written");
    }
    drop(open(&crawled.dir(), &known(ID, &crawled.all)).expect("opened"));
    let there = |name: &&str| crawled.dir().join(name).exists();
    assert_eq!(left.iter().filter(|name| there(name)).count(), 0, "removed");
    assert!(foreign.iter().all(there), "kept");
}

#[test]
fn an_archive_of_an_earlier_program_loses_nothing() {
    let crawled = Crawled::new();
    fs::remove_file(crawled.dir().join(super::super::acknowledged::FILE)).expect("removed");
    let before = crawled.bytes();
    open(&crawled.dir(), &known(ID, &crawled.early)).expect("opened");
    assert_eq!((crawled.lengths(), crawled.bytes()), (lengths(&crawled.early), before));
}

#[test]
fn more_than_can_be_in_flight_is_set_aside() {
    let crawled = Crawled::new();
    let mut archive = open(&crawled.dir(), &known(ID, &crawled.all)).expect("opened");
    crawl(&mut archive, &mut Vec::new(), 10..15, false);
    drop(archive);
    let before = crawled.bytes();
    open(&crawled.dir(), &ArchiveInState { in_flight_bytes_max: 100, ..known(ID, &crawled.all) }).expect("opened");
    assert_eq!((crawled.lengths(), crawled.bytes()), (lengths(&crawled.all), before));
}

#[test]
fn an_empty_state_or_that_of_another_crawl_is_refused_and_changes_nothing() {
    let crawled = Crawled::new();
    let (all, before) = (lengths(&crawled.all), crawled.bytes());
    let empty = ArchiveInState { is_empty: true, ..known("another", &[]) };
    for known in [empty.clone(), ArchiveInState { is_empty: true, ..known(ID, &[]) }] {
        let error = open(&crawled.dir(), &known).err().expect("refused");
        assert!(matches!(&error, ArchiveError::StateLost { segments, .. } if *segments == all.len()), "{error}");
    }
    let error = open(&crawled.dir(), &known("another", &[])).err().expect("refused");
    assert!(matches!(error, ArchiveError::OfAnotherCrawl { .. }), "{error}");
    assert_eq!((crawled.lengths(), crawled.bytes()), (all, before));
    // Set aside on order, it is in nobody's way.
    assert_eq!(set_aside(&crawled.dir(), &empty).expect("set aside").len(), crawled.all.len());
    assert_eq!((crawled.lengths(), crawled.bytes()), (vec![], before));
    open(&crawled.dir(), &empty).expect("opened");
}

#[test]
fn a_segment_of_another_crawl_is_set_aside() {
    let (crawled, other) = (Crawled::new(), Crawled::new());
    let foreign = crawled.dir().join("argiope-20991231000000-00999.warc.gz");
    fs::copy(other.dir().join(&other.all[0].name), &foreign).expect("copied");
    let of_crawl = open(&crawled.dir(), &known("another", &crawled.all)).err().expect("refused");
    assert!(matches!(of_crawl, ArchiveError::OfAnotherCrawl { .. }), "{of_crawl}");
    let text = fs::read_to_string(crawled.dir().join("acknowledged")).expect("a file").replace(ID, "another");
    fs::write(crawled.dir().join("acknowledged"), text).expect("written");
    let set_aside = open(&crawled.dir(), &known("another", &crawled.all)).expect("opened").set_aside().to_vec();
    assert_eq!(
        set_aside.iter().map(|orphan| orphan.name.as_str()).collect::<Vec<_>>(),
        ["argiope-20991231000000-00999.warc.gz"]
    );
}

#[test]
fn links_in_place_of_segments_are_refused_and_what_they_lead_to_stays() {
    let crawled = Crawled::new();
    let theirs = crawled.root.path().join("theirs");
    let last = crawled.dir().join(&crawled.all[crawled.all.len() - 1].name);
    fs::rename(&last, &theirs).expect("moved");
    let longer = [fs::read(&theirs).expect("a file"), b"and more".to_vec()].concat();
    fs::write(&theirs, &longer).expect("written");
    std::os::unix::fs::symlink(&theirs, &last).expect("a link");
    let error = open(&crawled.dir(), &known(ID, &crawled.all)).err().expect("refused").to_string();
    assert!(error.contains("it is a symbolic link"), "{error}");
    assert_eq!(fs::read(&theirs).expect("a file"), longer);
}

#[test]
fn a_link_in_place_of_the_committed_length_is_named() {
    let crawled = Crawled::new();
    let path = crawled.dir().join("acknowledged");
    fs::remove_file(&path).expect("removed");
    std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
    let error = open(&crawled.dir(), &known(ID, &crawled.all)).err().expect("refused").to_string();
    assert!(error.starts_with(&format!("{}: it is a symbolic link", path.display())), "{error}");
}

/// A repair of the state's own segments would lead nowhere.
#[test]
fn a_state_of_another_crawl_with_segments_is_named_when_all_is_to_be_set_aside() {
    let (crawled, other) = (Crawled::new(), Crawled::new());
    let before = crawled.bytes();
    let lost = Segment { name: "argiope-20991231000000-00000.warc.gz".to_owned(), ..other.all[0].clone() };
    let error = set_aside(&crawled.dir(), &known("another", &[lost])).expect_err("refused");
    assert!(matches!(error, ArchiveError::OfAnotherCrawl { .. }), "{error}");
    assert_eq!(crawled.bytes(), before);
}

#[test]
fn a_segment_that_is_gone_is_said_to_be_missing() {
    let crawled = Crawled::new();
    let segment = &crawled.early[0];
    let path = crawled.dir().join(&segment.name);
    let said = || open(&crawled.dir(), &known(ID, &crawled.early)).err().expect("an error").to_string();
    fs::write(&path, b"some").expect("written");
    assert!(said().contains(" has 4 bytes, but the state points into "), "{}", said());
    fs::remove_file(&path).expect("removed");
    assert!(said().contains(" is missing, but the state points into "), "{}", said());
}
