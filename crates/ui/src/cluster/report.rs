//! The report, as far as the server counts it: as a page whose numbers lead to their URLs, as one file, and its tables as CSV.

use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};

use crate::failure::Failure;
use crate::query::Fields;
use crate::report_page;

use super::server::Server;

/// Answers with the report as a page.
pub(super) async fn show(State(server): State<Server>) -> Result<Html<String>, Failure> {
    Ok(report_page::page(server.statistics_in_time().await?.as_deref()))
}

/// Answers with the report as one file.
pub(super) async fn file(State(server): State<Server>) -> Result<Response, Failure> {
    report_page::whole(server.statistics().await?).await
}

/// Answers with all rows of one table as CSV.
pub(super) async fn csv(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    report_page::rows_of(&*server.statistics().await?, fields.get("table"))
}
