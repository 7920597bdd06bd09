//! `Report`: what the crawl came to, as far as its state tells.

use api::ReportResponse;
use ask::freshness::Freshness;
use dataset::Layout;
use engine::clock::Clock;
use report::{ReportError, Statistics};
use store::Store;
use store_postgres::cluster::Control;
use tonic::Status;

use super::service::Service;
use console::message::message;

/// A server has no dataset.
const NO_DATASET: &str = "/nonexistent";
const MISSING: &str = "images, links, near duplicates and the picture of links are missing: a server reads the state of the crawl alone. \
                       `argiope report DIR` has them, of an archive that is a directory";

/// Counts, one report at a time: it reads all URLs.
///
/// # Errors
/// The database failed.
pub(super) async fn report(service: &Service) -> Result<ReportResponse, Status> {
    let turn = service.report_turn().await?;
    let counted = service
        .ask(move |control| {
            // Until it is counted, though nobody waits for it any more.
            let _turn = turn;
            count(control)
        })
        .await?;
    let statistics = counted.map_err(|error| Status::internal(message(format_args!("{error:#}"))))?;
    let statistics = serde_json::to_string(&statistics).map_err(|error| Status::internal(message(error)))?;
    Ok(ReportResponse { statistics })
}

/// All numbers are of one moment.
fn count(control: &Control) -> Result<anyhow::Result<Statistics>, store::StoreError> {
    let view = control.view()?;
    let statistics = match Statistics::of(view.as_ref(), &Layout::at(NO_DATASET), "") {
        Err(ReportError::Store(error)) => return Err(error),
        Err(error) => return Ok(Err(error.into())),
        Ok(statistics) => statistics,
    };
    let freshness = Freshness::of(view.as_ref(), Clock::start().date())?;
    let missing = statistics.missing.is_some().then(|| MISSING.to_owned());
    Ok(Ok(Statistics { missing, freshness, ..statistics }))
}
