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
fn a_linked_directory_of_items_is_refused_and_what_is_there_stays() {
    let crawled = Crawled::with(&["--max-pages", "5"]);
    let (items, away) = (Path::new(crawled.dir()).join("dataset/items"), tempfile::tempdir().expect("a directory"));
    let segment = crawled.segments().remove(0);
    let stem = segment.file_name().and_then(|name| name.to_str()?.strip_suffix(".warc.gz")).expect("a name");
    let theirs = away.path().join(format!("{stem}.parquet"));
    fs::write(&theirs, "theirs").expect("written");
    fs::create_dir_all(&items).expect("a directory");
    symlink(away.path(), items.join("rule")).expect("a link");
    // A segment that is mended has its rows dropped.
    fs::OpenOptions::new().append(true).open(&segment).and_then(|file| file.set_len(2_000)).expect("cut");
    for (command, more) in [("check", &["--repair"][..]), ("derive", &[]), ("derive", &["--all"]), ("status", &[])] {
        let ran = crawled.run(command, more);
        assert_eq!(fs::read_to_string(&theirs).expect("a file"), "theirs", "{command}");
        assert!(ran.code == 1 && ran.stderr.contains("items/rule: is a symbolic link"), "{command}: {ran:?}");
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

/// Puts a pipe without another end in the place of a file.
fn piped(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

#[test]
fn an_index_that_is_a_link_or_a_pipe_is_neither_read_nor_waited_for() {
    for (kind, why) in [("link", "it is a symbolic link"), ("pipe", "it is not a regular file")] {
        let crawled = Crawled::with(&["--max-pages", "5"]);
        let away = tempfile::tempdir().expect("a directory");
        let (index, out) = (crawled.segments()[0].with_extension("").with_extension("cdxj"), away.path().join("out"));
        let target = match kind {
            "link" => Some(linked(&index, away.path())),
            _ => {
                piped(&index);
                None
            }
        };
        let stays = || assert!(target.iter().all(|(target, bytes)| fs::read(target).expect("a file") == *bytes));
        let exported = crawled.run("export", &["cdxj", "-o", out.to_str().expect("UTF-8")]);
        assert!(exported.code == 1 && exported.stderr.contains(why), "{kind}: {exported:?}");
        assert!(!out.exists());
        let checked = crawled.run("check", &[]);
        assert!(checked.code == 1 && checked.stdout.contains(why), "{kind}: {checked:?}");
        let exported = crawled.run("export", &["warc", "-o", out.to_str().expect("UTF-8")]);
        assert_eq!(exported.code, 0, "it needs no index: {exported:?}");
        stays();
        // The repair puts an index of its own in its place.
        let repaired = crawled.run("check", &["--repair"]);
        assert!(fs::symlink_metadata(&index).expect("an index").is_file(), "{kind}: {repaired:?}");
        assert_eq!(crawled.run("check", &[]).code, 0);
        stays();
    }
}

#[test]
fn links_and_pipes_in_place_of_settings_and_state_are_neither_read_nor_waited_for() {
    let crawled = Crawled::with(&["--max-pages", "5"]);
    let (root, away) = (Path::new(crawled.dir()), tempfile::tempdir().expect("a directory"));
    let pipe = root.join("state/engine/9.jnl");
    piped(&pipe);
    for ran in [crawled.crawl(&[]), crawled.run("status", &[]), crawled.run("check", &["--repair"])] {
        assert!(ran.code == 1 && ran.stderr.contains("not a regular file"), "{ran:?}");
    }
    fs::remove_file(pipe).expect("removed");
    let settings = root.join("crawl.toml");
    let (target, bytes) = linked(&settings, away.path());
    for ran in [crawled.crawl(&[]), crawled.run("status", &[]), crawled.run("explain", &["http://small.test/"])] {
        assert!(ran.code != 0 && ran.stderr.contains("crawl.toml: it is a symbolic link"), "{ran:?}");
        assert!(fs::read(&target).expect("a file") == bytes && settings.is_symlink());
    }
}
