//! Pages are visited again, while the web changes, lies, and the crawler is killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crawl::CrawlDir;
use dataset::schema::Table;
use dataset::{Column, Layout};
use model::{Outcome, Visit};
use serde_json::Value;
use testweb::{Reply, Request, Web};

use crate::binary::{BINARY, Ended, Running};
use crate::served::Served;

/// How often a round is killed.
const KILLS: u64 = 100;
/// Pages of the site.
const PAGES: usize = 60;

/// What a server says of the content that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// An entity tag that is right.
    Tag,
    /// Only a date that is right.
    Date,
    /// Nothing.
    Nothing,
    /// Another tag each time.
    AnyTag,
    /// Nothing has changed, whatever has.
    NothingChanged,
    /// A date in the future.
    Future,
}

#[derive(Clone, Debug)]
struct Page {
    says: Says,
    /// The text, or where it has moved to; `None` where it is gone.
    content: Option<Result<String, &'static str>>,
    /// How many times it has changed.
    version: u64,
}

/// A request: path, `If-None-Match`, `If-Modified-Since`, and the status of its answer.
pub type Asked = (String, Option<String>, Option<String>, u16);

/// A site whose pages can change.
#[derive(Clone, Default)]
pub struct Site {
    pages: Arc<Mutex<BTreeMap<String, Page>>>,
    /// How many there were.
    pub replies: Arc<AtomicU64>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Site {
    /// Pages that the root links to.
    pub fn new(says: Says, pages: usize) -> Self {
        let site = Site::default();
        site.link(says, pages);
        (0..pages).for_each(|n| site.set(&format!("/{n}"), says, &format!("<title>{n}</title><p>Page {n}.")));
        site
    }

    /// Sets the root's links.
    pub fn link(&self, says: Says, pages: usize) {
        let links: String = (0..pages).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
        self.set("/", says, &links);
    }

    pub fn set(&self, path: &str, says: Says, text: &str) {
        self.put(path, says, Some(Ok(text.to_owned())));
    }

    pub fn put(&self, path: &str, says: Says, content: Option<Result<String, &'static str>>) {
        let mut pages = self.pages.lock().unwrap();
        let version = pages.get(path).map_or(1, |page| page.version + 1);
        pages.insert(path.to_owned(), Page { says, content, version });
    }

    pub fn reply(&self, request: &Request) -> Reply {
        let mut asked = self.asked.lock().unwrap();
        let field = |name: &str| request.header(name).map(str::to_owned);
        let (tag, date) = (field("if-none-match"), field("if-modified-since"));
        let page = self.pages.lock().unwrap().get(request.path()).cloned();
        let number = self.replies.fetch_add(1, Ordering::Relaxed);
        let (status, reply) = match page {
            Some(Page { content: Some(Ok(text)), says, version }) => {
                let date_of = |version: u64| format!("Wed, 01 Jan 2025 00:00:{version:02} GMT");
                let validators = match says {
                    Says::Tag | Says::NothingChanged => (Some(format!("\"{version}\"")), None),
                    Says::Date => (None, Some(date_of(version))),
                    Says::Nothing => (None, None),
                    Says::AnyTag => (Some(format!("\"any-{number}\"")), Some(date_of(version))),
                    Says::Future => (None, Some("Fri, 01 Jan 2100 00:00:00 GMT".to_owned())),
                };
                let is_same = match says {
                    Says::NothingChanged => tag.is_some() || date.is_some(),
                    _ => match (&tag, &date) {
                        (Some(tag), _) => Some(tag) == validators.0.as_ref(),
                        (None, Some(date)) => Some(date) == validators.1.as_ref(),
                        (None, None) => false,
                    },
                };
                let reply = if is_same { Reply::new(304) } else { Reply::html(text) };
                let reply = validators.0.into_iter().fold(reply, |reply, tag| reply.header("ETag", tag));
                let reply = validators.1.into_iter().fold(reply, |reply, date| reply.header("Last-Modified", date));
                (if is_same { 304 } else { 200 }, reply)
            }
            Some(Page { content: Some(Err(target)), .. }) => (301, Reply::redirect(301, target)),
            Some(Page { content: None, .. }) | None => (404, Reply::error(404, request.path())),
        };
        if request.path() != "/robots.txt" {
            asked.push((request.path().to_owned(), tag, date, status));
        }
        reply
    }

    /// The requests since this was asked last.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// How many of these have each status.
    pub fn statuses(&self) -> BTreeMap<u16, usize> {
        self.asked().iter().fold(BTreeMap::new(), |mut counts, (_, _, _, status)| {
            *counts.entry(*status).or_default() += 1;
            counts
        })
    }

    pub fn served(&self) -> Served {
        let site = self.clone();
        Served::start(Web::new().site("one.test", testweb::from_fn(move |request: &Request| site.reply(request))))
    }
}

pub fn crawl(served: &Served, dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    let politeness = ["--delay", "0", "--ip-delay", "0", "--connections-per-site", "4"];
    command.args(["crawl", "--no-sitemaps", "--progress", "none"]).args(politeness);
    if !more.contains(&"--backoff") {
        // What has vanished waits for 8 and 64 times as long.
        command.args(["--backoff", "5ms"]);
    }
    command.args(served.flags()).args(more).arg("-o").arg(dir);
    command
}

pub fn run(command: &mut Command) -> Ended {
    Running::start(command).end()
}

pub fn ask(command: &str, dir: &Path, more: &[&str]) -> String {
    run(Command::new(BINARY).arg(command).arg(dir).args(more)).expect_code(0).stdout
}

/// The changes by path.
pub fn changes(dir: &Path, more: &[&str]) -> BTreeMap<String, Value> {
    let told = ask("changes", dir, &[&["--json"], more].concat());
    let changes = told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    changes.map(|change| (change["url"].as_str().unwrap().replace("http://one.test", ""), change)).collect()
}

pub fn kinds(changes: &BTreeMap<String, Value>) -> Vec<(&str, &str)> {
    changes.iter().map(|(path, change)| (path.as_str(), change["change"].as_str().unwrap())).collect()
}

/// All visits of each URL of the state, the oldest first.
pub fn visits(dir: &Path) -> BTreeMap<String, Vec<Visit>> {
    let dir = CrawlDir::at(dir);
    let store = dir.open_to_read(&dir.options().unwrap()).unwrap();
    let entries = store.scan(None, usize::MAX).unwrap().into_iter();
    let visits = entries.map(|entry| {
        let earlier = store.earlier(entry.candidate.url.key()).unwrap();
        (entry.candidate.url.to_string(), earlier.into_iter().chain(entry.visit).collect())
    });
    visits.collect()
}

/// The URLs and outcomes of the dataset's rows, those that are current or all, in order.
pub fn rows(dir: &Path, is_current: bool) -> Vec<(String, String, i64)> {
    rows_of(&Layout::at(CrawlDir::at(dir).dataset()), is_current)
}

pub fn rows_of(layout: &Layout, is_current: bool) -> Vec<(String, String, i64)> {
    let files = layout.files(Table::Pages).unwrap();
    let columns = ["url_key", "url", "outcome", "visit"];
    let batches: Vec<_> = match is_current {
        true => layout.batches(Table::Pages, &columns).unwrap().collect(),
        false => files.iter().flat_map(|file| dataset::Batches::of_file(file, &columns)).collect(),
    };
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            let text = |column| batch.text(column, row).unwrap().to_owned();
            rows.push((text("url"), text("outcome"), batch.number("visit", row).unwrap()));
        }
    }
    rows.sort();
    rows
}

#[test]
fn a_round_fetches_what_has_changed_and_says_what_it_was() {
    let site = Site::new(Says::Tag, PAGES);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    assert_eq!(site.statuses(), BTreeMap::from([(200, PAGES + 1)]));
    let refused = run(Command::new(BINARY).arg("changes").arg(&dir)).expect_code(2);
    assert!(refused.stderr.contains("--again"), "{}", refused.stderr);

    // Nothing has changed: some pages are asked for in any case, to see whether the server tells the truth.
    let ended = run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    assert!(ended.stderr.contains("round 2 begins, 61 URLs to be visited again"), "{}", ended.stderr);
    assert!(ended.stdout.contains("this run: 61 pages and documents fetched"), "{}", ended.stdout);
    let statuses = site.statuses();
    assert!(statuses[&304] >= PAGES - 6 && statuses.values().sum::<usize>() == PAGES + 1, "{statuses:?}");
    assert_eq!(changes(&dir, &[]), BTreeMap::new());
    ask("check", &dir, &[]);

    // Now something has.
    site.set("/1", Says::Tag, "<title>One</title><p>Page 1.<p>And more. <a href=/new>new</a>");
    site.set("/2", Says::Tag, "<title>2</title><p>Page two.");
    site.put("/3", Says::Tag, None);
    site.put("/4", Says::Tag, Some(Err("/moved")));
    site.set("/moved", Says::Tag, "<title>4</title><p>Page 4.");
    site.set("/new", Says::Tag, "<p>New. <a href=/renamed>6</a>");
    // One is renamed without a redirect.
    site.put("/6", Says::Tag, None);
    site.set("/renamed", Says::Tag, "<title>6</title><p>Page 6.");
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    let told = changes(&dir, &[]);
    // The new place of a page is no new page.
    let expect =
        [("/1", "changed"), ("/2", "changed"), ("/3", "gone"), ("/4", "moved"), ("/6", "moved"), ("/new", "new")];
    assert_eq!(kinds(&told), expect);
    for (path, target, is_probable) in [("/4", "http://one.test/moved", false), ("/6", "http://one.test/renamed", true)]
    {
        assert_eq!((&told[path]["target"], &told[path]["probable"]), (&target.into(), &is_probable.into()));
    }
    assert_eq!((&told["/1"]["title"], &told["/1"]["title_before"]), (&Value::from("One"), &Value::from("1")));
    let difference = &told["/1"]["difference"];
    assert_eq!(difference["links_added"], serde_json::json!(["http://one.test/new"]));
    assert!(difference["text"].to_string().contains("And more."), "{difference}");
    let text = ask("changes", &dir, &[]);
    assert!(text.contains("gone     http://one.test/3 (404)") && text.contains("+ link http://one.test/new"), "{text}");
    assert!(ask("changes", &dir, &["--feed"]).contains("<title>changed: One</title>"));
    ask("check", &dir, &[]);

    // Each URL has one row that counts, derived or written by the crawl.
    let (current, all) = (rows(&dir, true), rows(&dir, false));
    let urls: BTreeSet<&String> = current.iter().map(|(url, ..)| url).collect();
    assert_eq!((urls.len(), current.len()), (PAGES + 4, PAGES + 4), "{current:?}");
    let outcome = |path: &str| {
        current.iter().find(|(url, ..)| url.ends_with(path)).map(|(_, outcome, visit)| (&**outcome, *visit))
    };
    assert_eq!(outcome("/1"), Some(("html", 3)));
    assert_eq!(outcome("/3"), Some(("http_error", 3)));
    assert_eq!(all.iter().filter(|(url, ..)| url == "http://one.test/5").count(), 3);
    std::fs::remove_dir_all(dir.join("dataset")).unwrap();
    ask("derive", &dir, &[]);
    assert_eq!((rows(&dir, true), rows(&dir, false)), (current.clone(), all.clone()));
    let exported = dirs.path().join("parquet");
    ask("export", &dir, &["parquet", "-o", exported.to_str().unwrap()]);
    let exported = Layout::at(&exported);
    assert_eq!(
        (rows_of(&exported, true), rows_of(&exported, false)),
        (current, all),
        "a copy knows what is superseded"
    );
    let exported = dirs.path().join("markdown");
    ask("export", &dir, &["markdown", "-o", exported.to_str().unwrap()]);
    let all: String = walk(&exported).iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    assert!(
        all.contains("Page 5.") && all.contains("Page two.") && !all.contains("Page 2.") && !all.contains("Page 3.")
    );

    // It comes back; and what is older is compared too.
    site.set("/3", Says::Tag, "<title>3</title><p>Page 3.");
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    assert_eq!(kinds(&changes(&dir, &[])), [("/3", "back")]);
    let since_beginning = changes(&dir, &["--since", "2000-01-01"]);
    assert!(since_beginning.values().filter(|change| change["change"] == "new").count() == PAGES + 2);
    let story = ask("explain", &dir, &["http://one.test/3"]);
    for line in ["new: html 200, round 1", "gone: http_error 404, round 3", "back: html 200, round 4"] {
        assert!(story.contains(line), "{story}");
    }
    let told: Value = serde_json::from_str(&ask("status", &dir, &["--json"])).unwrap();
    let round = &told["round"];
    assert_eq!((&round["number"], &round["left"]), (&Value::from(4), &Value::from(0)));
    assert!(ask("status", &dir, &[]).contains("round 4, since 20"));
    // Every visit is in the state, and each is of its round.
    for (url, visits) in visits(&dir) {
        let rounds: Vec<u32> = visits.iter().map(|visit| visit.round).collect();
        let first = if ["/moved", "/new", "/renamed"].iter().any(|path| url.ends_with(path)) { 3 } else { 1 };
        assert_eq!(rounds, (first..=4).collect::<Vec<_>>(), "{url}");
    }
}

#[test]
fn a_page_that_is_missing_for_a_moment_is_not_gone() {
    let site = Site::new(Says::Tag, 6);
    // For how many requests a page is missing.
    let missing: Arc<Mutex<BTreeMap<&str, (u32, u16)>>> = Arc::default();
    let (behind, asked) = ((site.clone(), missing.clone()), Arc::new(Mutex::new(BTreeMap::<String, usize>::new())));
    let noted = asked.clone();
    let reply = move |request: &Request| {
        *noted.lock().unwrap().entry(request.path().to_owned()).or_default() += 1;
        match behind.1.lock().unwrap().get_mut(request.path()) {
            Some((left, status)) if *left > 0 => {
                *left -= 1;
                if *status == 302 { Reply::redirect(302, "/") } else { Reply::error(*status, request.path()) }
            }
            _ => behind.0.reply(request),
        }
    };
    let served = Served::start(Web::new().site("one.test", testweb::from_fn(reply)));
    let dirs = tempfile::tempdir().unwrap();
    let dir = dirs.path().join("crawl");
    let requests = || {
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        (0..6).map(|n| asked.get(&format!("/{n}")).copied().unwrap_or_default()).collect::<Vec<_>>()
    };
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    assert_eq!(requests(), [1; 6]);
    *missing.lock().unwrap() =
        [("/0", (1, 404)), ("/1", (3, 404)), ("/2", (2, 302)), ("/3", (2, 410)), ("/4", (3, 302))].into();
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    assert_eq!(requests(), [2, 3, 3, 3, 3, 1]);
    assert_eq!(kinds(&changes(&dir, &[])), [("/1", "gone"), ("/4", "moved")]);
    for (url, visits) in visits(&dir) {
        assert_eq!(visits.iter().map(|visit| visit.round).collect::<Vec<_>>(), [1, 2], "{url}");
    }
    ask("check", &dir, &[]);

    // One answer is enough for those who want it so. What comes back is back at once.
    *missing.lock().unwrap() = [("/3", (1, 404))].into();
    run(&mut crawl(&served, &dir, &["--again", "--max-attempts", "1"])).expect_code(0);
    assert_eq!(requests(), [1; 6]);
    assert_eq!(kinds(&changes(&dir, &[])), [("/1", "back"), ("/3", "gone"), ("/4", "back")]);
}

#[test]
fn what_becomes_of_a_redirect_is_told() {
    let site = Site::new(Says::Tag, 3);
    site.put("/1", Says::Tag, Some(Err("/0")));
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    site.put("/1", Says::Tag, None);
    site.put("/2", Says::Tag, Some(Err("/2")));
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    assert_eq!(kinds(&changes(&dir, &[])), [("/1", "gone")]);
    assert!(ask("explain", &dir, &["http://one.test/1"]).contains("gone: http_error 404, round 2"));
    assert!(ask("explain", &dir, &["http://one.test/2"]).contains("it redirects to itself"));
    assert!(ask("changes", &dir, &[]).contains("1 failed"));
}

#[test]
fn another_limit_of_bytes_is_no_change() {
    let long = |end: &str| format!("<title>Long</title>{}<p>{end}", "<p>A line of text.".repeat(2_000));
    let cut = ["--max-body-bytes", "10000"];
    for begins_cut in [false, true] {
        let site = Site::new(Says::Nothing, 1);
        site.set("/0", Says::Nothing, &long("The end."));
        let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
        let dir = dirs.path().join("crawl");
        let first = if begins_cut { &cut[..] } else { &[] };
        run(&mut crawl(&served, &dir, &[first, &["http://one.test/"]].concat())).expect_code(0);
        for limit in [&cut[..], &[], &["--unset", "max-body-bytes"], &cut[..]] {
            run(&mut crawl(&served, &dir, &[&["--again"][..], limit].concat())).expect_code(0);
            assert_eq!(changes(&dir, &[]), BTreeMap::new(), "{limit:?} {begins_cut}");
        }
        let last = visits(&dir)["http://one.test/0"].last().unwrap().clone();
        assert_eq!((last.outcome, last.past.changes), (Outcome::TooLarge, 0), "the whole content stays");
        // What is whole again is compared with what was whole before.
        site.set("/0", Says::Nothing, &long("Another end."));
        run(&mut crawl(&served, &dir, &["--again", "--unset", "max-body-bytes"])).expect_code(0);
        assert_eq!(kinds(&changes(&dir, &[])), [("/0", "changed")], "{begins_cut}");
        ask("check", &dir, &[]);
    }
}

#[test]
fn pages_that_have_not_changed_get_what_a_later_setting_looks_for() {
    const PAGES: usize = 20;
    for (setting, kind) in [("--requisites", "i"), ("--images", "i"), ("--ignore-nofollow", "n")] {
        let site = Site::new(Says::Tag, PAGES);
        for n in 0..PAGES {
            let nofollow = "<meta name=robots content=nofollow>";
            let text = format!("<title>{n}</title>{nofollow}<img src=/i{n}><a href=/n{n}>n</a>");
            site.set(&format!("/{n}"), Says::Tag, &text);
            for kind in ["i", "n"] {
                site.set(&format!("/{kind}{n}"), Says::Nothing, &format!("{kind} of {n}"));
            }
        }
        let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
        let dir = dirs.path().join("crawl");
        run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let is_wanted = |path: &str| path.starts_with(&format!("/{kind}"));
        assert!(!site.asked().iter().any(|(path, ..)| is_wanted(path)), "{setting}");
        run(&mut crawl(&served, &dir, &["--again", setting])).expect_code(0);
        let wanted: BTreeSet<String> = site.asked().into_iter().map(|(path, ..)| path).collect();
        let wanted = wanted.into_iter().filter(|path| is_wanted(path)).count();
        assert_eq!(wanted, PAGES, "{setting}");
        // Whatever it looks for is looked for once.
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let statuses = site.statuses();
        assert!(statuses[&304] > PAGES / 2, "{setting}: {statuses:?}");
    }
}

#[test]
fn of_a_page_that_fails_each_time_the_last_visit_counts() {
    let page = |request: &Request| match request.path() {
        "/" => Reply::html("<a href=/fails>it fails each time</a>"),
        "/fails" => Reply::error(503, request.path()),
        _ => Reply::error(404, request.path()),
    };
    let (served, dirs) =
        (Served::start(Web::new().site("one.test", testweb::from_fn(page))), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    for round in 1..=4 {
        let what = if round == 1 { "http://one.test/" } else { "--again" };
        run(&mut crawl(&served, &dir, &[what, "--max-attempts", "1", "--patience", "0", "--backoff", "5ms"]));
        let exported = ask("export", &dir, &["jsonl"]);
        let mut exported: Vec<(String, i64)> = exported
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|row| (row["url"].as_str().unwrap().to_owned(), row["visit"].as_i64().unwrap()))
            .collect();
        exported.sort();
        let current = rows(&dir, true).into_iter().map(|(url, _, visit)| (url, visit)).collect::<Vec<_>>();
        assert_eq!(current, exported, "round {round}");
        assert!(current.contains(&("http://one.test/fails".to_owned(), round)), "{current:?}");
    }
}

/// The files below a directory.
fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn servers_that_are_wrong_about_their_content_hide_no_change() {
    for says in [Says::Date, Says::Nothing, Says::AnyTag, Says::NothingChanged, Says::Future] {
        let site = Site::new(says, 8);
        let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
        let dir = dirs.path().join("crawl");
        run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
        site.asked();
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let asked = site.asked();
        assert_eq!(changes(&dir, &[]), BTreeMap::new(), "{says:?}");
        let with = |field: fn(&Asked) -> bool| asked.iter().filter(|one| field(one)).count();
        match says {
            Says::Date => assert!(with(|(_, tag, date, _)| tag.is_none() && date.is_some()) >= 7, "{asked:?}"),
            Says::Nothing | Says::Future => {
                assert_eq!(with(|(_, tag, date, _)| tag.is_some() || date.is_some()), 0, "{says:?} {asked:?}");
            }
            Says::AnyTag => assert!(with(|(_, tag, ..)| tag.is_some()) >= 7, "{asked:?}"),
            _ => {}
        }
        // All pages change. A server that always says that nothing has is found out by the first page.
        (0..8).for_each(|n| site.set(&format!("/{n}"), says, &format!("<p>Another page {n}.")));
        site.link(says, 8);
        site.set("/", says, "<a href=/0>0</a><a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><p>changed");
        run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
        let told = changes(&dir, &[]);
        let found = told.len();
        assert!(
            found == 9 || says == Says::NothingChanged && found > 0,
            "{says:?}: {:?} {:?}",
            kinds(&told),
            site.asked()
        );
        if says == Says::AnyTag {
            // A tag that changes with each answer is not sent again: the date is right.
            run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
            // Nor does it come back with an answer that says that nothing has changed. One page in eight is requested in any case.
            for round in 5..8 {
                site.asked();
                run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
                let statuses = site.statuses();
                assert!(statuses.get(&304) >= Some(&4), "round {round}: {statuses:?}");
            }
        }
        if says == Says::NothingChanged {
            site.asked();
            run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
            assert_eq!(site.statuses(), BTreeMap::from([(200, 9)]), "it is not believed any more");
            let found: BTreeSet<String> = changes(&dir, &["--since", "2000-01-01"]).into_keys().collect();
            assert_eq!(found.len(), 9);
        }
        ask("check", &dir, &[]);
    }
}

#[test]
fn what_is_visited_again_can_be_chosen() {
    let site = Site::new(Says::Tag, 10);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    let refused = run(&mut crawl(&served, &dir, &["--again"])).expect_code(1);
    assert!(refused.stderr.contains("--again: ") && refused.stderr.contains("no such directory"), "{}", refused.stderr);
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    site.asked();
    let ended = run(&mut crawl(&served, &dir, &["--again", "--older-than", "1h"]));
    assert!(ended.stderr.contains("--again: no page matches"), "{}", ended.stderr);
    assert_eq!(site.asked().len(), 0);
    let ended = run(&mut crawl(&served, &dir, &["--again", "--only", "*/1*", "--only", "*/2"])).expect_code(0);
    assert!(ended.stderr.contains("round 2 begins, 2 URLs"), "{}", ended.stderr);
    let paths: BTreeSet<String> = site.asked().into_iter().map(|(path, ..)| path).collect();
    assert_eq!(paths, BTreeSet::from(["/1", "/2"].map(str::to_owned)));
    for (arguments, expect) in [
        (["--again", "--only", "["], "--only `[` matches no URL"),
        (["--again", "--older-than", "soon"], "`soon` is no duration"),
        (["--only", "*", "--json"], "--again"),
    ] {
        let refused = run(&mut crawl(&served, &dir, &arguments)).expect_code(2);
        assert!(refused.stderr.contains(expect), "{arguments:?}: {}", refused.stderr);
    }
    // A budget ends a round; it goes on with what is left.
    run(&mut crawl(&served, &dir, &["--again", "--max-pages", "4"])).expect_code(3);
    let left = site.asked().len();
    assert!((4..11).contains(&left), "{left}");
    let ended = run(&mut crawl(&served, &dir, &["--again", "--max-pages", "1000"])).expect_code(0);
    assert!(ended.stderr.contains("round 3 goes on"), "{}", ended.stderr);
    assert!(visits(&dir).values().all(|visits| visits.last().is_some_and(|visit| visit.round == 3)));
}

#[test]
fn a_choice_of_pages_is_refused_where_a_round_of_others_goes_on() {
    let site = Site::new(Says::Tag, 10);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    run(&mut crawl(&served, &dir, &["--again", "--max-pages", "3"])).expect_code(3);
    site.asked();
    for choice in [["--only", "*/none"], ["--older-than", "30d"]] {
        let more = [&["--again", "--unset", "max-pages"], &choice[..]].concat();
        let refused = run(&mut crawl(&served, &dir, &more)).expect_code(2).stderr;
        assert!(refused.contains("goes on, with 8 URLs left, of which 8 would not be chosen: "), "{refused}");
    }
    assert_eq!(site.asked(), []);
    assert!(std::fs::read_to_string(dir.join("crawl.toml")).unwrap().contains("max-pages = 3"));
    run(&mut crawl(&served, &dir, &["--again", "--max-pages", "1000"])).expect_code(0);
    assert_eq!(site.asked().len(), 8);
    // The same command goes on with what it chose.
    let choice = ["--again", "--only", "*/1*", "--only", "*/2", "--older-than", "0s", "--max-pages"];
    run(&mut crawl(&served, &dir, &[&choice[..], &["1"]].concat())).expect_code(3);
    let ended = run(&mut crawl(&served, &dir, &[&choice[..], &["1000"]].concat())).expect_code(0);
    assert!(ended.stderr.contains("round 3 goes on, 1 URL left to be visited again"), "{}", ended.stderr);
}

#[test]
fn a_pattern_that_no_page_matches_is_told_to_a_quiet_command_too() {
    let site = Site::new(Says::Tag, 3);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    // Nothing is due yet, which is no mistake.
    for (choice, told) in [(["--only", "*/none"], "argiope: --again: no page matches\n"), (["--older-than", "30d"], "")]
    {
        let ended = run(&mut crawl(&served, &dir, &[&["--again", "--quiet"], &choice[..]].concat())).expect_code(0);
        assert_eq!(ended.stderr, told);
    }
    let choice = ["--again", "--only", "*/1", "--older-than", "30d"];
    let ended = run(&mut crawl(&served, &dir, &choice)).expect_code(0);
    let expect = "no page matches, since the last visit of 1 URL is not that long ago (--older-than)";
    assert!(ended.stderr.contains(expect), "{}", ended.stderr);
}

#[test]
fn urls_of_a_round_are_in_the_queue_for_steering() {
    let site = Site::new(Says::Tag, 10);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    run(&mut crawl(&served, &dir, &["--again", "--max-pages", "3"])).expect_code(3);
    let left: Vec<String> =
        visits(&dir).into_iter().filter(|(_, visits)| visits.len() == 1).map(|(url, _)| url).collect();
    assert_eq!(left.len(), 8);
    let steer = |what: &[&str]| ask("steer", &dir, what);
    let concerned = "it would concern 8 URLs in the queue";
    for (what, told) in [
        (&["remove", "*.test/*"][..], format!("{concerned}\n")),
        (&["exclude", "*.test/*"], format!("{concerned}; 3 URLs that were fetched already would stay\n")),
        (&["hold", "one.test"], format!("{concerned}; 3 URLs that were fetched already would stay\n")),
    ] {
        let dry = steer(&[&["--dry-run"], what].concat());
        assert!(dry.ends_with(&told), "{dry}");
    }
    let why = ask("explain", &dir, &[&left[0]]);
    assert!(why.contains("it is to be visited again in this round"), "{why}");
    steer(&["exclude", "*.test/*"]);
    let why = ask("explain", &dir, &[&left[0]]);
    assert!(why.contains("ends without a request, and it keeps its last visit: exclude *.test/*"), "{why}");
    assert!(!why.contains("it is to be visited again"), "{why}");
    let told = steer(&["remove", "*.test/*"]);
    assert!(told.ends_with("8 URLs taken out of the queue\n"), "{told}");
}

#[test]
fn rounds_that_are_killed_lose_nothing_and_visit_nothing_twice() {
    let site = Site::new(Says::Tag, PAGES);
    let (served, dirs) = (site.served(), tempfile::tempdir().unwrap());
    let dir = dirs.path().join("crawl");
    run(&mut crawl(&served, &dir, &["http://one.test/"])).expect_code(0);
    let mut killed = 0;
    for kill in 0..KILLS {
        // The web changes meanwhile.
        site.set(&format!("/{}", kill % PAGES as u64), Says::Tag, &format!("<p>Page of kill {kill}."));
        let running = Running::start(&mut crawl(&served, &dir, &["--again"]));
        std::thread::sleep(Duration::from_millis(20 + kill * 37 % 160));
        killed += u64::from(running.kill());
    }
    assert!(killed > KILLS / 2, "{killed} were killed before they ended");
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    run(&mut crawl(&served, &dir, &["--again"])).expect_code(0);
    ask("check", &dir, &[]);
    let visits = visits(&dir);
    assert_eq!(visits.len(), PAGES + 1);
    let last = visits.values().flatten().map(|visit| visit.round).max().unwrap();
    for (url, visits) in &visits {
        let rounds: Vec<u32> = visits.iter().map(|visit| visit.round).collect();
        assert_eq!(rounds, (1..=last).collect::<Vec<_>>(), "{url}");
        assert!(visits.iter().all(|visit| visit.outcome.is_fetched() && visit.outcome != Outcome::Duplicate), "{url}");
    }
    // The dataset has the same, each visit once.
    let all = rows(&dir, false);
    assert_eq!(all.len(), visits.values().map(Vec::len).sum::<usize>());
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(rows(&dir, true).len(), PAGES + 1);
}
