//! The changes of rounds as they end: printed, posted to a URL, and as a page.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use ask::follow::{self, Followed};
use crawl::CrawlDir;
use serde_json::Value;
use store::StoreError;
use testweb::{Reply, Request, Web};
use webhook::Secret;

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

const SECRET: &str = "a-secret-of-the-test";

/// A site with pages that a test changes.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<BTreeMap<String, String>>>);

impl Pages {
    fn set(&self, path: &str, html: &str) {
        self.0.lock().unwrap().insert(path.to_owned(), html.to_owned());
    }

    fn served(&self) -> Served {
        let pages = self.clone();
        let reply = move |request: &Request| {
            let pages = pages.0.lock().unwrap();
            pages.get(request.path()).map_or_else(|| Reply::new(404), |html| Reply::html(html.clone()))
        };
        Served::start(Web::new().site("one.test", testweb::from_fn(reply)))
    }
}

/// A server that takes posts, and accepts them or not. It ends when it is dropped.
struct Receiver {
    listener: TcpListener,
    taken: Arc<Taken>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Taken {
    /// Signature and body of each post.
    posts: Mutex<Vec<(Option<String>, String)>>,
    accepts: AtomicBool,
    ends: AtomicBool,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = Arc::new(Taken::default());
        let (of_thread, takes) = (listener.try_clone().unwrap(), taken.clone());
        let thread = std::thread::spawn(move || {
            for stream in of_thread.incoming() {
                if takes.ends.load(SeqCst) {
                    return;
                }
                takes.take(stream.unwrap());
            }
        });
        Receiver { listener, taken, thread: Some(thread) }
    }

    fn url(&self) -> String {
        format!("http://{}/hook?token=of-the-url", self.listener.local_addr().unwrap())
    }

    fn accept(&self, accepts: bool) {
        self.taken.accepts.store(accepts, SeqCst);
    }

    /// The posts so far, once there are as many.
    fn posts(&self, at_least: usize) -> Vec<(Option<String>, String)> {
        wait_until(|| self.taken.posts.lock().unwrap().len() >= at_least);
        self.taken.posts.lock().unwrap().clone()
    }
}

impl Taken {
    fn take(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        let (mut length, mut signature) = (0, None);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                if line.trim_end().is_empty() { break } else { continue }
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "argiope-signature" => signature = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let status = if self.accepts.load(SeqCst) { "204 No Content" } else { "503 Service Unavailable" };
        self.posts.lock().unwrap().push((signature, String::from_utf8(body).unwrap()));
        // The process may have been killed meanwhile.
        let _ = write!(reader.into_inner(), "HTTP/1.1 {status}\r\nConnection: close\r\n\r\n");
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.taken.ends.store(true, SeqCst);
        // Wakes the thread up.
        drop(TcpStream::connect(self.listener.local_addr().unwrap()));
        self.thread.take().map(JoinHandle::join);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it did not come to that");
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Ended {
    let mut command = Command::new(BINARY);
    command.arg("crawl").args(more).arg("-o").arg(dir).args(["--delay", "0s", "--no-sitemaps"]).args(served.flags());
    Running::start(&mut command).end().expect_code(0)
}

fn changes(dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.arg("changes").arg(dir).args(more).env("ARGIOPE_WEBHOOK_SECRET", SECRET);
    command
}

/// A crawl of four pages.
fn crawled(pages: &Pages, dir: &Path) -> Served {
    pages.set("/", "<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a>");
    ["/1", "/2", "/3"].into_iter().for_each(|path| pages.set(path, &format!("<title>{path}</title><p>First {path}.")));
    let served = pages.served();
    crawl(&served, dir, &["http://one.test/"]);
    served
}

#[test]
fn a_follower_prints_each_round_when_it_has_ended() {
    let (pages, dirs) = (Pages::default(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let served = crawled(&pages, &dir);
    let printed = dirs.path().join("printed");
    let script = format!("exec {BINARY} changes {} --follow --json > {}", dir.display(), printed.display());
    let follower = Running::start(Command::new("sh").args(["-c", &script]));
    for (n, path) in (1..).zip(["/1", "/2", "/3"]) {
        pages.set(path, "<p>Second.");
        crawl(&served, &dir, &["--again"]);
        let lines = || -> Vec<Value> {
            let text = std::fs::read_to_string(&printed).unwrap_or_default();
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        };
        wait_until(|| lines().len() >= n);
        let lines = lines();
        let last = lines.last().unwrap();
        assert_eq!((lines.len(), &last["change"]), (n, &"changed".into()), "{lines:?}");
        assert_eq!(last["url"], format!("http://one.test{path}"));
    }
    assert!(follower.kill());

    let page = Running::start(&mut changes(&dir, &["--html"])).end().expect_code(0).stdout;
    for expect in ["<h2>changed: http://one.test/3</h2>", "<ins>Second.</ins>", "<del>First /3.</del>"] {
        assert!(page.contains(expect), "{expect} in {page}");
    }
}

#[test]
fn changes_are_posted_at_least_once_signed_and_over_kills() {
    let (pages, dirs, receiver) = (Pages::default(), tempfile::tempdir().unwrap(), Receiver::start());
    let dir = dirs.path().join("crawl");
    let served = crawled(&pages, &dir);
    let url = receiver.url();
    let post = || Running::start(&mut changes(&dir, &["--webhook", &url])).end();
    post().expect_code(0);
    assert_eq!(receiver.posts(0), [], "no round has ended but the first");

    // Refused, and the process is killed: the same is posted again, by a process that does not follow.
    pages.set("/1", "<p>Second.");
    crawl(&served, &dir, &["--again"]);
    let follower = Running::start(&mut changes(&dir, &["--follow", "--webhook", &url]));
    receiver.posts(2);
    let second = post().expect_code(1);
    assert!(second.stderr.contains("another process posts the changes"), "{}", second.stderr);
    assert!(follower.kill());
    receiver.accept(true);
    post().expect_code(0);
    let posts = receiver.posts(3);
    assert!(posts.iter().all(|post| *post == posts[0]), "{posts:?}");
    let (signature, body) = posts.last().unwrap();
    assert_eq!(signature.as_ref(), Some(&Secret::new(SECRET).unwrap().sign(body.as_bytes())));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!((&body["round"], body["changes"].as_array().map(Vec::len)), (&2.into(), Some(1)), "{body}");
    assert_eq!(body["changes"][0]["url"], "http://one.test/1");
    assert!(body["crawl"].is_string() && body["changes"][0]["id"].is_string(), "{body}");

    // What was accepted is not posted again. Each later round is, also if several have ended meanwhile.
    post().expect_code(0);
    assert_eq!(receiver.posts(0).len(), posts.len());
    for path in ["/2", "/3"] {
        pages.set(path, "<p>Second.");
        crawl(&served, &dir, &["--again"]);
    }
    let ended = post().expect_code(0);
    assert!(ended.stderr.contains("round 3: 1 change posted"), "{}", ended.stderr);
    let rounds: Vec<Value> = receiver.posts(0)[posts.len()..]
        .iter()
        .map(|(_, body)| serde_json::from_str::<Value>(body).unwrap()["round"].clone())
        .collect();
    assert_eq!(rounds, [3, 4]);

    // Neither the secret nor the URL is written down.
    for file in std::fs::read_dir(dir.join("webhooks")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(SECRET) && !text.contains("of-the-url"), "{text}");
    }
    for (arguments, expect) in [
        (["--webhook", "ftp://a.test/"], "--webhook: the URL of the webhook is wrong: its scheme is ftp"),
        (["--webhook-secret", "none"], "--webhook <URL>"),
        (["--follow", "--html"], "cannot be used with"),
    ] {
        let refused = Running::start(&mut changes(&dir, &arguments)).end().expect_code(2);
        assert!(refused.stderr.contains(expect), "{arguments:?}: {}", refused.stderr);
    }
}

/// One run ended while it was asked, and another one is just beginning: neither ends a follower.
#[test]
fn a_follower_outlasts_the_runs_that_it_asks() {
    let (pages, dirs) = (Pages::default(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let served = crawled(&pages, &dir);
    pages.set("/1", "<p>Second.");
    crawl(&served, &dir, &["--again"]);

    let follower = {
        let crawl = CrawlDir::existing(&dir).unwrap();
        // A process that cannot be asked, for longer than one that begins or ends.
        let _held = crawl.open_store(&crawl.options().unwrap()).unwrap();
        let script = format!("exec {BINARY} changes {0} --follow --json > {0}.out 2> {0}.err", dir.display());
        let follower = Running::start(Command::new("sh").args(["-c", &script]));
        std::thread::sleep(Duration::from_secs(4));
        follower
    };
    let out = dirs.path().join("crawl.out");
    wait_until(|| std::fs::read_to_string(&out).unwrap().contains("http://one.test/1"));
    assert!(follower.kill());
    assert_eq!(std::fs::read_to_string(dirs.path().join("crawl.err")).unwrap(), "");

    // A receiver that comes between.
    struct Fails(Vec<anyhow::Error>);
    impl follow::Receiver for Fails {
        fn next(&self) -> Option<u32> {
            None
        }
        fn take(&mut self, round: &follow::Round<'_>) -> anyhow::Result<()> {
            assert_eq!(round.number, 2);
            Err(self.0.pop().unwrap())
        }
        fn deliver(&mut self) -> anyhow::Result<()> {
            Ok(())
        }
    }
    let ended = || StoreError::Ended { detail: String::new() }.into();
    let mut fails = Fails(vec![anyhow::anyhow!("no passing trouble"), ended()]);
    let mut followed = Followed { sites: Vec::new(), with_pages: false, forever: true };
    let error = follow::follow(&dir, &followed, &mut fails).unwrap_err();
    assert_eq!((error.to_string(), fails.0.len()), ("no passing trouble".to_owned(), 0));
    // What does not go on for ever asks once more.
    followed.forever = false;
    for (last, told) in [(ended(), "it has ended meanwhile"), (anyhow::anyhow!("another error"), "another error")] {
        let mut fails = Fails(vec![last, ended()]);
        let error = follow::follow(&dir, &followed, &mut fails).unwrap_err();
        assert!(error.to_string().contains(told) && fails.0.is_empty(), "{error}");
    }
}
