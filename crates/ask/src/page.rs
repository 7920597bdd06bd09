//! What a crawl has of a page beside its story: its rows in the dataset, what each of its visits recorded, and the URLs with the same content.

use crawl::opened::Opened;
use dataset::originals::Originals;
use dataset::schema::Table;
use dataset::{Column, Layout, item_values};
use extract::html;
use extract::media_type::{self, Kind};
use model::{PictureKind, Visit};
use replay::{RecordedAnswer, Replay, ReplayError};
use serde_json::{Map, Value};
use settings::plan::Plan;
use settings::usage;
use store::{CrawlView, Entry};
use weburl::{CanonicalUrl, UrlKey, without_user_info};

use crate::UnknownUrl;
use crate::target::with_scheme;

/// Rows of what a page says for machines that are read, at most.
pub const STRUCTURED_ROWS_MAX: usize = 200;

/// The rows of a page in the dataset, by column.
#[derive(Debug, Default)]
pub struct PageRows {
    /// Its row among the pages; `None` if it has none.
    pub page: Option<Map<String, Value>>,
    /// What it says for machines, the first [`STRUCTURED_ROWS_MAX`].
    pub structured: Vec<Map<String, Value>>,
    /// How many rows of that there are.
    pub structured_count: usize,
}

impl PageRows {
    /// Those of a URL.
    ///
    /// # Errors
    /// The dataset cannot be read.
    pub fn of(layout: &Layout, key: UrlKey) -> anyhow::Result<Self> {
        let mut rows = PageRows::default();
        for batch in layout.batches(Table::Pages, &[])?.only("url_key", key) {
            let batch = batch?;
            rows.page = (0..batch.num_rows()).next_back().map(|row| item_values(&batch, row)).or(rows.page);
        }
        for batch in layout.batches(Table::Structured, &[])?.only("source_key", key) {
            let batch = batch?;
            rows.structured_count += batch.num_rows();
            let left = STRUCTURED_ROWS_MAX.saturating_sub(rows.structured.len());
            rows.structured.extend((0..batch.num_rows()).take(left).map(|row| item_values(&batch, row)));
        }
        Ok(rows)
    }
}

/// What a visit recorded.
#[derive(Debug)]
pub struct Recorded {
    /// The visit.
    pub visit: Visit,
    /// The answer; `None` where the archive has none. An error where it is lost or damaged.
    pub answer: Result<Option<RecordedAnswer>, ReplayError>,
    /// The HTTP head of the request.
    pub request: Option<Vec<u8>>,
    /// The page as a browser showed it, in UTF-8.
    pub seen: Option<Vec<u8>>,
    /// Pictures of it.
    pub pictures: Vec<PictureKind>,
}

/// A URL of the crawl with one of its visits, the last one or that of a date (RFC 3339).
///
/// # Errors
/// The text is no URL; the crawl does not know it, or has no such visit; the state cannot be read.
pub fn visited(opened: &Opened, given: &str, at: &str) -> anyhow::Result<Entry> {
    let view = opened.view();
    let by_text = CanonicalUrl::from_canonical(given).map(|url| view.get(url.key())).transpose()?.flatten();
    let entry = match by_text {
        Some(entry) => entry,
        None => {
            let rules = Plan::new(&opened.options()?)?.settings.canonical;
            let url = CanonicalUrl::parse(&with_scheme(given), &rules)
                .map_err(|rejected| usage(format!("{}: no URL of a crawl: {rejected}", without_user_info(given))))?;
            view.get(url.key())?.ok_or_else(|| UnknownUrl(format!("{url}: the crawl knows no such URL")))?
        }
    };
    let is_meant = |visit: &Visit| visit.at.to_rfc3339() == at;
    if at.is_empty() || entry.visit.as_ref().is_some_and(is_meant) {
        return Ok(entry);
    }
    let url = &entry.candidate.url;
    let visit = view.earlier(url.key())?.into_iter().rfind(is_meant);
    let visit = visit.ok_or_else(|| UnknownUrl(format!("{url}: the crawl has no visit of {at}")))?;
    Ok(Entry { visit: Some(visit), ..entry })
}

/// Calls `read` with what reads a crawl's archive.
///
/// # Errors
/// The settings of the crawl cannot be read, or `read` fails.
fn replayed<T>(opened: &Opened, read: impl FnOnce(&mut Replay<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let bytes_max = Plan::new(&opened.options()?)?.settings.limits.body_bytes_max;
    let archive = opened.dir.archive();
    read(&mut Replay::new(opened.view(), &archive, bytes_max))
}

/// What the visit of an entry recorded. What lies behind a damaged answer is not looked for.
///
/// # Errors
/// The settings of the crawl or its archive cannot be read.
pub fn recorded(opened: &Opened, entry: &Entry) -> anyhow::Result<Option<Recorded>> {
    let Some(visit) = entry.visit.clone() else { return Ok(None) };
    replayed(opened, |replay| {
        let mut recorded =
            Recorded { answer: replay.answer(&visit), visit, request: None, seen: None, pictures: Vec::new() };
        if recorded.answer.is_ok() {
            recorded.request = replay.request(entry)?;
            recorded.seen = replay.seen(entry)?;
            recorded.pictures = replay.pictures(entry)?;
        }
        Ok(Some(recorded))
    })
}

/// The pictures that the visit of an entry took. None where the archive is damaged: that is for the check to name.
///
/// # Errors
/// The settings of the crawl cannot be read.
pub fn pictures(opened: &Opened, entry: &Entry) -> anyhow::Result<Vec<PictureKind>> {
    replayed(opened, |replay| Ok(replay.pictures(entry).unwrap_or_default()))
}

/// A picture that the visit of an entry took.
///
/// # Errors
/// The settings of the crawl or its archive cannot be read.
pub fn picture(opened: &Opened, entry: &Entry, kind: PictureKind) -> anyhow::Result<Option<Vec<u8>>> {
    replayed(opened, |replay| Ok(replay.picture(entry, kind)?))
}

/// The body of an answer in UTF-8, of at most so many bytes; `None` if it is no text.
#[must_use]
pub fn source(url: &CanonicalUrl, answer: &RecordedAnswer, bytes_max: usize) -> Option<String> {
    let (body, headers) = (answer.body(bytes_max), answer.headers());
    let content_type = headers.get("content-type");
    let kind = media_type::sniff(&body, content_type, url.path_extension()).kind;
    let is_marked_up = kind.is_html() || matches!(kind, Kind::Xml | Kind::Svg);
    let is_declared = content_type.is_some_and(|content_type| content_type.trim_start().starts_with("text/"));
    (is_marked_up || is_declared || is_utf8(&body)).then(|| html::decode_as(&body, content_type).into_owned())
}

/// Whether the beginning of a body is text in UTF-8. Its last character may be cut.
fn is_utf8(body: &[u8]) -> bool {
    !body.contains(&0) && std::str::from_utf8(body).err().is_none_or(|error| error.error_len().is_none())
}

/// URLs with the same content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The URL whose content the others repeat.
    pub original: String,
    /// URLs that repeat it, the first ones.
    pub urls: Vec<String>,
    /// How many there are.
    pub count: usize,
}

/// The URLs with the same content as a URL: its original, if it repeats one, and all that repeat that, of these the first `max`. `None` if the
/// crawl does not know it.
///
/// # Errors
/// The state or the dataset cannot be read.
pub fn copies(view: &dyn CrawlView, layout: &Layout, url: &CanonicalUrl, max: usize) -> anyhow::Result<Option<Copies>> {
    let mut originals = Originals::new(view)?;
    let Some(entry) = view.get(url.key())? else { return Ok(None) };
    let original_of = |entry: &Entry| entry.visit.as_ref().and_then(|visit| visit.duplicate_of);
    let original = original_of(&originals.now(entry)?).unwrap_or(url.key());
    let Some(named) = view.get(original)? else { return Ok(None) };
    let mut copies = Copies { original: named.candidate.url.to_string(), ..Copies::default() };
    for batch in layout.batches(Table::Pages, &["url_key", "url", "duplicate_of"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if batch.text("duplicate_of", row) != Some(copies.original.as_str()) {
                continue;
            }
            let (Some(key), Some(url)) = (batch.key("url_key", row), batch.text("url", row)) else { continue };
            // The row is as its visit left it; the original may have another content by now.
            let Some(entry) = view.get(key)? else { continue };
            if original_of(&originals.now(entry)?) != Some(original) {
                continue;
            }
            copies.count += 1;
            if copies.urls.len() < max {
                copies.urls.push(url.to_owned());
            }
        }
    }
    Ok(Some(copies))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_what_is_utf_8_to_its_cut_end() {
        for (body, is_text) in [
            (&b""[..], true),
            (b"{\"a\": 1}", true),
            ("ä".as_bytes(), true),
            (&"ä".as_bytes()[..1], true),
            (b"\xe4 and more", false),
            (b"a\0b", false),
        ] {
            assert_eq!(is_utf8(body), is_text, "{body:?}");
        }
    }
}
