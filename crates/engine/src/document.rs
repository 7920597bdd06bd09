//! Documents that are no pages: which answers are read as one, and how their text becomes part of the content.

use bytes::Bytes;
use documents::{Reader, Text, Unread};
use extract::media_type::Kind;
use model::{FetchOutcome, Fetched, Limit, Purpose};
use stages::{Stage, time};

use crate::Settings;
use crate::content::{Content, Finding, look_into_answer};

/// Examines the end of a fetch.
#[must_use]
pub fn look_into(outcome: &FetchOutcome, purpose: Purpose, settings: &Settings) -> Content {
    let mut content = look_into_answer(outcome, purpose, settings);
    if let Some(document) = ToRead::of(outcome, &content, settings) {
        content.take_document(time(Stage::Structure, || document.reader.read(document.kind, &document.bytes)));
    }
    content
}

/// A document to be read. Reading takes long: a crawl does it beside its fetches.
pub(crate) struct ToRead {
    pub(crate) reader: Reader,
    pub(crate) kind: Kind,
    pub(crate) bytes: Bytes,
}

impl ToRead {
    /// The document of an answer; `None` if there is none, or documents are not read.
    pub(crate) fn of(outcome: &FetchOutcome, content: &Content, settings: &Settings) -> Option<ToRead> {
        let (Fetched::Response(response), Finding::Document) = (&outcome.fetched, &content.finding) else {
            return None;
        };
        let (reader, details) = (settings.documents.as_ref()?, content.details.as_ref()?);
        // After a HEAD there is nothing to read.
        let is_read = documents::is_read(details.media.kind) && !response.body.is_empty();
        let bytes = response.body.clone();
        is_read.then(|| ToRead { reader: reader.clone(), kind: details.media.kind, bytes })
    }
}

impl Content {
    /// Takes in the text of its document.
    pub(crate) fn take_document(&mut self, read: Result<Text, Unread>) {
        let text = read.unwrap_or_else(|_| Text { is_cut: true, ..Text::default() });
        if text.is_cut {
            self.limits.insert(Limit::Document);
        }
        self.bytes += text.text.len();
        if let Some(details) = &mut self.details {
            details.document = Some(text);
        }
    }
}
