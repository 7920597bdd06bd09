//! How the crawl went since its beginning, for the chart: as JSON for the script.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use crawl::CrawlDir;
use crawl::history::Moment;

use crate::Ui;
use crate::failure::Failure;

/// Answers with the moments of the crawl, a minute from one to the next.
pub(crate) async fn data(State(ui): State<Ui>) -> Result<Response, Failure> {
    let read = |crawl: &crawl::standing::Standing| {
        let moments = Moment::all_of(&CrawlDir::existing(crawl.root())?)?;
        Ok(serde_json::to_vec(&moments)?)
    };
    let json = ui.ask(read).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}
