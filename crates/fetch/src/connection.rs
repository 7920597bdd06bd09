//! An open connection that HTTP requests can be sent over, one at a time.

use model::Failure;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::http1::Http1;
use crate::http2::Http2;
use crate::message::{Broken, Request, ResponseHead, Unanswered};
use crate::pieces::Pieces;

/// An open connection. Dropping it closes it.
pub(crate) enum Connection {
    Http1(Http1),
    Http2(Http2),
}

impl Connection {
    /// HTTP/1.1 over `stream`.
    pub(crate) fn http1<S>(stream: S, head_bytes_max: usize) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Connection::Http1(Http1::new(stream, head_bytes_max))
    }

    /// HTTP/2 over `stream`.
    pub(crate) async fn http2<S>(stream: S, head_bytes_max: usize) -> Result<Self, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Http2::new(stream, head_bytes_max).await.map(Connection::Http2)
    }

    pub(crate) fn is_http2(&self) -> bool {
        matches!(self, Connection::Http2(_))
    }

    /// True if another request can be sent, as far as can be seen from here.
    pub(crate) fn is_open(&mut self) -> bool {
        match self {
            Connection::Http1(connection) => connection.is_open(),
            Connection::Http2(connection) => connection.is_open(),
        }
    }

    /// Sends `request`; returns when the whole head of the answer is there.
    pub(crate) async fn send(&mut self, request: &Request<'_>) -> Result<ResponseHead, Unanswered> {
        match self {
            Connection::Http1(connection) => connection.send(request).await,
            // Boxed, so that a fetch over HTTP/1.1, of which there are many at once, is not larger for it.
            Connection::Http2(connection) => Box::pin(connection.send(request)).await,
        }
    }

    /// Appends to `payload` what comes next of the last answer's body, without transfer coding; false at its end. Nothing is lost
    /// where the future is dropped, and what came before an error is there.
    pub(crate) async fn read(&mut self, payload: &mut Pieces) -> Result<bool, Broken> {
        match self {
            Connection::Http1(connection) => connection.read(payload).await,
            Connection::Http2(connection) => connection.read(payload).await,
        }
    }
}
