//! The imprint of a page: its title, who wrote it, when, and what its site is called.
//!
//! A page tells it in several ways. They are asked in order of how often they are right: JSON-LD, `meta` elements, microdata, marked
//! places of the page.

use std::borrow::Cow;

use extract::html::dom::Node;
use serde_json::{Map, Value};

use crate::metas::Metas;
use crate::survey::{Survey, has_token};

/// Bytes of the longest value that is kept; a longer one is no name.
const VALUE_BYTES_MAX: usize = 512;
/// Bytes of the longest language tag that is believed.
const LANGUAGE_BYTES_MAX: usize = 35;
/// Bytes of the longest date that is believed.
const DATE_BYTES_MAX: usize = 40;
/// Values of JSON-LD that are looked at, in a script.
const VALUES_MAX: usize = 20_000;
/// Nodes within an element that has a value, at most.
const NODES_MAX: u32 = 64;

/// Names of `meta` elements with the author, in order of trust.
const AUTHORS: [&str; 8] = [
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "citation_author",
    "parsely-author",
    "sailthru.author",
    "byl",
];
/// Those with the date of publication.
const PUBLISHED: [&str; 10] = [
    "article:published_time",
    "datepublished",
    "dc.date",
    "dcterms.created",
    "dc.date.issued",
    "citation_publication_date",
    "parsely-pub-date",
    "sailthru.date",
    "date",
    "pubdate",
];
/// Those with the date of the last change.
const MODIFIED: [&str; 5] =
    ["article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified"];

/// Values as written, but for white space; dates are ISO 8601 as far as they are written so.
#[derive(Debug, Default)]
pub(crate) struct Imprint {
    pub(crate) title: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) published: Option<String>,
    pub(crate) modified: Option<String>,
    pub(crate) site_name: Option<String>,
    pub(crate) language: Option<String>,
}

pub(crate) fn read<'v>(survey: &Survey<'_>, metas: &Metas, things: impl Iterator<Item = &'v Value>) -> Imprint {
    let mut of_things = Things::default();
    things.for_each(|thing| of_things.read(thing));
    let mut marks = Marks::default();
    survey.properties.iter().for_each(|node| marks.property(*node));
    survey.authors.iter().for_each(|node| put(&mut marks.linked_author, author_of(&short_text(*node))));
    survey.times.iter().for_each(|node| put(&mut marks.time, date_of(&node.attribute("datetime").unwrap_or_default())));
    let first = |names: &[&str], valid: fn(&str) -> Option<String>| metas.of(names).find_map(valid);
    let text = |node: &Option<Node<'_>>| node.as_ref().and_then(|node| value_of(&short_text(*node)));

    let site_name = first(&["og:site_name", "application-name"], value_of).or(of_things.publisher).or(of_things.site);
    let heading = || survey.headings.iter().filter(|(level, _)| *level == 1).find_map(|(_, node)| text(&Some(*node)));
    let title = first(&["og:title"], value_of).or_else(heading).or_else(|| text(&survey.title));
    let lang = survey.html.and_then(|html| html.attribute("lang")).and_then(|lang| language_of(&lang));
    Imprint {
        title: title.map(|title| without_site(&title, site_name.as_deref())),
        author: of_things.author.or_else(|| first(&AUTHORS, author_of)).or(marks.author).or(marks.linked_author),
        published: (of_things.published).or_else(|| first(&PUBLISHED, date_of)).or(marks.published).or(marks.time),
        modified: of_things.modified.or_else(|| first(&MODIFIED, date_of)).or(marks.modified),
        language: lang.or_else(|| first(&["content-language"], language_of)),
        site_name,
    }
}

/// The first value counts.
fn put(place: &mut Option<String>, value: Option<String>) {
    if place.is_none() {
        *place = value;
    }
}

/// A text with single spaces, if it may be a value.
fn value_of(text: &str) -> Option<String> {
    let value = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!value.is_empty() && value.len() <= VALUE_BYTES_MAX).then_some(value)
}

/// A date that begins with year and month.
fn date_of(text: &str) -> Option<String> {
    let text = text.trim();
    let begins_with_year = text.len() >= 10
        && text.bytes().take(4).all(|byte| byte.is_ascii_digit())
        && text.as_bytes()[4] == b'-'
        && text.bytes().skip(5).take(2).all(|byte| byte.is_ascii_digit());
    value_of(text).filter(|_| begins_with_year && text.len() <= DATE_BYTES_MAX)
}

/// An author; an address is no name.
fn author_of(text: &str) -> Option<String> {
    let text = text.trim();
    let name = text.strip_prefix("By ").or_else(|| text.strip_prefix("by ")).unwrap_or(text);
    value_of(name).filter(|_| !name.contains("://") && !name.starts_with(['@', '/']))
}

fn language_of(text: &str) -> Option<String> {
    value_of(text).filter(|_| text.len() <= LANGUAGE_BYTES_MAX)
}

/// The text of an element; nothing where it is too long for a value.
fn short_text(node: Node<'_>) -> String {
    if node.end() - node.id() > NODES_MAX { String::new() } else { node.visible_text(2 * VALUE_BYTES_MAX) }
}

/// What places of the page say: microdata, and what pages mark by custom.
#[derive(Default)]
struct Marks {
    author: Option<String>,
    published: Option<String>,
    modified: Option<String>,
    linked_author: Option<String>,
    time: Option<String>,
}

impl Marks {
    fn property(&mut self, node: Node<'_>) {
        let name = node.attribute("itemprop").unwrap_or_default();
        let value = || {
            let written = node.attribute("datetime").or_else(|| node.attribute("content"));
            written.map_or_else(|| short_text(node), Cow::into_owned)
        };
        match &*name {
            "author" | "creator" if self.author.is_none() => {
                let is_name =
                    |inner: &Node<'_>| inner.attribute("itemprop").is_some_and(|names| has_token(&names, "name"));
                let inner = node.descendants().take(NODES_MAX as usize).find(is_name);
                self.author = author_of(&inner.map_or_else(value, short_text));
            }
            "datePublished" | "dateCreated" if self.published.is_none() => self.published = date_of(&value()),
            "dateModified" if self.modified.is_none() => self.modified = date_of(&value()),
            _ => {}
        }
    }
}

/// What JSON-LD says.
#[derive(Default)]
struct Things {
    author: Option<String>,
    published: Option<String>,
    modified: Option<String>,
    publisher: Option<String>,
    site: Option<String>,
}

impl Things {
    fn read(&mut self, value: &Value) {
        let mut left = vec![value];
        let mut looked_at = 0;
        while let Some(value) = left.pop().filter(|_| looked_at < VALUES_MAX) {
            looked_at += 1;
            match value {
                Value::Array(values) => left.extend(values.iter().rev()),
                Value::Object(object) => {
                    self.thing(object);
                    // What a page is about, but not what others say about it.
                    let inner = ["@graph", "mainEntity", "mainEntityOfPage", "hasPart"].into_iter().rev();
                    left.extend(inner.filter_map(|name| object.get(name)));
                }
                _ => {}
            }
        }
    }

    fn thing(&mut self, object: &Map<String, Value>) {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        put(&mut self.published, text("datePublished").and_then(date_of));
        put(&mut self.modified, text("dateModified").and_then(date_of));
        put(&mut self.author, object.get("author").and_then(names_of).and_then(|names| author_of(&names)));
        let publisher = object.get("publisher").and_then(|publisher| publisher.get("name")).and_then(Value::as_str);
        put(&mut self.publisher, publisher.and_then(value_of));
        let is_site = object.get("@type").is_some_and(|kind| kind == "WebSite");
        put(&mut self.site, text("name").filter(|_| is_site).and_then(value_of));
    }
}

/// The names of persons: a text, an object with a name, or several of these.
fn names_of(author: &Value) -> Option<String> {
    /// Names that are listed.
    const NAMES_MAX: usize = 20;
    let name = |value: &Value| value.as_str().or_else(|| value.get("name")?.as_str()).map(str::to_owned);
    let names: Vec<String> = match author {
        Value::Array(authors) => authors.iter().take(NAMES_MAX).filter_map(name).collect(),
        author => name(author).into_iter().collect(),
    };
    Some(names.join("; ")).filter(|names| !names.is_empty())
}

/// The title without the name of the site at its end.
fn without_site(title: &str, site: Option<&str>) -> String {
    let Some(site) = site else { return title.to_owned() };
    let rest = title
        .strip_suffix(site)
        .map(str::trim_end)
        .and_then(|rest| rest.strip_suffix(['|', '-', '–', '—', '·', ':', '•']));
    rest.map(str::trim_end).filter(|rest| !rest.is_empty()).unwrap_or(title).to_owned()
}
