//! JSON as pages have it: what a strict reader accepts, and what people and templates make of it.
//!
//! A strict reader is tried first. What it refuses is read again with patience. Each kind of repair is noted ([`Flaw`]). The reading is one
//! pass: each character is looked at a few times at most, and nothing is read twice.

mod ahead;
#[cfg(test)]
mod tests;

use ahead::{Ahead, Within};
use serde_json::{Map, Number, Value};

/// How deep values are nested, at most: what is deeper is null.
pub const DEPTH_MAX: usize = 100;

/// Digits that every whole number keeps. More may be lost.
const DIGITS_KEPT: usize = 18;

/// Something that a strict reader refuses, or loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flaw {
    /// A comment, of JavaScript or HTML, or a CDATA section around it.
    Comment,
    /// A comma too many, or none.
    Comma,
    /// A line break or another control character in a text.
    Control,
    /// References of HTML in place of quotes.
    Reference,
    /// Quotes of another kind, none around a name, or one too many in a text.
    Quote,
    /// An escape that JSON does not have.
    Escape,
    /// Something before or behind the value, or several values.
    Around,
    /// A value that is none.
    Value,
    /// It ends in the middle.
    End,
    /// It is nested deeper than [`DEPTH_MAX`].
    Depth,
    /// A whole number with more digits than numbers keep, which is a text.
    Digits,
}

/// All flaws, with their names.
const FLAWS: [(Flaw, &str); 11] = [
    (Flaw::Comment, "comment"),
    (Flaw::Comma, "comma"),
    (Flaw::Control, "control"),
    (Flaw::Reference, "reference"),
    (Flaw::Quote, "quote"),
    (Flaw::Escape, "escape"),
    (Flaw::Around, "around"),
    (Flaw::Value, "value"),
    (Flaw::End, "end"),
    (Flaw::Depth, "depth"),
    (Flaw::Digits, "digits"),
];

/// A set of flaws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws(u16);

impl Flaws {
    fn add(&mut self, flaw: Flaw) {
        self.0 |= 1 << flaw as u16;
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether this one is among them.
    #[must_use]
    pub fn has(self, flaw: Flaw) -> bool {
        self.0 & 1 << flaw as u16 != 0
    }

    /// Their names, separated by commas; `None` without any.
    #[must_use]
    pub fn names(self) -> Option<String> {
        let names: Vec<&str> = FLAWS.iter().filter(|(flaw, _)| self.has(*flaw)).map(|(_, name)| *name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// The values, of which there is one, as a rule.
    pub values: Vec<Value>,
    /// What was repaired.
    pub flaws: Flaws,
    /// Looks at characters; 0 where the strict reader was content.
    pub steps: usize,
}

/// Reads JSON, whatever state it is in.
#[must_use]
pub fn read(text: &str) -> Repaired {
    if !may_lose_digits(text)
        && let Ok(value) = serde_json::from_str(text)
    {
        return Repaired { values: vec![value], ..Repaired::default() };
    }
    let mut reader = Reader { rest: text, flaws: Flaws::default(), steps: 0, depth: 0, objects: 0 };
    let values = reader.values();
    Repaired { values, flaws: reader.flaws, steps: reader.steps }
}

/// Reads JSON that needs no repair; `None` if it is none. A byte order mark may be before it. Whole numbers with more digits than numbers keep
/// are texts.
#[must_use]
pub fn strict(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let value = serde_json::from_str(text).ok()?;
    let is_plain = !matches!(value, Value::Array(_) | Value::Object(_)) || !may_lose_digits(text);
    if is_plain { Some(value) } else { read(text).values.into_iter().next() }
}

/// Whether there are so many digits in a row that a number may lose some. In a text they do no harm: the patient reader reads the same.
fn may_lose_digits(text: &str) -> bool {
    text.as_bytes()
        .chunk_by(|left, right| left.is_ascii_digit() && right.is_ascii_digit())
        .any(|run| run.len() > DIGITS_KEPT)
}

/// The end of a text: what quotes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    /// `"`, `'` or a typographic one.
    Char(char),
    /// A reference of HTML.
    Reference(&'static str),
}

/// References that stand for a quote.
const QUOTES: [&str; 3] = ["&quot;", "&#34;", "&#x22;"];

struct Reader<'t> {
    rest: &'t str,
    flaws: Flaws,
    steps: usize,
    depth: usize,
    /// How many of the open brackets are objects.
    objects: usize,
}

impl<'t> Reader<'t> {
    fn peek(&mut self) -> Option<char> {
        self.steps += 1;
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn take(&mut self, text: &str) -> bool {
        self.steps += 1;
        let Some(rest) = self.rest.strip_prefix(text) else { return false };
        self.rest = rest;
        true
    }

    /// Skips past this text, or to the end.
    fn skip_past(&mut self, end: &str) {
        let at = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.steps += at;
        self.rest = &self.rest[at..];
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\n' | '\r') => {
                    self.next();
                }
                // White space that JSON does not know.
                Some(space) if space.is_whitespace() || space == '\u{feff}' || space.is_control() => {
                    self.flaws.add(Flaw::Control);
                    self.next();
                }
                Some('/') if self.take("//") => self.skip_line(),
                Some('/') if self.take("/*") => self.skip_comment("*/"),
                Some('<') if self.take("<!--") => self.flaws.add(Flaw::Comment),
                Some('<') if self.take("<![CDATA[") => self.flaws.add(Flaw::Comment),
                Some(']') if self.take("]]>") => self.flaws.add(Flaw::Comment),
                Some('-') if self.take("-->") => self.flaws.add(Flaw::Comment),
                Some('*') if self.take("*/") => self.flaws.add(Flaw::Comment),
                _ => return,
            }
        }
    }

    /// A line comment. What hides a CDATA section from scripts goes on behind it.
    fn skip_line(&mut self) {
        self.flaws.add(Flaw::Comment);
        let is_mark = ["<![CDATA[", "]]>", "<!--", "-->"].iter().any(|mark| self.rest.trim_start().starts_with(mark));
        if !is_mark {
            self.skip_past("\n");
        }
    }

    fn skip_comment(&mut self, end: &str) {
        self.flaws.add(Flaw::Comment);
        let is_mark = ["<![CDATA[", "]]>"].iter().any(|mark| self.rest.trim_start().starts_with(mark));
        if !is_mark {
            self.skip_past(end);
        }
    }

    /// All values of a text.
    fn values(&mut self) -> Vec<Value> {
        let mut values = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                None => return values,
                Some('{' | '[') => {
                    if !values.is_empty() {
                        self.flaws.add(Flaw::Around);
                    }
                    values.push(self.value(Within::Array));
                }
                // A semicolon, the name of a variable, or no JSON at all.
                Some(_) => {
                    self.flaws.add(Flaw::Around);
                    self.next();
                }
            }
        }
    }

    fn value(&mut self, within: Within) -> Value {
        self.skip_space();
        match self.peek() {
            None => {
                self.flaws.add(Flaw::End);
                Value::Null
            }
            Some(open @ ('{' | '[')) if self.depth >= DEPTH_MAX => {
                self.flaws.add(Flaw::Depth);
                self.skip_nested(open);
                Value::Null
            }
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some(',' | '}' | ']') => {
                self.flaws.add(Flaw::Value);
                Value::Null
            }
            Some(_) => match self.quote() {
                Some(quote) => Value::String(self.text(quote, within)),
                None => self.word(within),
            },
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Value) -> Value {
        self.next();
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Skips a value that is too deep, by its brackets.
    fn skip_nested(&mut self, open: char) {
        let close = if open == '{' { '}' } else { ']' };
        let mut depth = 0_usize;
        while let Some(next) = self.next() {
            if next == open {
                depth += 1;
            } else if next == close {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
        }
    }

    fn object(&mut self) -> Value {
        let mut object = Map::new();
        self.objects += 1;
        loop {
            if self.ends('}', !object.is_empty()) {
                self.objects -= 1;
                return Value::Object(object);
            }
            let name = match self.quote() {
                Some(quote) => self.text(quote, Within::Name),
                None => {
                    self.flaws.add(Flaw::Quote);
                    self.bare_name()
                }
            };
            self.skip_space();
            if !self.take(":") {
                self.flaws.add(Flaw::Value);
                if name.is_empty() {
                    // Neither a name nor a value: one character less.
                    self.next();
                }
                continue;
            }
            let value = self.value(Within::Object);
            object.insert(name, value);
        }
    }

    fn array(&mut self) -> Value {
        let mut array = Vec::new();
        loop {
            if self.ends(']', !array.is_empty()) {
                return Value::Array(array);
            }
            let before = self.rest.len();
            array.push(self.value(Within::Array));
            if self.rest.len() == before {
                self.next();
            }
        }
    }

    /// Whether an object or array ends here; skips a comma before the next member, which is wanted behind another one.
    fn ends(&mut self, close: char, wants_comma: bool) -> bool {
        let mut commas = 0;
        loop {
            self.skip_space();
            match self.peek() {
                None => {
                    self.flaws.add(Flaw::End);
                    return true;
                }
                // A list has no members: its bracket is missing.
                Some(',') if close == ']' && self.objects > 0 && self.ahead(1, Ahead::has_name) => {
                    self.flaws.add(Flaw::End);
                    if commas > 0 {
                        self.flaws.add(Flaw::Comma);
                    }
                    return true;
                }
                Some(',') => {
                    commas += 1;
                    self.next();
                }
                // More members of the outermost object follow. So this bracket is one too many, or closes a list.
                Some('}') if self.objects == 1 && self.ahead(1, Ahead::has_member) => {
                    self.flaws.add(Flaw::Around);
                    self.next();
                    if close == ']' {
                        return true;
                    }
                }
                Some(next) if next == close => {
                    self.next();
                    if commas > 0 {
                        self.flaws.add(Flaw::Comma);
                    }
                    return true;
                }
                // The bracket of what is around it: this one is missing.
                Some('}' | ']') if self.depth > 1 => {
                    self.flaws.add(Flaw::End);
                    return true;
                }
                Some('}' | ']') => {
                    self.flaws.add(Flaw::Around);
                    self.next();
                }
                Some(_) => {
                    if commas > 1 || wants_comma && commas == 0 {
                        self.flaws.add(Flaw::Comma);
                    }
                    return false;
                }
            }
        }
    }

    /// The quote that opens a text here.
    fn quote(&mut self) -> Option<Quote> {
        let quote = match self.peek()? {
            '"' => Quote::Char('"'),
            '\'' => Quote::Char('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' => Quote::Char('\u{201d}'),
            '&' => Quote::Reference(QUOTES.into_iter().find(|quote| self.rest.starts_with(quote))?),
            _ => return None,
        };
        match quote {
            Quote::Char(_) => self.rest = &self.rest[self.rest.chars().next().map_or(0, char::len_utf8)..],
            Quote::Reference(reference) => self.rest = &self.rest[reference.len()..],
        }
        match quote {
            Quote::Char('"') => {}
            Quote::Char(_) => self.flaws.add(Flaw::Quote),
            Quote::Reference(_) => self.flaws.add(Flaw::Reference),
        }
        Some(quote)
    }

    /// A text up to its quote.
    fn text(&mut self, quote: Quote, within: Within) -> String {
        let mut text = String::new();
        let mut is_open = false;
        loop {
            if let Quote::Reference(reference) = quote
                && self.take(reference)
            {
                return text;
            }
            let Some(next) = self.next() else {
                self.flaws.add(Flaw::End);
                return text;
            };
            match next {
                _ if quote == Quote::Char(next) => {
                    let depth = self.depth;
                    if self.ahead(0, |ahead| ahead.ends_text(within, depth, is_open)) || self.ahead(0, Ahead::has_name)
                    {
                        return text;
                    }
                    self.flaws.add(Flaw::Quote);
                    is_open = !is_open;
                    text.push(next);
                }
                '\\' => self.escape(&mut text),
                '&' if matches!(quote, Quote::Reference(_)) => self.reference(&mut text),
                control if control.is_control() => {
                    self.flaws.add(Flaw::Control);
                    text.push(control);
                }
                next => text.push(next),
            }
        }
    }

    /// Looks at what follows behind some bytes.
    fn ahead(&mut self, bytes: usize, look: impl FnOnce(&mut Ahead<'t>) -> bool) -> bool {
        let mut ahead = Ahead::new(&self.rest[bytes..]);
        let is = look(&mut ahead);
        self.steps += ahead.steps;
        is
    }

    fn escape(&mut self, text: &mut String) {
        match self.next() {
            None => self.flaws.add(Flaw::End),
            Some('u') => self.code(text),
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some(plain @ ('"' | '\\' | '/')) => text.push(plain),
            Some(other) => {
                self.flaws.add(Flaw::Escape);
                if other != '\'' {
                    text.push('\\');
                }
                text.push(other);
            }
        }
    }

    /// A character by its code: four digits, or two times four.
    fn code(&mut self, text: &mut String) {
        const REPLACEMENT: char = '\u{fffd}';
        let Some(first) = self.digits() else {
            self.flaws.add(Flaw::Escape);
            text.push_str("\\u");
            return;
        };
        let is_pair = (0xd800..0xdc00).contains(&first) && self.rest.starts_with("\\u");
        if !is_pair {
            text.push(char::from_u32(first).unwrap_or(REPLACEMENT));
            return;
        }
        let before = self.rest;
        self.rest = &self.rest[2..];
        match self.digits().filter(|second| (0xdc00..0xe000).contains(second)) {
            Some(second) => {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                text.push(char::from_u32(code).unwrap_or(REPLACEMENT));
            }
            None => {
                self.rest = before;
                text.push(REPLACEMENT);
            }
        }
    }

    fn digits(&mut self) -> Option<u32> {
        self.steps += 4;
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }

    /// A reference in a text that references quote.
    fn reference(&mut self, text: &mut String) {
        const NAMED: [(&str, char); 5] = [("amp;", '&'), ("lt;", '<'), ("gt;", '>'), ("apos;", '\''), ("#39;", '\'')];
        match NAMED.into_iter().find(|(name, _)| self.take(name)) {
            Some((_, char)) => text.push(char),
            None => text.push('&'),
        }
    }

    /// A name without quotes.
    fn bare_name(&mut self) -> String {
        let end = self.rest.find(|char| !is_name_part(char)).unwrap_or(self.rest.len());
        self.steps += end;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    /// The length of a word, which ends before the next sign of JSON. In an object, a comma between digits belongs to it (`1,299.00`): a
    /// name does not begin with digits.
    fn word_length(&mut self, within: Within) -> usize {
        let bytes = self.rest.as_bytes();
        let (mut has_comma, mut has_quote) = (false, false);
        let is_end = |at: &usize| match bytes[*at] {
            b'}' | b']' | b':' | b'\n' | b'\r' | b'{' | b'[' => true,
            b',' => {
                let is_in_number = within == Within::Object && goes_on(&self.rest[..*at], &self.rest[*at + 1..]);
                has_comma |= is_in_number;
                !is_in_number
            }
            // A comma is missing before a name.
            b'"' => {
                let is_first = !std::mem::replace(&mut has_quote, true);
                has_comma || is_first && serde_json::from_str::<Value>(&self.rest[..*at]).is_ok()
            }
            // A comment begins behind a space, so that an address without quotes stays whole.
            b'/' => matches!(bytes[..*at], [.., b' ' | b'\t']) && matches!(bytes.get(at + 1), Some(b'/' | b'*')),
            _ => false,
        };
        let length = (0..bytes.len()).find(is_end).unwrap_or(bytes.len());
        self.steps += length;
        length
    }

    /// A number, `true`, `false`, `null`, or something that is none of them.
    fn word(&mut self, within: Within) -> Value {
        let length = self.word_length(within);
        let (word, rest) = self.rest.split_at(length);
        let word = word.trim().to_owned();
        self.rest = rest;
        match word.as_str() {
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            "null" => return Value::Null,
            _ => {}
        }
        if let Ok(number) = serde_json::from_str::<Number>(&word) {
            let is_whole = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if number.is_f64() && is_whole && word.len() > DIGITS_KEPT {
                self.flaws.add(Flaw::Digits);
                return Value::String(word);
            }
            return Value::Number(number);
        }
        self.flaws.add(Flaw::Value);
        match word.as_str() {
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "" | "undefined" | "NaN" | "None" => Value::Null,
            _ => Value::String(word),
        }
    }
}

/// Whether a number goes on behind a comma: digits follow that are no name.
fn goes_on(before: &str, behind: &str) -> bool {
    let is_digit = |char: char| char.is_ascii_digit();
    let end = behind.find([',', '}', ']', ':', '\n', '\r', '{', '[', '"']).unwrap_or(behind.len());
    before.ends_with(is_digit) && behind.starts_with(is_digit) && !behind[end..].starts_with(':')
}

/// Whether a name without quotes may have it.
fn is_name_part(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$' | '@' | '-' | '.')
}
