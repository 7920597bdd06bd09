//! HTTP/1.1, one request at a time (RFC 9112).
//!
//! The archive wants heads byte for byte, and the many connections of a crawl are to hold no buffer while they wait: what comes is
//! read into room on the stack, and payload goes on from there to the caller. httparse reads the heads.

mod answer;
mod chunks;
mod framing;

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use model::FailureKind;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::failure::{self, failure};
use crate::head;
use crate::message::{Broken, Request, ResponseHead, Unanswered};
use crate::pieces::Pieces;
use crate::request::without_secrets;
use answer::Wrong;
use framing::Framing;

/// What is read at a time, at most.
const READ_BYTES: usize = 64 * 1024;

/// Room to read into. Files that a server sends begin at the begin of a page of memory, and to copy from there to 1 to 15 bytes behind
/// the begin of another takes AMD's processors twice as long. No head is so short, so that no body comes to lie there.
#[repr(align(4096))]
struct Room([MaybeUninit<u8>; READ_BYTES]);

impl Room {
    const fn new() -> Self {
        Room([MaybeUninit::uninit(); READ_BYTES])
    }
}

/// A connection.
pub(crate) struct Http1 {
    stream: Box<dyn Stream>,
    head_bytes_max: usize,
    /// Of the last answer's body.
    framing: Framing,
    /// The part of the payload that came with the head.
    came: Pieces,
    /// What is wrong with the body after that.
    wrong: Option<&'static str>,
    /// Whether another request may be sent when the body is at its end.
    is_kept: bool,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Http1 {
    /// A connection over `stream`. The head of an answer may have so many bytes, interim ones before it included.
    pub(crate) fn new(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, head_bytes_max: usize) -> Self {
        Http1 {
            stream: Box::new(stream),
            head_bytes_max,
            framing: Framing::NONE,
            came: Pieces::default(),
            wrong: None,
            is_kept: true,
        }
    }

    /// True if another request can be sent: the last answer is at its end, and nothing came after it, nor the end of the
    /// connection.
    pub(crate) fn is_open(&mut self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        let mut nobody = Context::from_waker(Waker::noop());
        self.is_kept
            && self.framing.is_end()
            && Pin::new(&mut *self.stream).poll_read(&mut nobody, &mut ReadBuf::uninit(&mut byte)).is_pending()
    }

    /// Sends `request`; returns when the whole head of the answer is there.
    pub(crate) async fn send(&mut self, request: &Request<'_>) -> Result<ResponseHead, Unanswered> {
        let request_head = head::request(request);
        // A server may answer, and close, before it has read a request. If it does not answer, reading says so.
        let _ = self.write(&request_head, request.body().map_or(&[], |body| &body[..])).await;
        let request_head = without_secrets(request).map_or(request_head, |recorded| head::request(&recorded));
        let (mut came, is_head) = (Vec::new(), request.method() == http::Method::HEAD);
        let (status, head) = poll_fn(|cx| self.poll_head(cx, &mut came, is_head)).await?;
        Ok(ResponseHead { status, request_head, head })
    }

    async fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.stream.write_all(head).await?;
        self.stream.write_all(body).await?;
        self.stream.flush().await
    }

    /// Reads until a whole head is there: its status and bytes. What is not whole is kept in `came`.
    fn poll_head(
        &mut self,
        cx: &mut Context<'_>,
        came: &mut Vec<u8>,
        is_head: bool,
    ) -> Poll<Result<(u16, Vec<u8>), Unanswered>> {
        let mut room = Room::new();
        let mut room = ReadBuf::uninit(&mut room.0);
        loop {
            let is_lost = ready!(self.poll_read(cx, &mut room)).is_err();
            let read = room.filled();
            if is_lost || read.is_empty() {
                return Poll::Ready(Err(unanswered(came)));
            }
            let found = if came.is_empty() {
                self.begin(read, is_head)?
            } else {
                came.extend_from_slice(read);
                self.begin(came, is_head)?
            };
            if let Some(found) = found {
                return Poll::Ready(Ok(found));
            }
            if came.is_empty() {
                came.extend_from_slice(read);
            }
        }
    }

    /// Begins with the answer whose head is in `bytes`, if it is whole.
    fn begin(&mut self, bytes: &[u8], is_head: bool) -> Result<Option<(u16, Vec<u8>)>, Unanswered> {
        let Some(found) = answer::find(bytes, self.head_bytes_max, is_head).map_err(refused)? else { return Ok(None) };
        (self.framing, self.is_kept, self.wrong) = (found.framing, found.is_kept, None);
        let (head, mut came) = (bytes[found.head.clone()].to_vec(), Pieces::default());
        self.take(&bytes[found.head.end..], &mut came);
        self.came = came;
        Ok(Some((found.status, head)))
    }

    /// Appends to `payload` what comes next of the body; false at its end.
    pub(crate) async fn read(&mut self, payload: &mut Pieces) -> Result<bool, Broken> {
        if !self.came.is_empty() {
            let came = std::mem::take(&mut self.came);
            *payload = came;
            return Ok(true);
        }
        if let Some(wrong) = self.wrong {
            return Err(Broken::because(wrong));
        }
        if self.framing.is_end() {
            return Ok(false);
        }
        poll_fn(|cx| self.poll_payload(cx, payload)).await
    }

    fn poll_payload(&mut self, cx: &mut Context<'_>, payload: &mut Pieces) -> Poll<Result<bool, Broken>> {
        let mut room = Room::new();
        let mut room = ReadBuf::uninit(&mut room.0);
        let read = ready!(self.poll_read(cx, &mut room));
        Poll::Ready(match read {
            Ok(()) if !room.filled().is_empty() => {
                self.take(room.filled(), payload);
                Ok(true)
            }
            Ok(()) if self.framing.may_end() => {
                self.is_kept = false;
                Ok(false)
            }
            Ok(()) => Err(Broken::lost()),
            Err(error) if failure::is_end(&error) => Err(Broken::lost()),
            Err(error) => Err(Broken::because(error)),
        })
    }

    fn take(&mut self, bytes: &[u8], payload: &mut Pieces) {
        match self.framing.take(bytes, payload) {
            Ok(taken) => self.is_kept &= taken == bytes.len(),
            Err(wrong) => self.wrong = Some(wrong),
        }
    }

    /// Reads what comes next into empty room; nothing where the other side has closed.
    fn poll_read(&mut self, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        room.clear();
        match ready!(Pin::new(&mut *self.stream).poll_read(cx, room)) {
            // TLS closed without its goodbye: many servers do that, and where it matters the length of the body tells.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            read => Poll::Ready(read),
        }
    }
}

fn unanswered(came: &[u8]) -> Unanswered {
    let untouched = came.is_empty();
    let detail = if untouched { "closed without an answer" } else { "connection ended within the answer's head" };
    Unanswered { failure: failure(FailureKind::Disconnected, detail), untouched }
}

fn refused(wrong: Wrong) -> Unanswered {
    // It may be what is left of an answer before.
    let untouched = matches!(wrong, Wrong::NotHttp(_));
    let failure = match wrong {
        Wrong::TooLarge => failure::head_too_large(),
        Wrong::TooManyFields => failure(FailureKind::HeadTooLarge, "answer's head has too many fields"),
        Wrong::NotHttp(reason) => failure(FailureKind::Protocol, format!("answer is not HTTP: {reason}")),
    };
    Unanswered { failure, untouched }
}

#[cfg(test)]
mod tests;
