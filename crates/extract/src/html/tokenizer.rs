//! The tokenizer: a document to tags and text, every one a slice of it (HTML Standard, 13.2.5, "Tokenization").
//!
//! It goes from `<` to `<`, and looks at short texts, names and values as one number each. The states of the standard that only tell errors
//! apart, or comments and doctypes, of which nothing is kept, come down to where each construct ends. Names are as written,
//! in any case; of text and values only the place is returned, until someone asks what they mean ([`Text::pieces`], [`Part::meaning`]).

use super::names::Name;
use super::references::{self, References};
use crate::{blocks, swar};
use memchr::{memchr, memchr_iter, memchr2, memmem};
use std::borrow::Cow;

/// A tag, or a run of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'d> {
    /// Text; what is between two tags may come in several.
    Text(Text<'d>),
    /// A start tag, and whether it ends with `/>`. Its attributes were told before.
    StartTag { name: Name<'d>, self_closing: bool },
    /// An end tag. Its attributes, which mean nothing, were told before.
    EndTag { name: Name<'d> },
}

/// A part of a document, by the places of its bytes: to make a `str` of it costs looks at both ends, and few parts are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) begin: usize,
    pub(super) end: usize,
}

/// Text as it stands in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text<'d> {
    pub(super) document: &'d str,
    pub(super) part: Part,
    pub(super) reading: Reading,
}

/// How a text is read: whether references count in it, and what a NUL character becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Among markup.
    Data,
    /// A CDATA section.
    Section,
    /// The text of an element without markup in it, with references.
    RcData,
    /// The same, without references.
    RawText,
}

impl Reading {
    fn references(self) -> References {
        match self {
            Reading::Data | Reading::RcData => References::InText,
            Reading::Section | Reading::RawText => References::None,
        }
    }

    fn nul(self) -> &'static str {
        match self {
            Reading::Data | Reading::Section => "\0",
            Reading::RcData | Reading::RawText => REPLACEMENT,
        }
    }
}

/// How what follows is read (the standard's content models).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// As markup.
    Data,
    /// As text with references, up to the end tag of this name.
    RcData(&'static str),
    /// As text, up to the end tag of this name.
    RawText(&'static str),
    /// As a script, up to its end tag.
    ScriptData,
    /// As text, up to the end.
    PlainText,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tokenizer<'d> {
    document: &'d str,
    /// What is left of it.
    rest: &'d [u8],
    /// To be set after a start tag that changes it; the end tag sets it back.
    pub(super) content: Content,
    /// Whether a CDATA section may begin here: not inside elements of HTML.
    pub(super) in_foreign: bool,
}

impl<'d> Tokenizer<'d> {
    pub(super) fn new(document: &'d str) -> Self {
        Self { document, rest: document.as_bytes(), content: Content::Data, in_foreign: false }
    }

    /// The next token; `None` at the end of the document, also where that is inside a tag. Of a tag, `attribute` is given
    /// each name and value, as written, with repeats, before the tag itself.
    #[inline(always)]
    pub(super) fn next(&mut self, mut attribute: impl FnMut(Name<'d>, Part)) -> Option<Token<'d>> {
        if self.content != Content::Data
            && let Some(text) = self.raw_text()
        {
            return Some(Token::Text(text));
        }
        loop {
            match *self.rest {
                [] => return None,
                [b'<', b'a'..=b'z' | b'A'..=b'Z', ..] => {
                    self.skip(1);
                    let name = self.name(ENDS_TAG_NAME);
                    let self_closing = self.rest_of_tag(&mut attribute)?;
                    return Some(Token::StartTag { name, self_closing });
                }
                [b'<', b'/', b'a'..=b'z' | b'A'..=b'Z', ..] => {
                    self.skip(2);
                    let name = self.name(ENDS_TAG_NAME);
                    match self.rest.first() {
                        Some(b'>') => self.skip(1),
                        _ => self.unusual_end(&mut attribute)?,
                    }
                    return Some(Token::EndTag { name });
                }
                [b'<', b'!', ..] => {
                    if let Some(section) = self.declaration() {
                        return Some(Token::Text(section));
                    }
                }
                [b'<', b'?', ..] | [b'<', b'/', _, ..] => self.skip_past_greater_than(),
                _ => return Some(Token::Text(self.text())),
            }
        }
    }

    #[inline(always)]
    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    /// Goes on by that many bytes; what was passed.
    #[inline(always)]
    fn take(&mut self, length: usize) -> Part {
        let begin = self.document.len() - self.rest.len();
        self.skip(length);
        Part { begin, end: begin + length }
    }

    /// Goes on by that many bytes, which are text.
    #[inline(always)]
    fn take_text(&mut self, length: usize, reading: Reading) -> Text<'d> {
        Text { document: self.document, part: self.take(length), reading }
    }

    /// Text up to the next `<`. One here is text, since nothing begins with it.
    #[inline(always)]
    fn text(&mut self) -> Text<'d> {
        let end = blocks::find(&self.rest[1..], b'<');
        self.take_text(end.map_or(self.rest.len(), |end| end + 1), Reading::Data)
    }

    /// The text of an element whose content is no markup, unless it is empty. What follows is its end tag, or nothing.
    fn raw_text(&mut self) -> Option<Text<'d>> {
        let (length, reading) = extent(self.rest, self.content);
        self.content = Content::Data;
        (length > 0).then(|| self.take_text(length, reading))
    }

    /// A comment, a doctype or a CDATA section; the text of the last, unless it is empty.
    fn declaration(&mut self) -> Option<Text<'d>> {
        let (before, length, behind) = declaration(self.rest, self.in_foreign);
        self.skip(before);
        let text = self.take_text(length, Reading::Section);
        self.skip(behind);
        (length > 0).then_some(text)
    }

    fn skip_past_greater_than(&mut self) {
        self.skip(memchr(b'>', self.rest).map_or(self.rest.len(), |end| end + 1));
    }

    /// Reads a tag from behind its name, and whether it ends with `/>`. `None` if the document ends first.
    #[inline(always)]
    fn rest_of_tag(&mut self, attribute: &mut impl FnMut(Name<'d>, Part)) -> Option<bool> {
        let mut is_closed = false;
        loop {
            while let Some((name, value)) = self.common_attribute() {
                attribute(name, value);
            }
            let mut next = *self.rest.first()?;
            if is(next, SPACE) {
                self.skip(1);
                next = *self.rest.first()?;
            }
            match next {
                b'>' => {
                    self.skip(1);
                    return Some(is_closed);
                }
                b'/' => {
                    self.skip(1);
                    is_closed = self.rest.first() == Some(&b'>');
                }
                _ if is(next, SPACE) => {}
                _ => {
                    let (name, value) = self.attribute()?;
                    attribute(name, value);
                }
            }
        }
    }

    /// Reads an end tag from behind its name, if that is not all of it.
    #[inline(never)]
    fn unusual_end(&mut self, attribute: &mut impl FnMut(Name<'d>, Part)) -> Option<()> {
        self.rest_of_tag(attribute).map(|_| ())
    }

    /// Reads a space and an attribute, if it is written as most are: a short name of letters, and a
    /// value between double quotes.
    #[inline(always)]
    fn common_attribute(&mut self) -> Option<(Name<'d>, Part)> {
        let block: &[u8; 16] = self.rest.first_chunk().filter(|block| block[0] == b' ')?;
        let (name, _) = Name::short(&block[1..])?;
        let value = 3 + name.raw.len();
        if block[value - 2..value] != *b"=\"" {
            return None;
        }
        let length = blocks::find(&self.rest[value..], b'"')?;
        let at = self.document.len() - self.rest.len();
        let begin = at + value;
        self.rest = &self.rest[value + length + 1..];
        Some((name.at(at + 1), Part { begin, end: begin + length }))
    }

    /// Reads a name, up to a byte of these kinds. The first byte belongs to it whatever it is.
    #[inline(always)]
    fn name(&mut self, ends: u8) -> Name<'d> {
        let name = match Name::short(self.rest) {
            Some((name, end)) if is(end, ends) => name,
            _ => unusual_name(self.rest, ends),
        };
        let begin = self.take(name.raw.len()).begin;
        name.at(begin)
    }

    /// Reads an attribute: name and value. `None` if the document ends first.
    #[inline(always)]
    fn attribute(&mut self) -> Option<(Name<'d>, Part)> {
        let name = self.name(ENDS_ATTRIBUTE_NAME);
        // As it is nearly everywhere.
        if let [b'=', quote @ (b'"' | b'\''), ..] = *self.rest {
            self.skip(2);
            return Some((name, self.quoted(quote)?));
        }
        Some((name, self.unusual_value()?))
    }

    /// Reads what is behind the name of an attribute.
    fn unusual_value(&mut self) -> Option<Part> {
        self.skip_space();
        if *self.rest.first()? != b'=' {
            return Some(Part::default());
        }
        self.skip(1);
        self.skip_space();
        match *self.rest.first()? {
            quote @ (b'"' | b'\'') => {
                self.skip(1);
                self.quoted(quote)
            }
            b'>' => Some(Part::default()),
            _ => {
                let end = self.rest.iter().position(|&byte| is(byte, ENDS_UNQUOTED_VALUE));
                Some(self.take(end.unwrap_or(self.rest.len())))
            }
        }
    }

    /// Reads a value up to its quote, and past it.
    #[inline(always)]
    fn quoted(&mut self, quote: u8) -> Option<Part> {
        let value = self.take(blocks::find(self.rest, quote)?);
        self.skip(1);
        Some(value)
    }

    fn skip_space(&mut self) {
        self.skip(self.rest.iter().position(|&byte| !is(byte, SPACE)).unwrap_or(self.rest.len()));
    }
}

/// A name with more than letters, or many.
fn unusual_name(rest: &[u8], ends: u8) -> Name<'_> {
    let end = rest.iter().skip(1).position(|&byte| is(byte, ends));
    Name::new(&rest[..end.map_or(rest.len(), |end| end + 1)])
}

/// What stands for a character that may not be there.
const REPLACEMENT: &str = "\u{fffd}";

impl Part {
    /// As it stands in the document, of which it is a part.
    fn of(self, document: &str) -> &str {
        &document[self.begin..self.end]
    }

    /// What it means as the value of an attribute.
    pub(super) fn meaning(self, document: &str) -> Cow<'_, str> {
        references::whole(self.of(document), References::InAttribute, REPLACEMENT)
    }
}

impl<'d> Text<'d> {
    fn raw(&self) -> &'d str {
        self.part.of(self.document)
    }

    /// Whether it is white space.
    pub(super) fn is_blank(&self) -> bool {
        self.raw().bytes().all(|byte| is(byte, SPACE))
    }

    /// Itself and its bytes as a number, if they are less than eight and all stand for themselves.
    #[inline]
    pub(super) fn short(&self) -> Option<(&'d str, u64)> {
        let length = self.part.end - self.part.begin;
        let word = self.document.as_bytes()[self.part.begin..].first_chunk().map(|word| u64::from_le_bytes(*word))?;
        if length >= 8 {
            return None;
        }
        let mask = swar::mask(length);
        (references::special(word) & mask == 0).then(|| (self.raw(), word & mask))
    }

    /// What it means, in pieces. A NUL character among markup comes as a piece of its own, since it depends on where it stands
    /// whether it counts.
    #[inline]
    pub(super) fn pieces(&self, each: impl FnMut(&str)) {
        references::pieces(self.raw(), self.reading.references(), self.reading.nul(), each);
    }

    /// What it means, in one.
    pub(super) fn whole(&self) -> Cow<'d, str> {
        if let Some((text, _)) = self.short() {
            return Cow::Borrowed(text);
        }
        references::whole(self.raw(), self.reading.references(), self.reading.nul())
    }
}

/// How long the text of an element is whose content is read so, and how it is read.
fn extent(rest: &[u8], content: Content) -> (usize, Reading) {
    match content {
        Content::Data => (0, Reading::RawText),
        Content::RcData(name) => (end_of_raw_text(rest, name), Reading::RcData),
        Content::RawText(name) => (end_of_raw_text(rest, name), Reading::RawText),
        Content::ScriptData => (end_of_script(rest), Reading::RawText),
        Content::PlainText => (rest.len(), Reading::RawText),
    }
}

/// How long a comment, a doctype or a CDATA section is: what is before its text, that text, what is behind it.
fn declaration(rest: &[u8], in_foreign: bool) -> (usize, usize, usize) {
    const COMMENT: &[u8] = b"<!--";
    const SECTION: &[u8] = b"<![CDATA[";
    if let Some(comment) = rest.strip_prefix(COMMENT) {
        return (COMMENT.len() + end_of_comment(comment), 0, 0);
    }
    match rest.strip_prefix(SECTION).filter(|_| in_foreign) {
        Some(section) => {
            let end = memmem::find(section, b"]]>");
            (SECTION.len(), end.unwrap_or(section.len()), end.map_or(0, |_| 3))
        }
        // In all states of a doctype and of a bogus comment.
        None => (memchr(b'>', rest).map_or(rest.len(), |end| end + 1), 0, 0),
    }
}

/// The end of a comment, behind its `<!--`: past the first `-->` or `--!>`, or past a `>` or `->` that begins it.
fn end_of_comment(rest: &[u8]) -> usize {
    let is_end = |&at: &usize| {
        let before = &rest[..at];
        before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!")
    };
    memchr_iter(b'>', rest).find(is_end).map_or(rest.len(), |at| at + 1)
}

/// Where the end tag of this name begins.
fn end_of_raw_text(rest: &[u8], name: &str) -> usize {
    memchr_iter(b'<', rest).find(|&at| begins_with_end_tag(&rest[at..], name)).unwrap_or(rest.len())
}

/// "An appropriate end tag token": what follows must end the name.
fn begins_with_end_tag(rest: &[u8], name: &str) -> bool {
    rest.get(1) == Some(&b'/')
        && rest.get(2..name.len() + 2).is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
        && rest.get(name.len() + 2).is_some_and(|&byte| is(byte, ENDS_TAG_NAME))
}

/// Where the end tag of a script begins. Behind `<!--` a `<script>` hides one end tag, up to `-->` (the escaped states).
fn end_of_script(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(less_than) = memchr(b'<', &rest[at..]) {
        at += less_than;
        if begins_with_end_tag(&rest[at..], SCRIPT) {
            return at;
        }
        at += 1;
        if rest[at..].starts_with(b"!--") {
            // The dashes may be those of its end too.
            match end_of_escaped(rest, at + 1) {
                Escaped::Ended(behind) => at = behind,
                Escaped::EndTag(at) => return at,
            }
        }
    }
    rest.len()
}

const SCRIPT: &str = "script";

/// How the escaped part of a script ends.
enum Escaped {
    /// With `-->`, or with the document: what is behind it is no longer escaped.
    Ended(usize),
    /// With the end tag here.
    EndTag(usize),
}

/// Reads the escaped part of a script, from the first of the dashes with which it begins.
fn end_of_escaped(script: &[u8], from: usize) -> Escaped {
    let (mut at, mut is_double) = (from, false);
    while let Some(found) = memchr2(b'<', b'>', &script[at..]) {
        at += found;
        if script[at] == b'>' {
            if script[from..at].ends_with(b"--") {
                return Escaped::Ended(at + 1);
            }
        } else if is_double {
            is_double = !begins_with_end_tag(&script[at..], SCRIPT);
        } else if begins_with_end_tag(&script[at..], SCRIPT) {
            return Escaped::EndTag(at);
        } else {
            is_double = begins_with_script_tag(&script[at..]);
        }
        at += 1;
    }
    Escaped::Ended(script.len())
}

fn begins_with_script_tag(rest: &[u8]) -> bool {
    rest.get(1..SCRIPT.len() + 1).is_some_and(|tag| tag.eq_ignore_ascii_case(SCRIPT.as_bytes()))
        && rest.get(SCRIPT.len() + 1).is_some_and(|&byte| is(byte, ENDS_TAG_NAME))
}

/// Kinds of bytes, as bits.
const SPACE: u8 = 1;
const ENDS_TAG_NAME: u8 = 2;
const ENDS_ATTRIBUTE_NAME: u8 = 4;
const ENDS_UNQUOTED_VALUE: u8 = 8;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let spaces = b"\t\n\x0c\r ";
    let mut at = 0;
    while at < spaces.len() {
        kinds[spaces[at] as usize] = SPACE | ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED_VALUE;
        at += 1;
    }
    kinds[b'/' as usize] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME;
    kinds[b'>' as usize] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_UNQUOTED_VALUE;
    kinds[b'=' as usize] = ENDS_ATTRIBUTE_NAME;
    kinds
};

#[inline]
fn is(byte: u8, kinds: u8) -> bool {
    KINDS[usize::from(byte)] & kinds != 0
}

#[cfg(test)]
mod tests;
