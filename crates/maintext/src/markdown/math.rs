//! Formulas: MathML that brings its TeX source.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};

/// Bytes of the longest source that is taken.
const SOURCE_BYTES_MAX: usize = 4096;

/// The TeX of a `math` element, if it has one: an `annotation`, or `alttext`.
pub(super) fn source(tree: &Document<'_>, id: Id) -> Option<String> {
    let is_tex = |id: &Id| {
        tree.tag(*id) == Some(Tag::Annotation)
            && tree
                .attribute(*id, "encoding")
                .is_some_and(|encoding| encoding.eq_ignore_ascii_case("application/x-tex"))
    };
    let annotation = tree.subtree(id).find(is_tex).map(|id| tree.whole_text(id));
    let text = annotation.or_else(|| tree.attribute(id, "alttext").map(Cow::into_owned))?;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("{\\displaystyle").and_then(|text| text.strip_suffix('}')).unwrap_or(&text).trim();
    Some(text.to_owned()).filter(|text| !text.is_empty() && text.len() <= SOURCE_BYTES_MAX && !text.contains('$'))
}

/// Whether a formula stands by itself.
pub(super) fn is_display(tree: &Document<'_>, id: Id) -> bool {
    tree.attribute(id, "display").is_some_and(|display| display.eq_ignore_ascii_case("block"))
}
