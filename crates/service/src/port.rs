//! The ports that the program opens: a server's two, a worker's, and that of `--metrics`. All of them are served by [`serve`], so that
//! none goes without what it decides: who may ask, how long anything may take, and how much one peer may have.
//!
//! ```text
//!  accept ──▶ connections: may it connect? ──▶ TLS ──▶ HTTP/1.1 or HTTP/2 ──▶ gate: may it ask? ──▶ router
//! ```
//!
//! | what | limit |
//! |---|---|
//! | TLS handshake | [`HANDSHAKE_TIME_MAX`] |
//! | first request of a connection, from its first byte to the end of its head | [`HEAD_TIME_MAX`] |
//! | head of a later request, and an idle HTTP/1.1 connection | [`HEAD_TIME_MAX`] |
//! | idle HTTP/2 connection | [`IDLE_TIME_MAX`] |
//! | body of a request | [`body::PIECE_TIME_MAX`] without a byte, [`body::WHOLE_TIME_MAX`] in all |
//! | an answer that the client does not take | [`WRITE_TIME_MAX`] without a byte |
//! | connections | [`connections::CONNECTIONS_MAX`], of one peer [`connections::PER_PEER_MAX`] |
//!
//! An answer itself may take as long as it takes: a `Crawl` takes hours.

mod body;
mod connections;
mod gate;
mod paced;

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::http::Request;
use axum::routing::Router;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use self::body::{Timely, TrackedBody};
use self::connections::{Connection, Connections};
use self::paced::Paced;
use crate::access::Guard;
use settings::usage;

pub use gate::{Refusal, http, refused};
pub(crate) use gate::{failure, is_grpc};

/// Requests under way on a connection.
const STREAMS_MAX: u32 = 64;
/// The longest that a TLS handshake may take.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest that a connection may take to bring the head of its first request; over HTTP/1.1 of every request.
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest that an HTTP/2 connection may last without a request. A client that wants to ask again connects again.
const IDLE_TIME_MAX: Duration = Duration::from_secs(300);
/// The longest that a client may take none of an answer's bytes.
const WRITE_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest that a connection may take to end after the request to end.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(1);
/// How often a silent HTTP/2 connection is asked whether it still stands, and after what silence the system asks any connection.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(30);
/// A pause after a connection that could not be accepted: too many files are open, as a rule.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Listens at an address given by a flag, if those who could ask there may.
///
/// # Errors
/// The address is unavailable, or open to other machines without access control.
pub async fn listen(flag: &str, given: &str, guard: &Guard) -> anyhow::Result<TcpListener> {
    let address = resolve(flag, given)?;
    guard.check(flag, address)?;
    TcpListener::bind(address).await.with_context(|| format!("{flag} {address}"))
}

/// The address that a flag gives: an address and a port, or a name and a port.
///
/// # Errors
/// It is neither; the flag is named.
pub fn resolve(flag: &str, given: &str) -> anyhow::Result<SocketAddr> {
    let address = given.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    address.ok_or_else(|| usage(format!("{flag} {given}: is not an address with a port, such as 127.0.0.1:7871")))
}

/// Answers on a port those whom the guard lets in, for ever; others by JSON.
pub async fn serve(listener: TcpListener, router: Router, guard: Guard) {
    serve_or(listener, router, guard, refused).await;
}

/// The same, with an answer of its own for others.
pub async fn serve_or(listener: TcpListener, router: Router, guard: Guard, refusal: Refusal) {
    let acceptor = guard.tls.clone().map(TlsAcceptor::from);
    let router = gate::guarded(router, guard, refusal);
    let connections = Arc::new(Connections::default());
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
            continue;
        };
        // A peer whose connections are all being answered waits for one of those answers.
        let Some(connection) = connections.admit(address.ip()) else { continue };
        let (router, acceptor) = (router.clone(), acceptor.clone());
        tokio::spawn(async move {
            // What breaks a connection is the client's affair.
            let _ = connected(stream, acceptor, router, &connection).await;
        });
    }
}

async fn connected(
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    router: Router,
    connection: &Arc<Connection>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_EVERY))?;
    let stream = Paced::new(stream, WRITE_TIME_MAX);
    match acceptor {
        None => talk(stream, router, connection).await,
        Some(acceptor) => {
            let accepted = tokio::select! {
                accepted = tokio::time::timeout(HANDSHAKE_TIME_MAX, acceptor.accept(stream)) => accepted??,
                () = connection.turned_out() => return Ok(()),
            };
            talk(accepted, router, connection).await
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    connection: &Arc<Connection>,
) -> io::Result<()> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
    server.http2().timer(TokioTimer::new()).keep_alive_interval(KEEPALIVE_EVERY).max_concurrent_streams(STREAMS_MAX);
    let (router, asking) = (TowerToHyperService::new(router), connection.clone());
    let answering = service_fn(move |request: Request<Incoming>| {
        let under_way = asking.begin();
        let answer = router.call(request.map(|body| Timely::new(body, under_way.clone())));
        async move { answer.await.map(|response| TrackedBody::answer(response, under_way)) }
    });
    let served = server.serve_connection(TokioIo::new(stream), answering);
    tokio::pin!(served);
    tokio::select! {
        served = served.as_mut() => return served.map_err(io::Error::other),
        () = connection.turned_out() => {}
        () = connection.idle(HEAD_TIME_MAX, IDLE_TIME_MAX) => {}
    }
    served.as_mut().graceful_shutdown();
    let ended = tokio::time::timeout(GOODBYE_TIME_MAX, served).await;
    ended.map_err(io::Error::from)?.map_err(io::Error::other)
}
