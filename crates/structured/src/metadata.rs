//! What stands in the head of a page and in its headings: values that most pages have, and those that some have.

use std::borrow::Cow;

use extract::html::dom::Node;
use serde_json::{Value, json};
use url::Url;

use crate::Limits;
use crate::base::joined;
use crate::imprint::{self, Imprint};
use crate::items::{Format, Items};
use crate::json_ld::Script;
use crate::metas::{Metas, bounded};
use crate::repair::Flaws;
use crate::schema_org;
use crate::source::Source;
use crate::survey::has_token;

/// Languages in one value, at most.
const LANGUAGES_MAX: usize = 200;
/// The media types of feeds.
const FEEDS: [&str; 4] =
    ["application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml"];

/// The values that most pages have. `None`: the page does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `meta name=description`.
    pub description: Option<String>,
    /// `meta name=keywords`.
    pub keywords: Option<String>,
    /// The title, without the name of the site where it tells both.
    pub title: Option<String>,
    /// Who wrote it; several names are separated by `; `.
    pub author: Option<String>,
    /// When it was published, in ISO 8601.
    pub published: Option<String>,
    /// When it was changed, in ISO 8601.
    pub modified: Option<String>,
    /// The name of its site.
    pub site_name: Option<String>,
    /// Its language tag.
    pub language: Option<String>,
    /// `meta name=generator`.
    pub generator: Option<String>,
    /// `meta name=viewport`.
    pub viewport: Option<String>,
    /// The first `h1` with text.
    pub h1: Option<String>,
    /// How many `h1` there are.
    pub h1_count: u32,
    /// `og:title`.
    pub og_title: Option<String>,
    /// `og:description`.
    pub og_description: Option<String>,
    /// `og:image`, resolved.
    pub og_image: Option<String>,
    /// `og:type`.
    pub og_type: Option<String>,
    /// `og:site_name`.
    pub og_site_name: Option<String>,
    /// `twitter:card`.
    pub twitter_card: Option<String>,
    /// The licence that a `link` or `a` names, resolved.
    pub license: Option<String>,
    /// The first feed, resolved.
    pub feed: Option<String>,
    /// The languages that the page is in elsewhere, separated by commas.
    pub hreflang: Option<String>,
    /// The types of all things that the page describes, separated by commas. Only [`read`](crate::read) knows them.
    pub schema_types: Option<String>,
}

/// What is gathered from the head and the headings.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) metadata: Metadata,
    metas: Metas,
    headings: Vec<Value>,
    languages: Vec<Value>,
    feeds: Vec<Value>,
}

/// Reads head, headings and imprint. `scripts` are those of JSON-LD.
pub(crate) fn read(source: &Source<'_>, scripts: &[Script<'_>]) -> Found {
    let Source { survey, base, limits, .. } = source;
    let base = base.as_ref();
    let mut found = Found::default();
    survey.metas.iter().for_each(|meta| found.meta(*meta));
    survey.links.iter().for_each(|link| found.link(*link, base));
    for (level, heading) in &survey.headings {
        found.heading(*level, *heading, limits);
    }
    let licence = survey.licences.iter().find_map(|anchor| anchor.attribute("href"));
    let things = scripts.iter().flat_map(|script| &script.repaired.values);
    let Imprint { title, author, published, modified, site_name, language } =
        imprint::read(survey, &found.metas, things);
    let Found { metadata, metas: Metas { open_graph, twitter, other }, .. } = &mut found;
    (metadata.title, metadata.author, metadata.published) = (title, author, published);
    (metadata.modified, metadata.site_name, metadata.language) = (modified, site_name, language);
    metadata.license = metadata.license.take().or_else(|| licence.map(|href| joined(base, &href)));
    metadata.description = other.first("description");
    metadata.keywords = other.first("keywords");
    metadata.generator = other.first("generator");
    metadata.viewport = other.first("viewport");
    metadata.og_title = open_graph.first("og:title");
    metadata.og_description = open_graph.first("og:description");
    metadata.og_image = open_graph.first("og:image").map(|href| joined(base, &href));
    metadata.og_type = open_graph.first("og:type");
    metadata.og_site_name = open_graph.first("og:site_name");
    metadata.twitter_card = twitter.first("twitter:card");
    found
}

/// Adds what the page says beyond [`Metadata`] to its items.
pub(crate) fn add_items(found: &Found, items: &mut Items<'_>) {
    let list = |values: &Vec<Value>| (!values.is_empty()).then(|| Value::Array(values.clone()));
    let kind = found.metadata.og_type.clone();
    let all = [
        (Format::OpenGraph, kind, found.metas.open_graph.to_json()),
        (Format::Twitter, found.metadata.twitter_card.clone(), found.metas.twitter.to_json()),
        (Format::Meta, None, found.metas.other.to_json()),
        (Format::Headings, None, list(&found.headings)),
        (Format::Languages, None, list(&found.languages)),
        (Format::Feeds, None, list(&found.feeds)),
    ];
    for (format, kind, json) in all {
        if let Some(json) = json {
            items.add(format, kind, None, &json, Flaws::default());
        }
    }
}

impl Found {
    fn meta(&mut self, meta: Node<'_>) {
        let Some(content) = meta.attribute("content") else { return };
        // OpenGraph is named by `property`, all else by `name`; pages mix them up.
        let names = ["property", "name", "itemprop", "http-equiv"];
        let Some(name) = names.iter().find_map(|name| meta.attribute(name).filter(|name| !name.trim().is_empty()))
        else {
            return;
        };
        if !meta.has_attribute("name") && !meta.has_attribute("property") && meta.has_attribute("itemprop") {
            // It belongs to an item.
            return;
        }
        // Only `property` is a list.
        let is_list = meta.has_attribute("property");
        let names = if is_list { name.split_ascii_whitespace().collect() } else { vec![name.trim()] };
        for name in names {
            let name = name.to_ascii_lowercase();
            self.metas.family(&name).add(&name, &content);
        }
    }

    fn link(&mut self, link: Node<'_>, base: Option<&Url>) {
        let (Some(rel), Some(href)) = (link.attribute("rel"), link.attribute("href")) else { return };
        if has_token(&rel, "license") && self.metadata.license.is_none() {
            self.metadata.license = Some(bounded(&joined(base, &href)).to_owned());
        }
        if !has_token(&rel, "alternate") {
            return;
        }
        let href = joined(base, &href);
        let kind = link.attribute("type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if FEEDS.contains(&kind.as_str()) {
            self.metadata.feed.get_or_insert_with(|| bounded(&href).to_owned());
            let title = link.attribute("title").map(Cow::into_owned);
            self.feeds.push(json!({ "type": kind, "title": title, "href": href }));
        } else if let Some(language) = link.attribute("hreflang") {
            let language = language.trim();
            if self.languages.len() < LANGUAGES_MAX {
                let languages = self.metadata.hreflang.get_or_insert_with(String::new);
                if !languages.is_empty() {
                    languages.push_str(", ");
                }
                languages.push_str(bounded(language));
            }
            self.languages.push(json!({ "hreflang": language, "href": href }));
        }
    }

    fn heading(&mut self, level: u8, heading: Node<'_>, limits: &Limits) {
        let text = heading.visible_text(limits.text_bytes_max);
        if level == 1 {
            self.metadata.h1_count += 1;
            if self.metadata.h1.is_none() && !text.is_empty() {
                self.metadata.h1 = Some(bounded(&text).to_owned());
            }
        }
        self.headings.push(json!({ "level": level, "text": text }));
    }
}

/// Names of schema.org among types.
pub(crate) fn schema_types(types: Vec<String>) -> Option<String> {
    schema_org::names(types).map(|names| bounded(&names).to_owned())
}
