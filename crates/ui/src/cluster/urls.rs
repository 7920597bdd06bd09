//! The URLs of the crawl by site, state and pattern: as a table in pages, and as files.

use api::{UrlsRequest, UrlsResponse};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use settings::usage;

use crate::failure::Failure;
use crate::files::{File, Format};
use crate::filter::{Filter, Next};
use crate::frame;
use crate::query::Fields;
use crate::rows::{Asks, InOrder, Page, Row, URLS_ON_PAGE, table};
use crate::urls::too_many_files;

use super::server::Server;

/// URLs of a file that the server is asked for at once.
const URLS_AT_ONCE: u32 = 10_000;

/// # Errors
/// A number is none, or the filter asks for what the API does not have.
fn request(filter: &Filter, after: &str, limit: u32) -> anyhow::Result<UrlsRequest> {
    if !filter.sort.is_empty() {
        return Err(usage("a server cannot sort its table: it is in the order of sites. Sort the file"));
    }
    if !filter.key.is_empty() {
        return Err(usage("a server does not find URLs by their keys"));
    }
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Ok(UrlsRequest {
        site: filter.site.clone(),
        states: given(&filter.state).into_iter().collect(),
        patterns: given(&filter.pattern).into_iter().collect(),
        after: after.to_owned(),
        limit,
        status: filter.status()?.map(u32::from),
        depth: filter.depth()?,
        only_counted: true,
        as_reported: !filter.reported.is_empty(),
    })
}

/// Answers with a page of the table.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let filter = Filter::of(&fields);
    let request = request(&filter, fields.get("after"), URLS_ON_PAGE as u32)?;
    let UrlsResponse { urls, next } = server.ask(async |mut client| client.urls(request).await).await?;
    let page = Page {
        rows: urls.into_iter().map(Row::from).collect(),
        next: Next::after(Some(next)),
        seen: None,
        has_links: false,
        order: InOrder::AsTheyAre,
    };
    Ok(frame::page("URLs", "/urls", &table(&filter, Asks::OfServer, &page)))
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
            let UrlsResponse { urls, next } = answer;
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
