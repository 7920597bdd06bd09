//! What pages in a browser request: their method, fields and body, within the crawl's own.

use std::time::Duration;

use bytes::Bytes;
use fetch::{FetchConfig, Fetcher, Field, Initiator, Keyring, PageRequest};
use model::{Fetched, Headers, Method, Truncation};
use tokio::io::AsyncReadExt;

use crate::client::{fetcher, page, plain, response, text, url};
use crate::server::serve;

fn headers(fields: &[(&str, &str)]) -> Headers {
    Headers(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

fn post<'a>(page: &'a weburl::CanonicalUrl, headers: &'a Headers, body: &'a Bytes) -> PageRequest<'a> {
    PageRequest { initiator: Initiator::Page(page), method: Method::Post, headers, body, time_max: Duration::MAX }
}

/// Fetches over HTTP/1.1. Gives the request as it came, and as it is recorded.
async fn sent(fetcher: &Fetcher, fields: &[(&str, &str)], body: &'static str) -> (String, String) {
    let server = serve(|mut peer| async move {
        let head = peer.request().await.expect("a request");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        peer.stream.read_exact(&mut body).await.expect("a body");
        let body = [head.as_bytes(), &body].concat();
        peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len())).await;
        peer.send(body).await;
    })
    .await;
    let (of, fields, body) = (url(&server.url("/")), headers(fields), Bytes::from_static(body.as_bytes()));
    let outcome = fetcher.fetch_for(page(&server.url("/api")), Some(&post(&of, &fields, &body))).await;
    let exchange = &outcome.exchanges[0];
    assert_eq!((exchange.method, &exchange.request_body), (Method::Post, &body));
    let without_host = |text: &str| text.replace(&format!("Host: {}\r\n", server.address), "");
    (without_host(text(&response(&outcome).body)), without_host(text(&exchange.request_head)))
}

#[tokio::test]
async fn fields_of_a_page_are_sent_with_those_of_the_crawl() {
    let config = || FetchConfig { user_agent: "tester".to_owned(), ..FetchConfig::default() };
    let fields = [
        ("Accept", "application/json"),
        ("X-Requested-With", "XMLHttpRequest"),
        ("User-Agent", "Chromium"),
        ("Content-Length", "7"),
        ("Host", "other.test"),
        ("Cookie", "a=page; b=page"),
        ("Authorization", "Bearer t"),
    ];
    let head = "POST /api HTTP/1.1\r\nUser-Agent: tester\r\nAccept: application/json\r\nAccept-Encoding: gzip, br, zstd, deflate\r\n";
    let rest = "X-Requested-With: XMLHttpRequest\r\nCookie: a=page; b=page\r\nAuthorization: Bearer t\r\nContent-Length: 5\r\n\r\n";
    let (came, recorded) = sent(&fetcher(config()), &fields, "a=b&c").await;
    assert_eq!(came, format!("{head}{rest}a=b&c"));
    assert_eq!(recorded, format!("{head}{rest}").replace("a=page; b=page", "***").replace("Bearer t", "***"));
    let (came, _) = sent(&fetcher(config()), &[], "").await;
    assert!(came.ends_with("Content-Length: 0\r\n\r\n"), "{came}");
}

#[tokio::test]
async fn a_cookie_of_the_user_comes_before_those_of_the_page() {
    let user: Field = "Cookie: a=user; s=1".parse().expect("a field");
    let keyring = Keyring::new(Vec::new(), vec![(weburl::UrlPattern::new("*").expect("a pattern"), user)]);
    let fetcher = fetcher(FetchConfig { keyring, ..FetchConfig::default() });
    let (came, recorded) = sent(&fetcher, &[("Cookie", "a=page; b=page")], "x").await;
    assert!(came.contains("Cookie: a=user; s=1; b=page\r\n"), "{came}");
    assert!(recorded.contains("Cookie: ***\r\n"), "{recorded}");
}

#[tokio::test]
async fn a_body_without_end_is_taken_as_far_as_it_came() {
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let (of, fields, body) = (url(&server.url("/")), Headers::default(), Bytes::new());
    let mut time_max = Duration::from_millis(100);
    // A machine may be too slow to get even the head in time.
    let outcome = loop {
        let request = PageRequest {
            initiator: Initiator::Page(&of),
            method: Method::Get,
            headers: &fields,
            body: &body,
            time_max,
        };
        let outcome = plain().fetch_for(page(&server.url("/events")), Some(&request)).await;
        match &outcome.fetched {
            Fetched::Failed(_) if time_max < Duration::from_secs(10) => time_max *= 2,
            _ => break outcome,
        }
    };
    assert_eq!(text(&response(&outcome).body), "data: one\n\n");
    assert_eq!(outcome.exchanges[0].truncated, Some(Truncation::Time));
}
