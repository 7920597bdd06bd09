//! Plays the part of the tree builder that the tokenizer needs to know which text is markup (HTML Standard, "parsing HTML
//! fragments", step 4), and tells what each tag and text is.

use super::attributes::{Attributes, Has};
use super::foreign::Namespaces;
use super::tag::Tag;
use super::tokenizer::{Content, Text, Token, Tokenizer};

/// Receives what the scanner finds, in the order of the document.
pub(super) trait Sink {
    /// A start tag. `in_html` is false for elements of SVG and MathML.
    fn start_tag(&mut self, tag: Tag, attributes: &Attributes<'_>, in_html: bool, self_closing: bool);
    /// A start tag of HTML that does no more than to separate words, or not even that.
    fn plain_start_tag(&mut self, tag: Tag);
    /// An end tag of HTML that does no more than to separate words, or not even that.
    fn plain_end_tag(&mut self, tag: Tag);
    /// An end tag.
    fn end_tag(&mut self, tag: Tag, in_html: bool);
    /// Text. Among elements it may come in parts; of `title` and `noscript` it is whole.
    fn text(&mut self, text: Text<'_>, within: Within);
}

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// Text among elements, or of an element that shows it as it is (`textarea`, `xmp`, `plaintext`).
    Content,
    /// The content of `title`.
    Title,
    /// The content of `noscript`: markup for those who run no scripts.
    Noscript,
    /// Never shown: `script`, `style`, and what `iframe`, `noembed`, `noframes` keep for old browsers.
    Hidden,
}

/// Reads a document. Browsers run scripts and take `noscript` as raw text; the second pass over its content does not.
pub(super) fn scan(document: &str, sink: &mut impl Sink, noscript_is_raw: bool) {
    let mut tokenizer = Tokenizer::new(document);
    let mut namespaces = Namespaces::default();
    let mut attributes = Attributes::of(document);
    let mut within = Within::Content;
    loop {
        attributes.clear();
        match tokenizer.next(|name, value| attributes.keep(name, value)) {
            None => return,
            Some(Token::Text(_)) if within == Within::Hidden => {}
            Some(Token::Text(text)) => sink.text(text, within),
            Some(Token::StartTag { name, self_closing }) => {
                let tag = Tag::of(name);
                if !tag.is_heard(attributes.has) && namespaces.are_closed() {
                    within = Within::Content;
                    sink.plain_start_tag(tag);
                    continue;
                }
                let in_html = namespaces.start(name, tag, &attributes, self_closing);
                sink.start_tag(tag, &attributes, in_html, self_closing);
                if in_html {
                    (tokenizer.content, within) = content_model(tag, noscript_is_raw);
                }
                tokenizer.in_foreign = namespaces.current_is_foreign();
            }
            Some(Token::EndTag { name }) => {
                let tag = Tag::of(name);
                within = Within::Content;
                if !tag.is_heard(Has::NAME) && namespaces.are_closed() {
                    sink.plain_end_tag(tag);
                    continue;
                }
                let in_html = namespaces.in_html();
                namespaces.end(name, tag);
                sink.end_tag(tag, in_html);
                tokenizer.in_foreign = namespaces.current_is_foreign();
            }
        }
    }
}

/// How the content of an HTML element is read, and what it is.
pub(super) fn content_model(tag: Tag, noscript_is_raw: bool) -> (Content, Within) {
    match tag {
        Tag::Title => (Content::RcData("title"), Within::Title),
        Tag::TextArea => (Content::RcData("textarea"), Within::Content),
        Tag::Script => (Content::ScriptData, Within::Hidden),
        Tag::Style => (Content::RawText("style"), Within::Hidden),
        Tag::IFrame => (Content::RawText("iframe"), Within::Hidden),
        Tag::NoEmbed => (Content::RawText("noembed"), Within::Hidden),
        Tag::NoFrames => (Content::RawText("noframes"), Within::Hidden),
        Tag::NoScript if noscript_is_raw => (Content::RawText("noscript"), Within::Noscript),
        Tag::Xmp => (Content::RawText("xmp"), Within::Content),
        Tag::PlainText => (Content::PlainText, Within::Content),
        _ => (Content::Data, Within::Content),
    }
}
