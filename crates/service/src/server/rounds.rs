//! `Again`: a round begins, in which workers visit known pages again.

use api::{AgainRequest, AgainResponse, SiteUrls};
use crawl::again::going_on;
use crawl::chosen::Chosen;
use crawl::importance::{Importance, Important};
use crawl::{Again, Notice, Schedule};
use engine::clock::Clock;
use settings::plan;
use settings::units::Span;
use store::StoreError;
use store_postgres::cluster::Control;
use tonic::Status;

use super::service::Service;
use console::message::message;

/// Sites that are named of a round before it begins.
const SITES_TOLD: usize = 20;

/// Chooses the pages of a round, or counts them. The database has them in the queues of their sites when this ends, and the owners of the sites know.
///
/// # Errors
/// The request is wrong, or the database failed; then the same request goes on with the same round.
pub(super) async fn begin(service: &Service, request: AgainRequest) -> Result<AgainResponse, Status> {
    let wrong = |why: String| Status::invalid_argument(message(why));
    let AgainRequest { older_than, only, visits, importance, dry_run } = request;
    let Span(age) = Span::of_seconds(older_than).map_err(|error| wrong(format!("older_than: {error}")))?;
    if visits > 0 && !only.is_empty() {
        return Err(wrong("visits and only: a schedule chooses from all pages".to_owned()));
    }
    let patterns = only.iter().map(|text| plan::pattern("only", text)).collect::<anyhow::Result<Vec<_>>>();
    let only = patterns.map_err(|error| Status::invalid_argument(message(error)))?;
    let important = match importance.as_str() {
        "" => Important::Equal,
        word => match Importance::among(&Importance::OF_STATE, word).map_err(wrong)? {
            Importance::Depth => Important::Depth,
            _ => Important::Equal,
        },
    };
    let settings = service.plan().await?;
    service
        .ask(move |control| {
            let (settings, now) = (&settings.settings, Clock::start().date());
            match usize::try_from(visits).unwrap_or(usize::MAX) {
                0 => {
                    let again = Again { older_than: Some(age), only, now };
                    match going_on(control)? {
                        Some(going_on) => Ok(told(going_on)),
                        None if dry_run => foreseen(&again.foreseen(control)?, control),
                        None => again.begin(control, settings).map(told),
                    }
                }
                visits => {
                    let delay = settings.site_rules.politeness.delay;
                    let schedule = Schedule { important, visits, every: age, delay, now };
                    match schedule.going_on(control, settings)? {
                        Some(going_on) => Ok(told(going_on)),
                        None if dry_run => foreseen(&schedule.foreseen(control, settings)?, control),
                        None => schedule.begin(control, settings).map(told),
                    }
                }
            }
        })
        .await
}

fn told(notice: Notice) -> AgainResponse {
    match notice {
        Notice::RoundBegun { round, urls } => AgainResponse { round, urls, begun: true, ..AgainResponse::default() },
        Notice::RoundGoesOn { round, urls } => AgainResponse { round, urls, ..AgainResponse::default() },
        _ => AgainResponse::default(),
    }
}

fn foreseen(chosen: &Chosen, control: &Control) -> Result<AgainResponse, StoreError> {
    if chosen.urls == 0 {
        return Ok(AgainResponse::default());
    }
    let by_site = chosen.by_site(control, SITES_TOLD)?.into_iter();
    Ok(AgainResponse {
        round: chosen.round,
        urls: chosen.urls,
        begun: false,
        would_begin: true,
        by_site: by_site.map(|(site, urls)| SiteUrls { site, urls }).collect(),
    })
}
