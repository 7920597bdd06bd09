//! What a site answers: a description of the reply, which the server carries out.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// A reply. It is a value, and may be sent any number of times.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code. Not sent when the content is [`Content::Raw`].
    pub status: u16,
    /// Headers as they are sent. The server adds `Content-Length` or `Transfer-Encoding` and `Connection`, unless they are here.
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// What follows the headers.
    pub content: Content,
    /// How long the server waits before it sends the first byte.
    pub delay: Duration,
}

/// A reply's body, or the whole reply when it breaks the protocol.
#[derive(Clone)]
pub enum Content {
    /// A body of known length.
    Full(Bytes),
    /// A body produced piece by piece: chunked in HTTP/1.1, unless the headers have a `Content-Length`.
    Stream(Arc<dyn Fn() -> Pieces + Send + Sync>),
    /// Takes over the TCP connection, status line and all; the connection is closed when the steps end.
    /// Over HTTP/2, which leaves no room for it, the stream is reset.
    Raw(Arc<dyn Fn() -> Steps + Send + Sync>),
}

/// The pieces of a streamed body; may be endless.
pub type Pieces = Box<dyn Iterator<Item = Bytes> + Send + Sync>;

/// What is done to a connection taken over; may be endless.
pub type Steps = Box<dyn Iterator<Item = Step> + Send + Sync>;

/// One thing done to a connection taken over.
#[derive(Clone, Debug)]
pub enum Step {
    /// Send these bytes.
    Send(Bytes),
    /// Do nothing for that long.
    Wait(Duration),
    /// Do nothing until the client goes away.
    Hang,
    /// Close with a TCP reset (`SO_LINGER` of 0).
    Reset,
}

impl Reply {
    /// A reply without headers and with an empty body.
    pub fn new(status: u16) -> Self {
        Reply { status, headers: Vec::new(), content: Content::Full(Bytes::new()), delay: Duration::ZERO }
    }

    /// 200 with an HTML page in UTF-8.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Reply::new(200).header("Content-Type", "text/html; charset=utf-8").body(body)
    }

    /// 200 with plain text in UTF-8.
    pub fn text(body: impl Into<Bytes>) -> Self {
        Reply::new(200).header("Content-Type", "text/plain; charset=utf-8").body(body)
    }

    /// A redirect; the location is sent as it is.
    pub fn redirect(status: u16, location: impl Into<Cow<'static, str>>) -> Self {
        Reply::new(status).header("Location", location)
    }

    /// An error with a small page that names the status and the target, so that no two are the same.
    pub fn error(status: u16, target: &str) -> Self {
        let target = target.replace('&', "&amp;").replace('<', "&lt;");
        let mut reply = Reply::html(format!("<!doctype html><title>{status}</title><p>{status}: {target}"));
        reply.status = status;
        reply
    }

    /// A reply that breaks the protocol: `steps` is called for each request.
    pub fn raw<I>(steps: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Step> + Send + Sync + 'static,
    {
        Reply { content: Content::Raw(Arc::new(move || Box::new(steps()))), ..Reply::new(0) }
    }

    /// The same with one more header.
    pub fn header(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same with that body.
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.content = Content::Full(body.into());
        self
    }

    /// The same with a body that is produced while it is sent: `pieces` is called for each request.
    pub fn stream<I>(mut self, pieces: impl Fn() -> I + Send + Sync + 'static) -> Self
    where
        I: Iterator<Item = Bytes> + Send + Sync + 'static,
    {
        self.content = Content::Stream(Arc::new(move || Box::new(pieces())));
        self
    }

    /// The same, sent only after `delay`.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Whether the headers have one of that name.
    pub(crate) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name))
    }
}

impl Step {
    /// Send these bytes.
    pub fn send(bytes: impl Into<Bytes>) -> Self {
        Step::Send(bytes.into())
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Full(body) => write!(f, "Full({} bytes)", body.len()),
            Content::Stream(_) => f.write_str("Stream"),
            Content::Raw(_) => f.write_str("Raw"),
        }
    }
}
