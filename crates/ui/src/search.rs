//! The pages that have a text, as `argiope search` finds them.

use ask::since::time;
use ask::{CONTEXT_CHARS, QueriedCrawl, sites};
use axum::extract::{RawQuery, State};
use axum::response::Html;
use crawl::opened::Opened;
use engine::clock::Clock;
use graph::{Crew, Only, Pattern, Search, SearchResult, Within};
use maud::html;
use printable::{Printable, counted};
use settings::site_name::SiteName;
use settings::usage;

use crate::base::to;
use crate::failure::Failure;
use crate::query::Fields;
use crate::{Ui, frame, links};

/// Pages shown, unless more are asked for, and at most.
pub(crate) const PAGES_SHOWN: usize = 100;
pub(crate) const PAGES_MAX: usize = 10_000;
/// The fields of the form.
pub(crate) const FIELDS: [&str; 6] = ["q", "site", "since", "case", "regex", "main"];

/// What is searched for, as it was given.
struct Asked {
    text: String,
    ignore_case: bool,
    regex: bool,
    main_text: bool,
    site: String,
    since: String,
    limit: usize,
}

impl Asked {
    fn of(fields: &Fields) -> Self {
        let get = |name| fields.get(name).to_owned();
        let is_set = |name| !fields.get(name).is_empty();
        Asked {
            text: get("q"),
            ignore_case: is_set("case"),
            regex: is_set("regex"),
            main_text: is_set("main"),
            site: get("site"),
            since: get("since"),
            limit: fields.limit(PAGES_SHOWN, PAGES_MAX),
        }
    }

    /// # Errors
    /// A part of it cannot be used.
    fn search(&self) -> anyhow::Result<Search> {
        let read = if self.regex { Pattern::regex } else { Pattern::text };
        let pattern = read(&self.text, self.ignore_case).map_err(|error| usage(error.to_string()))?;
        let mut only = Only::default();
        if !self.site.is_empty() {
            only.sites = self.site.parse::<SiteName>().map_err(usage)?.keys().collect();
        }
        if !self.since.is_empty() {
            only.since = Some(time(&self.since, Clock::start().date())?);
        }
        let within = Within::main_text(self.main_text);
        Ok(Search { pattern, within, only, limit: Some(self.limit), context: Some(CONTEXT_CHARS) })
    }
}

/// Answers with the pages that have the text `q`.
pub(crate) async fn show(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    let asked = Asked::of(&fields);
    let found = match asked.text.as_str() {
        "" => None,
        _ => {
            let search = asked.search()?;
            let site = asked.site.clone();
            Some(ui.large(&ui.large, move |crawl| find(crawl.now()?.as_ref(), search.clone(), &site)).await?)
        }
    };
    let body = html! {
        form.filter role="search" action=(to("/search")) {
            label { "Text on the page" input type="search" name="q" value=(asked.text) required; }
            label { "Site" input type="text" name="site" value=(asked.site) placeholder="example.org"; }
            label { "Fetched since" input type="text" name="since" value=(asked.since) placeholder="7d or 2026-11-21"; }
            label.tick { input type="checkbox" name="case" value="any" checked[asked.ignore_case]; "ignore case" }
            label.tick { input type="checkbox" name="regex" value="yes" checked[asked.regex]; "regular expression" }
            label.tick { input type="checkbox" name="main" value="only" checked[asked.main_text]; "main text only" }
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
            (links::more("/search", &fields.of(FIELDS), rows.len(), pages, PAGES_MAX))
        }
    };
    Ok(frame::page("Search", "/search", &body))
}

fn find(opened: &Opened, search: Search, site: &str) -> anyhow::Result<SearchResult> {
    let named =
        if site.is_empty() { None } else { sites::unknown(opened.view(), site, search.only.sites.iter().copied())? };
    if let Some(unknown) = named {
        return Err(unknown.into());
    }
    let crawl = QueriedCrawl::of(opened)?;
    Ok(graph::search([&crawl.layout], search, Crew::threads(1))?)
}
