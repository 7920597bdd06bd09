//! `Explain`: the state of a URL, and of its site.

use api::{Changed, ExplainHostResponse, ExplainResponse, PastVisit, SiteState, Wait};
use ask::explain::{Asked, At, HostStory, Past, Why};
use ask::urls::LOOKED_AT_MAX;
use cluster::spent;
use console::message::message;
use engine::Settings;
use frontier::RobotsState;
use model::{SiteRecord, Timestamp, Via};
use settings::plan::Plan;
use store::{CrawlView, Entry, StoreError};
use store_postgres::cluster::Control;
use tonic::Status;
use weburl::CanonicalUrl;

use super::published;
use super::service::Service;

/// Visits told, the last ones.
const VISITS_TOLD: usize = 50;

/// The last changes among which those are looked for that concern a URL.
const CHANGES_LOOKED_AT_MAX: usize = 1_000;

/// Explains a URL.
///
/// # Errors
/// The text is no URL, or the database failed.
pub(super) async fn explain(service: &Service, given: &str) -> Result<ExplainResponse, Status> {
    let plan = service.plan().await?;
    let mut url = Service::url(&plan, given)?;
    let mut entry = known(service, &url).await?;
    // As by the local command: without a scheme, https is meant where that is what the crawl knows.
    if entry.is_none()
        && !given.contains("://")
        && let Ok(secure) = Service::url(&plan, &format!("https://{given}"))
        && let Some(found) = known(service, &secure).await?
    {
        (url, entry) = (secure, Some(found));
    }
    let (found_on, site) = (entry.as_ref().and_then(|entry| entry.candidate.found_on), url.key().site);
    let (found_on, waiting, record) = service
        .ask(move |control| {
            let found_on = found_on.map(|key| control.get(key)).transpose()?.flatten();
            Ok((found_on, control.waiting_on(site, LOOKED_AT_MAX + 1)?, control.site(site)?))
        })
        .await?;
    let (group, owner) = service.owner(site).await?;
    let (why, changes) = why(service, &url, entry.as_ref(), &plan).await?;
    let (before, before_in_part) = place(&why);
    let site = record.map(|record| site_state(record, &url, &plan));
    let told = ExplainResponse {
        url: url.to_string(),
        group,
        owner,
        waiting_on_site: waiting.min(LOOKED_AT_MAX) as u64,
        waiting_in_part: waiting > LOOKED_AT_MAX,
        site,
        waits: why.iter().map(wait).collect(),
        before,
        before_in_part,
        changes,
        ..Default::default()
    };
    let Some(entry) = entry else {
        return Ok(ExplainResponse { state: "unknown".to_owned(), ..told });
    };
    let is_waiting = entry.visit.is_none();
    let excluded_by = match is_waiting {
        true => excluded_by(service, &entry, &plan).await?,
        false => String::new(),
    };
    let told = ExplainResponse {
        excluded_by,
        state: "waiting".to_owned(),
        depth: entry.candidate.depth,
        found_on: found_on.map(|found_on| found_on.candidate.url.to_string()).unwrap_or_default(),
        ..told
    };
    let told = past(service, &entry, told).await?;
    Ok(match entry.visit {
        None => told,
        Some(visit) => ExplainResponse {
            state: visit.outcome.to_string(),
            status: u32::from(visit.status),
            reason: visit.reason,
            fetched_at: seconds(visit.at),
            ..told
        },
    })
}

/// Explains each site of a host.
///
/// # Errors
/// The text names no host, or the database failed.
pub(super) async fn explain_host(service: &Service, given: &str) -> Result<ExplainHostResponse, Status> {
    let (plan, given) = (service.plan().await?, given.to_owned());
    let asking = move |control: &Control| {
        let asked = asked(control, plan.settings.clone(), control.seeds()?)?;
        Ok(HostStory::named(&asked, &given).map(|story| story.ok_or(given)))
    };
    let story = service.ask(asking).await?.map_err(unavailable)?;
    let story = story.map_err(|given| Status::invalid_argument(message(format_args!("{given}: is no host"))))?;
    let as_json = serde_json::to_string(&story).map_err(|error| Status::internal(message(error)))?;
    Ok(ExplainHostResponse { story: as_json, text: story.to_text(At::Server) })
}

/// The crawl as the server sees it, with the seeds that count.
fn asked(control: &Control, settings: Settings, seeds: Vec<CanonicalUrl>) -> Result<Asked<'_>, StoreError> {
    let changes = published::read(control.changes(CHANGES_LOOKED_AT_MAX)?);
    let (alive, spent) = (control.members()?.len() as u64, spent(control.spent()?));
    Ok(Asked::of_workers(control, settings, alive, changes, seeds, spent))
}

fn unavailable(error: anyhow::Error) -> Status {
    Status::unavailable(message(format_args!("{error:#}")))
}

/// How a URL was found, and its visits.
async fn past(service: &Service, entry: &Entry, told: ExplainResponse) -> Result<ExplainResponse, Status> {
    let (key, last) = (entry.candidate.url.key(), entry.visit.clone());
    let mut visits = service.ask(move |control| control.earlier(key)).await?;
    visits.extend(last);
    let mut past = Past::of(&visits);
    if let [only] = &mut past[..] {
        only.change = None;
    }
    let before = past.len().saturating_sub(VISITS_TOLD);
    let told_of = |past: Past| PastVisit {
        at: past.at,
        round: past.round,
        outcome: past.outcome.to_owned(),
        status: past.status.map_or(0, u32::from),
        change: past.change.unwrap_or_default().to_owned(),
    };
    Ok(ExplainResponse {
        via: entry.candidate.via.as_str().to_owned(),
        visits: past.into_iter().skip(before).map(told_of).collect(),
        visits_before: before as u64,
        ..told
    })
}

/// What a URL waits for, and what was changed that concerns it.
async fn why(
    service: &Service,
    url: &CanonicalUrl,
    entry: Option<&Entry>,
    plan: &Plan,
) -> Result<(Vec<Why>, Vec<Changed>), Status> {
    let (url, entry, settings) = (url.clone(), entry.cloned(), plan.settings.clone());
    let asking = move |control: &Control| {
        let is_seed = control.count_seeds(&[url.key()])? > 0;
        let seeds = if is_seed { vec![url.clone()] } else { Vec::new() };
        let asked = asked(control, settings, seeds)?;
        let changed = |change: &crawl::Changed| Changed { at: change.at.clone(), change: change.change.to_string() };
        let mut visits = control.earlier(url.key())?;
        visits.extend(entry.iter().filter_map(|entry| entry.visit.clone()));
        let told = asked.changes_of(&url.site(), Some((&url, &visits)));
        let changes = told.changes.into_iter().map(changed).collect();
        Ok(entry.map_or(Ok(Vec::new()), |entry| asked.waiting_for(&entry)).map(|why| (why, changes)))
    };
    service.ask(asking).await?.map_err(unavailable)
}

/// How many URLs come before one that waits for this, and whether there are more.
fn place(why: &[Why]) -> (Option<u64>, bool) {
    let found = why.iter().find_map(|why| match why {
        Why::Next => Some((0, false)),
        Why::Queued { before, at_least } => Some((*before, *at_least)),
        _ => None,
    });
    found.map_or((None, false), |(before, at_least)| (Some(before), at_least))
}

fn wait(why: &Why) -> Wait {
    let (reason, until) = match why {
        Why::Held { reason, until, .. } => (reason.as_str(), until.clone().unwrap_or_default()),
        _ => ("", String::new()),
    };
    Wait { text: why.to_text(At::Server), reason: reason.to_owned(), until }
}

/// The rule by which a URL that waits ends as `excluded`, as the worker judges it when it comes to the URL; empty if none does.
async fn excluded_by(service: &Service, entry: &Entry, plan: &Plan) -> Result<String, Status> {
    let key = entry.candidate.url.key();
    let is_seed = match entry.candidate.via {
        Via::Seed | Via::Redirect => service.ask(move |control| control.count_seeds(&[key])).await? > 0,
        _ => false,
    };
    let excluded = plan.settings.excluded_since(&entry.candidate, |_| is_seed);
    Ok(excluded.map(|rule| rule.to_string()).unwrap_or_default())
}

/// A site as its record has it: what its owner goes by.
fn site_state(record: SiteRecord, url: &CanonicalUrl, plan: &Plan) -> SiteState {
    let rules = &plan.settings.site_rules;
    let mut state = frontier::SiteState::new(record.clone());
    if rules.matching.is_some() {
        state.set_robots(engine::robots_state(record.robots.as_ref(), &plan.settings));
    }
    let (delay, rule) = state.delay_by(&rules.politeness);
    let mut told = SiteState {
        due_at: seconds(record.due_at),
        delay: delay.as_secs_f64(),
        delay_rule: rule.as_str().to_owned(),
        ip_delay: rules.politeness.ip_delay.as_secs_f64(),
        failures_in_a_row: record.failures_in_a_row,
        given_up: record.given_up.is_some(),
        pages_fetched: record.pages_fetched,
        pages_max: rules.pages_per_site_max,
        ..SiteState::default()
    };
    if let Some(robots) = &record.robots {
        told.robots = robots.answer.to_string();
        told.robots_fetched_at = seconds(robots.fetched_at);
    }
    match (rules.matching, state.robots()) {
        (None, _) => (told.allowed, told.allowed_by) = (true, "robots.txt is ignored".to_owned()),
        (Some(matching), RobotsState::Known { rules, .. }) => {
            let decision = rules.decide(url.path_and_query(), matching);
            told.allowed = decision.allowed;
            told.allowed_by = decision.rule.map_or_else(|| decision.reason.to_string(), |line| line.to_string());
            told.crawl_delay = rules.crawl_delay().map(|delay| delay.as_secs_f64());
        }
        _ => {}
    }
    if let Some(aside) = record.aside {
        (told.aside_until, told.trouble) = (seconds(record.due_at), aside.reason.detail);
    } else if let Some(failure) = record.given_up {
        told.trouble = failure.detail;
    }
    told
}

/// Seconds since 1970.
pub(super) fn seconds(at: Timestamp) -> f64 {
    at.0 as f64 / 1e6
}

async fn known(service: &Service, url: &CanonicalUrl) -> Result<Option<Entry>, Status> {
    let key = url.key();
    service.ask(move |control| control.get(key)).await
}
