//! The budgets of a crawl by several workers count for all of them together, and are changed while they crawl.

use std::time::Duration;

use serde_json::{Value, json};
use testdb::until;
use testweb::{Reply, Web, from_fn};

use crate::lab::{Lab, Laid};
use crate::served::Served;

/// Sites, each on an address of its own.
const HOSTS: [&str; 4] = ["a.test", "b.test", "c.test", "d.test"];
/// Pages of a site, its root among them.
const PAGES: u64 = 25;
const ALL: u64 = HOSTS.len() as u64 * PAGES;
/// Between the visits of a site.
const DELAY: Duration = Duration::from_millis(300);
/// What the sites give within a second and a half: workers know that much later what others have fetched, at most.
const UNDER_WAY: u64 = 5 * HOSTS.len() as u64;

fn web() -> Web {
    let links: String = (1..PAGES).map(|n| format!("<a href=/{n}>page {n}</a> ")).collect();
    HOSTS.iter().fold(Web::new(), |web, host| {
        let links = links.clone();
        web.site(
            host,
            from_fn(move |request| match request.path() {
                "/" => Reply::new(200).header("Content-Type", "text/html").body(format!("<p>{host} {links}")),
                "/robots.txt" => Reply::new(404),
                path => Reply::new(200).header("Content-Type", "text/html").body(format!("<p>{path} of {host}")),
            }),
        )
    })
}

fn stats(lab: &Lab, name: &str) -> Value {
    lab.served.asked(&["stats"])[name].clone()
}

fn pages(lab: &Lab) -> u64 {
    stats(lab, "outcomes")["html"].as_u64().unwrap_or_default()
}

fn steer(lab: &Lab, change: &[&str]) -> Value {
    lab.served.asked(&[&["steer"], change].concat())
}

/// Waits until a budget is spent and nothing is under way. The pages that there are then.
fn spent(lab: &Lab, budget: &str) -> u64 {
    until("the budget to be spent", || stats(lab, "budgets_spent") == json!([budget]));
    let mut before = (0, 0);
    until("what is under way to end", || {
        std::thread::sleep(Duration::from_millis(500));
        let now = (lab.web.log().len() as u64, pages(lab));
        std::mem::replace(&mut before, now) == now
    });
    before.1
}

#[test]
fn a_budget_counts_for_all_workers_and_is_changed_while_they_crawl() {
    let mut lab = Lab::new(Laid::apart(web(), &HOSTS).every(DELAY), &["--max-pages", "20"]);
    let _workers = [lab.worker(), lab.worker()];
    let seeds = HOSTS.map(|host| format!("http://{host}/"));
    steer(&lab, &["seeds", &seeds[0], &seeds[1], &seeds[2], &seeds[3]]);
    let fetched = spent(&lab, "max-pages");
    assert!((20..=20 + UNDER_WAY).contains(&fetched), "{fetched} pages");

    // What waits says why, and a call does not wait for it.
    let waiting = lab.served.asked(&["urls", "--state", "waiting"])["urls"][0]["url"].clone();
    let waiting = waiting.as_str().expect("a URL");
    let told = lab.served.asked(&["explain", waiting]);
    let waits = told["waits"].as_array().expect("what it waits for");
    assert!(waits.iter().any(|wait| wait["reason"] == "crawl_budget"), "{told}");
    let told = lab.served.client(&["explain", waiting]).stdout;
    assert!(told.contains("a larger max-pages, max-bytes or max-time lets it go on"), "{told}");
    assert!(told.contains("spent is max-pages"), "{told}");
    let told = lab.served.asked(&["crawl", waiting]);
    assert_eq!((&told["outcome"], &told["waits_for"]), (&json!("waiting"), &json!("max-pages")), "{told}");
    let told = lab.served.client(&["stats"]).stdout;
    assert!(told.contains("the budget is spent: max-pages"), "{told}");

    // A server that starts again says the same, and a worker that joins begins nothing.
    lab.served.kill();
    let url = lab.database.lock().expect("nobody panicked").url();
    lab.served = Served::start_as(&["--store", &url]);
    let _third = lab.worker();
    until("the third worker", || stats(&lab, "workers") == 3);
    assert_eq!(spent(&lab, "max-pages"), fetched);

    // A larger budget: `--dry-run` shows what it would bring.
    let note =
        format!("{fetched} pages of this round fetched so far: {} pages more may be (--max-pages)", 50 - fetched);
    assert_eq!(steer(&lab, &["--dry-run", "set", "--max-pages", "50"])["notes"], json!([note]));
    assert_eq!(stats(&lab, "budgets_spent"), json!(["max-pages"]), "nothing is changed yet");
    let told = steer(&lab, &["set", "--max-pages", "50"]);
    assert_eq!((&told["workers"], &told["workers_behind"]), (&json!(3), &json!(0)));
    let fetched = spent(&lab, "max-pages");
    assert!((50..=50 + UNDER_WAY).contains(&fetched), "{fetched} pages");

    // A budget that is spent already holds all of them up at once; so does one of bytes or of time.
    steer(&lab, &["set", "--max-pages", "1000", "--max-bytes", "100"]);
    assert_eq!(spent(&lab, "max-bytes"), fetched);
    steer(&lab, &["set", "--max-time", "1s"]);
    steer(&lab, &["unset", "max-bytes"]);
    assert_eq!(spent(&lab, "max-time"), fetched);
    let journal = lab.served.asked(&["journal"])["changes"].clone();
    let changes: Vec<&str> =
        journal.as_array().expect("changes").iter().filter_map(|one| one["change"].as_str()).collect();
    assert_eq!(changes.last(), Some(&"unset max-bytes"));
    let told = lab.served.asked(&["explain", waiting])["changes"].to_string();
    assert!(told.contains("set max-pages = 50"), "{told}");

    steer(&lab, &["unset", "max-pages", "max-time"]);
    until("all pages", || pages(&lab) == ALL);
    assert_eq!(stats(&lab, "budgets_spent"), json!([]));
}

#[test]
fn a_round_has_the_budget_once_more_and_what_a_lost_worker_had_is_fetched_again() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS).every(DELAY), &["--max-pages", "30"]);
    let workers = [lab.worker(), lab.worker()];
    let seeds = HOSTS.map(|host| format!("http://{host}/"));
    steer(&lab, &["seeds", &seeds[0], &seeds[1], &seeds[2], &seeds[3]]);
    let fetched = spent(&lab, "max-pages");
    let [lost, _stays] = workers;
    // Nothing is sealed so soon: its pages are undone, and as many are fetched by the other.
    lab.lose(lost);
    until("its pages to be undone", || {
        lab.number("SELECT count(*) FROM argiope.worker WHERE state = 'dead'") == 1
            && lab.number(
                "SELECT count(*) FROM argiope.segment g JOIN argiope.worker w ON w.worker = g.worker
                    WHERE w.state = 'dead' AND NOT g.is_sealed AND NOT g.is_lost",
            ) == 0
    });
    let again = spent(&lab, "max-pages");
    assert!((30..=30 + UNDER_WAY).contains(&again), "{again} pages, {fetched} before");

    lab.served.asked(&["again"]);
    until("a round", || stats(&lab, "round") == 2);
    // All that were known are visited, as far as the budget of the round reaches.
    until("the budget of the round", || stats(&lab, "budgets_spent") == json!(["max-pages"]));
    let made = lab.number("SELECT coalesce(sum(pages), 0)::bigint FROM argiope.spent WHERE round = 2");
    assert!((30..=30 + UNDER_WAY as i64).contains(&made), "{made} pages of the round");
}
