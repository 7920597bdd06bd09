//! Questions to a crawl that is running: the answer is as of its last commit.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testweb::{Config, Pages, Server, Web};

use testkit::ran::argiope;

/// Far more than it takes on a busy machine.
const ASKED_MAX: u32 = 2_000;

/// A crawl that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ranks(dir: &str) -> Value {
    let ran = argiope(&["rank", dir, "--json", "--top", "1000"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()
}

fn vertices(dir: &str) -> u64 {
    ranks(dir)["vertices"].as_u64().expect("a number")
}

#[test]
fn a_running_crawl_answers_and_so_does_one_that_was_killed() {
    const PAGES: usize = 60;
    // The last leads to what is not there.
    let page = |number: usize| format!("<a href=/{}>next</a><a href=/>first</a>", number + 1);
    let pages = (1..PAGES)
        .fold(Pages::new().html("/", page(0)), |pages, number| pages.html(format!("/{number}"), page(number)));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let web = Web::new().site("ring.test", pages);
    let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
    let root = TempDir::new().expect("a directory");
    let (dir, other) = (root.path().join("running"), root.path().join("other"));
    let (dir, other) = (dir.to_str().expect("UTF-8"), other.to_str().expect("UTF-8"));
    let connect_to = server.connect_to();
    let crawl = |dir: &str, delay: &str| {
        let fixed = ["crawl", "http://ring.test/", "--no-sitemaps", "--progress", "none", "--ip-delay", "0"];
        let given = ["-o", dir, "--delay", delay, "--connect-to", &connect_to];
        [fixed.as_slice(), &given].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let child = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(crawl(dir, "250ms"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let mut running = Running(child);
    // It is asked until the answer has grown twice. A page counts as soon as it is committed, so at 4 pages a second that is
    // long before the 60 are through.
    let (mut seen, mut grown) = (0, 0);
    for _ in 0..ASKED_MAX {
        let ran = argiope(&["rank", dir, "--json"]);
        let now = if ran.code == 0 { ran.json()["vertices"].as_u64().expect("a number") } else { 0 };
        grown += u32::from(now > seen);
        seen = now;
        if grown == 3 {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(running.0.try_wait().expect("a state").is_none(), "it is still running");
    assert!(grown == 3 && seen < PAGES as u64, "{grown} {seen}");
    assert!(argiope(&["search", dir, "next", "--limit", "1"]).stderr.starts_with("argiope: "));
    let told = argiope(&["derive", dir]);
    assert!(told.code == 0 && told.stdout.contains("the crawl is running"), "{told:?}");
    let before = vertices(dir);
    running.0.kill().expect("it is running");
    running.0.wait().expect("it ends");
    assert!(vertices(dir) >= before, "nothing is lost");
    for dir in [dir, other] {
        let arguments = crawl(dir, "0");
        let ran = argiope(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let whole = ranks(dir);
    assert_eq!((whole["vertices"].as_u64(), &whole), (Some(PAGES as u64 + 1), &ranks(other)));
    let sockets = std::path::Path::new(dir).read_dir().expect("a directory");
    let left = sockets.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() == "live.socket")).count();
    assert_eq!(left, 0, "the crawl has ended");
}
