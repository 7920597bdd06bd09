//! Rounds of a crawl by several workers: known pages are visited again, once each, and what has changed is found.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testdb::until;
use testkit::crawled::flip;
use testkit::judge::site_of;
use testkit::ran::argiope;
use testweb::{LogEntry, Reply, Request, Web, from_fn};

use crate::lab::{Lab, Laid, Worker};
use crate::served::Served;

/// Sites, each on an address of its own.
const HOSTS: [&str; 3] = ["a.test", "b.test", "c.test"];
/// Pages of a site, besides its root.
const PAGES: usize = 20;
/// Pages of all sites, with their roots.
const ALL: usize = HOSTS.len() * (PAGES + 1);

/// The pages of all sites: the text, and how often it has changed. A missing one is gone.
#[derive(Clone, Default)]
struct Pages {
    texts: Arc<Mutex<BTreeMap<String, (String, u32)>>>,
    /// A site that answers nothing but errors.
    down: Arc<Mutex<Option<&'static str>>>,
}

impl Pages {
    fn new() -> Self {
        let pages = Pages::default();
        for host in HOSTS {
            let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>page {n}</a> ")).collect();
            pages.set(host, "/", &format!("the root of {host}: {links}"));
            (0..PAGES)
                .for_each(|n| pages.set(host, &format!("/{n}"), &format!("the first words of page {n} on {host}")));
        }
        pages
    }

    fn set(&self, host: &str, path: &str, text: &str) {
        let mut pages = self.texts.lock().expect("nobody panicked");
        let version = pages.get(&format!("{host}{path}")).map_or(1, |(_, version)| version + 1);
        pages.insert(format!("{host}{path}"), (text.to_owned(), version));
    }

    fn remove(&self, host: &str, path: &str) {
        self.texts.lock().expect("nobody panicked").remove(&format!("{host}{path}"));
    }

    fn reply(&self, host: &str, request: &Request) -> Reply {
        let pages = self.texts.lock().expect("nobody panicked");
        if *self.down.lock().expect("nobody panicked") == Some(host) {
            return Reply::new(503);
        }
        let Some((text, version)) = pages.get(&format!("{host}{}", request.path())) else { return Reply::new(404) };
        let tag = format!("\"{version}\"");
        if request.header("if-none-match") == Some(&tag) {
            return Reply::new(304).header("ETag", tag);
        }
        let page = format!("<!doctype html><title>A page</title><p>{text}");
        Reply::new(200).header("Content-Type", "text/html").header("ETag", tag).body(page)
    }

    /// A crawl of them, as far as the last page, by workers that seal what they have soon.
    fn crawled(&self, workers: usize) -> (Lab, Vec<Worker>) {
        self.crawled_to(workers, ALL)
    }

    /// The same where so many pages are no duplicates.
    fn crawled_to(&self, workers: usize, distinct: usize) -> (Lab, Vec<Worker>) {
        let web = HOSTS.iter().fold(Web::new(), |web, host| {
            let pages = self.clone();
            web.site(host, from_fn(move |request| pages.reply(host, request)))
        });
        let lab = Lab::new(Laid::apart(web, &HOSTS), &[]);
        let workers = (0..workers).map(|_| worker(&lab)).collect();
        HOSTS.iter().for_each(|host| lab.served.add(&format!("http://{host}/")));
        until("the first round to end", || {
            let stats = lab.served.asked(&["stats"]);
            stats["waiting"] == 0 && stats["outcomes"]["html"] == json!(distinct)
        });
        (lab, workers)
    }
}

fn worker(lab: &Lab) -> Worker {
    lab.worker_by(Command::new(env!("CARGO_BIN_EXE_argiope")), &["--seal-after", "1s"])
}

/// The answer about a round that has begun, or of which nothing came.
fn told(round: u32, urls: u64, begun: bool) -> Value {
    json!({"round": round, "urls": urls, "begun": begun, "would_begin": false, "by_site": [], "on_hold": 0})
}

fn ended(lab: &Lab) -> bool {
    let stats = lab.served.asked(&["stats"]);
    stats["left_of_round"] == 0 && stats["waiting"] == 0
}

/// What was asked for behind this many requests, but robots.txt: how often, and the statuses.
fn asked(log: &[LogEntry], behind: usize) -> BTreeMap<String, Vec<u16>> {
    let mut asked: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    for entry in log[behind..].iter().filter(|entry| entry.target != "/robots.txt") {
        asked.entry(format!("{}{}", site_of(entry), entry.target)).or_default().extend(entry.status);
    }
    asked
}

/// What is different since a time, by the command over what the crawl has left: what became of which URL.
fn changes(lab: &Lab, since: &str) -> BTreeSet<(String, String)> {
    let shared = lab.shared();
    let ran = argiope(&["changes", shared.to_str().expect("UTF-8"), "--json", "--brief", "--since", since]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let word = |key: &str| line[key].as_str().expect("a text").to_owned();
        (word("change"), word("url"))
    };
    ran.stdout.lines().map(line).collect()
}

fn texts_with(lab: &Lab, text: &str) -> Value {
    lab.served.asked(&["search", text])["pages"].clone()
}

/// What commands say of the crawl's directory: the pages with a text, and all links.
fn read(lab: &Lab, text: &str) -> (String, Value) {
    let shared = lab.shared();
    let dir = shared.to_str().expect("UTF-8");
    let [found, report] = [["search", dir, text], ["report", dir, "--json"]].map(|command| argiope(&command));
    assert_eq!(report.code, 0, "{report:?}");
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    (found.stdout, report["links"].clone())
}

/// All workers leave, the server ends, and the crawl's directory is in order.
fn end(lab: &mut Lab, workers: Vec<Worker>) {
    for worker in workers {
        assert_eq!(worker.leave().0, Some(0));
    }
    lab.served.kill();
    for command in ["derive", "check"] {
        let ran = argiope(&[command, lab.shared().to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
}

#[test]
fn a_round_asks_for_each_page_once_and_finds_what_has_changed() {
    let pages = Pages::new();
    let (mut lab, workers) = pages.crawled(2);
    assert_eq!(lab.served.asked(&["freshness"])["pages"], 0, "one visit tells nothing of changes");

    let before = lab.web.log().len();
    let dry_run = ["again", "--only", "*/5", "--dry-run"];
    let foreseen = lab.served.asked(&dry_run);
    let by_site = foreseen["by_site"].as_array().expect("sites").clone();
    let all: BTreeSet<String> = by_site.iter().map(ToString::to_string).collect();
    let expect = HOSTS.map(|host| json!({"site": format!("http://{host}"), "urls": 1}).to_string());
    assert_eq!(all, BTreeSet::from(expect));
    let numbers = json!({"round": 2, "urls": 3, "begun": false, "would_begin": true, "by_site": by_site, "on_hold": 0});
    assert_eq!(foreseen, numbers);
    let in_words = lab.served.client(&dry_run).stdout;
    assert!(in_words.starts_with("round 2 would visit 3 URLs again\n        1  http://"), "{in_words}");
    let scheduled = lab.served.post("ForeseeAgain", &json!({"visits": 5})).1;
    assert_eq!((&scheduled["urls"], &scheduled["would_begin"]), (&json!(5), &json!(true)), "{scheduled}");
    assert_eq!(lab.served.asked(&["stats"])["round"], 1, "nothing is done yet");

    let begun = lab.served.asked(&["again", "--only", "*/5"]);
    assert_eq!(begun, told(2, 3, true));
    until("the second round to end", || ended(&lab));
    let second = asked(&lab.web.log(), before);
    let all_of = |path: &str| HOSTS.iter().map(|host| format!("http://{host}{path}")).collect::<BTreeSet<_>>();
    assert_eq!(second.keys().cloned().collect::<BTreeSet<_>>(), all_of("/5"));

    for host in HOSTS {
        pages.set(host, "/1", "quite other words");
    }
    pages.remove("a.test", "/2");
    pages.set("b.test", "/3", "other words, and <a href=/new>a new page</a>");
    pages.set("b.test", "/new", "a page that was not there");
    let (before, since) = (lab.web.log().len(), now());
    assert_eq!(lab.served.asked(&["again"]), told(3, ALL as u64, true));
    until("the third round to end", || ended(&lab));
    let third = asked(&lab.web.log(), before);
    assert_eq!(third.len(), ALL + 1, "all pages, and the new one");
    let more_than_once = third.iter().filter(|(_, statuses)| statuses.len() > 1);
    // A site of which a page has changed that was asked for in any case is asked whether it says so.
    assert!(more_than_once.count() <= HOSTS.len(), "{third:?}");
    let unchanged = third.values().filter(|statuses| statuses[..] == [304]).count();
    // Of a small site each page is tested once in ten visits.
    assert!(unchanged >= ALL - 5 - 5 * HOSTS.len(), "{unchanged} pages were not sent again: {third:?}");

    let stats = lab.served.asked(&["stats"]);
    assert_eq!((&stats["round"], &stats["left_of_round"]), (&json!(3), &json!(0)));
    let freshness = lab.served.asked(&["freshness"]);
    // One page is gone, and one is new.
    assert_eq!((&freshness["pages"], &freshness["changes"]), (&json!(ALL), &json!(HOSTS.len() + 1)), "{freshness}");
    assert_eq!(freshness["sites"].as_array().map(Vec::len), Some(HOSTS.len()), "{freshness}");
    assert!(freshness["fresh"].as_f64().is_some_and(|fresh| (0.5..1.0).contains(&fresh)), "{freshness}");
    assert_eq!(texts_with(&lab, "quite other words"), 3);
    assert_eq!(texts_with(&lab, "the first words of page 1 on"), 0, "what they said before counts no more");
    assert_eq!(texts_with(&lab, "the first words of page 2 on"), 2, "one is gone");
    assert_eq!(texts_with(&lab, "the first words of page 5 on"), 3, "what was only confirmed stays");

    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    let while_workers_run = ["the first words of page 1 on", "quite other words"].map(|text| read(&lab, text));
    end(&mut lab, workers);
    let afterwards = ["the first words of page 1 on", "quite other words"].map(|text| read(&lab, text));
    assert!(while_workers_run[0].0.is_empty() && while_workers_run[1].0.lines().count() == 3, "{while_workers_run:?}");
    assert_eq!(while_workers_run, afterwards);
    let change = |what: &str, url: &str| (what.to_owned(), format!("http://{url}"));
    let expect = [
        change("changed", "a.test/1"),
        change("changed", "b.test/1"),
        change("changed", "c.test/1"),
        change("changed", "b.test/3"),
        change("gone", "a.test/2"),
        change("new", "b.test/new"),
    ];
    assert_eq!(changes(&lab, &since), BTreeSet::from(expect));
}

#[test]
fn a_round_visits_what_its_dry_run_counts_by_the_rules_of_now() {
    let pages = Pages::new();
    let (lab, _workers) = pages.crawled(1);
    lab.served.asked(&["steer", "exclude", "*/1*"]);
    lab.served.asked(&["steer", "hold", "b.test"]);
    let (of_site, before) = (1 + PAGES - 11, lab.web.log().len());
    let all = (HOSTS.len() * of_site) as u64;
    let foreseen = lab.served.asked(&["again", "--dry-run"]);
    assert_eq!((&foreseen["urls"], &foreseen["on_hold"]), (&json!(all), &json!(of_site)), "{foreseen}");
    let in_words = lab.served.client(&["again", "--dry-run"]).stdout;
    let expect = format!("round 2 would visit {all} URLs again, {of_site} of them when their sites are released\n");
    assert!(in_words.starts_with(&expect), "{in_words}");
    assert_eq!(lab.served.asked(&["again"]), told(2, all, true));
    let left = || lab.served.asked(&["stats"])["left_of_round"].clone();
    until("the sites that are not on hold", || left() == json!(of_site));
    assert_eq!(asked(&lab.web.log(), before).len(), (HOSTS.len() - 1) * of_site);
    lab.served.asked(&["steer", "release", "b.test"]);
    until("the other one", || left() == 0);
    assert_eq!(asked(&lab.web.log(), before).len() as u64, all);
}

#[test]
fn a_worker_that_is_killed_in_a_round_loses_no_page() {
    let pages = Pages::new();
    let (mut lab, mut workers) = pages.crawled(3);
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    for host in HOSTS {
        (0..PAGES).for_each(|n| pages.set(host, &format!("/{n}"), &format!("other words of page {n} on {host}")));
    }
    let since = now();
    assert_eq!(lab.served.asked(&["again"])["urls"], json!(ALL));
    until("a part of the round", || lab.number("SELECT count(*) FROM argiope.visit WHERE round = 2") > 10);
    lab.lose(workers.remove(0));
    until("the round to end", || ended(&lab));
    assert_eq!(texts_with(&lab, "other words of page"), json!(ALL - HOSTS.len()));
    assert_eq!(texts_with(&lab, "the first words of page"), 0);
    end(&mut lab, workers);
    assert_eq!(changes(&lab, &since).len(), ALL - HOSTS.len(), "all but the roots");
}

#[test]
fn a_watch_begins_rounds_within_its_budget() {
    let pages = Pages::new();
    let (lab, _workers) = pages.crawled(1);
    let before = lab.web.log().len();
    // Nothing is older than a day.
    for dry_run in [&[][..], &["--dry-run"]] {
        let asked = lab.served.asked(&[&["again", "--older-than", "1d"], dry_run].concat());
        assert_eq!(asked, told(0, 0, false), "{dry_run:?}");
    }
    let told = lab.served.client(&["--json", "watch", "--budget", "5/s", "--every", "1s", "--rounds", "2"]);
    assert_eq!(told.code, 0, "{told:?}");
    let lines: Vec<Value> = told.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let begun: Vec<u64> =
        lines.iter().filter(|line| line["begun"] == true).filter_map(|line| line["urls"].as_u64()).collect();
    let chosen: u64 = begun.iter().sum();
    assert!(begun.len() == 2 && chosen >= 6 && chosen <= 5 * lines.len() as u64, "{told:?}");
    until("the last round to end", || ended(&lab));
    let visits = lab.number("SELECT count(*) FROM argiope.any_visit") - i64::try_from(ALL).expect("few");
    assert_eq!(visits.cast_unsigned(), chosen, "{told:?}");
    assert!(asked(&lab.web.log(), before).values().map(Vec::len).sum::<usize>() >= begun.len());
}

#[test]
fn a_site_that_is_down_keeps_no_round_from_beginning() {
    let pages = Pages::new();
    let (lab, _workers) = pages.crawled(1);
    *pages.down.lock().expect("nobody panicked") = Some("c.test");
    let next = |visits: u64| lab.served.post("Again", &json!({"visits": visits})).1;
    let all = ALL as u64;
    assert_eq!(next(all), told(2, all, true));
    let dry_run = lab.served.post("ForeseeAgain", &json!({"visits": all})).1;
    assert_eq!((&dry_run["round"], &dry_run["would_begin"]), (&json!(2), &json!(false)), "it goes on: {dry_run}");
    let mut third = Value::Null;
    until("the other sites to be visited, and the one that is down to be aside", || {
        third = next(all);
        third["begun"] == true
    });
    assert_eq!(third, told(3, all / 3 * 2, true), "pages of the others");
    *pages.down.lock().expect("nobody panicked") = None;
    let told = lab.served.asked(&["stats"]);
    assert!(told["left_of_round"].as_u64() >= Some(all / 3), "those that are left of round 2 wait: {told}");
}

#[test]
fn what_is_wrong_with_a_request_is_said_and_nothing_begins() {
    let pages = Pages::new();
    let (lab, _workers) = pages.crawled(1);
    for (request, expect) in [
        (json!({"older_than": -1.0}), "older_than: -1 is no number of seconds"),
        (json!({"older_than": 8.64e16}), "is longer than 100 years"),
        (json!({"only": ["["]}), "only"),
        (json!({"visits": 5, "only": ["*"]}), "visits and only"),
        (json!({"visits": 5, "importance": "great"}), "`great` is no importance; there are equal, depth"),
    ] {
        for method in ["Again", "ForeseeAgain"] {
            let (status, answer) = lab.served.post(method, &request);
            let error = answer["error"].as_str().unwrap_or_default();
            assert!(status == 400 && error.contains(expect), "{request}: {status} {answer}");
        }
    }
    // A question that must not begin a round is no field of the request: a server of another version would not know it.
    assert_eq!(lab.served.post("Again", &json!({"dry_run": true})).0, 400);
    let refused = lab.served.refused(&["watch", "--budget", "5/s", "--every", "1ms"]);
    assert!(refused.contains("--every must be at least 1s"), "{refused}");
    assert_eq!(lab.served.asked(&["stats"])["round"], 1);
}

/// The date as `--since` takes it.
fn now() -> String {
    engine::clock::Clock::start().date().to_rfc3339()
}

/// Requests are few where a lost page is asked for once; they had no end where its answer was refused again and again.
#[test]
fn a_page_that_a_repair_has_lost_is_asked_for_once_and_recorded_in_full() {
    const TEXTS: [&str; 2] = ["the first words of page 8 on a.test", "the first words of page 4 on c.test"];
    let pages = Pages::new();
    // Another page of the same words, on another site.
    pages.set("b.test", "/9", "the first words of page 8 on a.test");
    let (mut lab, workers) = pages.crawled_to(1, ALL - 1);
    assert_eq!(lab.served.asked(&["again"])["urls"], json!(ALL));
    until("the second round to end", || ended(&lab));
    let before_loss = TEXTS.map(|text| texts_with(&lab, text));
    end(&mut lab, workers);

    let shared = lab.shared();
    let lost = lab.query(
        "SELECT s.name, v.record_offset, v.record_length
            FROM argiope.url u JOIN argiope.earlier_visit v USING (site_key, url_key) JOIN argiope.segment s ON s.serial = v.segment
            WHERE v.outcome = 'html' AND v.content_at IS NULL AND u.url IN ('http://a.test/8', 'http://b.test/9', 'http://c.test/4')",
    );
    assert_eq!(lost.len(), 2, "of the duplicates one is the first");
    for row in &lost {
        let (name, offset, length): (String, i64, i64) = (row.get(0), row.get(1), row.get(2));
        let at = u64::try_from(offset + length / 2).expect("a place");
        flip(&shared.join("archive").join(name), at);
    }
    let repaired = argiope(&["check", "--repair", shared.to_str().expect("UTF-8")]);
    assert!(repaired.code == 1 && repaired.stdout.contains("`argiope client again`"), "{repaired:?}");

    lab.served = Served::start(&lab.database.lock().expect("nobody panicked"), &[]);
    let workers = vec![worker(&lab)];
    let before = lab.web.log().len();
    assert_eq!(lab.served.asked(&["again"])["urls"], json!(ALL));
    until("the third round to end", || ended(&lab));
    let third = asked(&lab.web.log(), before);
    for url in ["http://a.test/8", "http://b.test/9", "http://c.test/4"] {
        assert_eq!(third[url], [200], "{url}: {third:?}");
    }
    assert_eq!(third.len(), ALL);
    assert_eq!(TEXTS.map(|text| texts_with(&lab, text)), before_loss);
    end(&mut lab, workers);
}

/// However it came about that a state believes in contents which the archive has not, each URL comes to an end.
#[test]
fn what_refers_to_nothing_is_recorded_in_full_after_few_requests() {
    let pages = Pages::new();
    let (mut lab, workers) = pages.crawled(1);
    assert_eq!(lab.served.asked(&["again"])["urls"], json!(ALL));
    until("the second round to end", || ended(&lab));
    let before_loss = texts_with(&lab, "the first words of page 8 on a.test");
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    let first = "fetched_at = (SELECT min(fetched_at) FROM argiope.any_visit WHERE (site_key, url_key) IN
        (SELECT site_key, url_key FROM argiope.url WHERE url = 'http://a.test/8'))";
    lab.execute(&format!(
        "UPDATE argiope.earlier_visit SET segment = NULL, record_offset = NULL, record_length = NULL WHERE {first}"
    ));
    let before = lab.web.log().len();
    assert_eq!(lab.served.asked(&["again"])["urls"], json!(ALL));
    until("the third round to end", || ended(&lab));
    let third = asked(&lab.web.log(), before);
    assert_eq!(third["http://a.test/8"], [304, 200], "the answer that nothing has changed is worth nothing");
    assert_eq!(texts_with(&lab, "the first words of page 8 on a.test"), before_loss);
    end(&mut lab, workers);
}
