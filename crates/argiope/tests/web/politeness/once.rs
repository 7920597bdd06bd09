//! `--robots-once`: one request for robots.txt a site, whatever comes of it.

use testweb::{Reply, Step, Web, from_fn};

use super::restarts::wait_for;
use crate::crawl::{Crawl, serve};

/// What a server answers to a request for robots.txt that it does not answer with a file.
fn refusals() -> Vec<(&'static str, Reply)> {
    vec![
        ("503", Reply::error(503, "/robots.txt")),
        ("503 for a while", Reply::error(503, "/robots.txt").header("Retry-After", "1")),
        ("429", Reply::error(429, "/robots.txt")),
        ("404", Reply::error(404, "/robots.txt")),
        ("a redirect to itself", Reply::redirect(302, "/robots.txt")),
        ("a redirect to another site", Reply::redirect(301, "http://other.test/robots.txt")),
        ("nothing", Reply::raw(|| std::iter::once(Step::send("")))),
    ]
}

fn site(robots_txt: Reply) -> Web {
    let site = from_fn(move |request| match request.target.as_str() {
        "/robots.txt" => robots_txt.clone(),
        "/" => Reply::html("<a href=/1>1</a> <a href=/2>2</a> <a href=/3>3</a>"),
        target => Reply::html(target.to_owned()),
    });
    Web::new().site("once.test", site)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_comes_of_it_robots_txt_is_asked_for_once_in_all_runs() {
    for (name, refusal) in refusals() {
        let server = serve(site(refusal)).await;
        let flags = ["--robots-once", "--delay", "100ms", "--ip-delay", "0", "--no-sitemaps"];
        let crawl = Crawl::of(&server, &["http://once.test/"]).with(&flags);
        let running = crawl.begin();
        wait_for(&server, |log| log.iter().any(|entry| entry.target == "/")).await;
        running.signal("INT");
        running.end().await;
        crawl.run().await;
        let log = server.log();
        let asked = log.iter().filter(|entry| entry.target == "/robots.txt").count();
        assert_eq!((asked, log[0].target.as_str()), (1, "/robots.txt"), "{name}: {log:?}");
        let found = crawl.found();
        let outcomes = found.outcomes();
        assert!(outcomes.len() == 4 && outcomes.values().all(|outcome| *outcome == "html"), "{name}: {outcomes:?}");
        assert!(log.iter().all(|entry| entry.host == "once.test"), "{name}: no redirect is followed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_hold_as_long_as_the_crawl() {
    let server = serve(site(Reply::text("User-agent: *\nDisallow: /2\n"))).await;
    let crawl = Crawl::of(&server, &["http://once.test/"]).at_once().with(&["--robots-once", "--no-sitemaps"]);
    crawl.run().await;
    let found = crawl.found();
    assert_eq!(found.outcomes().values().filter(|outcome| **outcome == "disallowed").count(), 1);
    assert_eq!(found.outcomes()["http://once.test/2"], "disallowed");
}
