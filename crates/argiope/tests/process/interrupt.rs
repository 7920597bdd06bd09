//! SIGINT and SIGTERM: the crawl stops soon with its state saved and exit code 3, and the same command goes on.
//!
//! The promise is two seconds. A test machine may be busy, so that the tests allow more.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testweb::synthetic::{Settings, Synthetic};
use testweb::{Pages, Reply, Request, Site, Step, Web, from_fn};

use crate::binary::{BINARY, Running};
use crate::result::{Row, entries, rows};
use crate::served::Served;

const STOPS_WITHIN: Duration = Duration::from_secs(10);
const PAGES: u64 = 400;

fn command(served: &Served, seed: &str, delay: &str, dir: &Path) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", seed, "--delay", delay, "--ip-delay", "0", "--scope", "any", "--progress", "none"]);
    command.args(served.flags()).arg("-o").arg(dir);
    command
}

fn wait_for_requests(served: &Served, running: &Running, requests: u64) {
    while served.requests() < requests {
        assert!(running.age() < Duration::from_secs(60), "only {} requests came", served.requests());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends the signals, and waits for the end. They arrive together.
fn stop(running: Running, signals: &[&str]) {
    running.signal("STOP");
    signals.iter().for_each(|signal| running.signal(signal));
    running.signal("CONT");
    let before = running.age();
    let (ended, after) = running.end_at();
    let ended = ended.expect_code(3);
    assert!(after - before < STOPS_WITHIN, "it took {:?} to stop", after - before);
    let stopped = "argiope: stopped; the same command goes on where this one ended\n";
    // Of a second signal the process dies without a word.
    assert!(ended.stderr == stopped || signals.len() > 1 && ended.stderr.is_empty(), "{}", ended.stderr);
}

fn finish(command: &mut Command, dir: &Path) -> Vec<Row> {
    Running::start(command).end().expect_code(0);
    rows(&entries(dir)).into_values().collect()
}

fn synthetic() -> Served {
    let settings = Settings { seed: 3, sites: 20, pages: PAGES, degree: 4, text_bytes_mean: 1_000 };
    Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()))
}

fn check_stop_in_the_midst(signals: &[&str]) {
    let (served, dirs) = (synthetic(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = command(&served, "http://s0000.synthetic.test/p/0", "50ms", &dir);
    let running = Running::start(&mut command);
    wait_for_requests(&served, &running, 60);
    stop(running, signals);
    let rows = finish(&mut command, &dir);
    assert_eq!(rows.iter().filter(|row| row.outcome == "content").count() as u64, PAGES);
}

#[test]
fn sigint_stops_a_crawl_and_the_same_command_goes_on() {
    check_stop_in_the_midst(&["INT"]);
}

#[test]
fn sigterm_does_the_same() {
    check_stop_in_the_midst(&["TERM"]);
}

#[test]
fn sighup_does_the_same_since_a_terminal_may_be_closed() {
    check_stop_in_the_midst(&["HUP"]);
}

/// `nohup` starts it with SIGHUP ignored.
#[test]
fn a_crawl_that_is_to_outlive_its_terminal_does() {
    let (served, dirs) = (synthetic(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let inner = command(&served, "http://s0000.synthetic.test/p/0", "20ms", &dir);
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP && exec \"$0\" \"$@\"", BINARY]).args(inner.get_args());
    let running = Running::start(&mut command);
    wait_for_requests(&served, &running, 60);
    running.signal("HUP");
    running.end().expect_code(0);
    assert_eq!(rows(&entries(&dir)).values().filter(|row| row.outcome == "content").count() as u64, PAGES);
}

#[test]
fn a_second_signal_ends_at_once_and_loses_nothing_either() {
    check_stop_in_the_midst(&["INT", "TERM"]);
}

#[test]
fn fetches_that_hang_do_not_hold_up_the_stop() {
    let hangs = Arc::new(AtomicBool::new(true));
    let served = Served::start(Web::new().site("hang.test", hanging(hangs.clone())));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let mut command = command(&served, "http://hang.test/", "0", &dir);
    let running = Running::start(&mut command);
    // robots.txt, sitemap.xml, the page, and one that hangs.
    wait_for_requests(&served, &running, 4);
    stop(running, &["INT"]);
    hangs.store(false, Ordering::Relaxed);
    assert_eq!(finish(&mut command, &dir).iter().filter(|row| row.outcome == "content").count(), 3);
}

/// A page, and two that are never answered as long as the switch is on.
fn hanging(hangs: Arc<AtomicBool>) -> impl Site {
    let pages = Pages::new().html("/", "<a href=/a>a</a><a href=/b>b</a>").html("/a", "a").html("/b", "b");
    from_fn(move |request: &Request| match request.path() {
        "/a" | "/b" if hangs.load(Ordering::Relaxed) => Reply::raw(|| std::iter::once(Step::Hang)),
        _ => Site::reply(&pages, request),
    })
}

#[test]
fn a_delay_is_not_waited_for() {
    let pages = Pages::new().html("/", "<a href=/a>a</a>").html("/a", "a");
    let served = Served::start(Web::new().site("slow.test", pages));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let mut command = command(&served, "http://slow.test/", "3s", &dir);
    command.arg("--no-sitemaps");
    let running = Running::start(&mut command);
    // robots.txt and the page; the next may be asked for three seconds later.
    wait_for_requests(&served, &running, 2);
    stop(running, &["INT"]);
    assert_eq!(served.requests(), 2);
    assert_eq!(finish(&mut command, &dir).len(), 2);
}

#[test]
fn whoever_does_not_read_the_summary_does_not_change_how_the_crawl_ends() {
    let dir = tempfile::tempdir().unwrap();
    for more in [&[][..], &["--json"]] {
        let mut command = Command::new("sh");
        // `true` ends at once; the crawl finds its pipe closed.
        command.args(["-c", "{ \"$0\" \"$@\"; echo \"code $?\" >&2; } | true", BINARY]);
        command
            .args(["crawl", "http://simple.test/", "--sandbox", "--delay", "10ms", "--progress", "none", "-o"])
            .arg(dir.path().join(more.concat()));
        let mut running = Running::start(command.args(more));
        running.say(b"");
        assert!(running.end().stderr.ends_with("code 0\n"));
    }
}

#[test]
fn a_closed_standard_error_does_not_change_how_the_crawl_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    // A crawl that ends early says so; nobody is there any more to read it.
    command.args(["-c", "{ \"$0\" \"$@\" 2>&1; echo \"code $?\" >&2; } | true", BINARY]);
    command.args(["crawl", "http://simple.test/", "--sandbox", "--delay", "10ms", "--max-pages", "1", "-o"]);
    let mut running = Running::start(command.arg(dir.path().join("crawl")));
    running.say(b"");
    let said = running.end().stderr;
    assert!(said.ends_with("code 3\n"), "{said}");
}
