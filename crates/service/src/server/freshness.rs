//! `Freshness`: how fresh the pages of the crawl are.

use api::{ChangeRate, FreshnessResponse};
use ask::freshness::{Freshness, Rate};
use engine::clock::Clock;
use tonic::Status;

use super::service::Service;

/// The estimate as of now; without a page if none was visited a second time.
///
/// # Errors
/// The database failed.
pub(super) async fn freshness(service: &Service) -> Result<FreshnessResponse, Status> {
    let now = Clock::start().date();
    let estimate = service.ask(move |control| Freshness::of(control, now)).await?;
    Ok(estimate.map_or_else(FreshnessResponse::default, |estimate| FreshnessResponse {
        pages: estimate.pages,
        read: estimate.read,
        fresh: estimate.fresh,
        visited_days_ago: estimate.visited_days_ago,
        age_days: estimate.age_days,
        visits_again: estimate.visits_again,
        changes: estimate.changes,
        sites: estimate.sites.into_iter().map(rate).collect(),
        paths: estimate.paths.into_iter().map(rate).collect(),
    }))
}

fn rate(Rate { of, pages, days_between_changes, fresh, visits_again, changes }: Rate) -> ChangeRate {
    ChangeRate { of, pages, days_between_changes, fresh, visits_again, changes }
}
