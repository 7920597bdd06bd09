//! Which pages may send a form.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;

/// Where a request comes from, by the browser's own word (Fetch Metadata).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Lets a request through that changes nothing, or that no page of another site sent. Browsers name the page's origin in each form that
/// they send (RFC 6454 §7); what is no browser follows no link of a foreign page.
pub(crate) async fn check(request: Request<Body>, next: Next) -> Response {
    if matches!(*request.method(), Method::GET | Method::HEAD) || is_own(&request) {
        return next.run(request).await;
    }
    Failure::Foreign.into_response()
}

fn is_own(request: &Request<Body>) -> bool {
    let value = |name: &HeaderName| request.headers().get(name).map(HeaderValue::as_bytes);
    let is_of_host = |origin: &[u8]| {
        let host = value(&header::HOST).unwrap_or_default();
        origin.strip_prefix(b"http://").or(origin.strip_prefix(b"https://")) == Some(host)
    };
    value(&header::ORIGIN).is_none_or(is_of_host) && value(&SEC_FETCH_SITE).is_none_or(|site| site == b"same-origin")
}
