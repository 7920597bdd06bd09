//! The check of requests, and the answers to refused ones.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::Router;
use printable::write_json_line;
use serde::Serialize;
use tokio::sync::Semaphore;
use tonic::{Code, Status};

use crate::access::Guard;

/// Requests being answered on a port at a time; more are refused.
const REQUESTS_MAX: usize = 4_096;

/// How a port says to others than clients of gRPC that it refuses a request.
pub type Refusal = fn(&Status) -> Response;

#[derive(Clone)]
struct Gate {
    guard: Guard,
    refusal: Refusal,
    requests: Arc<Semaphore>,
}

/// The router behind the guard.
pub(super) fn guarded(router: Router, guard: Guard, refusal: Refusal) -> Router {
    let gate = Gate { guard, refusal, requests: Arc::new(Semaphore::new(REQUESTS_MAX)) };
    router.layer(from_fn_with_state(gate, pass))
}

async fn pass(State(gate): State<Gate>, request: Request<Body>, next: Next) -> Response {
    let refuse = |status: Status| {
        if is_grpc(&request) { status.into_http::<Body>().into_response() } else { (gate.refusal)(&status) }
    };
    if !gate.guard.admits(request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes)) {
        return refuse(Status::unauthenticated("no token, or a wrong one: give the server's with --token-file"));
    }
    if !is_meant(&gate.guard, &request) {
        return refuse(Status::failed_precondition(
            "ask by the address, not by a name: this port lets anybody in, and a page of the web may have made a name lead here",
        ));
    }
    match gate.requests.clone().try_acquire_owned() {
        Ok(_permit) => next.run(request).await,
        Err(_) => refuse(Status::resource_exhausted(format!("{REQUESTS_MAX} requests are under way: try again later"))),
    }
}

/// Whether a request is one of gRPC.
pub(crate) fn is_grpc(request: &Request<Body>) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    content_type.is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// Whether every host that the request names may be ours.
fn is_meant(guard: &Guard, request: &Request<Body>) -> bool {
    let named = request.headers().get_all(header::HOST).iter().map(HeaderValue::as_bytes);
    let asked = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    named.chain(asked).all(|host| guard.is_meant(&String::from_utf8_lossy(host)))
}

#[derive(Serialize)]
struct Failure<'a> {
    code: &'static str,
    error: &'a str,
}

/// What fails, as a line of JSON.
pub(crate) fn failure(status: &Status) -> Vec<u8> {
    let mut line = Vec::new();
    // Writing to a vector does not fail, and this has a form in JSON.
    let _ = write_json_line(&mut line, &Failure { code: word(status.code()), error: status.message() });
    line
}

/// An answer that says what is wrong.
pub fn refused(status: &Status) -> Response {
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (http(status), json, failure(status)).into_response()
}

/// The status code of HTTP for one of gRPC.
#[must_use]
pub fn http(status: &Status) -> StatusCode {
    match status.code() {
        Code::InvalidArgument => StatusCode::BAD_REQUEST,
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::DeadlineExceeded => StatusCode::REQUEST_TIMEOUT,
        Code::FailedPrecondition => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The names that gRPC has for its codes.
fn word(code: Code) -> &'static str {
    match code {
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::Unauthenticated => "UNAUTHENTICATED",
        Code::NotFound => "NOT_FOUND",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Unavailable => "UNAVAILABLE",
        _ => "INTERNAL",
    }
}
