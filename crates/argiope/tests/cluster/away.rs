//! A database that is gone, or silent: clients get an error in time, and an answer when it is back.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testdb::{Postgres, until};

use crate::lab::{Lab, Laid};
use crate::served::Served;

/// A client gets its error within 15 seconds; the rest is for a busy machine. It took a minute or two before.
const TOLD_WITHIN: Duration = Duration::from_secs(30);

/// Asks everything at the same time. Each has to be told that the database does not answer.
#[expect(clippy::disallowed_methods, reason = "how long a client waits is what is tested")]
fn all_are_told(server: &Served) {
    let asked: [(&str, Value); 9] = [
        ("GetWorkers", json!({})),
        ("Crawl", json!({"url": "http://a.test/", "depth": 1})),
        ("AddSeeds", json!({"urls": ["http://a.test/"]})),
        ("Domains", json!({"worker": "x"})),
        ("PageRank", json!({})),
        ("Explain", json!({"url": "http://a.test/"})),
        ("Stats", json!({})),
        ("Pause", json!({})),
        ("Urls", json!({})),
    ];
    thread::scope(|scope| {
        for (method, request) in &asked {
            scope.spawn(move || {
                let began = Instant::now();
                let (status, answer) = server.post(method, request);
                let took = began.elapsed();
                assert_eq!((status, &answer["code"]), (503, &json!("UNAVAILABLE")), "{method}: {answer}");
                assert!(took < TOLD_WITHIN, "{method}: {took:?}");
            });
        }
    });
}

fn answers_again(server: &Served) {
    until("the server answers again", || server.post("GetWorkers", &json!({})).0 == 200);
}

#[test]
fn who_asks_is_told_in_time_that_the_database_is_gone() {
    let mut database = Postgres::start();
    let server = Served::first(&database, &[]);
    answers_again(&server);
    database.kill();
    all_are_told(&server);
    database.restart();
    database.wait();
    answers_again(&server);
}

#[test]
fn who_asks_is_told_in_time_that_the_database_is_silent() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    answers_again(&server);
    let paused = database.pause();
    all_are_told(&server);
    drop(paused);
    answers_again(&server);
}

/// Nobody has to ask for it, nor is anything to be crawled.
#[test]
fn an_outage_and_its_end_are_in_the_logs_of_server_and_worker() {
    let lab = Lab::new(Laid::out(1, 2, 1), &[]);
    let worker = lab.worker();
    let log = tempfile::NamedTempFile::new().expect("a file");
    let url = lab.database.lock().expect("nobody panicked").url();
    let file = log.reopen().expect("the file");
    let _server = Served::start_to(&["--store", &url], file.into());
    let logs = || [worker.said(), std::fs::read_to_string(log.path()).expect("its log")];
    let say = |what: &str| logs().iter().all(|said| said.contains(what));
    lab.database.lock().expect("nobody panicked").kill();
    until("the outage is noticed", || say("warning the database cannot be reached: "));
    assert!(!say("the database answers again"), "{:?}", logs());
    lab.database.lock().expect("nobody panicked").restart();
    until("its end is noticed", || say("info the database answers again, after "));
}
