//! `Report`: what the crawl came to. The state tells what became of the URLs, and the workers what the pages contain.

use api::ReportResponse;
use ask::freshness::Freshness;
use engine::clock::Clock;
use report::{Gathered, ReportError, Statistics, seed_sites};
use store::{CrawlView, Store};
use store_postgres::cluster::Control;
use tonic::Status;

use super::service::Service;
use crate::queries::ContentsRequest;
use console::message::message;

/// What is missing where the workers did not tell what the pages contain; `{}` stands for the reason.
const MISSING: &str =
    "images, links, near duplicates and the picture of links are missing, since the workers did not tell them: {}";
const MISSING_NEAR: &str = "near duplicates are missing: there are too many pages to compare. `argiope report DIR` has them, of an archive that is a directory";

/// Counts, one report at a time: it reads all URLs, and the datasets of all workers.
///
/// # Errors
/// The database failed.
pub(super) async fn report(service: &Service) -> Result<ReportResponse, Status> {
    let turn = service.report_turn().await?;
    let (gathered, missing) = match gathered(service).await {
        Ok(gathered) => {
            let missing = gathered.near_is_missing().then(|| MISSING_NEAR.to_owned());
            (Some(gathered), missing)
        }
        Err(why) => (None, Some(MISSING.replace("{}", why.message()))),
    };
    let counted = service
        .ask(move |control| {
            // Until it is counted, though nobody waits for it any more.
            let _turn = turn;
            count(control, gathered, missing)
        })
        .await?;
    let statistics = counted.map_err(|error| Status::internal(message(format_args!("{error:#}"))))?;
    let statistics = serde_json::to_string(&statistics).map_err(|error| Status::internal(message(error)))?;
    Ok(ReportResponse { statistics })
}

/// What the workers tell together.
async fn gathered(service: &Service) -> Result<Gathered, Status> {
    let seed_sites = service
        .ask(|control| match seed_sites(control) {
            Err(ReportError::Store(error)) => Err(error),
            seed_sites => Ok(seed_sites),
        })
        .await?;
    let seed_sites = seed_sites.map_err(|error| Status::internal(message(error)))?;
    Ok(service.put(ContentsRequest { seed_sites }).await?.into_inner())
}

/// All numbers of the state are of one moment. Those of pages are of the moment before, when the workers told them.
fn count(
    control: &Control,
    gathered: Option<Gathered>,
    missing: Option<String>,
) -> Result<anyhow::Result<Statistics>, store::StoreError> {
    let view = control.view()?;
    let view: &dyn CrawlView = view.as_ref();
    let statistics = match Statistics::of_state(view, gathered, missing) {
        Err(ReportError::Store(error)) => return Err(error),
        Err(error) => return Ok(Err(error.into())),
        Ok(statistics) => statistics,
    };
    let freshness = Freshness::of(view, Clock::start().date())?;
    Ok(Ok(Statistics { freshness, ..statistics }))
}
