//! The input and output of the fetch stage.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use weburl::{CanonicalUrl, Site};

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
    /// The purpose. For [`Purpose::Robots`], redirects within the site are followed, up to five (RFC 9309 §2.3.1.2).
    pub purpose: Purpose,
    /// The address to connect to, chosen in advance so that the delay per address holds; `None` behind a proxy.
    pub address: Option<IpAddr>,
    /// Send HEAD first, and GET only if the HEAD shows content that the crawl keeps.
    pub head_first: bool,
    /// Request the content only if it no longer matches; `None`: request it unconditionally.
    pub condition: Option<Box<Condition>>,
    /// Set for a file that a page needs: such a request is not that of a page.
    pub for_page: Option<Box<ForPage>>,
}

/// How a browser asks for a file that a page needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForPage {
    /// The value of `Accept`; `None` for that of pages.
    pub accept: Option<&'static str>,
    /// The site of the page, which `Referer` names; `None` if it may not, or if that is not known.
    pub referer: Option<Site>,
}

impl FetchTask {
    /// The validators of a conditional request.
    #[must_use]
    pub fn validators(&self) -> Option<&Validators> {
        self.condition.as_ref().map(|condition| &condition.validators)
    }
}

/// What a request refers to that asks for changes only (RFC 9110 §13.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The validators.
    pub validators: Validators,
    /// The URL for which they are: that of the task, or that to which robots.txt redirected. No other request bears them.
    pub url: CanonicalUrl,
}

/// The result of a task. A failed fetch is data, not an error.
#[derive(Clone, Debug)]
pub struct FetchOutcome {
    /// The task.
    pub id: TaskId,
    /// The URL of the answer: that of the task, unless redirects of robots.txt were followed.
    pub url: CanonicalUrl,
    /// All answered exchanges, in order.
    pub exchanges: Vec<Exchange>,
    /// How the fetch ended.
    pub fetched: Fetched,
    /// The result of rendering it in a browser, if it was rendered.
    pub rendering: Option<Box<Rendering>>,
    /// The date when the first request was sent, or the connection begun.
    pub started_at: Timestamp,
    /// When the last byte was received, or the attempt given up, by the monotonic clock of the crawl.
    pub finished_at: Timestamp,
    /// From the last request to its answer's last byte; the adaptive delay depends on it.
    pub response_time: Duration,
}

/// The end of a fetch.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The server answered.
    Response(Response),
    /// There is no usable answer.
    Failed(Failure),
}

/// An answer, ready to be parsed.
#[derive(Clone, Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The fields of the head, in order, as text (bytes that are not UTF-8 replaced).
    pub headers: Headers,
    /// The body without transfer and content coding, at most [`crate::Limits::body_bytes_max`].
    pub body: Bytes,
    /// Set if `body` is incomplete.
    pub truncated: Option<Truncation>,
    /// The content coding is broken: `body` is the part that could be decoded.
    pub is_undecoded: bool,
    /// Why it is truncated, or other irregularities, for people.
    pub note: Option<String>,
}

/// The fields of a message head, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl Headers {
    /// The first value of the field `name`, ignoring case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All values of the field `name`.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// A fetch without an answer: its kind, and a description for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// A description, for example `connect: connection refused`.
    pub detail: String,
}

/// The kinds of failure that decisions depend on.
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
    /// The server is overloaded: repeated 429, 503 and the like.
    Busy,
    /// A size limit of [`crate::Limits`] was reached in the head; the detail names it.
    HeadTooLarge,
    /// This program failed: the fetch panicked, or exceeded the sum of its limits.
    Internal,
}

impl FailureKind {
    /// Whether nothing came back at all, so this machine's own network may have failed.
    #[must_use]
    pub fn is_silence(self) -> bool {
        matches!(self, FailureKind::NameServer | FailureKind::Connect | FailureKind::Timeout)
    }

    /// Whether another address of the same name may work: this one gave no answer.
    #[must_use]
    pub fn is_of_address(self) -> bool {
        matches!(self, FailureKind::Connect | FailureKind::Timeout | FailureKind::Disconnected)
    }
}
