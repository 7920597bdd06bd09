//! Servers that keep us waiting: every wait has an end.

use std::time::Duration;

use fetch::Fetcher;
use model::{FailureKind, FetchOutcome, Fetched, Limits, Truncation};

use crate::client::{assert_failed, note, page, response, text, with_limits};
use crate::server::{answers, serve};

/// A limit that is to be reached.
const SHORT: Duration = Duration::from_millis(100);

async fn silence() {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_head_that_does_not_come_is_a_timeout() {
    for part in ["", "HTTP/1.1 200 OK\r\nA: b", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let server = serve(move |mut peer| async move {
            peer.request().await;
            peer.send(part).await;
            silence().await;
        })
        .await;
        let limits = Limits { first_byte_timeout: SHORT, ..Limits::default() };
        let outcome = with_limits(limits).fetch(page(&server.url("/"))).await;
        assert_failed(&outcome, FailureKind::Timeout, "no whole head of an answer within 100ms (first_byte_timeout)");
        assert!(outcome.response_time >= SHORT);
        let limits = Limits { total_timeout: SHORT, ..Limits::default() };
        let outcome = with_limits(limits).fetch(page(&server.url("/"))).await;
        assert_failed(&outcome, FailureKind::Timeout, "(total_timeout)");
    }
}

#[tokio::test]
async fn a_tls_handshake_that_does_not_come_is_a_timeout() {
    let server = serve(|peer| async move {
        let _open = peer;
        silence().await;
    })
    .await;
    let limits = Limits { connect_timeout: SHORT, ..Limits::default() };
    let outcome = with_limits(limits).fetch(page(&format!("https://{}/", server.address))).await;
    assert_failed(&outcome, FailureKind::Timeout, "not done within 100ms (connect_timeout)");
}

/// Fetches with a short limit, and with longer ones as long as this machine is too slow to get even a head within it.
async fn patiently(url: &str, limits: impl Fn(Duration) -> Limits) -> (Fetcher, FetchOutcome) {
    let mut limit = SHORT;
    loop {
        let fetcher = with_limits(limits(limit));
        let outcome = fetcher.fetch(page(url)).await;
        if matches!(outcome.fetched, Fetched::Response(_)) || limit > 100 * SHORT {
            return (fetcher, outcome);
        }
        limit *= 2;
    }
}

#[tokio::test]
async fn a_kept_connection_that_stays_silent_is_a_timeout_not_a_retry() {
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        silence().await;
    })
    .await;
    let limits = |limit| Limits { first_byte_timeout: limit, ..Limits::default() };
    let (fetcher, _) = patiently(&server.url("/"), limits).await;
    let connections = server.connections();
    let outcome = fetcher.fetch(page(&server.url("/"))).await;
    assert_failed(&outcome, FailureKind::Timeout, "(first_byte_timeout)");
    assert_eq!(server.connections(), connections);
}

#[tokio::test]
async fn a_body_that_stops_is_cut_when_the_time_is_over() {
    let server = serve(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").await;
        silence().await;
    })
    .await;
    let limits = |limit| Limits { total_timeout: limit, ..Limits::default() };
    let (_, outcome) = patiently(&server.url("/"), limits).await;
    let response = response(&outcome);
    assert_eq!((text(&response.body), response.truncated), ("begun", Some(Truncation::Time)));
    assert!(note(response).contains("(total_timeout)"), "{response:?}");
    assert_eq!(outcome.exchanges[0].truncated, Some(Truncation::Time));
}

/// In the runtime's own time, which jumps to the next timer when all are waiting: the server's drip and the client's
/// window are both timers.
#[tokio::test]
async fn a_byte_a_second_is_cut_after_a_window() {
    let drip = serve(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        peer.request().await;
        let mut open = peer.send("HTTP/1.1 200 OK\r\n\r\n").await;
        while open {
            tokio::time::sleep(Duration::from_secs(1)).await;
            open = peer.send("x").await;
        }
    })
    .await;
    // Time may jump while bytes are on their way: the other limits are far off.
    let year = Duration::from_secs(365 * 24 * 3600);
    let limits = Limits { first_byte_timeout: year, total_timeout: year, transfer_rate_min: 2, ..Limits::default() };
    let fetcher = with_limits(limits);
    // The connection is made in real time.
    fetcher.fetch(page(&drip.url("/"))).await;
    tokio::time::pause();
    // A timer that keeps the jumps small until the head is there.
    let heartbeat = tokio::spawn(async {
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    let outcome = fetcher.fetch(page(&drip.url("/"))).await;
    heartbeat.abort();
    let response = response(&outcome);
    assert_eq!(response.truncated, Some(Truncation::Time));
    assert_eq!(note(response), "slower than 2 bytes/s (transfer_rate_min)");
    assert!(response.body.len() < 20 && outcome.response_time >= Limits::RATE_WINDOW, "{outcome:?}");
}

#[tokio::test]
async fn idle_connections_are_closed_after_their_time() {
    let (server, fetcher) =
        (answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await, with_limits(Limits::default()));
    fetcher.fetch(page(&server.url("/"))).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    fetcher.fetch(page(&server.url("/"))).await;
    assert_eq!(server.connections(), 2);
}
