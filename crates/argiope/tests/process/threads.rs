//! A limit of threads and processes: one line names it, and nothing is lost.

use std::fs::Permissions;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use testweb::{Pages, Reply, Web, from_fn};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

/// A user that has no other processes. The system counts those of a user, and root's not at all.
fn user(number: u32) -> u32 {
    3_000_000_000 + std::process::id() % 1_000_000 * 100 + number
}

/// A directory that anybody may write to.
fn open_directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::set_permissions(dir.path(), Permissions::from_mode(0o777)).unwrap();
    dir
}

/// A crawl with at most so many threads and processes.
fn crawl(served: &Served, limit: u32, user: u32, dir: &Path) -> Command {
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -u \"$0\" && exec \"$@\"", &limit.to_string(), BINARY]);
    command.args(["crawl", "http://small.test/", "--delay", "0", "--ip-delay", "0", "-q", "-o"]).arg(dir);
    command.args(served.flags());
    as_user(&mut command, user);
    command
}

fn as_user(command: &mut Command, user: u32) {
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(user).gid(user);
    }
}

fn check_named(ended: &Ended) {
    let said = &ended.stderr;
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("argiope: the system starts no more threads or processes: a limit is reached, "),
        "{said}"
    );
    assert!(said.contains(" (ulimit -u)") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_crawl_that_gets_no_thread_at_its_start_names_the_limit() {
    let served = Served::start(Web::new().site("small.test", Pages::new().html("/", "<p>one")));
    let dirs = open_directory();
    let mut refused = 0;
    for limit in 1..=14 {
        let dir = dirs.path().join(limit.to_string());
        let ended = Running::start(&mut crawl(&served, limit, user(limit), &dir)).end();
        match ended.status.code() {
            Some(0) => assert_eq!(ended.stderr, ""),
            _ => {
                refused += 1;
                check_named(&ended);
            }
        }
        // What was begun is whole.
        Running::start(&mut crawl(&served, 1_000, user(limit), &dir)).end().expect_code(0);
    }
    assert!(refused > 0, "no limit was reached");
}

#[test]
fn a_standard_stream_that_does_not_block_may_be_what_is_taken_for_a_limit_of_threads() {
    for (arguments, is_output) in [(["completions", "bash"], true), (["crawl", "--seeds=-"], false)] {
        // Nobody reads or writes at its other end.
        let (stream, _other) = UnixStream::pair().unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut command = Command::new(BINARY);
        let stream = Stdio::from(OwnedFd::from(stream));
        match is_output {
            true => command.stdin(Stdio::null()).stdout(stream),
            false => command.stdin(stream).stdout(Stdio::null()),
        };
        let mut child = command.args(arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
        let told = "argiope: a standard stream does not block and is not ready, or a limit of threads or processes is reached: ";
        assert!(said.starts_with(told) && said.ends_with("Resource temporarily unavailable (os error 11)\n"), "{said}");
    }
}

#[test]
fn a_crawl_that_gets_no_thread_any_more_closes_its_archive() {
    let site = from_fn(|request| match request.path() {
        "/" => Reply::html("<a href=/slow>slow</a>"),
        "/slow" => Reply::html("<p>slow").delay(Duration::from_secs(2)),
        _ => Reply::error(404, &request.target),
    });
    let served = Served::start(Web::new().site("small.test", site));
    let dirs = open_directory();
    let dir = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, 1_000, user(99), &dir));
    while !served.log().iter().any(|entry| entry.target == "/slow") {
        assert!(running.age() < Duration::from_secs(60), "nothing is requested");
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = running.id().to_string();
    let mut limit = Command::new("prlimit");
    as_user(limit.args(["--pid", &pid, "--nproc=1"]), user(99));
    assert!(limit.status().unwrap().success());
    let ended = running.end();
    if ended.status.code() != Some(0) {
        check_named(&ended);
    }
    Running::start(&mut crawl(&served, 1_000, user(99), &dir)).end().expect_code(0);
    let checked = crate::binary::run(&["check", dir.to_str().unwrap()]).expect_code(0);
    assert!(checked.stdout.starts_with("no errors"), "{}", checked.stdout);
}
