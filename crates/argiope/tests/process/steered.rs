//! A crawl is changed while it runs, and is killed.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use crawl::made::{Made, make, take_back};
use crawl::steer::{TakeBack, Undo};
use crawl::{Change, Changed, CrawlDir};
use serde_json::{Value, json};
use testweb::{Pages, Reply, Request, Web, from_fn};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

/// Longer than anything here takes.
const AGE_MAX: Duration = Duration::from_secs(120);

fn web() -> Web {
    let links = |n: usize| (0..n).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<String>();
    let pages = (0..40).fold(Pages::new().html("/", links(40)), |pages, n| pages.html(format!("/{n}"), n.to_string()));
    let other = Pages::new().html("/", "<p>another").html("/more", "<p>more");
    Web::new().site("one.test", pages).site("two.test", other)
}

fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(["crawl", "--ip-delay", "0", "--no-sitemaps", "--progress", "none"]);
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

fn ask(command: &str, dir: &Path, more: &[&str]) -> Ended {
    Running::start(Command::new(BINARY).arg(command).arg(dir).args(more)).end()
}

fn steer(dir: &Path, more: &[&str]) -> String {
    ask("steer", dir, more).expect_code(0).stdout
}

fn status(dir: &Path) -> Value {
    serde_json::from_str(&ask("status", dir, &["--json"]).expect_code(0).stdout).unwrap()
}

fn outcome(dir: &Path, name: &str) -> u64 {
    status(dir)["outcomes"][name].as_u64().unwrap_or_default()
}

fn wait_until(running: &Running, holds: impl Fn() -> bool) {
    while !holds() {
        assert!(running.age() < AGE_MAX, "it does not come to that");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// Waits until a crawl answers and has fetched something.
fn wait_for_pages(dir: &Path, running: &Running, pages: u64) {
    wait_until(running, || dir.join("live.socket").exists() && status(dir)["fetched"].as_u64() >= Some(pages));
}

#[test]
fn a_crawl_is_paused_corrected_extended_and_goes_on() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let mut running = Running::start(&mut crawl(&served, &dir, &["http://one.test/", "--delay", "100ms"]));
    wait_for_pages(&dir, &running, 2);
    assert_eq!(steer(&dir, &["pause"]), "pause: in force\n");
    // What was under way may still come.
    wait_until(&running, || {
        let before = status(&dir);
        std::thread::sleep(Duration::from_millis(400));
        status(&dir) == before
    });
    let told = status(&dir);
    assert_eq!(told["paused"], json!(true));
    let frontier = told["frontier"].as_u64().unwrap();
    let dry = steer(&dir, &["--dry-run", "exclude", "*/1*"]);
    assert!(dry.contains("it would concern "), "{dry}");
    let excluded: u64 = dry.split_once("concern ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!(excluded > 0 && excluded < frontier, "{dry}");
    assert_eq!(status(&dir), told, "a dry run changes nothing");
    steer(&dir, &["exclude", "*/1*"]);
    let seeds = |dry: &[&str]| steer(&dir, &[dry, &["seeds", "http://two.test/"]].concat());
    assert_eq!(seeds(&["--dry-run"]), "seeds http://two.test/: it would add 1 URL to the queue\n");
    assert_eq!(seeds(&[]), "seeds http://two.test/: in force\n");
    assert_eq!(seeds(&[]), "seeds http://two.test/: in force; 1 URL is given as seeds already\n");
    let again = seeds(&["--dry-run"]);
    assert!(again.ends_with("0 URLs in the queue; 1 URL is given as seeds already\n"), "{again}");
    for (budget, says) in [("1", ": the run ends at once (--max-pages)\n"), ("1000", " more may be (--max-pages)\n")] {
        let dry = steer(&dir, &["--dry-run", "set", "--max-pages", budget]);
        assert!(dry.ends_with(says), "{dry}");
    }
    let dry = steer(&dir, &["--dry-run", "set", "--max-time", "1h"]);
    assert!(dry.contains("the run has lasted ") && dry.ends_with(" more (--max-time)\n"), "{dry}");
    steer(&dir, &["hold", "two.test"]);
    let explained = ask("explain", &dir, &["http://two.test/"]).expect_code(0).stdout;
    assert!(explained.contains("on hold") && explained.contains("seeds http://two.test/, 20"), "{explained}");
    // A kill loses nothing of it.
    running.signal("KILL");
    running.end();
    std::fs::remove_file(dir.join("live.socket")).unwrap();
    running = Running::start(&mut crawl(&served, &dir, &[]));
    wait_until(&running, || dir.join("live.socket").exists());
    assert_eq!(status(&dir)["fetched"], told["fetched"], "the crawl is still paused");
    steer(&dir, &["delay", "0", "one.test"]);
    steer(&dir, &["resume"]);
    let ended = running.end().expect_code(3);
    assert!(
        ended.stderr.contains("the crawl is paused") && ended.stderr.contains("of 1 site on hold"),
        "{}",
        ended.stderr
    );
    let told = status(&dir);
    assert_eq!((&told["frontier"], &told["outcomes"]["excluded"]), (&json!(1), &json!(excluded)));
    assert_eq!(told["hold"], json!(["two.test"]));
    assert!(steer(&dir, &["release", "two.test"]).starts_with("release two.test: noted;"));
    Running::start(&mut crawl(&served, &dir, &[])).end().expect_code(0);
    assert_eq!(status(&dir)["frontier"], json!(0));
    let why = ask("explain", &dir, &["http://one.test/11"]).expect_code(0).stdout;
    assert!(why.contains("exclude */1*, 20"), "{why}");
    ask("check", &dir, &[]).expect_code(0);
}

/// A site whose page `/lost` is not there until the switch is thrown.
fn web_with_a_lost_page(is_there: Arc<AtomicBool>) -> Web {
    let links: String = (0..40).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let page = move |request: &Request| match request.path() {
        "/robots.txt" => Reply::new(404),
        "/lost" if !is_there.load(SeqCst) => Reply::new(404),
        "/" => Reply::new(200).header("Content-Type", "text/html").body(links.clone()),
        path => Reply::new(200).header("Content-Type", "text/html").body(format!("<p>page {path}")),
    };
    Web::new().site("one.test", from_fn(page))
}

#[test]
fn failures_are_visited_again_and_urls_leave_the_queue() {
    let is_there = Arc::<AtomicBool>::default();
    let (served, dirs) = (Served::start(web_with_a_lost_page(is_there.clone())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let seeds = ["http://one.test/", "http://one.test/lost", "--delay", "200ms", "--max-pages", "2"];
    Running::start(&mut crawl(&served, &dir, &seeds)).end().expect_code(3);
    assert_eq!(status(&dir)["outcomes"]["http_error"], json!(1));

    // Without a run: 11 paths begin with 1.
    let queued = |dir: &Path| status(dir)["frontier"].as_u64().unwrap();
    let before = queued(&dir);
    assert_eq!(
        steer(&dir, &["--dry-run", "remove", "*/lost", "*/x*"]).trim_end(),
        "remove */lost */x*: it would concern 0 URLs in the queue"
    );
    let told = steer(&dir, &["remove", "http://one.test/1*"]);
    let ones = before - queued(&dir);
    assert_eq!(told, format!("remove http://one.test/1*: in force; {ones} URLs taken out of the queue\n"));
    assert!((10..=11).contains(&ones), "{ones}: one of them may be fetched");

    let mut running = Running::start(&mut crawl(&served, &dir, &["--max-pages", "1000000"]));
    wait_until(&running, || dir.join("live.socket").exists());
    steer(&dir, &["pause"]);
    let twos = || outcome(&dir, "excluded") - ones;
    assert_eq!(twos(), 0);
    let told = steer(&dir, &["remove", "http://one.test/2*"]);
    let taken = twos();
    assert!(taken > 0, "they leave the queue at once, during the pause too");
    assert_eq!(told, format!("remove http://one.test/2*: in force; {taken} URLs taken out of the queue\n"));
    // Where nothing matches, the run says so.
    let told = steer(&dir, &["retry", "http://none.test/*"]);
    assert!(told.contains(": nothing to visit again: no URL that failed or was refused is one of these"), "{told}");
    let told = steer(&dir, &["remove", "http://none.test/*"]);
    assert_eq!(told, "remove http://none.test/*: nothing to take out: no URL in the queue matches\n");
    let why = ask("explain", &dir, &["http://one.test/lost"]).expect_code(0).stdout;
    assert!(!why.contains("remove"), "{why}");
    is_there.store(true, SeqCst);
    for arguments in [["--dry-run", "retry", "http_error"], ["retry", "http_error", "--dry-run"]] {
        assert_eq!(steer(&dir, &arguments), "retry http_error: it would visit 1 URL again\n");
    }
    assert!(
        steer(&dir, &["--dry-run", "retry"]).starts_with("retry: it would visit "),
        "without outcomes: all of them"
    );
    assert_eq!(
        steer(&dir, &["retry", "http_error", "http://one.test/*"]),
        "retry http_error http://one.test/*: in force; 1 URL to visit again\n"
    );
    let round = &status(&dir)["round"];
    assert_eq!((&round["number"], &round["left"]), (&json!(2), &json!(1)));
    let refused = ask("steer", &dir, &["retry", "html"]).expect_code(2).stderr;
    assert!(refused.contains("html was fetched, and stays"), "{refused}");

    running.signal("KILL");
    running.end();
    std::fs::remove_file(dir.join("live.socket")).unwrap();
    running = Running::start(&mut crawl(&served, &dir, &[]));
    wait_until(&running, || dir.join("live.socket").exists());
    assert_eq!((twos(), &status(&dir)["round"]["left"]), (taken, &json!(1)), "a kill undoes nothing");
    steer(&dir, &["delay", "0"]);
    steer(&dir, &["resume"]);
    running.end().expect_code(0);
    let told = status(&dir);
    assert_eq!((&told["frontier"], &told["outcomes"]["http_error"]), (&json!(0), &Value::Null));
    assert_eq!(told["outcomes"]["html"].as_u64().unwrap() + ones + taken, 42);
    let why = ask("explain", &dir, &["http://one.test/lost"]).expect_code(0).stdout;
    assert!(why.contains("retry http_error http://one.test/*, 20"), "{why}");
    let rows = ask("export", &dir, &["jsonl"]).expect_code(0).stdout;
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let removed: Vec<&Value> = rows.iter().filter(|row| row["outcome"] == "excluded").collect();
    assert_eq!(removed.len() as u64, ones + taken);
    assert!(
        removed.iter().all(|row| row["reason"].as_str().unwrap().starts_with("remove http://one.test/")),
        "{removed:?}"
    );
    assert_eq!(rows.iter().filter(|row| row["url"] == "http://one.test/lost" && row["outcome"] == "html").count(), 1);
    let asked = |path: &str| served.log().iter().filter(|entry| entry.target == path).count();
    assert_eq!(asked("/lost"), 2);
    assert!(removed.iter().all(|row| asked(row["url"].as_str().unwrap().trim_start_matches("http://one.test")) == 0));
    ask("check", &dir, &[]).expect_code(0);
    // Where nothing matches, the answer says so.
    for what in [&["retry", "http_error"][..], &["retry", "http://none.test/*"]] {
        let told = steer(&dir, what);
        assert!(told.contains(": nothing to visit again: no URL that failed or was refused is one of these"), "{told}");
    }
    let told = steer(&dir, &["remove", "http://none.test/*"]);
    assert_eq!(told, "remove http://none.test/*: nothing to take out: no URL in the queue matches\n");
}

/// A round that begins in a run has its budget, and what is left of that is the next run's.
#[test]
fn a_run_and_its_continuation_count_the_pages_of_a_round_alike() {
    const PAGES: &str = "12";
    let is_there = Arc::<AtomicBool>::default();
    let (served, dirs) = (Served::start(web_with_a_lost_page(is_there.clone())), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let seeds = ["http://one.test/", "http://one.test/lost", "--delay", "100ms", "--max-pages", PAGES];
    let running = Running::start(&mut crawl(&served, &dir, &seeds));
    wait_for_pages(&dir, &running, 3);
    wait_until(&running, || outcome(&dir, "http_error") == 1);
    steer(&dir, &["pause"]);
    is_there.store(true, SeqCst);
    steer(&dir, &["retry", "http_error"]);
    steer(&dir, &["resume"]);
    let ended = running.end().expect_code(3);
    assert!(ended.stderr.contains("--max-pages"), "{}", ended.stderr);
    let told = status(&dir);
    assert_eq!((&told["round"]["number"], told["round"]["fetched"].to_string().as_str()), (&json!(2), PAGES), "{told}");
    Running::start(&mut crawl(&served, &dir, &[])).end().expect_code(3);
    assert_eq!(status(&dir)["fetched"], told["fetched"], "nothing is left of the budget");
    assert!(told["fetched"].as_u64() > PAGES.parse().ok(), "those before the round do not count: {told}");
}

/// Three sites at one address, with a delay of their own and one for the address.
#[test]
fn an_explanation_reckons_with_the_other_sites_on_an_address() {
    let pages = |name: &str| Pages::new().html("/", format!("<a href=/1>{name}</a> <a href=/2>2</a>"));
    let sites = ["one.test", "two.test", "three.test"];
    let web = sites.iter().fold(Web::new(), |web, name| web.site(name, pages(name)));
    let (served, dirs) = (Served::start(web), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let seeds = sites.map(|name| format!("http://{name}/"));
    // The address has a visit each 4 s, so each site has one each 12 s.
    let slow = ["--delay", "3s", "--ip-delay", "4s", "--robots", "ignore"];
    let mut command = Command::new(BINARY);
    command.args(["crawl", "--no-sitemaps", "--progress", "none"]).args(served.flags()).args(&seeds).args(slow);
    let running = Running::start(command.arg("-o").arg(&dir));
    wait_for_pages(&dir, &running, 3);
    let pace = "one visit every 12s (--ip-delay, with 3 sites on its address): ";
    wait_until(&running, || {
        sites.iter().all(|name| ask("explain", &dir, &[name]).expect_code(0).stdout.contains(pace))
    });
    steer(&dir, &["stop"]);
    running.end().expect_code(3);
}

#[test]
fn what_cannot_be_changed_is_refused_and_changes_nothing() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &dir, &["http://one.test/", "--delay", "1h"]));
    wait_for_pages(&dir, &running, 1);
    let before = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
    let cases: [(&[&str], &str); 12] = [
        (&["include", "*/1*"], "the crawl has no include pattern"),
        (&["set", "--scope", "any"], "scope cannot change within a crawl: begin another one"),
        (&["set", "--user-agent", "x/1"], "user-agent cannot change while a crawl runs"),
        (&["set", "--max-pages", "0"], "--max-pages must be more than 0"),
        (&["set"], "give flags of `argiope crawl`"),
        (&["exclude", "["], "--exclude"),
        (&["release", "one.test"], "one.test is not on hold"),
        (&["hold", "http://one.test/page"], "is no site"),
        (&["hold", "one.test", "*.test"], "`*.test` is a pattern, and sites are given by their names"),
        (&["release", "*.test"], "`*.test` is a pattern"),
        (&["delay", "5s", "*.test"], "`*.test` is a pattern"),
        (&["seeds", "http://me:pa55word@one.test/"], "is for `argiope crawl`"),
    ];
    for (arguments, expect) in cases {
        let refused = ask("steer", &dir, arguments).expect_code(2);
        assert!(refused.stderr.contains(expect), "{arguments:?}: {}", refused.stderr);
        assert!(!refused.stderr.contains("pa55word"), "{}", refused.stderr);
    }
    assert_eq!(std::fs::read_to_string(dir.join("crawl.toml")).unwrap(), before);
    assert!(!dir.join("changes.jsonl").exists());
    assert_eq!(steer(&dir, &["stop"]), "stop: in force\n");
    running.end().expect_code(3);
    let refused = ask("steer", &dir, &["seeds", "http://two.test/"]).expect_code(1);
    assert!(refused.stderr.contains("no crawl runs there: `argiope crawl -o"), "{}", refused.stderr);
    for arguments in [&["stop"][..], &["--dry-run", "stop"]] {
        let refused = ask("steer", &dir, arguments).expect_code(1);
        let expect = format!("argiope: {}: no crawl runs there, so there is nothing to stop\n", dir.display());
        assert_eq!(refused.stderr, expect);
    }
}

/// How many changes are made at once.
const CHANGES_AT_ONCE: usize = 20;
/// Longer than a command takes to read the settings, shorter than it waits for the state.
const HELD_FOR: Duration = Duration::from_millis(1_200);

fn crawled(served: &Served, dir: &Path) {
    Running::start(&mut crawl(served, dir, &["http://two.test/", "--delay", "0"])).end().expect_code(0);
}

#[test]
fn of_changes_made_at_once_none_is_lost() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    crawled(&served, &dir);
    let pattern = |n: usize| format!("*/at-once-{n}/*");
    let start = |n| Running::start(Command::new(BINARY).arg("steer").arg(&dir).arg("exclude").arg(pattern(n)));
    let running: Vec<Running> = (0..CHANGES_AT_ONCE).map(start).collect();
    running.into_iter().for_each(|steered| drop(steered.end().expect_code(0)));
    let settings = std::fs::read_to_string(dir.join("crawl.toml")).unwrap();
    let changes = std::fs::read_to_string(dir.join("changes.jsonl")).unwrap();
    let lost: Vec<String> = (0..CHANGES_AT_ONCE).map(pattern).filter(|pattern| !settings.contains(pattern)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(changes.lines().count(), CHANGES_AT_ONCE);
}

/// A change, or a run that begins, never writes settings back that it read before another change.
#[test]
fn who_waits_for_the_state_takes_the_settings_that_others_made_meanwhile() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let root = dirs.path().join("crawl");
    crawled(&served, &root);
    let dir = CrawlDir::existing(&root).unwrap();
    let steered = |what: &str, to: &str| {
        let mut command = Command::new(BINARY);
        command.arg("steer").arg(&root).args([what, to]);
        command
    };
    let watched = || {
        let mut command = Command::new(BINARY);
        command.arg("watch").arg(&root).args(["--every", "1s", "--budget", "5/s", "--rounds", "1"]);
        command
    };
    let waiting = [
        steered("exclude", "*/waited/*"),
        steered("hold", "one.test"),
        crawl(&served, &root, &["--again", "--max-pages", "5"]),
        watched(),
    ];
    for (number, mut command) in waiting.into_iter().enumerate() {
        let store = dir.open_store(&dir.options().unwrap()).unwrap();
        let running = Running::start(&mut command);
        while running.age() < HELD_FOR {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut options = dir.options().unwrap();
        options.exclude.push(format!("*/meanwhile-{number}/*"));
        dir.write_options(&options).unwrap();
        drop(store);
        running.end().expect_code(0);
    }
    let options = dir.options().unwrap();
    let expect = ["*/meanwhile-0/*", "*/waited/*", "*/meanwhile-1/*", "*/meanwhile-2/*", "*/meanwhile-3/*"];
    assert_eq!(options.exclude, expect);
    assert_eq!((options.hold.len(), options.max_pages), (1, Some(5)));
}

#[test]
fn a_running_crawl_takes_nothing_back_that_others_changed_meanwhile() {
    let (served, dirs) = (Served::start(web()), tempfile::tempdir().unwrap());
    let root = dirs.path().join("crawl");
    let running = Running::start(&mut crawl(&served, &root, &["http://one.test/", "--delay", "1h"]));
    wait_for_pages(&root, &running, 1);
    let dir = CrawlDir::existing(&root).unwrap();
    let exclude = |pattern: &str| make(&dir, &Change::Exclude(vec![pattern.to_owned()])).unwrap();
    let order = || {
        let changed = Changed::all_of(&dir).unwrap().swap_remove(0);
        let Undo::By(by) = changed.undo(&dir.options().unwrap()) else { unreachable!("it is in force") };
        TakeBack { changed, by }
    };
    assert_eq!(exclude("*/one/*"), Made::InForce);
    let seen = order();
    exclude("*/other/*");
    assert_eq!(take_back(&dir, &seen).unwrap(), None);
    assert_eq!(dir.options().unwrap().exclude, ["*/one/*", "*/other/*"]);
    assert_eq!(take_back(&dir, &order()).unwrap(), Some(Made::InForce));
    assert_eq!(dir.options().unwrap().exclude, ["*/other/*"]);
    steer(&root, &["stop"]);
    running.end().expect_code(3);
    assert_eq!(dir.options().unwrap().exclude, ["*/other/*"]);
}
