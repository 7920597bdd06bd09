//! A crawl that runs for as long as a test lets it: each page of its site links to the next.

use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tempfile::TempDir;
use testweb::{Config, Reply, Request, Server, Web, from_fn};

use crate::ran::command;

/// How often it is checked whether the crawl can be asked.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How often it is checked, at most: two minutes, for a busy machine.
const LOOKS_MAX: u32 = 24_000;
/// The time between two visits of the site.
const DELAY: &str = "50ms";

/// A running crawl. It ends with the value, whatever happens.
pub struct Endless {
    root: TempDir,
    process: Child,
    is_complete: Arc<AtomicBool>,
    server: Server,
    _runtime: tokio::runtime::Runtime,
}

impl Endless {
    /// Begins a crawl, and waits until it can be asked.
    pub fn start() -> Self {
        let is_complete = Arc::new(AtomicBool::new(false));
        let has_no_more = is_complete.clone();
        let page = move |request: &Request| {
            let n: u64 = request.path().trim_start_matches('/').parse().unwrap_or(0);
            match (request.path(), has_no_more.load(Ordering::SeqCst)) {
                ("/robots.txt", _) => Reply::new(404),
                (_, true) => Reply::html(format!("<title>{n}</title>the last page")),
                (_, false) => Reply::html(format!("<title>{n}</title><a href=/{}>next</a>", n + 1)),
            }
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let web = Web::new().site("endless.test", from_fn(page));
        let server = runtime.block_on(Server::start(Config::new(web))).expect("a free port");
        let root = TempDir::new().expect("a directory");
        let process = command()
            .args(["crawl", "http://endless.test/", "--no-sitemaps", "--progress", "none"])
            .args(["--delay", DELAY, "--ip-delay", "0", "--connect-to", &server.connect_to(), "-o"])
            .arg(root.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut endless = Endless { root, process, is_complete, server, _runtime: runtime };
        endless.wait_until_it_answers();
        endless
    }

    fn wait_until_it_answers(&mut self) {
        for _ in 0..LOOKS_MAX {
            if self.dir().join("live.socket").exists() {
                return;
            }
            let ended = self.process.try_wait().expect("a process");
            assert!(ended.is_none(), "{ended:?}");
            std::thread::sleep(LOOK_EVERY);
        }
        panic!("the crawl cannot be asked");
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        self.root.path()
    }

    /// How many requests its web got so far.
    pub fn requests(&self) -> u64 {
        self.server.requests()
    }

    /// Lets the site have no more links, and waits until the crawl has visited all of it.
    pub fn end(&mut self) {
        self.is_complete.store(true, Ordering::SeqCst);
        let ended = self.process.wait().expect("a process");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
