//! A database that is too old is refused in one line. The server is pretended: it knows as much of PostgreSQL's protocol as it is asked.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::served::one_line;
use testkit::ran::argiope;

/// What the server says of itself: number, version, encoding.
const NUMBER: i32 = 13;
const VERSION: &str = "13.9";
const ENCODING: &str = "UTF8";

/// Types of columns, as `pg_type` numbers them.
const INT4: u32 = 23;
const TEXT: u32 = 25;

/// A server that lets everybody in and gives one row to whatever it is asked. It ends with the test's process. Gives its URL.
fn outdated() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("postgres://me@{}/crawl", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a client");
            // A client that goes away in the middle is no matter.
            std::thread::spawn(move || drop(answer(stream)));
        }
    });
    url
}

/// Answers a client until it goes (PostgreSQL's documentation, "Frontend/Backend Protocol").
fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut from = BufReader::new(stream.try_clone()?);
    read_body(&mut from)?;
    let parameter = [b"server_version\0", VERSION.as_bytes(), b"\0"].concat();
    let welcome = [message(b'R', &0u32.to_be_bytes()), message(b'S', &parameter), message(b'Z', b"I")];
    stream.write_all(&welcome.concat())?;
    loop {
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        read_body(&mut from)?;
        let answer = match kind[0] {
            b'P' => message(b'1', b""),
            b'D' => [message(b't', &0u16.to_be_bytes()), message(b'T', &columns())].concat(),
            b'B' => message(b'2', b""),
            b'E' => [message(b'D', &row()), message(b'C', b"SELECT 1\0")].concat(),
            b'C' => message(b'3', b""),
            b'S' => message(b'Z', b"I"),
            _ => return Ok(()),
        };
        stream.write_all(&answer)?;
    }
}

/// Reads what comes behind a length, which counts itself.
fn read_body(from: &mut impl Read) -> std::io::Result<()> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_be_bytes(length)).expect("64 bits");
    from.read_exact(&mut vec![0; length - 4])
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &length(body, 4)[..], body].concat()
}

fn length(body: &[u8], and: usize) -> [u8; 4] {
    u32::try_from(body.len() + and).expect("short").to_be_bytes()
}

/// Three columns of no table, by their types.
fn columns() -> Vec<u8> {
    let column = |of: u32| [&b"c\0"[..], &[0; 6], &of.to_be_bytes(), &[0; 8]].concat();
    [3u16.to_be_bytes().to_vec(), column(INT4), column(TEXT), column(TEXT)].concat()
}

/// Their values, in the binary form.
fn row() -> Vec<u8> {
    let value = |bytes: &[u8]| [&length(bytes, 0)[..], bytes].concat();
    let texts = [VERSION, ENCODING].map(|text| value(text.as_bytes())).concat();
    [3u16.to_be_bytes().to_vec(), value(&NUMBER.to_be_bytes()), texts].concat()
}

#[test]
fn a_database_that_is_too_old_is_refused_in_one_line() {
    let database = outdated();
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("crawl");
    let (path, archive) = (path.to_str().expect("UTF-8"), format!("file://{}", dir.path().display()));
    let server = ["server", "--clients", "127.0.0.1:0", "--workers", "127.0.0.1:0", "--archive", &archive];
    let crawl = ["crawl", "http://a.test/", "-o", path];
    for command in [&server[..], &crawl] {
        let ran = argiope(&[command, &["--store", &database]].concat());
        let line = one_line(&ran);
        let expect = "database crawl at 127.0.0.1 is PostgreSQL 13.9; version 14 or newer is needed";
        assert!(ran.code == 1 && line.ends_with(expect), "{line}");
    }
}
