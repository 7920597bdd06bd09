//! Rounds after the first, of webs whose redirects always lead elsewhere.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::Outcome;
use testweb::{Pages, Reply, Server, Web, from_fn};

use crate::binary::Running;
use crate::crawl::{Crawl, serve};

/// How many requests for paths that begin so came since the last call.
fn news(server: &Server, seen: &mut usize, path: &str) -> usize {
    let log = server.log();
    let count = log.iter().skip(*seen).filter(|entry| entry.target.starts_with(path)).count();
    *seen = log.len();
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_behind_redirects_that_always_lead_elsewhere_are_as_many_in_each_round() {
    for is_chain in [false, true] {
        let asked = Arc::new(AtomicUsize::new(0));
        let site = from_fn(move |request| match request.path() {
            "/" => Reply::html("<a href=/go>go</a>"),
            path if path == "/go" && (is_chain || request.target == "/go") => {
                Reply::redirect(302, format!("/go?{}", asked.fetch_add(1, Ordering::Relaxed)))
            }
            path => Reply::html(format!("<p>{path} of {}", request.target)),
        });
        let server = serve(Web::new().site("a.test", site)).await;
        let crawl = Crawl::of(&server, &["http://a.test/"]).at_once();
        crawl.run().await;
        let (mut seen, mut of_rounds) = (0, Vec::new());
        news(&server, &mut seen, "/go");
        for _ in 2..=8 {
            crawl.again(&["--again"]).run().await;
            of_rounds.push(news(&server, &mut seen, "/go"));
        }
        // It takes three visits to see that the redirect always leads elsewhere.
        let later = &of_rounds[3..];
        assert!(later.iter().all(|count| *count == later[0]), "{of_rounds:?}");
        if !is_chain {
            assert_eq!(later[0], 3, "the redirect, the page that it led to last, and that to which it leads now");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daily_redirect_that_is_visited_twice_on_some_days_brings_no_earlier_target_back() {
    let day = Arc::new(AtomicUsize::new(1));
    let today = day.clone();
    let site = from_fn(move |request| match request.path() {
        "/" => Reply::html("<a href=/today>today</a>"),
        "/today" => Reply::redirect(302, format!("/day/{}", today.load(Ordering::Relaxed))),
        path => Reply::html(format!("<p>{path}")),
    });
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once();
    crawl.run().await;
    let (mut seen, mut of_rounds) = (0, Vec::new());
    news(&server, &mut seen, "/day");
    for round in [2, 3, 4, 4, 5, 5, 5, 6, 7] {
        day.store(round, Ordering::Relaxed);
        crawl.again(&["--again"]).run().await;
        of_rounds.push(news(&server, &mut seen, "/day"));
    }
    assert!(of_rounds[2..].iter().all(|count| *count <= 2), "yesterday's page and today's: {of_rounds:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_moved_are_visited_in_each_round() {
    let round = Arc::new(AtomicUsize::new(1));
    let now = round.clone();
    let site = from_fn(move |request| match (request.path(), now.load(Ordering::Relaxed)) {
        ("/", _) => Reply::html("<a href=/old>old</a> <a href=/twice>twice</a> <a href=/either>either</a>"),
        ("/old", _) => Reply::redirect(301, "/new"),
        // It moved twice, and stays.
        ("/twice", round) => Reply::redirect(301, format!("/place/{}", round.min(2))),
        // A server of several addresses: each answer leads to one of two.
        ("/either", round) => Reply::redirect(302, format!("/mirror/{}", round % 2)),
        (path, _) => Reply::html(format!("<p>{path}")),
    });
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once();
    crawl.run().await;
    for number in 2..=7 {
        round.store(number, Ordering::Relaxed);
        let before = server.log().len();
        crawl.again(&["--again"]).run().await;
        let log = server.log();
        for path in ["/old", "/new", "/place/1", "/place/2", "/mirror/0", "/mirror/1"] {
            let count = log.iter().skip(before).filter(|entry| entry.target == path).count();
            assert_eq!(count, 1, "{path} in round {number}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_a_page_that_was_not_asked_for_is_no_page() {
    let now = Arc::new(AtomicUsize::new(1));
    let round = now.clone();
    let whole = |path: &str| format!("<title>{path}</title><p>all of the page");
    let part = |body: String, range: String| {
        Reply::new(206).header("Content-Type", "text/html").header("Content-Range", range).body(body)
    };
    let site = from_fn(move |request| match (request.path(), round.load(Ordering::Relaxed)) {
        ("/", _) => Reply::html("<a href=/page>page</a> <a href=/all>all</a> <a href=/first>first</a>"),
        ("/page", 2) | ("/first", 1) => part(whole(request.path())[..10].to_owned(), "bytes 0-9/40".to_owned()),
        ("/all", 2) => {
            let whole = whole("/all");
            let range = format!("bytes 0-{}/{}", whole.len() - 1, whole.len());
            part(whole, range)
        }
        (path, _) => Reply::html(whole(path)),
    });
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once();
    crawl.run().await;
    assert_eq!(crawl.found().visit("http://a.test/first").outcome, Outcome::HttpError);
    let changes = || {
        let output = Command::new(env!("CARGO_BIN_EXE_argiope"))
            .args(["changes", "--brief"])
            .arg(crawl.dir())
            .output()
            .expect("an answer");
        String::from_utf8(output.stdout).expect("text")
    };
    now.store(2, Ordering::Relaxed);
    crawl.again(&["--again"]).run().await;
    let found = crawl.found();
    let part = found.visit("http://a.test/page");
    assert_eq!((part.outcome, part.status, part.validators.is_empty()), (Outcome::HttpError, 206, true), "{part:?}");
    assert!(part.reason.contains("only a part"), "{}", part.reason);
    assert_ne!(found.visit("http://a.test/all").outcome, Outcome::HttpError);
    let said = changes();
    assert!(said.contains("1 new, 1 failed, 2 unchanged") && !said.contains("changed  "), "{said}");
    now.store(3, Ordering::Relaxed);
    crawl.again(&["--again"]).run().await;
    let said = changes();
    assert!(said.contains("4 unchanged"), "{said}");
}

/// Watches a crawl that has ended, for so many rounds of a second each.
async fn watch(crawl: &Crawl, rounds: &str, more: &[&str]) {
    let dir = crawl.dir().display().to_string();
    let arguments = [&["watch", &dir, "--every", "1s", "--rounds", rounds], more].concat();
    let arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    let output = crawl.dir().with_extension("watched");
    let ended = Running::begin(&arguments, &output).end().await;
    assert_eq!(ended.code, Some(0), "{}", std::fs::read_to_string(output).unwrap_or_default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_visits_what_pages_need_with_them() {
    let image = || Reply::new(200).header("Content-Type", "image/png").body("png");
    let mut site =
        Pages::new().html("/", "<link rel=icon href=data:,><a href=/0>0</a><a href=/1>1</a><a href=/2>2</a>");
    for n in 0..3 {
        site = site.html(format!("/{n}"), format!("<link rel=icon href=data:,><p>{n}<img src=/{n}.png>"));
        site = site.reply(format!("/{n}.png"), image());
    }
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once().with(&["--requisites"]);
    crawl.run().await;
    let before = server.log().len();
    watch(&crawl, "4", &["--budget", "2/s"]).await;
    let log = server.log();
    let count = |path: &str| log.iter().skip(before).filter(|entry| entry.target == path).count();
    let visits: Vec<(usize, usize)> = (0..3).map(|n| (count(&format!("/{n}")), count(&format!("/{n}.png")))).collect();
    // Eight visits of four pages; pictures count for no budget.
    assert!(visits.iter().all(|(page, picture)| page == picture), "{visits:?}");
    assert!(visits.iter().map(|(page, _)| page).sum::<usize>() >= 4, "{visits:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_visits_important_pages_more_often() {
    let links: String = (0..12).map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    let mut site = Pages::new().html("/", links).html("/hub", "<p>hub");
    for n in 0..12 {
        site = site.html(format!("/{n}"), format!("<p>{n} <a href=/hub>hub</a>"));
    }
    let server = serve(Web::new().site("a.test", site)).await;
    let crawl = Crawl::of(&server, &["http://a.test/"]).at_once();
    crawl.run().await;
    let before = server.log().len();
    watch(&crawl, "10", &["--budget", "3/s", "--importance", "in-links"]).await;
    let log = server.log();
    let count = |path: &str| log.iter().skip(before).filter(|entry| entry.target == path).count();
    let others: Vec<usize> = (0..12).map(|n| count(&format!("/{n}"))).collect();
    // About thirty visits of fourteen pages.
    assert!(others.iter().all(|other| count("/hub") > *other), "{} {others:?}", count("/hub"));
}
