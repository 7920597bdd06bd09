//! What a page says about itself for machines: JSON-LD, microdata, RDFa Lite, OpenGraph, Twitter cards, `meta`, headings, languages, feeds.
//!
//! ```text
//!  page ──▶ extract::html::dom::Document ──▶ read() ──▶ Structured { metadata: columns of a page, items: rows of a table }
//! ```
//!
//! Items of every format have one shape, that of JSON-LD: an object with `@type`, `@id`, and properties by their short names. A property
//! that is given once is a value, and a list otherwise.
//!
//! Pure functions: no I/O, no clock, no errors. Time is linear in the page. [`Structured::is_cut`] tells if something was left out.

mod base;
mod imprint;
mod items;
mod json_ld;
mod metadata;
mod metas;
mod microdata;
mod place;
mod rdfa;
pub mod repair;
mod schema_org;
mod source;
mod survey;
mod thing;

use extract::html::dom::Document;
use url::Url;

use items::Items;
use source::Source;

pub use base::base_of;
pub use items::{Format, Item};
pub use json_ld::values as json_ld;
pub use metadata::Metadata;

/// What one page may contribute, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Items.
    pub items_max: usize,
    /// The JSON of all items together, in bytes.
    pub json_bytes_max: usize,
    /// The text of one property or heading, in bytes.
    pub text_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { items_max: 10_000, json_bytes_max: 4 << 20, text_bytes_max: 64 << 10 }
    }
}

/// What a page says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Structured {
    /// The values that most pages have.
    pub metadata: Metadata,
    /// Everything else, in the order of formats, then of the page.
    pub items: Vec<Item>,
    /// Items or texts beyond a limit were left out. What the tree lacks does not count: see [`Document::is_cut`].
    pub is_cut: bool,
}

/// Reads what a page says about itself. `url` is that of the page; a `base` element counts.
#[must_use]
pub fn read<'a>(document: &'a Document<'a>, url: Option<&Url>, limits: &Limits) -> Structured {
    let source = Source::of(document, url, limits);
    let scripts = json_ld::scripts(&source.survey);
    let mut items = Items::new(limits);
    let mut found = metadata::read(&source, &scripts);
    let json_ld = json_ld::add_all(&scripts, &mut items);
    let microdata = microdata::read(&source, &mut items);
    let rdfa = rdfa::read(&source, &mut items);
    metadata::add_items(&found, &mut items);
    found.metadata.schema_types = metadata::schema_types([json_ld, microdata, rdfa].concat());
    Structured { metadata: found.metadata, is_cut: items.is_cut(), items: items.into_list() }
}

/// Reads only the values that most pages have.
#[must_use]
pub fn metadata<'a>(document: &'a Document<'a>, url: Option<&Url>) -> Metadata {
    let source = Source::of(document, url, &Limits::default());
    metadata::read(&source, &json_ld::scripts(&source.survey)).metadata
}
