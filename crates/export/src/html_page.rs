//! The HTML of a page: as a browser showed it where the crawl rendered it, else as the server sent it, without the content coding.

use extract::media_type;
use model::{Headers, Outcome, Purpose, RenderedDocument, Visit};
use replay::{Replay, ReplayError};
use store::Entry;

use crate::ExportError;

/// An HTML page.
#[derive(Clone, Debug)]
pub struct HtmlPage {
    /// Its bytes.
    pub body: Vec<u8>,
    /// The Content-Type that it came with.
    pub content_type: Option<String>,
    /// The fields of the answer; none of a page as a browser showed it.
    pub headers: Headers,
}

/// The HTML of a URL; `None` if it is no page that was fetched successfully. An exact duplicate of another page is a page
/// of its own, unless the payload of that is lost. Bodies are cut at `body_bytes_max`.
///
/// # Errors
/// Its record is damaged.
pub fn html_of(entry: &Entry, replay: &mut Replay<'_>, body_bytes_max: u64) -> Result<Option<HtmlPage>, ExportError> {
    let url = &entry.candidate.url;
    let Some(visit) = entry.visit.as_ref().filter(|_| may_be_html(entry)) else { return Ok(None) };
    let error = |source: ReplayError| ExportError::Replay { url: url.to_string(), source };
    if let Some(body) = replay.seen(entry).map_err(error)? {
        return Ok(Some(HtmlPage {
            body,
            content_type: Some(RenderedDocument::CONTENT_TYPE.to_owned()),
            headers: Headers::default(),
        }));
    }
    let Some(answer) = replay.answer(visit).map_err(error)? else { return Ok(None) };
    let body = answer.body(usize::try_from(body_bytes_max).unwrap_or(usize::MAX));
    let headers = answer.headers();
    let content_type = headers.get("content-type").map(str::to_owned);
    // Of duplicates that were recorded before their kind was kept, the answer says what they are.
    let media = || media_type::sniff(&body, content_type.as_deref(), url.path_extension());
    let is_html = match visit.duplicate_kind {
        Some(kind) => kind == Outcome::Html,
        None => visit.outcome == Outcome::Html || media().is_html(),
    };
    Ok(is_html.then_some(HtmlPage { body, content_type, headers }))
}

/// False if it is sure without reading that a URL is no HTML page.
#[must_use]
pub fn may_be_html(entry: &Entry) -> bool {
    let may_be = |visit: &Visit| match visit.outcome {
        Outcome::Html => true,
        Outcome::Duplicate => visit.duplicate_kind != Some(Outcome::Binary),
        _ => false,
    };
    entry.candidate.purpose == Purpose::Page && entry.visit.as_ref().is_some_and(may_be)
}
