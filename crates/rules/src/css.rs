//! CSS selectors (Selectors, level 4) to expressions. Each compound becomes a step, each combinator the axis of the next one.
//!
//! What it does not have, since a page in an archive has no state and no visitor: `:hover`, `:visited`, `:target` and their kin, pseudo-elements.
//! Of namespaces it has `*|` alone, since a page declares none. It has one thing more: `:contains("text")`.

mod escape;

use crate::function::Function;
use crate::query::{Axis, Css, Expr, Matching, Operator, Start, Step, Test};
use crate::xpath;

/// Selectors within selectors, at most.
const DEPTH_MAX: usize = 16;

// Pseudo-classes that the elements and attributes of HTML decide, as XPath.
const LINK: &str = "(self::a or self::area) and @href";
const CHECKED: &str =
    "self::option[@selected] or self::input[@checked][lower-case(@type)='checkbox' or lower-case(@type)='radio']";
const CONTROL: &str =
    "self::button or self::input or self::select or self::textarea or self::fieldset or self::optgroup or self::option";
/// Of a control: by itself, by the group of an option, or by a field set around it, of which the first legend is free.
const OFF: &str = "@disabled or self::option[parent::optgroup/@disabled] or not(self::option or self::optgroup) \
    and ancestor-or-self::*[not(self::legend) or preceding-sibling::legend]/parent::fieldset/@disabled";

/// Reads a selector, or several separated by commas. It selects among the descendants of where it is evaluated, and `:scope` that place itself.
///
/// # Errors
/// It is none; the text says what is wrong.
pub(crate) fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    let expr = parser.list(Axis::Descendant)?;
    if parser.rest.is_empty() { Ok(expr) } else { Err(format!("{} is not expected here", parser.rest)) }
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// White space and comments; whether there was space, since comments alone separate nothing.
    fn skip_space(&mut self) -> bool {
        let mut has_space = false;
        loop {
            let rest = self.rest.trim_start();
            has_space |= rest.len() < self.rest.len();
            self.rest = rest;
            if !self.skip_comment() {
                return has_space;
            }
        }
    }

    fn skip_comment(&mut self) -> bool {
        let end = self.rest.strip_prefix("/*").and_then(|comment| comment.find("*/"));
        self.rest = &self.rest[end.map_or(0, |end| end + 4)..];
        end.is_some()
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn want(&mut self, text: &str) -> Result<(), String> {
        self.skip_space();
        if self.take(text) {
            return Ok(());
        }
        let found = if self.rest.is_empty() { "the end" } else { self.rest };
        Err(format!("{text} is expected before {found}"))
    }

    /// Selectors separated by commas.
    fn list(&mut self, first: Axis) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX}"));
        }
        let mut list = self.complex(first)?;
        loop {
            self.skip_space();
            if !self.take(",") {
                self.depth -= 1;
                return Ok(list);
            }
            list = Expr::Binary(Operator::Union, Box::new(list), Box::new(self.complex(first)?));
        }
    }

    /// Compounds with combinators between.
    fn complex(&mut self, first: Axis) -> Result<Expr, String> {
        self.skip_space();
        let mut steps = Vec::new();
        let mut axis = self.combinator().unwrap_or(first);
        loop {
            self.skip_space();
            if self.take(":scope") {
                // The place itself, to which the steps belong anyway.
                steps.push(Step { axis: Axis::Itself, test: Test::Node, predicates: self.conditions()? });
            } else {
                let (test, predicates) = self.compound()?;
                steps.push(Step { axis, test, predicates });
            }
            let has_space = self.skip_space();
            axis = match self.combinator() {
                Some(axis) => axis,
                None if has_space && !self.rest.is_empty() && !self.rest.starts_with([',', ')']) => Axis::Descendant,
                None => return Ok(Expr::Path(Start::Context, steps)),
            };
        }
    }

    fn combinator(&mut self) -> Option<Axis> {
        let combinators = [(">", Axis::Child), ("+", Axis::NextElement), ("~", Axis::FollowingSibling)];
        combinators.into_iter().find(|(sign, _)| self.take(sign)).map(|(_, axis)| axis)
    }

    /// An element's name and conditions.
    fn compound(&mut self) -> Result<(Test, Vec<Expr>), String> {
        let before = self.rest;
        // Any namespace.
        self.take("*|");
        let test = if self.take("*") {
            Test::Any
        } else {
            match self.name() {
                Some(name) => Test::Name(name.to_ascii_lowercase()),
                None => Test::Any,
            }
        };
        let conditions = self.conditions()?;
        if self.rest.len() == before.len() {
            let found = if self.rest.is_empty() { "the end" } else { self.rest };
            return Err(format!("a selector is expected before {found}"));
        }
        Ok((test, conditions))
    }

    fn conditions(&mut self) -> Result<Vec<Expr>, String> {
        let mut conditions = Vec::new();
        loop {
            while self.skip_comment() {}
            let condition = match self.rest.as_bytes() {
                [b'.', ..] => {
                    self.take(".");
                    Css::Class(self.wanted_name("a class")?)
                }
                [b'#', ..] => {
                    self.take("#");
                    let value = self.wanted_name("an id")?;
                    Css::Attribute { name: "id".to_owned(), how: Matching::Equals, value, ignores_case: false }
                }
                [b'[', ..] => self.attribute()?,
                [b':', b':', ..] => return Err(format!("{}: a page has no pseudo-elements", self.rest)),
                [b':', ..] => {
                    self.take(":");
                    conditions.push(self.pseudo_class()?);
                    continue;
                }
                _ => return Ok(conditions),
            };
            conditions.push(Expr::Css(condition));
        }
    }

    /// A name with escapes.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        while let Some(char) = self.rest.chars().next() {
            let (char, length) = match char {
                '\\' => match escape::escaped(&self.rest[1..]) {
                    Some((escaped, length)) => (escaped, length + 1),
                    None => break,
                },
                '-' | '_' => (char, 1),
                _ if char.is_alphanumeric() || !char.is_ascii() => (char, char.len_utf8()),
                _ => break,
            };
            name.push(char);
            self.rest = &self.rest[length..];
        }
        (!name.is_empty()).then_some(name)
    }

    fn wanted_name(&mut self, what: &str) -> Result<String, String> {
        self.name().ok_or_else(|| {
            format!("{what} is expected before {}", if self.rest.is_empty() { "the end" } else { self.rest })
        })
    }

    fn attribute(&mut self) -> Result<Css, String> {
        self.want("[")?;
        self.skip_space();
        self.take("*|");
        let name = self.wanted_name("the name of an attribute")?.to_ascii_lowercase();
        self.skip_space();
        let signs = [
            ("=", Matching::Equals),
            ("~=", Matching::Word),
            ("|=", Matching::Dash),
            ("^=", Matching::Begins),
            ("$=", Matching::Ends),
            ("*=", Matching::Contains),
        ];
        let Some((_, how)) = signs.into_iter().find(|(sign, _)| self.take(sign)) else {
            self.want("]")?;
            return Ok(Css::Attribute { name, how: Matching::Has, value: String::new(), ignores_case: false });
        };
        self.skip_space();
        let value = match self.quoted()? {
            Some(value) => value,
            None => self.wanted_name("a value")?,
        };
        self.skip_space();
        let ignores_case = self.take("i") || self.take("I");
        if !ignores_case {
            let _ = self.take("s") || self.take("S");
        }
        self.want("]")?;
        Ok(Css::Attribute { name, how, value, ignores_case })
    }

    fn quoted(&mut self) -> Result<Option<String>, String> {
        let Some(quote) = self.rest.chars().next().filter(|char| matches!(char, '"' | '\'')) else { return Ok(None) };
        let mut text = String::new();
        let mut rest = &self.rest[1..];
        while let Some(char) = rest.chars().next() {
            rest = &rest[char.len_utf8()..];
            match char {
                '\\' => match escape::escaped(rest) {
                    Some((escaped, length)) => {
                        text.push(escaped);
                        rest = &rest[length..];
                    }
                    // The text goes on in the next line.
                    None => rest = &rest[escape::white_space(rest)..],
                },
                _ if char == quote => {
                    self.rest = rest;
                    return Ok(Some(text));
                }
                _ => text.push(char),
            }
        }
        Err(format!("the text {} has no end", self.rest))
    }

    fn pseudo_class(&mut self) -> Result<Expr, String> {
        let name = self.wanted_name("a pseudo-class")?.to_ascii_lowercase();
        let nth = |step, offset, of_type, from_end| Expr::Css(Css::Nth { step, offset, of_type, from_end });
        let both = |left: Expr, right: Expr| Expr::Css(Css::All(vec![left, right]));
        Ok(match name.as_str() {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, false, true),
            "only-child" => both(nth(0, 1, false, false), nth(0, 1, false, true)),
            "first-of-type" => nth(0, 1, true, false),
            "last-of-type" => nth(0, 1, true, true),
            "only-of-type" => both(nth(0, 1, true, false), nth(0, 1, true, true)),
            "empty" => Expr::Css(Css::Empty),
            "root" => Expr::Css(Css::Root),
            "link" | "any-link" => xpath::parse(LINK)?,
            "checked" => xpath::parse(CHECKED)?,
            "disabled" => both(xpath::parse(CONTROL)?, xpath::parse(OFF)?),
            "enabled" => both(xpath::parse(CONTROL)?, Expr::Css(Css::Not(Box::new(xpath::parse(OFF)?)))),
            "lang" => self.languages()?,
            "nth-child" => self.nth(false, false)?,
            "nth-last-child" => self.nth(false, true)?,
            "nth-of-type" => self.nth(true, false)?,
            "nth-last-of-type" => self.nth(true, true)?,
            "not" => Expr::Css(Css::Not(Box::new(self.compounds()?))),
            "is" | "where" | "matches" => self.compounds()?,
            "has" => {
                self.want("(")?;
                let inner = self.list(Axis::Descendant)?;
                self.want(")")?;
                inner
            }
            "contains" => {
                self.want("(")?;
                self.skip_space();
                let text = self.quoted()?.ok_or("contains() takes a text in quotes")?;
                self.want(")")?;
                Expr::Css(Css::Contains(text))
            }
            _ => return Err(format!("a recorded page has no :{name}")),
        })
    }

    /// A list of compounds, one of which the element is.
    fn compounds(&mut self) -> Result<Expr, String> {
        self.want("(")?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX}"));
        }
        let mut any = Vec::new();
        loop {
            self.skip_space();
            let (test, mut all) = self.compound()?;
            all.push(Expr::Css(Css::Itself(test)));
            any.push(Expr::Css(Css::All(all)));
            self.skip_space();
            if self.take(",") {
                continue;
            }
            if !self.rest.starts_with(')') {
                return Err("only selectors of one element can stand in :is() and :not()".to_owned());
            }
            self.want(")")?;
            self.depth -= 1;
            return Ok(Expr::Css(Css::Any(any)));
        }
    }

    /// Languages, one of which the element has.
    fn languages(&mut self) -> Result<Expr, String> {
        self.want("(")?;
        let mut any = Vec::new();
        loop {
            self.skip_space();
            let language = match self.quoted()? {
                Some(language) => language,
                None => self.wanted_name("a language")?,
            };
            any.push(Expr::Call(Function::Lang, vec![Expr::Text(language)]));
            self.skip_space();
            if !self.take(",") {
                self.want(")")?;
                return Ok(Expr::Css(Css::Any(any)));
            }
        }
    }

    /// `2n+1`, `odd`, `even`, `3`.
    fn nth(&mut self, of_type: bool, from_end: bool) -> Result<Expr, String> {
        self.want("(")?;
        let end = self.rest.find(')').ok_or("a ) is missing")?;
        let text: String =
            self.rest[..end].chars().filter(|char| !char.is_whitespace()).collect::<String>().to_lowercase();
        self.rest = &self.rest[end + 1..];
        let wrong = || format!("{text} is no position: write 3, odd, even or 2n+1");
        let (step, offset) = match text.as_str() {
            "odd" => (2, 1),
            "even" => (2, 0),
            _ => match text.split_once('n') {
                None => (0, number(&text).ok_or_else(wrong)?),
                Some((step, offset)) => {
                    let step = match step {
                        "" | "+" => 1,
                        "-" => -1,
                        step => number(step).ok_or_else(wrong)?,
                    };
                    let offset = if offset.is_empty() { 0 } else { number(offset).ok_or_else(wrong)? };
                    (step, offset)
                }
            },
        };
        Ok(Expr::Css(Css::Nth { step, offset, of_type, from_end }))
    }
}

/// A number that counts elements.
fn number(text: &str) -> Option<i64> {
    text.parse::<i32>().ok().map(i64::from)
}

#[cfg(test)]
mod tests;
