//! The pages that have a text, as the workers find them together.

use api::SearchRequest;
use axum::extract::{RawQuery, State};
use axum::response::Html;
use maud::html;
use printable::{Printable, counted};

use crate::failure::Failure;
use crate::query::Fields;
use crate::search::{FIELDS, PAGES_MAX, PAGES_SHOWN};
use crate::{frame, links};

use super::server::Server;
use super::times::since;

/// Answers with the pages that have the text `q`.
pub(super) async fn show(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let is_set = |name| !fields.get(name).is_empty();
    let request = SearchRequest {
        text: fields.get("q").to_owned(),
        ignore_case: is_set("case"),
        regex: is_set("regex"),
        limit: fields.limit(PAGES_SHOWN, PAGES_MAX) as u32,
        main_text: is_set("main"),
        site: fields.get("site").to_owned(),
        since: since(fields.get("since"))?,
    };
    let found = match fields.get("q") {
        "" => None,
        _ => {
            let request = request.clone();
            Some(server.ask_all(async |mut client| client.search(request).await).await?)
        }
    };
    let body = html! {
        form.filter role="search" action="/search" {
            label { "Text on the page" input type="search" name="q" value=(request.text) required; }
            label { "Site" input type="text" name="site" value=(request.site) placeholder="example.org"; }
            label { "Fetched since" input type="text" name="since" value=(fields.get("since")) placeholder="7d or 2026-11-21"; }
            label.tick { input type="checkbox" name="case" value="any" checked[request.ignore_case]; "ignore case" }
            label.tick { input type="checkbox" name="regex" value="yes" checked[request.regex]; "regular expression" }
            label.tick { input type="checkbox" name="main" value="only" checked[request.main_text]; "main text only" }
            button { "Search" }
        }
        @if let Some(answer) = &found {
            p role="status" {
                (counted(answer.pages, "page")) ", " (counted(answer.occurrences, "occurrence"))
                @if answer.pages > answer.found.len() as u64 { ", the first " (answer.found.len()) " of them shown" }
            }
            ol.found {
                @for row in &answer.found {
                    li {
                        (links::story(&row.url)) " " span.count { (row.occurrences) }
                        @if !row.context.is_empty() { p { (Printable(&row.context)) } }
                    }
                }
            }
            (links::more("/search", &fields.of(FIELDS), answer.found.len(), answer.pages, PAGES_MAX))
        }
    };
    Ok(frame::page("Search", "/search", &body))
}
