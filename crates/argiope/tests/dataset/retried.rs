//! `--retry`: what failed is fetched again, and every form of the crawl tells of the later visit only.

use std::collections::BTreeSet;
use std::iter::once;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use crawl::CrawlDir;
use dataset::schema::Table;
use engine::clock::Clock;
use model::{Aside, Failure, FailureKind, RobotsAnswer, SiteRecord};
use store::{Batch, Store};
use testweb::{Reply, Step, Web, from_fn};
use weburl::{Site, SiteKey};

use testkit::crawled::Crawled;
use testkit::tables::{pages, rows};

const UP: &str = "http://up.test";
const DOWN: &str = "http://down.test";
const ANYWHERE: [&str; 3] = ["--scope", "any", "--no-sitemaps"];
const PAGES: [&str; 4] = ["/", "/error", "/fine", "/private/x"];

/// Two sites. Until all is well one of them has an error on a page and forbids another, and the other site does not answer.
fn web(is_well: &Arc<AtomicBool>) -> Web {
    let (up, down) = (is_well.clone(), is_well.clone());
    let links = ["/error", "/fine", "/private/x", "http://down.test/1", "http://down.test/2"];
    let links: String = links.iter().map(|link| format!("<a href={link}>{link}</a> ")).collect();
    let up = from_fn(move |request| match request.target.as_str() {
        "/robots.txt" if up.load(SeqCst) => Reply::text(""),
        "/robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
        "/" => Reply::html(links.clone()),
        "/error" if !up.load(SeqCst) => Reply::new(503).body("<a href=/from-error>come back</a>"),
        "/error" | "/fine" | "/private/x" => Reply::html(format!("<a href=/>home</a> of {}", request.target)),
        _ => Reply::new(404),
    });
    let down = from_fn(move |request| match request.target.as_str() {
        _ if !down.load(SeqCst) => Reply::raw(|| once(Step::send("HTTP/1.1 200"))),
        "/robots.txt" => Reply::text(""),
        _ => Reply::html(request.target.clone()),
    });
    Web::new().site("up.test", up).site("down.test", down)
}

fn crawl(arguments: &[&str]) -> (Crawled, Arc<AtomicBool>) {
    let is_well = Arc::new(AtomicBool::new(false));
    let fixed = ["--segment-size", "4KB", "--max-attempts", "2", "--give-up-after", "0"];
    (Crawled::of(web(&is_well), &format!("{UP}/"), &[&fixed[..], arguments].concat()), is_well)
}

fn outcome(crawled: &Crawled, url: &str) -> String {
    pages(crawled.dir())[url]["outcome"].clone()
}

/// Goes on with the crawl, and says how many URLs of how many sites were to be fetched again.
fn retry(crawled: &Crawled, outcomes: &str, arguments: &[&str]) -> String {
    let ran = crawled.crawl(&[&["--retry", outcomes], arguments].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = ran.stderr.lines().find_map(|line| line.strip_prefix("argiope: --retry: "));
    said.unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

fn answers_in_the_archive(crawled: &Crawled, url: &str) -> usize {
    let mut answers = 0;
    for segment in crawled.segments() {
        answers += warc::index(&segment).expect("a segment").iter().filter(|line| line.url == url).count();
    }
    answers
}

#[test]
fn what_failed_is_fetched_again_and_has_one_row_the_later() {
    let (crawled, is_well) = crawl(&ANYWHERE);
    let error = format!("{UP}/error");
    assert_eq!(outcome(&crawled, &error), "http_error");
    let failed = ["/1", "/2"].map(|path| outcome(&crawled, &format!("{DOWN}{path}")));
    assert!(failed.iter().all(|outcome| outcome == "given_up"), "{failed:?}");
    let before = answers_in_the_archive(&crawled, &error);
    assert!(before > 0);

    is_well.store(true, SeqCst);
    let said = retry(&crawled, "http_error,given_up", &[]);
    assert_eq!(said, "3 URLs of 2 sites in the frontier again");
    let found = pages(crawled.dir());
    for (url, row) in &found {
        let expect = if url.ends_with("/private/x") { "disallowed" } else { "html" };
        assert_eq!(row["outcome"], expect, "{url}");
    }
    assert_eq!(found.len(), PAGES.len() + 2);
    assert_eq!(answers_in_the_archive(&crawled, &error), before + 1, "the archive keeps both");

    // Every form tells the same.
    let exported = crawled.run("export", &["jsonl"]).stdout;
    assert_eq!(exported.lines().count(), found.len());
    assert!(!exported.contains("_error"), "{exported}");
    let links: BTreeSet<String> = rows(crawled.dir(), Table::Links).iter().map(|row| row["target"].clone()).collect();
    assert!(!links.contains("http://up.test/from-error"), "what the first answer had is gone: {links:?}");
    let checked = crawled.run("check", &[]);
    assert_eq!(checked.code, 0, "{checked:?}");
    let status = crawled.run("status", &["--json"]).json();
    assert_eq!((&status["frontier"], &status["fetched"]), (&0.into(), &5.into()), "{status}");
    assert!(status["outcomes"].get("http_error").is_none(), "{status}");
    let report = crawled.run("report", &["--json"]).json();
    assert!(!report.to_string().contains("given_up\":1"), "{report}");
    assert_eq!(crawled.run("rank", &[]).code, 0);
    let written = Table::ALL.map(|table| rows(crawled.dir(), table));
    assert_eq!(crawled.run("derive", &["--all"]).code, 0);
    assert_eq!(Table::ALL.map(|table| rows(crawled.dir(), table)), written);

    assert_eq!(retry(&crawled, "http_error", &[]), "0 URLs of 0 sites in the frontier again");
}

#[test]
fn what_robots_txt_allows_by_now_is_fetched() {
    let (crawled, is_well) = crawl(&ANYWHERE);
    let private = format!("{UP}/private/x");
    for expect in ["disallowed", "html"] {
        assert_eq!(outcome(&crawled, &private), "disallowed");
        is_well.store(expect == "html", SeqCst);
        assert_eq!(retry(&crawled, "disallowed", &[]), "1 URL of 1 site in the frontier again");
        assert_eq!(outcome(&crawled, &private), expect);
    }
}

#[test]
fn what_fails_again_has_one_row_too() {
    let (crawled, _) = crawl(&["--scope", "any"]);
    // With the sitemap that is not there.
    assert_eq!(retry(&crawled, "http_error,given_up", &[]), "4 URLs of 2 sites in the frontier again");
    assert_eq!(pages(crawled.dir()).len(), PAGES.len() + 2);
    // No other page of its site was answered meanwhile, so it is the site that failed.
    assert_eq!(outcome(&crawled, &format!("{UP}/error")), "given_up");
    assert_eq!(crawled.run("check", &[]).code, 0);
}

#[test]
fn what_the_rules_still_refuse_stays_refused() {
    let (crawled, _) = crawl(&["--exclude", "*/fine"]);
    let fine = format!("{UP}/fine");
    assert_eq!(outcome(&crawled, &fine), "excluded");
    assert_eq!(outcome(&crawled, &format!("{DOWN}/1")), "excluded");
    assert_eq!(retry(&crawled, "excluded", &[]), "0 URLs of 0 sites in the frontier again");
    assert_eq!(retry(&crawled, "excluded", &["--exclude", "*/other"]), "1 URL of 1 site in the frontier again");
    assert_eq!(outcome(&crawled, &fine), "html");
    assert_eq!(outcome(&crawled, &format!("{DOWN}/1")), "excluded", "it is out of scope");
}

/// Reads the record of a site, or changes it.
fn record(crawled: &Crawled, site: &Site, change: impl FnOnce(SiteRecord) -> SiteRecord) -> SiteRecord {
    let dir = CrawlDir::existing(Path::new(crawled.dir())).expect("a crawl");
    let store = dir.open_store(&dir.options().expect("settings")).expect("a store that nobody uses");
    let record = change(store.site(site.key()).expect("site").expect("a site that was asked"));
    store.commit(&Batch { sites: vec![record], ..Batch::default() }).expect("commit");
    read(store.as_ref(), site.key())
}

fn read(store: &dyn Store, site: SiteKey) -> SiteRecord {
    store.site(site).expect("site").expect("known")
}

#[test]
fn a_site_that_was_given_up_or_is_aside_is_asked_again_at_once() {
    let (crawled, is_well) = crawl(&ANYWHERE);
    let site = Site::from_text(DOWN).expect("a site");
    let failure = Failure { kind: FailureKind::Connect, detail: "refused".to_owned() };
    let now = Clock::start().date();
    let in_a_year = now + std::time::Duration::from_secs(365 * 86_400);
    let before = record(&crawled, &site, |site| SiteRecord {
        due_at: in_a_year,
        failures_in_a_row: 20,
        aside: Some(Aside { until: now, round: 7, reason: failure.clone() }),
        given_up: Some(failure),
        ..site
    });
    let robots = before.robots.expect("it was asked for");
    assert!(matches!(robots.answer, RobotsAnswer::Failed(_)));
    is_well.store(true, SeqCst);
    assert_eq!(retry(&crawled, "given_up", &[]), "2 URLs of 1 site in the frontier again");
    for path in ["/1", "/2"] {
        assert_eq!(outcome(&crawled, &format!("{DOWN}{path}")), "html");
    }
    let after = record(&crawled, &site, |site| site);
    assert_eq!((after.given_up, after.aside, after.failures_in_a_row), (None, None, 0));
    assert!(after.due_at < in_a_year);
    let robots = after.robots.expect("it was asked for");
    assert!(matches!(robots.answer, RobotsAnswer::Status { code: 200, .. }), "{robots:?}");
}

#[test]
fn a_dataset_without_its_rows_is_derived_when_the_crawl_did_not_begin() {
    let (crawled, is_well) = crawl(&ANYWHERE);
    is_well.store(true, SeqCst);
    // It ends before anything is fetched: the URLs wait, and have no row.
    let ran = crawled.crawl(&["--retry", "http_error", "--max-pages", "1"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert_eq!(crawled.run("derive", &[]).code, 0);
    let error = format!("{UP}/error");
    assert_eq!(pages(crawled.dir()).get(&error), None);
    assert_eq!(crawled.crawl(&["--max-pages", "100"]).code, 0);
    assert_eq!(outcome(&crawled, &error), "html");
}
