//! An open connection that HTTP requests can be sent over, one at a time.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;
use model::Failure;
use stages::{Stage, each_poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use crate::failure;
use crate::tap::{Heads, Tapped};

/// Fields of an answer's head; the real limit is on its bytes.
const FIELDS_MAX: usize = 1000;

/// The least read buffer hyper allows.
const READ_BUFFER_BYTES_MIN: usize = 8 * 1024;

/// Room in the read buffer beyond the largest head.
const READ_BUFFER_BYTES_EXTRA: usize = 64 * 1024;

/// What HTTP/2 may send before it is read, a stream and a connection.
const HTTP2_WINDOW_BYTES: u32 = 256 * 1024;

/// HTTP/2 counts the bytes of a head in its own way (RFC 9113 §6.5.2), and the library only says that something is wrong
/// when they are too many: it is given room, so that the limit on our written form is what is met first.
const HTTP2_HEAD_FACTOR: u32 = 4;

/// A request of a crawler: there is never a body.
pub(crate) type HeadOnly = Request<Empty<Bytes>>;

/// An open connection. Dropping it closes it.
pub(crate) struct Connection {
    sender: Sender,
    _tasks: AbortOnDrop,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>, Heads),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// Why a request got no answer.
pub(crate) struct Unanswered {
    pub(crate) failure: Failure,
    /// True where not a byte of an answer came: the request may be sent again.
    pub(crate) untouched: bool,
}

impl Connection {
    /// HTTP/1.1 over `stream`.
    pub(crate) async fn http1<S>(stream: S, head_bytes_max: usize) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let heads = Heads::new(head_bytes_max);
        let (sender, connection) = http1::Builder::new()
            .title_case_headers(true)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(FIELDS_MAX)
            .max_buf_size(head_bytes_max.saturating_add(READ_BUFFER_BYTES_EXTRA).max(READ_BUFFER_BYTES_MIN))
            .handshake(TokioIo::new(Tapped::new(stream, heads.clone())))
            .await
            .map_err(|error| failure::no_head(&error, false))?;
        let tasks = Tasks::default();
        // Its errors are those of the requests sent over it, which report them.
        tasks.spawn(each_poll(Stage::Http, async move { drop(connection.await) }));
        Ok(Connection { sender: Sender::Http1(sender, heads), _tasks: AbortOnDrop(tasks) })
    }

    /// HTTP/2 over `stream`.
    pub(crate) async fn http2<S>(stream: S, head_bytes_max: usize) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let tasks = Tasks::default();
        let on_drop = AbortOnDrop(tasks.clone());
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .initial_stream_window_size(HTTP2_WINDOW_BYTES)
            .initial_connection_window_size(HTTP2_WINDOW_BYTES)
            .max_header_list_size(u32::try_from(head_bytes_max).unwrap_or(u32::MAX).saturating_mul(HTTP2_HEAD_FACTOR))
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failure::no_head(&error, false))?;
        tasks.spawn(each_poll(Stage::Http, async move { drop(connection.await) }));
        Ok(Connection { sender: Sender::Http2(sender), _tasks: on_drop })
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    pub(crate) fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::Http1(sender, _) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        }
    }

    /// Sends `request`; returns when the whole head of the answer is there.
    pub(crate) async fn send(&mut self, request: HeadOnly) -> Result<Response<Incoming>, Unanswered> {
        match &mut self.sender {
            Sender::Http1(sender, heads) => {
                heads.begin();
                let answer = match sender.ready().await {
                    Ok(()) => sender.send_request(request).await,
                    Err(error) => Err(error),
                };
                answer.map_err(|error| unanswered(&error, heads))
            }
            Sender::Http2(sender) => {
                let answer = match sender.ready().await {
                    Ok(()) => sender.send_request(request).await,
                    Err(error) => Err(error),
                };
                answer.map_err(|error| Unanswered { failure: failure::no_head(&error, false), untouched: true })
            }
        }
    }

    /// The bytes of the last request's head and of its answer's; `None` with HTTP/2, which has no such bytes.
    pub(crate) fn take_heads(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        match &self.sender {
            Sender::Http1(_, heads) => Some(heads.take()),
            Sender::Http2(_) => None,
        }
    }
}

fn unanswered(error: &hyper::Error, heads: &Heads) -> Unanswered {
    let any_byte_came = heads.any_byte_came();
    let failure = if heads.too_large() { failure::head_too_large() } else { failure::no_head(error, any_byte_came) };
    Unanswered { failure, untouched: !any_byte_came }
}

/// The tasks that drive a connection. Handed to hyper, which has HTTP/2 spawn some of its own.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Tasks {
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl<F> hyper::rt::Executor<F> for Tasks
where
    F: Future + Send + 'static,
{
    fn execute(&self, task: F) {
        self.spawn(each_poll(Stage::Http, async move { drop(task.await) }));
    }
}

/// Ends the tasks, and with them the socket, when the connection is dropped.
struct AbortOnDrop(Tasks);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
