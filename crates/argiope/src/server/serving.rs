//! The ports: who connects, whether they may ask, and how many at a time.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use api::crawler_server::CrawlerServer;
use axum::body::Body;
use axum::extract::State;
use axum::http::uri::Authority;
use axum::http::{Request, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, post};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tonic::Status;
use tonic::service::Routes;

use super::json::{REQUEST_BYTES_MAX, refused, routes};
use super::service::Service;
use crate::access::Guard;
use crate::cli::usage;
use crate::joining::{self, Joining};

/// Connections to a port at a time; others wait until one of them ends.
const CONNECTIONS_MAX: usize = 1_024;
/// Requests under way on a connection.
const STREAMS_MAX: u32 = 64;
/// Requests being answered on a port at a time; more are refused.
const REQUESTS_MAX: usize = 4_096;
/// How long a TLS handshake, and the head of a request, may take.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// How often a silent HTTP/2 connection is asked whether it still stands.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(30);
/// A pause after a connection that could not be accepted: too many files are open, as a rule.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Listens at an address given by a flag, if those who could ask there may.
///
/// # Errors
/// The address cannot be had, or is open to everybody.
pub async fn listen(flag: &str, given: &str, guard: &Guard) -> anyhow::Result<TcpListener> {
    let address = given.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    let address: SocketAddr =
        address.ok_or_else(|| usage(format!("{flag} {given}: is no address with a port, such as 127.0.0.1:7871")))?;
    guard.check(flag, address)?;
    TcpListener::bind(address).await.with_context(|| format!("{flag} {address}"))
}

/// What clients may ask.
///
/// # Errors
/// Never in practice: the contract is part of the program.
pub fn clients(service: Service, guard: Guard) -> anyhow::Result<Router> {
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(api::DESCRIPTORS)
        .build_v1()?;
    let json = routes(&service);
    let grpc = CrawlerServer::new(service).max_decoding_message_size(REQUEST_BYTES_MAX);
    let grpc = Routes::new(grpc).add_service(reflection).prepare().into_axum_router();
    Ok(guarded(grpc.merge(json), guard))
}

/// What workers may ask.
///
/// # Errors
/// Never in practice: what they are told has a form in JSON.
pub fn workers(joining: &Joining, guard: Guard) -> anyhow::Result<Router> {
    let answer = serde_json::to_string(joining)?;
    let join = move || async move { ([(header::CONTENT_TYPE, "application/json")], answer) };
    Ok(guarded(Router::new().route(joining::PATH, post(join)), guard))
}

#[derive(Clone)]
struct Gate {
    guard: Guard,
    requests: Arc<Semaphore>,
}

fn guarded(router: Router, guard: Guard) -> Router {
    let gate = Gate { guard, requests: Arc::new(Semaphore::new(REQUESTS_MAX)) };
    router.layer(from_fn_with_state(gate, pass))
}

async fn pass(State(gate): State<Gate>, request: Request<Body>, next: Next) -> Response {
    let is_grpc = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"));
    let refuse = |status: Status| if is_grpc { status.into_http::<Body>().into_response() } else { refused(&status) };
    if !is_grpc && !request.uri().path().starts_with("/v1/") {
        return refused(&Status::unimplemented(
            "the API is gRPC, and JSON by POST /v1/METHOD: argiope.proto has the methods",
        ));
    }
    if !gate.guard.admits(request.headers().get(header::AUTHORIZATION).map(header::HeaderValue::as_bytes)) {
        return refuse(Status::unauthenticated("no token, or a wrong one: give the server's with --token-file"));
    }
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    if !gate.guard.is_meant(host.or(request.uri().authority().map(Authority::as_str))) {
        return refuse(Status::failed_precondition("ask by the address, not by a name: this server lets anybody in"));
    }
    match gate.requests.try_acquire() {
        Ok(_permit) => next.run(request).await,
        Err(_) => refuse(Status::resource_exhausted(format!("{REQUESTS_MAX} requests are under way: try again later"))),
    }
}

/// Answers on a port, for ever.
pub async fn serve(listener: TcpListener, router: Router, guard: Guard) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let acceptor = guard.tls.map(TlsAcceptor::from);
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
            continue;
        };
        let (router, acceptor) = (router.clone(), acceptor.clone());
        tokio::spawn(async move {
            // What breaks a connection is the client's affair.
            let _ = connected(stream, acceptor, router).await;
            drop(permit);
        });
    }
}

async fn connected(stream: TcpStream, acceptor: Option<TlsAcceptor>, router: Router) -> io::Result<()> {
    stream.set_nodelay(true)?;
    match acceptor {
        None => talk(stream, router).await,
        Some(acceptor) => {
            let accepted = tokio::time::timeout(HANDSHAKE_TIME_MAX, acceptor.accept(stream)).await;
            talk(accepted.map_err(io::Error::from)??, router).await
        }
    }
}

async fn talk(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, router: Router) -> io::Result<()> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX);
    server.http2().timer(TokioTimer::new()).keep_alive_interval(KEEPALIVE_EVERY).max_concurrent_streams(STREAMS_MAX);
    let served = server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
    served.map_err(io::Error::other)
}
