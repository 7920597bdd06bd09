//! Scripts of JSON-LD. Each node of a list or of a `@graph` is an item of its own.

use extract::html::dom::{BYTES_MAX, Document, Node};
use serde_json::{Map, Value};

use crate::items::{Format, Items};
use crate::repair::{self, Flaws, Repaired};
use crate::schema_org;
use crate::survey::Survey;

/// The media type of the scripts.
const TYPE: &str = "application/ld+json";
/// Lists of nodes within lists, at most.
const LISTS_DEPTH_MAX: usize = 8;
/// The types of nested nodes are looked for so deep.
const TYPES_DEPTH_MAX: usize = 8;

/// A script of JSON-LD.
pub(crate) struct Script<'a> {
    node: Node<'a>,
    pub(crate) repaired: Repaired,
}

/// Reads all scripts.
pub(crate) fn scripts<'a>(survey: &Survey<'a>) -> Vec<Script<'a>> {
    let scripts = survey.scripts.iter().copied().filter(is_json_ld);
    scripts.map(|node| Script { node, repaired: repair::read(&node.text_content(BYTES_MAX)) }).collect()
}

/// Adds the things of all scripts; the types of all of them.
pub(crate) fn add_all(scripts: &[Script<'_>], items: &mut Items<'_>) -> Vec<String> {
    let mut types = Vec::new();
    for Script { node, repaired } in scripts {
        let is_one = repaired.values.len() == 1;
        for (place, value) in repaired.values.iter().enumerate() {
            // Of several values in one script, each is counted.
            let path = if is_one { "#$".to_owned() } else { format!("#{place}$") };
            add(value, &path, *node, repaired.flaws, items, 0);
            gather_types(value, &mut types, 0);
        }
    }
    types
}

/// All things of all scripts: the nodes of lists and graphs, each for itself.
#[must_use]
pub fn values(document: &Document<'_>) -> Vec<Value> {
    let mut things = Vec::new();
    for script in document.elements().filter(|element| element.is("script")).filter(is_json_ld) {
        let repaired = repair::read(&script.text_content(BYTES_MAX));
        repaired.values.into_iter().for_each(|value| flatten(value, &mut things, 0));
    }
    things
}

fn flatten(value: Value, things: &mut Vec<Value>, depth: usize) {
    match value {
        Value::Array(list) if depth < LISTS_DEPTH_MAX => {
            list.into_iter().for_each(|value| flatten(value, things, depth + 1));
        }
        Value::Object(mut object) if depth < LISTS_DEPTH_MAX => {
            if let Some(graph) = object.shift_remove("@graph") {
                flatten(graph, things, depth + 1);
            }
            if object.keys().any(|name| name != "@context") {
                things.push(Value::Object(object));
            }
        }
        // Not a thing.
        _ => {}
    }
}

fn is_json_ld(node: &Node<'_>) -> bool {
    node.attribute("type")
        .is_some_and(|kind| kind.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case(TYPE)))
}

fn add(value: &Value, path: &str, script: Node<'_>, flaws: Flaws, items: &mut Items<'_>, depth: usize) {
    match value {
        Value::Array(list) if depth < LISTS_DEPTH_MAX => {
            for (place, value) in list.iter().enumerate() {
                add(value, &format!("{path}[{place}]"), script, flaws, items, depth + 1);
            }
        }
        Value::Object(object) => add_node(object, value, path, script, flaws, items, depth),
        // Not a thing.
        _ => {}
    }
}

fn add_node(
    object: &Map<String, Value>,
    value: &Value,
    path: &str,
    script: Node<'_>,
    flaws: Flaws,
    items: &mut Items<'_>,
    depth: usize,
) {
    let Some(graph) = object.get("@graph").filter(|_| depth < LISTS_DEPTH_MAX) else {
        return items.add(Format::JsonLd, type_of(object), Some((script, path)), value, flaws);
    };
    add(graph, &format!("{path}['@graph']"), script, flaws, items, depth + 1);
    // Properties beside the graph describe the graph.
    let beside: Map<String, Value> = object
        .iter()
        .filter(|(name, _)| *name != "@graph")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if beside.keys().any(|name| name != "@context") {
        items.add(Format::JsonLd, type_of(&beside), Some((script, path)), &Value::Object(beside), flaws);
    }
}

fn type_of(object: &Map<String, Value>) -> Option<String> {
    let mut types = Vec::new();
    types_of(object, &mut types);
    (!types.is_empty()).then(|| types.join(", "))
}

fn types_of(object: &Map<String, Value>, types: &mut Vec<String>) {
    match object.get("@type") {
        Some(Value::String(one)) => types.push(schema_org::short(one).to_owned()),
        Some(Value::Array(several)) => {
            types.extend(several.iter().filter_map(Value::as_str).map(|name| schema_org::short(name).to_owned()));
        }
        _ => {}
    }
}

fn gather_types(value: &Value, types: &mut Vec<String>, depth: usize) {
    if depth > TYPES_DEPTH_MAX {
        return;
    }
    match value {
        Value::Object(object) => {
            types_of(object, types);
            object.values().for_each(|value| gather_types(value, types, depth + 1));
        }
        Value::Array(list) => list.iter().for_each(|value| gather_types(value, types, depth + 1)),
        _ => {}
    }
}
