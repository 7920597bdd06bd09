//! What cannot be shown, as a page.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::html;
use printable::Printable;
use settings::Usage;

use crate::frame;

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing is there.
    NotFound(String),
    /// The request cannot be used.
    Unusable(String),
    /// Another page sent the request.
    Foreign,
    /// The crawl cannot be read or changed.
    Failed(String),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let text = format!("{error:#}");
        if error.downcast_ref::<Usage>().is_some() { Failure::Unusable(text) } else { Failure::Failed(text) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, text) = match &self {
            Failure::NotFound(text) => (StatusCode::NOT_FOUND, text.as_str()),
            Failure::Unusable(text) => (StatusCode::BAD_REQUEST, text.as_str()),
            Failure::Foreign => (StatusCode::FORBIDDEN, "a page of another site sent this: nothing was done"),
            Failure::Failed(text) => (StatusCode::INTERNAL_SERVER_ERROR, text.as_str()),
        };
        let body = html! { p.failure role="alert" { (Printable(text)) } };
        (status, frame::page("That did not work", "", &body)).into_response()
    }
}
