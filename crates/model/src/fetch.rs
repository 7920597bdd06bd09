//! What goes into the fetch stage and what comes out of it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use weburl::CanonicalUrl;

use crate::{Exchange, Purpose, Rendering, Timestamp, Truncation, Validators};

/// Names a task while it is in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u64);

/// One URL to fetch, now.
#[derive(Clone, Debug)]
pub struct FetchTask {
    /// The task.
    pub id: TaskId,
    /// The URL.
    pub url: CanonicalUrl,
    /// What it is fetched for. For [`Purpose::Robots`] redirects within the site are followed, up to five (RFC 9309 §2.3.1.2).
    pub purpose: Purpose,
    /// The address to connect to, decided before so that the delay per address holds; `None` behind a proxy.
    pub address: Option<IpAddr>,
    /// Send HEAD first, and GET only if the HEAD shows a page worth having.
    pub head_first: bool,
    /// Ask only for a content that these do not fit any more (RFC 9110 §13.1); `None`: ask for it in any case.
    pub validators: Option<Box<Validators>>,
}

/// What became of a task. A failed fetch is data, not an error.
#[derive(Clone, Debug)]
pub struct FetchOutcome {
    /// The task.
    pub id: TaskId,
    /// The URL of the answer: that of the task, except where redirects of robots.txt were followed.
    pub url: CanonicalUrl,
    /// Everything that went over the wire and was answered, in order.
    pub exchanges: Vec<Exchange>,
    /// The end of it.
    pub fetched: Fetched,
    /// What a browser made of it, if it was shown in one.
    pub rendering: Option<Box<Rendering>>,
    /// The date when the first request was sent, or the connection begun.
    pub started_at: Timestamp,
    /// When the last byte was received, or the attempt given up: for the crawl by the clock by which it waits, which nobody sets.
    pub finished_at: Timestamp,
    /// From the last request to its answer's last byte: what an adaptive delay is measured by.
    pub response_time: Duration,
}

/// The end of a fetch.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The server answered.
    Response(Response),
    /// There is no answer to speak of.
    Failed(Failure),
}

/// An answer, ready to be looked into.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The fields of the head, in order, as text (bytes that are not UTF-8 replaced).
    pub headers: Headers,
    /// The body without transfer and content coding, at most [`crate::Limits::body_bytes_max`].
    pub body: Bytes,
    /// Set where `body` is not all there was.
    pub truncated: Option<Truncation>,
    /// The content coding is broken: `body` is what could be decoded.
    pub is_undecoded: bool,
    /// Why it is truncated, or what else was odd: for people.
    pub note: Option<String>,
}

/// The fields of a message head, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl Headers {
    /// The first value of the field `name`, whatever the case of its letters.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of the field `name`.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A fetch without an answer: what kind, and the words for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What happened, in words, for example `connect: connection refused`.
    pub detail: String,
}

/// The kinds of failure, as far as anything is decided by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The name does not exist, or has no address.
    NameNotFound,
    /// The name servers did not answer.
    NameServer,
    /// The address may not be connected to (`--deny-private`).
    AddressDenied,
    /// The connection was refused, or the host or network is unreachable.
    Connect,
    /// TLS could not be set up.
    Tls,
    /// A time limit of [`crate::Limits`] was reached before the body; the detail names it.
    Timeout,
    /// The connection ended before the answer's head was whole.
    Disconnected,
    /// The answer is not HTTP.
    Protocol,
    /// The server has too much to do: 429, 503 and the like, again and again.
    Busy,
    /// A size limit of [`crate::Limits`] was reached in the head; the detail names it.
    HeadTooLarge,
    /// This program failed: the fetch panicked, or came to no end within all of its limits.
    Internal,
}

impl FailureKind {
    /// Whether nothing at all came back, so that this machine's own network may be what fails.
    #[must_use]
    pub fn is_silence(self) -> bool {
        matches!(self, FailureKind::NameServer | FailureKind::Connect | FailureKind::Timeout)
    }

    /// Whether another address of the same name may do better: nothing was to be had from the one that was asked.
    #[must_use]
    pub fn is_of_address(self) -> bool {
        matches!(self, FailureKind::Connect | FailureKind::Timeout | FailureKind::Disconnected)
    }
}
