//! A crawl in the browser, asked over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testweb::{Reply, Web, from_fn};

use crate::binary::{self, BINARY, Running};
use crate::served::Served;

/// What no page may turn into markup.
const HOSTILE: &str = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// The interface to a directory, until it is dropped.
struct Ui {
    process: Child,
    address: String,
}

/// An answer.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Ui {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(BINARY);
        command.arg("ui").arg(dir).args(["--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("http://").unwrap().1.split_whitespace().next().unwrap().to_owned();
        Ui { process, address }
    }

    fn ask(&self, head: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { without_chunks(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address), "")
    }

    /// The body of a page that must be there.
    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    fn post(&self, more: &str, body: &str) -> Answer {
        self.ask(&format!("POST /steer HTTP/1.1\r\nHost: {}{more}", self.address), body)
    }

    fn own(&self) -> String {
        format!("\r\nOrigin: http://{}\r\nSec-Fetch-Site: same-origin", self.address)
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn without_chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        whole.push_str(&rest[..length]);
        body = &rest[length + 2..];
    }
    whole
}

/// A site whose start page has a hostile title, with pages below `/a/` and `/b/`.
fn web() -> Web {
    let page = |request: &testweb::Request| match request.path() {
        "/" => Reply::html(format!(
            "<title>{}</title><p>A spider writes.<a href=/a/1>first</a><a href='/b/2?q=%3Cb%3E'>second</a><a href=/gone>third</a>",
            HOSTILE.replace('<', "&lt;")
        )),
        "/gone" => Reply::new(404),
        path => Reply::html(format!("<title>{path}</title><p>{HOSTILE} page")),
    };
    Web::new().site("ui.test", from_fn(page))
}

fn crawled(served: &Served, dir: &Path) {
    let dir = dir.to_str().unwrap();
    let mut arguments = vec!["crawl", "http://ui.test/", "-o", dir, "--delay", "0", "--ip-delay", "0", "--no-sitemaps"];
    let flags = served.flags();
    arguments.extend(flags.iter().map(String::as_str));
    binary::run(&arguments).expect_code(0);
}

#[test]
fn a_crawl_that_has_ended_is_shown_and_nothing_becomes_markup() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let overview = ui.page("/");
    for expect in ["Finished: every URL found has its outcome.", "/urls?state=http_error", "http://ui.test/"] {
        assert!(overview.contains(expect), "{expect}: {overview}");
    }
    let sites = ui.page("/sites");
    assert!(sites.contains(">http://ui.test</a>") && sites.contains("active"), "{sites}");
    let urls = ui.page("/urls");
    assert_eq!(urls.matches("class=\"url\"").count(), 4, "{urls}");
    let chosen = ui.page("/urls?site=ui.test&state=http_error&match=*");
    assert!(chosen.contains("http://ui.test/gone") && chosen.matches("class=\"url\"").count() == 1, "{chosen}");
    let story = ui.page("/url?u=http%3A%2F%2Fui.test%2Fgone");
    for expect in ["http_error", "404", "&quot;third&quot; on ", "Links to the page <span class=\"count\">1</span>"] {
        assert!(story.contains(expect), "{expect}: {story}");
    }
    let host = ui.page("/url?u=ui.test");
    assert!(host.contains("robots.txt"), "{host}");
    let found = ui.page("/search?q=spider+WRITES&case=any");
    assert!(found.contains("1 page, 1 occurrence") && found.contains("http://ui.test/</a>"), "{found}");
    for page in [&overview, &sites, &urls, &story, &found, &ui.page("/search?q=alert"), &ui.page("/url?u=%3Cscript%3E")]
    {
        assert!(!page.contains("<script>") && !page.contains("<img"), "{page}");
    }
    let report = ui.get("/report");
    assert!(report.status == 200 && report.head.contains("default-src 'none'"), "{}", report.head);
}

#[test]
fn the_table_is_a_file_too() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    let lines = ui.page("/urls.jsonl?state=html");
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let start = lines.iter().find(|line| line["url"] == "http://ui.test/").unwrap();
    assert_eq!((&start["title"], &start["status"], &start["depth"]), (&HOSTILE.into(), &200.into(), &0.into()));
    let csv = ui.page("/urls.csv");
    let rows: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert!(rows.len() == 5 && rows[0].starts_with("url,state,status"), "{csv}");
    assert!(csv.contains("http://ui.test/gone,http_error,404,"), "{csv}");
}

#[test]
fn what_cannot_be_shown_is_named() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    for (path, status, why) in [
        ("/nothing", 404, "there is no such page"),
        ("/urls?state=fine", 400, "`fine` is no state of a URL; possible are waiting, html"),
        ("/urls.csv?site=a%2Fb", 400, "is no site"),
    ] {
        let answer = ui.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(why) && answer.head.contains("frame-ancestors 'none'"), "{path}: {}", answer.body);
    }
    let asked = |head: &str| ui.ask(&format!("GET /report HTTP/1.1\r\nHost: {}{head}", ui.address), "").status;
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image"), 403);
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe"), 403);
    assert_eq!(asked("\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"), 200);
    let refused = ui.ask("GET / HTTP/1.1\r\nHost: evil.test", "");
    assert_eq!(refused.status, 409, "{}", refused.body);
    let error = binary::run(&["ui", dir.to_str().unwrap(), "--listen", "0.0.0.0:0"]).expect_code(2).stderr;
    assert!(error.contains("--listen 0.0.0.0:0: other machines could steer the crawl"), "{error}");
    let error = binary::run(&["ui", dirs.path().to_str().unwrap()]).expect_code(1).stderr;
    assert!(error.contains("no crawl"), "{error}");
}

/// A site without end, slowly.
fn endless() -> Web {
    let page = |request: &testweb::Request| {
        let n: u64 = request.path().rsplit('/').next().unwrap_or_default().parse().unwrap_or(0);
        Reply::html(format!("<title>{n}</title><a href=/odd/{}>o</a><a href=/even/{}>e</a>", n + 1, n + 1))
    };
    Web::new().site("ui.test", from_fn(page))
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it does not come to this: {what}");
}

#[test]
fn a_running_crawl_is_watched_and_steered_by_its_own_pages_alone() {
    let (served, dirs) = (Served::start(endless()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://ui.test/even/0", "--delay", "10ms", "--ip-delay", "0", "--progress", "none"]);
    let crawl = Running::start(command.args(served.flags()).arg("-o").arg(&dir));
    until("pages were fetched", || served.requests() > 10);
    let ui = Ui::start(&dir);
    assert!(ui.page("/").contains("A crawl is running."));

    // Events, as a browser reads them.
    let mut stream = TcpStream::connect(&ui.address).unwrap();
    write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", ui.address).unwrap();
    let mut events = BufReader::new(stream).lines();
    let running = |line: &str| line.starts_with("data: [{") && line.contains("\"running\":true");
    assert!(events.by_ref().map(Result::unwrap).filter(|line| running(line)).nth(1).is_some());
    drop(events);

    // A foreign page changes nothing.
    let exclude = "what=exclude&to=*%2Fodd%2F*";
    for foreign in [
        "\r\nOrigin: http://evil.test",
        "\r\nOrigin: null",
        "\r\nOrigin: null\r\nSec-Fetch-Site: cross-site",
        "\r\nSec-Fetch-Site: cross-site",
        "\r\nOrigin: http://127.0.0.1:1\r\nSec-Fetch-Site: same-site",
    ] {
        assert_eq!(ui.post(foreign, &format!("{exclude}&sure=yes")).status, 403, "{foreign}");
    }
    // Its own pages show the effect first.
    let effect = ui.post(&ui.own(), exclude);
    assert!(effect.status == 200 && effect.body.contains("it would concern "), "{}", effect.body);
    assert!(!ui.page("/steer").contains("<ol class=\"journal\" reversed><li>"));
    let made = ui.post(&ui.own(), &format!("{exclude}&sure=yes"));
    assert_eq!(made.status, 303, "{}", made.body);
    assert!(ui.page("/steer").contains("exclude */odd/*"));
    let is_odd = || served.log().iter().filter(|entry| entry.target.starts_with("/odd/")).count();
    let (before, all) = (is_odd(), served.requests());
    until("other pages follow", || served.requests() > all + 20);
    // One request may have been under way.
    assert!(is_odd() <= before + 1, "{before} {}", is_odd());

    // As a browser sends it that keeps the origin to itself.
    let private = "\r\nOrigin: null\r\nSec-Fetch-Site: same-origin";
    let unknown = ui.post(private, "what=hold&to=ui.tset");
    assert!(unknown.body.contains("no such site in the crawl: ui.tset; nearest: ui.test"), "{}", unknown.body);
    let file = ui.post(private, "what=set&to=exclude-file%3D%22%2Fetc%2Fpasswd%22");
    assert!(file.status == 400 && file.body.contains("files are for") && !file.body.contains("root:"), "{}", file.body);
    let typo = ui.post(private, "what=set&to=max-pages");
    assert!(typo.status == 400 && !typo.body.contains("1 |"), "{}", typo.body);
    let refused = ui.post(&ui.own(), "what=hold&to=a.test%2Fx&sure=yes");
    assert!(refused.status == 400 && refused.body.contains("is no site"), "{}", refused.body);
    assert_eq!(ui.post(&ui.own(), "what=pause&sure=yes").status, 303);
    assert!(ui.page("/").contains("<strong>Paused.</strong>"));
    let stopped = ui.post(&ui.own(), "what=stop&sure=yes");
    assert_eq!(stopped.status, 200, "{}", stopped.body);
    crawl.end().expect_code(3);
    assert!(ui.page("/").contains("Not running, and work is left."));
}
