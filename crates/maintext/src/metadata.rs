//! What a page tells of itself: title, author, dates, the name of its site, its language.
//!
//! A page tells it in several ways. They are asked in order of how often they are right: JSON-LD, `meta` elements, microdata, marked
//! places of the page.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};
use serde_json::Value;

use crate::page::is_json_ld;

/// Bytes of the longest value that is kept; a longer one is no name.
const VALUE_BYTES_MAX: usize = 512;
/// Bytes of the longest language tag that is believed.
const LANGUAGE_BYTES_MAX: usize = 35;
/// Bytes of the longest date that is believed.
const DATE_BYTES_MAX: usize = 40;
/// Values of JSON-LD that are looked at.
const VALUES_MAX: usize = 20_000;

/// What a page tells of itself. Values are as written, but for white space; dates are ISO 8601 as far as they are written so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The title of the page, without the name of its site where it tells both.
    pub title: Option<String>,
    /// Who wrote it; several names are separated by `; `.
    pub author: Option<String>,
    /// When it was published.
    pub published: Option<String>,
    /// When it was changed.
    pub modified: Option<String>,
    /// What its site is called.
    pub site_name: Option<String>,
    /// The language tag of the page.
    pub language: Option<String>,
}

/// Values in order of how far they are trusted; the first one counts.
#[derive(Default)]
struct Found {
    title: [Option<String>; 3],
    author: [Option<String>; 4],
    published: [Option<String>; 4],
    modified: [Option<String>; 3],
    site_name: [Option<String>; 2],
    language: [Option<String>; 2],
}

fn put(place: &mut Option<String>, value: &str) {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    if place.is_none() && !value.is_empty() && value.len() <= VALUE_BYTES_MAX {
        *place = Some(value);
    }
}

/// Notes a date; texts that are none are left out.
fn put_date(place: &mut Option<String>, value: &str) {
    let value = value.trim();
    let begins_with_year = value.len() >= 10
        && value.bytes().take(4).all(|byte| byte.is_ascii_digit())
        && value.as_bytes()[4] == b'-'
        && value.bytes().skip(5).take(2).all(|byte| byte.is_ascii_digit());
    if begins_with_year && value.len() <= DATE_BYTES_MAX {
        put(place, value);
    }
}

/// Notes an author; an address is no name.
fn put_author(place: &mut Option<String>, value: &str) {
    let value = value.trim();
    let value = value.strip_prefix("By ").or_else(|| value.strip_prefix("by ")).unwrap_or(value);
    if !value.contains("://") && !value.starts_with(['@', '/']) {
        put(place, value);
    }
}

pub(crate) fn read(tree: &Document<'_>) -> Metadata {
    let mut found = Found::default();
    for id in 1..tree.len() {
        let Some(tag) = tree.tag(id) else { continue };
        match tag {
            Tag::Html => put_language(&mut found.language[0], &tree.attribute(id, "lang").unwrap_or_default()),
            Tag::Title => put(&mut found.title[2], &short_text(tree, id)),
            Tag::H1 => put(&mut found.title[1], &short_text(tree, id)),
            Tag::Meta => found.meta(tree, id),
            Tag::Script if tree.attribute(id, "type").is_some_and(|kind| is_json_ld(&kind)) => {
                found.json_ld(&tree.whole_text(id));
            }
            _ => found.marked(tree, id, tag),
        }
    }
    found.settled()
}

/// The text of an element; nothing where it is too long for a value.
fn short_text(tree: &Document<'_>, id: Id) -> String {
    /// Nodes that a value has.
    const NODES_MAX: usize = 64;
    let mut text = String::new();
    if tree.end(id) - id > NODES_MAX {
        return text;
    }
    for id in tree.subtree(id) {
        text.push_str(&tree.text(id));
        if text.len() > 2 * VALUE_BYTES_MAX {
            return String::new();
        }
    }
    text
}

fn put_language(place: &mut Option<String>, value: &str) {
    if value.trim().len() <= LANGUAGE_BYTES_MAX {
        put(place, value);
    }
}

impl Found {
    fn meta(&mut self, tree: &Document<'_>, id: Id) {
        let Some(content) = tree.attribute(id, "content") else { return };
        let name = ["property", "name", "itemprop", "http-equiv"].into_iter().find_map(|name| tree.attribute(id, name));
        match name.unwrap_or_default().to_ascii_lowercase().as_str() {
            "og:title" => put(&mut self.title[0], &content),
            "og:site_name" | "application-name" => put(&mut self.site_name[0], &content),
            "author" | "article:author" | "dc.creator" | "dcterms.creator" | "citation_author" | "parsely-author"
            | "sailthru.author" | "byl" => put_author(&mut self.author[1], &content),
            "article:published_time"
            | "datepublished"
            | "dc.date"
            | "dcterms.created"
            | "dc.date.issued"
            | "citation_publication_date"
            | "parsely-pub-date"
            | "sailthru.date"
            | "date"
            | "pubdate" => {
                put_date(&mut self.published[1], &content);
            }
            "article:modified_time" | "og:updated_time" | "datemodified" | "dcterms.modified" | "last-modified" => {
                put_date(&mut self.modified[1], &content);
            }
            "content-language" => put_language(&mut self.language[1], &content),
            _ => {}
        }
    }

    /// Microdata, and what pages mark by custom.
    fn marked(&mut self, tree: &Document<'_>, id: Id, tag: Tag) {
        if let Some(name) = tree.attribute(id, "itemprop") {
            let value = tree.attribute(id, "datetime").or_else(|| tree.attribute(id, "content"));
            let value = || value.map_or_else(|| short_text(tree, id), Cow::into_owned);
            match &*name {
                "author" | "creator" => {
                    let inner = tree.subtree(id).skip(1).take(64).find(|id| tree.has_word(*id, "itemprop", "name"));
                    put_author(&mut self.author[2], &inner.map_or_else(value, |inner| short_text(tree, inner)));
                }
                "datePublished" | "dateCreated" => put_date(&mut self.published[2], &value()),
                "dateModified" => put_date(&mut self.modified[2], &value()),
                _ => {}
            }
        }
        if tag == Tag::A && tree.has_word(id, "rel", "author") {
            put_author(&mut self.author[3], &short_text(tree, id));
        }
        if tag == Tag::Time {
            put_date(&mut self.published[3], &tree.attribute(id, "datetime").unwrap_or_default());
        }
    }

    fn json_ld(&mut self, text: &str) {
        let Ok(value) = serde_json::from_str::<Value>(text.trim()) else { return };
        let mut left = vec![&value];
        let mut looked_at = 0;
        while let Some(value) = left.pop() {
            looked_at += 1;
            if looked_at > VALUES_MAX {
                return;
            }
            match value {
                Value::Array(values) => left.extend(values.iter().rev()),
                Value::Object(object) => {
                    self.item(object);
                    // What a page is about, but not what others say about it.
                    let inner = ["@graph", "mainEntity", "mainEntityOfPage", "hasPart"].into_iter().rev();
                    left.extend(inner.filter_map(|name| object.get(name)));
                }
                _ => {}
            }
        }
    }

    fn item(&mut self, object: &serde_json::Map<String, Value>) {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        for (name, place) in [("datePublished", &mut self.published[0]), ("dateModified", &mut self.modified[0])] {
            put_date(place, text(name).unwrap_or_default());
        }
        if let Some(author) = object.get("author").and_then(names_of) {
            put_author(&mut self.author[0], &author);
        }
        let is_site = object.get("@type").is_some_and(|kind| kind == "WebSite");
        let publisher = object.get("publisher").and_then(|publisher| publisher.get("name")).and_then(Value::as_str);
        put(&mut self.site_name[1], publisher.or_else(|| text("name").filter(|_| is_site)).unwrap_or_default());
    }

    fn settled(self) -> Metadata {
        fn first<const N: usize>(values: [Option<String>; N]) -> Option<String> {
            values.into_iter().flatten().next()
        }
        let site_name = first(self.site_name);
        let title = first(self.title).map(|title| without_site(&title, site_name.as_deref()));
        Metadata {
            title,
            author: first(self.author),
            published: first(self.published),
            modified: first(self.modified),
            site_name,
            language: first(self.language),
        }
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
