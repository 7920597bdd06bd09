//! What a rule selects with: CSS or XPath on the tree of a page, or JSONPath.

use serde_json_path::JsonPath;

use crate::query::Expr;
use crate::{css, jsonpath, xpath};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selector {
    Tree(Expr),
    Json(JsonPath),
}

/// How a selector is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Css,
    XPath,
    Json,
}

impl Language {
    pub(crate) const ALL: [(&'static str, Language); 3] =
        [("css", Language::Css), ("xpath", Language::XPath), ("json", Language::Json)];

    /// How a selector without a name is written, by its first character.
    pub(crate) fn guess(text: &str) -> Self {
        match text.as_bytes() {
            [b'$', ..] => Language::Json,
            [b'/' | b'(' | b'@', ..] | [b'.', b'/' | b'.', ..] => Language::XPath,
            _ => Language::Css,
        }
    }
}

impl Selector {
    /// # Errors
    /// It is no selector; the text says what is wrong.
    pub(crate) fn parse(text: &str, language: Language) -> Result<Self, String> {
        let text = text.trim();
        let parsed = match language {
            Language::Css => css::parse(text).map(Selector::Tree),
            Language::XPath => xpath::parse(text).map(Selector::Tree),
            Language::Json => jsonpath::parse(text).map(Selector::Json),
        };
        let name = match language {
            Language::Css => "CSS selector",
            Language::XPath => "XPath",
            Language::Json => "JSONPath",
        };
        parsed.map_err(|error| format!("`{text}` is no {name}: {error}"))
    }
}
