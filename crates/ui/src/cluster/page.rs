//! What a cluster's crawl has of a page beside its story: the pages of a directory's crawl, filled by the server.

use api::{CopiesRequest, PagePictureRequest, RecordRequest, RecordResponse, RowRequest, RowResponse};
use ask::page::{Answer, Copies, PICTURES, PageRows, Recorded, Text, picture_kind};
use axum::extract::{RawQuery, State};
use axum::response::{Html, Response};
use model::PictureKind;
use serde_json::{Map, Value};
use weburl::CanonicalUrl;

use crate::failure::Failure;
use crate::page::{Asked, COPIES_MAX, COPIES_SHOWN, as_file, with_copies, with_record, with_rows};

use super::server::Server;

/// Answers with the rows of `u` in the datasets of the workers. Where they do not answer, the page says so.
pub(super) async fn row(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (Asked { url, .. }, _) = Asked::of(query)?;
    let request = RowRequest { url: url.clone() };
    match server.ask_all(async |mut client| client.row(request).await).await {
        Ok(answer) => {
            let url = canonical(&server, &answer.url)?;
            Ok(with_rows(&url, Ok(&rows(&server, answer)?)))
        }
        Err(Failure::Unanswered(why)) if let Some(url) = CanonicalUrl::from_canonical(&url) => {
            Ok(with_rows(&url, Err(&format!("Its row is not known now: {why}"))))
        }
        Err(failure) => Err(failure),
    }
}

/// Answers with what a visit of `u` recorded: the last one, or that of `at`.
pub(super) async fn record(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (Asked { url, at }, _) = Asked::of(query)?;
    let request = RecordRequest { url, at };
    let answer = server.ask_all(async |mut client| client.record(request).await).await?;
    let url = canonical(&server, &answer.url)?;
    Ok(with_record(&url, answer.requests, &answer.visits, recorded(&answer).as_ref()))
}

/// Answers with a picture of `u`: a file.
pub(super) async fn picture(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Response, Failure> {
    let (Asked { url, at }, fields) = Asked::of(query)?;
    let kind = picture_kind(fields.get("kind"))?;
    let request = PagePictureRequest { url, at, kind: fields.get("kind").to_owned() };
    let answer = server.ask_all(async |mut client| client.page_picture(request).await).await?;
    Ok(as_file(kind, answer.picture))
}

/// Answers with the URLs that have the same content as `u`.
pub(super) async fn copies(State(server): State<Server>, RawQuery(query): RawQuery) -> Result<Html<String>, Failure> {
    let (Asked { url, .. }, fields) = Asked::of(query)?;
    let request = CopiesRequest { url, limit: fields.limit(COPIES_SHOWN, COPIES_MAX) as u32 };
    let answer = server.ask(async |mut client| client.copies(request).await).await?;
    let url = canonical(&server, &answer.url)?;
    let count = usize::try_from(answer.count).unwrap_or(usize::MAX);
    let found = Copies { original: answer.original, urls: answer.urls, count, is_part: answer.in_part };
    Ok(with_copies(&url, Some(&found)))
}

/// The pictures that the last visit of a URL took, and the date of the visit; none where they are not known now.
pub(super) async fn pictures(server: &Server, url: &str) -> Option<(String, Vec<PictureKind>)> {
    let request = RecordRequest { url: url.to_owned(), ..RecordRequest::default() };
    let answer = server.ask_all(async |mut client| client.record(request).await).await.ok()?;
    recorded(&answer).map(|recorded| (recorded.at, recorded.pictures))
}

fn canonical(server: &Server, url: &str) -> Result<CanonicalUrl, Failure> {
    CanonicalUrl::from_canonical(url).ok_or_else(|| server.nonsense("a URL that is none"))
}

fn rows(server: &Server, answer: RowResponse) -> Result<PageRows, Failure> {
    let read = |row: &String| -> Result<Map<String, Value>, Failure> {
        serde_json::from_str(row).map_err(|_| server.nonsense("a row that is none"))
    };
    Ok(PageRows {
        page: Some(&answer.row).filter(|row| !row.is_empty()).map(read).transpose()?,
        structured: answer.structured.iter().map(read).collect::<Result<_, _>>()?,
        structured_count: usize::try_from(answer.structured_count).unwrap_or(usize::MAX),
        cut: answer.cut,
        // The page shows less of a value than where it is cut.
        ..PageRows::default()
    })
}

fn recorded(answer: &RecordResponse) -> Option<Recorded> {
    let text = |text: api::Text| Text { text: text.text, is_cut: text.cut };
    let api::Recorded { at, outcome, reason, requested, request, answer, seen, pictures, failure } =
        answer.recorded.clone()?;
    Some(Recorded {
        at,
        outcome,
        reason,
        was_requested: requested,
        request: request.map(text),
        answer: answer.map(|answer| Answer {
            head: answer.head.map(text).unwrap_or_default(),
            source: answer.source.map(text),
            payload_bytes: answer.payload_bytes,
        }),
        seen: seen.map(text),
        pictures: PICTURES
            .into_iter()
            .filter(|(_, name)| pictures.iter().any(|has| has == name))
            .map(|(kind, _)| kind)
            .collect(),
        failure: Some(failure).filter(|failure| !failure.is_empty()),
    })
}
