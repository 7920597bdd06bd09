//! What a crawl has of a page beside its story: its rows in the dataset, what each of its visits recorded, and the URLs with the same content.

use crawl::opened::Opened;
use dataset::originals::Originals;
use dataset::schema::Table;
use dataset::{Column, Layout, item_values};
use extract::media_type::{self, Kind};
use extract::{charset, html};
use model::{PictureKind, Visit};
use replay::{RecordedAnswer, Replay, ReplayError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use settings::plan::Plan;
use settings::usage;
use store::{CrawlView, Entry, StoreError};
use weburl::{CanonicalRules, CanonicalUrl, UrlKey, without_user_info};

use crate::UnknownUrl;
use crate::target::with_scheme;

/// Bytes of a text of a page that people are shown.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// Bytes of any other value of a row; of one that is no text, as JSON.
pub const VALUE_BYTES_MAX: usize = 8 << 10;
/// Rows of what a page says for machines that are read, at most.
pub const STRUCTURED_ROWS_MAX: usize = 200;
/// The columns of a page that have its texts.
pub const TEXTS: [&str; 2] = ["main_text", "text"];
/// The pictures of a page, and what a request calls each.
pub const PICTURES: [(PictureKind, &str); 4] = [
    (PictureKind::View, "view"),
    (PictureKind::FullPage, "full"),
    (PictureKind::Thumbnail, "thumbnail"),
    (PictureKind::Pdf, "pdf"),
];

/// The kind of picture that a request calls so.
///
/// # Errors
/// There is none.
pub fn picture_kind(name: &str) -> anyhow::Result<PictureKind> {
    let kind = PICTURES.into_iter().find(|(_, known)| *known == name).map(|(kind, _)| kind);
    kind.ok_or_else(|| usage(format!("`{name}` is no kind of picture")))
}

/// A text, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// At most [`TEXT_BYTES_MAX`] of it.
    pub text: String,
    /// There is more.
    pub is_cut: bool,
}

impl Text {
    /// A text as far as it is shown.
    #[must_use]
    pub fn of(mut text: String) -> Self {
        let is_cut = cut(&mut text, TEXT_BYTES_MAX);
        Text { text, is_cut }
    }

    fn of_head(bytes: &[u8]) -> Self {
        Text::of(String::from_utf8_lossy(bytes).trim_end().to_owned())
    }
}

/// Cuts a text between characters. Says whether it did.
fn cut(text: &mut String, bytes_max: usize) -> bool {
    let is_longer = text.len() > bytes_max;
    text.truncate(text.floor_char_boundary(bytes_max));
    is_longer
}

/// The rows of a page in the dataset, by column.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PageRows {
    /// Its row among the pages; `None` if it has none.
    pub page: Option<Map<String, Value>>,
    /// The columns of it that are cut: texts at [`TEXT_BYTES_MAX`], others at [`VALUE_BYTES_MAX`].
    pub cut: Vec<String>,
    /// What it says for machines, the first [`STRUCTURED_ROWS_MAX`].
    pub structured: Vec<Map<String, Value>>,
    /// Those of them that have a value which is cut at [`VALUE_BYTES_MAX`], by their places.
    pub structured_cut: Vec<usize>,
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
        rows.cut = rows.page.as_mut().map(cut_values).unwrap_or_default();
        for batch in layout.batches(Table::Structured, &[])?.only("source_key", key) {
            let batch = batch?;
            rows.structured_count += batch.num_rows();
            let left = STRUCTURED_ROWS_MAX.saturating_sub(rows.structured.len());
            (0..batch.num_rows()).take(left).for_each(|row| rows.add_structured(item_values(&batch, row)));
        }
        Ok(rows)
    }

    fn add_structured(&mut self, mut row: Map<String, Value>) {
        if !cut_values(&mut row).is_empty() {
            self.structured_cut.push(self.structured.len());
        }
        self.structured.push(row);
    }

    /// These, and those of another part of the dataset. One part at most has the row of a page that counts.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        if self.page.is_none() {
            (self.page, self.cut) = (other.page, other.cut);
        }
        self.structured_count += other.structured_count;
        let before = self.structured.len();
        let cut = other.structured_cut.into_iter().map(|place| before.saturating_add(place));
        self.structured_cut.extend(cut.filter(|place| *place < STRUCTURED_ROWS_MAX));
        self.structured.extend(other.structured);
        self.structured.truncate(STRUCTURED_ROWS_MAX);
        self
    }
}

/// Cuts long values of a row. Gives the columns of those.
fn cut_values(row: &mut Map<String, Value>) -> Vec<String> {
    let mut cut_columns = Vec::new();
    for (column, value) in row.iter_mut() {
        let bytes_max = if TEXTS.contains(&column.as_str()) { TEXT_BYTES_MAX } else { VALUE_BYTES_MAX };
        let is_cut = match value {
            Value::String(text) => cut(text, bytes_max),
            Value::Array(_) | Value::Object(_) => {
                let mut text = value.to_string();
                let is_cut = cut(&mut text, bytes_max);
                if is_cut {
                    *value = Value::String(text);
                }
                is_cut
            }
            _ => false,
        };
        if is_cut {
            cut_columns.push(column.clone());
        }
    }
    cut_columns
}

/// What a visit recorded, as far as people are shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// When the visit was, as a date.
    pub at: String,
    /// Its outcome.
    pub outcome: String,
    /// The reason for it; empty if there is none to tell.
    pub reason: String,
    /// It was requested, and not judged without a request.
    pub was_requested: bool,
    /// The HTTP head of the request.
    pub request: Option<Text>,
    /// The answer; `None` where the archive has none, or cannot be read.
    pub answer: Option<Answer>,
    /// The page as a browser showed it.
    pub seen: Option<Text>,
    /// Pictures of it.
    pub pictures: Vec<PictureKind>,
    /// Why the archive cannot be read there, or behind there.
    pub failure: Option<String>,
}

/// An answer, as far as people are shown it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP head.
    pub head: Text,
    /// The body; `None` if it is no text.
    pub source: Option<Text>,
    /// Bytes of the payload, as received.
    pub payload_bytes: u64,
}

/// A URL of a crawl with one of its visits, the last one or that of a date (RFC 3339). `rules` says how URLs are canonical in the crawl.
///
/// # Errors
/// The text is no URL; the crawl does not know it, or has no such visit; the state cannot be read.
pub fn visited(
    view: &dyn CrawlView,
    rules: impl FnOnce() -> anyhow::Result<CanonicalRules>,
    given: &str,
    at: &str,
) -> anyhow::Result<Entry> {
    let entry = known(view, rules, given)?;
    let is_meant = |visit: &Visit| visit.at.to_rfc3339() == at;
    if at.is_empty() || entry.visit.as_ref().is_some_and(is_meant) {
        return Ok(entry);
    }
    let url = &entry.candidate.url;
    let visit = view.earlier(url.key())?.into_iter().rfind(is_meant);
    let visit = visit.ok_or_else(|| UnknownUrl(format!("{url}: the crawl has no visit of {at}")))?;
    Ok(Entry { visit: Some(visit), ..entry })
}

fn known(
    view: &dyn CrawlView,
    rules: impl FnOnce() -> anyhow::Result<CanonicalRules>,
    given: &str,
) -> anyhow::Result<Entry> {
    let by_text = CanonicalUrl::from_canonical(given).map(|url| view.get(url.key())).transpose()?.flatten();
    if let Some(entry) = by_text {
        return Ok(entry);
    }
    let rules = rules()?;
    let url = CanonicalUrl::parse(&with_scheme(given), &rules)
        .map_err(|rejected| usage(format!("{}: no URL of a crawl: {rejected}", without_user_info(given))))?;
    // Without a scheme, https is meant where that is what the crawl knows.
    let secure = (!given.contains("://")).then(|| CanonicalUrl::parse(&format!("https://{given}"), &rules).ok());
    for url in [Some(&url), secure.flatten().as_ref()].into_iter().flatten() {
        if let Some(entry) = view.get(url.key())? {
            return Ok(entry);
        }
    }
    Err(UnknownUrl(format!("{url}: the crawl knows no such URL")).into())
}

/// The dates of all visits of a URL, the oldest first.
///
/// # Errors
/// The state cannot be read.
pub fn dates(view: &dyn CrawlView, url: &CanonicalUrl) -> Result<Vec<String>, StoreError> {
    let mut visits = view.earlier(url.key())?;
    visits.extend(view.get(url.key())?.and_then(|entry| entry.visit));
    Ok(visits.iter().map(|visit| visit.at.to_rfc3339()).collect())
}

/// A crawl in its directory, to read what its visits recorded.
///
/// # Errors
/// The settings of the crawl cannot be read.
pub fn replay_of(opened: &Opened) -> anyhow::Result<Replay<'_>> {
    let bytes_max = Plan::new(&opened.options()?)?.settings.limits.body_bytes_max;
    Ok(Replay::new(opened.view(), &opened.dir.archive(), bytes_max))
}

/// What the visit of an entry recorded; `None` if it has none. What lies behind a damaged record is not looked for.
#[must_use]
pub fn recorded(replay: &mut Replay<'_>, entry: &Entry) -> Option<Recorded> {
    let visit = entry.visit.as_ref()?;
    let mut recorded = Recorded {
        at: visit.at.to_rfc3339(),
        outcome: visit.outcome.as_str().to_owned(),
        reason: visit.reason.clone(),
        was_requested: visit.attempts > 0,
        ..Recorded::default()
    };
    if let Err(error) = read_into(&mut recorded, replay, entry, visit) {
        recorded.failure = Some(error.to_string());
    }
    Some(recorded)
}

fn read_into(
    recorded: &mut Recorded,
    replay: &mut Replay<'_>,
    entry: &Entry,
    visit: &Visit,
) -> Result<(), ReplayError> {
    let answer = replay.answer(visit)?;
    recorded.answer = answer.as_ref().map(|answer| Answer {
        head: Text::of_head(answer.head()),
        source: source(&entry.candidate.url, answer),
        payload_bytes: answer.payload().len() as u64,
    });
    recorded.request = replay.request(entry)?.as_deref().map(Text::of_head);
    recorded.seen = replay.seen(entry)?.map(|seen| Text::of(String::from_utf8_lossy(&seen).into_owned()));
    recorded.pictures = replay.pictures(entry)?;
    Ok(())
}

/// The pictures that the visit of an entry took. None where the archive is damaged: that is for the check to name.
#[must_use]
pub fn pictures(replay: &mut Replay<'_>, entry: &Entry) -> Vec<PictureKind> {
    replay.pictures(entry).unwrap_or_default()
}

/// The body of an answer in UTF-8; `None` if it is no text.
fn source(url: &CanonicalUrl, answer: &RecordedAnswer) -> Option<Text> {
    // One byte more tells whether there is more.
    let (body, headers) = (answer.body(TEXT_BYTES_MAX + 1), answer.headers());
    let content_type = headers.get("content-type");
    let kind = media_type::sniff(&body, content_type, url.path_extension()).kind;
    let is_marked_up = kind.is_html() || matches!(kind, Kind::Xml | Kind::Svg);
    let is_declared = content_type.is_some_and(|content_type| content_type.trim_start().starts_with("text/"));
    (is_marked_up || is_declared || is_utf8(&body)).then(|| {
        let text = Text::of(html::decode(&body, charset::decide(&body, content_type).encoding.name()).into_owned());
        // In UTF-8 it may be shorter.
        Text { is_cut: text.is_cut || body.len() > TEXT_BYTES_MAX, ..text }
    })
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
    /// There may be more: a part of them was looked at.
    pub is_part: bool,
}

/// Finds the URLs with the same content as a URL, among those that somebody names.
pub struct Repeating<'v> {
    view: &'v dyn CrawlView,
    originals: Originals<'v>,
    original: CanonicalUrl,
    urls_max: usize,
    copies: Copies,
}

impl<'v> Repeating<'v> {
    /// The content of a URL: that of its original, if it repeats one. `None` if the crawl does not know it.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn of(view: &'v dyn CrawlView, url: &CanonicalUrl, urls_max: usize) -> Result<Option<Self>, StoreError> {
        let mut originals = Originals::new(view)?;
        let Some(entry) = view.get(url.key())? else { return Ok(None) };
        let original = repeated_by(&originals.now(entry)?).unwrap_or(url.key());
        let Some(original) = view.get(original)?.map(|entry| entry.candidate.url) else { return Ok(None) };
        let copies = Copies { original: original.to_string(), ..Copies::default() };
        Ok(Some(Repeating { view, originals, original, urls_max, copies }))
    }

    /// The URL where the content was found first.
    #[must_use]
    pub fn original(&self) -> &CanonicalUrl {
        &self.original
    }

    /// Looks at a URL that had the content once. It, or the original, may have another by now.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn look_at(&mut self, key: UrlKey) -> Result<(), StoreError> {
        let Some(entry) = self.view.get(key)? else { return Ok(()) };
        let url = entry.candidate.url.clone();
        if repeated_by(&self.originals.now(entry)?) == Some(self.original.key()) {
            self.copies.count += 1;
            if self.copies.urls.len() < self.urls_max {
                self.copies.urls.push(url.to_string());
            }
        }
        Ok(())
    }

    /// What was found; `is_part` says that not all were looked at.
    #[must_use]
    pub fn found(self, is_part: bool) -> Copies {
        Copies { is_part, ..self.copies }
    }
}

fn repeated_by(entry: &Entry) -> Option<UrlKey> {
    entry.visit.as_ref().and_then(|visit| visit.duplicate_of)
}

/// The URLs with the same content as a URL: its original, if it repeats one, and all that repeat that, of these the first `max`. `None` if the
/// crawl does not know it.
///
/// # Errors
/// The state or the dataset cannot be read.
pub fn copies(view: &dyn CrawlView, layout: &Layout, url: &CanonicalUrl, max: usize) -> anyhow::Result<Option<Copies>> {
    let Some(mut repeating) = Repeating::of(view, url, max)? else { return Ok(None) };
    for batch in layout.batches(Table::Pages, &["url_key", "duplicate_of"])? {
        let batch = batch?;
        for row in 0..batch.num_rows() {
            if batch.text("duplicate_of", row) == Some(repeating.original().as_str())
                && let Some(key) = batch.key("url_key", row)
            {
                repeating.look_at(key)?;
            }
        }
    }
    Ok(Some(repeating.found(false)))
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

    #[test]
    fn long_texts_and_values_are_cut_between_characters_and_named() {
        let text = "ä".repeat(TEXT_BYTES_MAX);
        let shown = Text::of(format!("a{text}"));
        assert!(shown.is_cut && shown.text.len() == TEXT_BYTES_MAX - 1);
        let list: Vec<usize> = (0..VALUE_BYTES_MAX).collect();
        let row = serde_json::json!({"list": list, "text": text, "title": text, "url": "a", "none": null, "few": [1]});
        let Value::Object(mut row) = row else { panic!("an object") };
        assert_eq!(cut_values(&mut row), ["list", "text", "title"]);
        let bytes = |column: &str| row[column].as_str().map(str::len);
        assert_eq!(
            [bytes("text"), bytes("title"), bytes("list"), bytes("url")],
            [Some(TEXT_BYTES_MAX), Some(VALUE_BYTES_MAX), Some(VALUE_BYTES_MAX), Some(1)]
        );
        assert_eq!(row["few"], serde_json::json!([1]));
    }

    #[test]
    fn rows_for_machines_say_which_of_them_are_cut() {
        let row = |bytes| Map::from_iter([("json".to_owned(), Value::String("x".repeat(bytes)))]);
        let some = |long: usize| {
            let mut rows = PageRows::default();
            (0..3).for_each(|n| rows.add_structured(row(VALUE_BYTES_MAX + usize::from(n == long))));
            rows
        };
        let both = some(2).and(some(0));
        assert_eq!((both.structured.len(), both.structured_cut), (6, vec![2, 3]));
        let mut most = PageRows::default();
        (0..STRUCTURED_ROWS_MAX - 1).for_each(|_| most.add_structured(row(1)));
        let most = most.and(some(0)).and(some(0));
        assert_eq!((most.structured.len(), most.structured_cut), (STRUCTURED_ROWS_MAX, vec![STRUCTURED_ROWS_MAX - 1]));
    }
}
