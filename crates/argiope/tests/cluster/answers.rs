//! What real workers answer together: the same as one process that crawled the same web, while workers come and go.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};
use testweb::{Pages, Web};

use crate::lab::{Lab, Laid, SEED};
use testkit::ran::argiope;

/// Words that stand beside each other on some pages.
const TEXT: &str = "spider";
const OTHER: &str = "http://s0003.synthetic.test/p/0";

/// What the workers say, but for the places of equal ranks and the names of fields.
fn together(lab: &Lab) -> [Value; 3] {
    let rank = lab.served.asked(&["rank", "--top", "50"]);
    let overlap = lab.served.asked(&["overlap", SEED, OTHER]);
    let found = lab.served.asked(&["search", TEXT, "--limit", "1000"]);
    let ranked = rank["ranked"]
        .as_array()
        .expect("ranks")
        .iter()
        .map(|row| json!([row["url"], row["rank"]]))
        .collect::<Vec<_>>();
    let urls: BTreeSet<&str> =
        found["found"].as_array().expect("pages").iter().filter_map(|row| row["url"].as_str()).collect();
    [
        json!([rank["vertices"], rank["edges"], ranked]),
        json!([overlap["overlap"], overlap["domains"], overlap["reachable"]]),
        json!([found["pages"], found["occurrences"], urls]),
    ]
}

/// The same of a crawl by one process.
fn alone(dir: &str) -> [Value; 3] {
    let asked = |arguments: &[&str]| {
        let ran = argiope(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.json()
    };
    let rank = asked(&["rank", dir, "--visited", "--top", "50"]);
    let overlap = asked(&["overlap", dir, "--visited", SEED, OTHER]);
    let found = asked(&["search", dir, TEXT, "--limit", "1000"]);
    let ranked =
        rank["rows"].as_array().expect("ranks").iter().map(|row| json!([row["name"], row["rank"]])).collect::<Vec<_>>();
    let urls: BTreeSet<&str> =
        found["rows"].as_array().expect("pages").iter().filter_map(|row| row["url"].as_str()).collect();
    [
        json!([rank["vertices"], rank["edges"], ranked]),
        json!([overlap["overlap"], overlap["domains"], overlap["reachable"]]),
        json!([found["pages"], found["occurrences"], urls]),
    ]
}

/// The sites of each worker.
fn domains(lab: &Lab) -> Vec<BTreeSet<String>> {
    let workers = lab.served.asked(&["workers"]);
    let ids = workers["workers"].as_array().expect("workers").iter().filter_map(|worker| worker["id"].as_str());
    ids.map(|id| {
        let domains = lab.served.asked(&["domains", id]);
        let sites = domains["domains"].as_array().expect("sites").iter().filter_map(|domain| domain["site"].as_str());
        sites.map(str::to_owned).collect()
    })
    .collect()
}

#[test]
fn answers_are_those_of_one_process_while_workers_join_and_leave() {
    let lab = Lab::new(Laid::out(8, 160, 4), &[]);
    let mut workers: Vec<_> = (0..3).map(|_| lab.worker()).collect();
    assert_eq!(lab.crawl()["fetched"], 160);
    let crawled = lab.web.crawled_alone();
    let expect = alone(crawled.path().to_str().expect("UTF-8"));
    assert_eq!(together(&lab), expect);
    assert!(expect[2][0].as_u64().is_some_and(|pages| pages > 0), "something is found: {}", expect[2]);

    let sites = domains(&lab);
    assert_eq!(sites.iter().map(BTreeSet::len).sum::<usize>(), 8, "each site has one owner: {sites:?}");
    let leaving = workers.remove(0);
    thread::scope(|scope| {
        let left = scope.spawn(move || leaving.leave().0);
        while !left.is_finished() {
            assert_eq!(together(&lab), expect, "while one leaves");
        }
        assert_eq!(left.join().expect("it leaves"), Some(0));
    });
    workers.push(lab.worker());
    for _ in 0..3 {
        assert_eq!(together(&lab), expect, "when one has come");
    }
    assert_eq!(domains(&lab).iter().map(BTreeSet::len).sum::<usize>(), 8);
}

#[test]
fn depth_spellings_and_pages_out_of_reach_are_as_in_a_crawl_by_one_process() {
    let site = Pages::new()
        .html("/", "<a href=a>a</a><a href=./b>b</a><a href=/x/../c>c</a><a href=/a>a</a><a href=/gone>gone</a>")
        .html("/a", "<a href=/deep/d>d</a><a href=/gone>gone</a>")
        .html("/b", "<a href=./a>a</a><a href=/gone>gone</a>")
        .html("/c", "<a href=b>b</a>")
        .html("/deep/d", "<a href=../a>a</a>");
    let lab = Lab::new(Laid::of(Web::new().site("small.test", site)), &[]);
    let _workers = [lab.worker(), lab.worker()];
    let known = || lab.pages().into_keys().map(|url| url.replace("http://small.test", "")).collect::<Vec<_>>();
    let crawled = lab.served.crawl("http://small.test/", 0);
    assert_eq!((&crawled["fetched"], &crawled["failed"]), (&json!(1), &json!(0)));
    assert_eq!(known(), ["/"], "one vertex");
    let crawled = lab.served.crawl("http://small.test/", 1);
    assert_eq!((&crawled["fetched"], &crawled["failed"]), (&json!(4), &json!(1)), "one and four, of which one is gone");
    assert_eq!(known(), ["/", "/a", "/b", "/c", "/gone"], "spellings are one vertex");
    lab.served.crawl("http://small.test/", 2);
    assert_eq!(known(), ["/", "/a", "/b", "/c", "/deep/d", "/gone"]);
    let asked: Vec<String> =
        lab.web.log().into_iter().map(|entry| entry.target).filter(|path| path != "/robots.txt").collect();
    assert_eq!(asked.len(), 6, "nothing is fetched again: {asked:?}");

    let links = lab.served.asked(&["links", "http://small.test/gone"]);
    assert_eq!(links["to"].as_array().map(Vec::len), Some(3), "what is out of reach has its links: {links}");
    let told = lab.served.asked(&["explain", "http://small.test/gone"]);
    assert_eq!((&told["state"], &told["status"]), (&json!("http_error"), &json!(404)));
}
