//! A crawl by several workers is steered: a change is in force with all of them when it is confirmed.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use serde_json::{Value, json};
use testdb::until;
use testkit::ui::Ui;
use testweb::{Pages, Reply, Request, Web, from_fn};

use crate::lab::{Lab, Laid};
use crate::served::Served;

/// Sites, each on an address of its own.
const HOSTS: [&str; 3] = ["a.test", "b.test", "c.test"];
/// Pages of a site, besides its root. Their paths are their numbers.
const PAGES: u64 = 20;
/// Pages whose number begins with 1.
const ONES: u64 = 11;

/// Sites whose roots link to all their pages.
fn web() -> Web {
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>page {n}</a> ")).collect();
    HOSTS.iter().fold(Web::new(), |web, host| {
        let root = format!("<!doctype html><title>Root of {host}</title>{links}");
        web.site(
            host,
            from_fn(move |request| match request.path() {
                "/" => Reply::new(200).header("Content-Type", "text/html").body(root.clone()),
                "/robots.txt" => Reply::new(404),
                path => Reply::new(200).header("Content-Type", "text/html").body(format!("<p>{path} of {host}")),
            }),
        )
    })
}

fn steer(lab: &Lab, change: &[&str]) -> Value {
    lab.served.asked(&[&["steer"], change].concat())
}

fn outcome(lab: &Lab, name: &str) -> u64 {
    lab.served.asked(&["stats"])["outcomes"][name].as_u64().unwrap_or_default()
}

fn is_asked(lab: &Lab, host: &str) -> bool {
    lab.web.log().iter().any(|entry| entry.host == host)
}

#[test]
fn every_worker_goes_by_a_change_when_it_is_confirmed() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let _workers = [lab.worker(), lab.worker()];
    let told = steer(&lab, &["pause"]);
    assert_eq!((&told["workers"], &told["workers_behind"]), (&json!(2), &json!(0)));
    assert_eq!(lab.served.asked(&["stats"])["paused"], json!(true));
    let seeds = HOSTS.map(|host| format!("http://{host}/"));
    assert_eq!(steer(&lab, &["seeds", &seeds[0], &seeds[1], &seeds[2]])["workers"], 2);
    until("all sites to have an owner", || {
        lab.number("SELECT count(*) FROM argiope.politeness_group WHERE owner <> 0") == 3
    });
    let affected = steer(&lab, &["--dry-run", "exclude", "*/c.test/*", "http://b*"]);
    assert_eq!((&affected["queued"], &affected["at"]), (&json!(2), &json!("")));
    steer(&lab, &["exclude", "*/1*"]);
    steer(&lab, &["hold", "b.test"]);
    assert!(lab.web.log().is_empty(), "nothing is fetched during a pause");

    // A worker that joins goes by the changes made before.
    let _third = lab.worker();
    assert_eq!(steer(&lab, &["resume"])["workers"], 3);
    let two_sites = 2 * (1 + PAGES - ONES);
    until("the pages of two sites", || outcome(&lab, "html") == two_sites);
    until("the links to be judged", || outcome(&lab, "excluded") == 2 * ONES);
    assert!(!is_asked(&lab, "b.test"), "it is on hold");
    assert_eq!(lab.served.asked(&["stats"])["waiting"], 1);
    let listed = |arguments: &[&str]| {
        let told = lab.served.asked(&[&["urls"], arguments].concat());
        let urls = told["urls"].as_array().expect("URLs").clone();
        (urls.len() as u64, urls, told["next"].as_str().expect("a URL or nothing").to_owned())
    };
    let (waiting, urls, _) = listed(&["--state", "waiting"]);
    assert_eq!((waiting, &urls[0]["url"]), (1, &json!("http://b.test/")));
    let excluded = ["--site", "a.test", "--state", "excluded", "--limit", "6"];
    let (first, urls, next) = listed(&excluded);
    assert_eq!((first, &urls[0]["reason"]), (6, &json!("exclude */1*")));
    let (second, ..) = listed(&[&excluded[..], &["--after", &next]].concat());
    assert_eq!(first + second, ONES);
    assert_eq!(listed(&["--only", "http://c.test/2*"]).0, 1);
    let refused = lab.served.refused(&["urls", "--state", "lost"]);
    assert!(refused.contains("`lost` is no state of a URL; possible are waiting, html"), "{refused}");
    steer(&lab, &["release", "b.test"]);
    until("the pages of the third", || outcome(&lab, "html") == two_sites / 2 * 3);
    assert!(lab.web.log().iter().all(|entry| !entry.target.starts_with("/1")), "they are excluded");
}

#[test]
fn an_owner_goes_by_the_record_of_a_site_that_others_have_changed() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &["--max-pages-per-site", "8"]);
    let _worker = lab.worker();
    steer(&lab, &["seeds", "http://a.test/"]);
    until("its budget to be spent", || outcome(&lab, "html") == 8);
    // As if three of its pages were undone: a worker is lost that had the site before.
    lab.execute(
        "UPDATE argiope.site SET pages_fetched = pages_fetched - 3;
         INSERT INTO argiope.hint (owner, site_key, of_record) SELECT g.owner, s.site_key, true
             FROM argiope.site s JOIN argiope.politeness_group g ON g.name = s.politeness_group",
    );
    until("three others", || outcome(&lab, "html") == 11);
    assert_eq!(lab.number("SELECT pages_fetched FROM argiope.site"), 8);
}

/// More URLs than an answer of the server has.
#[test]
fn all_urls_are_listed_with_as_many_answers_as_it_takes() {
    const URLS: usize = 10_100;
    let links: String = (1..URLS).map(|n| format!("<a href=http://b.test/{n}>{n}</a> ")).collect();
    let pages = Pages::new().html("/", links);
    let lab = Lab::new(Laid::apart(Web::new().site("a.test", pages), &["a.test", "b.test"]), &[]);
    let _worker = lab.worker();
    steer(&lab, &["hold", "b.test"]);
    steer(&lab, &["seeds", "http://a.test/", "http://b.test/"]);
    until("the links", || lab.served.asked(&["stats"])["waiting"] == URLS);

    let lines = |arguments: &[&str]| {
        let ran = lab.served.client(arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = lines(&["--json", "urls", "--all", "--state", "waiting"]);
    let urls = |lines: &[String]| {
        let url = |line: &String| serde_json::from_str::<Value>(line).expect("JSON")["url"].to_string();
        lines.iter().map(url).collect::<BTreeSet<_>>()
    };
    assert_eq!((all.len(), urls(&all).len()), (URLS, URLS), "each once");
    let told = lines(&["urls", "--all", "--site", "b.test"]);
    assert_eq!((told.len(), told.last().map(String::as_str)), (URLS + 1, Some("10100 URLs")));
    let some = lab.served.asked(&["urls", "--limit", "10050", "--state", "waiting"]);
    assert_eq!(some["urls"].as_array().map(Vec::len), Some(10_050));
    assert!(some["next"].as_str().is_some_and(|next| next.starts_with("http://b.test/")), "{}", some["next"]);
}

#[test]
fn failures_are_visited_again_urls_leave_the_queue_and_the_answers_follow() {
    let is_there = Arc::<AtomicBool>::default();
    let switch = is_there.clone();
    let links: String = (0..PAGES).map(|n| format!("<a href=/{n}>page {n}</a> ")).collect();
    let page = move |request: &Request| match request.path() {
        "/robots.txt" => Reply::new(200).body("User-agent: *\nCrawl-delay: 0.02\nDisallow: /19\n"),
        "/lost" if !switch.load(SeqCst) => Reply::new(404),
        "/" => Reply::new(200).header("Content-Type", "text/html").body(links.clone()),
        path => Reply::new(200).header("Content-Type", "text/html").body(format!("<p>{path}")),
    };
    let lab = Lab::new(Laid::apart(Web::new().site("a.test", from_fn(page)), &["a.test"]), &[]);
    let _workers = [lab.worker(), lab.worker()];
    steer(&lab, &["seeds", "http://a.test/lost"]);
    until("the failure", || outcome(&lab, "http_error") == 1);
    // So slow that most of its pages wait when it is paused.
    steer(&lab, &["delay", "2s", "a.test"]);
    steer(&lab, &["seeds", "http://a.test/"]);
    until("the links to be found", || lab.served.asked(&["stats"])["urls"] == json!(2 + PAGES));
    steer(&lab, &["pause"]);
    let fetched = outcome(&lab, "html");
    let waiting = |lab: &Lab| lab.served.asked(&["stats"])["waiting"].as_u64().expect("a number");
    let before = waiting(&lab);
    let told = steer(&lab, &["remove", "http://a.test/1*"]);
    let removed = before - waiting(&lab);
    assert!(removed > 0, "{before} waited, {fetched} pages were fetched");
    assert_eq!(told["notes"], json!([format!("{removed} URLs taken out of the queue")]));
    let excluded = lab.served.asked(&["urls", "--state", "excluded"])["urls"][0]["url"].clone();
    let seed = ["seeds", excluded.as_str().expect("a URL")];
    let note = "1 URL is excluded already, and stays so: `retry excluded` looks again";
    let dry = steer(&lab, &[&["--dry-run"], &seed[..]].concat());
    assert_eq!(
        (&dry["added"], &dry["notes"], &steer(&lab, &seed)["notes"]),
        (&json!(0), &json!([note]), &json!([note]))
    );
    let told = steer(&lab, &["retry", "http://none.test/*"]);
    let note = told["notes"][0].as_str().expect("a note");
    assert!(note.starts_with("nothing to visit again: no URL that failed or was refused is one of these"), "{note}");

    is_there.store(true, SeqCst);
    assert_eq!(steer(&lab, &["--dry-run", "retry", "http_error"])["again"], json!(1));
    assert_eq!(steer(&lab, &["retry", "http_error"])["notes"], json!(["1 URL to visit again"]));
    assert_eq!(lab.served.asked(&["stats"])["left_of_round"], json!(1));
    steer(&lab, &["delay", "50ms", "a.test"]);
    steer(&lab, &["resume"]);
    until("the lost page", || outcome(&lab, "http_error") == 0 && waiting(&lab) == 0);
    let told = lab.served.asked(&["explain", "http://a.test/19"]);
    let site = &told["site"];
    assert_eq!(
        (&site["crawl_delay"], &site["delay_rule"], &site["allowed"]),
        (&json!(0.02), &json!("delay_for"), &json!(false))
    );
    assert!(
        site["due_at"].as_f64() > Some(1e9) && site["robots"].as_str().is_some_and(|told| told.contains("200")),
        "{site}"
    );
    let told = lab.served.client(&["explain", "a.test"]).stdout;
    assert!(told.contains("a visit every 0.05 s (delay_for)") && told.contains("; allowed: "), "{told}");
    let changes = lab.served.asked(&["changes"]);
    let found = changes["changes"].as_array().expect("changes");
    assert!(
        found
            .iter()
            .any(|change| change["url"] == "http://a.test/lost"
                && (change["change"] == "new" || change["change"] == "back")),
        "{changes}"
    );

    let unknown = "no such site in the crawl: b.test; nearest: a.test";
    for question in [&["urls"][..], &["changes"], &["search", "page"]] {
        let of = |site: &str| lab.served.client(&[question, &["--site", site]].concat());
        assert!(of("b.test").code == 1 && of("b.test").stderr.contains(unknown), "{:?}", of("b.test"));
        assert_eq!(of("a.test").code, 0, "{:?}", of("a.test"));
    }

    // Commands that read the archive as a directory go by the changes.
    until("all to be sealed", || lab.served.asked(&["stats"])["segments_open"] == 0);
    let dir = lab.shared();
    let told = testkit::ran::argiope(&["explain", dir.to_str().expect("UTF-8"), "http://a.test/"]);
    assert!(told.stdout.contains("delay a.test=50ms, 20"), "{told:?}");
    let search = |site| testkit::ran::argiope(&["search", dir.to_str().expect("UTF-8"), "page", "--site", site]);
    let (known, other) = (search("a.test"), search("b.test"));
    assert!(known.code == 0 && known.stdout.contains("http://a.test/"), "{known:?}");
    assert!(other.code == 2 && other.stderr.contains(unknown), "{other:?}");
    let settings = std::fs::read_to_string(dir.join("crawl.toml")).expect("settings");
    assert!(settings.contains("a.test=50ms") && settings.contains("store = "), "{settings}");
}

#[test]
fn changes_are_kept_by_the_database_and_wrong_ones_are_refused() {
    let mut lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let text = |lab: &Lab, change: &[&str]| lab.served.client(&[&["steer"], change].concat()).stdout;
    assert_eq!(text(&lab, &["pause"]), "noted; it counts for the workers that join\n");
    let (status, told) = lab.served.post("Steer", &json!({"change": "set", "to": ["delay = \"7s\""]}));
    assert_eq!((status, &told["workers"]), (200, &json!(0)));
    for (change, why) in [
        (json!({"change": "paus", "to": ["x"]}), "`paus` is no change; possible are pause, resume"),
        (json!({"change": "exclude"}), "exclude: values are missing"),
        (json!({"change": "release", "to": ["a.test"]}), "a.test is not on hold"),
        (json!({"change": "set", "to": ["max-pages = 0"]}), "max-pages must be more than 0"),
        (json!({"change": "set", "to": ["exclude-file = \"/etc/passwd\""]}), "exclude-file: workers have no such file"),
        (json!({"change": "unset", "to": ["sandbox"]}), "sandbox: the test web lives in one process"),
        (json!({"change": "unset", "to": ["delay", "exclude-file"]}), "exclude-file: workers have no such file"),
        (
            json!({"change": "set", "to": ["ca-cert = [\"/etc/passwd\"]"]}),
            "ca-cert: cannot change in a crawl by several",
        ),
        (json!({"change": "set", "to": ["user-agent = \"x\""]}), "user-agent: cannot change in a crawl by several"),
        (json!({"change": "seeds", "to": ["http://me:secret@a.test/"]}), "a seed with a user name or password"),
    ] {
        let (status, told) = lab.served.post("Steer", &change);
        assert!(status == 400 && told["error"].as_str().is_some_and(|error| error.contains(why)), "{change}: {told}");
    }
    let stats = lab.served.asked(&["stats"]);
    let told = stats["changes"].as_array().expect("changes").iter().map(|change| &change["change"]);
    assert_eq!(told.collect::<Vec<_>>(), ["pause", "set delay = \"7s\""]);
    let changes = lab.query("SELECT number, change FROM argiope.change ORDER BY number");
    let changes: Vec<(i64, String)> = changes.iter().map(|row| (row.get(0), row.get(1))).collect();
    let set = r#"{"change":{"set":"delay = \"7s\"\n"},"replaced":{"values":{"delay":"20ms"},"absent":[]}}"#;
    assert_eq!(changes, [(1, r#""pause""#), (2, set)].map(|(n, text)| (n, text.to_owned())));
    // As an earlier server wrote it: it is in the journal, and nothing says what it replaced.
    lab.execute(r#"UPDATE argiope.change SET change = '{"set":"delay = \"7s\"\n"}' WHERE number = 2"#);
    let earlier = &lab.served.asked(&["journal"])["changes"][1];
    assert_eq!(json!([earlier["change"], earlier["undo"]]), json!(["set delay = \"7s\"", []]));
    assert_eq!(earlier["no_undo"], "the values before were not written down");
    // The options of the first server are still those of the crawl.
    let url = lab.database.lock().expect("nobody panicked").url();
    lab.served.kill();
    let again = [&["--store", &url, "--no-sitemaps", "--deny-private=false"], &lab.web.arguments()[..]].concat();
    lab.served = crate::served::Served::start_as(&again);
    assert_eq!(lab.served.asked(&["stats"])["paused"], json!(true));
}

#[test]
fn the_archive_is_steered_by_the_server_alone_and_its_journal_loses_no_line() {
    let mut lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    steer(&lab, &["exclude", "*/1*"]);
    let dir = lab.shared();
    let root = dir.to_str().expect("UTF-8");
    let files = || ["crawl.toml", "changes.jsonl"].map(|name| std::fs::read_to_string(dir.join(name)).expect("a file"));
    let before = files();
    let of_web = lab.web.arguments();
    let lab_web: Vec<&str> = of_web.iter().map(AsRef::as_ref).collect();
    let refuses = || {
        for change in [&["pause"][..], &["hold", "a.test"], &["remove", "*"], &["stop"], &["--dry-run", "exclude", "*"]]
        {
            let told = testkit::ran::argiope(&[&["steer", root], change].concat());
            let names_way_out = told.stderr.contains("`argiope client steer`") && told.stdout.is_empty();
            assert!(told.code == 2 && names_way_out, "{change:?}: {told:?}");
        }
        // What decides what is crawled is the server's, too.
        let crawl = [&["crawl", "-o", root, "--progress", "none"], &lab_web[..]].concat();
        for command in [
            &crawl[..],
            &[&crawl[..], &["http://a.test/more"]].concat(),
            &[&crawl[..], &["--again"]].concat(),
            &[&crawl[..], &["--retry", "http_error"]].concat(),
            &["watch", root, "--budget", "5/s", "--every", "1s", "--rounds", "1"],
            &["adopt", root],
            &["adopt", root, "http://a.test/"],
        ] {
            let told = testkit::ran::argiope(command);
            let way_out = if command[0] == "adopt" { "(docs/shared-archive.md)" } else { "`argiope client again`" };
            let names_way_out = told.stderr.contains(way_out) && told.stdout.is_empty();
            assert!(told.code == 2 && names_way_out, "{command:?}: {told:?}");
        }
    };
    // Whether the server runs or not.
    refuses();
    lab.served.kill();
    refuses();
    let ui = testkit::ui::Ui::start_with(&[root]);
    let page = ui.page("/steer");
    assert!(page.contains("`argiope client steer`") && !page.contains("<form method=\"post\""), "{page}");
    for sure in ["", "&sure=yes"] {
        let answer = ui.post(&ui.own(), &format!("what=pause&to={sure}"));
        assert!(answer.status == 400 && answer.body.contains("`argiope client steer`"), "{}", answer.body);
    }
    assert_eq!(files(), before);

    // What others have written stays when the next server starts, and makes changes.
    let other = "{\"at\":\"2026-11-26T00:00:00.000Z\",\"change\":\"resume\"}\n";
    std::fs::write(dir.join("changes.jsonl"), format!("{}{other}", before[1])).expect("written");
    let url = lab.database.lock().expect("nobody panicked").url();
    lab.served = crate::served::Served::start_as(&["--store", &url]);
    steer(&lab, &["pause"]);
    let lines = files()[1].lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines.len() == 3 && lines[1] == other.trim_end() && lines[2].ends_with("\"pause\"}"), "{lines:?}");
}

#[test]
fn a_site_whose_budget_is_spent_ends_what_is_excluded_and_keeps_no_crawl_waiting() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let _worker = lab.worker();
    let stats = |name: &str| lab.served.asked(&["stats"])[name].clone();
    steer(&lab, &["set", "--max-pages-per-site", "5"]);
    // It answers though URLs are left.
    let told = lab.served.asked(&["crawl", "http://a.test/"]);
    assert_eq!((&told["fetched"], &told["outcome"], &told["waiting"]), (&json!(5), &json!("html"), &json!(PAGES - 4)));
    let told = lab.served.client(&["crawl", "http://a.test/"]).stdout;
    assert!(told.contains("16 URLs left in the queue: max-pages-per-site is spent"), "{told}");
    assert_eq!((stats("sites_spent"), stats("waiting")), (json!(1), json!(PAGES - 4)));
    let told = lab.served.client(&["stats"]).stdout;
    assert!(told.contains("1 site with URLs left, whose max-pages-per-site is spent"), "{told}");
    // A URL that nobody will come to.
    let told = lab.served.asked(&["crawl", "http://a.test/new"]);
    assert_eq!((&told["outcome"], &told["reason"]), (&json!("waiting"), &json!("max-pages-per-site is spent")));

    // As `argiope steer` says it.
    let note = "no such site in the crawl: a.tset; nearest: a.test: it counts once the crawl finds the site";
    assert_eq!(steer(&lab, &["hold", "a.tset"])["notes"], json!([note]));

    // What is excluded ends, though the site has no more turns; until then the explanation has both.
    let waiting = lab.served.asked(&["urls", "--state", "waiting", "--only", "*/1*"])["urls"].clone();
    let waiting: Vec<String> =
        waiting.as_array().expect("URLs").iter().map(|url| url["url"].as_str().expect("a URL").to_owned()).collect();
    assert!(waiting.len() as u64 >= ONES - 4, "{waiting:?}");
    steer(&lab, &["pause"]);
    steer(&lab, &["exclude", "*/1*"]);
    let told = lab.served.client(&["explain", &waiting[0]]).stdout;
    for expect in ["it ends as excluded: exclude */1*", "its budget is spent: 5 pages fetched, max-pages-per-site = 5"]
    {
        assert!(told.contains(expect), "{expect}: {told}");
    }
    let ui = testkit::ui::Ui::start_with(&[&lab.served.clients]);
    let page = ui.page(&format!("/url?u={}", waiting[0]));
    assert!(page.contains("exclude */1*") && page.contains("max-pages-per-site = 5"), "{page}");
    steer(&lab, &["resume"]);
    until("what is excluded to end", || outcome(&lab, "excluded") == waiting.len() as u64);
    let story = lab.served.asked(&["explain", &waiting[0]]);
    assert_eq!((&story["state"], &story["reason"]), (&json!("excluded"), &json!("exclude */1*")));
    assert_eq!(outcome(&lab, "html"), 5);
    // The rest is fetched with a larger budget.
    let left = stats("waiting").as_u64().expect("a number");
    assert!(left > 0);
    steer(&lab, &["unset", "max-pages-per-site"]);
    until("the rest", || outcome(&lab, "html") == 5 + left);
    assert_eq!(stats("sites_spent"), json!(0));
}

#[test]
fn a_change_says_what_it_cannot_do() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    // A stop is for workers that are there.
    for stop in [&["steer", "stop"][..], &["steer", "--dry-run", "stop"]] {
        let refused = lab.served.client(stop);
        assert!(
            refused.code == 1 && refused.stderr.contains("no worker is there, so there is nothing to stop"),
            "{refused:?}"
        );
    }
    assert_eq!(lab.served.asked(&["stats"])["changes"], json!([]));
    let ui = testkit::ui::Ui::start_with(&[&lab.served.clients]);
    let page = ui.post(&ui.own(), "what=stop&to=");
    assert!(page.status == 409 && page.body.contains("there is nothing to stop"), "{}", page.body);

    // A crawl that begins while nothing can be fetched waits.
    steer(&lab, &["pause"]);
    steer(&lab, &["hold", "a.test"]);
    let page = ui.post_to("/steer/crawl", &ui.own(), "u=a.test&depth=0").body;
    for expect in ["It waits", "the crawl is paused", "no worker is there", "a.test is on hold"] {
        assert!(page.contains(expect) && !page.contains("It has begun"), "{expect}: {page}");
    }

    // Sites that the crawl does not know.
    let note = "no such site in the crawl: a.tset: it counts once the crawl finds the site";
    for change in [&["hold", "a.tset"][..], &["release", "a.tset"], &["delay", "5s", "a.tset"]] {
        assert_eq!(steer(&lab, change)["notes"], json!([note]), "{change:?}");
    }
    assert_eq!(steer(&lab, &["hold", "a.test"])["notes"], json!([]));
    let told = lab.served.client(&["steer", "--dry-run", "hold", "a.tset"]).stdout;
    assert!(told.contains(note), "{told}");
    let effect = ui.post(&ui.own(), "what=hold&to=a.tset");
    assert!(effect.status == 200 && effect.body.contains(note), "{}", effect.body);

    // Forms that offer what can be done.
    let page = ui.page("/steer");
    assert!(page.contains("max-pages = 10000"), "{page}");
    for worker in ["", "nobody"] {
        let look = ui.get(&format!("/workers/drain?worker={worker}"));
        let drain = ui.post_to("/workers/drain", &ui.own(), &format!("worker={worker}&sure=yes"));
        for answer in [look, drain] {
            assert!(answer.status == 404 && answer.body.contains("there is no worker"), "{}", answer.body);
        }
    }
    let page = ui.page("/changes");
    assert!(page.contains("the crawl had one round so far") && page.contains("name=\"since\""), "{page}");
    assert_eq!(lab.served.asked(&["urls", "--state", "failed"])["urls"], json!([]));
}

/// A crawl with a failure, and no worker any more.
fn failed() -> Lab {
    let web = Web::new().site("a.test", from_fn(|_| Reply::new(404)));
    let lab = Lab::new(Laid::apart(web, &["a.test"]), &[]);
    let worker = lab.worker();
    assert_eq!(lab.served.asked(&["crawl", "http://a.test/"])["outcome"], "http_error");
    worker.leave();
    lab
}

/// Sends a retry to the server, and waits for no answer.
fn send_retry(lab: &Lab) -> TcpStream {
    let (server, body) = (&lab.served.clients, json!({"change": "retry", "to": ["http_error"]}).to_string());
    let head = format!("Host: {server}\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    let mut client = TcpStream::connect(server).expect("a connection");
    write!(client, "POST /v1/Steer HTTP/1.1\r\nConnection: close\r\n{head}\r\n\r\n{body}").expect("it reads");
    client
}

/// Does something while retries have begun: they wait for the queue.
fn during_retries(lab: &mut Lab, number: usize, meanwhile: impl FnOnce(&mut Lab, Vec<TcpStream>)) {
    let mut holding = lab.database.lock().expect("nobody panicked").client();
    let mut transaction = holding.transaction().expect("a transaction");
    transaction.batch_execute("LOCK TABLE argiope.queue IN ACCESS EXCLUSIVE MODE").expect("a lock");
    let clients = (0..number).map(|_| send_retry(lab)).collect();
    until("the change to wait", || lab.number("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0);
    meanwhile(lab, clients);
    std::thread::sleep(Duration::from_millis(500));
    transaction.rollback().expect("an end");
}

#[test]
fn a_change_whose_client_goes_is_made_to_its_end() {
    let mut lab = failed();
    during_retries(&mut lab, 1, |_, clients| drop(clients));
    until("its line in the journal", || lab.served.asked(&["journal"])["changes"][0]["change"] == "retry http_error");
    assert_eq!(lab.served.asked(&["stats"])["left_of_round"], json!(1));
}

#[test]
fn a_server_that_ends_makes_the_change_under_way() {
    let mut lab = failed();
    let mut client = None;
    during_retries(&mut lab, 1, |lab, mut clients| {
        client = clients.pop();
        lab.served.signal("TERM");
        std::thread::sleep(Duration::from_secs(1));
        assert!(lab.served.runs(), "the change is under way");
    });
    let mut answer = String::new();
    client.expect("sent").read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"notes\""), "{answer}");
    assert_eq!(lab.served.ended(), Some(0));

    let database = lab.database.lock().expect("nobody panicked");
    let served = Served::start(&database, &[]);
    drop(database);
    lab.served = served;
    assert_eq!(lab.served.asked(&["journal"])["changes"][0]["change"], "retry http_error");
    assert_eq!(lab.served.asked(&["stats"])["left_of_round"], json!(1));

    // A second signal ends it now.
    during_retries(&mut lab, 1, |lab, _| {
        lab.served.signal("TERM");
        std::thread::sleep(Duration::from_millis(500));
        lab.served.signal("TERM");
        assert_eq!(lab.served.ended(), Some(0));
    });
}

#[test]
fn one_change_of_the_queue_is_made_after_the_other() {
    let mut lab = failed();
    let mut sent = Vec::new();
    during_retries(&mut lab, 2, |_, clients| sent = clients);
    until("both in the journal", || {
        lab.served.asked(&["journal"])["changes"].as_array().is_some_and(|changes| changes.len() == 2)
    });
    let stats = lab.served.asked(&["stats"]);
    // Made at the same time, both would choose into round 2.
    assert_eq!((&stats["round"], &stats["left_of_round"]), (&json!(3), &json!(1)), "{stats}");
}

/// What a server does with seeds is what it says before.
#[test]
fn a_dry_run_of_seeds_is_that_of_a_server() {
    let pages = Pages::new().html("/", "<a href=http://b.test/>b</a>");
    let lab = Lab::new(Laid::apart(Web::new().site("a.test", pages), &["a.test"]), &[]);
    let worker = lab.worker();
    lab.served.asked(&["crawl", "http://a.test/"]);
    until("the link to be judged", || outcome(&lab, "excluded") == 1);
    worker.leave();
    let foreseen = steer(&lab, &["--dry-run", "seeds", "http://b.test/", "http://a.test/"]);
    assert_eq!((&foreseen["added"], &foreseen["notes"]), (&json!(1), &json!(["1 URL is given as seeds already"])));
    steer(&lab, &["seeds", "http://b.test/"]);
    assert_eq!(lab.served.asked(&["stats"])["waiting"], 1);

    // The interface shows the effect of a seed with a password, and not the password.
    let ui = Ui::start_with(&[&lab.served.clients]);
    let form = "what=seeds&to=http%3A%2F%2Fme%3AS3CRET%40c.test%2F";
    let effect = ui.post(&ui.own(), form);
    assert!(effect.status == 200 && effect.body.contains("it would add 1 URL to the queue"), "{}", effect.body);
    assert!(effect.body.contains("<strong>seeds http://***@c.test/</strong>"), "{}", effect.body);
    let made = ui.post(&ui.own(), &format!("{form}&sure=yes"));
    assert!(made.status == 200 && made.body.contains("1 seed added") && !made.body.contains("S3CRET"), "{}", made.body);
    let refused = ui.post(&ui.own(), "what=seeds&to=http%3A%2F%2Fa.test%3A99999%2F");
    assert!(refused.status == 400, "{} {}", refused.status, refused.body);
}
