//! Commands that only read a crawl: many at once, on directories that may not be written to, and without a trace.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crawl::CrawlDir;
use serde_json::Value;
use tempfile::TempDir;
use testweb::{Pages, Web};

use crate::binary::{BINARY, Ended, Running};
use crate::disk_full::mounter;
use crate::served::Served;

const PAGES: u32 = 30;
/// Somebody who owns nothing.
const NOBODY: u32 = 65_534;

/// All that a directory is asked, each with its arguments behind the directory.
const QUESTIONS: [(&str, &[&str]); 16] = [
    ("status", &["--json"]),
    ("explain", &["http://read.test/3", "--json"]),
    ("explain", &["read.test", "--json"]),
    ("check", &["--json"]),
    ("report", &["--json"]),
    ("export", &["jsonl", "--all"]),
    ("export", &["cdxj"]),
    ("export", &["kvs"]),
    ("links", &["http://read.test/3", "--json"]),
    ("path", &["http://read.test/", "http://read.test/9"]),
    ("rank", &["--json"]),
    ("rank", &["--by", "site"]),
    ("search", &["spider", "--json"]),
    ("overlap", &["http://read.test/3", "http://other.test/"]),
    ("steer", &["--dry-run", "exclude", "http://read.test/3*"]),
    ("steer", &["--dry-run", "hold", "read.test"]),
];

fn web() -> Web {
    let page = |n: u32| {
        let links: String = (1..=3).map(|step| format!("<a href=/{}>{step}</a>", (n * step + step) % PAGES)).collect();
        format!("<title>Page {n}</title><p>spider silk {n}</p><a href=http://other.test/>other</a>{links}")
    };
    let pages = (0..PAGES).fold(Pages::new().html("/", page(0)), |pages, n| pages.html(format!("/{n}"), page(n)));
    Web::new().site("read.test", pages)
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://read.test/", "--ip-delay", "0", "--no-sitemaps", "--progress", "none"]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

/// A crawl that has ended, in a directory that all may look into.
struct Crawled {
    dirs: TempDir,
}

impl Crawled {
    fn new() -> Self {
        let crawled = Crawled { dirs: tempfile::tempdir().unwrap() };
        let served = Served::start(web());
        Running::start(&mut crawl(&served, &crawled.dir(), &["--delay", "0"])).end().expect_code(0);
        fs::set_permissions(crawled.dirs.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(crawled.temporary()).unwrap();
        fs::set_permissions(crawled.temporary(), Permissions::from_mode(0o777)).unwrap();
        crawled.read_graph();
        crawled
    }

    /// Asks for a rank, which stores the graph in the directory where that can be written.
    fn read_graph(&self) {
        self.ask(&mut plainly(&self.question("rank", &[]))).expect_code(0);
    }

    /// Who may not write there reads it from the tables.
    fn forget_graph(&self) {
        fs::remove_dir_all(self.dir().join("dataset/graph")).unwrap();
    }

    fn dir(&self) -> PathBuf {
        self.dirs.path().join("crawl")
    }

    /// Where the commands put what is temporary.
    fn temporary(&self) -> PathBuf {
        self.dirs.path().join("temporary")
    }

    /// The arguments of a question, behind the binary.
    fn question(&self, command: &str, more: &[&str]) -> Vec<String> {
        let more = more.iter().map(|argument| (*argument).to_owned());
        [command.to_owned(), self.dir().display().to_string()].into_iter().chain(more).collect()
    }

    fn ask(&self, command: &mut Command) -> Ended {
        Running::start(command.env("TMPDIR", self.temporary())).end()
    }

    /// Asks each question by a binary run in that way, and checks that it leaves nothing behind.
    fn answers(&self, run: impl Fn(&[String]) -> Command) -> Vec<String> {
        let before = files(&self.dir());
        let answers = QUESTIONS.map(|(command, more)| {
            let ended = self.ask(&mut run(&self.question(command, more))).expect_code(0);
            format!("{command} {more:?}: {}{}", ended.stdout, ended.stderr)
        });
        let after = files(&self.dir());
        let changed = after.iter().filter(|(path, file)| before.get(*path) != Some(file)).map(|(path, _)| path);
        assert_eq!(changed.collect::<Vec<_>>(), Vec::<&PathBuf>::new(), "a reader changes nothing");
        assert_eq!(before.len(), after.len(), "a reader removes nothing");
        assert_eq!(fs::read_dir(self.temporary()).unwrap().count(), 0, "nothing temporary is left");
        answers.into()
    }
}

/// All that can be told of the files below a directory, but when they were last read.
fn files(dir: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            left.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        }
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path, (metadata.mode(), metadata.mtime(), metadata.mtime_nsec(), bytes));
    }
    found
}

fn plainly(arguments: &[String]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(arguments);
    command
}

/// As somebody whose the directory is not. Who is not root is the owner, and may not write to it for another reason.
fn as_nobody(arguments: &[String]) -> Command {
    let mut command = plainly(arguments);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn is_root() -> bool {
    Path::new("/proc/self").metadata().unwrap().uid() == 0
}

/// Sets the modes of all there is in a directory.
fn set_modes(dir: &Path, of_directories: u32, of_files: u32) {
    for path in files(dir).into_keys() {
        let mode = if path.is_dir() { of_directories } else { of_files };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
}

fn assert_same(left: &[String], right: &[String]) {
    left.iter().zip(right).for_each(|(left, right)| assert_eq!(left, right));
}

#[test]
fn many_read_a_crawl_at_once_and_none_can_go_on_meanwhile() {
    let crawled = Crawled::new();
    let alone = crawled.answers(plainly);
    let dir = CrawlDir::existing(&crawled.dir()).unwrap();
    let reader = dir.open_to_read(&dir.options().unwrap()).unwrap();
    assert_same(&crawled.answers(plainly), &alone);
    let change = |command: &str, more: &[&str]| crawled.ask(&mut plainly(&crawled.question(command, more)));
    let refused = change("derive", &["--all"]).expect_code(1);
    assert!(refused.stderr.contains("is in use by another command"), "{}", refused.stderr);
    drop(reader);
    change("derive", &["--all"]).expect_code(0);
    crawled.read_graph();
    assert_same(&crawled.answers(plainly), &alone);
}

#[test]
fn a_directory_of_somebody_else_is_read_as_by_its_owner() {
    let crawled = Crawled::new();
    let expect = crawled.answers(plainly);
    crawled.forget_graph();
    set_modes(&crawled.dir(), 0o555, 0o444);
    assert_same(&crawled.answers(as_nobody), &expect);

    // A dataset that is not complete answers as far as it has rows, and says what it lacks.
    set_modes(&crawled.dir(), 0o755, 0o644);
    let dir = crawled.dir().display().to_string();
    let says = |gaps: &str| {
        format!(
            "argiope: {dir}: the dataset is not complete, and this user may not write to it: the answer is of the rows that it has; {gaps}"
        )
    };
    let check = |gaps: &str, found: &str| {
        set_modes(&crawled.dir(), 0o555, 0o444);
        let before = files(&crawled.dir());
        for (command, more) in [
            ("links", &["http://read.test/3"][..]),
            ("search", &["spider"]),
            ("rank", &[]),
            ("path", &["http://read.test/", "http://read.test/9"]),
        ] {
            let ended = crawled.ask(&mut as_nobody(&crawled.question(command, more)));
            assert!(ended.stderr.starts_with(&says(gaps)), "{command}: {}", ended.stderr);
            assert!(ended.stderr.contains(&format!("completes it by `argiope derive {dir}`")), "{}", ended.stderr);
            assert!(!ended.stderr.contains("locking"), "{}", ended.stderr);
            if command == "search" {
                let told = ended.expect_code(0);
                assert!(told.stderr.contains(found), "{}", told.stderr);
            }
        }
        assert!(files(&crawled.dir()) == before);
        set_modes(&crawled.dir(), 0o755, 0o644);
    };
    fs::write(crawled.dir().join("dataset/unsettled"), "").unwrap();
    check("rows of URLs without a record", "31 pages");
    for table in ["pages", "links"] {
        for entry in crawled.dir().join("dataset").join(table).read_dir().unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    check("it lacks rows of 1 of 1 segment (", "0 pages");

    crawled.read_graph();
    assert_same(&crawled.answers(plainly), &expect);
}

#[test]
fn a_crawl_on_a_file_system_that_cannot_be_written_to_is_read() {
    let Some(launcher) = mounter() else {
        return println!("not run: this user may not mount a file system, not even in a namespace");
    };
    let crawled = Crawled::new();
    let in_namespace = |script: &str, arguments: &[String]| {
        let mut command = Command::new(launcher[0]);
        command.args(&launcher[1..]).args(["sh", "-c", &format!("set -e; {script}; exec \"$0\" \"$@\""), BINARY]);
        command.args(arguments);
        command
    };
    let dir = crawled.dir().display().to_string();
    let read_only = format!("mount --bind {dir} {dir}; mount -o remount,bind,ro {dir}; ! touch {dir}/x 2>/dev/null");
    let expect = crawled.answers(plainly);
    crawled.forget_graph();
    assert_same(&crawled.answers(|arguments| in_namespace(&read_only, arguments)), &expect);
    // A state that was copied without its locks.
    fs::remove_file(crawled.dir().join("state/lock")).unwrap();
    fs::remove_file(crawled.dir().join("state/engine/lock")).unwrap();
    assert_same(&crawled.answers(|arguments| in_namespace(&read_only, arguments)), &expect);

    let temporary = crawled.temporary();
    let full = format!("mount -t tmpfs -o size=4k,mode=777 tmpfs {}", temporary.display());
    let ended = crawled.ask(&mut in_namespace(&full, &crawled.question("status", &[]))).expect_code(1);
    assert!(ended.stderr.starts_with("argiope: no space left for "), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("{}/argiope-", temporary.display())), "{}", ended.stderr);
    assert!(ended.stderr.ends_with(": set TMPDIR to a directory with more of it\n"), "{}", ended.stderr);
}

#[test]
fn a_crawl_that_was_killed_is_read_as_it_will_be_recovered() {
    let crawled = Crawled { dirs: tempfile::tempdir().unwrap() };
    fs::create_dir(crawled.temporary()).unwrap();
    let served = Served::start(web());
    // It comes to one page, and waits.
    let running = Running::start(&mut crawl(&served, &crawled.dir(), &["--delay", "1h"]));
    let ask = || crawled.ask(&mut plainly(&crawled.question("status", &["--json"])));
    let fetched =
        |told: &str| serde_json::from_str::<Value>(told).map_or(0, |status| status["fetched"].as_u64().unwrap());
    while !crawled.dir().join("live.socket").exists() || fetched(&ask().stdout) == 0 {
        assert!(running.age() < Duration::from_secs(120), "nothing is fetched");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(running.kill());
    let status = || ask().expect_code(0).stdout;
    let before = files(&crawled.dir());
    let told = status();
    assert_eq!(status(), told);
    assert!(files(&crawled.dir()) == before, "a reader changes nothing");
    assert_eq!(fetched(&told), 1, "{told}");
    // Who opens the state to change it recovers it.
    let dir = CrawlDir::existing(&crawled.dir()).unwrap();
    drop(dir.open_store(&dir.options().unwrap()).unwrap());
    assert!(files(&crawled.dir()) != before);
    assert_eq!(status(), told);
}

#[test]
fn what_cannot_be_read_is_named() {
    let crawled = Crawled::new();
    let dirs = crawled.dirs.path().display().to_string();
    let says = |mut command: Command, expect: &str| {
        let ended = crawled.ask(&mut command).expect_code(1);
        assert_eq!(ended.stderr.replace(&dirs, "DIRS"), format!("argiope: {expect}\n"));
    };
    let arguments = |command: &str, place: &str| [command.to_owned(), format!("{dirs}/{place}")];
    let not_a_directory = "DIRS/crawl/crawl.toml: is not a directory: name that of a crawl";
    says(plainly(&arguments("status", "crawl/crawl.toml")), not_a_directory);
    says(plainly(&arguments("status", "missing")), "DIRS/missing: no such directory");
    let mut without_temporary = plainly(&crawled.question("status", &[]));
    without_temporary.env("TMPDIR", "x");
    let mut running = Running::start(&mut without_temporary);
    running.say(b"");
    let ended = running.end().expect_code(1);
    assert!(ended.stderr.contains("set TMPDIR to a directory that may be written to"), "{}", ended.stderr);

    set_modes(&crawled.dir(), if is_root() { 0o700 } else { 0 }, 0o600);
    let private = "DIRS/crawl: Permission denied (os error 13): its owner must give you permission to read it";
    says(as_nobody(&arguments("status", "crawl")), private);
    // Whether it holds a crawl cannot be known: that no seeds are given is not what is wrong.
    let goes_on = ["crawl".to_owned(), "-o".to_owned(), format!("{dirs}/crawl")];
    says(as_nobody(&goes_on), private);
    fs::set_permissions(crawled.dir(), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_directory_that_a_crawl_may_not_write_to_is_named() {
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(dirs.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&dir, Permissions::from_mode(0o555)).unwrap();
    let arguments = ["crawl", "http://read.test/", "--progress", "none", "-o", dir.to_str().unwrap()];
    let ended = Running::start(&mut as_nobody(&arguments.map(str::to_owned))).end().expect_code(1);
    let expect = format!("argiope: making the directory: {}/state: Permission denied (os error 13)\n", dir.display());
    assert_eq!(ended.stderr, expect);
}

#[test]
fn who_may_not_ask_a_running_crawl_learns_why() {
    if !is_root() {
        return println!("not run: this user cannot be another one");
    }
    let crawled = Crawled { dirs: tempfile::tempdir().unwrap() };
    fs::set_permissions(crawled.dirs.path(), Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(crawled.temporary()).unwrap();
    fs::set_permissions(crawled.temporary(), Permissions::from_mode(0o777)).unwrap();
    let served = Served::start(web());
    let running = Running::start(&mut crawl(&served, &crawled.dir(), &["--delay", "1h"]));
    let socket = crawled.dir().join("live.socket");
    while !socket.exists() {
        assert!(running.age() < Duration::from_secs(120), "no crawl runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    fs::set_permissions(&socket, Permissions::from_mode(0o755)).unwrap();
    let expect = format!(
        "argiope: {}: Permission denied: the crawl in {} runs, and answers only its owner, the user with the number 0",
        socket.display(),
        crawled.dir().display()
    );
    let questions: [(&str, &[&str]); 6] = [
        ("status", &[]),
        ("explain", &["read.test"]),
        ("check", &[]),
        ("export", &["jsonl"]),
        ("steer", &["pause"]),
        ("steer", &["hold", "read.test"]),
    ];
    for (command, more) in questions {
        let refused = crawled.ask(&mut as_nobody(&crawled.question(command, more))).expect_code(1);
        assert!(refused.stderr.starts_with(&expect), "{command}: {}", refused.stderr);
        assert!(refused.stderr.contains(&format!("`chmod o+w {}`", socket.display())), "{}", refused.stderr);
    }
    fs::set_permissions(&socket, Permissions::from_mode(0o777)).unwrap();
    crawled.ask(&mut as_nobody(&crawled.question("status", &[]))).expect_code(0);
    assert!(running.kill());
}
