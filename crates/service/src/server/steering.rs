//! `Steer`: a change of the crawl. It is committed first; then every worker goes by it; then it is confirmed.
//!
//! What a change does is decided by [`crawl::Change`], as for a crawl by one process.

use std::time::Duration;

use api::{SteerCount, SteerRequest, SteerResponse, SteeredSite};
use ask::sites;
use cluster::spent;
use coordination::Member;
use crawl::made::{taken_out, visited_again};
use crawl::steer::{Counting, Removed, Replaced, Retried, Taker, foreseen};
use crawl::{Affected, Change, Changed};
use engine::clock::Clock;
use model::Timestamp;
use settings::options::Options;
use settings::{Usage, usage};
use store::CrawlView;
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
/// How long is counted for an answer that is to come at once.
const COUNTED_FOR_MAX: Duration = Duration::from_millis(600);
/// Sites that are told of what a change would affect, those with the most URLs.
const SITES_TOLD: usize = 20;
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
    let mut notes = notes(service, &change).await?;
    match &change {
        Change::Seeds(urls) => {
            if urls.iter().any(|url| UserInfo::of(url).is_some()) {
                return Err(wrong(usage(
                    "a seed with a user name or password is for AddSeeds, which keeps the secret",
                )));
            }
            notes.extend(seeds_known(service, &change).await?);
            crawling::add(service, urls).await?;
        }
        Change::Stop => {
            let members = members_to_stop(service).await?;
            service.ask(move |control| members.iter().try_for_each(|member| control.drain(member.id))).await?;
        }
        _ => {}
    }
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

/// What becomes of seeds that are known. Those that cannot be used are refused where they are added.
async fn seeds_known(service: &Service, change: &Change) -> Result<Vec<String>, Status> {
    let (plan, change) = (service.plan().await?, change.clone());
    let foreseen = move |control: &Control| Ok(foreseen(&change, &plan.options, control, (Taker::Server, None)));
    Ok(service.ask(foreseen).await?.unwrap_or_default())
}

/// Counts what a change would affect; `at_once` for a moment only.
///
/// # Errors
/// As [`make`].
pub(super) async fn affected(service: &Service, change: Change, at_once: bool) -> Result<SteerResponse, Status> {
    if change == Change::Stop {
        members_to_stop(service).await?;
    }
    let mut notes = notes(service, &change).await?;
    let (_, plan) = service.in_force().await?;
    options_after(&change, &plan.options).map_err(wrong)?;
    let count = move |control: &Control| {
        let counted = counted(&change, &plan.options, control, at_once);
        let lasts = spent(control.spent()?).lasts;
        let taker = (Taker::Server, Some(lasts));
        Ok(counted.and_then(|counted| Ok((counted, foreseen(&change, &plan.options, control, taker)?))))
    };
    let (counted, foreseen) = service.count(count).await?.map_err(|error| match error.is::<Usage>() {
        true => wrong(error),
        false => Status::unavailable(message(format_args!("{error:#}"))),
    })?;
    notes.extend(foreseen);
    Ok(SteerResponse { notes, ..counted })
}

/// What a change would affect, by a view of the crawl.
fn counted(change: &Change, options: &Options, view: &dyn CrawlView, at_once: bool) -> anyhow::Result<SteerResponse> {
    let mut counting = Counting::of(change, options, view, Taker::Server)?;
    let clock = Clock::start();
    let began = clock.now();
    while !(counting.is_complete() || at_once && clock.now().since(began) >= COUNTED_FOR_MAX) {
        counting.look_on(view)?;
    }
    let so_far = match counting.is_complete() {
        true => None,
        false => Some(SteerCount { looked_at: counting.looked_at(), known: view.totals()?.urls }),
    };
    let Affected { queued, fetched, again, added } = counting.affected();
    let by_site = counting.by_site(SITES_TOLD).into_iter();
    let by_site =
        by_site.map(|(site, Affected { queued, fetched, again, .. })| SteeredSite { site, queued, fetched, again });
    Ok(SteerResponse { queued, fetched, again, added, by_site: by_site.collect(), so_far, ..SteerResponse::default() })
}

fn wrong(error: anyhow::Error) -> Status {
    Status::invalid_argument(message(format_args!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use model::Candidate;
    use store::{Batch, MemoryStore, Store};
    use weburl::CanonicalUrl;

    use super::*;

    #[test]
    fn the_sites_with_the_most_urls_that_a_change_affects_are_told() {
        let store = MemoryStore::new();
        let url = |site: u32, n: u32| CanonicalUrl::from_canonical(&format!("http://s{site}.test/{n}")).expect("a URL");
        // Of the site `n`, so many.
        let found = (1..=25).flat_map(|site| (0..site).map(move |n| Candidate::seed(url(site, n)))).collect();
        store.commit(&Batch { found, ..Batch::default() }).expect("a commit");
        let change = Change::Pause;
        for at_once in [false, true] {
            let told = counted(&change, &Options::default(), &store, at_once).expect("counted");
            assert_eq!((told.queued, told.fetched, told.so_far), (25 * 26 / 2, 0, None));
            let by_site: Vec<_> = told.by_site.iter().map(|of| (of.site.as_str(), of.queued)).collect();
            assert_eq!((by_site.len(), by_site[0], by_site[19].1), (SITES_TOLD, ("http://s25.test", 25), 6));
        }
    }
}
