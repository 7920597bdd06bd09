//! Connections kept open: used again, given up, replaced when they have died.

use std::sync::Arc;

use model::FailureKind;
use tokio::io::AsyncReadExt;
use tokio::sync::Notify;

use crate::client::{assert_failed, page, plain, response, text};
use crate::server::{answers, answers_once, serve};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn fetches_of_a_site_share_a_connection() {
    let (server, fetcher) = (answers(OK).await, plain());
    for _ in 0..5 {
        assert_eq!(text(&response(&fetcher.fetch(page(&server.url("/"))).await).body), "ok");
    }
    assert_eq!((server.connections(), server.requests().len()), (1, 5));
}

#[tokio::test]
async fn sites_do_not_share_a_connection() {
    let (server, fetcher) = (answers(OK).await, plain());
    for host in ["a.test", "b.test", "a.test", "b.test"] {
        fetcher.fetch(page(&format!("http://{host}:{}/", server.address.port()))).await;
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn connections_that_cannot_be_kept_are_not() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more than was said",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ] {
        let (server, fetcher) = (answers(answer).await, plain());
        for _ in 0..3 {
            let outcome = fetcher.fetch(page(&server.url("/"))).await;
            assert_eq!(text(&response(&outcome).body), "ok");
            let head_bytes = answer.find("\r\n\r\n").map_or(0, |end| end + 4);
            assert_eq!(text(&outcome.exchanges[0].response_head), &answer[..head_bytes]);
        }
        assert_eq!(server.connections(), 3, "{answer:?}");
    }
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_once() {
    // The first connection answers once, and closes when the second request has come.
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send(OK).await;
        while peer.request().await.is_some() && peer.number > 0 {
            peer.send(OK).await;
        }
    })
    .await;
    let fetcher = plain();
    for _ in 0..3 {
        let outcome = fetcher.fetch(page(&server.url("/"))).await;
        assert_eq!(text(&response(&outcome).body), "ok");
        assert_eq!(outcome.exchanges.len(), 1);
    }
    assert_eq!((server.connections(), server.requests().len()), (2, 4));
}

/// Bytes behind an answer, which come late, are no answer to the next request. It is sent once more, and not again where that does not help.
#[tokio::test]
async fn a_kept_connection_that_gives_no_http_is_replaced_once() {
    const STRAY: &str = "hello\r\n";
    for (of_new, is_answered) in [(OK, true), (STRAY, false)] {
        let server = serve(move |mut peer| async move {
            let first = if peer.number == 0 { OK } else { of_new };
            for answer in [first, if peer.number == 0 { STRAY } else { of_new }] {
                peer.request().await;
                peer.send(answer).await;
            }
            peer.request().await;
        })
        .await;
        let fetcher = plain();
        fetcher.fetch(page(&server.url("/"))).await;
        let outcome = fetcher.fetch(page(&server.url("/"))).await;
        if is_answered {
            assert_eq!(text(&response(&outcome).body), "ok");
        } else {
            assert_failed(&outcome, FailureKind::Protocol, "answer is not HTTP: invalid HTTP version");
        }
        assert_eq!((server.connections(), server.requests().len()), (2, 3));
    }
}

#[tokio::test]
async fn a_kept_connection_with_bytes_behind_the_answer_is_not_used() {
    let sent = Arc::new(Notify::new());
    let to_server = Arc::clone(&sent);
    let server = serve(move |mut peer| {
        let (sent, other) = (Arc::clone(&to_server), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother");
        async move {
            peer.request().await;
            peer.send(OK).await;
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            peer.send(other).await;
            sent.notify_one();
            peer.request().await;
        }
    })
    .await;
    let fetcher = plain();
    for fetched in 1..3 {
        assert_eq!(text(&response(&fetcher.fetch(page(&server.url("/"))).await).body), "ok");
        sent.notified().await;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert_eq!((server.connections(), server.requests().len()), (fetched, fetched));
    }
}

#[tokio::test]
async fn a_kept_connection_that_began_to_answer_is_not_replaced() {
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send(OK).await;
        peer.request().await;
        peer.send("HTTP/1.1 2").await;
    })
    .await;
    let fetcher = plain();
    fetcher.fetch(page(&server.url("/"))).await;
    let outcome = fetcher.fetch(page(&server.url("/"))).await;
    assert_failed(&outcome, FailureKind::Disconnected, "connection ended within the answer's head");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_new_connection_without_an_answer_is_not_replaced() {
    let server = answers_once("").await;
    let outcome = plain().fetch(page(&server.url("/"))).await;
    assert_failed(&outcome, FailureKind::Disconnected, "closed without an answer");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn dropping_a_fetch_closes_its_connection() {
    for part in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbeg"] {
        let (sent, closed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (to_server, from_server) = (Arc::clone(&sent), Arc::clone(&closed));
        let server = serve(move |mut peer| {
            let (sent, closed) = (Arc::clone(&to_server), Arc::clone(&from_server));
            async move {
                peer.request().await;
                peer.send(part).await;
                sent.notify_one();
                if peer.stream.read_u8().await.is_err() {
                    closed.notify_one();
                }
            }
        })
        .await;
        let fetcher = plain();
        tokio::select! {
            outcome = fetcher.fetch(page(&server.url("/"))) => panic!("an end: {outcome:?}"),
            () = sent.notified() => {}
        }
        closed.notified().await;
    }
}
