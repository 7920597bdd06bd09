//! What follows a quote or a bracket, which may be one too many.
//!
//! A look goes over white space and separators, and over one name or word. It stops at the next quote of its kind, so all looks together take time by the length.

use super::is_name_part;

/// Where a text is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// It names a member.
    Name,
    /// It is the value of a member.
    Object,
    /// It is one of a list.
    Array,
}

/// A look at what follows.
pub(super) struct Ahead<'t> {
    rest: &'t str,
    /// Looks at characters.
    pub(super) steps: usize,
}

impl<'t> Ahead<'t> {
    pub(super) fn new(rest: &'t str) -> Self {
        Self { rest, steps: 0 }
    }

    /// Whether the quote before this place ends its text. `is_open`: an inner quote may be open, which this one would close.
    pub(super) fn ends_text(&mut self, within: Within, depth: usize, is_open: bool) -> bool {
        let has_line = self.skip(char::is_whitespace).contains('\n');
        match self.peek() {
            None => true,
            Some(':') => {
                self.skip(|char| char == ':' || char.is_whitespace());
                within == Within::Name || self.is_value()
            }
            Some(',' | ';') => {
                self.skip(is_separator);
                within == Within::Name || self.is_next(within, is_open)
            }
            Some('}' | ']') => self.closes(depth, is_open),
            // A comma is missing.
            Some('"' | '\'' | '{' | '[') => has_line,
            Some(_) => self.is_comment(),
        }
    }

    /// Whether a comma, a name and a colon follow.
    pub(super) fn has_member(&mut self) -> bool {
        self.skip(is_separator).contains(',') && self.is_name()
    }

    /// Whether a name and a colon follow.
    pub(super) fn has_name(&mut self) -> bool {
        self.skip(char::is_whitespace);
        self.is_name()
    }

    fn peek(&mut self) -> Option<char> {
        self.steps += 1;
        self.rest.chars().next()
    }

    fn skip(&mut self, is: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|char| !is(char)).unwrap_or(self.rest.len());
        self.steps += end + 1;
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    fn is_value(&mut self) -> bool {
        let literal = |text: &&str| self.rest.starts_with(*text);
        let is_literal = ["true", "false", "null"].iter().any(literal);
        is_literal || matches!(self.peek(), Some('"' | '\'' | '{' | '[' | '-' | '0'..='9'))
    }

    /// Whether the next member or value begins behind a comma.
    fn is_next(&mut self, within: Within, is_open: bool) -> bool {
        match self.peek() {
            None | Some('}' | ']') => true,
            Some('{' | '[') => within == Within::Array || !is_open,
            Some(quote) if closing(quote).is_some() => {
                let ends = if within == Within::Array { ",]:" } else { ":" };
                !is_open || self.skip_quoted() && self.stands_before(ends)
            }
            Some(_) if self.is_comment() => true,
            Some(_) if within == Within::Object => self.is_name(),
            Some(_) => {
                let word = self.skip(|char| !",]}{[:\n".contains(char) && closing(char).is_none());
                let is_scalar = serde_json::from_str::<serde_json::Value>(word.trim()).is_ok();
                (is_scalar || !is_open) && self.stands_before(",]")
            }
        }
    }

    /// Whether closing brackets end the whole, or something can follow them.
    fn closes(&mut self, depth: usize, is_open: bool) -> bool {
        let brackets = self.skip(|char| matches!(char, '}' | ']') || char.is_whitespace());
        let closed = brackets.bytes().filter(|byte| matches!(byte, b'}' | b']')).count();
        !is_open && closed >= depth
            || matches!(self.peek(), None | Some(',' | ';' | '"' | '\'' | '{' | '['))
            || self.is_comment()
    }

    fn is_comment(&self) -> bool {
        ["//", "/*", "*/", "<!", "-->"].iter().any(|mark| self.rest.starts_with(mark))
    }

    fn is_name(&mut self) -> bool {
        let is_name = match self.peek() {
            Some(quote) if closing(quote).is_some() => self.skip_quoted(),
            Some(char) if !char.is_ascii_digit() => !self.skip(is_name_part).is_empty(),
            _ => false,
        };
        is_name && self.stands_before(":")
    }

    fn stands_before(&mut self, ends: &str) -> bool {
        self.skip(char::is_whitespace);
        self.peek().is_some_and(|char| ends.contains(char))
    }

    /// Skips a text with its quotes; whether it has any characters and an end.
    fn skip_quoted(&mut self) -> bool {
        let mut chars = self.rest.char_indices();
        let Some(quotes) = chars.next().and_then(|(_, quote)| closing(quote)) else { return false };
        let mut length = 0_usize;
        while let Some((at, char)) = chars.next() {
            self.steps += 1;
            if quotes.contains(char) {
                self.rest = &self.rest[at + char.len_utf8()..];
                return length > 0;
            }
            if char == '\\' {
                chars.next();
            }
            length += 1;
        }
        false
    }
}

/// What closes a text that this quote opens. A typographic one stops at its opening, too, so that a look is short.
fn closing(quote: char) -> Option<&'static str> {
    match quote {
        '"' => Some("\""),
        '\'' => Some("'"),
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some("\u{201c}\u{201d}\u{201e}"),
        _ => None,
    }
}

fn is_separator(char: char) -> bool {
    matches!(char, ',' | ';') || char.is_whitespace()
}
