//! `argiope watch`: known pages are visited again and again, within a budget.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crawl::CrawlDir;
use model::{Outcome, Past, Round, Visit};
use serde_json::Value;
use store::Batch;
use testweb::{Request, Web};

use crate::again::{Says, Site, ask, changes, crawl, kinds, run};
use crate::binary::{BINARY, Running};
use crate::served::Served;

#[test]
fn pages_are_watched_within_a_budget_until_somebody_stops_it() {
    let site = Site::new(Says::Tag, 20);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let watch = |more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&dir).args(["--every", "1s"]).args(more);
        command
    };
    let refused = run(&mut watch(&["--budget", "5/s"])).expect_code(1);
    assert!(refused.stderr.contains("no such directory"), "{}", refused.stderr);
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    for (arguments, expect) in [
        (["--budget", "many"], "is no number of visits in a time"),
        (["--budget", "0/day"], "is no number of visits in a time"),
        (["--every", "1ms"], "--budget"),
    ] {
        let refused = run(&mut watch(&arguments)).expect_code(2);
        assert!(refused.stderr.contains(expect), "{arguments:?}: {}", refused.stderr);
    }
    site.asked();
    site.set("/7", Says::Tag, "<title>Seven</title>");
    // No page is visited again before the time between two rounds has passed.
    std::thread::sleep(Duration::from_millis(1_500));
    let ended = run(&mut watch(&["--budget", "6/s", "--rounds", "5"])).expect_code(0);
    // 30 visits of 21 pages: each has had its turn.
    let asked = site.asked();
    assert!((21..=31).contains(&asked.len()), "{}", asked.len());
    assert_eq!(asked.iter().map(|(path, ..)| path).collect::<BTreeSet<_>>().len(), 21, "{asked:?}");
    assert_eq!(ended.stdout.lines().count(), 5, "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("1 changed").count(), 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("Z round 2: 6 URLs visited"), "{}", ended.stdout);
    ask("check", &dir, &[]);
    let running = Running::start(&mut watch(&["--budget", "1/h"]));
    while running.age() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(50));
    }
    running.signal("INT");
    let ended = running.end().expect_code(3);
    assert!(ended.stderr.contains("stopped; the same command goes on"), "{}", ended.stderr);
    assert_eq!(site.asked().len(), 0, "one visit an hour");
}

#[test]
fn a_watch_is_alone_waits_for_other_commands_and_is_stopped_between_rounds() {
    let site = Site::new(Says::Tag, 5);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    let watch = || {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "1/s"]);
        command
    };
    // A process that has the state open to commit.
    let store = CrawlDir::at(&dir).open_store(&CrawlDir::at(&dir).options().unwrap()).unwrap();
    let running = Running::start(&mut watch());
    let lock = dir.join("watch.lock");
    while !lock.exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Longer than a round waits for others.
    std::thread::sleep(Duration::from_millis(5_000));
    let second = run(&mut watch()).expect_code(1);
    assert!(second.stderr.contains("another `argiope watch` runs on it"), "{}", second.stderr);
    drop(store);
    site.asked();
    while site.replies.load(Ordering::Relaxed) < 9 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let steered = run(Command::new(BINARY).arg("steer").arg(&dir).arg("stop")).expect_code(0);
    assert!(steered.stdout.contains("stop: "), "{}", steered.stdout);
    let ended = running.end().expect_code(3);
    assert!(ended.stderr.contains("this round waits for the next turn"), "{}", ended.stderr);
    assert!(ended.stderr.contains("stopped; the same command goes on"), "{}", ended.stderr);
    assert!(!ended.stdout.contains(" 0 URLs visited"), "{}", ended.stdout);
}

#[test]
fn a_watch_names_the_problems_of_its_rounds_when_they_begin() {
    let site = Site::new(Says::Tag, 2);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    let history = std::fs::read_to_string(dir.join("history.jsonl")).unwrap();
    let mut ahead: Value = serde_json::from_str(history.lines().last().unwrap()).unwrap();
    ahead["at"] = (ahead["at"].as_u64().unwrap() + 3 * 86_400).into();
    std::fs::write(dir.join("history.jsonl"), format!("{history}{ahead}\n")).unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "9/s", "--rounds", "2"]);
    let ended = run(&mut watch).expect_code(0);
    let told = ended.stderr.matches("the system's clock is 2 days behind the last run").count();
    assert_eq!(told, 1, "{}", ended.stderr);
    assert!(!ended.stderr.contains("round 2 begins"), "{}", ended.stderr);
}

/// Dates the next visit of every page a year ahead, as by a clock that was wrong for a round.
fn visit_in_a_year(dir: &Path) {
    let dir = CrawlDir::at(dir);
    let store = dir.open_store(&dir.options().unwrap()).unwrap();
    let last = store.scan(None, usize::MAX).unwrap().into_iter().filter_map(|entry| entry.visit);
    let visits: Vec<Visit> = last
        .map(|last| {
            let past = Past { visits: last.past.visits + 1, ..last.past.clone() };
            let at = last.at + Duration::from_secs(365 * 86_400);
            let (outcome, content_at, location) = (Outcome::NotModified, Some(last.at), None);
            Visit { at, outcome, content_at, location, past, round: 2, duplicate_kind: last.kind(), ..last }
        })
        .collect();
    let round = Round { number: 2, began_at: visits[0].at, is_choosing: false };
    let again = visits.iter().map(|visit| visit.key).collect();
    store.commit(&Batch { again, round: Some(round), ..Batch::default() }).unwrap();
    store.commit(&Batch { visits, ..Batch::default() }).unwrap();
}

#[test]
fn a_clock_that_was_set_back_makes_no_page_new_and_keeps_none_from_being_watched() {
    let site = Site::new(Says::Tag, 5);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    visit_in_a_year(&dir);
    site.set("/2", Says::Tag, "<title>Two</title>");
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "6/s", "--rounds", "1"]);
    let ended = run(&mut watch).expect_code(0);
    assert!(ended.stdout.contains("round 3: 6 URLs visited: 1 changed, 5 unchanged"), "{}", ended.stdout);
    assert_eq!(kinds(&changes(&dir, &[])), [("/2", "changed")]);
    run(&mut crawl(&served, &dir, &["--again", "--older-than", "0s"])).expect_code(0);
    assert_eq!(kinds(&changes(&dir, &[])), [], "another round");

    // Nothing is due, and the watch says so, once.
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "1/day", "--rounds", "3"]);
    let ended = run(&mut watch).expect_code(0);
    assert_eq!(ended.stderr.matches("the budget allows the next visit at 20").count(), 1, "{}", ended.stderr);
    run(Command::new(BINARY).arg("steer").arg(&dir).args(["hold", "one.test"])).expect_code(0);
    // Whether they were visited a short time ago or not, they wait for the release.
    for every in ["1h", "1s"] {
        std::thread::sleep(Duration::from_millis(1_100));
        let mut watch = Command::new(BINARY);
        watch.arg("watch").arg(&dir).args(["--every", every, "--budget", "6/s", "--rounds", "1"]);
        let ended = run(&mut watch).expect_code(0);
        let why = "argiope: no page is due: 6 pages excluded, or of sites on hold or in trouble\n";
        assert_eq!(ended.stderr, why);
    }
}

#[test]
fn a_site_on_hold_and_an_excluded_part_keep_no_other_page_from_being_watched() {
    let (open, held) = (Site::new(Says::Tag, 4), Site::new(Says::Tag, 4));
    let (of_open, of_held) = (open.clone(), held.clone());
    let web = Web::new().site("one.test", testweb::from_fn(move |request: &Request| of_open.reply(request)));
    let served = Served::start(web.site("two.test", testweb::from_fn(move |request: &Request| of_held.reply(request))));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/", "http://two.test/"])).expect_code(0);
    let steer = |arguments: &[&str]| run(Command::new(BINARY).arg("steer").arg(&dir).args(arguments)).expect_code(0);
    // A round begins with the site, which is put on hold before its turn.
    run(&mut crawl(&served, &dir, &["--again", "--hold", "two.test"])).expect_code(3);
    let told: Value = serde_json::from_str(&ask("status", &dir, &["--json"])).unwrap();
    assert_eq!(
        (&told["urls"], &told["frontier"], &told["round"]["left"]),
        (&10.into(), &0.into(), &5.into()),
        "{told}"
    );
    steer(&["exclude", "*/3"]);
    drop((open.asked(), held.asked()));
    std::thread::sleep(Duration::from_millis(1_100));
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "4/s", "--rounds", "4"]);
    run(&mut watch).expect_code(0);
    let asked = open.asked();
    assert!(asked.len() >= 8, "{asked:?}");
    assert!(asked.iter().all(|(path, ..)| path != "/3"), "{asked:?}");
    assert!(held.asked().is_empty());
    steer(&["release", "two.test"]);
    run(&mut crawl(&served, &dir, &[])).expect_code(0);
    assert_eq!(held.asked().len(), 4, "what was left of the round, but for what is excluded");
    // What a rule has come to exclude keeps its visit, in the status and in exports.
    let told: Value = serde_json::from_str(&ask("status", &dir, &["--json"])).unwrap();
    assert_eq!(told["outcomes"].get("excluded"), None, "{told}");
    assert_eq!(ask("export", &dir, &["jsonl", "--outcome", "html", "--outcome", "duplicate"]).lines().count(), 10);

    // Unknown sites are named.
    let refused = run(Command::new(BINARY).arg("changes").arg(&dir).args(["--site", "tow.test"])).expect_code(2);
    assert!(refused.stderr.contains("--site: no such site in the crawl: tow.test; nearest: two.test"), "{refused:?}");
    let told = steer(&["hold", "tow.test"]);
    assert!(told.stderr.contains("no such site in the crawl: tow.test; nearest: two.test"), "{told:?}");
    assert_eq!(steer(&["hold", "two.test"]).stderr, "");
}

#[test]
fn a_watch_of_a_site_on_hold_says_so_once_and_goes_on_after_its_release() {
    let site = Site::new(Says::Tag, 4);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    // A round begins, and its only site is put on hold before its turn.
    run(&mut crawl(&served, &dir, &["--again", "--hold", "one.test"])).expect_code(3);
    site.asked();
    let watch = |more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "6/s"]).args(more);
        command
    };
    let ended = run(&mut watch(&["--rounds", "4"])).expect_code(0);
    assert_eq!(ended.stdout, "", "nothing was visited");
    let why = "the URLs left of the last round wait: their sites are on hold or in trouble";
    assert_eq!(ended.stderr.matches(why).count(), 1, "{}", ended.stderr);
    let running = Running::start(&mut watch(&[]));
    while running.age() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let told = run(Command::new(BINARY).arg("steer").arg(&dir).args(["release", "one.test"])).expect_code(0);
    assert!(told.stdout.contains("release one.test: "), "{}", told.stdout);
    while site.replies.load(Ordering::Relaxed) < 2 * 6 {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    let ended = running.end().expect_code(3);
    assert_eq!(ended.stderr.matches(why).count(), 1, "{}", ended.stderr);
    assert!(!ended.stdout.contains(" 0 URLs visited"), "{}", ended.stdout);
    assert!(site.asked().len() >= 5, "the rest of the round is visited: {}", ended.stdout);
}

#[test]
fn a_watch_of_a_paused_crawl_says_so_once_and_goes_on_after_resume() {
    let site = Site::new(Says::Tag, 4);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let steer = |what: &str| run(Command::new(BINARY).arg("steer").arg(&dir).arg(what)).expect_code(0).stdout;
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    steer("pause");
    site.asked();
    let watch = |more: &[&str]| {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&dir).args(["--every", "1s", "--budget", "6/s"]).args(more);
        command
    };
    let why = format!("argiope: the crawl is paused; `argiope steer {} resume` lets it go on\n", dir.display());
    let ended = run(&mut watch(&["--rounds", "3"])).expect_code(0);
    assert_eq!((ended.stdout.as_str(), &ended.stderr), ("", &why));
    assert_eq!(site.asked().len(), 0);
    let running = Running::start(&mut watch(&[]));
    while running.age() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(steer("resume").contains("it counts from the watch's next round"));
    while site.replies.load(Ordering::Relaxed) < 2 * 6 {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    let ended = running.end().expect_code(3);
    assert_eq!(ended.stderr.matches(&why).count(), 1, "{}", ended.stderr);
}

#[test]
fn a_quiet_crawl_that_is_paused_says_so() {
    let site = Site::new(Says::Tag, 4);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let steer = |what: &str| run(Command::new(BINARY).arg("steer").arg(&dir).arg(what)).expect_code(0);
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    steer("pause");
    let running = Running::start(&mut crawl(&served, &dir, &["--again", "-q"]));
    while !dir.join("live.socket").exists() {
        assert!(running.age() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    steer("resume");
    let ended = running.end().expect_code(0);
    let why = format!("argiope: the crawl is paused; `argiope steer {} resume` lets it go on\n", dir.display());
    assert_eq!((ended.stdout.as_str(), ended.stderr), ("", why));
}

#[test]
fn a_change_to_a_site_waits_until_a_busy_directory_is_free() {
    let site = Site::new(Says::Tag, 1);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    let store = CrawlDir::at(&dir).open_store(&CrawlDir::at(&dir).options().unwrap()).unwrap();
    let steering = Running::start(Command::new(BINARY).arg("steer").arg(&dir).args(["hold", "one.test"]));
    // Longer than a command waits that only reads.
    while steering.age() < Duration::from_secs(4) {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(store);
    let told = steering.end().expect_code(0);
    assert!(told.stdout.contains("hold one.test: noted"), "{}", told.stdout);
}

/// The limit was for the crawl: a watch visits the pages that it has, within its own budget.
#[test]
fn a_watch_leaves_the_urls_that_a_limit_left() {
    let site = Site::new(Says::Tag, 20);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/", "--max-pages", "4"])).expect_code(3);
    let known: BTreeSet<String> = site.asked().into_iter().map(|(path, ..)| path).collect();
    assert_eq!(known.len(), 4);
    let watch = |more: &[&str]| run(Command::new(BINARY).arg("watch").arg(&dir).args(more)).expect_code(0);
    // Nothing is due, so no line tells of a round.
    let ended = watch(&["--every", "1h", "--budget", "100/h", "--rounds", "1"]);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("no page is due: 4 pages visited too recently"), "{}", ended.stderr);
    std::thread::sleep(Duration::from_millis(1_500));
    // A new page that comes before some of the known ones.
    site.link(Says::Tag, 40);
    (20..40).for_each(|n| site.set(&format!("/{n}"), Says::Tag, "<title>New</title>"));
    let ended = watch(&["--every", "1s", "--budget", "2/s", "--rounds", "6"]);
    let asked: Vec<String> = site.asked().into_iter().map(|(path, ..)| path).collect();
    let visited: BTreeSet<String> = asked.iter().cloned().collect();
    assert_eq!(visited, known, "{}", ended.stdout);
    // In each round one request more may ask whether the site tells the truth.
    assert!(asked.len() <= 2 * 6 + 6, "{asked:?}");
    assert!(!ended.stdout.contains("round 1: ") && !ended.stderr.contains("reached"), "{ended:?}");
    // The crawl itself goes on with them.
    run(&mut crawl(&served, &dir, &["--max-pages", "1000"])).expect_code(0);
    let asked = site.asked();
    assert_eq!(asked.len(), 41 - 4, "{asked:?}");
}

#[test]
fn seeds_between_two_rounds_of_a_watch_are_for_the_next() {
    let site = Site::new(Says::Tag, 3);
    site.set("/extra", Says::Tag, "<title>Extra</title>");
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    let seeds = |more: &[&str]| {
        let seed = ["seeds", "http://one.test/extra"];
        run(Command::new(BINARY).arg("steer").arg(&dir).args([more, &seed].concat()))
    };
    assert!(seeds(&[]).expect_code(1).stderr.contains("no crawl runs there"));
    let mut watch = Command::new(BINARY);
    // Longer than two commands take, wherever the first round falls.
    watch.arg("watch").arg(&dir).args(["--every", "8s", "--budget", "1/day"]);
    let running = Running::start(&mut watch);
    while !dir.join("watch.lock").exists() {
        assert!(running.age() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    site.asked();
    let told = seeds(&["--dry-run"]).expect_code(0).stdout;
    assert!(told.ends_with("it would add 1 URL to the queue\n"), "{told}");
    let told = seeds(&[]).expect_code(0).stdout;
    assert!(told.ends_with("noted; it counts from the watch's next round\n"), "{told}");
    let mut asked = Vec::new();
    while asked.is_empty() {
        assert!(running.age() < Duration::from_secs(60), "it is not visited");
        std::thread::sleep(Duration::from_millis(20));
        asked = site.asked();
    }
    assert_eq!(asked[0].0, "/extra");
    running.signal("INT");
    running.end().expect_code(3);
    let why = ask("explain", &dir, &["http://one.test/extra"]);
    assert!(why.contains("seeds http://one.test/extra, 20"), "{why}");
}

#[test]
fn a_watch_ends_where_another_crawl_takes_the_place_of_its_own() {
    let site = Site::new(Says::Tag, 3);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let [first, second, place, next] = ["first", "second", "place", "next"].map(|name| dirs.path().join(name));
    for dir in [&first, &second] {
        run(&mut crawl(&served, dir, &["http://one.test/"])).expect_code(0);
    }
    std::os::unix::fs::symlink(&first, &place).unwrap();
    std::os::unix::fs::symlink(&second, &next).unwrap();
    let mut watch = Command::new(BINARY);
    watch.arg("watch").arg(&place).args(["--every", "1s", "--budget", "1/day"]);
    let running = Running::start(&mut watch);
    while !first.join("watch.lock").exists() {
        assert!(running.age() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    // At once: at no moment is there none.
    std::fs::rename(&next, &place).unwrap();
    let ended = running.end().expect_code(1);
    assert!(ended.stderr.contains("another directory was put in the place of the watched one"), "{}", ended.stderr);
}
