//! kill -9 in the middle of a crawl with a browser: no browser is left, and the crawl goes on.

use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use testweb::{Config, Pages, Reply, Server, Web};

use testkit::ran::argiope;

const PAGES: usize = 40;
/// How often it is looked whether something has happened, every 20 ms: far longer than it takes.
const LOOKS_MAX: u32 = 3_000;
/// A browser that is not gone within 10 s is left behind.
const GONE_LOOKS_MAX: u32 = 500;

/// Processes that have a text in their command line.
fn processes(text: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("/proc").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

fn until(looks_max: u32, mut is_so: impl FnMut() -> bool) -> bool {
    (0..looks_max).any(|_| {
        let so = is_so();
        if !so {
            std::thread::sleep(Duration::from_millis(20));
        }
        so
    })
}

#[test]
fn no_browser_is_left_and_the_crawl_goes_on() {
    // Each page has its link by a script, so that nothing is found without the browser.
    let script = "const n = Number(location.pathname.slice(1)) + 1; document.body.innerHTML = `<a href=/${n}>next</a>`";
    let shell = "<!DOCTYPE html><body><script src=/next.js></script>";
    let pages = (0..PAGES).fold(Pages::new().html("/", shell), |pages, number| pages.html(format!("/{number}"), shell));
    let pages = pages.reply("/next.js", Reply::new(200).header("Content-Type", "text/javascript").body(script));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let config = Config { log_entries_max: 10_000, ..Config::new(Web::new().site("app.test", pages)) };
    let server = runtime.block_on(Server::start(config)).expect("a free port");
    let root = TempDir::new().expect("a directory");
    let (dir, temporary) = (root.path().join("crawl").display().to_string(), root.path().join("temporary"));
    std::fs::create_dir(&temporary).expect("a directory");
    let connect_to = server.connect_to();
    let arguments = [
        &["crawl", "http://app.test/", "-o", &dir, "--connect-to", &connect_to, "--no-sitemaps", "--progress", "none"]
            [..],
        &["--delay", "0", "--ip-delay", "0", "--render", "always"],
    ]
    .concat();
    let mut crawl = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(&arguments)
        .env("TMPDIR", &temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let asked = || server.log().iter().filter(|entry| entry.target.len() <= 3 && entry.target != "/").count();
    assert!(until(LOOKS_MAX, || asked() >= PAGES / 4), "the crawl gets on");
    crawl.kill().expect("it runs");
    crawl.wait().expect("it ends");
    let mark = temporary.display().to_string();
    assert!(until(GONE_LOOKS_MAX, || processes(&mark) == 0), "{} processes are left", processes(&mark));
    let before = asked();
    assert!(before < PAGES, "it was killed in the middle");

    let ran = argiope(&arguments);
    assert_eq!(ran.code, 0, "{ran:?}");
    let rows = argiope(&["export", &dir, "jsonl", "--outcome", "html"]).stdout;
    assert_eq!(rows.lines().count(), PAGES, "the page at / and those with a number; behind the last there is none");
    assert!(asked() <= PAGES + 8, "little is fetched again: {} requests", asked());
    assert_eq!(argiope(&["check", &dir]).code, 0);
}
