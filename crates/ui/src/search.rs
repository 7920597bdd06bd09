//! The pages that have a text, as `argiope search` finds them.

use ask::{CONTEXT_CHARS, QueriedCrawl};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use graph::{Crew, Pattern, Search, SearchResult};
use maud::html;
use printable::{Printable, counted};
use settings::usage;

use crate::failure::Failure;
use crate::query::Fields;
use crate::{Ui, frame, links};

/// Pages shown.
const PAGES_MAX: usize = 100;

/// Answers with the pages that have the text `q`.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let (text, ignore_case) = (fields.get("q").to_owned(), !fields.get("case").is_empty());
    let found = match text.as_str() {
        "" => None,
        text => {
            let text = text.to_owned();
            Some(ui.large(&ui.large, move |crawl| find(crawl.root(), &text, ignore_case)).await?)
        }
    };
    let body = html! {
        form.filter role="search" action="/search" {
            label { "Text on the page" input type="search" name="q" value=(text) required; }
            label.tick { input type="checkbox" name="case" value="any" checked[ignore_case]; "ignore case" }
            button { "Search" }
        }
        @if let Some(SearchResult { pages, occurrences, rows }) = found {
            p role="status" {
                (counted(pages, "page")) ", " (counted(occurrences, "occurrence"))
                @if pages > rows.len() as u64 { ", the first " (rows.len()) " of them shown" }
            }
            ol.found {
                @for row in &rows {
                    li {
                        (links::story(&row.url)) " " span.count { (row.occurrences) }
                        @if let Some(context) = &row.context { p { (Printable(context)) } }
                    }
                }
            }
        }
    };
    Ok(frame::page("Search", "/search", &body))
}

fn find(root: &std::path::Path, text: &str, ignore_case: bool) -> anyhow::Result<SearchResult> {
    let pattern = Pattern::text(text, ignore_case).map_err(|error| usage(error.to_string()))?;
    let crawl = QueriedCrawl::open(root)?;
    let search = Search { pattern, limit: Some(PAGES_MAX), context: Some(CONTEXT_CHARS) };
    Ok(graph::search([&crawl.layout], search, Crew::threads(1))?)
}
