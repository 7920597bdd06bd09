//! robots.txt follows redirects within its site, up to five (RFC 9309 §2.3.1.2); nothing else does.

use fetch::robots_elsewhere;
use model::{FetchTask, Purpose};

use crate::client::{page, plain, response, text};
use crate::server::{Server, serve};

/// `/N` redirects to `/N-1`, `/0` answers.
async fn stairs() -> Server {
    serve(|mut peer| async move {
        while let Some(head) = peer.request().await {
            let step: u32 =
                head.trim_start_matches("GET /").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let status = [301, 302, 303, 307, 308][step as usize % 5];
            let answer = match step {
                0 => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrule".to_owned(),
                _ => format!("HTTP/1.1 {status} Moved\r\nLocation: /{}\r\nContent-Length: 5\r\n\r\nmoved", step - 1),
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
