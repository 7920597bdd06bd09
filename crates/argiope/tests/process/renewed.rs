//! robots.txt is requested again with its validators.

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crawl::CrawlDir;
use model::{RobotsAnswer, RobotsRecord, Timestamp};
use store::Batch;
use testweb::{Reply, Request, Web};
use warc::RecordType;
use weburl::CanonicalUrl;

use crate::binary::{BINARY, Running};
use crate::served::Served;
use crate::warcs;

/// The requests for robots.txt: the entity tag that was sent, and the status of the answer.
type Asked = Arc<Mutex<Vec<(Option<String>, u16)>>>;

/// A site whose robots.txt has its text as entity tag.
fn served(robots: &Arc<Mutex<String>>, asked: &Asked) -> Served {
    let (robots, asked) = (robots.clone(), asked.clone());
    let reply = move |request: &Request| match request.path() {
        "/robots.txt" => {
            let text = robots.lock().unwrap().clone();
            let tag = format!("\"{}\"", text.len());
            let sent = request.header("if-none-match").map(str::to_owned);
            let status = if sent.as_ref() == Some(&tag) { 304 } else { 200 };
            asked.lock().unwrap().push((sent, status));
            let body = if status == 304 { String::new() } else { text };
            Reply::new(status).header("Content-Type", "text/plain").header("ETag", tag).body(body)
        }
        "/" => Reply::html("<a href=/open>open</a> <a href=/private>private</a>"),
        path => Reply::html(path.to_owned()),
    };
    Served::start(Web::new().site("one.test", testweb::from_fn(reply)))
}

/// What the state has of the site's robots.txt. Then its term is over.
fn expire(dir: &Path) -> RobotsRecord {
    let dir = CrawlDir::at(dir);
    let store = dir.open_store(&dir.options().unwrap()).unwrap();
    let site = CanonicalUrl::from_canonical("http://one.test/").unwrap().site().key();
    let mut record = store.site(site).unwrap().unwrap();
    let robots = record.robots.clone().unwrap();
    record.robots = Some(RobotsRecord { fetched_at: Timestamp(0), ..robots.clone() });
    store.commit(&Batch { sites: vec![record], ..Batch::default() }).unwrap();
    robots
}

fn body(robots: &RobotsRecord) -> String {
    let RobotsAnswer::Status { body, .. } = &robots.answer else { panic!("{robots:?}") };
    String::from_utf8(body.to_vec()).unwrap()
}

#[test]
fn a_304_keeps_the_rules_for_another_term_and_leaves_a_revisit_record() {
    let rules = "User-agent: *\nDisallow: /private\n";
    let (robots, asked) = (Arc::new(Mutex::new(rules.to_owned())), Asked::default());
    let (served, dirs) = (served(&robots, &asked), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let crawl = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("crawl").args(arguments).arg("-o").arg(&dir).args(["--delay", "0s", "--no-sitemaps"]);
        Running::start(command.args(served.flags())).end().expect_code(0)
    };
    crawl(&["http://one.test/"]);
    crawl(&["--again"]);
    assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), [(None, 200)], "it holds for a day");
    let first = expire(&dir);

    let tag = format!("\"{}\"", rules.len());
    for times in 1..=2 {
        crawl(&["--again"]);
        assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), [(Some(tag.clone()), 304)], "{times}");
        let robots = expire(&dir);
        assert_eq!((body(&robots).as_str(), robots.fetched_at > first.fetched_at), (rules, true));
        assert_eq!(robots.renewal.map(|renewal| renewal.not_modified), Some(times));
    }
    let requests = |path: &str| served.log().iter().filter(|entry| entry.target == path).count();
    assert_eq!((requests("/private"), requests("/open")), (0, 4));
    let answers = warcs::answers_of(&dir, "http://one.test/robots.txt");
    let (original, revisits) = answers.split_first().unwrap();
    assert_eq!((original.record_type(), revisits.len()), (Some(RecordType::Response), 2));
    for revisit in revisits {
        assert_eq!(revisit.record_type(), Some(RecordType::Revisit));
        assert!(revisit.get("WARC-Profile").is_some_and(|profile| profile.ends_with("server-not-modified")));
        assert_eq!(revisit.get("WARC-Refers-To-Target-URI"), Some("http://one.test/robots.txt"));
        assert_eq!(revisit.get("WARC-Refers-To"), original.get("WARC-Record-ID"));
        assert_eq!(revisit.get("WARC-Refers-To-Date"), original.get("WARC-Date"));
    }

    // It changes: the new rules count.
    *robots.lock().unwrap() = "User-agent: *\nDisallow: /open\n".to_owned();
    crawl(&["--again"]);
    assert_eq!(std::mem::take(&mut *asked.lock().unwrap()), [(Some(tag), 200)]);
    assert_eq!((requests("/private"), requests("/open")), (0, 4));
    Running::start(Command::new(BINARY).arg("check").arg(&dir)).end().expect_code(0);

    // An index that lacks their original is what is wrong, and all.
    let (segment, at) = warcs::place_of(&dir, "http://one.test/robots.txt");
    let index = archive::index_path(&segment);
    let whole = std::fs::read_to_string(&index).unwrap();
    let is_original = |line: &&str| line.contains(&format!("\"offset\": \"{}\"", at.offset));
    assert_eq!(whole.lines().filter(is_original).count(), 1, "{whole}");
    let cut: String = whole.split_inclusive('\n').filter(|line| !is_original(line)).collect();
    std::fs::write(&index, cut).unwrap();
    let checked = self::checked(&dir);
    let problems: Vec<_> = checked.iter().map(|finding| finding["problem"].as_str().unwrap()).collect();
    assert_eq!(problems, ["does not agree with its segment: --repair rebuilds it"]);
    std::fs::write(&index, whole).unwrap();

    // A copy has the revisits and their original.
    assert_eq!(copied(&dir), (4, String::new()));
    // Without the original they have no content, and a check names them.
    let (segment, at) = warcs::place_of(&dir, "http://one.test/robots.txt");
    let mut bytes = std::fs::read(&segment).unwrap();
    bytes[usize::try_from(at.offset + at.length / 2).unwrap()] ^= 0xff;
    std::fs::write(&segment, bytes).unwrap();
    Running::start(Command::new(BINARY).args(["check", "--repair"]).arg(&dir)).end();
    let checked = self::checked(&dir);
    let named = checked.iter().filter(|finding| {
        finding["url"] == "http://one.test/robots.txt"
            && finding["problem"].as_str().unwrap().contains("not in the archive")
    });
    let places: Vec<_> = named.map(|finding| (finding["file"].to_string(), finding["offset"].as_u64())).collect();
    assert!(places.len() == 2 && places.is_sorted(), "{checked:?}");
    let (records, said) = copied(&dir);
    assert!(records == 3 && said.contains("2 revisit records copied without content"), "{records} {said}");
}

/// What a check finds.
fn checked(dir: &Path) -> Vec<serde_json::Value> {
    let checked = Running::start(Command::new(BINARY).args(["check", "--json"]).arg(dir)).end();
    let checked: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    checked["findings"].as_array().unwrap().clone()
}

/// Copies the archive: how many records the copy has of robots.txt files, and what the program says is lost.
fn copied(dir: &Path) -> (usize, String) {
    let copy = dir.with_extension("warc.gz");
    let ended = Running::start(Command::new(BINARY).arg("export").arg(dir).args(["warc", "-o"]).arg(&copy)).end();
    let ended = ended.expect_code(0);
    let lines = warc::index(&copy).unwrap();
    std::fs::remove_file(&copy).unwrap();
    let is_file = |url: &str| url.ends_with("/robots.txt") || url.ends_with("/rules.txt");
    let lost = ended.stderr.lines().filter(|line| line.contains("without content")).collect();
    (lines.iter().filter(|line| is_file(&line.url)).count(), lost)
}

#[test]
fn a_file_on_another_site_is_requested_with_its_validators_and_leaves_a_revisit_record() {
    let rules = "User-agent: *\nDisallow: /private\n";
    let (robots, asked) = (Arc::new(Mutex::new(rules.to_owned())), Asked::default());
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let (text, answers) = (robots.clone(), asked.clone());
    let file = move |request: &Request| {
        let (text, tag) = (text.lock().unwrap().clone(), "\"1\"");
        let sent = request.header("if-none-match").map(str::to_owned);
        let status = if sent.as_deref() == Some(tag) { 304 } else { 200 };
        answers.lock().unwrap().push((sent, status));
        let body = if status == 304 { String::new() } else { text };
        Reply::new(status).header("Content-Type", "text/plain").header("ETag", tag).body(body)
    };
    let page = |request: &Request| match request.path() {
        "/robots.txt" => {
            assert_eq!(request.header("if-none-match"), None);
            Reply::new(301).header("Location", "http://two.test/rules.txt").body(String::new())
        }
        "/" => Reply::html("<a href=/open>open</a> <a href=/private>private</a>"),
        path => Reply::html(path.to_owned()),
    };
    let web = Web::new().site("one.test", testweb::from_fn(page)).site("two.test", testweb::from_fn(file));
    let served = Served::start(web);
    let crawl = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("crawl").args(arguments).arg("-o").arg(&dir).args(["--delay", "0s", "--no-sitemaps"]);
        Running::start(command.args(served.flags())).end().expect_code(0)
    };
    crawl(&["http://one.test/"]);
    expire(&dir);
    crawl(&["--again"]);
    assert_eq!(*asked.lock().unwrap(), [(None, 200), (Some("\"1\"".to_owned()), 304)]);
    let stored = expire(&dir);
    assert_eq!((body(&stored).as_str(), stored.renewal.map(|renewal| renewal.not_modified)), (rules, Some(1)));
    assert!(served.log().iter().all(|entry| entry.target != "/private"));
    let answers = warcs::answers_of(&dir, "http://two.test/rules.txt");
    let [original, revisit] = &answers[..] else { panic!("{} records", answers.len()) };
    assert_eq!(revisit.record_type(), Some(RecordType::Revisit));
    assert_eq!(revisit.get("WARC-Refers-To-Target-URI"), Some("http://two.test/rules.txt"));
    assert_eq!(revisit.get("WARC-Refers-To"), original.get("WARC-Record-ID"));
    Running::start(Command::new(BINARY).arg("check").arg(&dir)).end().expect_code(0);
    assert_eq!(copied(&dir), (4, String::new()), "two redirects, the file and its revisit");
}
