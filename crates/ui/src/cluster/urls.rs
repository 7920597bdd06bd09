//! The URLs of the crawl by site, state and pattern: as a table in pages, and as files.

use api::{InOrder as Progress, LinkingRequest, UrlsRequest, UrlsResponse};
use ask::links::Linking;
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use service::client::UNSORTED;
use service::sortings::SoFar;

use crate::failure::Failure;
use crate::files::{File, Format};
use crate::filter::{Filter, Next};
use crate::frame;
use crate::query::{Fields, number};
use crate::rows::{InOrder, IsLinked, Page, Row, URLS_ON_PAGE, table};
use crate::urls::{LINKING_PAGES_SHOWN, too_many_files};

use super::server::Server;

/// URLs of a file that the server is asked for at once.
const URLS_AT_ONCE: u32 = 10_000;

/// The request for all URLs of a filter, in the order of sites.
///
/// # Errors
/// A number is none.
fn request(filter: &Filter, after: &str, limit: u32) -> anyhow::Result<UrlsRequest> {
    let [size_min, size_max] = [number("least size", &filter.bytes[0])?, number("greatest size", &filter.bytes[1])?];
    let [since, until] = filter.visited.clone();
    Ok(UrlsRequest {
        site: filter.site.clone(),
        states: filter.states.clone(),
        patterns: filter.patterns.clone(),
        after: after.to_owned(),
        limit,
        status: filter.status()?.map(u32::from),
        depth: filter.depth()?,
        only_counted: true,
        as_reported: !filter.reported.is_empty(),
        key: filter.key.clone(),
        content_type: filter.content_type.clone(),
        title: filter.title.clone(),
        size_min,
        size_max,
        since,
        until,
        reached: filter.reached.clone(),
        of_seed_sites: !filter.seeds.is_empty(),
        ..UrlsRequest::default()
    })
}

/// Answers with a page of the table.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let filter = Filter::of(&fields);
    let order = filter.order()?.map(|order| order.to_string()).unwrap_or_default();
    let is_sorted = !order.is_empty();
    let behind: u32 = fields.get("behind").parse().ok().filter(|_| is_sorted).unwrap_or_default();
    let after = if is_sorted { "" } else { fields.get("after") };
    let request = UrlsRequest { order, behind, ..request(&filter, after, URLS_ON_PAGE as u32)? };
    let answer = server.ask(async |mut client| client.urls(request).await).await?;
    if is_sorted && answer.in_order.is_none() {
        return Err(Failure::Unanswered(UNSORTED.to_owned()));
    }
    let mut page = page(answer, behind as usize);
    if !filter.linked.is_empty() && !page.rows.is_empty() {
        page.linking = linked(&server, &mut page.rows).await?;
    }
    Ok(frame::page("URLs", "/urls", &table(&filter, &page)))
}

/// Adds to rows the pages that link to them, as the workers know them together.
async fn linked(server: &Server, rows: &mut [Row]) -> Result<IsLinked, Failure> {
    let urls = rows.iter().map(|row| row.url.clone()).collect();
    let request = LinkingRequest { urls, pages_max: LINKING_PAGES_SHOWN as u32 };
    match server.ask_all(async |mut client| client.linking(request).await).await {
        Ok(answer) => {
            for (row, api::Linking { links, pages }) in rows.iter_mut().zip(answer.linking) {
                row.linking = Some(Linking { links, pages }).filter(|linking| linking.links > 0);
            }
            Ok(IsLinked::Told)
        }
        // The URLs are told by the state, whether or not there are workers.
        Err(Failure::Unready(why) | Failure::Unanswered(why)) => Ok(IsLinked::Untold(why)),
        Err(failure) => Err(failure),
    }
}

/// The page that an answer fills, behind so many URLs of an order.
fn page(UrlsResponse { urls, next, in_order }: UrlsResponse, behind: usize) -> Page {
    let rows: Vec<Row> = urls.into_iter().map(Row::from).collect();
    let (next, order) = match in_order {
        None => (Next::after(Some(next)), InOrder::AsTheyAre),
        Some(Progress { complete: false, looked_at, found, .. }) => {
            (Next::None, InOrder::Looking { so_far: SoFar { looked_at, found }, behind })
        }
        Some(Progress { found, kept, .. }) => {
            (Next::behind(behind, rows.len(), kept), InOrder::Sorted { behind, kept, of: found })
        }
    };
    Page { rows, next, seen: None, linking: IsLinked::Unasked, order }
}

/// Answers with all chosen URLs as CSV.
pub(super) async fn csv(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(server, query, Format::Csv).await
}

/// Answers with all chosen URLs as JSON lines.
pub(super) async fn jsonl(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(server, query, Format::Jsonl).await
}

/// Answers with all chosen URLs as Parquet.
pub(super) async fn parquet(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    file(server, query, Format::Parquet).await
}

/// Streams all chosen URLs, as many answers of the server as it takes. If the server gives no answer any more, the file ends early, and its
/// transfer is broken off.
async fn file(server: Server, query: Option<String>, format: Format) -> Result<Response, Failure> {
    let filter = Filter::of(&Fields::parse(&query.unwrap_or_default()));
    let Ok(place) = server.files().try_acquire_owned() else { return Err(too_many_files()) };
    // What cannot be chosen is refused before a file begins.
    let mut answer = ask(&server, &filter, "").await?;
    let (mut file, sent) = File::begin(format)?;
    tokio::spawn(async move {
        let _place = place;
        loop {
            let UrlsResponse { urls, next, .. } = answer;
            let rows: Vec<Row> = urls.into_iter().map(Row::from).collect();
            if !file.send(&rows, next.is_empty()).await || next.is_empty() {
                return;
            }
            answer = match ask(&server, &filter, &next).await {
                Ok(answer) if answer.next == next => {
                    return file.fail(anyhow::anyhow!("the server lists no URL after {next}")).await;
                }
                Ok(answer) => answer,
                Err(failure) => return file.fail(anyhow::anyhow!("{}", failure.text())).await,
            };
        }
    });
    Ok(sent)
}

async fn ask(server: &Server, filter: &Filter, after: &str) -> Result<UrlsResponse, Failure> {
    let request = request(filter, after, URLS_AT_ONCE)?;
    server.ask(async |mut client| client.urls(request).await).await
}
