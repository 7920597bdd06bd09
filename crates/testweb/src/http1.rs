//! The HTTP/1.1 loop of one connection: read a head, ask the site, carry the reply out.
//!
//! Written by hand, because a reply may take over the connection and break every rule of the protocol.

use std::fmt::Write as _;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::head::{self, Head};
use crate::log::Exchange;
use crate::session::Session;
use crate::wire::{self, Wire};
use crate::{Content, Reply, Request, Scheme};

/// The longest request head.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The longest request body that is read.
const REQUEST_BODY_BYTES_MAX: u64 = 1024 * 1024;
/// A connection on which nothing is requested that long is closed.
const IDLE: Duration = Duration::from_secs(60);
/// A reply is written in pieces of this size, so that the end of the reply is noted close to its last byte.
pub(crate) const PIECE_BYTES: usize = 16 * 1024;

/// Why the loop ended.
pub(crate) enum LoopEnd {
    /// The connection is done.
    Closed,
    /// `CONNECT` was answered: the client starts again on the same connection.
    Tunnel,
}

/// Answers the requests of one connection, one after the other.
pub(crate) async fn serve<W: Wire>(wire: &mut W, session: &Session, scheme: Scheme) -> io::Result<LoopEnd> {
    let mut input = BytesMut::with_capacity(4096);
    let mut output = String::new();
    loop {
        let head = match read_head(wire, &mut input, scheme).await? {
            None => return Ok(LoopEnd::Closed),
            Some(Ok(head)) => head,
            Some(Err(status)) => return refuse(wire, status).await,
        };
        let Head::Request { mut request, keep_alive, chunked, body_bytes } = head else {
            return tunnel(wire, scheme, input.is_empty()).await;
        };
        if body_bytes > REQUEST_BODY_BYTES_MAX {
            return refuse(wire, 413).await;
        }
        let exchange = session.begin("HTTP/1.1", &request);
        request.body = read_body(wire, &mut input, usize::try_from(body_bytes).unwrap_or(usize::MAX)).await?;
        let reply = session.reply(&request);
        let mut answer = ReplyWriter { wire, output: &mut output, exchange, keep_alive, chunked };
        if !answer.send(&request, reply).await? {
            return Ok(LoopEnd::Closed);
        }
    }
}

/// The next head, or `None` when the client has no more to ask.
async fn read_head<W: Wire>(
    wire: &mut W,
    input: &mut BytesMut,
    scheme: Scheme,
) -> io::Result<Option<Result<Head, head::Refusal>>> {
    loop {
        if let Some(end) = head::end(input) {
            return Ok(Some(head::parse(&input.split_to(end), scheme)));
        }
        if input.len() > HEAD_BYTES_MAX {
            return Ok(Some(Err(431)));
        }
        let read = timeout(IDLE, wire.read_buf(input)).await.unwrap_or(Ok(0))?;
        if read == 0 {
            return Ok(None);
        }
    }
}

/// Reads a request's body.
async fn read_body<W: Wire>(wire: &mut W, input: &mut BytesMut, bytes: usize) -> io::Result<Bytes> {
    while input.len() < bytes {
        if wire.read_buf(input).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(input.split_to(bytes).freeze())
}

/// Answers what cannot be understood, and closes.
async fn refuse<W: Wire>(wire: &mut W, status: u16) -> io::Result<LoopEnd> {
    let reply = format!("HTTP/1.1 {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", status_line(status));
    wire.write_all(reply.as_bytes()).await?;
    wire::close(wire).await?;
    Ok(LoopEnd::Closed)
}

/// Answers `CONNECT` (RFC 9110 section 9.3.6). Inside TLS, or with bytes already sent behind it, it is refused.
async fn tunnel<W: Wire>(wire: &mut W, scheme: Scheme, nothing_behind: bool) -> io::Result<LoopEnd> {
    if scheme == Scheme::Https || !nothing_behind {
        return refuse(wire, 400).await;
    }
    wire.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    Ok(LoopEnd::Tunnel)
}

fn status_line(status: u16) -> String {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    format!("{status} {}", reason.unwrap_or("Unassigned"))
}

/// A reply on its way out.
struct ReplyWriter<'a, W> {
    wire: &'a mut W,
    /// Reused from reply to reply.
    output: &'a mut String,
    exchange: Exchange,
    keep_alive: bool,
    chunked: bool,
}

impl<W: Wire> ReplyWriter<'_, W> {
    /// Carries the reply out; says whether the connection can take another request.
    async fn send(&mut self, request: &Request, reply: Reply) -> io::Result<bool> {
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        if let Content::Raw(steps) = &reply.content {
            wire::carry_out(self.wire, steps(), &mut self.exchange).await?;
            return Ok(false);
        }
        self.exchange.status(reply.status);
        let framing = self.write_head(&reply);
        let bodiless = request.method == "HEAD" || matches!(reply.status, 204 | 304);
        match reply.content {
            Content::Stream(pieces) if !bodiless => self.send_stream(pieces(), framing).await?,
            Content::Full(body) if !bodiless => self.send_full(&body).await?,
            _ => self.send_full(b"").await?,
        }
        if !self.keep_alive {
            wire::close(self.wire).await?;
        }
        Ok(self.keep_alive)
    }

    /// Writes the head to the output and chooses how the body is delimited (RFC 9112 section 6.3).
    fn write_head(&mut self, reply: &Reply) -> Framing {
        let out = &mut *self.output;
        out.clear();
        // Writing to a string cannot fail.
        let _ = write!(out, "HTTP/1.1 {}\r\n", status_line(reply.status));
        for (name, value) in &reply.headers {
            let _ = write!(out, "{name}: {value}\r\n");
        }
        let framing = match &reply.content {
            _ if reply.has_header("content-length") => Framing::Length,
            Content::Full(body) if !matches!(reply.status, 204 | 304) => {
                let _ = write!(out, "Content-Length: {}\r\n", body.len());
                Framing::Length
            }
            Content::Stream(_) if self.chunked => {
                out.push_str("Transfer-Encoding: chunked\r\n");
                Framing::Chunked
            }
            Content::Stream(_) => {
                self.keep_alive = false;
                Framing::Close
            }
            _ => Framing::Length,
        };
        if !self.keep_alive && !reply.has_header("connection") {
            out.push_str("Connection: close\r\n");
        }
        out.push_str("\r\n");
        framing
    }

    /// Sends the head and a body that is there as a whole: in one piece when small.
    async fn send_full(&mut self, body: &[u8]) -> io::Result<()> {
        let mut first = Vec::with_capacity(self.output.len() + body.len().min(PIECE_BYTES));
        let (start, rest) = body.split_at(body.len().min(PIECE_BYTES));
        first.extend_from_slice(self.output.as_bytes());
        first.extend_from_slice(start);
        let mut piece = first.as_slice();
        for next in rest.chunks(PIECE_BYTES) {
            self.wire.write_all(piece).await?;
            piece = next;
        }
        self.exchange.end();
        self.wire.write_all(piece).await?;
        self.wire.flush().await
    }

    /// Sends the head and a body that is produced on the way.
    async fn send_stream(&mut self, pieces: impl Iterator<Item = Bytes>, framing: Framing) -> io::Result<()> {
        let mut held = Bytes::copy_from_slice(self.output.as_bytes());
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            self.wire.write_all(&held).await?;
            held = match framing {
                Framing::Chunked => chunk(&piece),
                Framing::Length | Framing::Close => piece,
            };
        }
        if framing == Framing::Chunked {
            self.wire.write_all(&held).await?;
            held = Bytes::from_static(b"0\r\n\r\n");
        }
        self.exchange.end();
        self.wire.write_all(&held).await?;
        self.wire.flush().await
    }
}

/// How the client knows where the body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
    Close,
}

fn chunk(piece: &[u8]) -> Bytes {
    let mut chunk = Vec::with_capacity(piece.len() + 12);
    chunk.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    chunk.into()
}
