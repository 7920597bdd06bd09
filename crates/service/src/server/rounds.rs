//! `Again`: a round begins, in which workers visit known pages again.

use api::{AgainRequest, AgainResponse};
use crawl::importance::{Importance, Important};
use crawl::{Again, Notice, Schedule};
use engine::clock::Clock;
use settings::plan;
use settings::units::Span;
use tonic::Status;

use super::service::Service;
use console::message::message;

/// Chooses the pages of a round. The database has them in the queues of their sites when this ends, and the owners of the sites know.
///
/// # Errors
/// The request is wrong, or the database failed; then the same request goes on with the same round.
pub(super) async fn begin(service: &Service, request: AgainRequest) -> Result<AgainResponse, Status> {
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
    let settings = service.plan().await?;
    let notice = service
        .ask(move |control| {
            let now = Clock::start().date();
            match usize::try_from(visits).unwrap_or(usize::MAX) {
                0 => Again { older_than: Some(age), only, now }.begin(control, &settings.settings),
                visits => {
                    let delay = settings.settings.site_rules.politeness.delay;
                    let schedule = Schedule { important, visits, every: age, delay, now };
                    match schedule.going_on(control, &settings.settings)? {
                        Some(going_on) => Ok(going_on),
                        None => schedule.begin(control, &settings.settings),
                    }
                }
            }
        })
        .await?;
    Ok(match notice {
        Notice::RoundBegun { round, urls } => AgainResponse { round, urls, begun: true },
        Notice::RoundGoesOn { round, urls } => AgainResponse { round, urls, begun: false },
        _ => AgainResponse::default(),
    })
}
