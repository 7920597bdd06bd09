//! The archive of several workers on directories and on S3: what arrives, in which order, and what happens when it cannot.

#![expect(clippy::expect_used, reason = "tests: what fails is to stop them")]

mod s3;

use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;

use shared_archive::{Object, SharedArchive};
use tempfile::TempDir;

use crate::s3::{BUCKET, S3, State};

const NAME: &str = "argiope-1.warc.gz";
const WARC: &str = "archive/argiope-1.warc.gz";
const BESIDE: [&str; 5] = [
    "archive/argiope-1.cdxj",
    "dataset/images/argiope-1.parquet",
    "dataset/items/product/argiope-1.parquet",
    "dataset/links/argiope-1.parquet",
    "dataset/pages/argiope-1.parquet",
];
/// More than goes up in one piece.
const WARC_BYTES: usize = 20_000_001;

/// A worker's directory with a segment in it.
fn worker() -> TempDir {
    let root = TempDir::new().expect("a directory");
    for key in BESIDE {
        write(root.path(), key, key.as_bytes());
    }
    write(root.path(), WARC, &warc());
    root
}

fn warc() -> Vec<u8> {
    (0..WARC_BYTES).map(|n| u8::try_from(n % 251).expect("small")).collect()
}

fn write(root: &Path, key: &str, bytes: &[u8]) {
    let path = root.join(key);
    std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    std::fs::write(path, bytes).expect("a file");
}

fn keys(archive: &SharedArchive) -> Vec<String> {
    archive.list().expect("a list").into_iter().map(|object| object.key).collect()
}

/// What every storage does.
fn check(archive: &SharedArchive) {
    let worker = worker();
    archive.check().expect("it can be written");
    assert!(keys(archive).is_empty(), "the probe is gone");
    assert!(archive.put_text_if_absent("crawl.toml", "first").expect("put"));
    assert!(!archive.put_text_if_absent("crawl.toml", "second").expect("asked"));
    archive.put_segment(NAME, worker.path()).expect("put");
    archive.put_segment(NAME, worker.path()).expect("put again");
    let expected: Vec<&str> =
        [BESIDE[0], WARC].into_iter().chain(["crawl.toml"]).chain(BESIDE[1..].iter().copied()).collect();
    assert_eq!(keys(archive), expected);
    let sizes = archive.list().expect("a list");
    assert!(sizes.iter().any(|object| object.key == WARC && object.bytes == WARC_BYTES as u64));

    let other = TempDir::new().expect("a directory");
    for key in [WARC, BESIDE[2]] {
        assert!(archive.get(key, &other.path().join(key)).expect("get"));
        assert!(
            std::fs::read(other.path().join(key)).expect("a file")
                == std::fs::read(worker.path().join(key)).expect("a file")
        );
    }
    assert!(archive.get("crawl.toml", &other.path().join("crawl.toml")).expect("get"));
    assert_eq!(std::fs::read(other.path().join("crawl.toml")).expect("a file"), b"first");
    assert!(!archive.get("archive/none.warc.gz", &other.path().join("none")).expect("asked"));
    assert!(!other.path().join("none").exists());

    let end = WARC_BYTES as u64;
    assert_eq!(archive.piece(NAME, 300..303).expect("read"), Some(vec![49, 50, 51]));
    assert_eq!(archive.piece(NAME, end - 2..end + 9).expect("read").map(|piece| piece.len()), Some(2));
    assert_eq!(archive.piece("none.warc.gz", 0..1).expect("asked"), None);

    assert_eq!(archive.segments().expect("listed"), [(NAME.to_owned(), end)].into());
    let aside = |key: &str, bytes| Some(Object { key: format!("archive/orphaned/{key}"), bytes });
    assert_eq!(archive.set_aside(NAME).expect("moved"), aside(NAME, end));
    assert_eq!(archive.set_aside(NAME).expect("nothing is left to move"), None);
    assert_eq!(keys(archive), [&format!("archive/orphaned/{NAME}"), "crawl.toml"]);
    assert!(archive.segments().expect("listed").is_empty(), "it counts no more");
    // Killed between the copy and the removal, it is the same; another one of its name takes no place.
    archive.put_segment(NAME, worker.path()).expect("put");
    assert_eq!(archive.set_aside(NAME).expect("moved"), aside(NAME, end));
    archive.put_text(WARC, "shorter").expect("put");
    assert_eq!(archive.set_aside(NAME).expect("moved"), aside("argiope-1-again-2.warc.gz", 7));
    assert_eq!(archive.text(&format!("archive/orphaned/{NAME}")).expect("read").map(|text| text.len() > 7), Some(true));
    let error = archive.put_segment("argiope-2.warc.gz", worker.path()).expect_err("it is not there").to_string();
    assert!(error.contains("archive/argiope-2.warc.gz") && error.contains("No such file"), "{error}");
}

#[test]
fn a_directory_is_an_archive() {
    let root = TempDir::new().expect("a directory");
    let dir = root.path().join("deep/archive of all");
    let url = url::Url::from_file_path(&dir).expect("a URL");
    check(&SharedArchive::open(url.as_str()).expect("it is made"));
    assert!(dir.join("crawl.toml").is_file(), "its root is a crawl's directory");
}

fn on(s3: &S3) -> SharedArchive {
    SharedArchive::open_with(&format!("s3://{BUCKET}/one/crawl"), s3.variables()).expect("it is not asked yet")
}

#[test]
fn a_bucket_is_an_archive_and_the_warc_file_comes_last_in_bounded_parts() {
    let s3 = S3::start(State::default());
    check(&on(&s3));
    let put = s3.state.put.lock().expect("no panic");
    let segment: Vec<&str> =
        put.iter().skip_while(|key| !key.contains("argiope-1")).take(BESIDE.len() + 1).map(String::as_str).collect();
    assert_eq!(segment.len(), BESIDE.len() + 1);
    assert_eq!(segment[BESIDE.len()], format!("one/crawl/{WARC}"));
    let parts = s3.state.parts.lock().expect("no panic");
    assert_eq!(parts.iter().sum::<usize>(), 3 * WARC_BYTES);
    assert!(parts.len() >= 4 && parts.iter().all(|bytes| *bytes <= 8 << 20), "{parts:?}");
}

#[test]
fn a_bucket_that_fails_now_and_then_is_asked_again() {
    let s3 = S3::start(State::default());
    let (archive, worker) = (on(&s3), worker());
    s3.state.failing.store(2, SeqCst);
    archive.check().expect("at the third try");
    s3.state.failing.store(3, SeqCst);
    archive.put_segment(NAME, worker.path()).expect("put");
    assert_eq!(s3.state.failed.load(SeqCst), 5);
    assert!(s3.state.objects.lock().expect("no panic")[&format!("one/crawl/{WARC}")] == warc());
}

#[test]
fn a_bucket_that_refuses_is_named_in_one_line() {
    let s3 = S3::start(State { refusing: true, ..State::default() });
    let archive = on(&s3);
    let errors = [
        archive.check().expect_err("refused"),
        archive.put_segment(NAME, worker().path()).expect_err("refused"),
        archive.remove(WARC).expect_err("refused"),
        archive.put_text_if_absent("crawl.toml", "").expect_err("refused"),
    ];
    for error in errors.map(|error| error.to_string()) {
        assert!(error.starts_with(&format!("archive s3://{BUCKET}/one/crawl cannot be written: ")), "{error}");
        assert!(error.contains("403 Forbidden") && error.ends_with("You may not do this."), "{error}");
        assert!(!error.contains('\n'));
    }
    let error = archive.list().expect_err("refused").to_string();
    assert!(error.starts_with(&format!("archive s3://{BUCKET}/one/crawl cannot be read: ")), "{error}");
}

#[test]
fn an_address_that_cannot_be_used_is_named() {
    let check = |url: &str, says: &str| {
        let error = SharedArchive::open_with(url, []).err().expect("refused").to_string();
        assert!(error.contains(url) && error.contains(says), "{error}");
    };
    check("archive", "relative URL without a base");
    check("ftp://host/dir", "ftp:// is not known");
    check("s3:///prefix", "it names no bucket");
    check("file://host/dir", "it names no directory of this machine");
    check("az://container/prefix", "Account must be specified");
}
