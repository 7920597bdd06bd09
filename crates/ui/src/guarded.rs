//! What protects all screens: which page may ask, how long a form may be, and the policy of each answer. Every refusal is a page.
//! Texts are compressed on their way.

use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{from_fn, map_response};
use axum::response::Response;
use axum::routing::Router;

use crate::compressed::compressed;
use crate::failure::{Failure, refusal};
use crate::{frame, origin};

/// Bytes of a form, at most. Up to sixteen of them are kept, each with the page that it led to.
const FORM_BYTES_MAX: usize = 2 << 20;

/// The screens, with a page for paths that none of them has.
pub(crate) fn guarded(screens: Router) -> Router {
    screens
        .fallback(missing)
        .method_not_allowed_fallback(missing)
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(map_response(as_page))
        .layer(map_response(async |response| frame::protected(response)))
        .layer(from_fn(origin::check))
        .layer(from_fn(compressed))
}

/// The page for a path that no screen has, or that only takes a form.
pub(crate) async fn missing() -> Failure {
    Failure::NotFound("there is no such page".to_owned())
}

/// A form that cannot be read is refused by a line of text, before any screen sees it: here is the page.
async fn as_page(response: Response) -> Response {
    const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
    let status = response.status();
    match (status, response.headers().get(header::CONTENT_TYPE) == Some(&TEXT)) {
        (StatusCode::PAYLOAD_TOO_LARGE, true) => {
            refusal(status, &format!("the form is longer than {FORM_BYTES_MAX} bytes: nothing was done"))
        }
        (StatusCode::BAD_REQUEST, true) => refusal(status, "the form is no text in UTF-8: nothing was done"),
        _ => response,
    }
}
