//! `Again`: a round begins, in which workers visit known pages again. `ForeseeAgain`: the same, only counted.

use api::{AgainRequest, AgainResponse, SiteUrls};
use crawl::again::going_on;
use crawl::chosen::Chosen;
use crawl::importance::{Importance, Important};
use crawl::{Again, Notice, Schedule};
use engine::Settings;
use engine::clock::Clock;
use settings::plan;
use settings::units::Span;
use store::StoreError;
use store_postgres::cluster::Control;
use tonic::Status;

use super::service::Service;
use console::message::message;

/// Chooses the pages of a round. The database has them in the queues of their sites when this ends, and the owners of the sites know.
///
/// # Errors
/// The request is wrong, or the database failed; then the same request goes on with the same round.
pub(super) async fn begin(service: &Service, request: AgainRequest) -> Result<AgainResponse, Status> {
    let plan = service.plan().await?;
    let asked = Asked::of(request, &plan.settings)?;
    service
        .change_queue(move |control| match asked.going_on(control, &plan.settings)? {
            Some(going_on) => Ok(told(going_on)),
            None => asked.begin(control, &plan.settings).map(told),
        })
        .await
}

/// Counts the URLs that [`begin`] would choose.
///
/// # Errors
/// As [`begin`].
pub(super) async fn foresee(service: &Service, request: AgainRequest) -> Result<AgainResponse, Status> {
    let plan = service.plan().await?;
    let asked = Asked::of(request, &plan.settings)?;
    service
        .count(move |control| match asked.going_on(control, &plan.settings)? {
            Some(going_on) => Ok(told(going_on)),
            None => foreseen(&asked.foreseen(control, &plan.settings)?, control),
        })
        .await
}

/// The pages that a request asks for.
enum Asked {
    /// All that match.
    All(Again),
    /// Those whose visits are worth most.
    Best(Schedule),
}

impl Asked {
    fn of(request: AgainRequest, settings: &Settings) -> Result<Self, Status> {
        let wrong = |why: String| Status::invalid_argument(message(why));
        let AgainRequest { older_than, only, visits, importance } = request;
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
        let now = Clock::start().date();
        Ok(match usize::try_from(visits).unwrap_or(usize::MAX) {
            0 => Asked::All(Again { older_than: Some(age), only, now }),
            visits => {
                let delay = settings.site_rules.politeness.delay;
                Asked::Best(Schedule { important, visits, every: age, delay, now })
            }
        })
    }

    fn going_on(&self, control: &Control, settings: &Settings) -> Result<Option<Notice>, StoreError> {
        match self {
            Asked::All(_) => going_on(control),
            Asked::Best(schedule) => schedule.going_on(control, settings),
        }
    }

    fn begin(&self, control: &Control, settings: &Settings) -> Result<Notice, StoreError> {
        match self {
            Asked::All(again) => again.begin(control, settings),
            Asked::Best(schedule) => schedule.begin(control, settings),
        }
    }

    fn foreseen(&self, control: &Control, settings: &Settings) -> Result<Chosen, StoreError> {
        match self {
            Asked::All(again) => again.foreseen(control, settings),
            Asked::Best(schedule) => schedule.foreseen(control, settings),
        }
    }
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
    let by_site = chosen.by_site(control)?.into_iter();
    Ok(AgainResponse {
        round: chosen.round,
        urls: chosen.urls,
        begun: false,
        would_begin: true,
        by_site: by_site.map(|(site, urls)| SiteUrls { site, urls }).collect(),
        on_hold: chosen.on_hold,
    })
}
