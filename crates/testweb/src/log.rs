//! The log of requests: what came when, by the server's own clock. Politeness is judged by it.

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use crate::{Request, Scheme};

/// One request and its reply. Times are microseconds since the server's start.
#[derive(Clone, Debug)]
pub struct LogEntry {
    /// When the request's head had arrived.
    pub start_us: u64,
    /// When the last piece of the reply (at most 16 KiB) was about to be handed to the kernel, so never later than the
    /// moment the client had the whole reply. For a reply that takes over the connection: the same of its last piece so
    /// far. For one that broke off before its last piece, or had none: when it broke off. `None` before all that.
    pub end_us: Option<u64>,
    /// The client's address.
    pub peer: SocketAddr,
    /// The listener's address.
    pub local: SocketAddr,
    /// The number of the TCP connection, from 0 in the order accepted.
    pub connection: u64,
    /// `HTTP/1.1` or `HTTP/2`.
    pub protocol: &'static str,
    /// As in [`Request::method`].
    pub method: String,
    /// As in [`Request::scheme`].
    pub scheme: Scheme,
    /// As in [`Request::host`].
    pub host: String,
    /// As in [`Request::port`].
    pub port: Option<u16>,
    /// Path and query, as in [`Request::target`].
    pub target: String,
    /// The status sent; `None` before the reply, and for a reply that breaks the protocol.
    pub status: Option<u16>,
}

/// A connection's part of the entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub connection: u64,
    pub peer: SocketAddr,
    pub local: SocketAddr,
}

/// All entries of one server, and the clock they are measured with.
pub(crate) struct Log {
    started: Instant,
    entries_max: usize,
    entries: Mutex<Vec<LogEntry>>,
    file: Option<Mutex<File>>,
    requests: AtomicU64,
}

/// A request being answered, until it is dropped.
pub(crate) struct Exchange {
    log: Arc<Log>,
    place: Place,
}

/// Where an exchange is written down.
struct Place {
    index: Option<usize>,
    line: Option<Box<LogEntry>>,
}

impl Log {
    /// A log that keeps up to `entries_max` entries in memory, and writes each to the file, if given, when it has ended.
    pub fn new(entries_max: usize, file: Option<&Path>) -> io::Result<Self> {
        let file = file.map(File::create).transpose()?.map(Mutex::new);
        let entries = Mutex::new(Vec::new());
        Ok(Log { started: Instant::now(), entries_max, entries, file, requests: AtomicU64::new(0) })
    }

    /// The entries so far, by time of arrival.
    pub fn entries(&self) -> Vec<LogEntry> {
        lock(&self.entries).clone()
    }

    /// How many requests came, logged or not.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// A request has arrived.
    pub fn begin(self: &Arc<Self>, peer: Peer, protocol: &'static str, request: &Request) -> Exchange {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let mut place = Place { index: None, line: None };
        if self.entries_max > 0 || self.file.is_some() {
            place = self.place(entry(self.now_us(), peer, protocol, request));
        }
        Exchange { log: Arc::clone(self), place }
    }

    fn place(&self, entry: LogEntry) -> Place {
        let line = self.file.is_some().then(|| Box::new(entry.clone()));
        let mut entries = lock(&self.entries);
        let index = (entries.len() < self.entries_max).then_some(entries.len());
        if index.is_some() {
            entries.push(entry);
        }
        Place { index, line }
    }

    /// Microseconds since the server's start.
    pub fn now_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Exchange {
    /// The status about to be sent.
    pub fn status(&mut self, status: u16) {
        self.place.update(&self.log, |entry| entry.status = Some(status));
    }

    /// A piece of the reply is about to go out that may be the last: the last call counts.
    pub fn end(&mut self) {
        let now_us = self.log.now_us();
        self.place.update(&self.log, |entry| entry.end_us = Some(now_us));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let now_us = self.log.now_us();
        self.place.update(&self.log, |entry| entry.end_us = entry.end_us.or(Some(now_us)));
        if let (Some(entry), Some(file)) = (&self.place.line, &self.log.file) {
            // The log is for the user to look at; a full disk must not stop the server.
            let _ = lock(file).write_all(json_line(entry).as_bytes());
        }
    }
}

impl Place {
    fn update(&mut self, log: &Log, change: impl Fn(&mut LogEntry)) {
        if let Some(index) = self.index
            && let Some(entry) = lock(&log.entries).get_mut(index)
        {
            change(entry);
        }
        if let Some(line) = &mut self.line {
            change(line);
        }
    }
}

fn entry(start_us: u64, peer: Peer, protocol: &'static str, request: &Request) -> LogEntry {
    LogEntry {
        start_us,
        end_us: None,
        peer: peer.peer,
        local: peer.local,
        connection: peer.connection,
        protocol,
        method: request.method.clone(),
        scheme: request.scheme,
        host: request.host.clone(),
        port: request.port,
        target: request.target.clone(),
        status: None,
    }
}

fn json_line(entry: &LogEntry) -> String {
    let json = serde_json::json!({
        "start_us": entry.start_us,
        "end_us": entry.end_us,
        "peer": entry.peer.to_string(),
        "local": entry.local.to_string(),
        "connection": entry.connection,
        "protocol": entry.protocol,
        "method": entry.method,
        "scheme": entry.scheme.as_str(),
        "host": entry.host,
        "port": entry.port,
        "target": entry.target,
        "status": entry.status,
    });
    format!("{json}\n")
}

/// The lock, also when a thread panicked under it: an entry is pushed or changed in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
