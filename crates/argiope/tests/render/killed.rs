//! kill -9 and Ctrl-C in the middle of a crawl with a browser: no browser is left, and the crawl goes on.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use testweb::{Config, Pages, Reply, Server, Web};
use tokio::runtime::Runtime;

use testkit::ran::{argiope, command};

const PAGES: usize = 40;
/// Between two looks whether something has happened.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often it is looked: far longer than it takes.
const LOOKS_MAX: u32 = 600;
/// A browser that is not gone within 10 s is left behind.
const GONE_LOOKS_MAX: u32 = 100;

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
            std::thread::sleep(LOOK_EVERY);
        }
        so
    })
}

/// A crawl of an application, in the middle.
struct Begun {
    server: Server,
    root: TempDir,
    arguments: Vec<String>,
    crawl: Child,
    _runtime: Runtime,
}

impl Begun {
    fn new() -> Self {
        // Each page has its link by a script, so that nothing is found without the browser.
        let script =
            "const n = Number(location.pathname.slice(1)) + 1; document.body.innerHTML = `<a href=/${n}>next</a>`";
        let shell = "<!DOCTYPE html><body><script src=/next.js></script>";
        let pages =
            (0..PAGES).fold(Pages::new().html("/", shell), |pages, number| pages.html(format!("/{number}"), shell));
        let pages = pages.reply("/next.js", Reply::new(200).header("Content-Type", "text/javascript").body(script));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let config = Config { log_entries_max: 10_000, ..Config::new(Web::new().site("app.test", pages)) };
        let server = runtime.block_on(Server::start(config)).expect("a free port");
        let root = TempDir::new().expect("a directory");
        std::fs::create_dir(root.path().join("temporary")).expect("a directory");
        let (dir, connect_to) = (root.path().join("crawl").display().to_string(), server.connect_to());
        let what = ["crawl", "http://app.test/", "-o", &dir, "--connect-to", &connect_to, "--render", "always"];
        let how = ["--no-sitemaps", "--progress", "none", "--delay", "0", "--ip-delay", "0"];
        let arguments: Vec<String> = what.iter().chain(&how).map(|argument| (*argument).to_owned()).collect();
        let crawl = Command::new(env!("CARGO_BIN_EXE_argiope"))
            .args(&arguments)
            .env("TMPDIR", root.path().join("temporary"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let begun = Begun { server, root, arguments, crawl, _runtime: runtime };
        assert!(until(LOOKS_MAX, || begun.asked() >= PAGES / 4), "the crawl gets on");
        begun
    }

    /// Pages that were requested.
    fn asked(&self) -> usize {
        self.server.log().iter().filter(|entry| entry.target.len() <= 3 && entry.target != "/").count()
    }

    fn dir(&self) -> String {
        self.root.path().join("crawl").display().to_string()
    }

    fn temporary(&self) -> PathBuf {
        self.root.path().join("temporary")
    }
}

#[test]
fn no_browser_is_left_and_the_crawl_goes_on() {
    let mut begun = Begun::new();
    begun.crawl.kill().expect("it runs");
    begun.crawl.wait().expect("it ends");
    let mark = begun.temporary().display().to_string();
    assert!(until(GONE_LOOKS_MAX, || processes(&mark) == 0), "{} processes are left", processes(&mark));
    assert!(begun.asked() < PAGES, "it was killed in the middle");

    let left = || Vec::from_iter(begun.temporary().read_dir().expect("a directory").flatten());
    assert!(!left().is_empty(), "a process that is killed cannot remove its directory");
    // Without a browser, which makes no directory of its own.
    let unrendered = begun.arguments.iter().map(|argument| if argument == "always" { "never" } else { argument });
    let without = command().args(unrendered).args(["--max-pages", "1"]).env("TMPDIR", begun.temporary()).output();
    let without = without.expect("it starts");
    assert!(left().is_empty(), "the next run has removed it: {:?}, {without:?}", left());
    let more = ["--max-pages", "1000"];
    let again =
        command().args(&begun.arguments).args(more).env("TMPDIR", begun.temporary()).output().expect("it starts");
    assert!(again.status.success(), "{again:?}");
    assert!(left().is_empty(), "{:?}", left());
    let rows = argiope(&["export", &begun.dir(), "jsonl", "--outcome", "html"]).stdout;
    assert_eq!(rows.lines().count(), PAGES, "the page at / and those with a number; behind the last there is none");
    assert!(begun.asked() <= PAGES + 8, "little is fetched again: {} requests", begun.asked());
    assert_eq!(argiope(&["check", &begun.dir()]).code, 0);
}

/// A terminal sends Ctrl-C once; `timeout` and others send it to the process, and to its group with it.
#[test]
fn nothing_of_a_browser_is_left_after_ctrl_c() {
    for times in [1, 2] {
        let mut begun = Begun::new();
        let process = begun.crawl.id().to_string();
        let sent = Command::new("kill").arg("-INT").args(vec![process; times]).status().expect("a signal");
        assert!(sent.success(), "{sent}");
        assert_eq!(begun.crawl.wait().expect("it ends").code(), Some(3));
        let left = Vec::from_iter(begun.temporary().read_dir().expect("a directory").flatten());
        assert!(left.is_empty(), "after {times}: {left:?}");
        assert_eq!(processes(&begun.temporary().display().to_string()), 0);
    }
}
