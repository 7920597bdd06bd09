//! What goes over a connection, whatever its protocol: a request, the head of its answer, and why there is none.

use bytes::Bytes;
use model::Failure;

/// A request. Only those of pages in a browser have a body.
pub(crate) type Request<'a> = http::Request<Option<&'a Bytes>>;

/// What comes before the body.
#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: u16,
    /// The request's head as it was sent, except secrets; with HTTP/2, which has no such bytes, written as that of HTTP/1.1.
    pub(crate) request_head: Vec<u8>,
    /// The answer's, likewise.
    pub(crate) head: Vec<u8>,
}

/// Why a request got no answer.
#[derive(Debug)]
pub(crate) struct Unanswered {
    pub(crate) failure: Failure,
    /// True if nothing of an answer came, or only what is no HTTP. Over a connection kept from before, the request may be sent again.
    pub(crate) untouched: bool,
}

/// Why a body has no end, in words.
#[derive(Debug)]
pub(crate) struct Broken(pub(crate) String);

impl Broken {
    pub(crate) fn lost() -> Self {
        Broken("connection ended within the body".to_owned())
    }

    pub(crate) fn because(reason: impl std::fmt::Display) -> Self {
        Broken(format!("broken body: {reason}"))
    }
}
