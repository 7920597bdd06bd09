//! The tokenizer's emitter: gathers tags and text and plays the part of the tree builder that the
//! tokenizer needs to know which text is markup (HTML Standard, "parsing HTML fragments", step 4).

use super::attributes::{Attributes, Key};
use super::foreign::Namespaces;
use html5gum::{Emitter, Error, State};
use std::convert::Infallible;

/// Receives what the scanner finds, in the order of the document.
pub(super) trait Sink {
    /// A start tag. `in_html` is false for elements of SVG and MathML.
    fn start_tag(&mut self, tag: &[u8], attributes: &Attributes, in_html: bool, self_closing: bool);
    /// An end tag.
    fn end_tag(&mut self, tag: &[u8], in_html: bool);
    /// All text between two tags, with entities decoded where they count.
    fn text(&mut self, text: &str, within: Within);
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

/// No known tag or attribute has a longer name; of longer ones only this much is kept.
pub(super) const NAME_BYTES_MAX: usize = 32;

/// See the module.
#[derive(Debug)]
pub(super) struct Scanner<'s, S> {
    sink: &'s mut S,
    /// Browsers run scripts and take `noscript` as raw text; the second pass over its content does not.
    noscript_is_raw: bool,
    namespaces: Namespaces,
    within: Within,
    text: Vec<u8>,
    tag: Vec<u8>,
    is_end: bool,
    self_closing: bool,
    attributes: Attributes,
    attribute: Attribute,
    attribute_name: Vec<u8>,
    last_start_tag: Vec<u8>,
}

/// Where the tokenizer is in an attribute.
#[derive(Clone, Copy, Debug)]
enum Attribute {
    /// In none, or in one that nobody reads.
    Skipped,
    /// In the name.
    Name,
    /// In the value.
    Value(Key),
}

impl<'s, S: Sink> Scanner<'s, S> {
    pub(super) fn new(sink: &'s mut S, noscript_is_raw: bool) -> Self {
        Self {
            sink,
            noscript_is_raw,
            namespaces: Namespaces::default(),
            within: Within::Content,
            text: Vec::new(),
            tag: Vec::new(),
            is_end: false,
            self_closing: false,
            attributes: Attributes::default(),
            attribute: Attribute::Skipped,
            attribute_name: Vec::new(),
            last_start_tag: Vec::new(),
        }
    }

    fn flush_text(&mut self) {
        if self.text.is_empty() {
            return;
        }
        // Pieces of the decoded document: always UTF-8 once they are together.
        if let Ok(text) = std::str::from_utf8(&self.text) {
            self.sink.text(text, self.within);
        }
        self.text.clear();
    }

    /// Ends an attribute's name: from here on its value is wanted or not.
    fn end_attribute_name(&mut self) {
        if let Attribute::Name = self.attribute {
            let wanted = Key::parse(&self.attribute_name).filter(|_| !self.is_end);
            let new = wanted.filter(|&name| self.attributes.begin(name));
            self.attribute = new.map_or(Attribute::Skipped, Attribute::Value);
        }
    }

    fn start_tag(&mut self) -> Option<State> {
        let in_html = self.namespaces.start(&self.tag, &self.attributes, self.self_closing);
        self.sink.start_tag(&self.tag, &self.attributes, in_html, self.self_closing);
        self.last_start_tag.clone_from(&self.tag);
        if !in_html {
            return None;
        }
        let (state, within) = self.content_model()?;
        self.within = within;
        Some(state)
    }

    fn end_tag(&mut self) {
        let in_html = self.namespaces.in_html();
        self.within = Within::Content;
        self.namespaces.end(&self.tag);
        self.sink.end_tag(&self.tag, in_html);
    }

    /// How the content of the HTML element just started is tokenized, if not as markup.
    fn content_model(&self) -> Option<(State, Within)> {
        Some(match self.tag.as_slice() {
            b"title" => (State::RcData, Within::Title),
            b"textarea" => (State::RcData, Within::Content),
            b"script" => (State::ScriptData, Within::Hidden),
            b"style" | b"iframe" | b"noembed" | b"noframes" => (State::RawText, Within::Hidden),
            b"noscript" if self.noscript_is_raw => (State::RawText, Within::Noscript),
            b"xmp" => (State::RawText, Within::Content),
            b"plaintext" => (State::PlainText, Within::Content),
            _ => return None,
        })
    }
}

impl<S: Sink> Emitter for Scanner<'_, S> {
    type Token = Infallible;

    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn emit_eof(&mut self) {
        self.flush_text();
    }

    fn emit_string(&mut self, text: &[u8]) {
        if self.within != Within::Hidden {
            self.text.extend_from_slice(text);
        }
    }

    fn init_start_tag(&mut self) {
        self.is_end = false;
        self.init_tag();
    }

    fn init_end_tag(&mut self) {
        self.is_end = true;
        self.init_tag();
    }

    fn push_tag_name(&mut self, name: &[u8]) {
        extend_bounded(&mut self.tag, name);
    }

    fn set_self_closing(&mut self) {
        self.self_closing = true;
    }

    fn init_attribute(&mut self) {
        self.end_attribute_name();
        self.attribute = Attribute::Name;
        self.attribute_name.clear();
    }

    fn push_attribute_name(&mut self, name: &[u8]) {
        extend_bounded(&mut self.attribute_name, name);
    }

    fn push_attribute_value(&mut self, value: &[u8]) {
        self.end_attribute_name();
        if let Attribute::Value(name) = self.attribute {
            self.attributes.extend(name, value);
        }
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        self.end_attribute_name();
        self.attribute = Attribute::Skipped;
        self.flush_text();
        if self.is_end {
            self.end_tag();
            None
        } else {
            self.start_tag()
        }
    }

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.is_end && !self.tag.is_empty() && self.tag == self.last_start_tag
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.namespaces.current_is_foreign()
    }

    fn set_last_start_tag(&mut self, tag: Option<&[u8]>) {
        self.last_start_tag.clear();
        self.last_start_tag.extend_from_slice(tag.unwrap_or_default());
    }

    fn should_emit_errors(&mut self) -> bool {
        false
    }

    fn emit_error(&mut self, _: Error) {}
    fn init_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn emit_current_comment(&mut self) {}
    fn init_doctype(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn set_force_quirks(&mut self) {}
    fn emit_current_doctype(&mut self) {}
}

impl<S> Scanner<'_, S> {
    fn init_tag(&mut self) {
        self.tag.clear();
        self.self_closing = false;
        self.attributes.clear();
        self.attribute = Attribute::Skipped;
    }
}

fn extend_bounded(name: &mut Vec<u8>, piece: &[u8]) {
    let room = NAME_BYTES_MAX.saturating_sub(name.len());
    name.extend_from_slice(&piece[..piece.len().min(room)]);
}
