//! The crawl of a server in the browser: `argiope ui SERVER` shows what the cluster does, and steers it.

use serde_json::{Value, json};
use testdb::{Postgres, until};
use testkit::numbers::assert_all_lead;
use testkit::ran::argiope;
use testkit::ui::{Answer, Ui};
use testweb::{Reply, Web, from_fn};
use url::form_urlencoded::byte_serialize;

use crate::lab::{Lab, Laid};
use crate::served::Served;

/// Sites, each on an address of its own.
const HOSTS: [&str; 3] = ["a.test", "b.test", "c.test"];
/// Pages of a site, besides its root. Their paths are their numbers.
const PAGES: u64 = 20;
/// Pages whose number begins with 1.
const ONES: u64 = 11;
/// What no page may turn into markup.
const HOSTILE: &str = "</pre><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
const TOKEN: &str = "a-token-of-the-tests";

/// Sites whose roots link to all their pages, with hostile texts; the first links to the second.
fn web() -> Web {
    let text = HOSTILE.replace('<', "&lt;");
    let links: String = (0..PAGES).map(|n| format!("<a href='/{n}'>{n} {text}</a> ")).collect();
    HOSTS.iter().fold(Web::new(), |web, host| {
        let root =
            format!("<!doctype html><title>{text}</title>A spider of {host}.{links}<a href=http://b.test/>b</a>");
        web.site(
            host,
            from_fn(move |request| match request.path() {
                "/" => Reply::html(root.clone()),
                "/robots.txt" => Reply::new(404),
                path => Reply::html(format!("<p>{text} {path} of {host}", text = HOSTILE.replace('<', "&lt;"))),
            }),
        )
    })
}

/// Makes a change on the page for it.
fn steer(ui: &Ui, what: &str, to: &str) -> Answer {
    ui.post(&ui.own(), &format!("what={what}&to={to}&sure=yes"))
}

fn stats(lab: &Lab) -> Value {
    lab.served.asked(&["stats"])
}

fn contains(page: &str, expected: &[&str]) {
    for expect in expected {
        assert!(page.contains(expect), "{expect}: {page}");
    }
    assert!(!page.contains("<script>") && !page.contains("<img"), "{page}");
}

/// The last sample.
fn sample(ui: &Ui) -> Value {
    let mut last = None;
    until("a sample is taken", || {
        last = ui.samples(None).pop();
        last.is_some()
    });
    last.expect("a sample")
}

#[test]
fn a_cluster_is_shown_and_steered_in_the_browser() {
    let mut lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let ui = Ui::start_with(&[&lab.served.clients]);
    contains(&ui.page("/"), &["No worker is there, and no URL waits.", "aria-current=\"page\">Overview"]);
    contains(&ui.page("/workers"), &["No worker has joined"]);

    // A change before any worker is noted.
    let noted = steer(&ui, "pause", "");
    assert!(noted.status == 200 && noted.body.contains("it counts for the workers that join"), "{}", noted.body);
    assert_eq!(stats(&lab)["paused"], json!(true));
    contains(&ui.page("/"), &["<strong>Paused.</strong>"]);
    contains(&ui.page("/steer"), &["<button>Resume</button>", "</time> pause"]);

    let workers = [lab.worker(), lab.worker()];
    let names = workers.each_ref().map(crate::lab::Worker::name);
    contains(&ui.page("/workers"), &[&names[0], &names[1], "alive", "does not tell who that will be"]);
    let told = lab.served.asked(&["workers"]);
    let leases = told["leases_left"].as_array().expect("leases");
    assert!(
        leases.len() == 2 && leases.iter().all(|left| left.as_f64() > Some(5.0) && left.as_f64() <= Some(30.0)),
        "{told}"
    );

    // Seeds: first the effect, and then they are there.
    let seeds = "http%3A%2F%2Fa.test%2F%0Ahttp%3A%2F%2Fb.test%2F%0Ahttp%3A%2F%2Fc.test%2F";
    let effect = ui.post(&ui.own(), &format!("what=seeds&to={seeds}"));
    assert!(effect.status == 200 && effect.body.contains("<h1>Effect of the change</h1>"), "{}", effect.body);
    assert_eq!(stats(&lab)["urls"], 0, "nothing is done yet");
    assert_eq!(steer(&ui, "seeds", seeds).status, 303);
    assert_eq!(stats(&lab)["urls"], 3);
    let effect = ui.posted("/steer", "what=exclude&to=*%2Fc.test%2F*");
    // Each effect has a page of its own, which stays when somebody looks at another one.
    let other = ui.posted("/steer", "what=hold&to=c.test");
    contains(&ui.page(&effect), &["exclude */c.test/*", "it would concern 1 URL in the queue", "As of <time"]);
    contains(&ui.page(&other), &["hold c.test"]);
    assert_eq!(ui.get("/steer/answer?number=1").status, 404);
    let of_sites = ui.page(&ui.posted("/steer", "what=exclude&to=*.test%2F*"));
    contains(&of_sites, &["it would concern 3 URLs in the queue", ">http://a.test</a>", ">http://c.test</a>"]);
    assert!(!of_sites.contains("data-reread"), "all are counted: {of_sites}");
    let told = lab.served.asked(&["steer", "--dry-run", "exclude", "*.test/*"]);
    assert_eq!(
        (told["by_site"].as_array().map(Vec::len), &told["so_far"]),
        (Some(3), &serde_json::Value::Null),
        "{told}"
    );
    assert_eq!(steer(&ui, "exclude", "*/1*").status, 303);
    assert_eq!(steer(&ui, "hold", "b.test").status, 303);
    assert_eq!(steer(&ui, "delay", "a.test%3D30ms").status, 303);
    until("all sites to have an owner", || stats(&lab)["groups_without_owner"] == 0);
    contains(
        &ui.page("/"),
        &["On hold", ">b.test</a>, held by a change at <time", "delay a.test=30ms", "Sites by state"],
    );
    let ids = lab.served.asked(&["workers"])["workers"].clone();
    let ids = ids.as_array().expect("workers").iter().map(|worker| worker["id"].as_str().expect("an id").to_owned());
    let by_state: Vec<String> = ids.map(|id| ui.page(&format!("/sites?worker={id}&sort=state"))).collect();
    let held: Vec<&String> = by_state.iter().filter(|page| page.contains(">http://b.test</a>")).collect();
    assert!(held.len() == 1 && held[0].contains("<td>on hold</td>"), "{held:?}");
    let first = held[0].split_once("<tbody>").expect("a table").1;
    assert!(first.find("http://b.test") <= first.find("http://a.test").or(Some(usize::MAX)), "{first}");
    assert_eq!(ui.get("/sites?sort=size").status, 400);
    assert!(lab.web.log().is_empty(), "nothing is fetched during a pause");
    assert_eq!(steer(&ui, "resume", "").status, 303);
    let two_sites = 2 * (1 + PAGES - ONES);
    until("the pages of two sites", || stats(&lab)["outcomes"]["html"] == two_sites);
    until("the links to be judged", || stats(&lab)["outcomes"]["excluded"] == 2 * ONES);
    assert!(lab.web.log().iter().all(|entry| entry.host != "b.test"), "it is on hold");

    // The page has the numbers of the server, and so have the samples.
    until("the numbers on the page", || ui.page("/").contains(&format!("<dd data-live=\"fetched\">{two_sites}</dd>")));
    contains(&ui.page("/"), &["href=\"/urls?state=excluded\"", "nothing moves", "It waits for: 1 site on hold."]);
    until("a moment is recorded", || {
        lab.served.asked(&["history"])["moments"].as_array().is_some_and(|moments| !moments.is_empty())
    });
    assert!(lab.shared().join("history.jsonl").exists(), "it is in the archive");
    assert!(lab.served.client(&["history"]).stdout.contains(" fetched, "), "in words");
    let told = sample(&ui);
    assert_eq!((&told["running"], &told["fetched"], &told["waiting"]), (&json!(true), &json!(two_sites), &json!(1)));

    for (site, owned) in [("http://a.test", 1), ("http://c.test", 1)] {
        let ids = lab.served.asked(&["workers"])["workers"].clone();
        let ids =
            ids.as_array().expect("workers").iter().map(|worker| worker["id"].as_str().expect("an id").to_owned());
        let pages = ids.map(|id| ui.page(&format!("/sites?worker={id}")));
        assert_eq!(pages.filter(|page| page.contains(&format!(">{site}</a>"))).count(), owned, "{site} has one owner");
    }

    answers(&ui);

    assert_eq!(steer(&ui, "release", "b.test").status, 303);
    until("the pages of the third", || stats(&lab)["outcomes"]["html"] == two_sites / 2 * 3);
    let between = ui.page("/graph/overlap?one=http%3A%2F%2Fa.test%2F&other=http%3A%2F%2Fb.test%2F");
    contains(&between, &["Overlap: 1 link.", "a.test: 1 link from", ">http://b.test/</a></li>"]);
    begun(&lab, &ui);

    // A worker is sent away.
    let id = lab.served.asked(&["workers"])["workers"][0]["id"].as_str().expect("an id").to_owned();
    contains(&ui.page(&format!("/workers/drain?worker={id}")), &["hands over its sites", &id]);
    assert_eq!(stats(&lab)["workers"], 2, "nothing is done yet");
    assert_eq!(ui.posted("/workers/drain", &format!("worker={id}")), format!("/workers/drain?worker={id}"));
    assert_eq!(stats(&lab)["workers"], 2, "nothing is done without the question");
    assert_eq!(ui.posted("/workers/drain", &format!("worker={id}&sure=yes")), "/workers");
    until("one worker to be left", || stats(&lab)["workers"] == 1);
    until("its groups to have the other owner", || ui.page("/workers").contains("nothing moves"));
    let gone = ui.post_to("/workers/drain", &ui.own(), &format!("worker={id}&sure=yes"));
    assert!(gone.status == 404 && gone.body.contains("there is no worker"), "{}", gone.body);

    // Who is no page of the interface changes nothing.
    let foreign = ui.post("\r\nOrigin: http://evil.test\r\nSec-Fetch-Site: cross-site", "what=pause&sure=yes");
    assert_eq!((foreign.status, &stats(&lab)["paused"]), (403, &json!(false)));
    assert_eq!(ui.ask("GET / HTTP/1.1\r\nHost: evil.test", "").status, 409);
    let head = ui.get("/workers").head;
    assert!(head.contains("default-src 'self'") && head.contains("nosniff"), "{head}");

    // Where no worker is left, all groups are on the move.
    let last = lab.served.asked(&["workers"])["workers"][0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(ui.posted("/workers/drain", &format!("worker={last}&sure=yes")), "/workers");
    until("no worker to be left", || stats(&lab)["workers"] == 0);
    let unowned = lab.served.asked(&["workers"])["unowned"].clone();
    assert_eq!(unowned.as_array().map(Vec::len), Some(3), "{unowned}");
    let group = unowned[0]["group"].as_str().expect("a name");
    until("the page to name them", || ui.page("/workers").contains("3 politeness groups without an owner"));
    contains(&ui.page("/workers"), &["No worker has joined", group, "Without an owner for"]);
    assert!(lab.served.client(&["workers"]).stdout.contains(&format!("{group}  without an owner for")), "in words");

    // What the server answers is not called silence.
    let search = ui.get("/search?q=page").body;
    assert!(search.contains("no workers are alive") && !search.contains("gives no answer"), "{search}");
    let report = lab.served.client(&["report"]).stdout;
    assert!(report.contains("the workers did not tell them: no workers are alive"), "{report}");
    assert!(report.contains("Pages by site"), "what the state tells is there: {report}");

    // Without the server the page says so, and so do the samples.
    lab.served.kill();
    until("the page to say it", || ui.get("/").status == 502);
    let silent = ui.get("/");
    contains(&silent.body, &[&format!("the server at {} gives no answer", lab.served.clients), "id=\"numbers\""]);
    until("a sample that says it", || sample(&ui)["running"] == json!(false));
}

/// The questions that the server answers.
fn answers(ui: &Ui) {
    let excluded = ui.page("/urls?site=a.test&state=excluded");
    contains(&excluded, &["exclude */1*", ">Title or reason</a></th>", "A file is in the order of sites"]);
    assert!(!excluded.contains("Save this view"), "{excluded}");
    assert_eq!(excluded.matches("class=\"url\"").count() as u64, ONES);
    // The excluded pages, each with the page that links to it.
    let linked = ui.page("/urls?site=a.test&state=excluded&linked=yes");
    contains(&linked, &["<th>Linked from</th>", ">http://a.test/10</a>"]);
    assert_eq!(linked.matches(">http://a.test/</a></div>").count() as u64, ONES, "{linked}");
    assert_eq!(ui.page("/urls?status=200&depth=0").matches("class=\"url\"").count(), 2, "two roots were visited");
    contains(&ui.page("/urls?site=a.test&depth=0"), &["&lt;script&gt;", "text/html"]);
    assert_eq!(ui.page("/urls?match=http%3A%2F%2Fc.test%2F2*").matches("class=\"url\"").count(), 1);
    // As `argiope ui DIR` answers: 400 to what cannot be read, 404 to what the crawl does not know.
    for (path, status, why) in [
        ("/urls?state=lost", 400, "`lost` is no state of a URL"),
        ("/urls?match=%2Fx%2F", 400, "“Pattern” `/x/` matches no URL"),
        ("/urls?sort=weight", 400, "the order: `weight` is no order of URLs"),
        ("/urls.csv?key=ba", 400, "the key: "),
        ("/urls?site=a.tset", 404, "no such site in the crawl: a.tset"),
        ("/search?q=page&site=a.tset", 404, "no such site in the crawl: a.tset"),
        ("/changes?since=7d&site=a.tset", 404, "no such site in the crawl: a.tset"),
        ("/graph/path?from=http://a.test/&to=http://a.test/never", 404, "no such URL"),
    ] {
        let refused = ui.get(path);
        assert!(refused.status == status && refused.body.contains(why), "{path}: {} {}", refused.status, refused.body);
    }
    contains(&ui.page("/urls?state=timeout"), &["No URL."]);
    let sorted = ui.page("/urls?site=a.test&sort=-depth");
    contains(&sorted, &["21 URLs by depth. ", "aria-sort=\"descending\"", "<option value=\"-depth\" selected>"]);
    let (root, first) = (sorted.find(">http://a.test/</a>"), sorted.find(">http://a.test/0</a>"));
    assert!(first < root && first.is_some(), "{sorted}");
    let story = ui.page("/url?u=http%3A%2F%2Fa.test%2F");
    contains(
        &story,
        &[
            "owned by worker",
            "a visit every 0.03 s (delay_for)",
            "Links from the page <span class=\"count\">21</span>",
            "&lt;script&gt;",
        ],
    );
    contains(&ui.page("/url?u=http%3A%2F%2Fa.test%2Fnowhere"), &["unknown", "it knows no links of it"]);
    contains(&ui.page("/search?q=A+SPIDER&case=any"), &["2 pages, 2 occurrences", ">http://a.test/</a>"]);
    contains(&ui.page("/search?q=alert"), &["&lt;script&gt;"]);
    until("the picture to be drawn", || ui.page("/graph").contains("<canvas"));
    contains(&ui.page("/graph"), &["2 points, 0 links", ">http://a.test</a>", "The shortest way"]);
    until("the pages to be drawn", || ui.get("/graph.json?of=pages").status == 200);
    let picture: Value = serde_json::from_str(&ui.page("/graph.json?of=pages")).expect("JSON");
    assert_eq!(
        picture["vertices"].as_array().map(Vec::len),
        Some(usize::try_from(2 * (1 + PAGES - ONES)).expect("few"))
    );
    let refused = ui.get("/graph?of=words");
    assert!(refused.status == 400 && refused.body.contains("`words` is no graph"), "{}", refused.body);
    contains(&ui.page("/graph/rank"), &["PageRank of", ">http://a.test/</a>"]);
    contains(&ui.page("/graph/rank?u=http%3A%2F%2Fa.test%2F2"), &[">http://a.test/2</a>"]);
    let way = ui.page("/graph/path?from=http%3A%2F%2Fa.test%2F&to=http%3A%2F%2Fa.test%2F2");
    contains(&way, &["1 link.", ">http://a.test/2</a>"]);
    let between = ui.page("/graph/overlap?one=http%3A%2F%2Fa.test%2F&other=http%3A%2F%2Fc.test%2F");
    contains(&between, &["Overlap: 0 links.", "c.test: 0 links from 10 pages in reach"]);
    contains(&ui.page("/changes?since=2020-01-01"), &["URLs visited:", ">http://c.test/</a>"]);
    contains(&ui.page("/freshness"), &["no page was visited a second time"]);
    let history: serde_json::Value = serde_json::from_str(&ui.page("/history.json")).expect("JSON");
    let columns = ["at", "left_out", "pages", "bytes", "workers", "sites_aside", "paused"]
        .map(|name| history[name].as_array().map(Vec::len));
    assert!(columns[0].is_some() && columns.iter().all(|column| *column == columns[0]), "{history}");
    reported(ui);
    files(ui);
}

/// The report, whose numbers lead to their URLs.
fn reported(ui: &Ui) {
    until("the report to be counted", || !ui.page("/report").contains("id=\"awaited\""));
    let report = ui.page("/report");
    let html = 2 * (1 + PAGES - ONES);
    let listed = "/urls?state=html&amp;reported=yes";
    contains(&report, &[&format!("href=\"{listed}\">{html}</a>"), "<h2>Images</h2>", "<h2>Most linked pages</h2>"]);
    assert!(!report.contains("class=\"note\""), "nothing is missing: {report}");
    let followed = assert_all_lead(ui);
    for part in ["seeds=yes", "type=text%2Fhtml%3B", "state=excluded", "#links-from", "#links-to", "#sites"] {
        assert!(followed.iter().any(|(_, link)| link.contains(part)), "{part}: {followed:?}");
    }
    let links = ui.page("/report.csv?table=most-linking");
    assert!(links.contains("\r\n21,http://a.test/\r\n"), "{links}");
    assert_eq!(ui.page("/urls?state=html&reported=yes").matches("class=\"url\"").count() as u64, html);
    let sites = ui.page("/report.csv?table=sites");
    assert!(sites.starts_with("site,seed,pages,") && sites.contains("\r\nhttp://a.test,yes,"), "{sites}");
    assert_eq!(ui.get("/report.csv?table=none").status, 404);
    let file = ui.get("/report.html");
    assert!(file.status == 200 && file.head.contains("default-src 'none'"), "{}", file.head);
    assert!(file.body.contains("http://a.test"), "{}", file.body);
}

/// The table as files.
fn files(ui: &Ui) {
    let lines = ui.page("/urls.jsonl?state=html");
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len() as u64, 2 * (1 + PAGES - ONES));
    let root = lines.iter().find(|line| line["url"] == "http://a.test/").expect("the root");
    assert_eq!(json!([root["status"], root["depth"], root["title"]]), json!([200, 0, HOSTILE]));
    let csv = ui.page("/urls.csv?site=a.test&state=excluded");
    let rows: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert!(rows.len() as u64 == 1 + ONES && rows[0].starts_with("url,state,status"), "{csv}");
    let (head, parquet) = ui.bytes("/urls.parquet");
    assert!(head.contains("application/vnd.apache.parquet"), "{head}");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"), "{} bytes", parquet.len());
    assert_eq!(ui.get("/urls.csv?state=lost").status, 400);
}

/// What begins on the page Steer.
fn begun(lab: &Lab, ui: &Ui) {
    let crawl = ui.post_to("/steer/crawl", &ui.own(), "u=http%3A%2F%2Fa.test%2Fnew&depth=0");
    assert!(crawl.status == 200 && crawl.body.contains("<h1>Crawl from a URL</h1>"), "{}", crawl.body);
    until("the new page", || lab.served.asked(&["explain", "http://a.test/new"])["state"] == "html");
    let wrong = ui.post_to("/steer/crawl", &ui.own(), "u=http%3A%2F%2Fa.test%2F&depth=deep");
    assert!(wrong.status == 400 && wrong.body.contains("`deep` is no such number"), "{}", wrong.body);
    until("all to be done", || stats(lab)["waiting"] == 0);
    // A round shows first what it would visit.
    let page = "only=http%3A%2F%2Fa.test%2F2";
    let effect = ui.page(&ui.posted("/steer/round", page));
    contains(&effect, &["round 2 would visit 1 URL again.", ">http://a.test</a></td>", "value=\"http://a.test/2\""]);
    let none = ui.page(&ui.posted("/steer/round", "older=7d"));
    assert!(none.contains("no page is to be visited again") && !none.contains("Begin the round"), "{none}");
    assert_eq!(json!([stats(lab)["round"], stats(lab)["left_of_round"]]), json!([1, 0]), "nothing is done yet");
    let round = ui.posted("/steer/round", &format!("{page}&sure=yes"));
    contains(&ui.page(&round), &["round 2 begins: 1 URL to be visited again"]);
    until("the round to end", || stats(lab)["left_of_round"] == 0);
    contains(&ui.page("/freshness"), &["1 page"]);

    // Rounds by a clock, as long as they are wanted.
    let wrong = ui.post_to("/steer/watch", &ui.own(), "budget=many");
    assert!(wrong.status == 400 && wrong.body.contains("`many` is no number of visits"), "{}", wrong.body);
    let often = ui.post_to("/steer/watch", &ui.own(), "budget=9%2Fday&every=1ms");
    assert!(often.status == 400 && often.body.contains("must be at least 1s"), "{}", often.body);
    let watch = ui.post_to("/steer/watch", &ui.own(), "budget=100%2Fs&every=1s&importance=depth");
    assert_eq!(watch.status, 303, "{}", watch.body);
    until("a round by the clock", || stats(lab)["round"].as_u64() > Some(2));
    contains(&ui.page("/steer"), &["100/s visits, chosen every 1s, importance depth", "End the watch"]);
    assert_eq!(ui.posted("/steer/watch", "end=yes"), "/steer");
    contains(&ui.page("/steer"), &[">Watch</button>"]);
    until("its last round to end", || stats(lab)["left_of_round"] == 0);
}

#[test]
fn the_token_opens_the_server_and_is_on_no_page() {
    let (database, dir) = (Postgres::start(), tempfile::tempdir().expect("a directory"));
    let token = dir.path().join("token").display().to_string();
    std::fs::write(&token, TOKEN).expect("written");
    let server = Served::first(&database, &["--token-file", &token]);
    let refused = argiope(&["ui", &server.clients, "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("no token, or a wrong one"), "{refused:?}");
    let ui = Ui::start_with(&[&server.clients, "--token-file", &token]);
    for path in ["/", "/workers", "/sites", "/urls", "/url?u=a.test", "/steer", "/graph/rank", "/nothing", "/ui.js"] {
        let answer = ui.get(path);
        assert!(![answer.head, answer.body].concat().contains(TOKEN), "{path}");
    }
    assert!(ui.page("/").contains("No worker is there"), "it may ask");
    for (arguments, why) in [
        (&["ui", &server.clients, dir.path().to_str().expect("UTF-8")][..], "one server, or directories"),
        (&["ui", &server.clients, "--listen", "0.0.0.0:0", "--token-file", &token], "other machines could steer"),
        (&["ui", dir.path().to_str().expect("UTF-8"), "--token-file", &token], "are for a server"),
    ] {
        let ran = argiope(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(why), "{ran:?}");
    }
    let nobody = argiope(&["ui", "127.0.0.1:1"]);
    assert!(nobody.code == 1 && nobody.stderr.contains("the server at 127.0.0.1:1 cannot be reached"), "{nobody:?}");
}

/// The field of a form of a page.
fn field(page: &str, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let value = page.split_once(&begin).unwrap_or_else(|| panic!("{name}: {page}")).1;
    value.split('"').next().expect("an end").replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&")
}

/// The form of a page as a browser sends it.
fn sent(page: &str) -> String {
    let pair = |name: &str| format!("{name}={}", byte_serialize(field(page, name).as_bytes()).collect::<String>());
    ["at", "behind", "change", "seen"].map(pair).join("&")
}

#[test]
fn the_journal_of_a_server_takes_changes_back() {
    let lab = Lab::new(Laid::apart(web(), &HOSTS), &[]);
    let ui = Ui::start_with(&[&lab.served.clients]);
    let _worker = lab.worker();
    for delay in ["4s", "2s"] {
        // The page of the answer has the notes of the change, too.
        let told = steer(&ui, "delay", &format!("a.test%3D{delay}"));
        contains(&told.body, &["<h1>Changed</h1>", "no such site in the crawl: a.test"]);
    }
    assert_eq!(steer(&ui, "seeds", "http%3A%2F%2Fa.test%2F").status, 303);
    let told = lab.served.asked(&["journal"])["changes"].clone();
    let last = told.as_array().expect("changes").last().expect("one").clone();
    assert_eq!(json!([last["change"], last["undo"]]), json!(["seeds http://a.test/", []]));
    let page = ui.page("/steer");
    contains(&page, &["No undo: a seed stays one", "aria-label=\"Undo: delay a.test=2s\""]);

    // What takes it back is shown first, and made once.
    let back = "set delay-for = [\"a.test=4s\"]";
    let button = page.split_once("Undo: delay a.test=2s").expect("the button").0;
    let form = &button[button.rfind("<form").expect("a form")..];
    let [at, behind] = ["at", "behind"].map(|name| byte_serialize(field(form, name).as_bytes()).collect::<String>());
    let shown = ui.get(&format!("/steer/undo?at={at}&behind={behind}"));
    contains(&shown.body, &["This is done: <strong>set delay-for = [&quot;a.test=4s&quot;]</strong>"]);
    let delays = || lab.served.asked(&["explain", "http://a.test/"])["site"]["delay"].clone();
    assert_eq!(ui.post_to("/steer/undo", &ui.own(), &sent(&shown.body)).status, 303);
    until("the worker to have the delay", || delays() == 4.0);
    let twice = ui.post_to("/steer/undo", &ui.own(), &sent(&shown.body));
    assert!(twice.status == 409 && twice.body.contains("no undo: nothing of it is in force"), "{}", twice.body);
    // The way back to the page says the same.
    contains(&ui.page(&format!("/steer/undo?at={at}&behind={behind}")), &["No undo: nothing of it is in force."]);
    assert_eq!(ui.get("/steer/undo?at=2020-01-01T00:00:00.000Z").status, 404);
    let journal = lab.served.asked(&["journal"])["changes"].clone();
    assert_eq!(journal.as_array().expect("changes").last().expect("the undo")["change"], back);

    // Others may change the crawl before it is confirmed: then nothing is done.
    until("a page to lead to the other site", || {
        lab.served.asked(&["urls", "--site", "b.test"])["urls"].as_array().is_some_and(|urls| !urls.is_empty())
    });
    assert_eq!(steer(&ui, "hold", "a.test%0Ab.test").status, 303);
    let held = lab.served.asked(&["journal"])["changes"].as_array().expect("changes").last().expect("it").clone();
    let at = held["at"].as_str().expect("a time");
    let shown = ui.get(&format!("/steer/undo?at={}", byte_serialize(at.as_bytes()).collect::<String>()));
    contains(&shown.body, &["release a.test b.test"]);
    assert_eq!(steer(&ui, "release", "b.test").status, 303);
    let late = ui.post_to("/steer/undo", &ui.own(), &sent(&shown.body));
    contains(&late.body, &["Somebody has changed the crawl", "release a.test</strong>"]);
    assert_eq!(stats(&lab)["hold"], json!(["a.test"]), "nothing was done");

    // By the command line.
    let looked = lab.served.client(&["undo", at, "--dry-run"]);
    assert!(looked.code == 0 && looked.stdout == "release a.test\nnothing was done yet\n", "{looked:?}");
    let undone = lab.served.asked(&["undo", at]);
    assert_eq!(json!([undone["done"], undone["workers"]]), json!([true, 1]));
    assert_eq!(stats(&lab)["hold"], json!([]));
    let unknown = lab.served.client(&["undo", "2020-01-01T00:00:00Z"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("not one change of the journal"), "{unknown:?}");

    // Two settings at once: each goes back, in one step.
    let set = lab.served.client(&["steer", "set", "--max-pages-per-site", "5", "--patience", "1h"]);
    assert_eq!(set.code, 0, "{set:?}");
    let set = lab.served.asked(&["journal"])["changes"].as_array().expect("changes").last().expect("it").clone();
    let undo = lab.served.asked(&["undo", set["at"].as_str().expect("a time")]);
    assert_eq!(undo["done"], json!(true), "{set} {undo}");

    // The archive has the journal, with what was replaced.
    let journal = std::fs::read_to_string(lab.shared().join("changes.jsonl")).expect("the journal");
    assert!(journal.lines().any(|line| line.contains("a.test=2s") && line.contains("replaced")), "{journal}");
}
