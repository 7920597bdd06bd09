//! The list of a page's items, within its limits.

use extract::html::dom::Node;
use serde_json::Value;

use crate::Limits;
use crate::place::Places;
use crate::repair::Flaws;

/// How a page says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A script of JSON-LD.
    JsonLd,
    /// `itemscope` and `itemprop`.
    Microdata,
    /// `vocab`, `typeof`, `property`.
    Rdfa,
    /// `meta` elements named `og:…` and the like.
    OpenGraph,
    /// `meta` elements named `twitter:…`.
    Twitter,
    /// Other `meta` elements.
    Meta,
    /// `h1` to `h6`.
    Headings,
    /// `link rel=alternate hreflang`.
    Languages,
    /// Feeds.
    Feeds,
}

impl Format {
    /// The name, for rows and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonLd => "json-ld",
            Self::Microdata => "microdata",
            Self::Rdfa => "rdfa",
            Self::OpenGraph => "opengraph",
            Self::Twitter => "twitter",
            Self::Meta => "meta",
            Self::Headings => "headings",
            Self::Languages => "hreflang",
            Self::Feeds => "feeds",
        }
    }
}

/// One thing that a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// How it says it.
    pub format: Format,
    /// What kind of thing it is: a short name of schema.org, or a URL; several are separated by commas.
    pub kind: Option<String>,
    /// Where it is in the page: an XPath, with a JSONPath behind `#` in a script; `None` if it is gathered from many places.
    pub path: Option<String>,
    /// The thing as JSON.
    pub json: String,
    /// What was mended to read it: see [`Flaws::names`].
    pub repaired: Option<String>,
}

pub(crate) struct Items<'l> {
    limits: &'l Limits,
    places: Places,
    list: Vec<Item>,
    json_bytes: usize,
    is_cut: bool,
}

impl<'l> Items<'l> {
    pub(crate) fn new(limits: &'l Limits) -> Self {
        Items { limits, places: Places::default(), list: Vec::new(), json_bytes: 0, is_cut: false }
    }

    /// Adds an item of an element; `within` says where in its JSON.
    pub(crate) fn add(
        &mut self,
        format: Format,
        kind: Option<String>,
        place: Option<(Node<'_>, &str)>,
        json: &Value,
        flaws: Flaws,
    ) {
        let json = json.to_string();
        if self.list.len() >= self.limits.items_max || self.json_bytes + json.len() > self.limits.json_bytes_max {
            self.is_cut = true;
            return;
        }
        self.json_bytes += json.len();
        let path = place.map(|(node, within)| self.places.of(node) + within);
        self.list.push(Item { format, kind, path, json, repaired: flaws.names() });
    }

    pub(crate) fn cut(&mut self) {
        self.is_cut = true;
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(crate) fn into_list(self) -> Vec<Item> {
        self.list
    }
}
