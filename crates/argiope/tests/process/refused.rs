//! A run that is refused has changed nothing: it has begun no round, stored no settings, and fixed nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use testweb::Web;

use crate::binary::{self, Ended};
use crate::result::entries;
use crate::served::Served;

/// Flags with which a run is refused, and what it says; DIR is a directory with a file `full` and a damaged WARC file, BUSY an address that is
/// taken.
const REFUSALS: [(&str, &str); 19] = [
    ("--stream unix:DIR/nobody", "no reader listens there"),
    ("--stream DIR/full", "is there already"),
    ("--stream DIR", "is not a regular file"),
    ("--stream /nowhere/lines", "No such file"),
    ("--stream DIR/lines --render always --browser /bin/false", "/bin/false"),
    ("--stream DIR/lines --against DIR/none", "--against"),
    ("--stream DIR/lines --against DIR/bad.warc", "name the other archives without this file"),
    ("--stream-fields text", "give --stream"),
    ("--ca-cert DIR/full", "no certificate in it"),
    ("--exclude-file DIR/none", "No such file"),
    ("--cookies DIR/none", "No such file"),
    ("--extract DIR/none", "No such file"),
    ("--log /nowhere/log", "No such file"),
    ("--seeds DIR/none", "No such file"),
    ("--metrics BUSY", "BUSY"),
    ("--max-pages 0", "must be more than 0"),
    ("--store postgres://127.0.0.1:1/x", ""),
    ("--ui=BUSY", "BUSY"),
    ("--ui=0.0.0.0:0", "other machines could steer the crawl"),
];

fn run(words: &str) -> Ended {
    binary::run(&words.split_whitespace().collect::<Vec<_>>())
}

fn files_below(dir: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in dir.read_dir().unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false => drop(found.insert(path.clone(), std::fs::read(path).unwrap())),
        }
    }
}

/// The files of a crawl byte for byte, but for its state, and what the state says.
fn standing(dir: &Path) -> (BTreeMap<PathBuf, Vec<u8>>, String, String) {
    let mut files = BTreeMap::new();
    files_below(dir, &mut files);
    files.retain(|path, _| !path.starts_with(dir.join("state")) || path.ends_with("fixed.toml"));
    let status = run(&format!("status {}", dir.display())).expect_code(0).stdout;
    (files, status, format!("{:?}", entries(dir)))
}

#[test]
fn a_run_that_is_refused_changes_nothing() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap().to_string();
    std::fs::write(dirs.path().join("full"), "hello").unwrap();
    let damaged =
        format!("WARC/1.1\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n{}", "rubbish ".repeat(100));
    std::fs::write(dirs.path().join("bad.warc"), damaged).unwrap();
    let [first, second] = ["first", "second"].map(|name| {
        let path = dirs.path().join(name);
        let mut file = fresh::create_secret(&path).unwrap();
        writeln!(file, ".simple.test\tTRUE\t/\tFALSE\t0\t{name}\t1").unwrap();
        path.display().to_string()
    });
    let (dir, new) = (dirs.path().join("crawl"), dirs.path().join("new"));
    let flags = format!("--delay 0 --ip-delay 0 --no-sitemaps --progress none {}", served.flags().join(" "));
    let begin = format!("crawl http://simple.test/ -o {} --header X-Test:secret --cookies {first}", dir.display());
    run(&format!("{begin} {flags}")).expect_code(0);
    let before = standing(&dir);
    let check = |more: &str, why: &str| {
        let refused =
            run(&format!("crawl -o {} --again --retry excluded --exclude */p/* {flags} {more}", dir.display()));
        assert!(!refused.status.success() && refused.stderr.contains(why), "{more}: {}", refused.stderr);
        let after = standing(&dir);
        assert!(after == before, "{more}: {}\n{}\n{}", refused.stderr, before.1, after.1);
        assert!(!dirs.path().join("lines").exists(), "{more}");
    };
    let [above, empty] = ["above", "empty"].map(|name| dirs.path().join(name));
    std::fs::create_dir(&empty).unwrap();
    for (more, why) in REFUSALS {
        let [more, why] =
            [more, why].map(|text| text.replace("DIR", dirs.path().to_str().unwrap()).replace("BUSY", &busy));
        check(&more, &why);
        for dir in [&new, &above.join("crawl"), &empty] {
            let refused = run(&format!("crawl http://simple.test/ -o {} --depth 1 {flags} {more}", dir.display()));
            assert!(!refused.status.success() && refused.stderr.contains(&why), "{more}: {}", refused.stderr);
        }
        assert!(!new.exists() && !above.exists(), "{more}: a directory is left");
        assert_eq!(empty.read_dir().unwrap().count(), 0, "{more}: something is left");
    }
    let corrected = format!("crawl http://simple.test/ -o {} --depth 3 --max-pages 1 {flags}", new.display());
    run(&corrected).expect_code(3);

    let (secrets, aside) = (dir.join("secrets.toml"), dirs.path().join("secrets.toml"));
    std::fs::rename(&secrets, &aside).unwrap();
    let refused = run(&format!("crawl -o {} --again --cookies {second} {flags}", dir.display()));
    assert!(refused.stderr.contains("give again --header"), "{}", refused.stderr);
    std::fs::rename(&aside, &secrets).unwrap();
    assert!(standing(&dir) == before, "{}", standing(&dir).1);

    let again = run(&format!("crawl -o {} --again --cookies {second} {flags}", dir.display())).expect_code(0);
    let cookies = std::fs::read_to_string(dir.join("cookies.jsonl")).unwrap();
    assert!(["first", "second"].iter().all(|name| cookies.contains(name)), "{cookies}");
    assert!(again.stderr.contains("--again: round 2 begins"), "{}", again.stderr);
}

#[test]
fn a_command_that_is_refused_makes_no_state_in_place_of_a_lost_one() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let flags = format!("--delay 0 --ip-delay 0 --no-sitemaps --progress none {}", served.flags().join(" "));
    run(&format!("crawl http://simple.test/ -o {} --max-pages 2 --no-dataset {flags}", dir.display())).expect_code(3);
    std::fs::remove_dir_all(dir.join("state")).unwrap();
    let mut before = BTreeMap::new();
    files_below(&dir, &mut before);
    for words in [
        "crawl -o DIR",
        "steer DIR exclude */x/*",
        "steer DIR retry",
        "watch DIR --budget 10/min --rounds 1",
        "adopt DIR",
    ] {
        let refused = run(&words.replace("DIR", dir.to_str().unwrap()));
        assert!(!refused.status.success(), "{words}: {}", refused.stderr);
        let mut after = BTreeMap::new();
        files_below(&dir, &mut after);
        assert!(after == before, "{words}: {:?}", after.keys());
        assert!(!dir.join("state").exists(), "{words}: {}", refused.stderr);
    }
    run(&format!("adopt {} http://simple.test/", dir.display())).expect_code(0);
}

#[test]
fn a_command_that_goes_on_makes_no_state_in_place_of_one_that_nothing_brings_back() {
    let (served, dirs) = (Served::start(Web::sandboxes()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let flags = format!("--delay 0 --ip-delay 0 --no-sitemaps --progress none {}", served.flags().join(" "));
    run(&format!("crawl http://simple.test/ -o {} --max-pages 2 --no-archive {flags}", dir.display())).expect_code(3);
    std::fs::remove_dir_all(dir.join("state")).unwrap();
    for words in ["status DIR", "steer DIR pause", "steer DIR retry", "watch DIR --budget 10/min --rounds 1"] {
        let refused = run(&words.replace("DIR", dir.to_str().unwrap()));
        let way_out = format!("`argiope crawl -o {} SEED` begins again", dir.display());
        assert!(!refused.status.success() && refused.stderr.contains(&way_out), "{words}: {}", refused.stderr);
        assert!(!dir.join("state").exists(), "{words}");
    }
    run(&format!("crawl http://simple.test/ -o {} --max-pages 2 --progress none", dir.display())).expect_code(3);
}
