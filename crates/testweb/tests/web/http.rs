//! HTTP/1.1: sites by host, as a server and as a proxy.

use std::sync::atomic::{AtomicU32, Ordering};

use testweb::{Faults, Pages, Reply, Web, from_fn, simple};

use crate::client::{Client, get, request, serve, start, talk};

fn named(name: &'static str) -> Pages {
    Pages::new().html("/", name)
}

#[tokio::test]
async fn host_chooses_the_site() {
    let web = Web::new().site("a.test", named("a")).site("*.b.test", named("b"));
    let server = start(web).await;
    for (host, expect) in [("a.test", "a"), ("A.Test:8080", "a"), ("x.b.test", "b"), ("x.y.b.test", "b")] {
        let got = get(&server, host, "/").await;
        assert_eq!((got.status, got.text()), (200, expect), "{host}");
    }
    assert_eq!(get(&server, "b.test", "/").await.status, 421);
    assert_eq!(get(&server, "a.test", "/x").await.status, 404);
}

#[tokio::test]
async fn a_star_takes_every_other_host() {
    let server = start(Web::new().site("*", named("any")).site("a.test", named("a"))).await;
    assert_eq!(get(&server, "a.test", "/").await.text(), "a");
    assert_eq!(get(&server, "127.0.0.1:80", "/").await.text(), "any");
}

#[tokio::test]
async fn absolute_form_is_answered_as_a_proxy_would() {
    let server = start(Web::new().site("a.test", named("a"))).await;
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.get("ignored", "http://a.test/").await.text(), "a");
    assert_eq!(client.get("ignored", "http://a.test").await.text(), "a");
    client.send("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n").await;
    assert_eq!(client.receive(true).await.status, 200);
    assert_eq!(client.get("a.test", "/").await.text(), "a");
}

#[tokio::test]
async fn a_connection_is_kept_and_requests_may_be_pipelined() {
    let server = start(Web::new().site(simple::HOST, simple::site())).await;
    let mut client = Client::connect(server.address()).await;
    let two = request("GET", simple::HOST, "/web.html") + &request("GET", simple::HOST, "/silk.html");
    client.send(&two).await;
    assert!(client.receive(false).await.text().contains("<title>The web"));
    assert!(client.receive(false).await.text().contains("<title>Silk"));
    assert!(server.log().iter().all(|entry| entry.connection == 0));
}

#[tokio::test]
async fn connection_close_is_obeyed() {
    let server = serve(named("a")).await;
    let (got, error) = talk(server.address(), "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert_eq!(error, None);
    assert!(String::from_utf8(got).unwrap().ends_with("Connection: close\r\n\r\na"));
}

#[tokio::test]
async fn head_has_the_length_and_no_body() {
    let server = serve(named("four")).await;
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.head("a", "/").await.header("content-length"), Some("4"));
    assert_eq!(client.get("a", "/").await.text(), "four");
}

#[tokio::test]
async fn request_bodies_are_skipped() {
    let server = serve(named("a")).await;
    let mut client = Client::connect(server.address()).await;
    let body = "x".repeat(100_000);
    client.send(&format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
    assert_eq!(client.receive(false).await.status, 200);
    assert_eq!(client.get("a", "/").await.text(), "a");
}

#[tokio::test]
async fn streams_are_chunked_and_cut_to_http_1_0() {
    let pieces = || ["one ", "", "two"].into_iter().map(Into::into);
    let server = serve(from_fn(move |_| Reply::new(200).stream(pieces))).await;
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.get("a", "/").await.text(), "one two");
    assert_eq!(client.get("a", "/").await.header("transfer-encoding"), Some("chunked"));
    let (old, _) = talk(server.address(), "GET / HTTP/1.0\r\nHost: a\r\n\r\n").await;
    assert!(String::from_utf8(old).unwrap().ends_with("\r\n\r\none two"));
}

#[tokio::test]
async fn what_is_not_http_is_refused() {
    let server = serve(named("a")).await;
    let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(70_000));
    for (sent, status) in [("hello\r\n\r\n", "400"), ("GET / HTTP/3\r\n\r\n", "505"), (&long, "431")] {
        let (got, _) = talk(server.address(), sent).await;
        assert_eq!(std::str::from_utf8(&got[9..12]), Ok(status));
    }
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn a_closure_may_remember() {
    let count = AtomicU32::new(0);
    let server = serve(from_fn(move |_| Reply::text(count.fetch_add(1, Ordering::Relaxed).to_string()))).await;
    assert_eq!(get(&server, "a", "/").await.text(), "0");
    assert_eq!(get(&server, "a", "/").await.text(), "1");
}

#[tokio::test]
async fn faults_pass() {
    let server = serve(Faults::new(named("a")).fail_first("/", 2, Reply::error(503, "/"))).await;
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.get("a", "/?x").await.status, 503);
    assert_eq!(client.get("a", "/other").await.status, 404);
    assert_eq!(client.get("a", "/").await.status, 503);
    assert_eq!(client.get("a", "/").await.status, 200);
}
