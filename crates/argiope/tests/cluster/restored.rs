//! An archive and a database that do not fit: nothing is deleted, and what cannot go on is refused before anything is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use testdb::{Postgres, until};

use crate::lab::{Lab, Laid, SEED};
use crate::served::{Served, one_line};
use testkit::ran::{Ran, argiope};

const PAGES: i64 = 12;

/// A small crawl that has ended, all of it sealed by one worker, with the name of its largest segment.
fn crawled() -> (Lab, crate::lab::Worker, String) {
    let lab = Lab::new(Laid::out(1, 12, 1), &[]);
    let worker = lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &["--seal-after", "1s"]);
    lab.crawl();
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    let largest = lab.query("SELECT name FROM argiope.segment ORDER BY length DESC LIMIT 1");
    let name = largest[0].get(0);
    (lab, worker, name)
}

fn server(database: &str, arguments: &[&str]) -> Ran {
    let ports = ["server", "--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0", "--store", database];
    argiope(&[&ports[..], arguments].concat())
}

fn in_orphaned(lab: &Lab, name: &str) -> bool {
    lab.shared().join("archive/orphaned").join(name).is_file()
}

#[test]
fn an_older_database_sets_sealed_segments_aside() {
    let (lab, worker, name) = crawled();
    let bytes = fs::read(lab.shared().join("archive").join(&name)).expect("sealed");
    lab.lose(worker);
    // As in a backup that was made while it was open.
    lab.execute("UPDATE argiope.segment SET is_sealed = false; UPDATE argiope.worker SET state = 'alive'");
    let worker = lab.worker();
    until("the segment to be set aside", || in_orphaned(&lab, &name));
    assert_eq!(fs::read(lab.shared().join("archive/orphaned").join(&name)).expect("kept"), bytes);
    until("a message", || worker.said().contains(&format!("archive/orphaned/{name}")));
    assert!(worker.said().contains("does not know it as sealed"), "{}", worker.said());
    lab.crawl();
    assert_eq!(lab.number("SELECT count(*) FROM argiope.visit WHERE outcome = 'html'"), PAGES, "visited again");
    assert_eq!(worker.leave().0, Some(0));
    let checked = argiope(&["check", lab.shared().to_str().expect("UTF-8")]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.stdout.contains("since the database does not know it"), "{checked:?}");
}

fn sealed(lab: &Lab) -> BTreeSet<String> {
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    lab.query("SELECT name FROM argiope.segment WHERE is_sealed").iter().map(|row| row.get(0)).collect()
}

/// By `pg_dump`, as docs/deployment.md and docs/shared-archive.md say it.
#[test]
fn an_older_backup_of_the_database_sets_later_segments_aside_and_they_are_adopted() {
    let mut lab = Lab::new(Laid::out(1, 24, 1), &[]);
    let sealing = |lab: &Lab| lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &["--seal-after", "1s"]);
    let worker = sealing(&lab);
    lab.served.crawl(SEED, 1);
    let early = sealed(&lab);
    let backup = lab.database.lock().expect("nobody panicked").dump("argiope");
    lab.crawl();
    let late: Vec<String> = sealed(&lab).difference(&early).cloned().collect();
    let (pages, bytes) = (lab.pages(), archived(&lab));
    assert!(!early.is_empty() && !late.is_empty(), "{early:?} {late:?}");
    assert_eq!(worker.leave().0, Some(0));
    lab.served.kill();

    lab.database.lock().expect("nobody panicked").restore("argiope", &backup);
    let log = tempfile::NamedTempFile::new().expect("a file");
    let url = lab.database.lock().expect("nobody panicked").url();
    lab.served = Served::start_to(&["--store", &url], log.reopen().expect("the file").into());
    let said = fs::read_to_string(log.path()).expect("its log");
    for name in &late {
        assert!(in_orphaned(&lab, name) && !lab.shared().join("archive").join(name).exists(), "{name}");
        assert!(said.contains(&format!("archive/orphaned/{name}")), "{name}: {said}");
    }
    assert!(early.iter().all(|name| lab.shared().join("archive").join(name).is_file()), "what it knows stays");
    assert_eq!(archived(&lab), bytes, "nothing is lost");
    let _worker = sealing(&lab);
    lab.crawl();
    assert_eq!(lab.pages(), pages);

    // A crawl of their own.
    let own = TempDir::new().expect("a directory");
    let settings = fs::read_to_string(lab.shared().join("crawl.toml")).expect("settings");
    let settings: String =
        settings.lines().filter(|line| !line.starts_with("store")).map(|line| format!("{line}\n")).collect();
    fs::write(own.path().join("crawl.toml"), settings).expect("written");
    fs::create_dir(own.path().join("archive")).expect("a directory");
    for name in &late {
        fs::rename(lab.shared().join("archive/orphaned").join(name), own.path().join("archive").join(name))
            .expect("moved");
    }
    let dir = own.path().to_str().expect("UTF-8");
    let adopted = argiope(&["adopt", dir, SEED]);
    assert_eq!(adopted.code, 0, "{adopted:?}");
    let rows = argiope(&["export", dir, "jsonl"]).stdout;
    let found = rows.lines().filter(|line| line.contains("\"outcome\":\"html\"")).count();
    let early = format!(
        "SELECT count(*) FROM argiope.visit WHERE segment IN (SELECT serial FROM argiope.segment WHERE name = ANY('{{{}}}'))",
        early.iter().cloned().collect::<Vec<_>>().join(",")
    );
    assert_eq!(found as i64, pages.len() as i64 - lab.number(&early), "{adopted:?} {rows}");
}

/// The bytes of all segments, whether they are set aside or not.
fn archived(lab: &Lab) -> u64 {
    let dirs = [lab.shared().join("archive"), lab.shared().join("archive/orphaned")];
    let files =
        dirs.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().map(|entry| entry.expect("an entry").path());
    let segments = files.filter(|path| path.extension().is_some_and(|ending| ending == "gz"));
    segments.map(|path| path.metadata().expect("a file").len()).sum()
}

#[test]
fn the_server_sets_unknown_segments_aside() {
    let (mut lab, worker, name) = crawled();
    assert_eq!(worker.leave().0, Some(0));
    lab.served.kill();
    let (archive, unknown) = (lab.shared().join("archive"), "argiope-20200101000000-00099.warc.gz");
    fs::copy(archive.join(&name), archive.join(unknown)).expect("copied");
    let dir = lab.shared();
    let dir = dir.to_str().expect("UTF-8");
    let checked = argiope(&["check", dir]);
    assert!(checked.stdout.contains("the next `argiope server` sets it aside"), "{checked:?}");
    let _served = Served::start(&lab.database.lock().expect("nobody panicked"), &[]);
    assert!(in_orphaned(&lab, unknown) && !archive.join(unknown).exists());
    assert!(archive.join(&name).is_file(), "what it knows stays");
    let line = one_line(&argiope(&["adopt", dir]));
    assert!(line.contains("which adopts nothing") && line.contains("docs/shared-archive.md"), "{line}");
}

#[test]
fn an_emptied_archive_is_refused() {
    let (mut lab, worker, name) = crawled();
    assert_eq!(worker.leave().0, Some(0));
    let (shared, aside) = (lab.shared(), lab.shared().with_extension("aside"));
    fs::rename(&shared, &aside).expect("renamed");
    let refusal = "segments that the database points into are missing or cut";
    let line = one_line(&argiope(&["worker", &lab.served.workers, "--progress", "none"]));
    assert!(line.contains(refusal) && line.contains(&name), "{line}");
    lab.served.kill();
    let url = lab.database.lock().expect("nobody panicked").url();
    let line = one_line(&server(&url, &[]));
    assert!(line.contains(refusal) && line.contains("check --repair") && line.contains("--reset "), "{line}");
    assert_eq!(fs::read_dir(&shared).expect("a directory").count(), 0, "nothing was written");
    fs::remove_dir_all(&shared).expect("removed");
    fs::rename(&aside, &shared).expect("renamed");
    Served::start(&lab.database.lock().expect("nobody panicked"), &[]).terminate();
}

fn crawl(web: &Laid, dir: &Path, arguments: &[&str]) -> Ran {
    let usual = ["crawl", SEED, "-o", dir.to_str().expect("UTF-8"), "--progress", "none"];
    argiope(&[&usual[..], &web.arguments(), arguments].concat())
}

#[test]
fn the_directory_of_a_crawl_by_one_process_is_no_archive_of_workers() {
    let (web, database) = (Laid::out(1, 3, 1), Postgres::start());
    let alone = web.crawled_alone();
    let settings = fs::read(alone.path().join("crawl.toml")).expect("settings");
    let archive = format!("file://{}", alone.path().display());
    let refused = || one_line(&server(&database.url(), &["--archive", &archive]));
    let line = refused();
    assert!(line.contains("is the directory of a crawl by one process: name another place"), "{line}");
    assert_eq!(fs::read(alone.path().join("crawl.toml")).expect("settings"), settings);
    assert!(!alone.path().join("state/crawl-id").exists(), "nothing was written");
    // One that has just begun has no settings yet.
    fs::remove_file(alone.path().join("crawl.toml")).expect("removed");
    assert_eq!(refused(), line);
}

#[test]
fn a_schema_holds_a_crawl_by_one_process_or_by_workers() {
    let (web, database, root) = (Laid::out(1, 3, 1), Postgres::start(), TempDir::new().expect("a directory"));
    let (url, dir) = (database.url(), root.path().join("alone"));
    let alone = crawl(&web, &dir, &["--store", &url, "--store-schema", "alone"]);
    assert_eq!(alone.code, 0, "{alone:?}");
    let other = root.path().join("other");
    let archive = format!("file://{}", other.display());
    let line = one_line(&server(&url, &["--store-schema", "alone", "--archive", &archive]));
    assert!(line.contains("holds the state of a crawl by one process") && line.contains("--store-schema"), "{line}");
    assert!(!other.exists(), "nothing was written");

    let served = Served::start(&database, &["--store-schema", "workers", "--archive", &archive]);
    served.add(SEED);
    served.terminate();
    let refused = crawl(&web, &root.path().join("third"), &["--store", &url, "--store-schema", "workers"]);
    let line = one_line(&refused);
    assert!(line.contains("holds a crawl by several workers") && line.contains("another schema"), "{line}");
}
