//! Every port that the program opens: who may ask there, and what those who connect and ask nothing can hold up.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use testdb::{Postgres, until};

use crate::lab::{Lab, Laid, Worker};
use crate::served::Served;
use testkit::ui::Ui;

/// More connections than any port lets one peer have.
const MANY: usize = 1_100;
/// Longer than any limit of a connection that asks nothing.
const CLOSED_WITHIN: Duration = Duration::from_secs(120);

/// What a client of HTTP/2 begins with: the preface and its settings.
const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// A whole request over it, `GET /` of 127.0.0.1, as the frame HEADERS of its first stream (RFC 9113, RFC 7541).
const HTTP2_REQUEST: &[u8] = b"\0\0\x0e\x01\x05\0\0\0\x01\x82\x86\x84\x41\x09127.0.0.1";
/// The type of that frame, with which an answer begins too.
const HTTP2_HEADERS: u8 = 1;

/// A server, a worker, and the interface to the server, with all ports that they open.
struct Open {
    lab: Lab,
    worker: Worker,
    ui: Ui,
}

impl Open {
    fn new() -> Self {
        settings::files::allow_many();
        let lab = Lab::new(Laid::out(1, 1, 1), &[]);
        let worker = lab.worker_by(
            Command::new(env!("CARGO_BIN_EXE_argiope")),
            &["--metrics", "127.0.0.1:0", "--seal-after", "1s"],
        );
        let ui = Ui::start_with(&[&lab.served.clients]);
        Open { lab, worker, ui }
    }

    /// Each port's name and address, what is asked there, and the status of an answer.
    fn ports(&self) -> Vec<(&'static str, String, String, u16)> {
        let said = self.worker.said();
        let metrics = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("it says where");
        let request = |line: &str, body: &str| {
            let length = body.len();
            format!(
                "{line} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\nHost: HOST\r\n\r\n{body}"
            )
        };
        vec![
            ("clients", self.lab.served.clients.clone(), request("POST /v1/GetWorkers", "{}"), 200),
            ("workers", self.lab.served.workers.clone(), request("POST /v1/join", "{}"), 200),
            ("a worker", self.worker.name(), request("DELETE /v1/queries/00", "{}"), 200),
            ("metrics", metrics.to_owned(), request("GET /metrics", ""), 200),
            ("ui", self.ui.address.clone(), request("GET /", ""), 200),
        ]
    }
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(CLOSED_WITHIN)).expect("set");
    stream
}

/// The status of the answer, and the answer.
fn asked(address: &str, request: &str, host: &str) -> (u16, String) {
    let mut stream = connect(address);
    stream.write_all(request.replace("HOST", host).as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    (answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default(), answer)
}

#[test]
fn no_port_answers_a_page_of_the_web_whose_name_leads_here() {
    let open = Open::new();
    for (name, address, request, expect) in open.ports() {
        for host in [address.as_str(), "localhost", "[::1]:80"] {
            assert_eq!(asked(&address, &request, host).0, expect, "{name} as {host}");
        }
        for host in ["rebound.test", "127.0.0.1.rebound.test:80"] {
            let (status, answer) = asked(&address, &request, host);
            assert_eq!(status, 409, "{name} as {host}: {answer}");
            assert!(answer.contains("ask by the address, not by a name"), "{name}: {answer}");
        }
        // Where the request itself names another host, that of the head does not count alone.
        let absolute = request.replacen(" /", " http://rebound.test/", 1);
        assert_eq!(asked(&address, &absolute, "127.0.0.1").0, 409, "{name}");
    }
    // Such a request makes a worker connect to any address.
    let start = json!({"id": "00112233445566778899aabbccddeeff", "index": 1, "members": 2,
        "query": {"Links": {"url": ["http://a.test/"]}}, "segments": []});
    let body = start.to_string();
    let request = format!(
        "POST /v1/queries HTTP/1.1\r\nContent-Type: application/json\r\nHost: HOST\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    assert_eq!(asked(&open.worker.name(), &request, "rebound.test").0, 409);
}

#[test]
fn connections_that_bring_nothing_keep_nobody_out() {
    let open = Open::new();
    for (name, address, request, expect) in open.ports() {
        for begin in [
            "",
            "POST /v1/GetWorkers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n",
        ] {
            let silent: Vec<TcpStream> = (0..MANY)
                .map(|_| {
                    let mut stream = connect(&address);
                    // It may have been closed before that.
                    let _ = stream.write_all(begin.as_bytes());
                    stream
                })
                .collect();
            assert_eq!(asked(&address, &request, "127.0.0.1").0, expect, "{name} {begin:?}");
            drop(silent);
        }
    }
}

#[test]
fn a_connection_that_brings_nothing_is_closed() {
    let open = Open::new();
    let head = "POST /v1/GetWorkers HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    let begins = ["", "GE", "GET /metrics HTTP/1.1\r\nHo", "PRI * HTTP", head, &format!("{head}{{")];
    let mut begun = Vec::new();
    for (name, address, ..) in open.ports() {
        for begin in begins.iter().map(|begin| begin.as_bytes()).chain([HTTP2]) {
            begun.push((name, begin, begin_with(&address, begin)));
        }
    }
    for (name, begin, stream) in begun {
        let answer = closed(stream, name);
        if name == "clients" && begin.starts_with(b"POST") {
            let answer = String::from_utf8_lossy(&answer);
            assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("DEADLINE_EXCEEDED"), "{answer}");
        }
    }
}

#[test]
fn a_connection_that_is_idle_after_its_answer_is_closed() {
    let open = Open::new();
    let mut asked = Vec::new();
    for (name, address, request, expect) in open.ports() {
        // Two requests: the connection stays after the answer to the first one.
        let request = request.replace("Connection: close\r\n", "").replace("HOST", "127.0.0.1");
        asked.push((name, Some(expect), begin_with(&address, request.repeat(2).as_bytes())));
        asked.push((name, None, begin_with(&address, &[HTTP2, HTTP2_REQUEST].concat())));
    }
    for (name, expect, stream) in asked {
        let answer = closed(stream, name);
        match expect {
            Some(status) => {
                let text = String::from_utf8_lossy(&answer);
                assert_eq!(text.matches(&format!("HTTP/1.1 {status} ")).count(), 2, "{name}: {text}");
            }
            None => assert!(frames(&answer).contains(&HTTP2_HEADERS), "{name}: {answer:?}"),
        }
    }
}

/// A connection on which this was sent.
fn begin_with(address: &str, begin: &[u8]) -> TcpStream {
    let mut stream = connect(address);
    stream.write_all(begin).expect("sent");
    stream
}

/// What came until the other side closed the connection, or reset it: it is not silent until we give up.
fn closed(mut stream: TcpStream, name: &str) -> Vec<u8> {
    let mut answer = Vec::new();
    let end = stream.read_to_end(&mut answer);
    let is_over = end.as_ref().err().is_none_or(|error| error.kind() == std::io::ErrorKind::ConnectionReset);
    assert!(is_over, "{name}: {end:?} after {:?}", String::from_utf8_lossy(&answer));
    answer
}

/// The types of the frames of HTTP/2.
fn frames(mut bytes: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let [a, b, c, kind, ..] = bytes {
        types.push(*kind);
        let length = usize::try_from(u32::from_be_bytes([0, *a, *b, *c])).expect("a length");
        bytes = bytes.get(9 + length..).unwrap_or_default();
    }
    types
}

#[test]
fn a_call_that_takes_longer_than_any_limit_of_a_connection_is_answered() {
    // One page each half second for longer than a connection may be silent.
    let lab = Lab::new(Laid::out(1, 30, 1).every(Duration::from_millis(500)), &[]);
    let mut calling = Command::new(env!("CARGO_BIN_EXE_argiope"))
        .args(["client", "--server", &lab.served.clients, "--json", "crawl", crate::lab::SEED, "--progress"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let _worker = lab.worker();
    until("the call to be answered", || calling.try_wait().expect("a child of ours").is_some());
    let mut lines = String::new();
    calling.stdout.take().expect("piped").read_to_string(&mut lines).expect("text");
    assert!(calling.wait().expect("a child of ours").success(), "{lines}");
    assert!(
        lines.lines().count() > 2 && lines.lines().last().is_some_and(|line| line.contains("\"fetched\"")),
        "{lines}"
    );
}

#[test]
fn what_is_wrong_with_a_request_is_said_in_a_line_that_is_short_and_harmless() {
    let database = Postgres::start();
    let server = Served::first(&database, &[]);
    let (status, answer) = server.post("Domains", &json!({"worker": "x", "after": "a\0b"}));
    assert_eq!((status, &answer["code"]), (400, &json!("INVALID_ARGUMENT")), "{answer}");
    let endless = format!("\u{1b}[31m\u{9b}31m{}", "x".repeat(1_000_000));
    let url = format!("ftp://{endless}/");
    for (method, request) in [
        ("Crawl", json!({"url": url})),
        ("AddSeeds", json!({"urls": [url]})),
        ("Explain", json!({"url": url})),
        ("PageRank", json!({"url": url})),
        ("Overlap", json!({"url1": url, "url2": url})),
        ("Domains", json!({"worker": endless})),
        ("Drain", json!({"worker": endless})),
        ("Steer", json!({"change": endless})),
        ("Steer", json!({"change": "hold", "to": [endless]})),
        ("Steer", json!({"change": "set", "to": [endless]})),
        ("Urls", json!({"site": endless})),
        ("Urls", json!({"states": [endless]})),
        ("Urls", json!({"after": url})),
        ("Search", json!({"text": format!("({endless}"), "regex": true})),
        ("Stats", json!({endless.as_str(): 1})),
        (&format!("None{}", "x".repeat(10_000)), json!({})),
    ] {
        let (status, answer) = server.post(method, &request);
        let said = answer["error"].as_str().expect("a reason");
        assert!((400..=501).contains(&status), "{status}: {answer}");
        assert!(!said.is_empty() && said.len() < 10_000 && !said.chars().any(char::is_control), "{method}: {said:?}");
    }
}
