//! Rules as they are written, checked.

use regex::Regex;
use toml::{Table, Value};
use weburl::Pattern;

use crate::kinds::Kind;
use crate::selector::{Language, Selector};

/// The largest regular expression, compiled, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// Bytes of a rule's name: its directory, and what is made in it meanwhile, must have names that file systems allow.
const NAME_BYTES_MAX: usize = 200;
/// How deep fields are nested, at most.
const DEPTH_MAX: usize = 8;
/// Columns that every table has.
const RESERVED: [&str; 6] = ["url_key", "url", "round", "visit", "fetched_at", "row"];

/// The rules of a crawl.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// In the order in which they are written.
    pub rules: Vec<Rule>,
}

/// What is taken out of the pages at some URLs.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The name of its table.
    pub name: String,
    pub(crate) urls: Vec<Pattern>,
    pub(crate) rows: Option<Selector>,
    /// The columns of its table.
    pub fields: Vec<Field>,
    /// The rule as TOML: what it is, to tell whether it has changed.
    text: String,
}

impl Rule {
    /// The rule as TOML in one line. Two rules with the same text give the same rows.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A column.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// All values, not only the first.
    pub is_list: bool,
    /// A row without it is left out.
    pub is_required: bool,
    /// The fields of its values, if they are objects.
    pub fields: Vec<Field>,
    pub(crate) selector: Option<Selector>,
    pub(crate) attribute: Option<String>,
    pub(crate) regex: Option<Regex>,
    pub(crate) decimal: Option<char>,
}

/// What is wrong with rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(path))]
pub struct RuleError {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// What it is, and what to do.
    pub message: String,
    /// The line of a text that no TOML reader understands.
    line: Option<usize>,
}

/// The keys before a message.
fn prefix(path: &[String]) -> String {
    if path.is_empty() { String::new() } else { format!("{}: ", path.join(".")) }
}

impl RuleError {
    /// The same with the line of the text in which the rules are.
    #[must_use]
    pub fn in_text(&self, text: &str) -> String {
        let Some(line) = self.line.or_else(|| line_of(&self.path, text)) else { return self.to_string() };
        if self.path.is_empty() { format!("line {line}: {}", self.message) } else { format!("line {line}: {self}") }
    }

    fn below(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }
}

/// The line on which keys are: that of the last one, behind those of the others.
fn line_of(path: &[String], text: &str) -> Option<usize> {
    let mut found = None;
    let mut from = 0;
    let lines: Vec<&str> = text.lines().collect();
    for key in path {
        let is_here = |line: &&str| {
            let words = line.split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')));
            line.split('#').next().is_some_and(|code| code.contains(key.as_str()))
                && words.into_iter().any(|word| word == key)
        };
        if let Some(at) = lines[from..].iter().position(is_here) {
            from += at;
            found = Some(from + 1);
        }
    }
    found
}

fn wrong(message: impl Into<String>) -> RuleError {
    RuleError { path: Vec::new(), message: message.into(), line: None }
}

impl RuleSet {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reads a file of rules: TOML with tables `[extract.NAME]`.
    ///
    /// # Errors
    /// It is no TOML, has no rules, or a rule is wrong.
    pub fn parse(text: &str) -> Result<(Self, Table), RuleError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            RuleError { path: Vec::new(), message: error.message().to_owned(), line }
        })?;
        if let Some(key) = table.keys().find(|key| *key != "extract") {
            return Err(wrong("a file of rules has only tables [extract.NAME]").below(key));
        }
        let rules = table.get("extract").and_then(Value::as_table).filter(|rules| !rules.is_empty());
        let rules =
            rules.ok_or_else(|| wrong("there are no rules: write a table [extract.NAME] with `url` and `fields`"))?;
        Ok((Self::of(rules)?, rules.clone()))
    }

    /// Checks rules by name.
    ///
    /// # Errors
    /// One is wrong.
    pub fn of(rules: &Table) -> Result<Self, RuleError> {
        let rules =
            rules.iter().map(|(name, rule)| rule_of(name, rule).map_err(|error| error.below(name).below("extract")));
        Ok(RuleSet { rules: rules.collect::<Result<_, _>>()? })
    }
}

fn rule_of(name: &str, rule: &Value) -> Result<Rule, RuleError> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return Err(wrong("the name of a rule is that of a directory: letters, digits, - and _"));
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(wrong(format!("the name of a rule is that of a directory: at most {NAME_BYTES_MAX} letters")));
    }
    let text = rule.to_string();
    let Value::Table(rule) = rule else { return Err(wrong("a rule is a table with `url` and `fields`")) };
    check_keys(rule, &["url", "rows", "fields"])?;
    let urls = match rule.get("url") {
        None => vec!["*".to_owned()],
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(several)) if several.is_empty() => {
            return Err(wrong("a list without patterns is about no page: leave `url` out for all pages").below("url"));
        }
        Some(Value::Array(several)) => {
            let texts = several.iter().map(|one| one.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().ok_or_else(|| wrong("a list of patterns is wanted").below("url"))?
        }
        Some(_) => return Err(wrong("a pattern is wanted: \"http*://shop.test/*\"").below("url")),
    };
    let urls = urls.iter().map(|text| Pattern::new(text).map_err(|error| wrong(error.to_string()).below("url")));
    let rows = rule.get("rows").map(|rows| rows_of(rows).map_err(|error| error.below("rows"))).transpose()?;
    let fields = rule.get("fields").ok_or_else(|| wrong("`fields` is missing: the columns, by name"))?;
    let fields = fields_of(fields, 0).map_err(|error| error.below("fields"))?;
    check_places(&fields, rows.as_ref()).map_err(|error| error.below("fields"))?;
    if let Some(field) = fields.iter().find(|field| RESERVED.contains(&field.name.as_str())) {
        return Err(wrong("every table has a column of this name already: take another")
            .below(&field.name)
            .below("fields"));
    }
    Ok(Rule { name: name.to_owned(), urls: urls.collect::<Result<_, _>>()?, rows, fields, text })
}

fn rows_of(rows: &Value) -> Result<Selector, RuleError> {
    match rows {
        Value::String(text) => Selector::parse(text, Language::guess(text)).map_err(wrong),
        Value::Table(table) => {
            check_keys(table, &["css", "xpath", "json"])?;
            selector_of(table)?.ok_or_else(|| wrong("a selector is missing: css, xpath or json"))
        }
        _ => Err(wrong("a selector is wanted: \".product\", \"//li\" or \"$.items[*]\"")),
    }
}

fn fields_of(fields: &Value, depth: usize) -> Result<Vec<Field>, RuleError> {
    let Value::Table(fields) = fields else { return Err(wrong("a table of columns is wanted")) };
    if fields.is_empty() {
        return Err(wrong("there are no columns"));
    }
    if depth >= DEPTH_MAX {
        return Err(wrong(format!("fields are nested deeper than {DEPTH_MAX}")));
    }
    if fields.keys().any(|name| name.trim().is_empty()) {
        return Err(wrong("a column has a name: this one is empty"));
    }
    fields.iter().map(|(name, field)| field_of(name, field, depth).map_err(|error| error.below(name))).collect()
}

fn field_of(name: &str, field: &Value, depth: usize) -> Result<Field, RuleError> {
    let plain = Field {
        name: name.to_owned(),
        kind: Kind::Text,
        is_list: false,
        is_required: false,
        fields: Vec::new(),
        selector: None,
        attribute: None,
        regex: None,
        decimal: None,
    };
    let table = match field {
        Value::String(text) => {
            let selector = Selector::parse(text, Language::guess(text)).map_err(wrong)?;
            return Ok(Field { selector: Some(selector), ..plain });
        }
        Value::Table(table) => table,
        _ => return Err(wrong("a selector is wanted, or a table such as { css = \".price\", type = \"number\" }")),
    };
    check_keys(table, &["css", "xpath", "json", "attr", "regex", "type", "list", "required", "decimal", "fields"])?;
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(wrong("a text is wanted").below(key)),
    };
    let flag = |key: &str| match table.get(key) {
        None => Ok(false),
        Some(Value::Boolean(flag)) => Ok(*flag),
        Some(_) => Err(wrong("true or false is wanted").below(key)),
    };
    let kind = match text("type")? {
        None => Kind::Text,
        Some(given) => {
            let known = Kind::ALL.iter().find(|(known, _)| *known == given);
            let names = || Kind::ALL.map(|(name, _)| name).join(", ");
            known
                .map(|(_, kind)| *kind)
                .ok_or_else(|| wrong(format!("there is no type `{given}`: the types are {}", names())).below("type"))?
        }
    };
    let regex = text("regex")?.map(|text| {
        let built = regex::RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).build();
        built.map_err(|error| {
            let error = error.to_string();
            let last = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            wrong(format!("`{text}` is no regular expression: {last}")).below("regex")
        })
    });
    let decimal = text("decimal")?.map(|sign| match sign {
        "." => Ok('.'),
        "," => Ok(','),
        _ => Err(wrong("\".\" or \",\" is wanted").below("decimal")),
    });
    let fields = table.get("fields").map(|fields| fields_of(fields, depth + 1).map_err(|error| error.below("fields")));
    let fields = fields.transpose()?.unwrap_or_default();
    if !fields.is_empty() && (table.contains_key("type") || table.contains_key("attr") || table.contains_key("regex")) {
        return Err(wrong("a field with `fields` has no type, attr or regex of its own"));
    }
    Ok(Field {
        kind,
        is_list: flag("list")?,
        is_required: flag("required")?,
        fields,
        selector: selector_of(table)?,
        attribute: text("attr")?.map(str::to_owned),
        regex: regex.transpose()?,
        decimal: decimal.transpose()?,
        ..plain
    })
}

/// The one selector of a table.
fn selector_of(table: &Table) -> Result<Option<Selector>, RuleError> {
    let mut found = None;
    for (key, language) in Language::ALL {
        let Some(value) = table.get(key) else { continue };
        if found.is_some() {
            return Err(wrong("one selector is enough: css, xpath or json").below(key));
        }
        let text = value.as_str().ok_or_else(|| wrong("a selector is wanted").below(key))?;
        found = Some(Selector::parse(text, language).map_err(|error| wrong(error).below(key))?);
    }
    Ok(found)
}

/// Refuses fields that can have no value where they are looked for: in the rows or objects that a selector selects.
fn check_places(fields: &[Field], within: Option<&Selector>) -> Result<(), RuleError> {
    fields.iter().try_for_each(|field| check_place(field, within).map_err(|error| error.below(&field.name)))
}

fn check_place(field: &Field, within: Option<&Selector>) -> Result<(), RuleError> {
    match (within, &field.selector) {
        (Some(Selector::Json(_)), Some(Selector::Tree(_))) => {
            return Err(wrong(
                "it is looked for in JSON, which has no elements: select with JSONPath, as in \"$.name\"",
            ));
        }
        (Some(Selector::Tree(_)), Some(Selector::Json(_))) => {
            return Err(wrong("it is looked for in an element, which has no JSON: select with CSS or XPath"));
        }
        _ => {}
    }
    let place = field.selector.as_ref().or(within);
    let without_attributes = match place {
        Some(Selector::Json(_)) => Some("JSON has no attributes"),
        Some(Selector::Tree(expr)) if expr.selects_attributes() => Some("the XPath selects an attribute already"),
        _ => None,
    };
    if let (Some(_), Some(reason)) = (&field.attribute, without_attributes) {
        return Err(wrong(format!("{reason}: leave `attr` out")).below("attr"));
    }
    check_places(&field.fields, place).map_err(|error| error.below("fields"))
}

/// Refuses keys that mean nothing, with the nearest that does.
fn check_keys(table: &Table, known: &[&str]) -> Result<(), RuleError> {
    let Some(unknown) = table.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let nearest = known
        .iter()
        .max_by(|left, right| strsim::jaro_winkler(left, unknown).total_cmp(&strsim::jaro_winkler(right, unknown)));
    let hint = nearest.filter(|nearest| strsim::jaro_winkler(nearest, unknown) > 0.8);
    let hint = hint.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
    Err(wrong(format!("there is no such key: the keys are {}{hint}", known.join(", "))).below(unknown))
}
