//! A page by the numbers of its nodes: for what looks at all of them, and notes something about each.

use std::borrow::Cow;
use std::ops::Range;

use super::{Attribute, Data, Document, Tag, Text};

/// The number of a node. A child has a greater one than its parent.
pub type Id = usize;

/// The document itself.
pub const ROOT: Id = 0;

impl<'d> Document<'d> {
    /// What element it is; `None` for text. The document itself is [`Tag::Other`].
    #[inline]
    #[must_use]
    pub fn tag(&self, id: Id) -> Option<Tag> {
        self.places[id].tag
    }

    /// The node around a node; that of the document is the document.
    #[inline]
    #[must_use]
    pub fn parent(&self, id: Id) -> Id {
        self.places[id].parent as usize
    }

    /// The number behind the last node below this one.
    #[inline]
    #[must_use]
    pub fn end(&self, id: Id) -> Id {
        self.places[id].end as usize
    }

    /// The node itself and all below it.
    #[inline]
    #[must_use]
    pub fn subtree(&self, id: Id) -> Range<Id> {
        id..self.end(id)
    }

    /// The children of a node, in order.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> + Clone + '_ {
        let end = self.end(id);
        let first = Some(id + 1).filter(|first| *first < end);
        std::iter::successors(first, move |child| Some(self.end(*child)).filter(|next| *next < end))
    }

    /// The first element that passes, in the order of the document.
    pub fn find(&self, test: impl Fn(Id) -> bool) -> Option<Id> {
        (1..self.len()).find(|id| self.tag(*id).is_some() && test(*id))
    }

    /// The value of an attribute, references decoded.
    #[must_use]
    pub fn attribute(&self, id: Id, name: &str) -> Option<Cow<'d, str>> {
        let found = self.written_attributes(id).iter().find(|attribute| attribute.is(self.source, name))?;
        Some(found.meaning(self.source))
    }

    /// The attributes of an element in order, with repeats; what gives the value decodes its references.
    pub fn attributes(&self, id: Id) -> impl Iterator<Item = (&'d str, impl Fn() -> Cow<'d, str> + '_)> + '_ {
        let source = self.source;
        self.written_attributes(id)
            .iter()
            .map(move |attribute| (attribute.name.text(source), move || attribute.meaning(source)))
    }

    #[inline]
    pub(super) fn written_attributes(&self, id: Id) -> &[Attribute] {
        match self.nodes[id] {
            Data::Element { attributes, attributes_end, .. } => {
                &self.attributes[attributes as usize..attributes_end as usize]
            }
            Data::Document | Data::Text(..) => &[],
        }
    }

    /// Whether a word is among those of an attribute.
    #[must_use]
    pub fn has_word(&self, id: Id, attribute: &str, word: &str) -> bool {
        let words = self.attribute(id, attribute).unwrap_or_default();
        words.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
    }

    /// The text of a node that is text, references decoded; else nothing.
    #[must_use]
    pub fn text(&self, id: Id) -> Cow<'d, str> {
        self.written_text(id).map_or(Cow::Borrowed(""), |text| text.whole())
    }

    /// Whether a node is text that is nothing but white space as it is written; references are not.
    #[must_use]
    pub fn is_blank(&self, id: Id) -> bool {
        self.written_text(id).is_some_and(|text| text.is_blank())
    }

    pub(super) fn written_text(&self, id: Id) -> Option<Text<'d>> {
        match self.nodes[id] {
            Data::Text(span, reading) => Some(Text { document: self.source, part: span.part(), reading }),
            Data::Document | Data::Element { .. } => None,
        }
    }

    /// All text below a node, as it stands there; a `br` is a line end.
    #[must_use]
    pub fn whole_text(&self, id: Id) -> String {
        let mut text = String::new();
        for id in self.subtree(id) {
            match self.tag(id) {
                None => text.push_str(&self.text(id)),
                Some(Tag::Br) => text.push('\n'),
                Some(_) => {}
            }
        }
        text
    }
}

impl Tag {
    /// The rank of a heading, 1 for `h1`.
    #[must_use]
    pub const fn heading_rank(self) -> Option<u8> {
        Some(match self {
            Tag::H1 => 1,
            Tag::H2 => 2,
            Tag::H3 => 3,
            Tag::H4 => 4,
            Tag::H5 => 5,
            Tag::H6 => 6,
            _ => return None,
        })
    }

    /// Whether an element stands by itself and is no part of a line of text.
    #[must_use]
    pub const fn is_block(self) -> bool {
        self.heading_rank().is_some()
            || matches!(
                self,
                Tag::Address
                    | Tag::Article
                    | Tag::Aside
                    | Tag::BlockQuote
                    | Tag::Body
                    | Tag::Caption
                    | Tag::Center
                    | Tag::Dd
                    | Tag::Details
                    | Tag::Dialog
                    | Tag::Div
                    | Tag::Dl
                    | Tag::Dt
                    | Tag::Fieldset
                    | Tag::Figcaption
                    | Tag::Figure
                    | Tag::Footer
                    | Tag::Form
                    | Tag::Header
                    | Tag::Hgroup
                    | Tag::Hr
                    | Tag::Html
                    | Tag::Li
                    | Tag::Main
                    | Tag::Menu
                    | Tag::Nav
                    | Tag::Ol
                    | Tag::P
                    | Tag::Pre
                    | Tag::Search
                    | Tag::Section
                    | Tag::Summary
                    | Tag::Table
                    | Tag::Tbody
                    | Tag::Td
                    | Tag::Tfoot
                    | Tag::Th
                    | Tag::Thead
                    | Tag::Tr
                    | Tag::Ul
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_by_their_numbers() {
        let page = Document::parse("<p>one<br>two <a HREF='x&amp;y' class='b  C'>three</a><ul><li>four<li>five</ul>");
        let link = page.find(|id| page.tag(id) == Some(Tag::A)).expect("a link");
        assert_eq!(page.attribute(link, "href").as_deref(), Some("x&y"));
        assert_eq!(page.attribute(link, "id"), None);
        assert!(page.has_word(link, "class", "c") && !page.has_word(link, "class", "d"));
        assert_eq!(page.attributes(link).map(|(name, _)| name).collect::<Vec<_>>(), ["HREF", "class"]);
        assert_eq!(page.whole_text(ROOT), "one\ntwo threefourfive");
        let list = page.find(|id| page.tag(id) == Some(Tag::Ul)).expect("a list");
        assert_eq!(page.children(list).map(|item| page.whole_text(item)).collect::<Vec<_>>(), ["four", "five"]);
        for id in 1..page.len() {
            assert!(page.subtree(page.parent(id)).contains(&id) && page.end(id) <= page.end(page.parent(id)));
        }
    }
}
