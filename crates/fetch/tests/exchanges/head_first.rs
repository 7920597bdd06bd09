//! HEAD, then GET on another connection if the page is worth it.

use model::{FailureKind, FetchTask, Limits, Method};

use crate::client::{assert_failed, note, page, plain, response, text, with_limits};
use crate::server::{Server, serve};

/// Answers HEAD with `head` and GET with a page.
async fn server(head: &'static str) -> Server {
    serve(move |mut peer| async move {
        while let Some(request) = peer.request().await {
            let page = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage";
            peer.send(if request.starts_with("HEAD ") { head } else { page }).await;
        }
    })
    .await
}

async fn check(head: &'static str, methods: &[Method], status: u16, body: &str, words: &str) {
    let server = server(head).await;
    let fetcher = with_limits(Limits { body_bytes_max: 1000, ..Limits::default() });
    let outcome = fetcher.fetch(FetchTask { head_first: true, ..page(&server.url("/")) }).await;
    assert_eq!(outcome.exchanges.iter().map(|exchange| exchange.method).collect::<Vec<_>>(), methods, "{head}");
    assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (status, body), "{head}");
    assert_eq!(note(response(&outcome)), words);
    assert_eq!(text(&outcome.exchanges[0].response_head), head);
    assert!(outcome.exchanges[0].payload.is_empty());
    assert_eq!(
        (server.requests().len(), server.connections()),
        (methods.len(), methods.len()),
        "{head}: one connection each"
    );
}

#[tokio::test]
async fn pages_worth_having_are_fetched() {
    let both = [Method::Head, Method::Get];
    check("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 200 OK\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 10\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 501 Not Implemented\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 403 Forbidden\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 404 Not Found\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 410 Gone\r\nContent-Length: 10\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 500 Internal Server Error\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 502 Bad Gateway\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 204 No Content\r\n\r\n", &both, 200, "page", "").await;
}

/// Such a body was read as the answer to the GET.
#[tokio::test]
async fn a_body_after_the_answer_to_head_loses_no_page() {
    for wait in [false, true] {
        let server = serve(move |mut peer| async move {
            while let Some(request) = peer.request().await {
                if request.starts_with("HEAD ") {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n").await;
                    if wait {
                        tokio::task::yield_now().await;
                    }
                    peer.send("not wanted").await;
                } else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage").await;
                }
            }
        })
        .await;
        let fetcher = with_limits(Limits::default());
        for path in ["/1", "/2", "/3"] {
            let outcome = fetcher.fetch(FetchTask { head_first: true, ..page(&server.url(path)) }).await;
            assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (200, "page"), "{path}");
        }
    }
}

#[tokio::test]
async fn a_head_without_an_answer_is_followed_by_get() {
    for answer in ["", "no HTTP\r\n\r\n", "HTTP/1.1 200 O"] {
        let server = serve(move |mut peer| async move {
            while let Some(request) = peer.request().await {
                if request.starts_with("HEAD ") {
                    peer.send(answer).await;
                    return;
                }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage").await;
            }
        })
        .await;
        let fetcher = with_limits(Limits::default());
        let outcome = fetcher.fetch(FetchTask { head_first: true, ..page(&server.url("/")) }).await;
        assert_eq!((response(&outcome).status, text(&response(&outcome).body)), (200, "page"), "{answer}");
    }
}

#[tokio::test]
async fn where_there_is_no_connection_for_head_there_is_none_for_get() {
    let outcome = plain().fetch(FetchTask { head_first: true, ..page(&format!("http://{}/", closed().await)) }).await;
    assert_failed(&outcome, FailureKind::Connect, "connection refused");
}

/// An address at which nobody listens.
async fn closed() -> std::net::SocketAddr {
    tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address")
}

#[tokio::test]
async fn others_end_with_the_head() {
    let head = [Method::Head];
    check("HTTP/1.1 503 Service Unavailable\r\n\r\n", &head, 503, "", "HEAD only: status 503").await;
    check("HTTP/1.1 429 Too Many Requests\r\n\r\n", &head, 429, "", "HEAD only: status 429").await;
    let wait = "HTTP/1.1 504 Gateway Timeout\r\nRetry-After: 5\r\n\r\n";
    check(wait, &head, 504, "", "HEAD only: status 504 with Retry-After").await;
    check("HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n", &head, 301, "", "HEAD only: status 301").await;
    let zip = "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Encoding: gzip\r\n\r\n";
    check(zip, &head, 200, "", "HEAD only: content type application/zip").await;
    let large = "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n";
    check(large, &head, 200, "", "HEAD only: 1001 bytes are more than 1000 (body_bytes_max)").await;
}
