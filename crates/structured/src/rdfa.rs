//! RDFa Lite (W3C, "RDFa Lite 1.1"): `vocab`, `typeof`, `property`, `resource`, `prefix`; also `about`, `content`, `href`, `src`.

use std::rc::Rc;

use extract::html::dom::Node;
use foldhash::HashMap;
use serde_json::{Value, json};
use url::Url;

use crate::items::{Format, Items};
use crate::repair::Flaws;
use crate::schema_org;
use crate::source::{DEPTH_MAX, Looks, Source};
use crate::thing::Thing;

/// Prefixes that need no declaration (W3C, "RDFa Core Initial Context"), those of vocabularies that pages use.
const PREFIXES: [(&str, &str); 12] = [
    ("schema", "http://schema.org/"),
    ("dc", "http://purl.org/dc/terms/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("dc11", "http://purl.org/dc/elements/1.1/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("cc", "http://creativecommons.org/ns#"),
    ("sioc", "http://rdfs.org/sioc/ns#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("gr", "http://purl.org/goodrelations/v1#"),
    ("v", "http://rdf.data-vocabulary.org/#"),
    ("vcard", "http://www.w3.org/2006/vcard/ns#"),
];
/// Prefixes declared at one place of a page, at most.
const PREFIXES_MAX: usize = 256;
/// Prefixes of what is among the `meta` elements.
const OF_METADATA: [&str; 9] = ["og", "fb", "twitter", "article", "book", "music", "product", "profile", "video"];

/// Reads all things; the types of all of them.
pub(crate) fn read<'a>(source: &'a Source<'a>, items: &mut Items<'_>) -> Vec<String> {
    if !source.survey.has_rdfa {
        return Vec::new();
    }
    let mut reader = Reader { source, things: Vec::new(), page: None, looks: source.looks() };
    reader.walk();
    if reader.looks.are_spent() {
        items.cut();
    }
    let types =
        reader.things.iter().flat_map(|found| &found.thing.types).map(|name| schema_org::short(name).to_owned());
    let types = types.collect();
    let mut things: Vec<Option<Found<'a>>> = reader.things.into_iter().map(Some).collect();
    for place in 0..things.len() {
        let is_root = things[place].as_ref().is_some_and(|found| !found.is_inside && found.says_something());
        if let Some(Found { thing, node, .. }) = things[place].take_if(|_| is_root) {
            let kind = thing.kind();
            let json = to_json(thing, false, &mut things);
            items.add(Format::Rdfa, kind, node.map(|node| (node, "")), &json, Flaws::default());
        }
    }
    types
}

/// The JSON of a thing, with those inside of it. Each is written where it comes first.
fn to_json(thing: Thing, is_inside: bool, things: &mut [Option<Found<'_>>]) -> Value {
    thing.into_json(is_inside, &mut |place| things[place].take().map(|found| to_json(found.thing, true, things)))
}

/// A thing as far as it is read.
struct Found<'a> {
    thing: Thing,
    node: Option<Node<'a>>,
    /// It is the value of a property.
    is_inside: bool,
    depth: usize,
}

impl Found<'_> {
    fn says_something(&self) -> bool {
        !self.thing.is_bare() || !self.thing.types.is_empty()
    }
}

/// What counts inside of an element.
#[derive(Clone)]
struct Frame {
    end: u32,
    vocab: Option<Rc<str>>,
    prefixes: Rc<HashMap<String, String>>,
    /// The thing that is spoken of.
    subject: Option<usize>,
}

struct Reader<'a> {
    source: &'a Source<'a>,
    things: Vec<Found<'a>>,
    /// The thing that the page itself is.
    page: Option<usize>,
    looks: Looks,
}

impl<'a> Reader<'a> {
    fn walk(&mut self) {
        let outside = Frame { end: u32::MAX, vocab: None, prefixes: Rc::default(), subject: None };
        let mut frames = vec![outside];
        for element in self.source.document.elements() {
            if !self.looks.take(1) {
                return;
            }
            while frames.len() > 1 && frames.last().is_some_and(|frame| frame.end <= element.id()) {
                frames.pop();
            }
            let Some(around) = frames.last() else { return };
            if let Some(frame) = self.element(element, around) {
                frames.push(frame);
            }
        }
    }

    /// Reads the attributes of an element; what counts inside of it, if that is something else than outside.
    fn element(&mut self, element: Node<'a>, around: &Frame) -> Option<Frame> {
        element.attribute_names().next()?;
        let mut frame = Frame { end: element.end(), ..around.clone() };
        let mut is_new = self.declare(element, &mut frame);
        let properties: Vec<String> = element.attribute("property").map_or_else(Vec::new, |names| {
            names.split_ascii_whitespace().filter_map(|name| frame.expand(name)).collect()
        });
        let has_property = element.has_attribute("property");
        let identity = |names: &[&str]| {
            names.iter().find_map(|name| element.attribute(name)).map(|href| self.source.resolved(&href))
        };
        if has_property && let Some(id) = identity(&["about"]) {
            // It names what the property belongs to.
            frame.subject = Some(self.begin(element, Vec::new(), Some(id), None, &[]));
            is_new = true;
        }
        if let Some(types) = element.attribute("typeof") {
            let types = types.split_ascii_whitespace().filter_map(|name| frame.expand(name)).collect();
            let id = identity(if has_property {
                &["resource", "href", "src"]
            } else {
                &["about", "resource", "href", "src"]
            });
            frame.subject = Some(self.begin(element, types, id, frame.subject, &properties));
            return Some(frame);
        }
        if has_property {
            self.add_value(element, &frame, &properties);
        } else if let Some(id) = identity(&["about", "resource"]).filter(|_| !element.has_attribute("rel")) {
            frame.subject = Some(self.begin(element, Vec::new(), Some(id), None, &[]));
            is_new = true;
        }
        is_new.then_some(frame)
    }

    /// Notes a vocabulary and prefixes.
    fn declare(&self, element: Node<'a>, frame: &mut Frame) -> bool {
        let mut is_new = false;
        if let Some(vocab) = element.attribute("vocab") {
            let vocab = vocab.trim();
            frame.vocab = (!vocab.is_empty()).then(|| vocab.into());
            is_new = true;
        }
        let prefixes = element.attribute("prefix").unwrap_or_default();
        let mut declared: Vec<(String, String)> = Vec::new();
        let mut words = prefixes.split_ascii_whitespace();
        while let (Some(name), Some(meaning)) = (words.next(), words.next()) {
            declared.push((name.trim_end_matches(':').to_ascii_lowercase(), meaning.to_owned()));
        }
        // The older way to say it.
        let is_older = |name: &&str| name.len() > 6 && name.as_bytes()[..6].eq_ignore_ascii_case(b"xmlns:");
        for name in element.attribute_names().filter(is_older) {
            let meaning = element.attribute(name).unwrap_or_default();
            declared.push((name[6..].to_ascii_lowercase(), meaning.into_owned()));
        }
        if declared.is_empty() {
            return is_new;
        }
        let mut all = (*frame.prefixes).clone();
        all.extend(declared.into_iter().take(PREFIXES_MAX.saturating_sub(all.len())));
        frame.prefixes = Rc::new(all);
        true
    }

    /// Begins a thing, which is the value of these properties of another.
    fn begin(
        &mut self,
        element: Node<'a>,
        types: Vec<String>,
        id: Option<String>,
        around: Option<usize>,
        properties: &[String],
    ) -> usize {
        let depth = around.map_or(0, |around| self.things[around].depth + 1);
        let around = around.filter(|_| depth < DEPTH_MAX && !properties.is_empty());
        let thing = Thing::of(types, id);
        let depth = if around.is_some() { depth } else { 0 };
        self.things.push(Found { thing, node: Some(element), is_inside: around.is_some(), depth });
        let place = self.things.len() - 1;
        if let Some(around) = around {
            properties.iter().for_each(|property| self.things[around].thing.add_inner(property, place));
        }
        place
    }

    fn begin_page(&mut self) -> usize {
        let thing = Thing::of(Vec::new(), self.source.base.as_ref().map(Url::to_string));
        self.things.push(Found { thing, node: None, is_inside: false, depth: 0 });
        self.page = Some(self.things.len() - 1);
        self.things.len() - 1
    }

    /// Adds the value of an element to what is spoken of.
    fn add_value(&mut self, element: Node<'a>, frame: &Frame, properties: &[String]) {
        if properties.is_empty() {
            return;
        }
        let subject = frame.subject.or(self.page).unwrap_or_else(|| self.begin_page());
        let value = self.value_of(element);
        properties.iter().for_each(|property| self.things[subject].thing.add(property, value.clone()));
    }

    fn value_of(&mut self, element: Node<'a>) -> Value {
        if let Some(content) = element.attribute("content") {
            return json!(content);
        }
        let href = || ["resource", "href", "src"].iter().find_map(|name| element.attribute(name));
        if let Some(href) = (!has_relation(element)).then(href).flatten() {
            return json!(self.source.resolved(&href));
        }
        if let Some(time) = element.attribute("datetime") {
            return json!(time);
        }
        json!(self.source.text(element, &mut self.looks))
    }
}

/// Whether an element says how what it links to is related, in a word with a vocabulary: then its properties are texts.
fn has_relation(element: Node<'_>) -> bool {
    ["rel", "rev"].iter().filter_map(|name| element.attribute(name)).any(|words| words.contains(':'))
}

impl Frame {
    /// The IRI of a name; `None` if it has none here, or belongs to the page's metadata.
    fn expand(&self, name: &str) -> Option<String> {
        match name.split_once(':') {
            Some((prefix, _)) if OF_METADATA.iter().any(|other| prefix.eq_ignore_ascii_case(other)) => None,
            Some((_, rest)) if rest.starts_with("//") => Some(name.to_owned()),
            Some((prefix, rest)) => {
                let prefix = prefix.to_ascii_lowercase();
                let declared = self.prefixes.get(&prefix).map(String::as_str);
                let known = || PREFIXES.iter().find(|(known, _)| *known == prefix).map(|(_, meaning)| *meaning);
                Some(declared.or_else(known).map_or_else(|| name.to_owned(), |meaning| format!("{meaning}{rest}")))
            }
            None => self.vocab.as_ref().map(|vocab| format!("{vocab}{name}")),
        }
    }
}
