//! What the references of a page are relative to.

use extract::html::dom::{Document, Node, Tag};
use url::Url;

/// The URL against which the references of a page at `url` are resolved: a `base` element counts.
#[must_use]
pub fn base_of(document: &Document<'_>, url: Option<&Url>) -> Option<Url> {
    let is_inert = |element: &Node<'_>| element.ancestors().any(|above| above.tag() == Some(Tag::Template));
    let is_base =
        |element: &Node<'_>| element.tag() == Some(Tag::Base) && element.has_attribute("href") && !is_inert(element);
    let base = document.elements().find(is_base);
    let base = base.and_then(|base| url?.join(base.attribute("href")?.trim()).ok());
    base.or_else(|| url.cloned())
}

/// A reference, resolved if that is possible.
pub(crate) fn joined(base: Option<&Url>, href: &str) -> String {
    let href = href.trim_matches(|char: char| char.is_ascii_whitespace());
    base.and_then(|base| base.join(href).ok()).map_or_else(|| href.to_owned(), String::from)
}
