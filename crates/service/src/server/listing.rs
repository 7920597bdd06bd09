//! `Urls`: the URLs of the crawl by site, state or pattern, in the order of their keys or of a column.

use api::{InOrder, Url, UrlsRequest, UrlsResponse};
use ask::order::{Order, Sorting};
use ask::urls::{GivenChoice, KeyPart, Listed, NO_SEED, Selection, State, VisitChoice};
use engine::clock::Clock;
use settings::plan;
use tonic::Status;

use super::service::Service;
use crate::sortings::{SORTED_MAX, SoFar, Stage};
use console::message::message;

/// URLs in an answer, unless the request says otherwise, and at most.
const URLS_DEFAULT: u32 = 1_000;
const URLS_MAX: u32 = 10_000;

/// A page of the URLs that a request chooses.
///
/// # Errors
/// The request is wrong, or the database failed.
pub(super) async fn urls(service: &Service, request: UrlsRequest) -> Result<UrlsResponse, Status> {
    let selection = selection(service, &request).await?;
    let max = if request.limit == 0 { URLS_DEFAULT } else { request.limit.min(URLS_MAX) } as usize;
    if !request.order.is_empty() {
        return in_order(service, selection, request, max).await;
    }
    if request.behind > 0 {
        return Err(Status::invalid_argument("behind: it counts URLs of an order, and there is none"));
    }
    let after = match request.after.as_str() {
        "" => None,
        text => Some(Service::url(&*service.plan().await?, text)?.key()),
    };
    let page = service.ask(move |control| selection.page(control, after, max)).await?;
    Ok(UrlsResponse {
        urls: page.urls.into_iter().map(listed).collect(),
        next: page.next.map(|next| next.to_string()).unwrap_or_default(),
        in_order: None,
    })
}

/// The URLs that a request chooses.
async fn selection(service: &Service, request: &UrlsRequest) -> Result<Selection, Status> {
    let UrlsRequest { site, states, patterns, status, depth, only_counted, as_reported, key, .. } = request;
    let status = status.map(u16::try_from).transpose().map_err(|_| wrong(&"status: a status has three digits"))?;
    let sites = service.sites(site).await?.into_iter().collect();
    let (depth, only_counted, as_reported) = (*depth, *only_counted, *as_reported);
    let mut selection = Selection { sites, status, depth, only_counted, as_reported, ..Selection::default() };
    for word in states {
        selection.states.extend(State::named(word).map_err(|error| wrong(&error))?);
    }
    let pattern = |text: &String| plan::pattern("patterns", text);
    selection.patterns = patterns.iter().map(pattern).collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
    let [bytes_min, bytes_max] = [request.size_min, request.size_max].map(bytes);
    let given = GivenChoice {
        content_type: &request.content_type,
        title: &request.title,
        bytes_min: &bytes_min,
        bytes_max: &bytes_max,
        since: &request.since,
        until: &request.until,
        reached: &request.reached,
    };
    selection.visit = VisitChoice::of(given, Clock::start().date()).map_err(|error| wrong(&error))?;
    if !key.is_empty() {
        let part = key.parse::<KeyPart>().map_err(|error| wrong(&format_args!("the key: {error}")))?;
        selection.key = Some(part);
    }
    if request.of_seed_sites {
        let chosen = service.ask(move |control| selection.of_seed_sites(control)).await?;
        return chosen.ok_or_else(|| wrong(&NO_SEED));
    }
    Ok(selection)
}

/// The same in an order, as far as they are sorted. The pages behind the first are of the table that the first was of.
async fn in_order(
    service: &Service,
    selection: Selection,
    request: UrlsRequest,
    max: usize,
) -> Result<UrlsResponse, Status> {
    let order = request.order.parse::<Order>().map_err(|error| wrong(&format_args!("the order: {error}")))?;
    if !request.after.is_empty() {
        return Err(wrong(&"after: in an order, `behind` counts the URLs before a page"));
    }
    let behind = request.behind as usize;
    let question = UrlsRequest { behind: 0, limit: 0, ..request };
    let stage = service.sorted(question, behind > 0, move || Sorting::new(selection, order, SORTED_MAX)).await?;
    match stage {
        Stage::Busy => Err(Status::resource_exhausted("as many tables as may be are being sorted: try again later")),
        Stage::Looking(SoFar { looked_at, found }) => {
            let in_order = Some(InOrder { looked_at, found, ..InOrder::default() });
            Ok(UrlsResponse { in_order, ..UrlsResponse::default() })
        }
        Stage::Sorted(first) => {
            let urls = first.rows.iter().skip(behind).take(max).cloned().map(listed).collect();
            let in_order = InOrder { complete: true, looked_at: 0, found: first.of, kept: first.rows.len() as u64 };
            Ok(UrlsResponse { urls, in_order: Some(in_order), ..UrlsResponse::default() })
        }
    }
}

fn wrong(why: &dyn std::fmt::Display) -> Status {
    Status::invalid_argument(message(why))
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
