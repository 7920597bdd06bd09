//! The link graph, as the workers hold it together: ranks, the way from page to page, and the links between two domains.

use api::{OverlapRequest, PageRankRequest, PathRequest};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use maud::html;
use printable::{Printable, counted};

use crate::failure::Failure;
use crate::graph_page::{AskedRanks, FROM, ONE, OTHER, Shown, TO, forms, json, page};
use crate::query::Fields;
use crate::{frame, links};

use super::server::Server;

/// Answers with the picture, the vertices of highest rank, and the forms for ways and overlaps.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let shown = Shown::asked(query)?;
    Ok(page(shown, server.picture(shown).await?.as_deref()))
}

/// Answers with the picture for the script.
pub(super) async fn data(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    json(server.picture(Shown::asked(query)?).await?).await
}

/// Answers with the rank of a page, or with the pages of the highest ranks.
pub(super) async fn rank(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let asked = AskedRanks::of(query)?;
    let AskedRanks { url, top, by, is_normalized: normalized } = asked.clone();
    let request = PageRankRequest { url, top: top as u32, normalized, by: by.vertices().to_owned() };
    let answer = server.ask_all(async |mut client| client.page_rank(request).await).await?;
    let place = |place: u64| Some(place).filter(|place| *place > 0);
    let rows: Vec<_> = answer.ranked.into_iter().map(|row| (place(row.place), row.rank, row.url)).collect();
    Ok(asked.shown([answer.vertices, answer.edges], &rows))
}

/// Answers with the shortest way from page to page.
pub(super) async fn way(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (from, to) = (fields.needed("from", FROM)?, fields.needed("to", TO)?);
    let request = PathRequest { url1: from.clone(), url2: to.clone() };
    let answer = server.ask_all(async |mut client| client.path(request).await).await?;
    let body = html! {
        (forms(&from, &to, "", ""))
        p role="status" { (counted(answer.texts.len() as u64, "link")) "." }
        ol.links {
            @for (at, url) in answer.urls.iter().enumerate() {
                li {
                    (links::story(url))
                    @if let Some(text) = answer.texts.get(at).filter(|text| !text.is_empty()) { " “" (Printable(text)) "”" }
                }
            }
        }
    };
    Ok(frame::page("The shortest way", "/graph", &body))
}

/// Answers with the links between the domains of two pages.
pub(super) async fn between(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (one, other) = (fields.needed("one", ONE)?, fields.needed("other", OTHER)?);
    let request = OverlapRequest { url1: one.clone(), url2: other.clone(), list: true };
    let answer = server.ask_all(async |mut client| client.overlap(request).await).await?;
    let body = html! {
        (forms("", "", &one, &other))
        p role="status" { "Overlap: " (counted(answer.overlap, "link")) "." }
        ul {
            @for ((domain, pages), count) in answer.domains.iter().zip(&answer.reachable).zip(&answer.links) {
                li { (Printable(domain)) ": " (counted(*count, "link")) " from " (counted(*pages, "page")) " in reach" }
            }
        }
        (links::Between { field: "behind", pages: [&one, &other], behind: fields.behind("behind") }
            .list(&answer.edges, |edge| [&edge.source, &edge.target]))
        @if (answer.edges.len() as u64) < answer.overlap {
            p { "The server names " (answer.edges.len()) " of the links, those with the first keys." }
        }
    };
    Ok(frame::page("Links between two domains", "/graph", &body))
}
