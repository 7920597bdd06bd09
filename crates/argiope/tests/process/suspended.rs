//! SIGSTOP and SIGCONT, as of a shell or of a machine that sleeps: the time in between is nobody's time to answer in.

use std::process::Command;
use std::time::Duration;

use testweb::{Reply, Request, Web, from_fn};

use crate::binary::{BINARY, Running};
use crate::result::{entries, rows};
use crate::served::Served;

/// Longer than the loop misses when its process is busy, and than all time limits of a request below.
const STOPPED_FOR: Duration = Duration::from_secs(13);
const SITES: usize = 8;
const PAGES_A_SITE: usize = 40;
/// So long each answer takes, so that requests are under way when the process is stopped.
const ANSWER_TAKES: Duration = Duration::from_millis(100);
/// Requests of a site that the stop may cost: the one under way, and one for robots.txt.
const ASKED_AGAIN_MAX: usize = 2;

fn page(request: &Request) -> Reply {
    let links: String = match request.path() {
        "/robots.txt" => return Reply::text(""),
        "/" => (1..PAGES_A_SITE).map(|n| format!("<a href=/{n}>{n}</a>")).collect(),
        _ => String::new(),
    };
    Reply::html(format!("<p>{} {}{links}", request.host, request.path())).delay(ANSWER_TAKES)
}

#[test]
fn a_crawl_that_stood_still_goes_on_and_loses_nothing() {
    let name = |n: usize| format!("s{n}.test");
    let web = (0..SITES).fold(Web::new(), |web, n| web.site(&name(n), from_fn(page)));
    let (served, dirs) = (Served::start(web), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.arg("crawl").args((0..SITES).map(|n| format!("http://{}/", name(n))));
    command.args(["--delay", "50ms", "--ip-delay", "0", "--no-sitemaps", "--progress", "none"]);
    command.args(["--connect-timeout", "5s", "--total-timeout", "8s", "--patience", "0"]);
    command.args(served.flags()).arg("-o").arg(&dir);
    let running = Running::start(&mut command);
    for part in [1, 2] {
        let wanted = u64::try_from(part * SITES * PAGES_A_SITE / 3).expect("a small number");
        while served.requests() < wanted {
            assert!(running.age() < Duration::from_secs(120), "only {} requests came", served.requests());
            std::thread::sleep(Duration::from_millis(1));
        }
        running.signal("STOP");
        std::thread::sleep(STOPPED_FOR);
        running.signal("CONT");
    }
    running.end().expect_code(0);
    let rows = rows(&entries(&dir));
    let content = rows.values().filter(|row| row.outcome == "content").count();
    assert_eq!((rows.len(), content), (SITES * PAGES_A_SITE, SITES * PAGES_A_SITE));
    let most = SITES * (PAGES_A_SITE + 1 + 2 * ASKED_AGAIN_MAX);
    assert!(served.requests() <= u64::try_from(most).expect("a small number"), "{}", served.requests());
}
