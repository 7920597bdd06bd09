//! A thing with types and properties, on its way to JSON.

use serde_json::{Map, Value, json};

use crate::schema_org;

/// The context that says what short names mean.
const SCHEMA_ORG: &str = "https://schema.org";

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thing {
    /// As the page has them.
    pub(crate) types: Vec<String>,
    pub(crate) id: Option<String>,
    properties: Vec<(String, Vec<Slot>)>,
    places: foldhash::HashMap<String, usize>,
}

/// A value, or the place of the thing that is one.
#[derive(Clone, Debug)]
enum Slot {
    Value(Value),
    Inner(usize),
}

impl Thing {
    pub(crate) fn of(types: Vec<String>, id: Option<String>) -> Self {
        Thing { types, id, ..Thing::default() }
    }

    pub(crate) fn add(&mut self, property: &str, value: Value) {
        self.add_slot(property, Slot::Value(value));
    }

    /// Adds a thing by its place in a list of things.
    pub(crate) fn add_inner(&mut self, property: &str, place: usize) {
        self.add_slot(property, Slot::Inner(place));
    }

    fn add_slot(&mut self, property: &str, slot: Slot) {
        let property = schema_org::short(property);
        let place = match self.places.get(property) {
            Some(place) => *place,
            None => {
                self.properties.push((property.to_owned(), Vec::new()));
                self.places.insert(property.to_owned(), self.properties.len() - 1);
                self.properties.len() - 1
            }
        };
        self.properties[place].1.push(slot);
    }

    pub(crate) fn is_bare(&self) -> bool {
        self.properties.is_empty()
    }

    /// Its types in one text.
    pub(crate) fn kind(&self) -> Option<String> {
        let types: Vec<&str> = self.types.iter().map(|name| schema_org::short(name)).collect();
        (!types.is_empty()).then(|| types.join(", "))
    }

    /// As an object in the manner of JSON-LD; one inside of another has no context of its own.
    /// `inner` gives the JSON of a thing by its place.
    pub(crate) fn into_json(self, is_inside: bool, inner: &mut dyn FnMut(usize) -> Option<Value>) -> Value {
        let mut object = Map::new();
        let is_of_schema_org = self.types.iter().any(|name| schema_org::short(name).len() < name.len());
        if is_of_schema_org && !is_inside {
            object.insert("@context".to_owned(), json!(SCHEMA_ORG));
        }
        let types: Vec<Value> = self.types.iter().map(|name| json!(schema_org::short(name))).collect();
        if let Some(types) = one_or_all(types) {
            object.insert("@type".to_owned(), types);
        }
        if let Some(id) = self.id {
            object.insert("@id".to_owned(), json!(id));
        }
        for (property, values) in self.properties {
            let values = values.into_iter().filter_map(|slot| match slot {
                Slot::Value(value) => Some(value),
                Slot::Inner(place) => inner(place),
            });
            if let Some(value) = one_or_all(values.collect()) {
                object.insert(property, value);
            }
        }
        Value::Object(object)
    }
}

/// A single value as it is, and several in a list; `None` for none.
pub(crate) fn one_or_all(mut values: Vec<Value>) -> Option<Value> {
    match values.len() {
        0 => None,
        1 => values.pop(),
        _ => Some(Value::Array(values)),
    }
}
