//! `Urls`: the URLs of the crawl by site, state or pattern.

use api::{Url, UrlsRequest, UrlsResponse};
use ask::urls::{Listed, Selection, State};
use settings::plan;
use tonic::Status;

use super::service::Service;
use console::message::message;

/// URLs in an answer, unless the request says otherwise, and at most.
const URLS_DEFAULT: u32 = 1_000;
const URLS_MAX: u32 = 10_000;

/// A page of the URLs that a request chooses.
///
/// # Errors
/// The request is wrong, or the database failed.
pub(super) async fn urls(service: &Service, request: UrlsRequest) -> Result<UrlsResponse, Status> {
    let UrlsRequest { site, states, patterns, after, limit, status, depth, only_counted, as_reported } = request;
    let wrong = |why: &dyn std::fmt::Display| Status::invalid_argument(message(why));
    let status = status.map(u16::try_from).transpose().map_err(|_| wrong(&"status: a status has three digits"))?;
    let sites = service.sites(&site).await?.into_iter().collect();
    let mut selection = Selection { sites, status, depth, only_counted, as_reported, ..Selection::default() };
    for word in &states {
        selection.states.extend(State::named(word).map_err(|error| wrong(&error))?);
    }
    let pattern = |text: &String| plan::pattern("patterns", text);
    selection.patterns = patterns.iter().map(pattern).collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    let after = match after.as_str() {
        "" => None,
        text => Some(Service::url(&*service.plan().await?, text)?.key()),
    };
    let max = if limit == 0 { URLS_DEFAULT } else { limit.min(URLS_MAX) } as usize;
    let page = service.ask(move |control| selection.page(control, after, max)).await?;
    Ok(UrlsResponse {
        urls: page.urls.into_iter().map(listed).collect(),
        next: page.next.map(|next| next.to_string()).unwrap_or_default(),
    })
}

fn listed(Listed { url, depth, state, visit }: Listed) -> Url {
    let told = Url { url: url.to_string(), state: state.as_str().to_owned(), depth, ..Url::default() };
    match visit {
        None => told,
        Some(visit) => {
            let fetched_at = if visit.was_asked_for() { visit.at.0 as f64 / 1e6 } else { 0.0 };
            Url {
                status: u32::from(visit.status),
                reason: visit.reason,
                fetched_at,
                content_type: visit.content_type.unwrap_or_default(),
                length: visit.length,
                title: visit.title.unwrap_or_default(),
                ..told
            }
        }
    }
}
