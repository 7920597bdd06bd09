//! `argiope ui` beside a crawl that runs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crawl::{Changed, CrawlDir};
use testkit::ui::Ui;
use testweb::{Reply, Web, from_fn};

use crate::binary::{self, BINARY, Running};
use crate::served::Served;
use crate::ui::{LONG_URLS, crawled, until, web, with_long_urls};

/// A site without end, slowly.
fn endless() -> Web {
    let page = |request: &testweb::Request| {
        let n: u64 = request.path().rsplit('/').next().unwrap_or_default().parse().unwrap_or(0);
        Reply::html(format!("<title>{n}</title><a href=/odd/{}>o</a><a href=/even/{}>e</a>", n + 1, n + 1))
    };
    Web::new().site("ui.test", from_fn(page))
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
    let overview = ui.page("/");
    assert!(overview.contains("A crawl is running."), "{overview}");
    // The queue of such a site is as long as it is: the forecast is there, and what the process has.
    let needs = overview.split_once("<h2>Disk and memory</h2>").unwrap().1.split_once("</section>").unwrap().0;
    assert!(needs.contains("in the queue will add about ") && needs.contains(" of memory."), "{needs}");
    let latest = || {
        let overview = ui.page("/");
        let (_, latest) = overview.split_once("<h2>Latest pages</h2>").unwrap();
        latest.split_once("</section>").unwrap().0.to_owned()
    };
    let before = latest();
    assert!(before.contains("<td>html</td>") && before.contains(">http://ui.test/"), "{before}");
    until("other pages are the latest", || latest() != before);
    assert!(latest().matches("class=\"url\"").count() <= 20, "{}", latest());

    // Events, as a browser asks for them.
    let mut last = None;
    until("samples of the crawl follow each other", || {
        let news = ui.samples(last);
        let is_later = |at: u64| last.is_none_or(|last| at > last);
        assert!(news.iter().all(|sample| sample["running"] == true && is_later(sample["at"].as_u64().unwrap())));
        let is_second = last.is_some() && !news.is_empty();
        last = news.last().map(|sample| sample["at"].as_u64().unwrap()).or(last);
        is_second
    });

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
    // Its own pages show the effect first. It has a page of its own, also after somebody else has looked at another change.
    let [effect, other] = [exclude, "what=exclude&to=*%2Feven%2F*"].map(|form| ui.posted("/steer", form));
    let (counted, of_other) = (ui.page(&effect), ui.page(&other));
    assert!(counted.contains("exclude */odd/*") && counted.contains("it would concern "), "{counted}");
    assert!(counted.contains("As of <time"), "{counted}");
    assert!(of_other.contains("exclude */even/*") && !of_other.contains("*/odd/*"), "{of_other}");
    assert_eq!(ui.get("/steer/answer?number=1").status, 404);
    // The number tells it from the answers of every other process.
    let later = Ui::start(&dir);
    let again = later.posted("/steer", exclude);
    assert!(again != effect && later.get(&effect).status == 404, "{effect} {again}");
    drop(later);
    assert!(!ui.page("/steer").contains("<ol class=\"journal\" reversed><li>"));
    let made = ui.post(&ui.own(), &format!("{exclude}&sure=yes"));
    assert_eq!(made.status, 303, "{}", made.body);
    let journal = ui.page("/steer");
    assert!(
        journal.contains("exclude */odd/*") && journal.contains("aria-label=\"Undo: exclude */odd/*\""),
        "{journal}"
    );
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
    let seed = ui.post(&ui.own(), "what=seeds&to=no+url");
    assert!(
        seed.status == 400 && seed.body.contains("no url"),
        "the preview refuses what would be refused: {}",
        seed.body
    );
    let refused = ui.post(&ui.own(), "what=hold&to=a.test%2Fx&sure=yes");
    assert!(refused.status == 400 && refused.body.contains("is no site"), "{}", refused.body);
    assert_eq!(ui.post(&ui.own(), "what=pause&sure=yes").status, 303);
    assert!(ui.page("/").contains("<strong>Paused.</strong>"));
    let stopped = ui.post(&ui.own(), "what=stop&sure=yes");
    assert_eq!(stopped.status, 200, "{}", stopped.body);
    crawl.end().expect_code(3);
    assert!(ui.page("/").contains("Not running, and work is left."));
}

#[test]
fn a_change_in_the_last_moment_of_a_run_is_made_of_the_crawl_that_rests() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    // A short run, again and again, so that changes meet its end at different moments.
    for round in 0..5 {
        let mut command = Command::new(BINARY);
        command.args(["crawl", "--retry", "http_error", "--progress", "none", "-o"]).arg(&dir);
        let mut crawl = Running::start(command.args(served.flags()));
        // On a busy machine the whole run may pass between two looks.
        until("the crawl can be asked", || dir.join("live.socket").exists() || crawl.has_ended());
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| crawl.end());
            loop {
                let made = ui.post(&ui.own(), &format!("what=exclude&to=*%2Fno{round}%2F*&sure=yes"));
                assert!(matches!(made.status, 200 | 303), "{} {}", made.status, made.body);
                let overview = ui.get("/");
                assert_eq!(overview.status, 200, "{}", overview.body);
                if ending.is_finished() {
                    break;
                }
            }
            ending.join().unwrap().expect_code(0);
        });
        assert!(ui.page("/steer").contains(&format!("exclude */no{round}/*")));
    }
}

/// Sends a retry to the interface while somebody holds the state, so that it stays under way, and then what Ctrl-C sends.
fn interrupted_in_a_retry(dir: &Path) -> (Ui, TcpStream) {
    let mut ui = Ui::start(dir);
    let mut change = TcpStream::connect(&ui.address).unwrap();
    let form = "what=retry&to=http_error&sure=yes";
    let (address, own, length) = (&ui.address, ui.own(), form.len());
    write!(change, "POST /steer HTTP/1.1\r\nHost: {address}{own}\r\nContent-Length: {length}\r\n\r\n{form}").unwrap();
    for _ in 0..10 {
        // It has come to the change by then.
        std::thread::sleep(Duration::from_millis(100));
        ui.page("/ui.css");
    }
    ui.press_ctrl_c();
    let said = ui.said();
    assert!(said.contains("a change of the crawl is under way"), "{said}");
    (ui, change)
}

#[test]
fn ctrl_c_cuts_no_change_half_made() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let held = CrawlDir::existing(&dir).unwrap();
    let open = || held.open_store(&held.options().unwrap()).unwrap();
    let made = || Changed::all_of(&held).unwrap().iter().map(|changed| changed.change.to_string()).collect::<Vec<_>>();

    let state = open();
    let (mut ui, mut change) = interrupted_in_a_retry(&dir);
    // Longer than answers may take that nobody waits for.
    std::thread::sleep(Duration::from_secs(3));
    drop(state);
    assert_eq!(ui.end(), Some(0));
    let mut answer = String::new();
    change.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    assert_eq!(made(), ["retry http_error"]);
    let state = open();
    let totals = state.totals().unwrap();
    assert_eq!((totals.round.number, totals.round.is_choosing, totals.again), (2, false, 1));

    // Who does not want to wait ends it.
    let (mut ui, _change) = interrupted_in_a_retry(&dir);
    ui.press_ctrl_c();
    assert_eq!(ui.end(), Some(0));
    drop(state);
    assert_eq!(made(), ["retry http_error"]);
}

#[test]
fn a_file_is_whole_though_the_run_ends_before_it_is_read() {
    let (served, dirs) = (Served::start(with_long_urls()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.args([
        "crawl",
        "http://ui.test/",
        "--delay",
        "20ms",
        "--ip-delay",
        "0",
        "--no-sitemaps",
        "--progress",
        "none",
    ]);
    let crawl = Running::start(command.args(served.flags()).arg("-o").arg(&dir));
    until("the crawl can be asked", || dir.join("live.socket").exists());
    let ui = Ui::start(&dir);
    let known = format!("<dd data-live=\"urls\">{LONG_URLS}</dd>");
    until("all URLs are known", || ui.page("/").contains(&known));
    let mut reader = TcpStream::connect(&ui.address).unwrap();
    write!(reader, "GET /urls.csv HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", ui.address).unwrap();
    let mut status = [0; 12];
    reader.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    assert_eq!(ui.post(&ui.own(), "what=stop&sure=yes").status, 200);
    crawl.end().expect_code(3);
    let mut file = Vec::new();
    reader.read_to_end(&mut file).unwrap();
    assert!(file.ends_with(b"\r\n0\r\n\r\n"), "it was broken off after {} bytes", file.len());
    assert_eq!(String::from_utf8(file).unwrap().matches("http://ui.test/").count(), LONG_URLS);
}

/// A process that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_crawl_shows_itself_while_it_runs() {
    let (served, dirs) = (Served::start(endless()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.args([
        "crawl",
        "http://ui.test/",
        "--delay",
        "20ms",
        "--ip-delay",
        "0",
        "--no-sitemaps",
        "--progress",
        "none",
    ]);
    command.args(["--ui=127.0.0.1:0", "-o"]).arg(&dir).args(served.flags()).stderr(Stdio::piped());
    let mut crawl = Killed(command.spawn().unwrap());
    let said = BufReader::new(crawl.0.stderr.take().unwrap());
    let line = said.lines().map(Result::unwrap).find(|line| line.contains("http://127.0.0.1:")).unwrap();
    let address = line.split_once("http://").unwrap().1.split(' ').next().unwrap().to_owned();
    let asked = |path: &str, method: &str, body: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let length = body.len();
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}");
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    until("the crawl is shown", || asked("/", "GET", "").contains("A crawl is running."));
    assert!(asked("/steer", "POST", "what=stop&sure=yes").starts_with("HTTP/1.1 303"));
    assert_eq!(crawl.0.wait().unwrap().code(), Some(3));
    assert!(TcpStream::connect(&address).is_err(), "it ends with the crawl");
    let elsewhere = binary::run(&["crawl", "--ui=0.0.0.0:0", "-o", dir.to_str().unwrap()]).expect_code(2).stderr;
    assert!(elsewhere.contains("--ui 0.0.0.0:0: other machines could steer the crawl"), "{elsewhere}");
}

#[test]
fn a_crawl_goes_on_while_somebody_looks_at_it() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let ui = Ui::start(&dir);
    for _ in 0..5 {
        // It keeps the state open from here on.
        assert!(ui.page("/").contains("Finished"));
        let mut command = Command::new(BINARY);
        command.args(["crawl", "--retry", "http_error", "--progress", "none", "-o"]).arg(&dir);
        let crawl = Running::start(command.args(served.flags()));
        std::thread::scope(|scope| {
            let ending = scope.spawn(|| crawl.end());
            while !ending.is_finished() {
                let urls = ui.get("/urls");
                assert_eq!(urls.status, 200, "{}", urls.body);
            }
            // Who looks does not keep the crawl from beginning.
            ending.join().unwrap().expect_code(0);
        });
    }
    let told = binary::run(&["explain", dir.to_str().unwrap(), "http://ui.test/gone"]).expect_code(0).stdout;
    let fetched = told.lines().find(|line| line.starts_with("fetched")).unwrap();
    let shown = ui.page("/url?u=http%3A%2F%2Fui.test%2Fgone");
    assert!(shown.contains(fetched), "it shows the last commit, {fetched}: {shown}");
}
