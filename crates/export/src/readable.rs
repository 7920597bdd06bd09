//! What can be read at a URL, as Markdown: an HTML page, or a document with text.

use documents::Text;
use extract::html::{self, dom::Document};
use extract::media_type::{self, Kind};
use maintext::Page;
use model::{Outcome, Purpose, Visit};
use replay::Replay;
use structured::Metadata;
use url::Url;

use crate::{Crawl, ExportError, Selected, html_of};

/// The rank of the headings that pages of documents get.
const PAGE_HEADING: &str = "##";

/// A text as Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Readable {
    /// The main text of a page, all text of a document.
    pub markdown: String,
    /// What a page is for; the format of a document.
    pub kind: &'static str,
    /// What it says of itself.
    pub metadata: Metadata,
}

/// What can be read at a URL; `None` if there is nothing. Documents are read if the crawl reads them.
pub(crate) fn readable_of(
    crawl: &Crawl<'_>,
    selected: &Selected,
    replay: &mut Replay<'_>,
) -> Result<Option<Readable>, ExportError> {
    if let Some(html) = html_of(&selected.entry, replay, crawl.body_bytes_max())? {
        return Ok(Some(page(&html.body, html.content_type.as_deref(), &selected.row.url)));
    }
    document_of(crawl, selected, replay)
}

/// An HTML page. `content_type` is the header's, for its charset; references are resolved against `url`.
#[must_use]
pub fn page(body: &[u8], content_type: Option<&str>, url: &str) -> Readable {
    let text = html::decode_as(body, content_type);
    let document = Document::parse(&text);
    let url = Url::parse(url).ok();
    let page = Page::read(&document, url.as_ref());
    let metadata = structured::metadata(&document, url.as_ref());
    Readable { markdown: page.markdown(), kind: page.kind().0.as_str(), metadata }
}

/// A document, read again from the archive.
fn document_of(
    crawl: &Crawl<'_>,
    selected: &Selected,
    replay: &mut Replay<'_>,
) -> Result<Option<Readable>, ExportError> {
    let entry = &selected.entry;
    let may_be = |visit: &&Visit| match visit.outcome {
        Outcome::Binary => true,
        Outcome::Duplicate => visit.duplicate_kind != Some(Outcome::Html),
        _ => false,
    };
    let is_document = entry.candidate.purpose == Purpose::Page && entry.visit.as_ref().filter(may_be).is_some();
    let Some(reader) = crawl.settings.documents.as_ref().filter(|_| is_document) else { return Ok(None) };
    let Some(answer) = selected.answer(replay)? else { return Ok(None) };
    let body = answer.body(usize::try_from(crawl.body_bytes_max()).unwrap_or(usize::MAX));
    let headers = answer.headers();
    let media = media_type::sniff(&body, headers.get("content-type"), entry.candidate.url.path_extension());
    let text = reader.read(media.kind, &body).ok().filter(|text| !text.text.is_empty());
    Ok(text.map(|text| document(media.kind, text)))
}

/// A document. Each of its pages has a heading with its number.
fn document(kind: Kind, text: Text) -> Readable {
    // The lines of a print go on; those of other documents are paragraphs.
    let is_print = kind == Kind::Pdf;
    let mut markdown = String::new();
    for (number, part) in text.parts() {
        if !markdown.is_empty() {
            markdown.push_str("\n\n");
        }
        if let Some(number) = number {
            markdown.push_str(&format!("{PAGE_HEADING} Page {number}\n\n"));
        }
        markdown.push_str(&maintext::markdown_of_text(part, is_print));
    }
    let metadata = Metadata { title: text.title, author: text.author, ..Metadata::default() };
    Readable { markdown, kind: kind.as_str(), metadata }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_document_have_their_numbers() {
        let text =
            |text: &str, pages: &[usize]| Text { text: text.to_owned(), pages: pages.to_vec(), ..Text::default() };
        for (kind, text, expect) in [
            (Kind::Pdf, text("one\ntwo\n\n# three", &[0, 9]), "## Page 1\n\none\ntwo\n\n## Page 2\n\n\\# three"),
            (Kind::Pdf, text("one\n\nthree", &[0, 5, 5]), "## Page 1\n\none\n\n## Page 3\n\nthree"),
            (Kind::Docx, text("one\ntwo *x*", &[]), "one\n\ntwo \\*x\\*"),
        ] {
            assert_eq!(document(kind, text.clone()).markdown, expect, "{text:?}");
        }
    }
}
