//! Rules on a page: rows of typed values.

use std::collections::HashMap;

use extract::html::dom::Document;
use serde_json::{Map, Value};
use url::Url;

use crate::evaluate::{self, BYTES_A_STEP, Value as Selected};
use crate::kinds::Kind;
use crate::query::{Budget, OutOfSteps, Place};
use crate::ruleset::{Field, Rule, RuleSet};
use crate::selector::Selector;

/// Rows of one rule on one page, at most.
const ROWS_MAX: usize = 10_000;
/// Values of a list, at most.
const VALUES_MAX: usize = 1_000;
/// The longest text of a value, in bytes.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// What is read for a value: one character more, to see that there is more.
const READ_BYTES_MAX: usize = TEXT_BYTES_MAX + char::MAX.len_utf8();
/// The largest JSON document that is read, in bytes.
const JSON_BYTES_MAX: usize = 16 << 20;

/// A page, or another response.
#[derive(Clone, Copy, Debug)]
pub struct Page<'p> {
    /// Its URL.
    pub url: &'p str,
    /// What it is.
    pub body: Body<'p>,
}

/// The body of a response.
#[derive(Clone, Copy, Debug)]
pub enum Body<'p> {
    /// An HTML page.
    Html(&'p Document<'p>),
    /// What may be JSON.
    Json(&'p [u8]),
}

/// A JSON document; `None` if it is none, or too large.
pub(crate) fn parsed(bytes: &[u8]) -> Option<Value> {
    if bytes.len() > JSON_BYTES_MAX { None } else { structured::repair::strict(str::from_utf8(bytes).ok()?) }
}

/// What a rule takes out of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Items {
    /// The name of the rule.
    pub table: String,
    /// The rows, in the order of the page. Fields without a value are absent.
    pub rows: Vec<Map<String, Value>>,
    /// Rows left out since a required field has no value.
    pub incomplete: usize,
    /// Rows or values were left out: there are too many, or the selectors take too many steps.
    pub is_cut: bool,
}

impl RuleSet {
    /// Whether a rule is about this URL.
    #[must_use]
    pub fn is_about(&self, url: &str) -> bool {
        self.rules.iter().any(|rule| rule.is_about(url))
    }

    /// What all rules take out of a page; nothing of rules that are not about it.
    #[must_use]
    pub fn items_of(&self, page: &Page<'_>) -> Vec<Items> {
        let about: Vec<&Rule> = self.rules.iter().filter(|rule| rule.is_about(page.url)).collect();
        let nothing = Document::parse("");
        let (document, json) = match page.body {
            Body::Html(document) if about.iter().any(|rule| rule.reads_json()) => {
                (document, structured::json_ld(document))
            }
            Body::Html(document) => (document, Vec::new()),
            Body::Json(bytes) => match parsed(bytes).filter(|_| !about.is_empty()) {
                Some(value) => (&nothing, vec![value]),
                None => return Vec::new(),
            },
        };
        let url = Url::parse(page.url).ok();
        let base = structured::base_of(document, url.as_ref());
        about.into_iter().map(|rule| Reader::new(document, &json, base.as_ref(), rule).items(rule)).collect()
    }
}

impl Rule {
    /// Whether it is about this URL.
    #[must_use]
    pub fn is_about(&self, url: &str) -> bool {
        self.urls.iter().any(|pattern| pattern.matches(url))
    }

    fn reads_json(&self) -> bool {
        is_json(self.rows.as_ref()) || self.fields.iter().any(Field::reads_json)
    }
}

impl Rule {
    /// How many selectors it has.
    fn selectors(&self) -> usize {
        1 + self.fields.iter().map(Field::selectors).sum::<usize>()
    }
}

impl Field {
    fn selectors(&self) -> usize {
        1 + self.fields.iter().map(Field::selectors).sum::<usize>()
    }

    /// Whether it has the same value in every row.
    fn is_of_page(&self) -> bool {
        matches!(&self.selector, Some(Selector::Tree(expr)) if expr.is_of_page())
    }

    fn reads_json(&self) -> bool {
        is_json(self.selector.as_ref()) || self.fields.iter().any(Field::reads_json)
    }
}

fn is_json(selector: Option<&Selector>) -> bool {
    matches!(selector, Some(Selector::Json(_)))
}

/// Where the fields of a row are looked for.
#[derive(Clone, Copy)]
enum Row<'a> {
    Tree(Place<'a>),
    Json(&'a Value),
}

struct Reader<'a> {
    document: &'a Document<'a>,
    /// The JSON response, or the things of JSON-LD.
    json: &'a [Value],
    base: Option<&'a Url>,
    budget: Budget,
    is_cut: bool,
    /// The values of fields that are the same in every row, by the addresses of the fields; with their size in steps.
    of_page: HashMap<usize, (Option<Value>, usize)>,
}

impl<'a> Reader<'a> {
    fn new(document: &'a Document<'a>, json: &'a [Value], base: Option<&'a Url>, rule: &Rule) -> Self {
        let budget = Budget::of_selectors(document, rule.selectors());
        Reader { document, json, base, budget, is_cut: false, of_page: HashMap::new() }
    }

    fn items(&mut self, rule: &Rule) -> Items {
        let mut items = Items { table: rule.name.clone(), ..Items::default() };
        if self.gather(rule, &mut items).is_err() {
            self.is_cut = true;
        }
        items.is_cut = self.is_cut || self.budget.has_cut_text;
        items
    }

    fn gather(&mut self, rule: &Rule, items: &mut Items) -> Result<(), OutOfSteps> {
        let page = Row::Tree(Place::Node(self.document.root()));
        let rows = match &rule.rows {
            Some(selector) => self.selected(selector, page)?.0,
            None => vec![page],
        };
        self.is_cut |= rows.len() > ROWS_MAX;
        for row in rows.into_iter().take(ROWS_MAX) {
            match self.object(&rule.fields, row)? {
                // A page on which nothing is found is none of those that are meant.
                Some(object) if object.is_empty() => {}
                Some(object) => items.rows.push(object),
                None => items.incomplete += 1,
            }
        }
        Ok(())
    }

    /// The values of fields; `None` if a required one is missing.
    fn object(&mut self, fields: &[Field], row: Row<'a>) -> Result<Option<Map<String, Value>>, OutOfSteps> {
        let mut object = Map::new();
        let mut is_complete = true;
        for field in fields {
            let value = if field.is_of_page() { self.field_of_page(field, row)? } else { self.field(field, row)? };
            match value {
                Some(value) => {
                    object.insert(field.name.clone(), value);
                }
                None => is_complete &= !field.is_required,
            }
        }
        Ok(is_complete.then_some(object))
    }

    /// The value of a field that is the same in every row. It is evaluated once; a copy takes steps by its size.
    fn field_of_page(&mut self, field: &Field, row: Row<'a>) -> Result<Option<Value>, OutOfSteps> {
        let address = std::ptr::from_ref(field).addr();
        if let Some((value, size)) = self.of_page.get(&address) {
            self.budget.take(*size)?;
            return Ok(value.clone());
        }
        let value = self.field(field, row)?;
        let size = 1 + value.as_ref().map_or(0, |value| value.to_string().len() / BYTES_A_STEP);
        self.of_page.insert(address, (value.clone(), size));
        Ok(value)
    }

    fn field(&mut self, field: &Field, row: Row<'a>) -> Result<Option<Value>, OutOfSteps> {
        let (places, text) = match &field.selector {
            Some(selector) => self.selected(selector, row)?,
            None => (vec![row], None),
        };
        if let Some(text) = text {
            let value = self.typed(field, &text);
            return Ok(if field.is_list { value.map(|value| Value::Array(vec![value])) } else { value });
        }
        let mut values = Vec::new();
        for place in places {
            let value = if field.fields.is_empty() {
                self.value(field, place)?
            } else {
                self.object(&field.fields, place)?.filter(|object| !object.is_empty()).map(Value::Object)
            };
            let Some(value) = value else { continue };
            if !field.is_list {
                return Ok(Some(value));
            }
            if values.len() == VALUES_MAX {
                self.is_cut = true;
                break;
            }
            values.push(value);
        }
        Ok((!values.is_empty()).then_some(Value::Array(values)))
    }

    /// What a selector selects; or the text that an XPath computes.
    fn selected(&mut self, selector: &Selector, row: Row<'a>) -> Result<(Vec<Row<'a>>, Option<String>), OutOfSteps> {
        match selector {
            Selector::Tree(expr) => {
                let place = match row {
                    Row::Tree(place) => place,
                    Row::Json(_) => Place::Node(self.document.root()),
                };
                let document = self.document;
                let selected = evaluate::nodes(expr, place, document, &mut self.budget)?;
                if let Selected::Nodes(places) = selected {
                    return Ok((places.into_iter().map(Row::Tree).collect(), None));
                }
                let text = evaluate::Evaluator { document, budget: &mut self.budget }.text(&selected)?;
                Ok((Vec::new(), Some(text)))
            }
            Selector::Json(path) => {
                let within: Vec<&'a Value> = match row {
                    Row::Json(value) => vec![value],
                    Row::Tree(_) => self.json.iter().collect(),
                };
                let found = within.into_iter().flat_map(|value| path.query(value).all());
                Ok((found.map(Row::Json).collect(), None))
            }
        }
    }

    /// The value of a place.
    fn value(&mut self, field: &Field, row: Row<'a>) -> Result<Option<Value>, OutOfSteps> {
        Ok(match row {
            Row::Json(Value::Null) => None,
            Row::Json(Value::String(text)) => self.typed(field, text),
            // JSON writes a point, whatever its texts have.
            Row::Json(value @ Value::Number(_)) => self.typed_as(field, &value.to_string(), Some('.')),
            Row::Json(value) => self.typed(field, &value.to_string()),
            Row::Tree(place) => {
                let node = place.node();
                self.budget.take((node.end() - node.id()) as usize)?;
                let text = match (place, &field.attribute) {
                    (Place::Attribute(..), _) => place.text(READ_BYTES_MAX).into_owned(),
                    (Place::Node(_), Some(attribute)) => node.attribute(attribute).unwrap_or_default().into_owned(),
                    (Place::Node(_), None) if field.kind == Kind::Html => node.markup(READ_BYTES_MAX),
                    // What may link says where in its attribute, or not at all.
                    (Place::Node(_), None) if field.kind == Kind::Url && link_attribute(node).is_some() => {
                        link_attribute(node).and_then(|name| node.attribute(name)).unwrap_or_default().into_owned()
                    }
                    // What is to be a date, a number or a link says so best in its attributes.
                    (Place::Node(_), None) => {
                        attribute_for(field.kind, node).unwrap_or_else(|| node.visible_text(READ_BYTES_MAX))
                    }
                };
                self.is_cut |= text.len() > TEXT_BYTES_MAX;
                self.typed(field, &text)
            }
        })
    }

    fn typed(&mut self, field: &Field, text: &str) -> Option<Value> {
        self.typed_as(field, text, field.decimal)
    }

    fn typed_as(&mut self, field: &Field, text: &str, decimal: Option<char>) -> Option<Value> {
        let text = match &field.regex {
            Some(regex) => {
                let captures = regex.captures(text)?;
                captures.get(1).or_else(|| captures.get(0))?.as_str()
            }
            None => text,
        };
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        self.is_cut |= end < text.len();
        field.kind.value(&text[..end], decimal, self.base)
    }
}

/// The attribute that has the value of an element of this type: `time`, `meta`, links and images.
fn attribute_for(kind: Kind, node: extract::html::dom::Node<'_>) -> Option<String> {
    let names: &[&str] = match kind {
        Kind::Url => &["href", "src", "content"],
        Kind::Date => &["datetime", "content"],
        _ => &["content"],
    };
    names.iter().find_map(|name| node.attribute(name)).map(std::borrow::Cow::into_owned)
}

/// The attribute that says where an element leads, or what it shows. Its text says something else, if anything.
fn link_attribute(node: extract::html::dom::Node<'_>) -> Option<&'static str> {
    let is = |names: &[&str]| names.iter().any(|name| node.is(name));
    match () {
        () if is(&["a", "area", "link"]) => Some("href"),
        () if is(&["img", "script", "iframe", "embed", "source", "track", "audio", "video", "frame", "input"]) => {
            Some("src")
        }
        () => None,
    }
}
