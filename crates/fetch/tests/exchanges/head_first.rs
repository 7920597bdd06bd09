//! HEAD, then GET on the same connection if the page is worth it.

use model::{FetchTask, Limits, Method};

use crate::client::{note, page, response, text, with_limits};
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
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn pages_worth_having_are_fetched_on_the_same_connection() {
    let both = [Method::Head, Method::Get];
    check("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 200 OK\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 10\r\n\r\n", &both, 200, "page", "").await;
    check("HTTP/1.1 501 Not Implemented\r\n\r\n", &both, 200, "page", "").await;
}

#[tokio::test]
async fn others_end_with_the_head() {
    let head = [Method::Head];
    check("HTTP/1.1 404 Not Found\r\n\r\n", &head, 404, "", "HEAD only: status 404").await;
    check("HTTP/1.1 301 Moved\r\nLocation: /a\r\n\r\n", &head, 301, "", "HEAD only: status 301").await;
    let zip = "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Encoding: gzip\r\n\r\n";
    check(zip, &head, 200, "", "HEAD only: content type application/zip").await;
    let large = "HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n";
    check(large, &head, 200, "", "HEAD only: 1001 bytes are more than 1000 (body_bytes_max)").await;
}
