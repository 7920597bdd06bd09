//! A run that is refused has changed nothing: it has begun no round, stored no settings, and fixed nothing.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use testweb::Web;

use crate::binary::{self, Ended};
use crate::result::entries;
use crate::served::Served;

/// Flags with which a run is refused, and what it says; DIR is a directory with a file `full`, and BUSY an address that is taken.
const REFUSALS: [(&str, &str); 17] = [
    ("--stream unix:DIR/nobody", "no reader listens there"),
    ("--stream DIR/full", "is there already"),
    ("--stream DIR", "is not a regular file"),
    ("--stream /nowhere/lines", "No such file"),
    ("--stream DIR/lines --render always --browser /bin/false", "/bin/false"),
    ("--stream DIR/lines --against DIR/none", "--against"),
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
];
/// Those of them at the end of the table for which a directory must be there, so a first run makes one. It holds nothing that is fixed.
const WITH_DIRECTORY: usize = 2;

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
    let (dir, new) = (dirs.path().join("crawl"), dirs.path().join("new"));
    let flags = format!("--delay 0 --ip-delay 0 --no-sitemaps --progress none {}", served.flags().join(" "));
    run(&format!("crawl http://simple.test/ -o {} --header X-Test:secret {flags}", dir.display())).expect_code(0);
    let before = standing(&dir);
    let check = |more: &str, why: &str| {
        let refused =
            run(&format!("crawl -o {} --again --retry excluded --exclude */p/* {flags} {more}", dir.display()));
        assert!(!refused.status.success() && refused.stderr.contains(why), "{more}: {}", refused.stderr);
        let after = standing(&dir);
        assert!(after == before, "{more}: {}\n{}\n{}", refused.stderr, before.1, after.1);
        assert!(!dirs.path().join("lines").exists(), "{more}");
    };
    for (at, (more, why)) in REFUSALS.into_iter().enumerate() {
        let [more, why] =
            [more, why].map(|text| text.replace("DIR", dirs.path().to_str().unwrap()).replace("BUSY", &busy));
        check(&more, &why);
        let first = format!("crawl http://simple.test/ -o {} --depth 1 {flags} {more}", new.display());
        let refused = run(&first);
        assert!(!refused.status.success() && refused.stderr.contains(&why), "{more}: {}", refused.stderr);
        assert!(!new.exists() || at >= REFUSALS.len() - WITH_DIRECTORY, "{more}: a directory is left");
        assert!(!new.join("crawl.toml").exists() && !new.join("state/fixed.toml").exists(), "{more}");
    }
    let corrected = format!("crawl http://simple.test/ -o {} --depth 3 --max-pages 1 {flags}", new.display());
    run(&corrected).expect_code(3);

    let (secrets, aside) = (dir.join("secrets.toml"), dirs.path().join("secrets.toml"));
    std::fs::rename(&secrets, &aside).unwrap();
    let refused = run(&format!("crawl -o {} --again {flags}", dir.display()));
    assert!(refused.stderr.contains("give again --header"), "{}", refused.stderr);
    std::fs::rename(&aside, &secrets).unwrap();
    assert!(standing(&dir) == before, "{}", standing(&dir).1);

    let again = run(&format!("crawl -o {} --again {flags}", dir.display())).expect_code(0);
    assert!(again.stderr.contains("--again: round 2 begins"), "{}", again.stderr);
}
