//! A server that is killed loses no acknowledged commit, and the process that commits continues when it is back.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use store::{MemoryStore, Store};
use testdb::{Postgres, until};

use crate::place::Place;
use testkit::batches::{content, expected, last_number, numbered};

const ROUNDS: u64 = 6;

#[test]
fn what_was_acknowledged_survives_kill_9_of_the_server_and_the_crawl_goes_on() {
    let mut server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    let memory = MemoryStore::new();
    let acknowledged = AtomicU64::new(0);
    let target = AtomicU64::new(u64::MAX);
    thread::scope(|scope| {
        let crawl = scope.spawn(|| {
            for number in 1.. {
                if number > target.load(SeqCst) {
                    break;
                }
                // The answer, too, is what it would have been: nothing fresh goes unreported by a retry.
                assert_eq!(
                    store.commit(&numbered(number)).expect("commit"),
                    memory.commit(&numbered(number)).expect("commit")
                );
                acknowledged.store(number, SeqCst);
            }
        });
        for round in 0..ROUNDS {
            let before = acknowledged.load(SeqCst);
            until("commits", || acknowledged.load(SeqCst) > before + 5 || crawl.is_finished());
            // The moments are spread over a commit by a fixed rule.
            thread::sleep(Duration::from_micros(round * 1_237 % 5_000));
            server.kill();
            let acknowledged = acknowledged.load(SeqCst);
            server.restart();
            server.wait();
            let mut client = server.client();
            let last = format!("SELECT length FROM {}.segment", place.schema);
            let last: i64 = client.query_one(&last, &[]).expect("a segment").get(0);
            assert!(last.cast_unsigned() >= acknowledged, "round {round}: {last} after {acknowledged}");
        }
        target.store(acknowledged.load(SeqCst) + 5, SeqCst);
    });
    let last = last_number(&store);
    assert!(content(&store) == expected(last), "not the content after batch {last}");
    drop(store);
    assert!(content(&place.open().expect("open")) == expected(last));
}
