//! What `Crawl` means: how deep it goes, when it answers, and what later calls add to it.

use std::thread;
use std::time::Duration;

use serde_json::json;
use testdb::{Postgres, until};

use crate::pretended::{Page, Pretended};
use crate::served::Served;

/// Links on a page of a tree.
const BRANCHES: usize = 4;
/// Long enough that a server which does not wait would have answered.
const A_WHILE: Duration = Duration::from_millis(300);

/// A tree on each site: a page has four below it, and one of them on another site. Some sites are special.
fn web(url: &str) -> Page {
    match url {
        "http://old.test/" => Page::Redirect("http://new.test/".to_owned()),
        "http://portal.test/" => {
            Page::Links(vec!["http://one.test/deep/page".to_owned(), "http://one.test/2".to_owned()])
        }
        url => Page::Links((1..=BRANCHES).map(|n| format!("{}/{n}", url.trim_end_matches('/'))).collect()),
    }
}

/// Pages of a tree so many links deep.
fn tree(depth: u32) -> usize {
    (0..=depth).map(|level| BRANCHES.pow(level)).sum()
}

#[test]
fn a_crawl_goes_as_deep_as_is_asked_and_a_deeper_one_fetches_nothing_twice() {
    let database = Postgres::start();
    let server = Served::first(&database, &["--depth", "9"]);
    let worker = Pretended::join(&server.workers, "w:1", web);
    let answer = server.crawl("tree.test", 0);
    assert_eq!((&answer["fetched"], &answer["failed"], &answer["outcome"]), (&json!(1), &json!(0), &json!("html")));
    assert_eq!(answer["owner"]["name"], "w:1");
    assert_eq!(worker.asked_once(), 1);
    assert_eq!(server.crawl("tree.test", 1)["fetched"], json!(tree(1)));
    assert_eq!(worker.asked_once(), tree(1));
    assert_eq!(server.crawl("tree.test", 3)["fetched"], json!(tree(3)));
    assert_eq!(server.crawl("tree.test", 2)["fetched"], json!(tree(3)), "what is known stays");
    assert_eq!(worker.asked_once(), tree(3));

    // From a page below: some of what is in its reach was too deep for the call before.
    assert_eq!(server.crawl("tree.test/1", 3)["fetched"], json!(tree(3) + BRANCHES.pow(3)));
    assert_eq!(worker.asked_once(), tree(3) + BRANCHES.pow(3));
    let refused = server.refused(&["crawl", "tree.test", "--depth", "10"]);
    assert_eq!(refused, "depth 10: this crawl goes no deeper than 9 links (--depth of the server)");
}

#[test]
fn crawl_answers_when_all_is_done_and_several_clients_wait_at_once() {
    let database = Postgres::start();
    let server = Served::first(&database, &["--depth", "9"]);
    server.client(&["pause"]);
    let worker = Pretended::join(&server.workers, "w:1", web);
    thread::scope(|scope| {
        let calls = ["a.test", "b.test", "c.test"].map(|site| scope.spawn(|| server.crawl(site, 3)));
        until("the seeds are there", || server.asked(&["stats"])["waiting"] == 3);
        thread::sleep(A_WHILE);
        assert!(calls.iter().all(|call| !call.is_finished()), "the crawl is paused");
        assert_eq!(worker.asked_once(), 0);
        assert_eq!(server.asked(&["stats"])["paused"], json!(true));
        assert_eq!(server.client(&["resume"]).stdout, "resumed\n");
        for call in calls {
            assert_eq!(call.join().expect("answered")["fetched"], json!(tree(3)));
        }
    });
    assert_eq!(worker.asked_once(), 3 * tree(3));
    assert_eq!(server.asked(&["stats"])["waiting"], 0);
}

#[test]
fn what_was_excluded_belongs_to_the_crawl_once_a_seed_brings_it_into_scope() {
    let database = Postgres::start();
    let server = Served::first(&database, &["--depth", "4", "--exclude", "*/4"]);
    let worker = Pretended::join(&server.workers, "w:1", web);
    assert_eq!(server.crawl("portal.test", 4)["fetched"], json!(1));
    assert_eq!(server.asked(&["explain", "http://one.test/2"])["state"], "excluded");
    // Its site belongs to the crawl now; the two pages that were known go on from the depth at which they were found.
    server.crawl("one.test", 0);
    let asked = worker.asked();
    for (url, is_asked) in [
        ("http://one.test/", true),
        ("http://one.test/2", true),
        ("http://one.test/2/1/1/1", true),
        ("http://one.test/2/1/1/1/1", false),
        ("http://one.test/deep/page", true),
        ("http://one.test/1", false),
        ("http://one.test/2/4", false),
    ] {
        assert_eq!(asked.contains_key(url), is_asked, "{url}");
    }
    worker.asked_once();
    // By adding seeds it is the same.
    server.add("aside.test");
    until("it is crawled", || server.asked(&["stats"])["waiting"] == 0);
    let explained = server.asked(&["explain", "http://aside.test/1/4"]);
    assert_eq!((&explained["state"], &explained["reason"]), (&json!("excluded"), &json!("exclude */4")));
    let refused = server.refused(&["crawl", "http://one.test/2/4"]);
    assert!(refused.ends_with("http://one.test/2/4 does not belong to this crawl: exclude */4"), "{refused}");
}

#[test]
fn what_a_seed_redirects_to_is_waited_for() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    let worker = Pretended::join(&server.workers, "w:1", web);
    let answer = server.crawl("old.test", 2);
    assert_eq!((&answer["outcome"], &answer["fetched"]), (&json!("redirect"), &json!(tree(2))));
    assert_eq!(worker.asked_once(), 1 + tree(2));
}

#[test]
fn each_scope_is_waited_for() {
    for (scope, fetched) in
        [("any", tree(2)), ("domain", tree(2)), ("site", tree(2)), ("prefix", tree(2)), (".test", tree(2))]
    {
        let database = Postgres::start();
        let server = Served::first(&database, &["--scope", scope, "--depth", "5"]);
        let worker = Pretended::join(&server.workers, "w:1", web);
        assert_eq!(server.crawl("www.tree.test", 2)["fetched"], json!(fetched), "{scope}");
        assert_eq!(worker.asked_once(), fetched, "{scope}");
    }
}

#[test]
fn a_server_that_is_killed_takes_nothing_with_it() {
    let database = Postgres::start();
    let mut first = Served::first(&database, &["--depth", "6"]);
    let second = Served::start(&database, &[]);
    assert_eq!(first.client(&["pause"]).code, 0);
    let worker = Pretended::join(&second.workers, "w:1", web);
    let address = first.clients.clone();
    let call = thread::spawn(move || {
        testkit::ran::argiope(&["client", "--server", &address, "crawl", "tree.test", "--depth", "3"])
    });
    until("the seed is there", || second.asked(&["stats"])["waiting"] == 1);
    first.kill();
    let cut_off = call.join().expect("it ends");
    assert!(cut_off.stderr.contains("the server at"), "{cut_off:?}");
    let again = Served::start(&database, &["--depth", "6"]);
    assert_eq!(again.client(&["resume"]).code, 0);
    for server in [&second, &again] {
        assert_eq!(server.crawl("tree.test", 3)["fetched"], json!(tree(3)));
    }
    assert_eq!(worker.asked_once(), tree(3));
    assert_eq!(again.terminate(), Some(0));
    assert_eq!(second.crawl("tree.test", 3)["fetched"], json!(tree(3)));
}

#[test]
fn a_worker_that_is_drained_leaves_and_others_go_on() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    let first = Pretended::join(&server.workers, "w:1", web);
    server.crawl("tree.test", 1);
    let domains = server.asked(&["domains", "w:1"]);
    let [of_tree] = &domains["domains"].as_array().expect("a list")[..] else { panic!("{domains}") };
    assert_eq!((&of_tree["site"], &of_tree["state"]), (&json!("http://tree.test"), &json!("active")));
    assert_eq!((&of_tree["waiting"], &of_tree["fetched"]), (&json!(0), &json!(tree(1))));
    let second = Pretended::join(&server.workers, "w:2", web);
    until("both are there", || server.asked(&["workers"])["workers"].as_array().is_some_and(|all| all.len() == 2));
    let workers = server.asked(&["workers"]);
    assert_eq!((&workers["workers"][0]["name"], &workers["workers"][0]["sites"]), (&json!("w:1"), &json!(1)));
    let id = workers["workers"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(server.client(&["drain", &id]).stdout, "leaving\n");
    until("it is gone", || first.is_gone());
    assert_eq!(server.crawl("tree.test", 2)["owner"]["name"], "w:2");
    assert_eq!(second.asked_once() + first.asked_once(), tree(2));
    let refused = server.refused(&["drain", "w:1"]);
    assert!(refused.ends_with("there is no worker `w:1` alive: GetWorkers names those there are"), "{refused}");
}
