//! The URLs of the crawl by site, state and pattern, in pages.

use api::{Url, UrlsRequest, UrlsResponse};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::{Markup, html};
use model::Outcome;
use printable::{Printable, counted};

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{frame, links};

use super::server::Server;
use super::times::date;

/// URLs on a page.
const URLS_ON_PAGE: u32 = 100;

/// Answers with a page of the table.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let given = |name| Some(fields.get(name).to_owned()).filter(|value| !value.is_empty());
    let request = UrlsRequest {
        site: fields.get("site").to_owned(),
        states: given("state").into_iter().collect(),
        patterns: given("match").into_iter().collect(),
        after: fields.get("after").to_owned(),
        limit: URLS_ON_PAGE,
        ..UrlsRequest::default()
    };
    let page = server.ask(async |mut client| client.urls(request).await).await?;
    Ok(frame::page("URLs", "/urls", &html! { (form(&fields)) (table(&fields, &page)) }))
}

fn form(fields: &Fields) -> Markup {
    let states = std::iter::once("waiting").chain(Outcome::ALL.iter().map(|outcome| outcome.as_str()));
    html! {
        form.filter action="/urls" {
            label { "Site" input type="text" name="site" value=(fields.get("site")) placeholder="example.org"; }
            label { "State" select name="state" {
                option value="" { "any" }
                @for state in states { option value=(state) selected[state == fields.get("state")] { (state) } }
            } }
            label { "Pattern" input type="text" name="match" value=(fields.get("match")) placeholder="*/docs/*"; }
            button { "Filter" }
        }
        p.count { "The server lists URLs in the order of their sites, without sizes, types and titles. " code { "argiope client urls --all --json" } " makes a file of them." }
    }
}

fn table(fields: &Fields, UrlsResponse { urls, next }: &UrlsResponse) -> Markup {
    let after = with_fields(
        "/urls",
        &[
            ("site", fields.get("site")),
            ("state", fields.get("state")),
            ("match", fields.get("match")),
            ("after", next),
        ],
    );
    html! {
        @if urls.is_empty() { p role="status" { @if next.is_empty() { "No URL." } @else { "No URL so far: the server has looked at a part of them." } } } @else {
            div.scroll role="region" aria-label="URLs" tabindex="0" {
                table {
                    thead { tr { th { "URL" } th { "State" } th.number { "Status" } th.number { "Depth" } th { "Visited" } th { "Reason" } } }
                    tbody { @for url in urls { (row(url)) } }
                }
            }
            p.count { (counted(urls.len() as u64, "URL")) " on this page." }
        }
        @if !next.is_empty() { p { a rel="next" href=(after) { @if urls.is_empty() { "Look on" } @else { "Next page" } } } }
    }
}

fn row(Url { url, state, status, reason, depth, fetched_at, .. }: &Url) -> Markup {
    html! {
        tr {
            td { (links::story(url)) }
            td { (state) }
            td.number { @if *status > 0 { (status) } }
            td.number { (depth) }
            td.date { (date(*fetched_at)) }
            td { (Printable(reason)) }
        }
    }
}
