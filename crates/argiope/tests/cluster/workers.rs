//! Real workers: the same crawl as by one process, whatever becomes of them, and no address asked too soon.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use testdb::until;
use testweb::LogEntry;

use crate::lab::{DELAY, Lab, Laid, SHORT_LEASE};
use crate::served::one_line;
use testkit::judge::{address_of, check_gaps, site_of};
use testkit::ran::argiope;

/// The report but for what no two crawls have the same: times.
fn report(dir: &std::path::Path) -> Value {
    let dir = dir.to_str().expect("UTF-8");
    let ran = argiope(&["report", dir, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut report = ran.json();
    for part in ["speed", "slowest_sites"] {
        report.as_object_mut().expect("an object").remove(part);
    }
    report
}

pub fn check_polite(log: &[LogEntry]) {
    check_delay(log, DELAY);
}

/// No address is asked sooner than `delay` after it was asked last, and no site but for its robots.txt.
pub fn check_delay(log: &[LogEntry], delay: Duration) {
    check_gaps(log, address_of, delay);
    let pages: Vec<LogEntry> = log.iter().filter(|entry| entry.target != "/robots.txt").cloned().collect();
    check_gaps(&pages, site_of, delay);
}

/// How often each page was asked for.
pub fn asked(log: &[LogEntry]) -> BTreeMap<String, usize> {
    let mut asked = BTreeMap::new();
    for entry in log {
        *asked.entry(format!("{}{}", site_of(entry), entry.target)).or_default() += 1;
    }
    asked
}

/// The URLs that were asked for more often, with each request.
pub fn beyond(log: &[LogEntry], times_max: usize) -> Vec<(String, Vec<&LogEntry>)> {
    let often = asked(log).into_iter().filter(|(_, times)| *times > times_max);
    let requests =
        |url: &str| log.iter().filter(|entry| format!("{}{}", site_of(entry), entry.target) == url).collect();
    often.map(|(url, _)| (url.clone(), requests(&url))).collect()
}

#[test]
fn four_workers_crawl_what_one_process_crawls() {
    let mut lab = Lab::new(Laid::out(12, 240, 6), &[]);
    let workers: Vec<_> = (0..4).map(|_| lab.worker()).collect();
    let answer = lab.crawl();
    assert_eq!(answer["fetched"], 240, "{answer}");
    check_polite(&lab.web.log());
    let log = lab.web.log();
    let twice = beyond(&log, 1);
    assert!(twice.is_empty(), "asked for twice: {twice:#?}");
    let owners = lab.number("SELECT count(DISTINCT owner) FROM argiope.politeness_group WHERE name LIKE '127.%'");
    assert!(owners >= 3, "{owners} of four workers own something");

    let together = lab.pages();
    for worker in workers {
        let (code, said) = worker.leave();
        assert_eq!(code, Some(0));
        assert!(said.lines().all(|line| line.contains("Z info ")), "each line has time and level: {said}");
        assert!(said.trim_end().ends_with("has left") && !said.contains("joining again"), "nothing went wrong: {said}");
    }
    assert_eq!(lab.number("SELECT count(*) FROM argiope.segment WHERE NOT is_sealed"), 0);
    assert_eq!(lab.pages(), together, "what was sealed stays");
    let shared = lab.shared();
    let held = argiope(&["derive", shared.to_str().expect("UTF-8")]);
    let expect = "is in use by the server or a worker of its crawl, or by another command: drain the workers (`argiope client drain`), end the server";
    assert!(held.code == 1 && held.stderr.contains(expect), "{held:?}");
    lab.served.kill();
    let alone = lab.web.crawled_alone();
    for command in ["derive", "check", "status"] {
        let ran = argiope(&[command, shared.to_str().expect("UTF-8")]);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
    }
    let (together, alone) = (report(&shared), report(alone.path()));
    for (part, of_one) in alone.as_object().expect("an object") {
        assert_eq!(together.get(part), Some(of_one), "{part}");
    }
}

#[test]
fn every_page_is_fetched_whatever_becomes_of_workers_and_database() {
    const SITES: u64 = 12;
    let mut lab = Lab::new(Laid::out(SITES, 600, 6), &SHORT_LEASE);
    let mut workers: Vec<_> = (0..4).map(|_| lab.worker()).collect();
    lab.served.add(crate::lab::SEED);
    let visited = || lab.number("SELECT count(*) FROM argiope.visit");
    let some_more = |share: i64| until("more visits", || visited() > 600 * share / 10);

    some_more(1);
    workers.remove(0).kill();
    workers.push(lab.worker());
    some_more(2);
    workers[0].signal("STOP");
    std::thread::sleep(Duration::from_secs(4));
    workers[0].signal("CONT");
    some_more(3);
    {
        let mut database = lab.database.lock().expect("nobody panicked");
        database.kill();
        database.restart();
        database.wait();
    }
    some_more(4);
    assert_eq!(workers.remove(1).leave().0, Some(0));
    workers.remove(0).kill();
    workers.push(lab.worker());

    let answer = lab.crawl();
    assert_eq!(answer["fetched"], 600, "{answer}");
    check_polite(&lab.web.log());
    assert!(lab.pages().values().all(|(outcome, _)| outcome.is_some()), "every URL has an outcome");
    assert_eq!(lab.number("SELECT count(*) FROM argiope.queue"), 0);

    // What a killed worker had not sealed is recorded again, robots.txt files too.
    assert!(workers.into_iter().all(|worker| worker.leave().0 == Some(0)));
    lab.served.kill();
    let index = argiope(&["export", lab.shared().to_str().expect("UTF-8"), "cdxj"]);
    let recorded = |line: &str| line.split('"').find(|word| word.ends_with("/robots.txt")).map(str::to_owned);
    let robots: BTreeSet<String> = index.stdout.lines().filter_map(recorded).collect();
    assert_eq!(robots.len() as u64, SITES, "{index:?}");

    // Somebody who asks without a lease is noticed.
    lab.web.ask_twice("s0000.synthetic.test", "/p/1");
    let judged = std::panic::catch_unwind(|| check_polite(&lab.web.log()));
    assert!(judged.is_err(), "two requests at once");
}

#[test]
fn a_crawl_without_any_hint_is_slower_and_complete() {
    // Workers look for URLs that no hint leads them to several times in each lease.
    let lab = Lab::new(Laid::out(6, 60, 3), &SHORT_LEASE);
    let _workers = [lab.worker(), lab.worker(), lab.worker()];
    let mut client = lab.database.lock().expect("nobody panicked").client();
    let lose = "CREATE FUNCTION argiope.lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER lose BEFORE INSERT ON argiope.hint FOR EACH ROW EXECUTE FUNCTION argiope.lose()";
    client.batch_execute(lose).expect("made");
    let answer = lab.crawl();
    assert_eq!(answer["fetched"], 60, "{answer}");
    // On a busy machine a lease may end. What its worker had not sealed is asked for once more then.
    let lost = lab.number("SELECT count(*) FROM argiope.worker WHERE state <> 'alive'");
    let lost = usize::try_from(lost).expect("a number");
    let log = lab.web.log();
    let often = beyond(&log, 1 + lost);
    assert!(often.is_empty(), "asked for more than once by workers of which {lost} were lost: {often:#?}");
}

#[test]
fn what_keeps_a_worker_from_joining_is_told_in_one_line() {
    let lab = Lab::new(Laid::out(1, 1, 1), &[]);
    let check = |arguments: &[&str], expect: &str| {
        let ran = argiope(&[&["worker"], arguments].concat());
        let line = one_line(&ran);
        assert!(line.contains(expect), "{line} instead of {expect}");
    };
    let used = tempfile::tempdir().expect("a directory");
    std::fs::write(used.path().join("letters"), "").expect("a file");
    let directory = used.path().to_str().expect("UTF-8");
    check(&["127.0.0.1:1"], "the server at 127.0.0.1:1: Connection refused");
    check(&[&lab.served.workers, "--dir", directory], "is not empty, and not a worker's directory");
    check(&[&lab.served.workers, "--listen", "0.0.0.0:0"], "is open to other machines, so a token is needed");
    // Its directory has become a file.
    std::fs::remove_dir_all(lab.shared()).expect("removed");
    std::fs::write(lab.shared(), "").expect("a file");
    check(&[&lab.served.workers], "cannot be opened: File exists");
    std::fs::remove_file(lab.shared()).expect("removed");
    let mut client = lab.database.lock().expect("nobody panicked").client();
    client.batch_execute("UPDATE argiope.meta SET version = 99").expect("changed");
    drop(client);
    check(&[&lab.served.workers], "has format version 99; this program reads version ");
    lab.database.lock().expect("nobody panicked").kill();
    check(&[&lab.served.workers], "opening the store");
}

/// Nothing can be marked as sealed while this is so.
const FAIL: &str = "CREATE FUNCTION argiope.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''it fails''; END';
    CREATE TRIGGER fail BEFORE UPDATE OF is_sealed ON argiope.segment FOR EACH ROW EXECUTE FUNCTION argiope.fail()";

#[test]
fn a_worker_that_cannot_seal_begins_again_and_seals_all() {
    let lab = Lab::new(Laid::out(2, 20, 2), &[]);
    let worker = lab.worker();
    lab.execute(FAIL);
    lab.crawl();
    until("it notices", || worker.said().contains(": joining again"));
    let said = worker.said();
    assert!(said.lines().any(|line| line.contains("sealing ") && line.contains("it fails")), "{said}");
    lab.execute("DROP TRIGGER fail ON argiope.segment");
    // What was not sealed is crawled again.
    lab.crawl();
    until("all to be sealed", || {
        lab.number("SELECT count(*) FROM argiope.segment WHERE is_sealed") > 0
            && lab.served.asked(&["stats"])["segments_open"] == 0
    });
    assert_eq!(worker.leave().0, Some(0));
}

#[test]
fn a_worker_that_is_lost_while_it_leaves_does_not_end_as_if_all_were_well() {
    let lab = Lab::new(Laid::out(2, 20, 2), &[]);
    let worker = lab.worker();
    lab.execute(FAIL);
    lab.served.add(crate::lab::SEED);
    until("a visit", || lab.number("SELECT count(*) FROM argiope.visit") > 0);
    let (code, said) = worker.leave();
    assert!(code != Some(0) && !said.contains("joining again"), "{code:?}: {said}");
    assert!(said.contains("this worker was lost while it left: its unsealed pages are crawled again: "), "{said}");
}

#[test]
fn a_worker_that_is_drained_does_not_join_again_where_it_is_lost_meanwhile() {
    let lab = Lab::new(Laid::out(2, 400, 2), &["--lease", "6s"]);
    let worker = lab.worker();
    lab.execute(FAIL);
    lab.served.add(crate::lab::SEED);
    until("a visit", || lab.number("SELECT count(*) FROM argiope.visit") > 0);
    assert_eq!(lab.served.client(&["drain", &worker.name()]).code, 0);
    let (code, said) = worker.ended();
    assert!(code != Some(0) && !said.contains("joining again"), "{code:?}: {said}");
    assert!(said.contains("this worker was lost while it left"), "{said}");
}

#[test]
fn a_worker_renews_its_lease_however_long_it_takes_to_begin() {
    let lab = Lab::new(Laid::out(1, 1, 1), &SHORT_LEASE);
    let mut client = lab.database.lock().expect("nobody panicked").client();
    // Before it joins, it looks through what is sealed, and there may be much of that.
    let mut looking = client.transaction().expect("begun");
    looking.batch_execute("LOCK TABLE argiope.segment IN ACCESS EXCLUSIVE MODE").expect("locked");
    let mut other = lab.database.lock().expect("nobody panicked").client();
    let mut holding = other.transaction().expect("begun");
    holding.batch_execute("LOCK TABLE argiope.secret IN ACCESS EXCLUSIVE MODE").expect("locked");
    std::thread::scope(|scope| {
        let joining = scope.spawn(|| lab.worker());
        // The server counts segments at times, too.
        let waits = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE relation = 'argiope.segment'::regclass AND NOT granted AND query LIKE 'SELECT serial FROM segment %'";
        until("it to look", || lab.number(waits) == 1);
        assert_eq!(lab.number("SELECT count(*) FROM argiope.worker"), 0, "nobody counts on it yet");
        looking.rollback().expect("unlocked");
        let renewed = "SELECT count(*) FROM argiope.worker WHERE lease_until > joined_at + interval '3 s'";
        until("its lease to be renewed", || lab.number(renewed) == 1);
        holding.rollback().expect("unlocked");
        let worker = joining.join().expect("no panic");
        assert!(!worker.said().contains("joining again"), "{}", worker.said());
    });
}

#[test]
fn a_life_that_fails_leaves_no_other_worker_behind() {
    let lab = Lab::new(Laid::out(1, 1, 1), &[]);
    let worker = lab.worker();
    // As by a later server.
    lab.execute("UPDATE argiope.crawl SET in_force = 'depth = [', changes = changes + 1");
    until("several lives", || worker.said().matches(": joining again").count() > 2);
    let alive = lab.number("SELECT count(*) FROM argiope.worker WHERE state <> 'dead'");
    assert!(alive <= 1, "{alive} of one worker");
}
