//! What holds for the main text of every page.
//!
//! Input: the first line is the URL, the rest is the page.

use extract::html::{self, dom::Document};
use maintext::chunks::{SIZE_MIN, Size, cut, tokens_of};
use maintext::{Page, read};
use url::Url;

/// Asserts it.
pub fn hold(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let url = String::from_utf8_lossy(&input[..end]);
    let bytes = input.get(end + 1..).unwrap_or_default();

    let text = html::decode_as(bytes, None);
    let document = Document::parse(&text);
    let url = Url::parse(&url).ok();
    let said = read(&document, url.as_ref());
    assert!((0.0..=1.0).contains(&said.confidence), "{}", said.confidence);
    assert!((0.0..=1.001).contains(&said.kind_confidence), "{}", said.kind_confidence);
    let page = Page::read(&document, url.as_ref());
    assert_eq!((page.text(), page.kind().0), (said.text, said.kind), "it is the same each time");

    let markdown = page.markdown();
    assert!(!markdown.ends_with('\n') && !markdown.starts_with('\n'));
    for size in [Size::Characters(1), Size::Characters(200), Size::Tokens(64), Size::Tokens(100_000)] {
        chunks_hold_the_text(&markdown, size);
    }
}

/// No piece is too large, and no letter is lost.
fn chunks_hold_the_text(markdown: &str, size: Size) {
    let letters = |text: &str| text.chars().filter(|character| character.is_alphanumeric()).count();
    let mut kept = 0;
    for chunk in cut(markdown, size) {
        let (is, max) = match size {
            Size::Characters(max) => (chunk.text.chars().count(), max),
            Size::Tokens(max) => (tokens_of(&chunk.text), max),
        };
        assert!(is <= max.max(SIZE_MIN), "{is} of {max}: {}", chunk.text);
        kept += letters(&chunk.text);
    }
    // The head of a table or of code stands in each of its pieces.
    assert!(kept >= letters(markdown), "{kept} letters of {}", letters(markdown));
}
