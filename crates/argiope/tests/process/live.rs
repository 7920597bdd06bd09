//! Questions to a crawl that is running.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use engine::clock::Clock;
use serde_json::{Value, json};
use testdb::Postgres;
use testkit::ui::Ui;
use testweb::synthetic::{Settings, Synthetic};
use testweb::{Pages, Reply, Request, Web, from_fn};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

const HOSTS: u64 = 20;

/// One page of each host is visited at once; the next would be due in an hour.
fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    crawl_with(served, dir, &[&["--delay", "1h", "--ip-delay", "0"], more].concat())
}

fn crawl_with(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "--no-sitemaps", "--progress", "none"]);
    command.args((0..HOSTS).map(|n| format!("http://h{n}.live.test/")));
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

fn web() -> Web {
    (0..HOSTS).fold(Web::new(), |web, n| {
        let page = format!("<title>Page {n}</title><h1>{n}</h1><p>spider silk</p><a href=/a>a</a> <a href=/b>b</a>");
        web.site(&format!("h{n}.live.test"), Pages::new().html("/", page).html("/a", "a").html("/b", "b"))
    })
}

fn ask(command: &str, dir: &Path, more: &[&str]) -> Ended {
    Running::start(Command::new(BINARY).arg(command).arg(dir).args(more)).end()
}

fn status(dir: &Path) -> Value {
    serde_json::from_str(&ask("status", dir, &["--json"]).expect_code(0).stdout).unwrap()
}

/// Waits until every host has had its visit.
fn wait_for_all(dir: &Path, running: &Running) {
    loop {
        assert!(running.age() < Duration::from_secs(120), "not all are visited");
        if dir.join("live.socket").exists() && status(dir)["outcomes"]["html"] == json!(HOSTS) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Each question with its answer, without the reasons for waiting: about all, a text, a host, and two of its pages.
fn answers(dir: &Path, text: &str, host: &str, pages: [&str; 2]) -> Vec<(String, String)> {
    let [root, other] = pages.map(|page| format!("http://{host}{page}"));
    let questions: [(&str, &[&str]); 10] = [
        ("status", &["--json"]),
        ("export", &["jsonl", "--all"]),
        ("export", &["cdxj"]),
        ("check", &["--json"]),
        ("report", &["--json"]),
        ("links", &[&root, "--json"]),
        ("search", &[text, "--json"]),
        ("explain", &[&root, "--json"]),
        ("explain", &[&other, "--json"]),
        ("explain", &[host, "--json"]),
    ];
    let answered = questions.map(|(command, more)| {
        let said = ask(command, dir, more).expect_code(0).stdout;
        let lines = said.lines().map(|line| match serde_json::from_str::<Value>(line) {
            Ok(mut answer) => {
                forget_why(&mut answer);
                if command == "status" {
                    forget_run(&mut answer);
                }
                answer.to_string()
            }
            Err(_) => line.to_owned(),
        });
        (format!("{command} {more:?}"), lines.collect::<Vec<_>>().join("\n"))
    });
    answered.into()
}

/// Forgets why something waits, which says for how long from now on, and whether a crawl is running.
fn forget_why(answer: &mut Value) {
    match answer {
        Value::Object(fields) => {
            fields.remove("why");
            fields.values_mut().for_each(forget_why);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_why),
        _ => {}
    }
}

/// Forgets of a status what only a crawl has that runs: that it does, and what it waits for.
fn forget_run(status: &mut Value) {
    let fields = status.as_object_mut().unwrap();
    for field in ["end", "waits"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
}

fn check(more: &[&str]) {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, more));
    wait_for_all(&dir, &running);
    let told = status(&dir);
    assert_eq!((&told["end"], &told["frontier"]), (&json!("running"), &json!(2 * HOSTS)));
    let asked = || answers(&dir, "spider", "h3.live.test", ["/", "/a"]);
    let live = asked();
    // What would change something is refused, and changes nothing.
    for (command, more) in [("derive", "--all"), ("adopt", "")] {
        let more = if more.is_empty() { &[][..] } else { &[more][..] };
        let refused = ask(command, &dir, more);
        assert_eq!(refused.status.code(), Some(1), "{command}: {}", refused.stdout);
        assert!(refused.stderr.contains("running") || refused.stderr.contains("in use"), "{}", refused.stderr);
    }
    assert!(ask("derive", &dir, &[]).expect_code(0).stdout.contains("the crawl is running"));
    if !more.is_empty() {
        refuse_another(&served, dirs.path(), more);
    }
    let tables = dirs.path().join("tables");
    ask("export", &dir, &["parquet", "-o", tables.to_str().unwrap()]).expect_code(0);
    running.signal("INT");
    running.end().expect_code(3);
    let ended = asked();
    for (live, ended) in live.iter().zip(&ended) {
        assert_eq!(live, ended);
    }
    assert_eq!(status(&dir)["end"], json!("pending"));
    assert!(!dir.join("live.socket").exists());
    if !more.is_empty() {
        refuse_another(&served, dirs.path(), more);
    }
}

/// Another directory cannot have the schema of a crawl, whether that runs or rests. Nothing is left of the try.
fn refuse_another(served: &Served, dirs: &Path, more: &[&str]) {
    let another = dirs.join("another");
    let refused = Running::start(&mut crawl(served, &another, more)).end().expect_code(1);
    assert!(!another.exists(), "{}", refused.stderr);
}

/// What a running crawl has written and not committed is no leftover.
fn check_beyond(more: &[&str]) {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, more));
    wait_for_all(&dir, &running);
    let archive = dir.join("archive");
    let mut segments = archive.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let segment = segments.find(|path| path.extension().is_some_and(|extension| extension == "gz")).unwrap();
    OpenOptions::new().append(true).open(&segment).unwrap().write_all(b"garbage").unwrap();
    std::fs::write(archive.join("argiope-20990101000000-00009.warc.gz"), "").unwrap();
    let said = ask("check", &dir, &[]).expect_code(0).stdout;
    for expect in [
        "the last 7 bytes are new: the crawl that runs has not committed them yet",
        "is new: the crawl that runs has not committed it yet",
    ] {
        assert!(said.contains(expect), "{said}");
    }
    assert!(!said.contains("the next crawl"), "{said}");
    assert!(running.kill());
    let said = ask("check", &dir, &[]).expect_code(0).stdout;
    assert!(said.contains("the last 7 bytes are uncommitted: the next crawl or --repair cuts them off"), "{said}");
}

#[test]
fn what_a_running_crawl_has_not_committed_is_no_leftover() {
    check_beyond(&[]);
}

#[test]
fn nor_is_it_with_the_state_in_a_database() {
    let server = Postgres::start();
    check_beyond(&["--store", &server.url()]);
}

/// The reasons for which a site waits.
fn held_by(dir: &Path, host: &str) -> Vec<Value> {
    let story: Value = serde_json::from_str(&ask("explain", dir, &[host, "--json"]).expect_code(0).stdout).unwrap();
    let why = story["sites"][0]["why"].as_array().cloned().unwrap_or_default();
    why.into_iter().filter(|why| why["kind"] == "held").map(|why| why["reason"].clone()).collect()
}

#[test]
fn explain_and_status_say_what_holds_a_crawl_up_while_it_runs_and_afterwards() {
    let fast =
        ["--delay", "0", "--ip-delay", "0", "--backoff", "1h", "--max-backoff", "1h", "--first-byte-timeout", "10m"];
    let silent = || Reply::new(200).delay(Duration::from_secs(600));
    // What h3.live.test answers to robots.txt, and to other requests; if it is not as the others.
    type Answers = (fn() -> Reply, fn() -> Reply);
    type Case<'a> = (Option<Answers>, &'a [&'a str], &'a str, Option<&'a str>);
    let cases: [Case<'_>; 8] = [
        (None, &["--delay", "1h", "--ip-delay", "0"], "delay", Some("delay")),
        (None, &["--delay", "0", "--ip-delay", "1h"], "address_delay", Some("address_delay")),
        (None, &["--paused"], "paused", Some("paused")),
        (None, &["--delay", "1h", "--hold", "h3.live.test"], "hold", Some("hold")),
        (None, &["--delay", "1h", "--ip-delay", "0", "--max-pages-per-site", "1"], "site_budget", Some("site_budget")),
        (Some((|| Reply::new(404), || Reply::new(429))), &fast, "back_off", Some("back_off")),
        // The next run would ask at once.
        (Some((silent, || Reply::new(404))), &fast, "robots", None),
        // The site itself asked for an hour. A run of which nothing else is left would end.
        (
            Some((|| Reply::new(404), || Reply::new(503).header("Retry-After", "3600"))),
            &["--delay", "1h", "--ip-delay", "0"],
            "aside",
            Some("aside"),
        ),
    ];
    for (answers, flags, reason, afterwards) in cases {
        let answering = |(robots, other): Answers| {
            from_fn(move |request: &Request| if request.path() == "/robots.txt" { robots() } else { other() })
        };
        let web = answers.into_iter().fold(web(), |web, answers| web.site("h3.live.test", answering(answers)));
        let (served, dirs) = (Served::start(web), tempfile::tempdir().unwrap());
        let dir = dirs.path().join("crawl");
        let running = Running::start(&mut crawl_with(&served, &dir, flags));
        while !dir.join("live.socket").exists() || held_by(&dir, "h3.live.test") != [reason] {
            assert!(running.age() < Duration::from_secs(120), "{flags:?}: {:?}", held_by(&dir, "h3.live.test"));
            std::thread::sleep(Duration::from_millis(50));
        }
        let wait = &status(&dir)["waits"][reason];
        assert!(wait["sites"].as_u64() >= Some(1), "{flags:?}");
        let until = &wait["until"];
        assert!(until.is_null() || until.as_str().is_some_and(|until| until.ends_with('Z')), "{flags:?}: {until}");
        let told = ask("status", &dir, &[]).expect_code(0).stdout;
        assert!(told.contains("the crawl waits for: "), "{told}");
        running.signal("INT");
        running.end();
        let afterwards: Vec<&str> = afterwards.into_iter().collect();
        assert_eq!(held_by(&dir, "h3.live.test"), afterwards, "{reason} with {flags:?}, after its end");
        assert_eq!(status(&dir)["waits"], Value::Null);
    }
}

#[test]
fn silent_connections_and_many_clients_are_no_trouble() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, &[]));
    wait_for_all(&dir, &running);
    let silent: Vec<UnixStream> = (0..50).map(|_| UnixStream::connect(dir.join("live.socket")).unwrap()).collect();
    let clients: Vec<Running> =
        (0..40).map(|_| Running::start(Command::new(BINARY).arg("status").arg(&dir).arg("--json"))).collect();
    for client in clients {
        let told: Value = serde_json::from_str(&client.end().expect_code(0).stdout).unwrap();
        assert_eq!(told["outcomes"]["html"], json!(HOSTS));
    }
    drop(silent);
    running.signal("INT");
    running.end().expect_code(3);
}

#[test]
fn a_running_crawl_answers_as_it_does_when_it_has_ended() {
    check(&[]);
}

#[test]
fn so_does_one_with_its_state_in_a_database() {
    let server = Postgres::start();
    check(&["--store", &server.url()]);
}

#[test]
fn questions_are_answered_at_once_while_the_database_is_away_and_the_log_says_when_it_is_back() {
    let mut database = Postgres::start();
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, log) = (dirs.path().join("crawl"), dirs.path().join("log"));
    let log_to = ["--store", &database.url(), "--log", log.to_str().unwrap()];
    let running = Running::start(&mut crawl(&served, &dir, &log_to));
    wait_for_all(&dir, &running);
    database.kill();
    for (command, more) in [("explain", &["h0.live.test"][..]), ("links", &["http://h0.live.test/"]), ("status", &[])] {
        let told = ask(command, &dir, more).expect_code(1).stderr;
        // It tried no minute long.
        assert!(told.contains("opening the store: database ") && !told.contains(" seconds: "), "{command}: {told}");
    }
    database.restart();
    database.wait();
    let says = |what: &str| std::fs::read_to_string(&log).unwrap().contains(what);
    assert!(says("the database cannot be reached: "));
    while !says("the database answers again, after ") {
        assert!(running.age() < Duration::from_secs(120), "its end is not noticed");
        status(&dir);
    }
    let told = ask("explain", &dir, &["h0.live.test"]).expect_code(0).stdout;
    assert!(told.contains("the site waits for its delay"), "{told}");
    running.signal("INT");
    running.end().expect_code(3);
}

#[test]
fn the_progress_and_the_metrics_of_a_crawl_in_a_database_have_its_queue() {
    let database = Postgres::start();
    let served = Served::start(web());
    let dirs = tempfile::tempdir().unwrap();
    let (dir, log) = (dirs.path().join("crawl"), dirs.path().join("log"));
    let more = ["--store", &database.url(), "--log", log.to_str().unwrap(), "--metrics", "127.0.0.1:0"];
    let running = Running::start(&mut crawl(&served, &dir, &more));
    let lines = || {
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect::<Vec<_>>()
    };
    let waiting = 2 * HOSTS;
    loop {
        assert!(running.age() < Duration::from_secs(120), "no line has the queue: {:?}", lines());
        if lines().iter().any(|line| {
            let said = line["message"].as_str().unwrap_or_default();
            let is_whole = said.contains(" on disk") && said.contains("waits for 20 sites for their delay");
            line["outlook"]["waiting"] == waiting && said.contains(&format!(" {waiting} URLs waiting")) && is_whole
        }) {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let at = lines().iter().find_map(|line| {
        let url = line["message"].as_str()?.strip_prefix("metrics at http://")?;
        Some(url.strip_suffix("/metrics")?.to_owned())
    });
    let mut stream = TcpStream::connect(at.expect("where they are")).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains(&format!("\nargiope_urls_waiting {waiting}\n")), "{answer}");
    assert!(answer.contains(&format!("\nargiope_urls_ended{{outcome=\"html\"}} {HOSTS}\n")), "{answer}");
    running.signal("INT");
    running.end().expect_code(3);
}

/// A crawl of 10,000 pages, paused in the middle: what it answers then is what its directory says of the same commit.
#[test]
fn a_crawl_of_10_000_pages_answers_as_its_directory_does_afterwards() {
    let settings = Settings { seed: 6, sites: 40, pages: 10_000, degree: 6, text_bytes_mean: 1_000 };
    let served = Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--delay", "10ms", "--ip-delay", "0"]);
    command.args(["--progress", "none"]).args(served.flags()).arg("-o").arg(&dir);
    let running = Running::start(&mut command);
    let wait_until = |holds: &dyn Fn() -> bool| {
        while !holds() {
            assert!(running.age() < Duration::from_secs(200), "it does not come to that");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_until(&|| dir.join("live.socket").exists() && status(&dir)["fetched"].as_u64() >= Some(2_000));
    ask("steer", &dir, &["pause"]).expect_code(0);
    // What was under way is committed.
    wait_until(&|| {
        let before = status(&dir);
        std::thread::sleep(Duration::from_millis(400));
        status(&dir) == before
    });
    let fetched = status(&dir)["fetched"].as_u64().unwrap();
    assert!((2_000..10_000).contains(&fetched), "{fetched}");
    let asked = || answers(&dir, "the", "s0000.synthetic.test", ["/p/0", "/p/1"]);
    let live = asked();
    running.signal("INT");
    running.end().expect_code(3);
    for (live, ended) in live.iter().zip(&asked()) {
        assert_eq!(live, ended);
    }
}

/// A crawl that is busy all the time: whatever is read of it is of one commit.
#[test]
fn what_a_busy_crawl_answers_fits_together() {
    let settings = Settings { seed: 5, sites: 40, pages: 4_000, degree: 6, text_bytes_mean: 2_000 };
    let served = Served::start(Web::new().site("*.synthetic.test", Synthetic::new(settings).unwrap()));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let mut command = Command::new(BINARY);
    command.args(["crawl", "http://s0000.synthetic.test/p/0", "--scope", "any", "--delay", "50ms", "--ip-delay", "0"]);
    command.args(["--progress", "none"]).args(served.flags()).arg("-o").arg(&dir);
    let running = Running::start(&mut command);
    let mut asked = 0;
    let mut pages_before = 0;
    while asked < 5 {
        assert!(running.age() < Duration::from_secs(120), "it was asked {asked} times");
        if !dir.join("live.socket").exists() {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        }
        let rows = ask("export", &dir, &["jsonl", "--all"]).expect_code(0).stdout;
        let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let pages = rows.iter().filter(|row| row["outcome"] == json!("html")).count();
        assert!(pages >= pages_before, "{pages} pages after {pages_before}");
        let checked: Value = serde_json::from_str(&ask("check", &dir, &["--json"]).expect_code(0).stdout).unwrap();
        assert_eq!(checked["ok"], json!(true), "{checked}");
        (asked, pages_before) = (asked + 1, pages);
    }
    assert!(pages_before > 0 && pages_before < 4_000, "{pages_before} pages: it was not busy");
    running.signal("INT");
    running.end().expect_code(3);
}

#[test]
fn the_interface_ends_though_a_crawl_that_is_stopped_has_not_answered() {
    /// Less than a stopped crawl is waited for.
    const ENDS_WITHIN: Duration = Duration::from_secs(5);
    let (served, root) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = root.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, &[]));
    wait_for_all(&dir, &running);
    let ui = Ui::start(&dir);
    running.signal("STOP");
    let mut asking = TcpStream::connect(&ui.address).unwrap();
    write!(asking, "GET /sites HTTP/1.1\r\nHost: {}\r\n\r\n", ui.address).unwrap();
    // It waits for the crawl by then.
    std::thread::sleep(Duration::from_millis(500));
    let clock = Clock::start();
    let before = clock.now();
    assert_eq!(ui.interrupt(), Some(0));
    let took = clock.now().since(before);
    assert!(took < ENDS_WITHIN, "{took:?}");
    running.signal("CONT");
}

#[test]
fn a_crawl_that_is_stopped_keeps_nobody_waiting_and_is_named() {
    let (served, root) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = root.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, &[]));
    wait_for_all(&dir, &running);
    running.signal("STOP");
    let questions: [(&str, &[&str]); 4] =
        [("status", &[]), ("explain", &["http://h1.live.test/"]), ("steer", &["pause"]), ("search", &["silk"])];
    let asked = questions.map(|(command, more)| {
        let mut asked = Command::new(BINARY);
        asked.arg(command).arg(&dir).args(more);
        Running::start(&mut asked)
    });
    for (asked, question) in asked.into_iter().zip(questions) {
        let Ended { stderr, .. } = asked.end().expect_code(1);
        for expect in ["`argiope crawl`, process ", "crawls there and is stopped: `kill -CONT "] {
            assert!(stderr.contains(expect), "{question:?}: {stderr}");
        }
    }
    // A process that goes on meanwhile answers.
    let mut asked = Command::new(BINARY);
    let asked = Running::start(asked.arg("status").arg(&dir));
    running.signal("CONT");
    asked.end().expect_code(0);
    let changes = std::fs::read_to_string(dir.join("changes.jsonl")).unwrap_or_default();
    assert_eq!(changes, "", "what was not confirmed was not made");
}
