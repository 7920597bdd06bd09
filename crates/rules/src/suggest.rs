//! Selectors that find a text in a page.

use extract::html::dom::{Document, Node};
use serde_json::Value;

use crate::evaluate::{self, Value as Selected};
use crate::items::{Body, parsed};
use crate::query::{Budget, Place, inside};
use crate::selector::{Language, Selector};

/// Elements for which selectors are suggested, at most.
const ELEMENTS_MAX: usize = 5;
/// Values of JSON that are named, at most.
const VALUES_MAX: usize = 5;
/// The longest text looked at, in bytes.
const TEXT_BYTES_MAX: usize = 10_000;
/// How far up an element is looked for that makes a selector certain.
const ABOVE_MAX: usize = 6;

/// A way to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// `css` or `json`.
    pub language: &'static str,
    /// The selector.
    pub selector: String,
    /// The attribute that has the text; `None` if it is the text of the element.
    pub attribute: Option<String>,
    /// How many places it selects in the page.
    pub matches: usize,
}

/// Selectors that select what has this text, the most certain first.
#[must_use]
pub fn suggest(body: Body<'_>, text: &str) -> Vec<Suggestion> {
    let wanted = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if wanted.is_empty() {
        return Vec::new();
    }
    let values = match body {
        Body::Html(document) => structured::json_ld(document),
        Body::Json(bytes) => parsed(bytes).into_iter().collect(),
    };
    let mut found = Vec::new();
    values.iter().for_each(|value| json_paths(value, &wanted, "$", &mut found));
    let Body::Html(document) = body else { return found };
    let mut budget = Budget::of(document);
    let mut elements = 0;
    for element in inside(document.root(), 0).filter(|node| node.is_element()) {
        let Some(attribute) = place_of(element, &wanted) else { continue };
        if elements == ELEMENTS_MAX {
            break;
        }
        elements += 1;
        if let Some((selector, matches)) = selector_of(element, document, &mut budget) {
            found.push(Suggestion { language: "css", selector, attribute, matches });
        }
    }
    found.sort_by_key(|suggestion| suggestion.matches);
    found.dedup();
    found
}

/// Whether an element has a text itself, and in which attribute. That a child has it is not enough.
#[expect(clippy::option_option, reason = "nothing found is not the same as found in the text")]
fn place_of(element: Node<'_>, wanted: &str) -> Option<Option<String>> {
    let attribute = element.attributes().find(|(name, value)| *name != "class" && value.trim() == wanted);
    if let Some((name, _)) = attribute {
        return Some(Some(name.to_ascii_lowercase()));
    }
    let has = |node: Node<'_>| node.visible_text(TEXT_BYTES_MAX).contains(wanted);
    let is_here = !["script", "style", "html", "head"].iter().any(|name| element.is(name))
        && has(element)
        && !element.children().filter(|child| child.is_element()).any(has);
    is_here.then_some(None)
}

/// The shortest selector of an element that selects it alone, or as few others as possible.
fn selector_of(element: Node<'_>, document: &Document<'_>, budget: &mut Budget) -> Option<(String, usize)> {
    let mut best: Option<(String, usize)> = None;
    let mut keep = |selector: String, budget: &mut Budget| {
        let Some(count) = count(&selector, document, budget).filter(|count| *count > 0) else { return false };
        if best.as_ref().is_none_or(|(_, fewest)| count < *fewest) {
            best = Some((selector, count));
        }
        count == 1
    };
    let own = names_of(element);
    for name in &own {
        if keep(name.clone(), budget) {
            return best;
        }
    }
    for above in element.ancestors().filter(|above| above.is_element()).take(ABOVE_MAX) {
        for outer in names_of(above) {
            for name in &own {
                if keep(format!("{outer} {name}"), budget) {
                    return best;
                }
            }
        }
    }
    best
}

/// Selectors of one element, the most telling first.
fn names_of(element: Node<'_>) -> Vec<String> {
    let name = element.name().to_ascii_lowercase();
    let is_plain = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && !text.starts_with(|char: char| char.is_ascii_digit())
    };
    let mut names = Vec::new();
    if let Some(id) = element.attribute("id").filter(|id| is_plain(id)) {
        names.push(format!("#{id}"));
    }
    for attribute in ["itemprop", "property", "name", "data-testid"] {
        if let Some(value) = element.attribute(attribute).filter(|value| !value.contains(['"', '\\'])) {
            names.push(format!("{name}[{attribute}=\"{value}\"]"));
        }
    }
    let classes = element.attribute("class").unwrap_or_default();
    let classes: Vec<&str> = classes.split_ascii_whitespace().filter(|class| is_plain(class)).collect();
    names.extend(classes.iter().map(|class| format!("{name}.{class}")));
    if classes.len() > 1 {
        names.push(format!("{name}.{}", classes.join(".")));
    }
    names.push(name);
    names
}

fn count(selector: &str, document: &Document<'_>, budget: &mut Budget) -> Option<usize> {
    let Ok(Selector::Tree(expr)) = Selector::parse(selector, Language::Css) else { return None };
    match evaluate::nodes(&expr, Place::Node(document.root()), document, budget) {
        Ok(Selected::Nodes(nodes)) => Some(nodes.len()),
        _ => None,
    }
}

/// The paths of values of this text.
fn json_paths(value: &Value, wanted: &str, path: &str, found: &mut Vec<Suggestion>) {
    if found.len() >= VALUES_MAX {
        return;
    }
    let is_it = match value {
        Value::String(text) => text.trim() == wanted,
        Value::Number(number) => number.to_string() == wanted,
        _ => false,
    };
    if is_it {
        found.push(Suggestion { language: "json", selector: path.to_owned(), attribute: None, matches: 1 });
    }
    match value {
        Value::Object(object) => object.iter().for_each(|(name, value)| {
            // RFC 9535 §2.5.1.1, and §2.3.1.1 for other names.
            let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && name.starts_with(|first: char| !first.is_ascii_digit());
            let step = match is_plain {
                true => format!(".{name}"),
                false => format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")),
            };
            json_paths(value, wanted, &format!("{path}{step}"), found);
        }),
        Value::Array(list) => {
            list.iter().for_each(|value| json_paths(value, wanted, &format!("{path}[*]"), found));
        }
        _ => {}
    }
}
