//! A state that is older than its archive, or lost: what the archive has is set aside and adopted, and nothing is fetched again.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use testweb::{Pages, Reply, Web, from_fn};

use crate::binary::{self, BINARY, Ended};
use crate::result::{Row, assert_same, entries, rows};
use crate::served::Served;
use crate::warcs;

const PAGES: usize = 40;
/// Fetched before the state is copied.
const EARLY: &str = "12";
const ALL: &str = "1000";

/// Pages that lead to the next two; some have the same text, some redirect, one lies behind a sitemap.
fn web() -> Web {
    let mut pages = Pages::new()
        .text("/robots.txt", "User-agent: *\nSitemap: http://small.test/map.xml\n")
        .html("/from-sitemap", "<title>From the sitemap</title>")
        .reply(
            "/map.xml",
            Reply::new(200)
                .header("Content-Type", "text/xml")
                .body("<urlset><url><loc>http://small.test/from-sitemap</loc></url></urlset>"),
        );
    for n in 0..PAGES {
        let path = if n == 0 { "/".to_owned() } else { format!("/{n}") };
        let links: String = [2 * n + 1, 2 * n + 2].map(|n| format!("<a href=/{n}>{n}</a>")).concat();
        pages = match n % 10 {
            7 => pages.html(&path, "<title>The same</title>"),
            8 => pages.reply(&path, Reply::redirect(302, "/1")),
            _ => pages.html(&path, format!("<title>Page {n}</title>{links}")),
        };
    }
    Web::new().site("small.test", pages)
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Ended {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://small.test/", "--delay", "0", "--ip-delay", "0", "--segment-size", "2KB"]);
    command.args(["--progress", "none"]).args(served.flags()).args(more).arg("-o").arg(dir);
    binary::Running::start(&mut command).end()
}

fn run(dir: &Path, command: &str) -> Ended {
    binary::run(&[command, dir.to_str().unwrap()])
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").arg(from).arg(to).status().unwrap().success());
}

/// The bytes of all segments, whether they are set aside or not.
fn archived(dir: &Path) -> u64 {
    let files =
        |dir: &Path| fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let aside = dir.join("archive/orphaned");
    let all = files(&dir.join("archive")).into_iter().chain(files(&aside)).chain(files(&aside.join("adopted")));
    all.filter(|path| path.extension().is_some_and(|ending| ending == "gz"))
        .map(|path| path.metadata().unwrap().len())
        .sum()
}

fn names(dir: &Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Requests by target.
fn requests(served: &Served) -> BTreeMap<String, usize> {
    let mut requests = BTreeMap::new();
    served.log().into_iter().for_each(|entry| *requests.entry(entry.target).or_default() += 1);
    requests
}

/// The crawl ends as if nothing had happened: no page was asked for twice, and all is where it belongs.
fn check_ended(served: &Served, dir: &Path, expect: &BTreeMap<String, Row>) {
    let twice: Vec<_> =
        requests(served).into_iter().filter(|(target, count)| *count > 1 && target != "/robots.txt").collect();
    assert!(twice.is_empty(), "asked for more than once: {twice:?}");
    // All of it is in the crawl again.
    assert_eq!(names(&dir.join("archive/orphaned")), ["adopted"]);
    fs::remove_dir_all(dir.join("archive/orphaned")).unwrap();
    let entries = entries(dir);
    assert_same(&rows(&entries), expect);
    warcs::check(dir, &entries);
    run(dir, "check").expect_code(0);
    assert!(run(dir, "derive").expect_code(0).stdout.contains("nothing is missing"), "the dataset has all of it");
    let report: serde_json::Value =
        serde_json::from_str(&binary::run(&["report", dir.to_str().unwrap(), "--json"]).expect_code(0).stdout).unwrap();
    assert!(report.is_object());
}

#[test]
fn what_an_older_state_forgot_is_set_aside_and_adopted() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, backup) = (dirs.path().join("crawl"), dirs.path().join("backup"));
    crawl(&served, &dir, &["--max-pages", EARLY]).expect_code(3);
    copy(&dir.join("state"), &backup);
    crawl(&served, &dir, &["--max-pages", ALL]).expect_code(0);
    let expect = rows(&entries(&dir));
    let (bytes, asked) = (archived(&dir), served.requests());

    fs::remove_dir_all(dir.join("state")).unwrap();
    copy(&backup, &dir.join("state"));
    let checked = run(&dir, "check").expect_code(0);
    assert!(checked.stdout.contains("sets it aside in archive/orphaned"), "{}", checked.stdout);
    // A crawl that has no more to do than to open the archive.
    let resumed = crawl(&served, &dir, &["--max-pages", EARLY]).expect_code(3);
    assert!(resumed.stderr.contains("takes the pages in again instead of fetching them"), "{}", resumed.stderr);
    assert!(resumed.stderr.contains(&format!("`argiope crawl -o {} --again`", dir.display())), "{}", resumed.stderr);
    assert!(resumed.stdout.contains(" set aside in archive/orphaned: `argiope adopt "), "{}", resumed.stdout);
    assert!(run(&dir, "status").expect_code(0).stdout.contains(" set aside in archive/orphaned"));
    assert!(run(&dir, "check").expect_code(0).stdout.contains("is set aside ("));
    assert_eq!((archived(&dir), served.requests()), (bytes, asked), "nothing is lost, nothing is asked for");

    let adopted = run(&dir, "adopt").expect_code(0);
    assert!(adopted.stdout.contains(" adopted from "), "{}", adopted.stdout);
    assert_eq!(served.requests(), asked);
    crawl(&served, &dir, &["--max-pages", ALL]).expect_code(0);
    assert!(!run(&dir, "status").expect_code(0).stdout.contains("set aside"), "{}", adopted.stdout);
    check_ended(&served, &dir, &expect);
    assert!(run(&dir, "adopt").expect_code(0).stdout.contains("nothing is set aside"));
}

#[test]
fn a_whole_backup_over_later_rounds_deletes_nothing() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, backup) = (dirs.path().join("crawl"), dirs.path().join("backup"));
    crawl(&served, &dir, &[]).expect_code(0);
    copy(&dir, &backup);
    for _ in 0..2 {
        crawl(&served, &dir, &["--again"]).expect_code(0);
    }
    let bytes = archived(&dir);

    // As `tar x` does it: newer files stay.
    fs::remove_dir_all(dir.join("state")).unwrap();
    copy(&backup.join("state"), &dir.join("state"));
    for entry in fs::read_dir(backup.join("archive")).unwrap() {
        copy(&entry.unwrap().path(), &dir.join("archive"));
    }
    let checked = run(&dir, "check").expect_code(0);
    assert!(checked.stdout.contains("sets it aside in archive/orphaned"), "{}", checked.stdout);
    let resumed = crawl(&served, &dir, &[]).expect_code(0);
    assert!(resumed.stderr.contains("as if an older state had been restored"), "{}", resumed.stderr);
    assert_eq!(archived(&dir), bytes);
    // What they repeat is in segments that the state knows.
    let adopted = run(&dir, "adopt");
    assert!(!adopted.stdout.contains("what they repeat is lost"), "{}", adopted.stdout);
    assert!(archived(&dir) >= bytes);
    run(&dir, "check").expect_code(0);
}

#[test]
fn a_lost_state_is_refused_and_made_again_from_the_archive() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &[]).expect_code(0);
    let expect = rows(&entries(&dir));
    let (bytes, asked) = (archived(&dir), served.requests());
    fs::remove_dir_all(dir.join("state")).unwrap();
    for _ in 0..2 {
        let refused = crawl(&served, &dir, &[]).expect_code(1);
        assert!(
            refused.stderr.contains("but the state of the crawl is empty: it was lost or removed"),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("argiope adopt"), "{}", refused.stderr);
    }
    // Without seeds, and from commands that only read: no report of an empty crawl, and none of a whole one.
    let at = dir.to_str().unwrap();
    let asking: [&[&str]; 6] = [
        &["crawl", "-o", at],
        &["status", at],
        &["check", at],
        &["report", at],
        &["export", at, "jsonl"],
        &["explain", at, "http://small.test/"],
    ];
    for asking in asking {
        let refused = binary::run(asking).expect_code(1);
        let is_named =
            refused.stderr.contains("it was lost or removed") || refused.stderr.contains("state of the crawl is gone");
        assert!(
            is_named && refused.stderr.contains(&format!("`argiope adopt {at}`")),
            "{asking:?}: {}",
            refused.stderr
        );
    }
    // What asks the dataset alone needs no state.
    binary::run(&["rank", at]).expect_code(0);
    assert_eq!((archived(&dir), served.requests()), (bytes, asked));
    run(&dir, "adopt").expect_code(0);
    assert_eq!(served.requests(), asked);
    crawl(&served, &dir, &[]).expect_code(0);
    check_ended(&served, &dir, &expect);
}

/// The state of one crawl beside the archive of another: what each message names works, and no message leads back to another.
#[test]
fn the_way_out_of_a_foreign_state_works_wherever_it_is_named() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, other) = (dirs.path().join("crawl"), dirs.path().join("other"));
    crawl(&served, &dir, &[]).expect_code(0);
    crawl(&Served::start(web()), &other, &["--max-pages", EARLY]).expect_code(3);
    let expect = rows(&entries(&dir));
    let (bytes, asked) = (archived(&dir), served.requests());
    fs::remove_dir_all(dir.join("state")).unwrap();
    copy(&other.join("state"), &dir.join("state"));
    let at = dir.to_str().unwrap();
    let way_out = format!("or move {at}/state away, and `argiope adopt {at}` makes another state from this archive");
    for command in [&["crawl", "-o", at][..], &["adopt", at], &["check", "--repair", at], &["status", at]] {
        let refused = binary::run(command).expect_code(1);
        assert!(refused.stderr.contains(&way_out), "{command:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("--repair"), "{command:?}: {}", refused.stderr);
    }
    assert_eq!((archived(&dir), served.requests()), (bytes, asked), "nothing is lost, nothing is asked for");
    fs::rename(dir.join("state"), dir.join("state-of-another")).unwrap();
    run(&dir, "adopt").expect_code(0);
    crawl(&served, &dir, &[]).expect_code(0);
    check_ended(&served, &dir, &expect);
}

/// Without an archive nothing brings a state back: no message names a command that could.
#[test]
fn a_lost_state_without_an_archive_has_a_way_on() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &["--no-archive"]).expect_code(0);
    fs::remove_dir_all(dir.join("state")).unwrap();
    let way_on = format!("`argiope crawl -o {} SEED` begins again", dir.display());
    for command in ["status", "adopt"] {
        let refused = run(&dir, command).expect_code(1);
        assert!(refused.stderr.contains(&way_on), "{command}: {}", refused.stderr);
        assert!(!refused.stderr.contains("`argiope adopt"), "{command}: {}", refused.stderr);
    }
    crawl(&served, &dir, &[]).expect_code(0);
    run(&dir, "status").expect_code(0);
}

/// How a file of a state is damaged.
const DAMAGES: [fn(&Path); 4] = [
    |file| fs::write(file, "").unwrap(),
    |file| fs::File::options().write(true).open(file).unwrap().set_len(file.metadata().unwrap().len() / 2).unwrap(),
    |file| fs::write(file, vec![0xa5; usize::try_from(file.metadata().unwrap().len()).unwrap()]).unwrap(),
    |file| fs::remove_file(file).unwrap(),
];

/// Whichever file is damaged, and however: one sentence names the state and a way out, which works.
#[test]
fn a_damaged_state_is_named_with_a_way_out_that_works() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, whole) = (dirs.path().join("crawl"), dirs.path().join("whole"));
    crawl(&served, &dir, &[]).expect_code(0);
    fs::rename(&dir, &whole).unwrap();
    let asked = served.requests();
    let files = |under: &str| {
        let files = fs::read_dir(whole.join("state/engine").join(under)).unwrap();
        let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
        files.map(|path| path.strip_prefix(&whole).unwrap().to_owned()).collect::<Vec<_>>()
    };
    // One table that is written out, and one that is not.
    let damaged = [files("keyspaces/0/tables"), files("keyspaces/0"), files("keyspaces/3"), files("")].concat();
    assert!(damaged.len() >= 7, "{damaged:?}");
    let mut refusals = 0;
    for file in damaged {
        for damage in DAMAGES {
            copy(&whole, &dir);
            damage(&dir.join(&file));
            let status = run(&dir, "status");
            if status.status.code() != Some(0) && !status.stderr.contains("damaged record in ") {
                refusals += 1;
                let said = &status.stderr;
                let state = dir.join("state");
                assert!(said.starts_with(&format!("argiope: {} is damaged: ", state.display())), "{file:?}: {said}");
                assert!(!said.contains("Error"), "{file:?}: {said}");
                match said.contains("remove ") {
                    true => fs::remove_file(dir.join("state/acknowledged")).unwrap(),
                    false => {
                        let way_out = format!("; move it away, and `argiope adopt {}` makes another", dir.display());
                        assert!(said.contains(&way_out), "{file:?}: {said}");
                        fs::rename(&state, dir.join("state.damaged")).unwrap();
                    }
                }
                run(&dir, "adopt").expect_code(0);
                run(&dir, "check").expect_code(0);
                run(&dir, "status").expect_code(0);
            }
            fs::remove_dir_all(&dir).unwrap();
        }
    }
    assert!(refusals >= 20, "{refusals}");
    assert_eq!(served.requests(), asked, "nothing is fetched again");
}

/// The recovery that a damaged state recommends.
#[test]
fn the_archive_outlives_a_state_that_lost_its_end() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &[]).expect_code(0);
    let expect = rows(&entries(&dir));
    let bytes = archived(&dir);
    let journal = dir.join("state/engine/0.jnl");
    let content = fs::read(&journal).unwrap();
    let written = content.iter().rposition(|byte| *byte != 0).unwrap();
    fs::write(&journal, &content[..written * 2 / 3]).unwrap();
    let refused = crawl(&served, &dir, &[]).expect_code(1);
    assert!(refused.stderr.contains("argiope adopt"), "{}", refused.stderr);
    fs::remove_file(dir.join("state/acknowledged")).unwrap();
    run(&dir, "adopt").expect_code(0);
    assert!(archived(&dir) >= bytes);
    crawl(&served, &dir, &[]).expect_code(0);
    check_ended(&served, &dir, &expect);
}

/// Killed again and again while it adopts.
#[test]
fn an_adoption_that_is_killed_is_gone_on_with() {
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    crawl(&served, &dir, &[]).expect_code(0);
    let expect = rows(&entries(&dir));
    fs::remove_dir_all(dir.join("state")).unwrap();
    for round in 0..12u64 {
        let running = binary::start(&["adopt", dir.to_str().unwrap(), "http://small.test/"]);
        std::thread::sleep(std::time::Duration::from_millis(round * 8));
        running.kill();
    }
    binary::run(&["adopt", dir.to_str().unwrap(), "http://small.test/"]).expect_code(0);
    crawl(&served, &dir, &[]).expect_code(0);
    check_ended(&served, &dir, &expect);
}

/// A page that says its version, and others that stay as they are.
fn web_with_versions(version: Arc<AtomicUsize>) -> Web {
    let site = from_fn(move |request| match request.path() {
        "/" => Reply::html("<a href=/stays>1</a> <a href=/changes>2</a> <a href=/moved>3</a>"),
        "/stays" => Reply::html("<title>It stays</title><p>As it was."),
        "/changes" => {
            let version = version.load(Ordering::Relaxed);
            Reply::html(format!("<title>It changes</title><p>The text of version {version}."))
        }
        "/moved" => Reply::redirect(302, "/stays"),
        _ => Reply::error(404, &request.target),
    });
    Web::new().site("small.test", site)
}

/// The set-aside files whose records have these words.
fn files_with(dir: &Path, words: &str) -> Vec<String> {
    let has = |path: &Path| {
        let mut reader = warc::Reader::open(path, 0).unwrap();
        let mut is_there = false;
        while let Some(mut record) = reader.next_record().unwrap() {
            let mut bytes = Vec::new();
            record.read_to_end(&mut bytes).unwrap();
            is_there |= String::from_utf8_lossy(&bytes).contains(words);
        }
        is_there
    };
    let aside = dir.join("archive/orphaned");
    names(&aside).into_iter().filter(|name| name.ends_with(".gz") && has(&aside.join(name))).collect()
}

fn adopted(dir: &Path) -> (String, serde_json::Value) {
    let ended = binary::run(&["adopt", dir.to_str().unwrap(), "http://small.test/", "--json"]).expect_code(0);
    // What it says of the same files in words.
    let again = run(dir, "adopt").expect_code(0);
    (again.stdout, serde_json::from_str(&ended.stdout).unwrap())
}

#[test]
fn files_with_the_only_copy_of_a_version_are_kept() {
    for state_is_older in [false, true] {
        let version = Arc::new(AtomicUsize::new(1));
        let served = Served::start(web_with_versions(version.clone()));
        let dirs = tempfile::tempdir().unwrap();
        let (dir, backup) = (dirs.path().join("crawl"), dirs.path().join("backup"));
        crawl(&served, &dir, &[]).expect_code(0);
        copy(&dir.join("state"), &backup);
        version.store(2, Ordering::Relaxed);
        let mut again = Command::new(BINARY);
        again.args([
            "crawl",
            "--again",
            "--delay",
            "0",
            "--ip-delay",
            "0",
            "--progress",
            "none",
            "--segment-size",
            "2KB",
        ]);
        binary::Running::start(again.args(served.flags()).arg("-o").arg(&dir)).end().expect_code(0);
        fs::remove_dir_all(dir.join("state")).unwrap();
        // The version that the crawl does not have in the end.
        let lost = if state_is_older {
            copy(&backup, &dir.join("state"));
            crawl(&served, &dir, &[]).expect_code(0);
            "The text of version 2."
        } else {
            "The text of version 1."
        };
        let (said, report) = adopted(&dir);
        assert_eq!((&report["versions_only_there"], &report["urls_only_there"]), (&1.into(), &1.into()), "{report}");
        assert_eq!(report["files_to_keep"], 1, "{report}");
        assert!(said.contains(", with the only copy of 1 version of 1 URL\n"), "{said}");
        assert_eq!(files_with(&dir, lost).len(), 1, "it stays where it was");
        assert!(!said.contains("can be removed"), "{said}");
        let next = format!("`argiope crawl -o {} --again` gets the present version", dir.display());
        assert!(said.contains(&next), "{said}");
        // Nobody is sent to `adopt` once more.
        let checked = run(&dir, "check").expect_code(0).stdout;
        assert!(checked.contains(": keep it, it has the only copy") && !checked.contains("argiope adopt"), "{checked}");
        let status = run(&dir, "status").expect_code(0).stdout;
        assert!(status.contains("\n1 file to keep in archive/orphaned, "), "{status}");
        assert!(!status.contains("argiope adopt"), "{status}");
    }
}

#[test]
fn files_of_which_the_crawl_has_every_version_can_be_removed() {
    let served = Served::start(web_with_versions(Arc::new(AtomicUsize::new(1))));
    let dirs = tempfile::tempdir().unwrap();
    let (dir, backup) = (dirs.path().join("crawl"), dirs.path().join("backup"));
    crawl(&served, &dir, &[]).expect_code(0);
    copy(&dir.join("state"), &backup);
    let mut again = Command::new(BINARY);
    again.args(["crawl", "--again", "--delay", "0", "--ip-delay", "0", "--progress", "none"]);
    binary::Running::start(again.args(served.flags()).arg("-o").arg(&dir)).end().expect_code(0);
    fs::remove_dir_all(dir.join("state")).unwrap();
    copy(&backup, &dir.join("state"));
    crawl(&served, &dir, &[]).expect_code(0);
    let ended = run(&dir, "adopt").expect_code(0);
    assert!(ended.stdout.contains(" is in the crawl: ") && ended.stdout.contains("can be removed"), "{}", ended.stdout);
    assert_eq!(names(&dir.join("archive/orphaned")), ["adopted"]);
}
