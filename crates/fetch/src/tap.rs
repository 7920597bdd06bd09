//! A tap on the socket: keeps the heads of requests and answers byte for byte, as the archive wants them.
//!
//! hyper parses heads and gives neither the case of the names nor their order. So the bytes are kept as they pass by,
//! of the heads only: bodies are not kept, interim answers (1xx) neither, and an answer's head that grows beyond its
//! limit ends the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::head::{self, EndOfHead};

/// The heads that passed, shared between the socket and whoever reads them.
#[derive(Clone, Debug)]
pub(crate) struct Heads(Arc<Mutex<Kept>>);

#[derive(Debug)]
struct Kept {
    sent: Vec<u8>,
    received: Vec<u8>,
    end: EndOfHead,
    complete: bool,
    /// Bytes of all heads of this answer, the interim ones too: an endless row of those is bounded as well.
    head_bytes: usize,
    head_bytes_max: usize,
}

impl Heads {
    pub(crate) fn new(head_bytes_max: usize) -> Self {
        Heads(Arc::new(Mutex::new(Kept {
            sent: Vec::new(),
            received: Vec::new(),
            end: EndOfHead::default(),
            complete: false,
            head_bytes: 0,
            head_bytes_max,
        })))
    }

    /// Forgets everything: a new request is about to be sent.
    pub(crate) fn begin(&self) {
        let mut kept = self.lock();
        *kept = Kept {
            sent: Vec::new(),
            received: Vec::new(),
            end: EndOfHead::default(),
            complete: false,
            head_bytes: 0,
            head_bytes_max: kept.head_bytes_max,
        };
    }

    /// The heads of the request and of its answer.
    pub(crate) fn take(&self) -> (Vec<u8>, Vec<u8>) {
        let mut kept = self.lock();
        (std::mem::take(&mut kept.sent), std::mem::take(&mut kept.received))
    }

    /// True where anything at all came after the request.
    pub(crate) fn any_byte_came(&self) -> bool {
        self.lock().head_bytes > 0
    }

    /// True where the answer's head was longer than it may be.
    pub(crate) fn too_large(&self) -> bool {
        let kept = self.lock();
        kept.head_bytes > kept.head_bytes_max
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // Nothing in here panics half-way, so the bytes are whole even if another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn receive(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !self.complete && !bytes.is_empty() {
            let end = self.end.find(bytes);
            let (head, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.head_bytes = self.head_bytes.saturating_add(head.len());
            if self.head_bytes > self.head_bytes_max {
                return Err(io::Error::other("head larger than its limit"));
            }
            self.received.extend_from_slice(head);
            bytes = rest;
            if end.is_some() {
                self.complete = !is_interim(&self.received);
                self.end = EndOfHead::default();
                if !self.complete {
                    self.received.clear();
                }
            }
        }
        Ok(())
    }

    fn send(&mut self, bytes: &[u8]) {
        if !self.complete {
            self.sent.extend_from_slice(bytes);
        }
    }
}

/// 1xx comes before the answer proper, but 101 is the last that is HTTP (RFC 9110 §15.2).
fn is_interim(head: &[u8]) -> bool {
    head::parse_status(head).is_some_and(|status| (100..200).contains(&status) && status != 101)
}

/// A stream with a tap on it.
#[derive(Debug)]
pub(crate) struct Tapped<S> {
    stream: S,
    heads: Heads,
}

impl<S> Tapped<S> {
    pub(crate) fn new(stream: S, heads: Heads) -> Self {
        Tapped { stream, heads }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        match ready!(Pin::new(&mut self.stream).poll_read(cx, buf)) {
            Ok(()) => Poll::Ready(self.heads.lock().receive(&buf.filled()[before..])),
            // TLS closed without its goodbye: many servers do that, and where it matters the length of the body tells.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.heads.lock().send(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(bytes: &str, step: usize) -> (String, bool) {
        let heads = Heads::new(1000);
        for part in bytes.as_bytes().chunks(step) {
            heads.lock().receive(part).expect("within the limit");
        }
        let complete = heads.lock().complete;
        (String::from_utf8(heads.take().1).expect("UTF-8"), complete)
    }

    #[test]
    fn only_the_head_of_the_final_answer_is_kept() {
        let last = "HTTP/1.1 200 OK\r\nX-MiXed: 1\r\nset-cookie: a\r\nSet-Cookie: b\r\n\r\n";
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
        for step in 1..60 {
            for before in ["".to_owned(), interim.to_owned(), interim.repeat(5)] {
                let all = format!("{before}{last}body\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n");
                assert_eq!(received(&all, step), (last.to_owned(), true), "{step}");
            }
        }
    }

    #[test]
    fn a_head_beyond_the_limit_is_an_error_and_interim_heads_count() {
        for bytes in ["HTTP/1.1 200 OK\r\nA: bbbbbbbbbbbbbbbbbbbbbbbbb".to_owned(), "HTTP/1.1 100 C\r\n\r\n".repeat(9)]
        {
            let heads = Heads::new(40);
            assert!(heads.lock().receive(bytes.as_bytes()).is_err());
            assert!(heads.too_large());
        }
    }
}
