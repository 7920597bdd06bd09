//! Answers as they come over a connection, beside how hyper reads them.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::*;

const HEAD_BYTES_MAX: usize = 64 * 1024;

/// More than any answer here has.
const ROOM_BYTES: usize = 64 * 1024;

/// The other end of a server that reads a request, answers with `bytes` in pieces of that size, and closes.
fn served(bytes: Vec<u8>, step_bytes: usize) -> DuplexStream {
    let (here, mut there) = tokio::io::duplex(ROOM_BYTES);
    tokio::spawn(async move {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(there.read_u8().await.expect("a request"));
        }
        for piece in bytes.chunks(step_bytes) {
            // A client that has read enough may close.
            let _ = there.write_all(piece).await;
            tokio::task::yield_now().await;
        }
    });
    here
}

fn request() -> Request<'static> {
    http::Request::get("/").body(None).expect("a request")
}

/// Status and payload, and whether the body came to its end.
type Read = (u16, Vec<u8>, bool);

async fn by_us(stream: DuplexStream) -> Option<Read> {
    let mut connection = Http1::new(stream, HEAD_BYTES_MAX);
    let answer = connection.send(&request()).await.ok()?;
    let mut payload = Pieces::default();
    loop {
        match connection.read(&mut payload).await {
            Ok(true) => {}
            end => return Some((answer.status, payload.into_whole().as_slice().to_vec(), end.is_ok())),
        }
    }
}

async fn by_hyper(stream: DuplexStream) -> Option<Read> {
    let (mut sender, connection) = http1::Builder::new()
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .handshake::<_, Empty<Bytes>>(TokioIo::new(stream))
        .await
        .ok()?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request().map(|_| Empty::<Bytes>::new())).await;
    let read = match answer {
        Err(_) => None,
        Ok(mut answer) => {
            let (status, mut payload) = (answer.status().as_u16(), Vec::new());
            let is_whole = loop {
                match answer.frame().await {
                    None => break true,
                    Some(Err(_)) => break false,
                    Some(Ok(frame)) => payload.extend(frame.into_data().unwrap_or_default()),
                }
            };
            Some((status, payload, is_whole))
        }
    };
    connection.abort();
    read
}

/// Pieces of answers, in an order that makes some of them right.
fn answers() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200\n",
        "HTTP/1.0 404 Not Found\r\n",
        "HTTP/1.1 204 No Content\r\n",
        "HTTP/1.1 304 Not Modified\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 Oh\r\n",
        "ICY 200 OK\r\n",
    ]);
    let fields = prop::sample::select(vec![
        "Content-Length: 5\r\n",
        "content-length : 11\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 0\n",
        "Content-Length: x\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Connection: close\r\n",
        "Connection: keep-alive\r\n",
        "Bad Name: x\r\n",
        "A: b\r\n  c\r\n",
        "no field\r\n",
    ]);
    let bodies = prop::sample::select(vec![
        "hello",
        " world",
        "5\r\nhello\r\n",
        "6;x=y\r\n world\r\n",
        "00B\r\nhello world\r\n",
        "0\r\n\r\n",
        "0\r\nTrailer: t\r\n\r\n",
        "0\r\n",
        "\r\n",
        "f",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\n",
    ]);
    let (fields, bodies) = (prop::collection::vec(fields, 0..4), prop::collection::vec(bodies, 0..5));
    (lines, fields, bodies)
        .prop_map(|(line, fields, bodies)| format!("{line}{}\r\n{}", fields.concat(), bodies.concat()))
}

#[tokio::test]
async fn a_connection_is_open_until_it_is_closed_or_says_what_was_not_asked() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for unasked in ["", "HTTP/1.1 408 Request Timeout\r\n\r\n"] {
        let (here, mut there) = tokio::io::duplex(ROOM_BYTES);
        let mut connection = Http1::new(here, HEAD_BYTES_MAX);
        assert!(connection.is_open());
        for _ in 0..2 {
            there.write_all(OK).await.expect("room");
            assert_eq!(connection.send(&request()).await.map(|answer| answer.status).ok(), Some(200));
            let mut payload = Pieces::default();
            while connection.read(&mut payload).await.expect("a body") {}
            assert_eq!(payload.whole(), b"ok");
            assert!(connection.is_open());
        }
        there.write_all(unasked.as_bytes()).await.expect("room");
        if unasked.is_empty() {
            drop(there);
        }
        assert!(!connection.is_open(), "{unasked}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    /// Where hyper gives up, there may be more.
    #[test]
    fn what_hyper_reads_is_read_the_same(
        answer in answers(),
        damage in prop::option::of((any::<prop::sample::Index>(), 0..0x80u8)),
        step_bytes in 1..40usize,
    ) {
        let mut bytes = answer.into_bytes();
        if let Some((place, byte)) = damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let (ours, hypers) = runtime.block_on(async {
            let ours = tokio::time::timeout(Duration::from_secs(60), by_us(served(bytes.clone(), step_bytes)));
            (ours.await.expect("an end"), by_hyper(served(bytes.clone(), step_bytes)).await)
        });
        let said = bytes.escape_ascii().to_string();
        match (ours, hypers) {
            (_, None) => {}
            (Some((status, payload, _)), Some((hypers_status, begin, false))) => {
                prop_assert_eq!(status, hypers_status, "{}", said);
                prop_assert!(payload.starts_with(&begin), "{}: {}", said, payload.escape_ascii());
            }
            (ours, whole) => prop_assert_eq!(ours, whole, "{}", said),
        }
    }
}
