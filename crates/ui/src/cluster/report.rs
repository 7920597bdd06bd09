//! Why there is no report, and how to have one.

use axum::response::Html;
use maud::html;

use crate::frame;

/// Answers with what makes a report.
pub(super) async fn show() -> Html<String> {
    let body = html! {
        p { "A server makes no report of its crawl. " code { "argiope report DIR" } " makes one of the archive on shared storage, where that is a directory." }
        p { a href="/" { "Overview" } " has the numbers of the crawl." }
    };
    frame::page("Report", "/report", &body)
}
