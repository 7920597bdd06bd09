//! From the errors of sockets, TLS and HTTP to the kinds of failure, in words a person understands.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use model::{Failure, FailureKind};

use crate::trust;

/// A failure of `kind`, with its words.
pub(crate) fn failure(kind: FailureKind, detail: impl Into<String>) -> Failure {
    Failure { kind, detail: detail.into() }
}

/// No TCP connection to `peer`.
pub(crate) fn connect(peer: SocketAddr, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::HostUnreachable => "host unreachable".to_owned(),
        io::ErrorKind::NetworkUnreachable => "network unreachable".to_owned(),
        io::ErrorKind::TimedOut => "connection timed out".to_owned(),
        _ => error.to_string(),
    };
    failure(FailureKind::Connect, format!("connect to {peer}: {reason}"))
}

/// No TLS with `host`.
pub(crate) fn tls(host: &str, error: &io::Error) -> Failure {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let detail = match tls {
        Some(error) => trust::words(host, error),
        None if is_end(error) => "connection closed during the handshake".to_owned(),
        None => error.to_string(),
    };
    failure(FailureKind::Tls, format!("TLS: {detail}"))
}

/// What hyper says when there is no head of an HTTP/2 answer: whether it is no HTTP/2, or the connection ended.
pub(crate) fn no_head(error: &hyper::Error) -> Failure {
    let is_broken = error.source().is_some_and(|source| source.downcast_ref::<io::Error>().is_none());
    if error.is_parse() || (is_broken && !error.is_closed() && !error.is_canceled()) {
        return failure(FailureKind::Protocol, format!("answer is not HTTP: {}", chain(error)));
    }
    failure(FailureKind::Disconnected, "closed without an answer")
}

/// The head of the answer is longer than `header_bytes_max`.
pub(crate) fn head_too_large() -> Failure {
    failure(FailureKind::HeadTooLarge, "answer's head is longer than its limit (header_bytes_max)")
}

/// The words of `error` and of all that caused it, outermost first.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.ends_with(&more) {
            words = format!("{words}: {more}");
        }
        cause = inner.source();
    }
    words
}

/// True if the error, or one that caused it, says that the other side went away.
pub(crate) fn is_disconnect(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(inner) = next {
        if inner.downcast_ref::<io::Error>().is_some_and(is_end) {
            return true;
        }
        next = inner.source();
    }
    false
}

/// True if it says that the other side went away.
pub(crate) fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(error.kind(), K::UnexpectedEof | K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe)
}
