//! The report: as a page whose numbers lead to their URLs, as the file that `argiope report --html` writes, and its tables as CSV.

use std::sync::Arc;

use anyhow::Context;
use ask::freshness::Freshness;
use ask::urls::{FAILED, State as UrlState};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use crawl::standing::Standing;
use dataset::Layout;
use engine::clock::Clock;
use maud::{Markup, html};
use printable::{Printable, counted, write_csv_line};
use report::{Behind, Chosen, Column, Kind, Statistics, Table, shown, tables};
use serde_json::Value;

use crate::awaited::made_in_time;
use crate::base::to;
use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::{Ui, blocking, frame, links};

/// The file has its own policy in its head, which knows its script and its style by their hashes; a browser applies this one too.
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
/// Rows of a table that are shown at once; the others are folded.
const ROWS_OPEN: usize = 25;
/// Rows of a table in the page. Its file has all that the report keeps.
const ROWS_MAX: usize = 200;

impl Ui {
    /// The statistics of the crawl: they read all of it.
    async fn statistics(&self) -> Result<Arc<Statistics>, Failure> {
        let kept = self.statistics.clone();
        let read = move |crawl: &Standing| {
            let opened = crawl.with_dataset()?;
            kept.answer(crawl, &opened, |opened| {
                let (view, layout) = (opened.view(), Layout::at(opened.dir.dataset()));
                let (root, is_running) = (opened.dir.root().display().to_string(), opened.completes_dataset()?);
                let mut statistics = Statistics::of(view, &layout, &root, is_running)?;
                statistics.freshness = Freshness::of(view, Clock::start().date())?;
                Ok(statistics)
            })
        };
        self.large(&self.reports, read).await
    }
}

/// Answers with the report as a page.
pub(crate) async fn show(State(ui): State<Ui>) -> Result<Html<String>, Failure> {
    let all = ui.clone();
    let statistics = made_in_time(&ui.counting, async move { all.statistics().await }).await?;
    Ok(page(statistics.as_deref()))
}

/// The report as a page, or what there is to see while it is counted.
pub(crate) fn page(statistics: Option<&Statistics>) -> Html<String> {
    let Some(statistics) = statistics else {
        let body = html! {
            // The script opens this page again until the report is there.
            div #awaited data-reread=(to("/report")) {
                p role="status" { "The report is being counted. A large crawl takes a minute." }
                p { a href=(to("/report")) { "Look again" } }
            }
        };
        return frame::page("Report", "/report", &body);
    };
    let body = html! {
        p.actions {
            a href=(to("/report.html")) { "The report as one file" }
            " has the charts" @if statistics.picture.is_some() { ", and the picture of the links between the most linked pages" } "."
        }
        @if let Some(missing) = &statistics.missing { p.note { (Printable(missing)) } }
        div.tables { @for table in &tables(statistics) { (section(table)) } }
    };
    frame::page("Report", "/report", &body)
}

fn section(table: &Table) -> Markup {
    let in_page = &table.rows[..table.rows.len().min(ROWS_MAX)];
    let (open, folded) = in_page.split_at(in_page.len().min(ROWS_OPEN));
    let left_out = table.total - in_page.len() as u64;
    html! {
        section id=(table.id) {
            h2 { (table.title) }
            @if !table.note.is_empty() { p.count { (table.note) } }
            @let unlisted = unlisted(table, in_page);
            @if !unlisted.is_empty() { p.count { "Numbers without a list: " (unlisted.join("; ")) "." } }
            (rows(table, open, table.title))
            @if !folded.is_empty() {
                details {
                    summary { (counted(folded.len() as u64, "more row")) }
                    (rows(table, folded, &format!("{}, more rows", table.title)))
                    @if left_out > 0 { p { (left_out.to_string()) " more are not in this page." } }
                }
            }
            p.actions {
                a href=(with_fields("/report.csv", &[("table", table.id)])) download aria-label=(format!("{} as CSV", table.title)) { "CSV" }
                @if table.total > table.rows.len() as u64 { " of the first " (table.rows.len()) " of " (table.total) " rows" }
            }
        }
    }
}

/// Why some numbers of these rows have no list, each reason once.
fn unlisted(table: &Table, rows: &[Vec<Value>]) -> Vec<&'static str> {
    let is_of_numbers = |at: usize| table.columns.get(at).is_some_and(|column| is_number(column.kind));
    let mut reasons = Vec::new();
    for row in rows {
        for (at, value) in row.iter().enumerate().filter(|(at, _)| is_of_numbers(*at)) {
            if let Err(why) = (table.behind)(row, at)
                && value.as_f64().is_some_and(|number| number > 0.0)
                && !reasons.contains(&why)
            {
                reasons.push(why);
            }
        }
    }
    reasons
}

const fn is_number(kind: Kind) -> bool {
    !matches!(kind, Kind::Text | Kind::Url)
}

fn rows(table: &Table, rows: &[Vec<Value>], name: &str) -> Markup {
    let class = |column: &Column| is_number(column.kind).then_some("number");
    html! {
        div.rows role="region" aria-label=(name) tabindex="0" {
            table {
                thead { tr { @for column in &table.columns { th scope="col" class=[class(column)] { (column.label) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, (value, column)) in row.iter().zip(&table.columns).enumerate() {
                                td class=[class(column)] { (cell((table, row, at), value, column.kind)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cell((table, row, at): (&Table, &[Value], usize), value: &Value, kind: Kind) -> Markup {
    let counts_any = is_number(kind) && value.as_f64().is_some_and(|number| number > 0.0);
    match (value.as_str(), (table.behind)(row, at)) {
        (Some(url), _) if kind == Kind::Url => links::story(url),
        (_, Ok(behind)) if counts_any => html! { a href=(list(&behind)) { (shown(value, kind)) } },
        _ => html! { (shown(value, kind)) },
    }
}

/// The list of what a number counts; of URLs that failed with the pages that link to them.
fn list(behind: &Behind) -> String {
    let links = |url: &str, place| format!("{}#{place}", with_fields("/url", &[("u", url)]));
    match behind {
        Behind::Urls(chosen) => urls(chosen),
        Behind::Rows(table) => format!("#{table}"),
        Behind::LinksTo(url) => links(url, "links-to"),
        Behind::LinksFrom(url) => links(url, "links-from"),
        Behind::Copies(url) => with_fields("/url/copies", &[("u", url)]),
    }
}

fn urls(chosen: &Chosen) -> String {
    let Chosen { site, state, status, depth, content_type, reached, is_answered, of_seed_sites } = chosen;
    let yes = |is_so: bool| if is_so { "yes" } else { "" };
    with_fields(
        "/urls",
        &[
            ("site", site),
            ("seeds", yes(*of_seed_sites)),
            ("state", state),
            ("status", status),
            ("depth", depth),
            ("type", content_type),
            // Whatever was answered has a size.
            ("size_min", if *is_answered { "0" } else { "" }),
            ("reached", reached),
            ("linked", yes(is_error(state))),
            ("reported", "yes"),
        ],
    )
}

/// True for what was requested without success, all of it or of one kind.
fn is_error(state: &str) -> bool {
    let failed = UrlState::named(FAILED).unwrap_or_default();
    state == FAILED || UrlState::named(state).is_ok_and(|states| states.is_subset(&failed))
}

/// Answers with the report as one file.
pub(crate) async fn file(State(ui): State<Ui>) -> Result<Response, Failure> {
    whole(ui.statistics().await?).await
}

/// The report as one file.
pub(crate) async fn whole(statistics: Arc<Statistics>) -> Result<Response, Failure> {
    let page = blocking(move || String::from_utf8(report::html(&statistics)?).context("the report")).await?;
    Ok(([(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))], Html(page)).into_response())
}

/// Answers with all rows of one table as CSV (RFC 4180).
pub(crate) async fn csv(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let fields = Fields::parse(&query.unwrap_or_default());
    rows_of(&*ui.statistics().await?, fields.get("table"))
}

/// All rows of the table with this name, as CSV.
pub(crate) fn rows_of(statistics: &Statistics, name: &str) -> Result<Response, Failure> {
    let all = tables(statistics);
    let Some(table) = all.iter().find(|table| table.id == name) else {
        return Err(Failure::NotFound("the report has no such table".to_owned()));
    };
    let mut out = Vec::new();
    let labels = table.columns.iter().map(|column| column.label.into());
    // Writing to a vector cannot fail.
    let _ = write_csv_line(&mut out, labels);
    for row in &table.rows {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let cells = row.iter().map(|value| if value.is_null() { "".into() } else { text(value).into() });
        let _ = write_csv_line(&mut out, cells);
    }
    Ok(([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], out).into_response())
}
