//! An HTTP/1.1 answer read from bytes instead of a socket, by the code that reads sockets: for tests and fuzzing.

use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Method, Request};
use model::{Failure, FailureKind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::failure::failure;
use crate::http1::Http1;
use crate::pieces::Pieces;

/// An answer as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The status.
    pub status: u16,
    /// The head, byte for byte.
    pub head: Vec<u8>,
    /// What came of the body, without transfer coding.
    pub payload: Vec<u8>,
    /// The body came to its end.
    pub is_whole: bool,
}

/// Reads the answer to a GET, or to a HEAD, from `bytes` that come `step_bytes` at a time and end with the connection. A head may
/// have `head_bytes_max` bytes.
///
/// # Errors
/// There is no whole head, or one that cannot be used, as in a fetch.
pub fn read_http1(bytes: &[u8], step_bytes: usize, is_head: bool, head_bytes_max: usize) -> Result<Replayed, Failure> {
    let steps = bytes.chunks(step_bytes.max(1)).map(Bytes::copy_from_slice).collect();
    let mut connection = Http1::new(Steps(steps), head_bytes_max);
    let mut request = Request::new(None);
    *request.method_mut() = if is_head { Method::HEAD } else { Method::GET };
    let answer = at_once(connection.send(&request))?.map_err(|unanswered| unanswered.failure)?;
    let mut payload = Pieces::default();
    let is_whole = loop {
        match at_once(connection.read(&mut payload))? {
            Ok(true) => {}
            Ok(false) => break true,
            Err(_) => break false,
        }
    };
    Ok(Replayed {
        status: answer.status,
        head: answer.head,
        payload: payload.into_whole().as_slice().to_vec(),
        is_whole,
    })
}

/// What a future comes to that waits for nothing.
fn at_once<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Ok(done),
        Poll::Pending => Err(failure(FailureKind::Protocol, "reading waits for more than what came")),
    }
}

/// A stream of what came, in its steps. What is written to it goes nowhere.
struct Steps(VecDeque<Bytes>);

impl AsyncRead for Steps {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(mut step) = self.0.pop_front() {
            room.put_slice(&step.split_to(step.len().min(room.remaining())));
            if !step.is_empty() {
                self.0.push_front(step);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Steps {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
