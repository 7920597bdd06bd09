//! Servers that ask to be left alone for a while.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use engine::clock::Clock;
use model::Timestamp;
use testweb::{Reply, Web, from_fn};

use crate::crawl::{Crawl, serve};
use testkit::judge::{check_gaps, check_robots_first, site_of, visits};

/// Crawls a site of three pages whose first answer to `/busy` is a refusal, made at that moment; gives back for each
/// visit its path and when it came, by the wall clock.
async fn arrivals(refusal: impl Fn(Timestamp) -> Reply + Send + Sync + 'static) -> Vec<(String, Timestamp)> {
    let seen: Arc<Mutex<Vec<(String, Timestamp)>>> = Arc::default();
    let (kept, clock) = (Arc::clone(&seen), Clock::start());
    let site = from_fn(move |request| {
        if request.target == "/robots.txt" {
            return Reply::text("");
        }
        let now = clock.date();
        let mut kept = kept.lock().expect("no panic");
        kept.push((request.target.clone(), now));
        let times = kept.iter().filter(|(target, _)| *target == request.target).count();
        match request.target.as_str() {
            "/busy" if times == 1 => refusal(now),
            "/" => Reply::html("<a href=/busy>busy</a> <a href=/next>next</a>"),
            target => Reply::html(target.to_owned()),
        }
    });
    let server = serve(Web::new().site("busy.test", site)).await;
    let crawl = Crawl::of(&server, &["http://busy.test/"]).at_once().with(&["--no-sitemaps"]);
    crawl.run().await;
    assert!(crawl.found().outcomes().values().all(|outcome| *outcome == "html"));
    check_robots_first(&server.log());
    let seen = seen.lock().expect("no panic").clone();
    assert_eq!(seen.len(), 4, "{seen:?}");
    seen
}

/// How long the site was left alone after the refusal.
fn pause(arrivals: &[(String, Timestamp)]) -> Duration {
    let refused = arrivals.iter().position(|(target, _)| target == "/busy").expect("asked for");
    arrivals[refused + 1].1.since(arrivals[refused].1)
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_in_seconds_is_obeyed_by_the_whole_site() {
    for status in [429, 503] {
        let seen = arrivals(move |_| Reply::error(status, "busy").header("Retry-After", "1")).await;
        assert!(pause(&seen) >= Duration::from_secs(1), "{status}: {seen:?}");
    }
}

/// The date is a whole second between one and two seconds ahead.
#[tokio::test(flavor = "multi_thread")]
async fn retry_after_as_a_date_is_obeyed() {
    let date = |now: Timestamp| Timestamp::from_millis((now.as_millis() / 1000 + 2) * 1000);
    let seen = arrivals(move |now| {
        let text = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + date(now).since(Timestamp::default()));
        Reply::error(429, "busy").header("Retry-After", text)
    })
    .await;
    let refused = seen.iter().position(|(target, _)| target == "/busy").expect("asked for");
    // The server's clock and the crawler's are the system's, read once each.
    let early = date(seen[refused].1).since(seen[refused + 1].1);
    assert!(early < Duration::from_millis(2), "{early:?} too early: {seen:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_without_retry_after_are_followed_by_longer_and_longer_pauses() {
    let site = from_fn(|request| match request.target.as_str() {
        "/robots.txt" => Reply::text(""),
        target => Reply::error(503, target),
    });
    let server = serve(Web::new().site("busy.test", site)).await;
    let crawl = Crawl::of(&server, &["http://busy.test/"]).with(&["--delay", "20ms", "--no-sitemaps"]);
    crawl.with(&["--backoff", "100ms", "--max-backoff", "300ms"]).run().await;
    let visits = visits(&server.log());
    // Then the site is put aside, and since nothing was fetched the run does not wait for it.
    assert_eq!(visits.len(), 6);
    for (pair, pause) in visits.windows(2).zip([100, 200, 300, 300, 300]) {
        check_gaps(pair, site_of, Duration::from_millis(pause));
    }
}
