//! From the errors of sockets, TLS and HTTP to the kinds of failure, in words a person understands.

use std::error::Error;
use std::io;
use std::net::SocketAddr;

use model::{Failure, FailureKind};

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
        Some(rustls::Error::InvalidCertificate(reason)) => certificate(host, reason),
        Some(other) => other.to_string(),
        None if is_end(error) => "connection closed during the handshake".to_owned(),
        None => error.to_string(),
    };
    failure(FailureKind::Tls, format!("TLS: {detail}"))
}

fn certificate(host: &str, error: &rustls::CertificateError) -> String {
    use rustls::CertificateError as E;
    match error {
        E::NotValidForName | E::NotValidForNameContext { .. } => format!("certificate not valid for name {host}"),
        E::UnknownIssuer => format!("certificate of {host} was issued by an authority that is not trusted"),
        E::Expired | E::ExpiredContext { .. } => format!("certificate of {host} has expired"),
        E::NotValidYet | E::NotValidYetContext { .. } => format!("certificate of {host} is not valid yet"),
        other => format!("certificate of {host}: {other}"),
    }
}

/// What hyper says when there is no whole head: whether it is no HTTP, or the connection ended.
pub(crate) fn no_head(error: &hyper::Error, any_byte_came: bool) -> Failure {
    if error.is_parse_too_large() {
        return failure(FailureKind::HeadTooLarge, "answer's head has too many fields or bytes");
    }
    let broken_http2 = error.source().is_some_and(|source| source.downcast_ref::<io::Error>().is_none());
    if error.is_parse() || (broken_http2 && !error.is_closed() && !error.is_canceled()) {
        return failure(FailureKind::Protocol, format!("answer is not HTTP: {}", chain(error)));
    }
    let detail = if any_byte_came { "connection ended within the answer's head" } else { "closed without an answer" };
    failure(FailureKind::Disconnected, detail)
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

/// True where the error, or one that caused it, says that the other side went away.
pub(crate) fn is_disconnect(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(inner) = next {
        if inner.downcast_ref::<io::Error>().is_some_and(is_end)
            || inner.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
        {
            return true;
        }
        next = inner.source();
    }
    false
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind as K;
    matches!(error.kind(), K::UnexpectedEof | K::ConnectionReset | K::ConnectionAborted | K::BrokenPipe)
}
