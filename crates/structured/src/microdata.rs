//! Microdata (HTML Standard, "Microdata"): `itemscope`, `itemprop`, `itemref`.

use std::borrow::Cow;

use extract::html::dom::{Document, Node};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use serde_json::{Map, Value, json};

use crate::items::{Format, Items};
use crate::repair::Flaws;
use crate::schema_org;
use crate::source::{DEPTH_MAX, Looks, Source};
use crate::thing::Thing;

/// Reads all items; the types of all of them.
pub(crate) fn read<'a>(source: &'a Source<'a>, items: &mut Items<'_>) -> Vec<String> {
    let mut reader = Reader { source, seen: HashSet::default(), ids: None, types: Vec::new(), looks: source.looks() };
    for scope in &source.survey.scopes {
        if let Some(thing) = reader.item(*scope, 0) {
            items.add(
                Format::Microdata,
                thing.kind(),
                Some((*scope, "")),
                &thing.into_json(false, &mut |_| None),
                Flaws::default(),
            );
        }
    }
    if reader.looks.are_spent() {
        items.cut();
    }
    reader.types
}

struct Reader<'a> {
    source: &'a Source<'a>,
    /// Items that are read, or being read: each belongs to one place.
    seen: HashSet<u32>,
    /// Elements by their `id`, once one is asked for.
    ids: Option<HashMap<Cow<'a, str>, Node<'a>>>,
    types: Vec<String>,
    looks: Looks,
}

impl<'a> Reader<'a> {
    fn item(&mut self, scope: Node<'a>, depth: usize) -> Option<Thing> {
        if !self.seen.insert(scope.id()) || !self.looks.take(1) {
            return None;
        }
        let mut thing = Thing::default();
        if let Some(types) = scope.attribute("itemtype") {
            thing.types = types.split_ascii_whitespace().map(str::to_owned).collect();
            self.types.extend(thing.types.iter().map(|name| schema_org::short(name).to_owned()));
        }
        thing.id = scope.attribute("itemid").map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        // An element counts once for an item, however often it is referred to.
        let mut taken = HashSet::default();
        self.properties_in(scope, &mut thing, &mut taken, depth);
        let references = scope.attribute("itemref").unwrap_or_default();
        for id in references.split_ascii_whitespace() {
            self.referred(scope, id, &mut thing, &mut taken, depth);
        }
        if thing.is_bare() {
            thing.add("@value", self.plain_value(scope));
        }
        Some(thing)
    }

    /// The properties among the descendants of an element, up to the scopes of other items.
    fn properties_in(&mut self, within: Node<'a>, thing: &mut Thing, taken: &mut HashSet<u32>, depth: usize) {
        let mut id = within.id() + 1;
        while id < within.end() && self.looks.take(1) {
            let node = self.source.document.node(id);
            id = if node.has_attribute("itemscope") { node.end() } else { id + 1 };
            self.property(node, thing, taken, depth);
        }
    }

    fn property(&mut self, node: Node<'a>, thing: &mut Thing, taken: &mut HashSet<u32>, depth: usize) {
        let Some(names) = node.attribute("itemprop").filter(|_| taken.insert(node.id())) else { return };
        let Some(value) = self.value(node, depth) else { return };
        names.split_ascii_whitespace().for_each(|name| thing.add(name, value.clone()));
    }

    /// What an item takes from elsewhere in the page.
    fn referred(&mut self, scope: Node<'a>, id: &str, thing: &mut Thing, taken: &mut HashSet<u32>, depth: usize) {
        let document = self.source.document;
        let ids = self.ids.get_or_insert_with(|| by_id(document));
        let Some(node) = ids.get(id).copied() else { return };
        let is_around = node.id() <= scope.id() && scope.id() < node.end();
        if is_around {
            return;
        }
        self.property(node, thing, taken, depth);
        if !node.has_attribute("itemscope") {
            self.properties_in(node, thing, taken, depth);
        }
    }

    fn value(&mut self, node: Node<'a>, depth: usize) -> Option<Value> {
        if !node.has_attribute("itemscope") {
            return Some(self.plain_value(node));
        }
        if depth >= DEPTH_MAX {
            return None;
        }
        self.item(node, depth + 1).map(|thing| thing.into_json(true, &mut |_| None))
    }

    /// The value of an element that is no item (HTML Standard, "Values").
    fn plain_value(&mut self, node: Node<'a>) -> Value {
        let attribute = |name: &str| node.attribute(name);
        let url = |name: &str| attribute(name).map(|href| self.source.resolved(&href)).unwrap_or_default();
        let name = node.name().to_ascii_lowercase();
        let text = match name.as_str() {
            "meta" => attribute("content").unwrap_or_default().into_owned(),
            "audio" | "embed" | "iframe" | "img" | "source" | "track" | "video" => url("src"),
            "a" | "area" | "link" => url("href"),
            "object" => url("data"),
            "data" | "meter" if node.has_attribute("value") => attribute("value").unwrap_or_default().into_owned(),
            "time" if node.has_attribute("datetime") => attribute("datetime").unwrap_or_default().into_owned(),
            // Not in the standard, but in the examples of schema.org.
            _ => match attribute("content").filter(|content| !content.is_empty()) {
                Some(content) => content.into_owned(),
                None if is_field(node) => return field(node),
                None => self.source.text(node, &mut self.looks),
            },
        };
        json!(text)
    }
}

/// Whether an element is a field of a form that an action fills in or out (schema.org, "Potential Actions", part 4).
fn is_field(node: Node<'_>) -> bool {
    let names = node.attribute("itemprop").unwrap_or_default();
    names.ends_with("-input") || names.ends_with("-output")
}

/// What is to be known of such a field.
fn field(node: Node<'_>) -> Value {
    let mut known = Map::new();
    if node.has_attribute("required") {
        known.insert("valueRequired".to_owned(), json!(true));
    }
    if let Some(name) = node.attribute("name").filter(|name| !name.is_empty()) {
        known.insert("valueName".to_owned(), json!(name));
    }
    Value::Object(known)
}

fn by_id<'a>(document: &'a Document<'a>) -> HashMap<Cow<'a, str>, Node<'a>> {
    let mut ids = HashMap::new();
    for element in document.elements() {
        if let Some(id) = element.attribute("id") {
            ids.entry(id).or_insert(element);
        }
    }
    ids
}
