//! `Steer`: a change of the crawl. It is committed first; then every worker goes by it; then it is confirmed.
//!
//! What a change does is decided by [`crawl::Change`], as for a crawl by one process.

use std::time::Duration;

use api::{SteerRequest, SteerResponse};
use ask::sites;
use coordination::Member;
use crawl::made::{taken_out, visited_again};
use crawl::steer::{Removed, Replaced, Retried, Taker, foreseen};
use crawl::{Affected, Change, Changed};
use engine::clock::Clock;
use model::Timestamp;
use settings::options::Options;
use settings::{Usage, usage};
use store_postgres::cluster::{Control, GoingBy};
use tokio::time::Instant;
use tonic::Status;
use weburl::UserInfo;

use super::crawling;
use super::published::{publish, read, stored, written};
use super::service::Service;
use super::setup::check;
use super::unchangeable::check_change;
use console::message::message;

/// How long an answer waits for the workers to go by a change.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How often it is looked whether they do.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The change that a request names.
///
/// # Errors
/// It names none.
pub(super) fn change_of(request: &SteerRequest) -> Result<Change, Status> {
    Change::from_words(&request.change, &request.to).map_err(wrong)
}

/// Makes a change.
///
/// # Errors
/// It cannot be used, or the database failed.
pub(super) async fn make(service: &Service, change: Change) -> Result<SteerResponse, Status> {
    match &change {
        Change::Seeds(urls) => {
            if urls.iter().any(|url| UserInfo::of(url).is_some()) {
                return Err(wrong(usage(
                    "a seed with a user name or password is for AddSeeds, which keeps the secret",
                )));
            }
            crawling::add(service, urls).await?;
        }
        Change::Stop => {
            let members = members_to_stop(service).await?;
            service.ask(move |control| members.iter().try_for_each(|member| control.drain(member.id))).await?;
        }
        _ => {}
    }
    let mut notes = notes(service, &change).await?;
    notes.extend(queue(service, &change).await?);
    let changes = [change];
    let (at, GoingBy { going, behind }) = loop {
        let (number, plan) = service.in_force().await?;
        if let Some(made) = make_after(service, number, &plan.options, &changes).await? {
            break made;
        }
    };
    Ok(SteerResponse { at: at.to_rfc3339(), workers: going, workers_behind: behind, notes, ..SteerResponse::default() })
}

/// Makes changes of settings, all or none, if nothing was changed after the change of this number: then `None`. Says when they were made, and
/// which workers go by them.
///
/// # Errors
/// One of them cannot be used, or the database failed.
pub(super) async fn make_after(
    service: &Service,
    number: i64,
    before: &Options,
    changes: &[Change],
) -> Result<Option<(Timestamp, GoingBy)>, Status> {
    let (mut options, mut settings, mut texts) = (before.clone(), None, Vec::new());
    for change in changes {
        let mut replaced = None;
        if let Some(after) = options_after(change, &options).map_err(wrong)? {
            replaced = Replaced::by(change, &options, &after).map_err(wrong)?;
            settings = Some(stored(&after).map_err(wrong)?);
            options = after;
        }
        texts.push(written(change, replaced).map_err(|error| Status::internal(message(error)))?);
    }
    let at = Clock::start().date();
    let made = service.ask(move |control| control.change(number, settings.as_deref(), at, &texts)).await?;
    let Some(number) = made else { return Ok(None) };
    let going_by = followed(service, number).await?;
    if let Err(error) = service.ask(|control| Ok(publish(control))).await? {
        console::say!("the archive has earlier settings still: {error:#}");
    }
    changes.iter().for_each(|change| console::say!("changed: {change}"));
    Ok(Some((at, going_by)))
}

/// Makes a change of the queue, and says what it comes to. Workers learn of it by hints: each reads the queues of its sites again.
async fn queue(service: &Service, change: &Change) -> Result<Option<String>, Status> {
    Ok(match change {
        Change::Retry(words) => {
            let (retried, plan) = (Retried::read(words).map_err(wrong)?, service.plan().await?);
            // The database gives the hints of a round itself.
            let (_, urls) = service.change_queue(move |control| retried.begin(control, &plan.settings)).await?;
            Some(visited_again(urls))
        }
        Change::Remove(words) => {
            let (removed, now) = (Removed::read(words).map_err(wrong)?, Clock::start().date());
            let removing = move |control: &Control| {
                let (sites, urls) = removed.commit(control, now)?;
                control.hint(&sites)?;
                Ok(urls)
            };
            Some(taken_out(service.change_queue(removing).await?))
        }
        _ => None,
    })
}

/// The last changes, the oldest first. Those that a later version made are left out.
pub(super) async fn last(service: &Service, max: usize) -> Result<Vec<Changed>, Status> {
    Ok(read(service.ask(move |control| control.changes(max)).await?))
}

/// The options after a change; `None` if it changes none.
fn options_after(change: &Change, before: &Options) -> anyhow::Result<Option<Options>> {
    // Before anything is made of it: a client must not learn what is in files of this machine.
    check_change(change)?;
    let Some(changed) = change.plan(before)? else { return Ok(None) };
    check(&changed.options, None)?;
    Ok(Some(changed.options))
}

/// Waits until all live workers go by a change, or for [`WAIT_MAX`].
async fn followed(service: &Service, number: i64) -> Result<GoingBy, Status> {
    let until = Instant::now() + WAIT_MAX;
    loop {
        let going_by = service.ask(move |control| control.going_by(number)).await?;
        if going_by.behind == 0 || Instant::now() >= until {
            return Ok(going_by);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The workers that a stop concerns.
///
/// # Errors
/// There are none. A worker that joins later is not stopped.
async fn members_to_stop(service: &Service) -> Result<Vec<Member>, Status> {
    let members = service.ask(Control::members).await?;
    match members.is_empty() {
        true => Err(Status::failed_precondition(
            "no worker is there, so there is nothing to stop: `pause` counts for workers that join later, too",
        )),
        false => Ok(members),
    }
}

/// What somebody should know of a change.
async fn notes(service: &Service, change: &Change) -> Result<Vec<String>, Status> {
    let change = change.clone();
    service.ask(move |control| sites::unknown_of(control, &change)).await
}

/// Counts what a change would affect.
///
/// # Errors
/// As [`make`].
pub(super) async fn affected(service: &Service, change: Change) -> Result<SteerResponse, Status> {
    if change == Change::Stop {
        members_to_stop(service).await?;
    }
    let mut notes = notes(service, &change).await?;
    let (_, plan) = service.in_force().await?;
    options_after(&change, &plan.options).map_err(wrong)?;
    let count = move |control: &Control| {
        let affected = Affected::by(&change, &plan.options, control, Taker::Server);
        Ok(affected.and_then(|affected| Ok((affected, foreseen(&change, &plan.options, control, Taker::Server)?))))
    };
    let (Affected { queued, fetched, again, added }, foreseen) =
        service.count(count).await?.map_err(|error| match error.is::<Usage>() {
            true => wrong(error),
            false => Status::unavailable(message(format_args!("{error:#}"))),
        })?;
    notes.extend(foreseen);
    Ok(SteerResponse { queued, fetched, again, added, notes, ..SteerResponse::default() })
}

fn wrong(error: anyhow::Error) -> Status {
    Status::invalid_argument(message(format_args!("{error:#}")))
}
