//! The `meta` elements of a page, by name.

use serde_json::{Map, Value, json};

use crate::thing::one_or_all;

/// The longest value that is kept, in bytes.
const VALUE_BYTES_MAX: usize = 4 << 10;
/// How the names of OpenGraph and its kin begin.
const OPEN_GRAPH: [&str; 8] = ["og:", "article:", "book:", "fb:", "music:", "product:", "profile:", "video:"];

/// The `meta` elements.
#[derive(Default)]
pub(crate) struct Metas {
    pub(crate) open_graph: Gathered,
    pub(crate) twitter: Gathered,
    pub(crate) other: Gathered,
}

impl Metas {
    /// Those of the same family as a name.
    pub(crate) fn family(&mut self, name: &str) -> &mut Gathered {
        if OPEN_GRAPH.iter().any(|prefix| name.starts_with(prefix)) {
            &mut self.open_graph
        } else if name.starts_with("twitter:") {
            &mut self.twitter
        } else {
            &mut self.other
        }
    }

    /// The values of names, in the order of names, then of the page.
    pub(crate) fn of<'m>(&'m self, names: &'m [&str]) -> impl Iterator<Item = &'m str> {
        let all = [&self.open_graph, &self.other, &self.twitter];
        names.iter().flat_map(move |name| all.into_iter().flat_map(|family| family.values(name)))
    }
}

/// Values by name, in the order of the page.
#[derive(Default)]
pub(crate) struct Gathered {
    names: Vec<(String, Vec<Value>)>,
    places: foldhash::HashMap<String, usize>,
}

impl Gathered {
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        let place = *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.names.push((name.to_owned(), Vec::new()));
            self.names.len() - 1
        });
        self.names[place].1.push(json!(value));
    }

    fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.places.get(name).map(|place| &self.names[*place].1);
        values.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn first(&self, name: &str) -> Option<String> {
        let value = self.values(name).map(str::trim).find(|value| !value.is_empty())?;
        Some(bounded(value).to_owned())
    }

    pub(crate) fn to_json(&self) -> Option<Value> {
        let object: Map<String, Value> =
            self.names.iter().filter_map(|(name, values)| Some((name.clone(), one_or_all(values.clone())?))).collect();
        (!object.is_empty()).then_some(Value::Object(object))
    }
}

/// A value, as far as it is kept.
pub(crate) fn bounded(value: &str) -> &str {
    &value[..value.floor_char_boundary(VALUE_BYTES_MAX)]
}
