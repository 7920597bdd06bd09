//! What the crawl has of a page beside its story: its rows in the dataset, what each visit recorded, pictures, and URLs with the same content.

use std::borrow::Cow;

use ask::page::{
    self, Answer, Copies, PICTURES, PageRows, Recorded, STRUCTURED_ROWS_MAX, TEXTS, Text, VALUE_BYTES_MAX,
};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use crawl::opened::Opened;
use crawl::standing::Standing;
use dataset::Layout;
use maud::{Markup, html};
use model::PictureKind;
use printable::{Printable, counted};
use serde_json::Value;
use settings::plan::Plan;
use store::Entry;
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::verbatim::verbatim;
use crate::{Ui, frame, links};

/// Characters of a value of a row that are shown.
const VALUE_CHARS_SHOWN: usize = 2_000;
/// A character has four bytes at most. So what is shown of a value that is cut ends with an ellipsis, like that of any longer value.
const _: () = assert!(4 * (VALUE_CHARS_SHOWN + 1) <= VALUE_BYTES_MAX - 3);
/// URLs with the same content that are shown.
pub(crate) const COPIES_SHOWN: usize = 200;
pub(crate) const COPIES_MAX: usize = 2_000;

/// A URL of the crawl, and which of its visits is asked for.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) url: String,
    /// The date of the visit; empty for the last one.
    pub(crate) at: String,
}

impl Asked {
    /// # Errors
    /// No URL is given.
    pub(crate) fn of(query: Option<String>) -> anyhow::Result<(Self, Fields)> {
        let fields = Fields::parse(&query.unwrap_or_default());
        Ok((Asked { url: fields.needed("u", "URL")?, at: fields.get("at").to_owned() }, fields))
    }

    /// The URL with the visit.
    ///
    /// # Errors
    /// As [`page::visited`].
    fn entry(&self, opened: &Opened) -> anyhow::Result<Entry> {
        let rules = || Ok(Plan::new(&opened.options()?)?.settings.canonical);
        page::visited(opened.view(), rules, &self.url, &self.at)
    }
}

/// Links between what the crawl has of a URL.
pub(crate) fn elsewhere(url: &CanonicalUrl) -> Markup {
    let to = |path| with_fields(path, &[("u", url.as_str())]);
    html! {
        p.actions {
            a href=(to("/url")) { "Story" } " · "
            a href=(to("/url/row")) { "Row and text" } " · "
            a href=(to("/url/record")) { "Request, answer and source" } " · "
            a href=(to("/url/copies")) { "Same content" }
        }
    }
}

/// Answers with the rows of `u` in the dataset.
pub(crate) async fn row(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (asked, _) = Asked::of(query)?;
    let (url, rows) = ui
        .large(&ui.large, move |crawl: &Standing| {
            let opened = crawl.with_dataset()?;
            let url = asked.entry(&opened)?.candidate.url;
            let layout = Layout::at(opened.dir.dataset());
            let rows = layout.exists().then(|| PageRows::of(&layout, url.key())).transpose()?;
            Ok((url, rows))
        })
        .await?;
    Ok(with_rows(&url, rows.as_ref().ok_or("The crawl has no dataset.")))
}

/// The page with the rows of a URL, or with the reason why there are none.
pub(crate) fn with_rows(url: &CanonicalUrl, rows: Result<&PageRows, &str>) -> Html<String> {
    let body = html! {
        (links::headed(url)) (elsewhere(url))
        @match rows {
            Err(why) => { p { (Printable(why)) } }
            Ok(PageRows { page: None, .. }) => { p { "The dataset has no row of it: it was not visited as a page." } }
            Ok(PageRows { page: Some(page), cut, structured, structured_count, .. }) => {
                (table("Row", page.iter().filter(|(column, _)| !TEXTS.contains(&column.as_str()))))
                @for (column, title) in TEXTS.into_iter().zip(["Main text", "Text"]) {
                    @if let Some(Value::String(text)) = page.get(column) {
                        (verbatim(title, &Text { text: text.clone(), is_cut: cut.iter().any(|cut| cut == column) }))
                    }
                }
                @for (at, row) in structured.iter().enumerate() {
                    (table(&format!("Data for machines, {}", at + 1), row.iter()))
                }
                @if *structured_count > structured.len() {
                    p { "… " (structured_count.saturating_sub(STRUCTURED_ROWS_MAX)) " more" }
                }
            }
        }
    };
    frame::page(&format!("Row of {url}"), "/url", &body)
}

/// Columns that have a value.
fn table<'a>(title: &str, columns: impl Iterator<Item = (&'a String, &'a Value)>) -> Markup {
    html! {
        section {
            h2 { (title) }
            div.rows role="region" aria-label=(title) tabindex="0" {
                table {
                    thead { tr { th { "Column" } th { "Value" } } }
                    tbody {
                        @for (column, value) in columns.filter(|(_, value)| !value.is_null()) {
                            @let text = words(value);
                            @let shown: String = text.chars().take(VALUE_CHARS_SHOWN).collect();
                            tr {
                                td { (Printable(column)) }
                                td { (links::told(&Printable(&shown).to_string())) @if shown.len() < text.len() { " …" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn words(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => text.into(),
        value => value.to_string().into(),
    }
}

/// Answers with what a visit of `u` recorded: the last one, or that of `at`.
pub(crate) async fn record(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (asked, _) = Asked::of(query)?;
    let (url, requests, visits, recorded) = ui
        .ask(move |crawl: &Standing| {
            let opened = crawl.now()?;
            let entry = asked.entry(&opened)?;
            let visits = page::dates(opened.view(), &entry.candidate.url)?;
            let recorded = page::recorded(&mut page::replay_of(&opened)?, &entry);
            Ok((entry.candidate.url, entry.attempts, visits, recorded))
        })
        .await?;
    Ok(with_record(&url, requests.into(), &visits, recorded.as_ref()))
}

/// The page with what a visit of a URL recorded, and the dates of all its visits. Without a visit, so many `requests` have failed.
pub(crate) fn with_record(
    url: &CanonicalUrl,
    requests: u32,
    visits: &[String],
    recorded: Option<&Recorded>,
) -> Html<String> {
    let body = html! {
        (links::headed(url)) (elsewhere(url))
        @if visits.len() > 1 {
            nav.visits aria-label="Visits" {
                @for at in visits.iter().rev() {
                    @let is_shown = recorded.is_some_and(|shown| shown.at == *at);
                    a href=(of_visit(url, at)) aria-current=[is_shown.then_some("true")] { (Printable(at)) }
                }
            }
        }
        @match recorded {
            None if requests > 0 => { p { "No visit has an outcome so far: " (counted(requests.into(), "request")) " failed, and it will be tried again." } }
            None => { p { "It waits for its first visit." } }
            Some(recorded) => (exchange(url, recorded)),
        }
    };
    frame::page(&format!("Record of {url}"), "/url", &body)
}

/// What a visit of a URL recorded, by the date of the visit.
pub(crate) fn of_visit(url: &CanonicalUrl, at: &str) -> String {
    with_fields("/url/record", &[("u", url.as_str()), ("at", at)])
}

fn exchange(url: &CanonicalUrl, recorded: &Recorded) -> Markup {
    let Recorded { at, outcome, reason, was_requested, request, answer, seen, pictures, failure } = recorded;
    html! {
        p.date { (Printable(at)) ", " (Printable(outcome)) @if !reason.is_empty() { ": " (Printable(reason)) } }
        (shown(url, at, pictures))
        @if let Some(failure) = failure { p.failure { (Printable(failure)) } }
        @if let Some(request) = request { (verbatim("Request", request)) }
        @match answer {
            None if failure.is_some() => {}
            None if !was_requested => { p { "It was judged without a request." } }
            None => { p { "The archive has no answer of this visit." } }
            Some(Answer { head, source, payload_bytes }) => {
                (verbatim("Answer", head))
                @if let Some(seen) = seen { (verbatim("The page as a browser showed it", seen)) }
                @match source {
                    Some(source) => (verbatim("Source", source)),
                    None => { p { (counted(*payload_bytes, "byte")) " that are no text." } }
                }
            }
        }
    }
}

/// What a reader calls a picture.
fn title(kind: PictureKind) -> &'static str {
    match kind {
        PictureKind::View => "The page in its window",
        PictureKind::FullPage => "The whole page",
        PictureKind::Thumbnail => "Small picture",
        PictureKind::Pdf => "The page as printed (PDF)",
    }
}

/// The pictures that the visit of a date took of a page.
pub(crate) fn shown(url: &CanonicalUrl, at: &str, pictures: &[PictureKind]) -> Markup {
    let to = |name| with_fields("/url/picture", &[("u", url.as_str()), ("at", at), ("kind", name)]);
    let has = |kind: &PictureKind| pictures.contains(kind);
    let preview = [PictureKind::Thumbnail, PictureKind::View, PictureKind::FullPage].into_iter().find(has);
    html! {
        @if !pictures.is_empty() {
            figure.page-picture {
                @for (kind, name) in PICTURES {
                    @if preview == Some(kind) { img src=(to(name)) alt="The page as a browser showed it"; }
                }
                figcaption {
                    @for (kind, name) in PICTURES { @if has(&kind) { a href=(to(name)) { (title(kind)) } " " } }
                }
            }
        }
    }
}

/// Answers with a picture of `u`: a file.
pub(crate) async fn picture(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let (asked, fields) = Asked::of(query)?;
    let kind = page::picture_kind(fields.get("kind"))?;
    let bytes = ui
        .ask(move |crawl: &Standing| {
            let opened = crawl.now()?;
            Ok(page::replay_of(&opened)?.picture(&asked.entry(&opened)?, kind)?)
        })
        .await?;
    let bytes = bytes.ok_or_else(|| Failure::NotFound("the crawl took no such picture of it".to_owned()))?;
    Ok(as_file(kind, bytes))
}

/// A picture as a file.
pub(crate) fn as_file(kind: PictureKind, bytes: Vec<u8>) -> Response {
    let mut response = bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.media_type()));
    if kind == PictureKind::Pdf {
        // Its own scripts and links do not belong to the interface.
        let as_file = HeaderValue::from_static("attachment; filename=\"page.pdf\"");
        response.headers_mut().insert(header::CONTENT_DISPOSITION, as_file);
    }
    response
}

/// Answers with the URLs that have the same content as `u`.
pub(crate) async fn copies(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (asked, fields) = Asked::of(query)?;
    let max = fields.limit(COPIES_SHOWN, COPIES_MAX);
    let (url, found) = ui
        .large(&ui.large, move |crawl: &Standing| {
            let opened = crawl.with_dataset()?;
            let url = asked.entry(&opened)?.candidate.url;
            let layout = Layout::at(opened.dir.dataset());
            let found = match layout.exists() {
                true => page::copies(opened.view(), &layout, &url, max)?,
                false => None,
            };
            Ok((url, found))
        })
        .await?;
    Ok(with_copies(&url, found.as_ref()))
}

/// The page with the URLs that have the same content as a URL; `None` if there is nothing that says so.
pub(crate) fn with_copies(url: &CanonicalUrl, found: Option<&Copies>) -> Html<String> {
    let body = html! {
        (links::headed(url)) (elsewhere(url))
        @match found {
            None => { p { "The crawl has no dataset." } }
            Some(Copies { count: 0, is_part: true, .. }) => {
                p { "Of the URLs looked at, none has the same content any more; others were not looked at." }
            }
            Some(Copies { count: 0, .. }) => { p { "No other URL has exactly the same content." } }
            Some(Copies { original, urls, count, is_part }) => {
                p {
                    "Found first at " (links::story(original)) ", then at "
                    @if *is_part { "at least " }
                    (counted(*count as u64, "other URL")) ":"
                }
                ul.links { @for url in urls { li { (links::story(url)) } } }
                (links::more("/url/copies", &[("u", url.as_str())], urls.len(), *count as u64, COPIES_MAX))
            }
        }
    };
    frame::page(&format!("Same content as {url}"), "/url", &body)
}
