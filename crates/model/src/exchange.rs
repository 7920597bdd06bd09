//! One HTTP request with its answer, as it goes into the archive.

use std::net::SocketAddr;

use bytes::Bytes;
use weburl::CanonicalUrl;

use crate::Timestamp;

/// The request methods that are sent: GET and HEAD by the crawl itself, and what a page in a browser may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `OPTIONS`, by which a browser asks whether another site takes a request (CORS preflight).
    Options,
}

impl Method {
    /// The method of this name, which begins with it: `POST`, or a request line.
    #[must_use]
    pub fn of(request_line: &str) -> Option<Self> {
        let name = request_line.split(' ').next().unwrap_or_default();
        [Method::Get, Method::Head, Method::Post, Method::Options].into_iter().find(|method| method.as_str() == name)
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Options => "OPTIONS",
        }
    }
}

/// Why a recorded payload is incomplete (WARC 1.1 §5.13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// A limit of size was reached.
    Length,
    /// The limit of decompression was reached.
    Ratio,
    /// A time limit was reached.
    Time,
    /// The connection ended early.
    Disconnect,
    /// The crawl keeps no content of this type.
    Unwanted,
}

/// A request and its answer, byte for byte.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The requested URL.
    pub url: CanonicalUrl,
    /// The method.
    pub method: Method,
    /// The address that answered; `None` behind a proxy.
    pub address: Option<SocketAddr>,
    /// When the request was sent.
    pub started_at: Timestamp,
    /// The request's head as sent, to and including the empty line.
    pub request_head: Bytes,
    /// The request's body. Only pages in a browser send one.
    pub request_body: Bytes,
    /// The answer's head as received, to and including the empty line. For HTTP/2 a head written from its fields.
    pub response_head: Bytes,
    /// The payload: the body as received, without transfer coding, with its content coding.
    pub payload: Bytes,
    /// Set if the payload is incomplete.
    pub truncated: Option<Truncation>,
    /// The values that are in none of these, besides those of `Cookie`, `Set-Cookie` and `Authorization`.
    pub redacted: Redacted,
}

/// How many values were redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    /// In fields of requests and of answers.
    pub fields: u64,
    /// In bodies of requests.
    pub bodies: u64,
}

impl Redacted {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Redacted::default()
    }

    /// Both together.
    #[must_use]
    pub fn and(self, more: Redacted) -> Redacted {
        Redacted { fields: self.fields + more.fields, bodies: self.bodies + more.bodies }
    }
}
