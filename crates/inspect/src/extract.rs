//! What rules take out of a page, and selectors that find a text in it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use extract::html::{self, dom::Document};
use rules::{Body, Items, Page, RuleSet, Suggestion, suggest};
use serde::Serialize;
use serde_json::{Map, Value};
use weburl::CanonicalUrl;

use crate::input::{Input, unreadable};

/// Bytes of a page, at most.
const PAGE_BYTES_MAX: u64 = 10 << 20;
/// Bytes of a file of rules, at most.
const RULES_BYTES_MAX: u64 = 1 << 20;

/// What is asked of a page.
#[derive(Debug)]
pub struct Question {
    /// Its URL, which decides the rules that are about it.
    pub url: CanonicalUrl,
    /// The file of rules.
    pub rules: Option<PathBuf>,
    /// A text for which selectors are wanted.
    pub find: Option<String>,
}

/// What rules make of a page.
#[derive(Debug, Serialize)]
pub struct ExtractAnswer {
    /// The page.
    pub url: String,
    /// What each rule that is about it takes out.
    pub items: Vec<ItemsAnswer>,
    /// Rules whose `url` does not match the page.
    pub elsewhere: Vec<String>,
    /// The page is longer than what is read of it, or has more elements.
    pub is_cut: bool,
    /// Selectors that find the text, the most certain first.
    pub suggestions: Vec<SuggestionAnswer>,
}

/// What one rule takes out.
#[derive(Debug, Serialize)]
pub struct ItemsAnswer {
    /// The rule.
    pub rule: String,
    /// The rows; a field without a value is absent.
    pub rows: Vec<Map<String, Value>>,
    /// Rows left out, since a required field has no value.
    pub incomplete: usize,
    /// A limit left something out.
    pub is_cut: bool,
    /// Fields without a value in any row.
    pub empty: Vec<String>,
}

/// A way to the text.
#[derive(Debug, Serialize)]
pub struct SuggestionAnswer {
    /// `css` or `json`.
    pub language: &'static str,
    /// The selector.
    pub selector: String,
    /// The attribute with the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attr: Option<String>,
    /// How many places it selects.
    pub matches: usize,
}

/// Applies rules to a page, and looks for a text.
///
/// # Errors
/// The page or the rules cannot be read, or a rule is wrong.
pub fn inspect(question: &Question, input: Input) -> anyhow::Result<ExtractAnswer> {
    let rules = question.rules.as_deref().map(rules_in).transpose()?.unwrap_or_default();
    let content = input.read(PAGE_BYTES_MAX)?;
    let body = content.bytes;
    let is_json = matches!(body.trim_ascii_start(), [b'{' | b'[', ..]);
    let text = html::decode_as(&body, None);
    let document = Document::parse(&text);
    let url = question.url.as_str();
    let page = Page { url, body: if is_json { Body::Json(&body) } else { Body::Html(&document) } };
    let items = rules.items_of(&page).into_iter().map(|items| answer(&rules, items)).collect();
    let found = question.find.as_deref().map(|wanted| suggest(page.body, wanted)).unwrap_or_default();
    let shown = |Suggestion { language, selector, attribute, matches }| SuggestionAnswer {
        language,
        selector,
        attr: attribute,
        matches,
    };
    let elsewhere = rules.rules.iter().filter(|rule| !rule.is_about(url)).map(|rule| rule.name.clone()).collect();
    let is_cut = content.is_cut || document.is_cut();
    let suggestions = found.into_iter().map(shown).collect();
    Ok(ExtractAnswer { url: url.to_owned(), items, elsewhere, is_cut, suggestions })
}

fn answer(rules: &RuleSet, items: Items) -> ItemsAnswer {
    let Items { table, rows, incomplete, is_cut } = items;
    let fields = rules.rules.iter().filter(|rule| rule.name == table).flat_map(|rule| &rule.fields);
    let is_empty = |name: &&str| !rows.iter().any(|row| row.contains_key(*name));
    let empty = fields.map(|field| field.name.as_str()).filter(is_empty).map(str::to_owned).collect();
    ItemsAnswer { rule: table, incomplete, is_cut, empty, rows }
}

fn rules_in(path: &Path) -> anyhow::Result<RuleSet> {
    let name = path.display().to_string();
    let bytes = Input::File(path.to_owned()).read(RULES_BYTES_MAX)?.bytes;
    let text = String::from_utf8(bytes)
        .map_err(|error| unreadable(&name, &std::io::Error::other(error.utf8_error().to_string())))?;
    let (rules, _) = RuleSet::parse(&text).map_err(|error| anyhow!("{name}, {}", error.in_text(&text)))?;
    Ok(rules)
}
