//! What cannot be shown, as a page.

use ask::UnknownUrl;
use ask::sites::Unknown;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use crawl::Unready;
use crawl::opened::is_in_use;
use maud::html;
use printable::Printable;
use service::entry;
use settings::Usage;

use crate::frame;
use crate::wording::on_page;

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the request names is not there: a page of the interface, a site or a URL that the crawl does not know.
    NotFound(String),
    /// The request cannot be used.
    Unusable(String),
    /// Another page sent the request.
    Foreign,
    /// The crawl cannot be read or changed at this moment.
    Unready(String),
    /// The server that is asked gives no answer.
    Unanswered(String),
    /// The crawl cannot be read or changed.
    Failed(String),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let text = format!("{error:#}");
        match () {
            () if error.is::<Unknown>() || error.is::<UnknownUrl>() => Failure::NotFound(text),
            () if error.is::<Usage>() => Failure::Unusable(on_page(&text)),
            () if error.is::<Unready>() || is_in_use(&error) => Failure::Unready(text),
            () => Failure::Failed(text),
        }
    }
}

impl Failure {
    /// What went wrong.
    pub(crate) fn text(&self) -> &str {
        match self {
            Failure::Unready(text)
            | Failure::NotFound(text)
            | Failure::Unusable(text)
            | Failure::Unanswered(text)
            | Failure::Failed(text) => text,
            Failure::Foreign => "a page of another site sent this: nothing was done",
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match &self {
            Failure::Unready(_) => StatusCode::CONFLICT,
            Failure::NotFound(_) => StatusCode::NOT_FOUND,
            Failure::Unusable(_) => StatusCode::BAD_REQUEST,
            Failure::Foreign => StatusCode::FORBIDDEN,
            Failure::Unanswered(_) => StatusCode::BAD_GATEWAY,
            Failure::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        };
        refusal(status, self.text())
    }
}

/// A page that says what went wrong.
pub(crate) fn refusal(status: StatusCode, text: &str) -> Response {
    let is_closed = status == StatusCode::UNAUTHORIZED;
    let body = html! {
        p.failure role="alert" { (Printable(text)) }
        @if is_closed {
            form.filter method="post" action=(entry::PATH) {
                label { "Token" input type="password" name="token" autocomplete="current-password" required; }
                button { "Enter" }
            }
        }
    };
    let title = if is_closed { "Token" } else { "That did not work" };
    frame::protected((status, frame::page(title, "", &body)).into_response())
}
