//! HTTP/2, by hyper.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http2;
use hyper_util::rt::TokioIo;
use model::Failure;
use stages::{Stage, each_poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use crate::message::{Broken, Request, ResponseHead, Unanswered};
use crate::pieces::Pieces;
use crate::request::without_secrets;
use crate::{failure, head};

/// What may be sent before it is read, a stream and a connection.
const WINDOW_BYTES: u32 = 256 * 1024;

/// HTTP/2 counts the bytes of a head in its own way (RFC 9113 §6.5.2), and the library only says that something is wrong
/// when they are too many: it is given room, so that the limit on our written form is what is met first.
const HEAD_FACTOR: u32 = 4;

/// A connection.
pub(crate) struct Http2 {
    sender: http2::SendRequest<Full<Bytes>>,
    /// Of the last answer.
    body: Option<Incoming>,
    head_bytes_max: usize,
    _tasks: AbortOnDrop,
}

impl Http2 {
    /// A connection over `stream`.
    pub(crate) async fn new<S>(stream: S, head_bytes_max: usize) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let tasks = Tasks::default();
        let on_drop = AbortOnDrop(tasks.clone());
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(u32::try_from(head_bytes_max).unwrap_or(u32::MAX).saturating_mul(HEAD_FACTOR))
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| failure::no_head(&error))?;
        // Its errors are those of the requests sent over it, which report them.
        tasks.spawn(each_poll(Stage::Http2, async move { drop(connection.await) }));
        Ok(Http2 { sender, body: None, head_bytes_max, _tasks: on_drop })
    }

    /// True if another request can be sent.
    pub(crate) fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Sends `request`; returns when the head of the answer is there.
    pub(crate) async fn send(&mut self, request: &Request<'_>) -> Result<ResponseHead, Unanswered> {
        let request_head = head::written_request(without_secrets(request).as_ref().unwrap_or(request));
        let answer = match self.sender.ready().await {
            Ok(()) => {
                self.sender.send_request(request.clone().map(|body| Full::new(body.cloned().unwrap_or_default()))).await
            }
            Err(error) => Err(error),
        };
        let answer = answer.map_err(|error| Unanswered { failure: failure::no_head(&error), untouched: true })?;
        let head = head::written_response(answer.status(), answer.headers());
        if head.len() > self.head_bytes_max {
            return Err(Unanswered { failure: failure::head_too_large(), untouched: false });
        }
        let status = answer.status().as_u16();
        self.body = Some(answer.into_body());
        Ok(ResponseHead { status, request_head, head })
    }

    /// Appends what comes next of the body; false at its end.
    pub(crate) async fn read(&mut self, payload: &mut Pieces) -> Result<bool, Broken> {
        let Some(body) = &mut self.body else { return Ok(false) };
        let Some(frame) = body.frame().await else {
            self.body = None;
            return Ok(false);
        };
        if let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() {
            payload.append(&data, body.size_hint().exact());
        }
        Ok(true)
    }
}

fn broken(error: &hyper::Error) -> Broken {
    if failure::is_disconnect(error) { Broken::lost() } else { Broken::because(failure::chain(error)) }
}

/// The tasks that drive a connection. Handed to hyper, which spawns some of its own.
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
        self.spawn(each_poll(Stage::Http2, async move { drop(task.await) }));
    }
}

/// Ends the tasks, and with them the socket, when the connection is dropped.
struct AbortOnDrop(Tasks);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
