//! A crawl's directory in which symbolic links stand in place of files: what they lead to stays as it is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use testkit::crawled::Crawled;

/// Moves a file out of the way and puts a link to it in its place, behind which more lies.
fn linked(path: &Path, away: &Path) -> (PathBuf, Vec<u8>) {
    let target = away.join("theirs");
    let bytes = [fs::read(path).expect("a file"), b"theirs".to_vec()].concat();
    fs::write(&target, &bytes).expect("written");
    fs::remove_file(path).expect("removed");
    symlink(&target, path).expect("a link");
    (target, bytes)
}

#[test]
fn a_linked_segment_is_neither_cut_nor_repaired_nor_read() {
    let crawled = Crawled::with(&["--max-pages", "5"]);
    let away = tempfile::tempdir().expect("a directory");
    let segment = crawled.segments().remove(0);
    let (target, bytes) = linked(&segment, away.path());
    let ran = crawled.run("check", &["--repair"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(fs::read(&target).expect("a file"), bytes, "{ran:?}");
    let ran = crawled.crawl(&[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("it is a symbolic link, which is not followed within a crawl's directory"), "{ran:?}");
    assert_eq!(fs::read(&target).expect("a file"), bytes);
    let out = away.path().join("out.warc.gz");
    for arguments in [["derive", "--all"].to_vec(), ["export", "warc", "-o", out.to_str().expect("UTF-8")].to_vec()] {
        let ran = crawled.run(arguments[0], &arguments[1..]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert_eq!(fs::read(&target).expect("a file"), bytes);
    }
}

#[test]
fn links_in_place_of_other_files_are_not_written_through() {
    let places = ["dataset/unsettled", "state/acknowledged", "state/lock", "archive/acknowledged.tmp"];
    for place in places {
        let crawled = Crawled::with(&["--max-pages", "5"]);
        let away = tempfile::tempdir().expect("a directory");
        let path = Path::new(crawled.dir()).join(place);
        let _ = fs::write(&path, "");
        let (target, bytes) = linked(&path, away.path());
        crawled.crawl(&[]);
        assert_eq!(fs::read(&target).expect("a file"), bytes, "{place}");
    }
}

#[test]
fn linked_directories_are_refused() {
    for place in ["archive", "state", "dataset", "dataset/pages", "state/engine"] {
        let crawled = Crawled::with(&["--max-pages", "5"]);
        let away = tempfile::tempdir().expect("a directory");
        let (path, target) = (Path::new(crawled.dir()).join(place), away.path().join("theirs"));
        // The temporary directories lie on one file system.
        fs::rename(&path, &target).expect("moved");
        symlink(&target, &path).expect("a link");
        let ran = crawled.crawl(&[]);
        assert_eq!(ran.code, 1, "{place}: {ran:?}");
        assert!(ran.stderr.contains("symbolic link"), "{place}: {ran:?}");
    }
}

#[test]
fn a_pipe_in_place_of_the_secrets_is_not_waited_for() {
    let crawled = Crawled::with(&["--max-pages", "5"]);
    let path = Path::new(crawled.dir()).join("secrets.toml");
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&path).status().expect("mkfifo");
    assert!(made.success());
    let ran = crawled.crawl(&[]);
    assert!(ran.code != 0 && ran.stderr.contains("secrets.toml: it is not a regular file"), "{ran:?}");
}
