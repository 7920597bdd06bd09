//! Outcomes are streamed while a crawl runs, is killed, and goes on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use engine::clock::Clock;
use serde_json::Value;
use testweb::{Pages, Web};

use crate::binary::{self, BINARY, Running};
use crate::crash::{self, KILLS, Random};
use crate::served::Served;

/// Longer than anything here takes.
const AGE_MAX: Duration = Duration::from_secs(120);
/// What lines and state say of a URL alike, however it is found later.
const SAME: [&str; 12] = [
    "outcome",
    "reason",
    "status",
    "content_type",
    "length",
    "digest",
    "duplicate_of",
    "fetched_at",
    "title",
    "warc_file",
    "warc_offset",
    "redirect_to",
];
/// Pages of the small web.
const PAGES: usize = 60;
/// Pages of a megabyte whose lines are longer than [`FILE_BYTES_MAX`], while the archive is not.
const LARGE_PAGES: usize = 90;
/// More than the state's journal takes from the start.
const FILE_BYTES_MAX: u64 = 80_000_000;
/// Characters of each page.
const PAGE_CHARS: usize = 20_000;

/// A site of pages with much text, and links that the crawl excludes.
fn web() -> Web {
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>{n}</a><a href=/not/{n}>{n}</a>")).collect();
    let page = |n: usize| format!("<title>Page {n}</title><p>{}", "word ".repeat(PAGE_CHARS / 5));
    Web::new().site(
        "one.test",
        (0..PAGES).fold(Pages::new().html("/", links), |pages, n| pages.html(format!("/{n}"), page(n))),
    )
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args([
        "crawl",
        "http://one.test/",
        "--ip-delay",
        "0",
        "--no-sitemaps",
        "--progress",
        "none",
        "--exclude",
        "*/not/*",
    ]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

fn lines_of(text: &str) -> Vec<Value> {
    assert!(text.is_empty() || text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks that the lines are one for each outcome of the state, in order.
fn assert_complete(lines: &[Value], dir: &Path) {
    let seq: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (1..=lines.len() as u64).collect::<Vec<_>>(), "no line is lost, and none doubled");
    let exported =
        binary::run(&["export".as_ref(), dir.as_os_str(), "jsonl".as_ref(), "--all".as_ref()]).expect_code(0);
    let rows = lines_of(&exported.stdout).into_iter().filter(|row| row["outcome"] != "frontier");
    let mut rows: BTreeMap<String, Value> = rows.map(|row| (row["url"].as_str().unwrap().to_owned(), row)).collect();
    for line in lines {
        let url = line["url"].as_str().unwrap();
        let row = rows.remove(url).unwrap_or_else(|| panic!("{url} has no outcome, or two lines"));
        for name in SAME {
            assert_eq!(line[name], row[name], "{name} of {url}");
        }
    }
    assert!(rows.is_empty(), "no line for {rows:?}");
}

/// What the log of a stream says, in lines.
#[derive(Clone, Copy, Default, PartialEq)]
struct Standing {
    /// How far the stream reached when its run began.
    resolved: u64,
    /// Where the last batch begins.
    begin: u64,
    /// Where it ends.
    end: u64,
}

impl Standing {
    fn read(log: &Path) -> Self {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let notes = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).skip(1);
        let notes: Vec<Value> = notes.map(|line| serde_json::from_str(line).unwrap()).collect();
        let lines =
            |note: Option<&Value>, of: &str| note.map_or(0, |note| note["lines"][of]["lines"].as_u64().unwrap());
        Standing {
            resolved: lines(notes.first(), "end"),
            begin: lines(notes.last(), "begin"),
            end: lines(notes.last(), "end"),
        }
    }
}

fn wait_until(running: &Running, holds: impl Fn() -> bool) {
    while !holds() {
        assert!(running.age() < AGE_MAX, "it does not come to that");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn no_line_is_lost_or_doubled_by_kill_9() {
    let (served, dirs) = (crash::serve(), tempfile::tempdir().unwrap());
    let (dir, file) = (dirs.path().join("crawl"), dirs.path().join("lines.jsonl"));
    let start = || {
        let mut command = crash::command(&served, &dir);
        Running::start(command.arg("--stream").arg(&file).args([
            "--stream-fields",
            "text,headers",
            "--exclude",
            "*/p/*77",
        ]))
    };
    let log = dir.join("stream/log");
    let length = || std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    let mut random = Random(11);
    let (mut last, mut taken_back, mut kept) = (Standing::default(), 0, 0);
    for kill in 0..KILLS {
        let before = served.requests();
        let running = start();
        if kill % 2 == 0 {
            crash::wait(&mut random, &running, &served, before);
        } else {
            // At the moment in which lines are there and their commit is not.
            wait_until(&running, || served.requests() > before + 4);
            let now = length();
            while length() == now && running.age() < AGE_MAX {}
        }
        assert!(running.kill(), "the crawl ended before kill {kill}: the web is too small");
        let now = Standing::read(&log);
        // Where the run was killed before it resolved that, the log is as it was.
        let is_resolved = last.begin < last.end && now != last;
        taken_back += usize::from(is_resolved && now.resolved == last.begin);
        kept += usize::from(is_resolved && now.resolved == last.end);
        last = now;
    }
    assert!(taken_back > 0 && kept > 0, "kills before and behind a commit: {taken_back}, {kept}");
    start().end().expect_code(0);
    let lines = lines_of(&std::fs::read_to_string(&file).unwrap());
    assert_complete(&lines, &dir);
    assert!(
        lines.iter().any(|line| line["outcome"] == "excluded")
            && lines.iter().any(|line| line["outcome"] == "redirect")
    );
    let html = lines.iter().filter(|line| line["outcome"] == "html");
    assert!(
        html.clone().count() > 0 && html.clone().all(|line| line["text"].is_string() && line["headers"].is_object())
    );
}

/// Waits until a crawl has come to a standstill: the pipe and the buffer hold a few pages.
fn wait_for_standstill(dir: &Path) {
    let told = || {
        let status = binary::run(&["status".as_ref(), dir.as_os_str(), "--json".as_ref()]);
        serde_json::from_str::<Value>(&status.stdout).ok().and_then(|status| status["fetched"].as_u64()).unwrap_or(0)
    };
    let (mut before, mut looks) = (0, 0);
    while looks < 4 {
        std::thread::sleep(Duration::from_millis(400));
        let now = told();
        looks = if now > 0 && before == now { looks + 1 } else { 0 };
        before = now;
    }
    assert!(before < PAGES as u64, "it did not wait for its reader");
}

#[test]
fn standard_output_has_lines_alone_and_a_slow_reader_slows_the_crawl() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command =
        crawl(&served, &dir, &["--delay", "0", "--stream", "-", "--stream-fields", "text", "--stream-buffer", "50KB"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_standstill(&dir);
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert_complete(&lines_of(&stdout), &dir);
    assert!(stderr.contains("fetched"), "the summary is on standard error: {stderr}");
}

#[test]
fn a_crawl_whose_lines_fit_into_the_buffer_fetches_everything_though_nobody_reads() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let more = ["--delay", "0", "--stream", "-", "--stream-fields", "text", "--stream-buffer", "100MB"];
    let mut child =
        crawl(&served, &dir, &more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let clock = Clock::start();
    let began = clock.now();
    // robots.txt, the first page and those that it leads to.
    let all = PAGES as u64 + 2;
    while served.requests() < all {
        let requests = served.requests();
        assert!(clock.now().since(began) < AGE_MAX, "it waits for its reader after {requests} of {all} requests");
        std::thread::sleep(Duration::from_millis(10));
    }
    // It answers, though it has nothing more to do than to wait.
    let status = || {
        let asked = binary::run(&["status".as_ref(), dir.as_os_str(), "--json".as_ref()]).expect_code(0);
        let status: Value = serde_json::from_str(&asked.stdout).unwrap();
        (status["fetched"].as_u64(), status["frontier"].as_u64(), status["end"] == "running")
    };
    while status() != (Some(PAGES as u64 + 1), Some(0), true) {
        assert!(clock.now().since(began) < AGE_MAX, "{:?}", status());
        std::thread::sleep(Duration::from_millis(30));
    }
    // What was not read is more than a pipe holds.
    assert_eq!(child.try_wait().unwrap(), None, "lines are left");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{stderr}");
    assert_complete(&lines_of(&stdout), &dir);
}

#[test]
fn a_crawl_whose_reader_takes_nothing_is_stopped_at_once_and_the_next_run_goes_on() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let more = ["--delay", "0", "--stream", "-", "--stream-fields", "text", "--stream-buffer", "50KB"];
    let mut child =
        crawl(&served, &dir, &more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut read = String::new();
    reader.read_line(&mut read).unwrap();
    wait_for_standstill(&dir);
    assert!(Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap().success());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{stderr}");
    assert!(stderr.contains("its reader did not take all"), "{stderr}");
    // What the pipe holds; the last line may be cut, and is then sent again.
    reader.read_to_string(&mut read).unwrap();
    let whole = read.rfind('\n').unwrap() + 1;
    let ended = Running::start(&mut crawl(&served, &dir, &more[..4])).end().expect_code(0);
    assert_complete(&lines_of(&(read[..whole].to_owned() + &ended.stdout)), &dir);
}

#[test]
fn a_crawl_that_waits_for_its_reader_says_so_and_stops_though_a_change_waits_too() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let more = ["--delay", "0", "--stream", "-", "--stream-fields", "text", "--stream-buffer", "50KB"];
    let mut child =
        crawl(&served, &dir, &more).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_standstill(&dir);
    let asked = |words: &[&str]| {
        let (verb, rest) = words.split_first().unwrap();
        let mut command = Command::new(BINARY);
        command.arg(verb).arg(&dir).args(rest);
        command
    };
    let status = Running::start(&mut asked(&["status"])).end().expect_code(0).stdout;
    assert!(status.contains("the crawl waits for: the reader of its stream (--stream)"), "{status}");
    let story = Running::start(&mut asked(&["explain", "one.test"])).end().expect_code(0).stdout;
    assert!(story.contains("until the reader of the stream takes more (--stream)"), "{story}");
    // It is in force once the engine has made it, which waits for its commits.
    let mut exclude =
        asked(&["steer", "exclude", "*/none*"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(exclude.try_wait().unwrap(), None, "the change waits");
    Running::start(&mut asked(&["steer", "stop"])).end().expect_code(0);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{stderr}");
    // The change is made of the crawl that rests.
    assert!(exclude.wait().unwrap().success());
    let settings = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
    assert!(settings.contains("*/none*"), "{settings}");
}

#[test]
fn a_reader_that_leaves_standard_output_ends_the_run_and_the_next_goes_on_behind_it() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = crawl(&served, &dir, &["--delay", "20ms", "--stream", "-"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    for _ in 0..3 {
        reader.read_line(&mut first).unwrap();
    }
    drop(reader);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{stderr}");
    assert!(stderr.contains("its reader went away") && stderr.contains("left for the next run"), "{stderr}");
    let mut again = Command::new(BINARY);
    again
        .args(["crawl", "--progress", "none", "--delay", "0", "--stream", "-"])
        .args(served.flags())
        .arg("-o")
        .arg(&dir);
    let ended = Running::start(&mut again).end().expect_code(0);
    let rest = lines_of(&ended.stdout);
    // What was written when the reader left may have been lost with it; nothing comes twice.
    let (read, next) = (lines_of(&first).len() as u64, rest[0]["seq"].as_u64().unwrap());
    assert!(next > read, "{next}");
    let seq: Vec<u64> = rest.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (next..next + rest.len() as u64).collect::<Vec<_>>());
    assert_eq!(seq.last(), Some(&(2 * PAGES as u64 + 1)));
}

#[test]
fn the_reader_of_a_socket_may_leave_and_come_back() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, socket) = (dirs.path().join("crawl"), dirs.path().join("socket"));
    let target = format!("unix:{}", socket.display());
    let refused = Running::start(&mut crawl(&served, &dir, &["--stream", &target])).end().expect_code(2);
    assert!(refused.stderr.contains("no reader listens there"), "{}", refused.stderr);
    let listener = UnixListener::bind(&socket).unwrap();
    let running = Running::start(&mut crawl(&served, &dir, &["--delay", "20ms", "--stream", &target]));
    let mut read = String::new();
    let mut first = BufReader::new(listener.accept().unwrap().0);
    for _ in 0..5 {
        first.read_line(&mut read).unwrap();
    }
    drop(first);
    let mut rest = String::new();
    BufReader::new(listener.accept().unwrap().0).read_to_string(&mut rest).unwrap();
    running.end().expect_code(0);
    let (read, rest) = (lines_of(&read), lines_of(&rest));
    let next = rest[0]["seq"].as_u64().unwrap();
    assert!(next > read.len() as u64, "it begins with a line that was not sent");
    assert_eq!(rest.last().unwrap()["seq"].as_u64(), Some(2 * PAGES as u64 + 1));
}

#[test]
fn a_reader_of_a_socket_that_does_not_come_back_is_not_waited_for_without_end() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, socket) = (dirs.path().join("crawl"), dirs.path().join("socket"));
    let target = format!("unix:{}", socket.display());
    let listener = UnixListener::bind(&socket).unwrap();
    let running = Running::start(&mut crawl(&served, &dir, &["--delay", "20ms", "--stream", &target]));
    let mut read = String::new();
    BufReader::new(listener.accept().unwrap().0).read_line(&mut read).unwrap();
    drop(listener);
    let ended = running.end().expect_code(0);
    assert!(ended.stderr.contains("its reader did not take all"), "{}", ended.stderr);
    // The next run gives the rest to a file.
    let file = dirs.path().join("lines");
    Running::start(&mut crawl(&served, &dir, &["--stream", file.to_str().unwrap()])).end().expect_code(0);
    let rest = lines_of(&std::fs::read_to_string(&file).unwrap());
    assert!(rest[0]["seq"].as_u64() > Some(1));
    assert_eq!(rest.last().unwrap()["seq"].as_u64(), Some(2 * PAGES as u64 + 1));
}

#[test]
fn a_target_that_cannot_be_written_is_refused() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, taken) = (dirs.path().join("crawl"), dirs.path().join("taken"));
    std::fs::write(&taken, "something").unwrap();
    let taken = taken.to_str().unwrap();
    let cases = [
        ("/nowhere/lines", "No such file or directory"),
        ("/dev/null", "is not a regular file"),
        (dirs.path().to_str().unwrap(), "is not a regular file"),
        (taken, "is there already, and is not the stream of this crawl"),
        ("", "give FILE, - or unix:PATH"),
    ];
    for (target, expect) in cases {
        let refused = Running::start(&mut crawl(&served, &dir, &["--stream", target])).end().expect_code(2);
        assert!(refused.stderr.contains(expect), "{target}: {}", refused.stderr);
    }
    let refused = Running::start(&mut crawl(&served, &dir, &["--stream-fields", "text"])).end().expect_code(2);
    assert!(refused.stderr.contains("give --stream"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(taken).unwrap(), "something");
    assert_eq!(served.requests(), 0);
    assert!(!dir.join("stream/log").exists(), "nothing is remembered of it");
}

#[test]
fn a_file_that_cannot_grow_ends_the_run_and_the_next_completes_it() {
    let text = "word ".repeat(200_000);
    let links: String = (0..LARGE_PAGES).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let page = |n: usize| format!("<title>Page {n}</title><p>{n} {text}");
    let pages = (0..LARGE_PAGES).fold(Pages::new().html("/", links), |pages, n| pages.html(format!("/{n}"), page(n)));
    let (served, dirs) = (Served::start(Web::new().site("one.test", pages)), tempfile::tempdir().unwrap());
    let (dir, file) = (dirs.path().join("crawl"), dirs.path().join("lines"));
    let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", FILE_BYTES_MAX / 512);
    let crawl = crawl(&served, &dir, &["--delay", "0", "--stream", file.to_str().unwrap(), "--stream-fields", "text"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", &limit, "sh", BINARY]).args(crawl.get_args());
    let ended = Running::start(&mut limited).end().expect_code(1);
    let named = ended.stderr.contains(file.to_str().unwrap()) && ended.stderr.contains("File too large");
    assert!(named && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    Running::start(Command::new(BINARY).args(crawl.get_args())).end().expect_code(0);
    assert_complete(&lines_of(&std::fs::read_to_string(&file).unwrap()), &dir);
}

#[test]
fn a_stream_is_gone_on_with_changed_and_ended() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, one, two) = (dirs.path().join("crawl"), dirs.path().join("one"), dirs.path().join("two"));
    let run = |more: &[&str]| Running::start(&mut crawl(&served, &dir, more)).end();
    let [first, second] = [&one, &two].map(|path| path.to_str().unwrap());
    run(&["--delay", "0", "--max-pages", "10", "--stream", first]).expect_code(3);
    let unnamed = run(&["--max-pages", "20"]).expect_code(2);
    let why = format!("the stream of this crawl went to `{first}`, and only the directory says so");
    assert!(unnamed.stderr.contains(&why), "{}", unnamed.stderr);
    run(&["--max-pages", "20", "--stream", first]).expect_code(3);
    run(&["--max-pages", "30", "--stream", second]).expect_code(3);
    let [before, after] = [&one, &two].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(!before.is_empty() && !after.is_empty());
    run(&["--max-pages", "1000", "--no-stream"]).expect_code(0);
    assert_eq!(std::fs::read_to_string(&two).unwrap(), after);
    assert!(!dir.join("stream").exists());
    let lines = lines_of(&(before + &after));
    let seq: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (1..=lines.len() as u64).collect::<Vec<_>>());
    assert_eq!(lines.iter().filter(|line| line["outcome"] != "excluded").count(), 30);
    std::fs::remove_file(&one).unwrap();
}

#[test]
fn each_visit_has_a_line() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, file) = (dirs.path().join("crawl"), dirs.path().join("lines"));
    let run = |more: &[&str]| Running::start(&mut crawl(&served, &dir, more)).end().expect_code(0);
    let file_name = file.to_str().unwrap();
    run(&["--delay", "0", "--stream", file_name]);
    run(&["--again", "--stream", file_name]);
    let watch = |more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&dir).args(["--budget=1000/min", "--rounds=4", "--every=1s"]);
        Running::start(command.args(more)).end()
    };
    let before = std::fs::read_to_string(&file).unwrap();
    for (more, why) in [(&[][..], "--no-stream"), (&["--stream", "-"], "standard output")] {
        let refused = watch(more).expect_code(2);
        assert!(refused.stderr.contains(why), "{more:?}: {}", refused.stderr);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    watch(&["--stream", file_name]).expect_code(0);
    let lines = lines_of(&std::fs::read_to_string(&file).unwrap());
    let seq: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seq, (1..=lines.len() as u64).collect::<Vec<_>>());
    let of_visit = |visit: u64| lines.iter().filter(|line| line["status"] == 200 && line["visit"] == visit).count();
    assert_eq!((of_visit(1), of_visit(2)), (PAGES + 1, PAGES + 1));
    assert!(of_visit(3) > 0, "of `watch` too");
    watch(&["--no-stream"]).expect_code(0);
    assert!(!dir.join("stream").exists());
}

#[test]
fn a_file_that_was_changed_is_refused() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let (dir, file) = (dirs.path().join("crawl"), dirs.path().join("lines"));
    let run = |more: &[&str]| Running::start(&mut crawl(&served, &dir, more)).end();
    let file_name = file.to_str().unwrap();
    run(&["--delay", "0", "--max-pages", "10", "--stream", file_name]).expect_code(3);
    let lines = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{lines}more\n")).unwrap();
    let refused = run(&["--max-pages", "20", "--stream", file_name]);
    assert!(refused.stderr.contains("is longer than what was written to it"), "{}", refused.stderr);
    // What is missing at its end is written again.
    std::fs::write(&file, &lines[..lines.len() / 2]).unwrap();
    run(&["--max-pages", "1000", "--stream", file_name]).expect_code(0);
    assert_complete(&lines_of(&std::fs::read_to_string(&file).unwrap()), &dir);
}
