//! Which pages may ask, and which may send a form.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::failure::Failure;

/// Where a request comes from and what for, by the browser's own word (W3C Fetch Metadata Request Headers).
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Lets a request through that no page of another site sent, or that is a link to a page here. A foreign page can neither change anything
/// nor keep the crawl busy with images and frames. What is no browser follows no foreign page.
pub(crate) async fn check(request: Request<Body>, next: Next) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_own(&request) || (is_read && is_visit(&request)) {
        next.run(request).await
    } else {
        Failure::Foreign.into_response()
    }
}

fn value<'r>(request: &'r Request<Body>, name: &HeaderName) -> Option<&'r [u8]> {
    request.headers().get(name).map(HeaderValue::as_bytes)
}

/// The browser says where the request comes from. Older ones name the origin of the page alone, in forms (RFC 6454 §7).
fn is_own(request: &Request<Body>) -> bool {
    if let Some(site) = value(request, &SEC_FETCH_SITE) {
        return matches!(site, b"same-origin" | b"none");
    }
    let host = value(request, &header::HOST).unwrap_or_default();
    let is_of_host = |origin: &[u8]| origin.strip_prefix(b"http://").or(origin.strip_prefix(b"https://")) == Some(host);
    value(request, &header::ORIGIN).is_none_or(is_of_host)
}

/// Somebody followed a link.
fn is_visit(request: &Request<Body>) -> bool {
    let is = |name, expect: &[u8]| value(request, &name) == Some(expect);
    is(SEC_FETCH_MODE, b"navigate") && is(SEC_FETCH_DEST, b"document")
}
