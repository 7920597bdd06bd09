//! A page as a tree of elements and texts, for what needs to know what is inside what: structured data, selectors, paths.
//!
//! The tokenizer is that of [`extract`](super::extract); [`builder`] puts its tags into a tree. The tree is the browser's on sound pages:
//! implied elements (`html`, `head`, `body`, `tbody`) and implied end tags are there. It differs in four things, which would need nodes to
//! move: what stands in a table outside of its cells stays there, formatting elements are not opened again in the next block, `noscript` and
//! `template` contain elements, and comments are no nodes.
//!
//! Nodes are in the order of the document, so the descendants of a node are a range. Reading takes linear time: an element deeper than
//! [`DEPTH_MAX`] gets no children, as in browsers.

mod builder;
mod by_number;
mod names;

pub use by_number::{Id, ROOT};

use std::borrow::Cow;

pub use super::tag::Tag;
use super::tokenizer::{Part, Reading, Text};
use crate::collapse::Collapsed;

/// How deep elements are nested, at most: what is deeper is beside the deepest. Chromium has the same limit.
pub const DEPTH_MAX: usize = 512;
/// Elements and texts of a page, at most; what follows is left out. A node takes some 250 bytes together with what is read out of the tree, so a
/// page takes 64 MB at most.
pub const NODES_MAX: usize = 1 << 18;
/// Bytes of a page that are read; what is behind them is data rather than text.
pub const BYTES_MAX: usize = 8 << 20;

/// A page.
#[derive(Debug)]
pub struct Document<'d> {
    source: &'d str,
    /// Where each node is, and what it is: small, for many look at all nodes, and at nothing else of most.
    places: Vec<Place>,
    /// What each node has.
    nodes: Vec<Data>,
    attributes: Vec<Attribute>,
    /// The forms, each with the number behind the last node before its end tag.
    forms: Vec<(u32, u32)>,
    is_cut: bool,
}

/// A node of the arena, among others. The first is the document itself.
#[derive(Clone, Copy, Debug)]
struct Place {
    parent: u32,
    /// The sibling before; the node itself if there is none.
    before: u32,
    /// Behind the last descendant.
    end: u32,
    /// Which element it is; `None` for text. The document counts as another one.
    tag: Option<Tag>,
}

/// What a node has. It says where, and not what, for few are read.
#[derive(Clone, Copy, Debug)]
enum Data {
    Document,
    /// An element that the page leaves out has an empty name.
    Element {
        name: Span,
        attributes: u32,
        attributes_end: u32,
    },
    Text(Span, Reading),
}

/// An attribute as it is written.
#[derive(Clone, Copy, Debug)]
struct Attribute {
    name: Span,
    value: Span,
}

/// A part of the page, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    begin: u32,
    end: u32,
}

impl Span {
    /// A page has at most [`BYTES_MAX`].
    #[inline(always)]
    fn of(begin: usize, end: usize) -> Self {
        Span { begin: begin as u32, end: end as u32 }
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part { begin: self.begin as usize, end: self.end as usize }
    }

    fn is_empty(self) -> bool {
        self.begin == self.end
    }

    fn text(self, source: &str) -> &str {
        source.get(self.begin as usize..self.end as usize).unwrap_or_default()
    }
}

impl Attribute {
    /// Whether it is called so, in any case.
    #[inline(always)]
    fn is(self, source: &str, name: &str) -> bool {
        let Span { begin, end } = self.name;
        (end - begin) as usize == name.len()
            && source.as_bytes()[begin as usize..end as usize].eq_ignore_ascii_case(name.as_bytes())
    }

    fn meaning(self, source: &str) -> Cow<'_, str> {
        self.value.part().meaning(source)
    }
}

/// The name of an element that the page leaves out.
const fn implied_name(tag: Option<Tag>) -> &'static str {
    match tag {
        Some(Tag::Html) => "html",
        Some(Tag::Head) => "head",
        Some(Tag::Body) => "body",
        Some(Tag::Tbody) => "tbody",
        Some(Tag::Tr) => "tr",
        Some(Tag::P) => "p",
        _ => "colgroup",
    }
}

/// An element, a text, or the document itself.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    document: &'a Document<'a>,
    id: u32,
}

impl<'d> Document<'d> {
    /// Reads a page, up to [`BYTES_MAX`].
    #[must_use]
    pub fn parse(source: &'d str) -> Self {
        let read = &source[..source.floor_char_boundary(BYTES_MAX)];
        let document = builder::build(read);
        Document { is_cut: document.is_cut || read.len() < source.len(), ..document }
    }

    /// The node above all others.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        self.node(0)
    }

    /// The node with this number.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn node(&self, id: u32) -> Node<'_> {
        assert!((id as usize) < self.nodes.len(), "a node of another document");
        Node { document: self, id }
    }

    /// How many nodes there are, the document itself included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Whether nodes beyond [`NODES_MAX`] or bytes beyond [`BYTES_MAX`] were left out.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All elements in the order of the document.
    pub fn elements(&self) -> impl Iterator<Item = Node<'_>> {
        self.root().descendants().filter(|node| node.is_element())
    }
}

impl<'a> Node<'a> {
    fn place(self) -> &'a Place {
        &self.document.places[self.id as usize]
    }

    fn data(self) -> Data {
        self.document.nodes[self.id as usize]
    }

    /// The text of a text node.
    fn as_text(self) -> Option<Text<'a>> {
        self.document.written_text(self.id as usize)
    }

    /// Its number: the place in the order of the document.
    #[must_use]
    pub fn id(self) -> u32 {
        self.id
    }

    /// The page that it belongs to.
    #[must_use]
    pub fn document(self) -> &'a Document<'a> {
        self.document
    }

    /// The number behind its last descendant.
    #[must_use]
    pub fn end(self) -> u32 {
        self.place().end
    }

    /// Behind what belongs to a form because the page has not ended it before, also where it is not in it: in a table, a form is
    /// empty. For other nodes that is [`Node::end`].
    #[must_use]
    pub fn form_end(self) -> u32 {
        let forms = &self.document.forms;
        forms.binary_search_by_key(&self.id, |(form, _)| *form).map_or(self.end(), |place| forms[place].1)
    }

    /// Whether it is an element.
    #[must_use]
    pub fn is_element(self) -> bool {
        self.id > 0 && self.place().tag.is_some()
    }

    /// Whether it is a text.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.place().tag.is_none()
    }

    /// The name of an element as the page writes it, in any case; empty for other nodes.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self.data() {
            Data::Element { name, .. } if name.is_empty() => implied_name(self.place().tag),
            Data::Element { name, .. } => name.text(self.document.source),
            Data::Document | Data::Text(..) => "",
        }
    }

    /// Which element it is; `None` for text.
    #[must_use]
    pub fn tag(self) -> Option<Tag> {
        self.document.tag(self.id as usize)
    }

    /// Whether it is an element of this name.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        self.name().eq_ignore_ascii_case(name) && !name.is_empty()
    }

    /// The node that it is in; `None` for the document.
    #[must_use]
    pub fn parent(self) -> Option<Node<'a>> {
        (self.id > 0).then(|| self.at(self.place().parent))
    }

    /// The nodes that it is in, innermost first.
    pub fn ancestors(self) -> impl Iterator<Item = Node<'a>> {
        std::iter::successors(self.parent(), |node| node.parent())
    }

    /// Its children.
    pub fn children(self) -> impl Iterator<Item = Node<'a>> {
        std::iter::successors(self.first_child(), |node| node.next_sibling())
    }

    /// Its first child.
    #[must_use]
    pub fn first_child(self) -> Option<Node<'a>> {
        (self.id + 1 < self.end()).then(|| self.at(self.id + 1))
    }

    /// The sibling behind it.
    #[must_use]
    pub fn next_sibling(self) -> Option<Node<'a>> {
        let parent = self.parent()?;
        (self.end() < parent.end()).then(|| self.at(self.end()))
    }

    /// The sibling before it.
    #[must_use]
    pub fn previous_sibling(self) -> Option<Node<'a>> {
        let before = self.place().before;
        (before != self.id).then(|| self.at(before))
    }

    /// All nodes in it, in the order of the document.
    pub fn descendants(self) -> impl DoubleEndedIterator<Item = Node<'a>> {
        (self.id + 1..self.end()).map(move |id| self.at(id))
    }

    fn at(self, id: u32) -> Node<'a> {
        Node { document: self.document, id }
    }

    fn written_attributes(self) -> &'a [Attribute] {
        self.document.written_attributes(self.id as usize)
    }

    /// The value of an attribute, references decoded.
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Cow<'a, str>> {
        let source = self.document.source;
        Some(self.written_attributes().iter().find(|attribute| attribute.is(source, name))?.meaning(source))
    }

    /// Whether it has an attribute.
    #[must_use]
    pub fn has_attribute(self, name: &str) -> bool {
        self.written_attributes().iter().any(|attribute| attribute.is(self.document.source, name))
    }

    /// The names of its attributes as the page writes them, with repeats.
    pub fn attribute_names(self) -> impl Iterator<Item = &'a str> {
        self.written_attributes().iter().map(|attribute| attribute.name.text(self.document.source))
    }

    /// The names and values of its attributes. If one is given twice, the first counts.
    pub fn attributes(self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        let (all, source) = (self.written_attributes(), self.document.source);
        let name = move |at: usize| all[at].name.text(source);
        let is_first = move |at: usize| !all[..at].iter().any(|before| before.is(source, name(at)));
        (0..all.len()).filter(move |at| is_first(*at)).map(move |at| (name(at), all[at].meaning(source)))
    }

    /// The text of a text node; empty for other nodes.
    #[must_use]
    pub fn own_text(self) -> Cow<'a, str> {
        self.as_text().map_or(Cow::Borrowed(""), |text| text.whole())
    }

    /// All text in it, as it stands there, up to a number of bytes.
    #[must_use]
    pub fn text_content(self, bytes_max: usize) -> String {
        let mut text = String::new();
        let mut push = |node: Node<'a>| {
            if let Some(own) = node.as_text() {
                own.pieces(|piece| push_within(&mut text, piece, bytes_max));
            }
        };
        push(self);
        self.descendants().for_each(push);
        text
    }

    /// All text in it with white space collapsed, up to a number of bytes. Elements that stand for themselves, such as paragraphs and cells,
    /// separate words; scripts and styles in it are left out.
    #[must_use]
    pub fn visible_text(self, bytes_max: usize) -> String {
        let mut text = Collapsed::new(bytes_max);
        let mut id = self.id;
        while id < self.end().max(self.id + 1) {
            let node = self.at(id);
            id += 1;
            match node.as_text() {
                Some(_) if text.truncated() => break,
                Some(own) => own.pieces(|piece| text.push(piece)),
                None if !node.is_element() => {}
                None if node.id != self.id && names::is_hidden(node.name()) => id = node.end(),
                None => text.separate_if(!names::is_inline(node.name())),
            }
            // What closes here separates words too.
            let mut closed = node;
            while closed.id != self.id && closed.end() == id {
                text.separate_if(closed.is_element() && !names::is_inline(closed.name()));
                let Some(parent) = closed.parent() else { break };
                closed = parent;
            }
        }
        text.into_text()
    }

    /// The markup of it: start tags, texts and end tags, up to about a number of bytes.
    #[must_use]
    pub fn markup(self, bytes_max: usize) -> String {
        let mut markup = String::new();
        let mut open: Vec<Node<'a>> = Vec::new();
        for node in std::iter::once(self).chain(self.descendants()) {
            while let Some(innermost) = open.last().filter(|innermost| innermost.end() <= node.id) {
                end_tag(&mut markup, *innermost);
                open.pop();
            }
            if markup.len() >= bytes_max {
                break;
            }
            match node.data() {
                Data::Document => {}
                Data::Text(..) if node.parent().is_some_and(|parent| names::is_raw_text(parent.name())) => {
                    markup.push_str(&node.own_text());
                }
                Data::Text(..) => escape(&mut markup, &node.own_text(), false),
                Data::Element { .. } => {
                    start_tag(&mut markup, node);
                    if !names::is_void(node.name()) {
                        open.push(node);
                    }
                }
            }
        }
        open.into_iter().rev().for_each(|node| end_tag(&mut markup, node));
        markup
    }
}

fn start_tag(markup: &mut String, node: Node<'_>) {
    markup.push('<');
    markup.push_str(&node.name().to_ascii_lowercase());
    for (name, value) in node.attributes() {
        markup.push(' ');
        markup.push_str(&name.to_ascii_lowercase());
        markup.push_str("=\"");
        escape(markup, &value, true);
        markup.push('"');
    }
    markup.push('>');
}

fn end_tag(markup: &mut String, node: Node<'_>) {
    markup.push_str("</");
    markup.push_str(&node.name().to_ascii_lowercase());
    markup.push('>');
}

fn escape(markup: &mut String, text: &str, in_attribute: bool) {
    for char in text.chars() {
        match char {
            '&' => markup.push_str("&amp;"),
            '<' if !in_attribute => markup.push_str("&lt;"),
            '>' if !in_attribute => markup.push_str("&gt;"),
            '"' if in_attribute => markup.push_str("&quot;"),
            char => markup.push(char),
        }
    }
}

/// Appends what there is room for, in whole characters.
fn push_within(text: &mut String, piece: &str, bytes_max: usize) {
    let room = bytes_max.saturating_sub(text.len());
    text.push_str(&piece[..piece.floor_char_boundary(room)]);
}

#[cfg(test)]
mod tests;
