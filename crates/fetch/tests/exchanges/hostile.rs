//! Servers that do what they should not. Each ends in bounded time and memory, with what there is.

use std::time::Duration;

use model::{FailureKind, Limits, Purpose, Truncation};

use crate::client::{assert_failed, note, page, plain, response, text, with_limits};
use crate::server::{answers, answers_endlessly, answers_once, serve};

const BODY_MAX: u64 = 10_000;

fn small() -> Limits {
    Limits { body_bytes_max: BODY_MAX, header_bytes_max: 4096, ..Limits::default() }
}

#[tokio::test]
async fn endless_heads_are_too_large() {
    for (first, again) in [
        ("HTTP/1.1 200 OK\r\n", "X-Field: and again and again\r\n"),
        ("HTTP/1.1 200 OK\r\nX-Field: ", "and again and again "),
        ("HTTP/1.1 200 ", "and again and again "),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nX-Field: a\r\n", "   and again\r\n"),
    ] {
        let server = answers_endlessly(first, again).await;
        let outcome = with_limits(small()).fetch(page(&server.url("/"))).await;
        assert_failed(&outcome, FailureKind::HeadTooLarge, "limit");
    }
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "a:b\r\n".repeat(2000));
    let server = answers(&many).await;
    let outcome = plain().fetch(page(&server.url("/"))).await;
    assert_failed(&outcome, FailureKind::HeadTooLarge, "too many fields");
}

#[tokio::test]
async fn endless_bodies_are_cut_at_the_limit_and_their_connection_closed() {
    for (first, again) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "more and more "),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n", "more and more "),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nmore\r\n"),
    ] {
        let (server, fetcher) = (answers_endlessly(first, again).await, with_limits(small()));
        for connections in 1..3 {
            let outcome = fetcher.fetch(page(&server.url("/"))).await;
            let (response, exchange) = (response(&outcome), &outcome.exchanges[0]);
            assert_eq!((response.body.len(), exchange.payload.len()), (10_000, 10_000));
            assert_eq!((response.truncated, exchange.truncated), (Some(Truncation::Length), Some(Truncation::Length)));
            assert_eq!(note(response), "longer than 10000 bytes");
            assert_eq!(server.connections(), connections);
        }
    }
}

#[tokio::test]
async fn a_body_as_long_as_the_limit_is_whole() {
    for (length, truncated) in [(9_999, None), (10_000, None), (10_001, Some(Truncation::Length))] {
        let server = answers_once(format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(length))).await;
        let outcome = with_limits(small()).fetch(page(&server.url("/"))).await;
        assert_eq!(response(&outcome).truncated, truncated, "{length}");
        assert_eq!(response(&outcome).body.len(), length.min(10_000));
    }
}

#[tokio::test]
async fn each_purpose_has_its_limit() {
    let limits = Limits { robots_bytes_max: 100, sitemap_bytes_max: 200, body_bytes_max: 300, ..Limits::default() };
    let server = answers_endlessly("HTTP/1.1 200 OK\r\n\r\n", "more and more ").await;
    for (purpose, length) in [(Purpose::Robots, 101), (Purpose::Sitemap, 200), (Purpose::Page, 300)] {
        let task = model::FetchTask { purpose, ..page(&server.url("/")) };
        let outcome = with_limits(limits.clone()).fetch(task).await;
        assert_eq!(response(&outcome).body.len(), length, "{purpose:?}");
        assert_eq!(response(&outcome).truncated, Some(Truncation::Length));
    }
}

#[tokio::test]
async fn broken_bodies_are_used_as_far_as_they_came() {
    for (answer, body, words) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "short", "connection ended within the body"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", "short", "connection ended within"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort", "short", "connection ended within"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\ngarbage", "short", "broken body"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n<html>garbage</html>", "", "broken body"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx", "", "broken body"),
    ] {
        let server = answers_once(answer).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        let response = response(&outcome);
        assert_eq!((text(&response.body), response.truncated), (body, Some(Truncation::Disconnect)), "{answer:?}");
        assert_eq!(outcome.exchanges[0].truncated, Some(Truncation::Disconnect));
        assert_eq!(text(&outcome.exchanges[0].payload), body);
        assert!(note(response).contains(words), "{answer:?}: {}", note(response));
    }
}

#[tokio::test]
async fn a_chunked_body_is_whole_after_its_last_chunk() {
    for end in ["0\r\n\r\n", "0\r\n", "0\r\nTrailer: cut o", "0\n\n"] {
        let server =
            answers_once(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n{end}")).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        let response = response(&outcome);
        assert_eq!((text(&response.body), response.truncated, &response.note), ("hello", None, &None), "{end:?}");
    }
}

#[tokio::test]
async fn a_reset_within_the_body_leaves_what_came() {
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{}", "x".repeat(100))).await;
        // Linger 0 makes closing a reset, which may overtake the bytes before it: both ends are right.
        peer.stream.set_zero_linger().expect("linger");
    })
    .await;
    let outcome = plain().fetch(page(&server.url("/"))).await;
    match &outcome.fetched {
        model::Fetched::Response(response) => {
            assert_eq!(response.truncated, Some(Truncation::Disconnect));
            assert!(response.body.len() <= 100 && response.body.iter().all(|byte| *byte == b'x'));
        }
        model::Fetched::Failed(failure) => assert_eq!(failure.kind, FailureKind::Disconnected),
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_failure() {
    for (answer, kind, words) in [
        ("HELLO\r\n\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("<html>no head</html>\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("HTTP/1.1 abc OK\r\n\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("HTTP/7.3 200 OK\r\n\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("ICY 200 OK\r\n\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("SSH-2.0-OpenSSH_9.2\r\n", FailureKind::Protocol, "answer is not HTTP"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", FailureKind::Protocol, "not HTTP"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxx", FailureKind::Protocol, "not HTTP"),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", FailureKind::Protocol, "without being asked"),
        ("HTTP/1.1 200 OK\r\nA: b\r\n", FailureKind::Disconnected, "within the answer's head"),
        ("HTTP/1", FailureKind::Disconnected, "within the answer's head"),
        ("", FailureKind::Disconnected, "closed without an answer"),
    ] {
        let server = answers_once(answer).await;
        let outcome = plain().fetch(page(&server.url("/"))).await;
        assert_failed(&outcome, kind, words);
    }
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_a_failure() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let outcome = plain().fetch(page(&format!("http://{address}/"))).await;
    assert_failed(&outcome, FailureKind::Connect, &format!("connect to {address}: connection refused"));
}

#[tokio::test]
async fn bodies_that_together_exceed_the_memory_all_come() {
    let body = "x".repeat(300_000);
    let server = answers(format!("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n{body}")).await;
    let limits = Limits { in_flight_bytes_max: 64_000, total_timeout: Duration::from_secs(60), ..Limits::default() };
    let fetcher = std::sync::Arc::new(with_limits(limits));
    let fetches: Vec<_> = (0..20)
        .map(|_| {
            let (fetcher, task) = (std::sync::Arc::clone(&fetcher), page(&server.url("/")));
            // Each outcome is gone when it has been looked at: only then the next can come.
            tokio::spawn(async move { response(&fetcher.fetch(task).await).body.len() })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.expect("an outcome"), 300_000);
    }
}
