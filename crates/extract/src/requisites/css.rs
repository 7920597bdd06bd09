//! A style sheet to the URLs in it (CSS Syntax Module Level 3): `@import`, `url()`, and the strings of `image-set()`, `image()` and `src()`.
//!
//! Only as many tokens are told apart as are needed to know where URLs are: comments, strings, names, functions, `url()` without quotes.

use std::borrow::Cow;

use super::{Requisites, Role};

/// Functions in functions that are told apart, at most; what is deeper has no strings that are URLs.
const NESTED_MAX: usize = 64;

/// Adds what a `style` attribute needs. Whatever the encoding of its page, queries of its URLs are in UTF-8.
pub fn of_style_attribute(text: &str, found: &mut Requisites) {
    of_style_sheet(&with_queries_in_utf8(text), found);
}

fn with_queries_in_utf8(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let (mut encoded, mut is_query, mut buffer) = (String::with_capacity(text.len()), false, [0; 4]);
    for char in text.chars() {
        is_query = (is_query || char == '?') && !matches!(char, '"' | '\'' | ')') && !is_space(char);
        if is_query && !char.is_ascii() {
            char.encode_utf8(&mut buffer).bytes().for_each(|byte| encoded.push_str(&format!("%{byte:02X}")));
        } else {
            encoded.push(char);
        }
    }
    Cow::Owned(encoded)
}

/// Adds what a style sheet needs.
pub fn of_style_sheet(text: &str, found: &mut Requisites) {
    Scanner { rest: text, functions: Vec::new(), prelude: Prelude::None }.scan(found);
}

/// What the strings in a function are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    /// URLs, for this.
    OfUrls(Role),
    /// Anything else.
    Other,
}

/// The at-rule whose prelude is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prelude {
    None,
    /// `@import`, before its URL.
    Import,
    /// `@namespace` and `@document`: the URLs in it are names.
    OfNames,
}

struct Scanner<'t> {
    rest: &'t str,
    /// The functions and parentheses that are open.
    functions: Vec<Function>,
    prelude: Prelude,
}

impl<'t> Scanner<'t> {
    fn scan(mut self, found: &mut Requisites) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '/' if self.rest.starts_with("/*") => self.skip_comment(),
                '"' | '\'' => {
                    let string = self.string(first);
                    self.take(&string, found);
                }
                '@' => {
                    self.skip(1);
                    self.prelude = prelude_of(&self.name());
                }
                '{' | '}' | ';' => {
                    self.skip(1);
                    self.prelude = Prelude::None;
                    if first != ';' {
                        self.functions.clear();
                    }
                }
                '(' => self.open(Function::Other),
                ')' => {
                    self.skip(1);
                    self.functions.pop();
                }
                '\\' if !begins_escape(self.rest) => self.skip(1),
                '-' | '_' | '\\' | 'a'..='z' | 'A'..='Z' | '\u{80}'.. => self.name_or_function(found),
                '0'..='9' => {
                    // A number with its unit, which is no function.
                    self.name();
                }
                '#' => {
                    self.skip(1);
                    self.name();
                }
                _ => self.skip(first.len_utf8()),
            }
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn skip_comment(&mut self) {
        let end = self.rest[2..].find("*/").map_or(self.rest.len(), |at| at + 4);
        self.skip(end);
    }

    fn open(&mut self, function: Function) {
        self.skip(1);
        let is_deep = self.functions.len() >= NESTED_MAX;
        self.functions.push(if is_deep { Function::Other } else { function });
    }

    /// Takes a string where one is a URL.
    fn take(&mut self, string: &str, found: &mut Requisites) {
        if self.prelude == Prelude::Import && self.functions.is_empty() {
            found.add(string, Role::StyleSheet);
            self.prelude = Prelude::None;
        } else if let Some(Function::OfUrls(role)) = self.functions.last()
            && self.prelude != Prelude::OfNames
        {
            found.add(string, *role);
        }
    }

    /// A name, and what it begins if it is a function (§4.3.4).
    fn name_or_function(&mut self, found: &mut Requisites) {
        let name = self.name();
        if !self.rest.starts_with('(') {
            return;
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if !is("url") {
            let of_urls = ["image-set", "-webkit-image-set", "image", "src"].into_iter().any(is);
            return self.open(if of_urls { Function::OfUrls(Role::File) } else { Function::Other });
        }
        let role = if self.prelude == Prelude::Import { Role::StyleSheet } else { Role::File };
        self.open(Function::OfUrls(role));
        let inside = self.rest.trim_start_matches(is_space);
        if inside.starts_with(['"', '\'']) {
            self.rest = inside;
            if self.prelude == Prelude::Import {
                // Its only URL; strings behind it, as in supports(), are none.
                self.prelude = Prelude::None;
            }
            return;
        }
        self.functions.pop();
        self.rest = inside;
        if let Some(url) = self.bare_url()
            && self.prelude != Prelude::OfNames
        {
            found.add(&url, role);
        }
        if self.prelude == Prelude::Import {
            self.prelude = Prelude::None;
        }
    }

    /// The content of `url(` without quotes, up to and with `)`; `None` if it is broken (§4.3.6).
    fn bare_url(&mut self) -> Option<Cow<'t, str>> {
        let begin = self.rest;
        let mut unescaped: Option<String> = None;
        loop {
            let at = begin.len() - self.rest.len();
            match self.rest.chars().next() {
                None | Some(')') => {
                    let url = unescaped.map_or(Cow::Borrowed(&begin[..at]), Cow::Owned);
                    self.skip(usize::from(!self.rest.is_empty()));
                    return Some(url);
                }
                Some(space) if is_space(space) => {
                    let url = unescaped.map_or(Cow::Borrowed(&begin[..at]), Cow::Owned);
                    self.rest = self.rest.trim_start_matches(is_space);
                    if self.rest.is_empty() || self.rest.starts_with(')') {
                        self.skip(usize::from(!self.rest.is_empty()));
                        return Some(url);
                    }
                    self.skip_bad_url();
                    return None;
                }
                Some('"' | '\'' | '(' | '\0'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}') => {
                    self.skip_bad_url();
                    return None;
                }
                Some('\\') if !begins_escape(self.rest) => {
                    self.skip_bad_url();
                    return None;
                }
                Some('\\') => {
                    let escaped = self.escape();
                    unescaped.get_or_insert_with(|| begin[..at].to_owned()).push(escaped);
                }
                Some(other) => {
                    self.skip(other.len_utf8());
                    if let Some(url) = &mut unescaped {
                        url.push(other);
                    }
                }
            }
        }
    }

    /// What is left of a broken `url(` (§4.3.14).
    fn skip_bad_url(&mut self) {
        while let Some(next) = self.rest.chars().next() {
            match next {
                '\\' if begins_escape(self.rest) => {
                    self.escape();
                }
                ')' => return self.skip(1),
                other => self.skip(other.len_utf8()),
            }
        }
    }

    /// A string, of which the quote is next (§4.3.5). It ends before a line break.
    fn string(&mut self, quote: char) -> Cow<'t, str> {
        self.skip(1);
        let begin = self.rest;
        let mut unescaped: Option<String> = None;
        loop {
            let at = begin.len() - self.rest.len();
            match self.rest.chars().next() {
                None | Some('\n' | '\r' | '\u{c}') => return unescaped.map_or(Cow::Borrowed(&begin[..at]), Cow::Owned),
                Some(end) if end == quote => {
                    self.skip(1);
                    return unescaped.map_or(Cow::Borrowed(&begin[..at]), Cow::Owned);
                }
                Some('\\') => {
                    let string = unescaped.get_or_insert_with(|| begin[..at].to_owned());
                    if begins_escape(self.rest) {
                        string.push(self.escape());
                    } else {
                        // A line break that is not in the string.
                        self.skip(1);
                        let line_break =
                            if self.rest.starts_with("\r\n") { 2 } else { usize::from(!self.rest.is_empty()) };
                        self.skip(line_break);
                    }
                }
                Some(other) => {
                    self.skip(other.len_utf8());
                    if let Some(string) = &mut unescaped {
                        string.push(other);
                    }
                }
            }
        }
    }

    /// A name, escapes undone (§4.3.11). Digits and `-` may be the first.
    fn name(&mut self) -> Cow<'t, str> {
        let begin = self.rest;
        let mut unescaped: Option<String> = None;
        loop {
            let at = begin.len() - self.rest.len();
            match self.rest.chars().next() {
                Some(part @ ('-' | '_' | '0'..='9' | 'a'..='z' | 'A'..='Z' | '\u{80}'..)) => {
                    self.skip(part.len_utf8());
                    if let Some(name) = &mut unescaped {
                        name.push(part);
                    }
                }
                Some('\\') if begins_escape(self.rest) => {
                    let escaped = self.escape();
                    unescaped.get_or_insert_with(|| begin[..at].to_owned()).push(escaped);
                }
                _ => return unescaped.map_or(Cow::Borrowed(&begin[..at]), Cow::Owned),
            }
        }
    }

    /// The character of an escape, of which the backslash is next (§4.3.7).
    fn escape(&mut self) -> char {
        self.skip(1);
        let digits = self.rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let escaped = self.rest.chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
            self.skip(if self.rest.is_empty() { 0 } else { escaped.len_utf8() });
            return escaped;
        }
        let number = u32::from_str_radix(&self.rest[..digits], 16).unwrap_or_default();
        self.skip(digits);
        match self.rest.chars().next() {
            Some('\r') if self.rest.starts_with("\r\n") => self.skip(2),
            Some(space) if is_space(space) => self.skip(1),
            _ => {}
        }
        char::from_u32(number).filter(|char| *char != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

fn prelude_of(at_rule: &str) -> Prelude {
    match at_rule.to_ascii_lowercase().as_str() {
        "import" => Prelude::Import,
        "namespace" | "document" | "-moz-document" => Prelude::OfNames,
        _ => Prelude::None,
    }
}

/// Whether a backslash, which is next, begins an escape (§4.3.8).
fn begins_escape(rest: &str) -> bool {
    !matches!(rest[1..].chars().next(), None | Some('\n' | '\r' | '\u{c}'))
}

fn is_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requisites::{Limits, hrefs};

    fn check(css: &str, expect: &[&str]) {
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        of_style_sheet(css, &mut found);
        assert_eq!(hrefs(&found), expect, "{css}");
        assert!(!found.is_cut);
    }

    #[test]
    fn queries_of_attributes_are_in_utf8() {
        for (style, expect) in [
            ("background:url(/é?é=č#a)", "/é?%C3%A9=%C4%8D#a"),
            ("background:url('/a?é'),url(é)", "/a?%C3%A9 é"),
            ("background:url(/a?b)", "/a?b"),
        ] {
            let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
            of_style_attribute(style, &mut found);
            assert_eq!(hrefs(&found).join(" "), expect, "{style}");
        }
    }

    #[test]
    fn imports() {
        check("@import 'a.css';", &["a.css"]);
        check(
            "@charset \"utf-8\"; @IMPORT\n\"a.css\" screen; @import url(b.css) layer(x) supports(display: grid);",
            &["a.css", "b.css"],
        );
        check("@import/**/url( \"c.css\" ) supports(content: \"x\") print; p { content: \"y\" }", &["c.css"]);
        check("@\\69mport 'd.css'", &["d.css"]);
        check("@import", &[]);
        check("@namespace svg url(http://www.w3.org/2000/svg); @namespace 'x'; p { background: url(e) }", &["e"]);
        check("@document url(http://a.test/) { p { background: url(f) } }", &["f"]);
    }

    #[test]
    fn imports_are_style_sheets() {
        let mut found = Requisites::new(Limits { references_max: 100, href_bytes_max: 1_000 });
        of_style_sheet(
            "@import 'a'; @import url(b); @import url('c') print; p { background: url(d) url('e') }",
            &mut found,
        );
        let sheets: Vec<&str> =
            found.references.iter().filter(|one| one.role == Role::StyleSheet).map(|one| one.href.as_str()).collect();
        assert_eq!((sheets, found.references.len()), (vec!["a", "b", "c"], 5));
    }

    #[test]
    fn urls() {
        check("p{background:url(a.png)}", &["a.png"]);
        check("p { background: URL( a.png\n) , url( 'b c.png' ),url(\"d)e.png\") }", &["a.png", "b c.png", "d)e.png"]);
        check("p{background:u\\72 l(a\\).png)}", &["a).png"]);
        check("p{background:url(a\\000026b)}", &["a&b"]);
        check("p{background:url('a\\\nb\\'c.png')}", &["ab'c.png"]);
        check("p{background:url(a b.png)} q{background:url(c.png)}", &["c.png"]);
        check("p{background:url(a'b.png)} q{background:url(c.png)}", &["c.png"]);
        check("p{background:url(a.png", &["a.png"]);
        check("p{background:url()} q{background:url('')} r{fill:url(#g)} s{src:url(data:font/woff2;base64,AA)}", &[]);
        check("p{mask:url(sprite.svg#a)} q{mask:url(sprite.svg#b)}", &["sprite.svg#a"]);
        check("/* url(a) */ p{content:\"url(b)\"} /* unfinished url(c)", &[]);
        check("p{content:'broken\n} q{background:url(c)}", &["c"]);
        check("p{--x:url(v.png);cursor:url(c.cur),auto;behavior:my-url(n)}", &["v.png", "c.cur"]);
        check(
            "@font-face{font-family:F;src:local('F'),url(f.woff2) format('woff2'),url('f.woff')}",
            &["f.woff2", "f.woff"],
        );
        check("č{background:url(č.png)}", &["č.png"]);
        check("\\", &[]);
        check("p{background:url(a\\", &[]);
        check("#url(x) 5url(y) 12px", &[]);
    }

    #[test]
    fn functions_whose_strings_are_urls() {
        check("p{background:image-set('a.avif' type('image/avif') 1x, url(b.png) 2x)}", &["a.avif", "b.png"]);
        check("p{background:-webkit-image-set(\"a.png\" 1x)} q{background:src('b.png')}", &["a.png", "b.png"]);
        check("p{background:linear-gradient(red,blue),image-set(calc('no') 'c.png' 1x)}", &["c.png"]);
        check("p{width:calc((1px + 2px", &[]);
        let deep = format!("p{{x:{}image-set('too deep')", "f(".repeat(NESTED_MAX));
        check(&deep, &[]);
    }
}
