//! A database that is gone, or silent: clients get an error in time, and an answer when it is back.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testdb::{Postgres, until};

use crate::lab::{Lab, Laid};
use crate::served::Served;

/// A client gets its error within this time. It took a minute or two before. What the server's own limits guarantee by a clock that no
/// machine holds up is tested beside them (`service/src/server/pulse.rs`).
const TOLD_WITHIN: Duration = Duration::from_secs(15);

/// Time as a thread sees it that does nothing but sleep: where the machine is too busy to wake it, it is too busy to wake the server.
const TICK: Duration = Duration::from_millis(100);

/// Does something that can read how many [`TICK`]s have passed.
fn beside_ticks(work: impl FnOnce(&AtomicU32)) {
    /// Ends the ticks, however the work ends.
    struct Over<'a>(&'a AtomicBool);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }

    let (ticks, is_over) = (AtomicU32::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(SeqCst) {
                thread::sleep(TICK);
                ticks.fetch_add(1, SeqCst);
            }
        });
        let _over = Over(&is_over);
        work(&ticks);
    });
}

/// Asks all of these at the same time. Each has to be told that the database does not answer.
fn are_told(server: &Served, asked: &[(&str, Value)]) {
    beside_ticks(|ticks| {
        thread::scope(|scope| {
            for (method, request) in asked {
                scope.spawn(move || {
                    let began = ticks.load(SeqCst);
                    let (status, answer) = server.post(method, request);
                    let took = TICK * (ticks.load(SeqCst) - began);
                    assert_eq!((status, &answer["code"]), (503, &json!("UNAVAILABLE")), "{method}: {answer}");
                    assert!(took < TOLD_WITHIN, "{method}: {took:?}");
                });
            }
        });
    });
}

fn all_are_told(server: &Served) {
    let url = || json!({"url": "http://a.test/"});
    are_told(
        server,
        &[
            ("GetWorkers", json!({})),
            ("Crawl", json!({"url": "http://a.test/", "depth": 1})),
            ("AddSeeds", json!({"urls": ["http://a.test/"]})),
            ("Domains", json!({"worker": "x"})),
            ("PageRank", json!({})),
            ("Explain", url()),
            ("Record", url()),
            ("Copies", url()),
            ("Stats", json!({})),
            ("Report", json!({})),
            ("Report", json!({})),
            ("Freshness", json!({})),
            ("Again", json!({})),
            ("ForeseeAgain", json!({})),
            ("Steer", json!({"change": "exclude", "to": ["*.pdf"]})),
            ("Journal", json!({})),
            ("Pause", json!({})),
            ("Urls", json!({})),
        ],
    );
    // A server has this in memory.
    assert_eq!(server.post("History", &json!({})).0, 200);
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

/// Reports are counted one at a time, and the first one may have been cut off in the middle.
#[test]
fn a_wait_for_a_turn_ends_in_time_too() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    answers_again(&server);
    let mut client = database.client();
    let mut locked = client.transaction().expect("a database");
    locked.batch_execute("LOCK TABLE argiope.url").expect("a table");
    thread::scope(|scope| {
        let first = scope.spawn(|| server.post("Report", &json!({})));
        let mut beside = database.client();
        let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'argiope.url'::regclass";
        until("the report is being counted", || beside.query_one(waits, &[]).expect("a database").get::<_, i64>(0) > 0);
        let paused = database.pause();
        are_told(&server, &[("Report", json!({})), ("Report", json!({}))]);
        assert_eq!(first.join().expect("no panic").0, 503);
        drop(paused);
    });
    drop(locked);
    answers_again(&server);
    until("a report is counted", || server.post("Report", &json!({})).0 == 200);
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
