//! HTTP/2 over TLS, by hyper: for replies that keep to the protocol.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::head::split_authority;
use crate::http1::{HEAD_BYTES_MAX, PIECE_BYTES};
use crate::log::Exchange;
use crate::reply::Pieces;
use crate::session::Session;
use crate::{Content, Reply, Request, Scheme};

/// Requests under way at once on a connection (RFC 9113 section 5.1.2).
const STREAMS_MAX: u32 = 100;

/// Answers the requests of one connection.
pub(crate) async fn serve(stream: TlsStream<TcpStream>, session: &Session) -> io::Result<()> {
    let service = service_fn(|request| {
        let session = session.clone();
        async move { answer(&session, request).await }
    });
    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
        .serve_connection(TokioIo::new(stream), service)
        .await
        .map_err(io::Error::other)
}

async fn answer(session: &Session, request: http::Request<Incoming>) -> Result<http::Response<ReplyBody>, io::Error> {
    let mut translated = translate(&request);
    translated.body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let request = translated;
    let mut exchange = session.begin("HTTP/2", &request);
    let reply = session.reply(&request);
    if !reply.delay.is_zero() {
        tokio::time::sleep(reply.delay).await;
    }
    if matches!(reply.content, Content::Raw(_)) {
        return Err(io::Error::other("a raw reply resets the stream"));
    }
    exchange.status(reply.status);
    response(&request, reply, exchange).map_err(io::Error::other)
}

fn translate<B>(request: &http::Request<B>) -> Request {
    let headers: Vec<_> = request
        .headers()
        .iter()
        .map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect();
    let named = headers.iter().find(|(name, _)| name == "host").map(|(_, value)| value.as_str());
    let authority = request.uri().authority().map(http::uri::Authority::as_str).or(named);
    let (host, port) = split_authority(authority.unwrap_or_default());
    let target = request.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str).to_owned();
    Request {
        method: request.method().to_string(),
        scheme: Scheme::Https,
        host,
        port,
        target,
        headers,
        body: Bytes::new(),
    }
}

fn response(request: &Request, reply: Reply, exchange: Exchange) -> http::Result<http::Response<ReplyBody>> {
    let mut response = http::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        // Fields of the connection have no place in HTTP/2 (RFC 9113 section 8.2.2).
        if !name.eq_ignore_ascii_case("connection") && !name.eq_ignore_ascii_case("transfer-encoding") {
            response = response.header(name.as_ref(), value.as_ref());
        }
    }
    if let Content::Full(body) = &reply.content
        && !reply.has_header("content-length")
    {
        response = response.header("content-length", body.len());
    }
    let content = if request.method == "HEAD" { Content::Full(Bytes::new()) } else { reply.content };
    let (pieces, bytes): (Pieces, _) = match content {
        Content::Full(body) => (Box::new(split(body.clone())), Some(body.len() as u64)),
        Content::Stream(pieces) => (pieces(), None),
        Content::Raw(_) => (Box::new(std::iter::empty()), None),
    };
    response.body(ReplyBody { next: None, pieces, bytes, exchange }.advanced())
}

fn split(mut body: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let piece = body.split_to(body.len().min(PIECE_BYTES));
        (!piece.is_empty()).then_some(piece)
    })
}

/// The body on its way out: one piece is held back, to know which is the last.
struct ReplyBody {
    next: Option<Bytes>,
    pieces: Pieces,
    bytes: Option<u64>,
    exchange: Exchange,
}

impl ReplyBody {
    fn advanced(mut self) -> Self {
        self.advance();
        self
    }

    fn advance(&mut self) {
        self.next = self.pieces.next();
        if self.next.is_none() {
            self.exchange.end();
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        let piece = body.next.take();
        if piece.is_some() {
            body.advance();
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.next.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
