//! The log: what it says, and when.

use std::time::Duration;

use testweb::{Config, Faults, LogEntry, Pages, Scheme, Server, Web, from_fn};
use testweb::{Reply, Step};

use crate::client::{Client, get, get_raw, serve};

fn root() -> Pages {
    Pages::new().html("/", "a")
}

#[tokio::test]
async fn entries_name_the_request() {
    let server = serve(root()).await;
    let mut client = Client::connect(server.address()).await;
    client.get("A.test:81", "/").await;
    client.head("a.test", "/x?y").await;
    let log = server.log();
    let said: Vec<_> = log.iter().map(|e| (&*e.method, &*e.host, e.port, &*e.target, e.status)).collect();
    assert_eq!(said, [("GET", "a.test", Some(81), "/", Some(200)), ("HEAD", "a.test", None, "/x?y", Some(404))]);
    for entry in &log {
        assert_eq!((entry.scheme, entry.protocol, entry.local), (Scheme::Http, "HTTP/1.1", server.address()));
        assert_eq!((entry.peer.ip(), entry.connection), (server.address().ip(), 0));
    }
}

#[tokio::test]
async fn times_hold_the_reply_between_them() {
    let latency = Duration::from_millis(30);
    let server = serve(Faults::new(root()).latency(latency)).await;
    let mut client = Client::connect(server.address()).await;
    for _ in 0..3 {
        client.get("a", "/").await;
    }
    let log = server.log();
    for entry in &log {
        assert!(u128::from(entry.end_us.unwrap() - entry.start_us) >= latency.as_micros(), "{entry:?}");
    }
    assert!(log.windows(2).all(|pair| pair[0].end_us.unwrap() <= pair[1].start_us), "{log:?}");
}

#[tokio::test]
async fn a_reply_that_breaks_off_ends_too() {
    let steps = || [Step::send("HTTP/1.1 200 OK\r\n"), Step::Reset].into_iter();
    let server = serve(from_fn(move |_| Reply::raw(steps))).await;
    get_raw(&server, "a", "/").await;
    let log = ended(&server).await;
    assert_eq!(log[0].status, None);
}

#[tokio::test]
async fn the_end_is_never_later_than_the_client_sees_it() {
    let closing = || [Step::send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")].into_iter();
    let pages = root().reply("/closing", Reply::raw(closing)).html("/large", vec![b'x'; 5_000_000]);
    let server = serve(pages.reply("/stream", Reply::new(200).stream(|| ["a", "b"].into_iter().map(Into::into)))).await;
    for target in ["/", "/large", "/stream", "/closing"] {
        let mut client = Client::connect(server.address()).await;
        let reply = client.get("a", target).await;
        let seen_us = server.now_us();
        // The connection stays open on the client's side, so that the server waits for its end.
        let entry = server.log().pop().unwrap();
        assert!(reply.status == 200 && entry.end_us.unwrap() <= seen_us, "{target}: {entry:?}, seen {seen_us}");
    }
}

/// The log once its first entry has ended: a client may see a reset before the server has noted it.
async fn ended(server: &Server) -> Vec<LogEntry> {
    loop {
        let log = server.log();
        if log[0].end_us.is_some() {
            return log;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn memory_is_bounded_and_the_count_goes_on() {
    let server = Server::start(Config { log_entries_max: 2, ..Config::new(Web::new()) }).await.unwrap();
    for _ in 0..3 {
        get(&server, "a", "/").await;
    }
    assert_eq!((server.log().len(), server.requests()), (2, 3));
}

#[tokio::test]
async fn the_file_has_a_line_of_json_for_each_request() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("requests.jsonl");
    let config = Config { log_entries_max: 0, log_file: Some(path.clone()), ..Config::new(Web::new()) };
    let server = Server::start(config).await.unwrap();
    get(&server, "a", "/\"quoted\"").await;
    get(&server, "b", "/").await;
    assert!(server.log().is_empty());
    server.shutdown().await;
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!((&lines[0]["target"], &lines[0]["status"]), (&"/\"quoted\"".into(), &421.into()));
    assert!(lines[0]["end_us"].as_u64() >= lines[0]["start_us"].as_u64());
    assert_eq!((&lines[1]["host"], &lines[1]["connection"]), (&"b".into(), &1.into()));
}
