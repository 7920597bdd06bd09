//! A test web on a runtime of its own, so that tests can be plain functions.

use std::io::{Read, Write};
use std::net::TcpStream;

use testweb::{Config, LogEntry, Server, Web};
use tokio::runtime::Runtime;

/// Entries that the log keeps: more than any test makes.
const LOG_ENTRIES_MAX: usize = 2_000_000;

/// A server that answers until it is dropped.
pub struct Served {
    server: Server,
    _runtime: Runtime,
}

impl Served {
    /// Serves a web on a free port of loopback.
    pub fn start(web: Web) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let config = Config { log_entries_max: LOG_ENTRIES_MAX, ..Config::new(web) };
        let server = runtime.block_on(Server::start(config)).unwrap();
        Served { server, _runtime: runtime }
    }

    /// The flags that lead a crawler to this server whatever the host, and to no other.
    pub fn flags(&self) -> Vec<String> {
        vec!["--connect-to".to_owned(), self.server.connect_to()]
    }

    /// All requests so far.
    pub fn log(&self) -> Vec<LogEntry> {
        self.server.log()
    }

    /// How many requests came so far.
    pub fn requests(&self) -> u64 {
        self.server.requests()
    }

    /// Sends a request and returns the whole answer, read to the end of the connection.
    pub fn ask(&self, host: &str, target: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }
}
