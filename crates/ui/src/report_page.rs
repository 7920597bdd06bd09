//! The report, as `argiope report --html` writes it.

use anyhow::Context;
use ask::freshness::Freshness;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use crawl::opened::Opened;
use dataset::Layout;
use engine::clock::Clock;
use report::Statistics;

use crate::Ui;
use crate::failure::Failure;

/// The page has its own policy in its head, which knows its script and its style by their hashes; a browser applies this one too.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";

/// Answers with the report.
pub(crate) async fn show(State(ui): State<Ui>) -> Result<Response, Failure> {
    let page = ui
        .large(&ui.whole, |root| {
            let opened = Opened::with_dataset(root)?;
            let layout = Layout::at(opened.dir.dataset());
            let mut statistics = Statistics::of(opened.view(), &layout, &root.display().to_string())?;
            statistics.freshness = Freshness::of(opened.view(), Clock::start().date())?;
            String::from_utf8(report::html(&statistics)?).context("the report")
        })
        .await?;
    Ok(([(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))], Html(page)).into_response())
}
