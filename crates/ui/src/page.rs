//! What the crawl has of a page beside its story: its rows in the dataset, what each visit recorded, pictures, and URLs with the same content.

use std::borrow::Cow;

use ask::page::{self, Copies, PageRows, Recorded, STRUCTURED_ROWS_MAX};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use crawl::opened::Opened;
use crawl::standing::Standing;
use dataset::Layout;
use maud::{Markup, html};
use model::{PictureKind, Visit};
use printable::{Printable, counted};
use serde_json::Value;
use settings::usage;
use store::Entry;
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::query::{Fields, with_fields};
use crate::verbatim::{SHOWN_BYTES_MAX, verbatim};
use crate::{Ui, frame, links};

/// Characters of a value of a row that are shown.
const VALUE_CHARS_SHOWN: usize = 2_000;
/// URLs with the same content that are shown.
const COPIES_SHOWN: usize = 200;
/// The columns with the texts of a page, and their titles: each is shown by itself.
const TEXTS: [(&str, &str); 2] = [("main_text", "Main text"), ("text", "Text")];
/// The pictures of a page: what a request calls each, and what a reader does.
const PICTURES: [(PictureKind, &str, &str); 4] = [
    (PictureKind::View, "view", "The page in its window"),
    (PictureKind::FullPage, "full", "The whole page"),
    (PictureKind::Thumbnail, "thumbnail", "Small picture"),
    (PictureKind::Pdf, "pdf", "The page as printed (PDF)"),
];

/// A URL of the crawl, and which of its visits is asked for.
#[derive(Clone)]
struct Asked {
    url: String,
    /// The date of the visit; empty for the last one.
    at: String,
}

impl Asked {
    /// # Errors
    /// No URL is given.
    fn of(query: Option<String>) -> anyhow::Result<(Self, Fields)> {
        let fields = Fields::parse(&query.unwrap_or_default());
        Ok((Asked { url: fields.needed("u", "URL")?, at: fields.get("at").to_owned() }, fields))
    }

    /// The URL with the visit.
    ///
    /// # Errors
    /// As [`page::visited`].
    fn entry(&self, opened: &Opened) -> anyhow::Result<Entry> {
        page::visited(opened, &self.url, &self.at)
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
    let body = html! {
        (links::headed(&url)) (elsewhere(&url))
        @match &rows {
            None => { p { "The crawl has no dataset." } }
            Some(PageRows { page: None, .. }) => { p { "The dataset has no row of it: it was not visited as a page." } }
            Some(PageRows { page: Some(page), structured, structured_count }) => {
                (table("Row", page.iter().filter(|(column, _)| !TEXTS.iter().any(|(text, _)| text == column))))
                @for (column, title) in TEXTS {
                    @if let Some(Value::String(text)) = page.get(column) { (verbatim(title, text)) }
                }
                @for (at, row) in structured.iter().enumerate() {
                    (table(&format!("Data for machines, {}", at + 1), row.iter()))
                }
                @if *structured_count > structured.len() {
                    p { "… " (structured_count - STRUCTURED_ROWS_MAX) " more" }
                }
            }
        }
    };
    Ok(frame::page(&format!("Row of {url}"), "/url", &body))
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
                                td { (column) }
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
    let (entry, visits, recorded) = ui
        .ask(move |crawl: &Standing| {
            let opened = crawl.now()?;
            let entry = asked.entry(&opened)?;
            let (view, key) = (opened.view(), entry.candidate.url.key());
            let mut visits = view.earlier(key)?;
            let last = view.get(key)?.and_then(|entry| entry.visit);
            visits.extend(last);
            let recorded = page::recorded(&opened, &entry)?;
            Ok((entry, visits, recorded))
        })
        .await?;
    let url = &entry.candidate.url;
    let body = html! {
        (links::headed(url)) (elsewhere(url))
        @if visits.len() > 1 {
            nav.visits aria-label="Visits" {
                @for visit in visits.iter().rev() {
                    @let is_shown = entry.visit.as_ref().is_some_and(|shown| shown.at == visit.at);
                    a href=(of_visit(url, visit)) aria-current=[is_shown.then_some("true")] { (visit.at.to_rfc3339()) }
                }
            }
        }
        @match &recorded {
            None if entry.attempts > 0 => { p { "No visit has an outcome so far: " (counted(entry.attempts.into(), "request")) " failed, and it will be tried again." } }
            None => { p { "It waits for its first visit." } }
            Some(recorded) => (exchange(url, recorded)),
        }
    };
    Ok(frame::page(&format!("Record of {url}"), "/url", &body))
}

/// What a visit of a URL recorded.
pub(crate) fn of_visit(url: &CanonicalUrl, visit: &Visit) -> String {
    with_fields("/url/record", &[("u", url.as_str()), ("at", &visit.at.to_rfc3339())])
}

fn exchange(url: &CanonicalUrl, recorded: &Recorded) -> Markup {
    let Recorded { visit, answer, request, seen, pictures } = recorded;
    let head = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    html! {
        p.date { (visit.at.to_rfc3339()) ", " (visit.outcome.as_str())
            @if !visit.reason.is_empty() { ": " (Printable(&visit.reason)) }
        }
        (shown(url, visit, pictures))
        @if let Some(request) = request { (verbatim("Request", &head(request))) }
        @match answer {
            Err(error) => { p.failure { (Printable(&error.to_string())) } }
            Ok(None) if visit.attempts == 0 => { p { "It was judged without a request." } }
            Ok(None) => { p { "The archive has no answer of this visit." } }
            Ok(Some(answer)) => {
                (verbatim("Answer", &head(answer.head())))
                @if let Some(seen) = seen { (verbatim("The page as a browser showed it", &String::from_utf8_lossy(seen))) }
                // One byte more tells whether there is more.
                @match page::source(url, answer, SHOWN_BYTES_MAX + 1) {
                    Some(source) => (verbatim("Source", &source)),
                    None => { p { (counted(answer.payload().len() as u64, "byte")) " that are no text." } }
                }
            }
        }
    }
}

/// The pictures that a visit took of a page.
pub(crate) fn shown(url: &CanonicalUrl, visit: &Visit, pictures: &[PictureKind]) -> Markup {
    let at = visit.at.to_rfc3339();
    let to = |name| with_fields("/url/picture", &[("u", url.as_str()), ("at", &at), ("kind", name)]);
    let has = |kind: &PictureKind| pictures.contains(kind);
    let preview = [PictureKind::Thumbnail, PictureKind::View, PictureKind::FullPage].into_iter().find(has);
    html! {
        @if !pictures.is_empty() {
            figure.page-picture {
                @for (kind, name, _) in PICTURES {
                    @if preview == Some(kind) { img src=(to(name)) alt="The page as a browser showed it"; }
                }
                figcaption {
                    @for (kind, name, title) in PICTURES { @if has(&kind) { a href=(to(name)) { (title) } " " } }
                }
            }
        }
    }
}

/// Answers with a picture of `u`: a file.
pub(crate) async fn picture(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let (asked, fields) = Asked::of(query)?;
    let name = fields.get("kind").to_owned();
    let kind = PICTURES.into_iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| kind);
    let kind = kind.ok_or_else(|| usage(format!("`{name}` is no kind of picture")))?;
    let bytes = ui
        .ask(move |crawl: &Standing| {
            let opened = crawl.now()?;
            page::picture(&opened, &asked.entry(&opened)?, kind)
        })
        .await?;
    let bytes = bytes.ok_or_else(|| Failure::NotFound("the crawl took no such picture of it".to_owned()))?;
    let mut response = bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind.media_type()));
    if kind == PictureKind::Pdf {
        // Its own scripts and links do not belong to the interface.
        let as_file = HeaderValue::from_static("attachment; filename=\"page.pdf\"");
        response.headers_mut().insert(header::CONTENT_DISPOSITION, as_file);
    }
    Ok(response)
}

/// Answers with the URLs that have the same content as `u`.
pub(crate) async fn copies(State(ui): State<Ui>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (asked, _) = Asked::of(query)?;
    let (url, found) = ui
        .large(&ui.large, move |crawl: &Standing| {
            let opened = crawl.with_dataset()?;
            let url = asked.entry(&opened)?.candidate.url;
            let layout = Layout::at(opened.dir.dataset());
            let found = match layout.exists() {
                true => page::copies(opened.view(), &layout, &url, COPIES_SHOWN)?,
                false => None,
            };
            Ok((url, found))
        })
        .await?;
    let body = html! {
        (links::headed(&url)) (elsewhere(&url))
        @match &found {
            None => { p { "The crawl has no dataset." } }
            Some(Copies { count: 0, .. }) => { p { "No other URL has exactly the same content." } }
            Some(Copies { original, urls, count }) => {
                p { "Found first at " (links::story(original)) ", then at " (counted(*count as u64, "other URL")) ":" }
                ul.links { @for url in urls { li { (links::story(url)) } } }
                @if *count > urls.len() { p { "… " (count - urls.len()) " more" } }
            }
        }
    };
    Ok(frame::page(&format!("Same content as {url}"), "/url", &body))
}
