//! robots.txt follows redirects within its site, up to five (RFC 9309 §2.3.1.2); nothing else does.

use std::sync::Arc;
use std::time::Duration;

use fetch::robots_elsewhere;
use model::{Condition, FetchTask, Limits, Purpose, Validators};

use crate::client::{page, plain, response, text, url, with_limits};
use crate::server::{Server, serve};

/// `/N` redirects to `/N-1`, `/0` answers.
async fn stairs() -> Server {
    stairs_of("rule", "moved").await
}

/// The same with these bodies: of the answer, and of each redirect.
async fn stairs_of(rule: &'static str, moved: &'static str) -> Server {
    serve(move |mut peer| async move {
        while let Some(head) = peer.request().await {
            let step: u32 =
                head.trim_start_matches("GET /").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let status = [301, 302, 303, 307, 308][step as usize % 5];
            let answer = match step {
                0 => format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{rule}", rule.len()),
                _ => {
                    let (to, length) = (step - 1, moved.len());
                    format!("HTTP/1.1 {status} Moved\r\nLocation: /{to}\r\nContent-Length: {length}\r\n\r\n{moved}")
                }
            };
            peer.send(answer).await;
        }
    })
    .await
}

fn robots(url: &str) -> FetchTask {
    FetchTask { purpose: Purpose::Robots, ..page(url) }
}

#[tokio::test]
async fn five_redirects_are_followed_and_the_sixth_is_the_answer() {
    let (server, fetcher) = (stairs().await, plain());
    for redirects in 0..=5 {
        let outcome = fetcher.fetch(robots(&server.url(&format!("/{redirects}")))).await;
        assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (200, "rule"));
        assert_eq!(outcome.exchanges.len(), redirects + 1);
        assert_eq!(outcome.url.path(), "/0");
        assert_eq!(text(&outcome.exchanges.last().expect("an exchange").payload), "rule");
    }
    let outcome = fetcher.fetch(robots(&server.url("/6"))).await;
    assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (302, "moved"));
    assert_eq!((outcome.exchanges.len(), outcome.url.path()), (6, "/1"));
}

#[tokio::test]
async fn validators_go_to_the_url_for_which_they_are() {
    let server = serve(move |mut peer| async move {
        while let Some(head) = peer.request().await {
            let is_conditional = head.to_ascii_lowercase().contains("if-none-match: \"1\"");
            let answer = match (head.starts_with("GET /0 "), is_conditional) {
                (_, true) => "HTTP/1.1 304 Not Modified\r\n\r\n".to_owned(),
                (true, false) => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrule".to_owned(),
                (false, false) => "HTTP/1.1 301 Moved\r\nLocation: /0\r\nContent-Length: 0\r\n\r\n".to_owned(),
            };
            peer.send(answer).await;
        }
    })
    .await;
    let validators = Validators { etag: Some("\"1\"".to_owned()), last_modified: None };
    for (of, expect) in [(Some("/0"), (304, "/0")), (Some("/2"), (200, "/0")), (Some("/1"), (304, "/1"))] {
        let condition =
            of.map(|path| Box::new(Condition { validators: validators.clone(), url: url(&server.url(path)) }));
        let task = FetchTask { condition, ..robots(&server.url("/1")) };
        let outcome = plain().fetch(task).await;
        assert_eq!((response(&outcome).status, outcome.url.path()), expect, "{of:?}");
    }
}

/// Files of 300 kB, one of which may be in memory at once.
fn large() -> (&'static str, Limits) {
    let body = "x".repeat(300_000).leak();
    (body, Limits { in_flight_bytes_max: 16 * 18_750, total_timeout: Duration::from_secs(60), ..Limits::default() })
}

#[tokio::test]
async fn the_next_large_file_comes_when_the_one_before_is_recorded() {
    let (body, limits) = large();
    let (server, fetcher) = (stairs_of(body, "").await, with_limits(limits));
    let first = fetcher.fetch(robots(&server.url("/0"))).await;
    let second = fetcher.fetch(robots(&server.url("/0")));
    tokio::pin!(second);
    // Too short a wait could only hide a failure, never cause one.
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut second).await.is_err());
    drop(first);
    assert_eq!(response(&second.await).body.len(), body.len());
}

#[tokio::test]
async fn redirects_with_large_bodies_do_not_wait_for_each_other() {
    let (body, limits) = large();
    let (server, fetcher) = (stairs_of(body, body).await, Arc::new(with_limits(limits)));
    let fetches: Vec<_> = (0..10)
        .map(|_| {
            let (fetcher, task) = (fetcher.clone(), robots(&server.url("/5")));
            tokio::spawn(async move { response(&fetcher.fetch(task).await).body.len() })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.expect("an outcome"), body.len());
    }
}

#[tokio::test]
async fn pages_and_sitemaps_follow_none() {
    let (server, fetcher) = (stairs().await, plain());
    for purpose in [Purpose::Page, Purpose::Sitemap] {
        let outcome = fetcher.fetch(FetchTask { purpose, ..page(&server.url("/1")) }).await;
        assert_eq!((response(&outcome).status, outcome.exchanges.len()), (302, 1));
        assert_eq!(outcome.url.path(), "/1");
    }
}

#[tokio::test]
async fn redirects_that_lead_nowhere_are_the_answer() {
    for location in ["Location: ftp://a.test/\r\n", "Location: http://[\r\n", "Location: mailto:a@b.test\r\n", ""] {
        let answer = format!("HTTP/1.1 301 Moved\r\n{location}Content-Length: 0\r\n\r\n");
        let server = crate::server::answers(answer).await;
        let outcome = plain().fetch(robots(&server.url("/robots.txt"))).await;
        assert_eq!((response(&outcome).status, outcome.exchanges.len()), (301, 1), "{location}");
    }
}

#[tokio::test]
async fn another_site_is_not_asked_but_named() {
    let other = stairs().await;
    let target = format!("http://other.test:{}/1", other.address.port());
    let answer = format!("HTTP/1.1 301 Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n");
    let server = crate::server::answers(answer).await;
    let outcome = plain().fetch(robots(&server.url("/robots.txt"))).await;
    assert_eq!((response(&outcome).status, outcome.exchanges.len()), (301, 1));
    assert_eq!(outcome.url.as_str(), server.url("/robots.txt"));
    assert_eq!(robots_elsewhere(&outcome).map(|url| url.to_string()), Some(target));
    let outcome = plain().fetch(robots(&other.url("/6"))).await;
    assert_eq!(robots_elsewhere(&outcome), None, "a site that redirects to itself leads nowhere else");
}
