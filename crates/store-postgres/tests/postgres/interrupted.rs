//! What a server does to sessions that were quiet, slow or in the way costs time, and no commit.

use std::thread;

use coordination::{Epoch, Worker};
use model::Timestamp;
use store::{CrawlView, MemoryStore, Store};
use store_postgres::PostgresStore;
use store_postgres::cluster::Control;
use testdb::{Postgres, until};

use crate::cluster::{LONG, QUIET, group, join, page};
use crate::place::{ALL_SEEDS, Place};
use testkit::batches::{content, expected, numbered};

fn commit(store: &PostgresStore, number: u64) {
    assert_ne!(store.commit(&numbered(number)).expect("commit"), store::Committed::default(), "batch {number}");
}

fn ask<T: for<'a> postgres::types::FromSql<'a>>(server: &Postgres, question: &str) -> T {
    server.client().query_one(question, &[]).expect("the server answers").get(0)
}

/// How many sessions of the program there are.
fn sessions(server: &Postgres) -> i64 {
    ask(server, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'argiope'")
}

#[test]
fn sessions_that_the_server_ends_for_being_idle_are_made_again() {
    let server = Postgres::start_with(&["fsync=off", "idle_session_timeout=100ms"]);
    let place = Place::on(&server);
    let store = place.open().expect("open");
    for number in 1..=3 {
        until("they are ended", || sessions(&server) == 0);
        commit(&store, number);
        until("they are ended", || sessions(&server) == 0);
        assert!(content(&store) == expected(number));
    }
}

#[test]
fn a_commit_that_is_cancelled_is_repeated() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    commit(&store, 1);
    let mut other = server.client();
    let mut transaction = other.transaction().expect("a transaction");
    transaction.batch_execute(&format!("LOCK TABLE {}.visit", place.schema)).expect("a lock");
    thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, 2));
        // Each attempt opens a new connection.
        let waiting =
            || ask::<i32>(&server, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
        let mut cancelled = 0;
        for _ in 0..2 {
            until("it waits", || ![0, cancelled].contains(&waiting()));
            cancelled = waiting();
            assert!(ask::<bool>(&server, &format!("SELECT pg_cancel_backend({cancelled})")));
        }
        transaction.commit().expect("commit");
        committing.join().expect("no panic");
    });
    assert!(content(&store) == expected(2));
}

/// What is answered though the connection is lost behind the commit of it, before the answer.
fn interrupted<A: Send>(server: &Postgres, ask: impl FnOnce() -> A + Send) -> A {
    // A commit that waits for a standby is done here already.
    let wait_for = |standby: &str| {
        let mut client = server.client();
        let setting = format!("ALTER SYSTEM SET synchronous_standby_names = '{standby}'");
        client.batch_execute(&setting).expect("the server answers");
        client.batch_execute("SELECT pg_reload_conf()").expect("the server answers");
        until("it is set", || self::ask::<String>(server, "SHOW synchronous_standby_names") == standby);
    };
    wait_for("nowhere");
    thread::scope(|scope| {
        let asking = scope.spawn(ask);
        let waiting = "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        let pid = || self::ask::<i32>(server, waiting);
        until("it waits", || pid() != 0 || asking.is_finished());
        let pid = pid();
        assert_ne!(pid, 0, "it was answered before it was durable");
        assert!(self::ask::<bool>(server, &format!("SELECT pg_terminate_backend({pid})")));
        wait_for("");
        asking.join().expect("no panic")
    })
}

#[test]
fn a_commit_that_is_done_though_its_end_was_lost_is_not_made_twice() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    let memory = MemoryStore::new();
    commit(&store, 1);
    memory.commit(&numbered(1)).expect("commit");
    let committed = interrupted(&server, || store.commit(&numbered(2)).expect("commit"));
    assert_eq!(committed, memory.commit(&numbered(2)).expect("commit"));
    commit(&store, 3);
    assert!(content(&store) == expected(3));
}

#[test]
fn a_group_that_is_given_away_stays_so_though_the_answer_was_lost() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let (one, other) = (join(&place, LONG), join(&place, LONG));
    one.place(&[(page(0, 0).site(), group(0)), (page(1, 0).site(), group(1))]).expect("placed");
    one.assign(&[(group(0), one.id()), (group(1), one.id())], QUIET).expect("assigned");
    let epochs: Vec<_> = one.owned().expect("owned").into_iter().map(|owned| (owned.group, owned.epoch)).collect();
    let [(first, first_epoch), (second, second_epoch)] = &epochs[..] else { panic!("{epochs:?}") };
    assert!(interrupted(&server, || one.hand_over((first, *first_epoch), other.id(), QUIET).expect("asked")));
    let arrived = other.owned().expect("owned").swap_remove(0);
    assert_eq!((&arrived.group, arrived.epoch), (first, Epoch(first_epoch.0 + 1)), "once");
    // The group may have a third owner before the first one has its answer.
    assert!(other.hand_over((first, arrived.epoch), one.id(), QUIET).expect("asked"));
    assert!(one.hand_over((first, *first_epoch), other.id(), QUIET).expect("asked"));
    assert_eq!(one.owned().expect("owned").len(), 2, "what it got back under another epoch it keeps");
    interrupted(&server, || one.give_up((second, *second_epoch)).expect("asked"));
    assert_eq!(one.ownerless(9).expect("ownerless").swap_remove(0).group, *second);
}

#[test]
fn a_worker_joins_once_though_the_answer_was_lost() {
    let server = Postgres::start();
    let place = Place::on(&server);
    drop(place.open().expect("open"));
    let worker = interrupted(&server, || join(&place, LONG));
    let members = worker.members().expect("read").into_iter().map(|member| member.id).collect::<Vec<_>>();
    assert_eq!(members, [worker.id()]);
    worker.commit(&[], ALL_SEEDS, &numbered(1)).expect("it may commit");
}

#[test]
fn a_crawl_that_is_forgotten_though_the_answer_was_lost_was_the_one_meant() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let id = place.open().expect("open").crawl_id().expect("an id");
    assert!(interrupted(&server, || Control::forget(&place.address, &place.schema, &id).expect("asked")));
    assert_ne!(place.open().expect("open").crawl_id().expect("an id"), id);
    assert!(!Control::forget(&place.address, &place.schema, &id).expect("asked"), "another is not");
}

#[test]
fn a_change_that_is_made_though_the_answer_was_lost_is_made_once() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let control = Control::open(&place.address, &place.schema).expect("opened");
    control.set_up(&crate::control::setup("depth = 3", 20)).expect("set up");
    let changes = |after, at, texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(ToString::to_string).collect();
        control.change(after, None, Timestamp(at), &texts).expect("asked")
    };
    assert_eq!(interrupted(&server, || changes(0, 7, &["\"pause\"", "\"hold\""])), Some(2));
    assert_eq!(control.changes(9).expect("read").len(), 2, "once");
    assert_eq!(changes(0, 8, &["\"pause\"", "\"hold\""]), None, "at another time it is another change");
    assert_eq!(changes(0, 7, &["\"pause\"", "\"drop\""]), None);
    assert_eq!(changes(1, 7, &["\"hold\"", "\"drop\""]), None, "a part is not the whole");
}

/// An answer means that a crash of the machine does not undo what it says.
#[test]
fn what_workers_and_servers_write_beside_commits_is_durable_though_the_database_is_less_careful() {
    let server = Postgres::start();
    server.client().batch_execute("ALTER DATABASE postgres SET synchronous_commit = off").expect("it is ours");
    let place = Place::on(&server);
    let control = Control::open(&place.address, &place.schema).expect("opened");
    interrupted(&server, || control.set_up(&crate::control::setup("depth = 3", 20)).expect("set up"));
    let worker = join(&place, LONG);
    interrupted(&server, || worker.renew().expect("it is alive"));
}

#[test]
fn a_database_that_is_read_only_for_a_while_is_waited_for() {
    let server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    commit(&store, 1);
    let set = |is_read_only: &str| {
        let statement = format!("ALTER DATABASE postgres SET default_transaction_read_only = {is_read_only}");
        let mut client = server.client();
        client.batch_execute("SET default_transaction_read_only = off").expect("the server answers");
        client.batch_execute(&statement).expect("the server answers");
    };
    let refused = || ask::<i64>(&server, "SELECT xact_rollback FROM pg_stat_database WHERE datname = 'postgres'");
    set("on");
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'argiope'";
    server.client().batch_execute(end).expect("the server answers");
    let before = refused();
    thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, 2));
        until("it was refused", || refused() > before || committing.is_finished());
        assert!(!committing.is_finished());
        set("off");
        committing.join().expect("no panic");
    });
    assert!(content(&store) == expected(2));
}

/// After a failover the address leads to a server that follows for a moment yet.
#[test]
fn nothing_is_read_from_a_standby_and_who_commits_waits_for_its_promotion() {
    let mut server = Postgres::start();
    let place = Place::on(&server);
    let store = place.open().expect("open");
    commit(&store, 1);
    server.kill();
    server.demote();
    server.restart();
    server.wait();
    let error = place.open().err().expect("not to open");
    assert!(error.to_string().contains("is a standby"), "{error}");
    thread::scope(|scope| {
        let committing = scope.spawn(|| commit(&store, 2));
        let reading = scope.spawn(|| store.totals().expect("totals"));
        // Each of the two connects again and again, and this question does for itself.
        let connected = || ask::<i64>(&server, "SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'");
        let (before, mut asked) = (connected(), 0);
        until("they were refused", || {
            asked += 1;
            connected() - before - asked >= 4 || committing.is_finished() || reading.is_finished()
        });
        assert!(!committing.is_finished() && !reading.is_finished());
        let promoted = server.client().query_one("SELECT pg_promote()", &[]).expect("the server answers");
        assert!(promoted.get::<_, bool>(0));
        committing.join().expect("no panic");
        reading.join().expect("no panic");
    });
    assert!(content(&store) == expected(2));
}
