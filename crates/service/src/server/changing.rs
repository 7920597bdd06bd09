//! `Changes`: what visits found changed.

use api::{ChangesRequest, ChangesResponse, PageChange};
use ask::changes::{Changed, ChangesError, Question, Since, last_round};
use engine::clock::Clock;
use model::Timestamp;
use tonic::Status;

use super::explaining::seconds;
use super::service::Service;
use console::message::message;

/// Changes in an answer, unless the request says otherwise, and at most.
const CHANGES_DEFAULT: u32 = 1_000;
const CHANGES_MAX: u32 = 10_000;

/// The changes that a request chooses.
///
/// # Errors
/// The request is wrong, there is only one round, or the database failed.
pub(super) async fn changes(service: &Service, request: ChangesRequest) -> Result<ChangesResponse, Status> {
    let ChangesRequest { since, site, limit } = request;
    let max = if limit == 0 { CHANGES_DEFAULT } else { limit.min(CHANGES_MAX) } as usize;
    let sites = service.sites(&site).await?;
    if !(since.is_finite() && since >= 0.0) {
        return Err(Status::invalid_argument(message(format_args!("since: {since} is no time in seconds since 1970"))));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time; later ones than there are end at the last"
    )]
    let time = Timestamp((since * 1e6) as u64);
    let answer = service
        .ask(move |control| {
            let now = Clock::start().date();
            let since = match (time, last_round(control)?) {
                (Timestamp(0), None) => return Ok(None),
                (Timestamp(0), Some(round)) => Since::Round(round.number),
                (from, _) => Since::Time { from, now },
            };
            let question = Question { since, through: None, sites, pages: None };
            let mut answer = ChangesResponse::default();
            let counted = ask::changes::changes(control, &question, &mut |changed| {
                match answer.changes.len() < max {
                    true => answer.changes.push(told(changed)),
                    false => answer.left_out += 1,
                }
                Ok(())
            });
            let counts = match counted {
                Ok(counts) => counts,
                Err(ChangesError::Store(error)) => return Err(error),
                // Nothing is written.
                Err(_) => Default::default(),
            };
            answer.counts = counts.into_iter().map(|(change, count)| (change.to_string(), count)).collect();
            Ok(Some(answer))
        })
        .await?;
    answer.ok_or_else(|| {
        Status::failed_precondition(
            "the crawl had one round so far: Again begins another, `since` compares with a time",
        )
    })
}

fn told(changed: Changed) -> PageChange {
    PageChange {
        id: changed.id,
        change: changed.change.to_string(),
        url: changed.url,
        at: seconds(changed.at),
        before_at: changed.before_at.map(seconds).unwrap_or_default(),
        status: changed.status.map(u32::from).unwrap_or_default(),
        target: changed.target.unwrap_or_default(),
        probable: changed.probable,
    }
}
