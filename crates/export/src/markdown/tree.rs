//! A tree of an HTML document, good enough to find its content: built in one pass, in linear time, never deeper than
//! [`DEPTH_MAX`]. What the HTML Standard does about misnested tags is done for the cases that matter to text.

use std::collections::BTreeMap;

use html5gum::{DefaultEmitter, Token, Tokenizer};

/// The deepest element; what lies deeper becomes a child of it.
const DEPTH_MAX: usize = 200;

/// The place of a node in its tree.
pub(super) type Id = usize;

/// The root of every tree.
pub(super) const ROOT: Id = 0;

/// A document.
pub(super) struct Tree {
    nodes: Vec<Node>,
}

/// A part of a document.
pub(super) enum Node {
    /// An element.
    Element(Element),
    /// Text, with entities decoded.
    Text(String),
}

/// An element.
#[derive(Default)]
pub(super) struct Element {
    /// In lower case.
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) children: Vec<Id>,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Whether a word is among those of an attribute.
    pub(super) fn has_word(&self, attribute: &str, word: &str) -> bool {
        let words = self.attribute(attribute).unwrap_or_default();
        words.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
    }
}

impl Tree {
    /// Reads a document.
    pub(super) fn parse(html: &str) -> Tree {
        let root = Node::Element(Element { name: "#document".to_owned(), ..Element::default() });
        let mut builder = Builder { tree: Tree { nodes: vec![root] }, open: vec![ROOT] };
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            match token {
                Token::StartTag(tag) => {
                    let attributes = tag.attributes.iter().map(|(name, value)| (text_of(name), text_of(value)));
                    builder.start(text_of(&tag.name), attributes.collect(), tag.self_closing);
                }
                Token::EndTag(tag) => builder.end(&text_of(&tag.name)),
                Token::String(text) => builder.text(&text_of(&text)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        builder.tree
    }

    /// The element with this id; the root where it is a text.
    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        match &self.nodes[id] {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        }
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn children(&self, id: Id) -> &[Id] {
        self.element(id).map_or(&[], |element| &element.children)
    }

    /// How many nodes there are; a child has a greater id than its parent.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The first element that passes, in the order of the document.
    pub(super) fn find(&self, test: impl Fn(&Element) -> bool) -> Option<Id> {
        (0..self.len()).find(|id| self.element(*id).is_some_and(&test))
    }

    /// All text below a node, as it stands there.
    pub(super) fn text(&self, id: Id) -> String {
        let mut text = String::new();
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            match self.node(id) {
                Node::Text(part) => text.push_str(part),
                Node::Element(element) if element.name == "br" => text.push('\n'),
                Node::Element(element) => left.extend(element.children.iter().rev()),
            }
        }
        text
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

struct Builder {
    tree: Tree,
    /// The elements that are open, from the root on.
    open: Vec<Id>,
}

impl Builder {
    fn start(&mut self, name: String, attributes: BTreeMap<String, String>, self_closing: bool) {
        self.close_implied(&name);
        let is_void = is_void(&name) || (self_closing && !is_html(&name));
        let id = self.add(Node::Element(Element { name, attributes, children: Vec::new() }));
        if !is_void && self.open.len() < DEPTH_MAX {
            self.open.push(id);
        }
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.add(Node::Text(text.to_owned()));
        }
    }

    fn add(&mut self, node: Node) -> Id {
        let id = self.tree.nodes.len();
        self.tree.nodes.push(node);
        let parent = self.open.last().copied().unwrap_or(ROOT);
        if let Node::Element(parent) = &mut self.tree.nodes[parent] {
            parent.children.push(id);
        }
        id
    }

    /// Closes what may be left open when this element begins (HTML, "optional tags").
    fn close_implied(&mut self, name: &str) {
        match name {
            "li" => self.close(&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => self.close(&["dt", "dd"], &["dl"]),
            "tr" => self.close(&["tr"], &["table"]),
            "td" | "th" => self.close(&["td", "th"], &["tr", "table"]),
            "thead" | "tbody" | "tfoot" => self.close(&["thead", "tbody", "tfoot"], &["table"]),
            _ => {}
        }
        if is_block(name) {
            self.close(&["p"], &["td", "th", "li", "dd", "dt", "blockquote", "div", "section", "article", "button"]);
        }
        if is_heading(name) {
            self.close(&["h1", "h2", "h3", "h4", "h5", "h6"], &["div", "section", "article", "td", "th", "li"]);
        }
    }

    /// Closes the innermost element of these names, if no element of `within` lies inside of it.
    fn close(&mut self, names: &[&str], within: &[&str]) {
        for place in (1..self.open.len()).rev() {
            let name = self.name(place);
            if names.contains(&name) {
                return self.open.truncate(place);
            }
            if within.contains(&name) {
                return;
            }
        }
    }

    fn end(&mut self, name: &str) {
        let is_of_table = matches!(name, "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "body" | "html");
        for place in (1..self.open.len()).rev() {
            let found = self.name(place);
            if found == name {
                return self.open.truncate(place);
            }
            // The end of something outside does not end a cell, nor does that of some text end a block.
            let is_border = matches!(found, "td" | "th" | "table") && !is_of_table;
            if is_border || (is_block(found) && !is_block(name) && !is_of_table) {
                return;
            }
        }
    }

    fn name(&self, place: usize) -> &str {
        self.tree.element(self.open[place]).map_or("", |element| &element.name)
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Outside of SVG and MathML a tag that closes itself is none.
fn is_html(name: &str) -> bool {
    !matches!(name, "path" | "circle" | "rect" | "line" | "polygon" | "polyline" | "ellipse" | "use" | "stop" | "image")
}

fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Whether an element stands by itself and is no part of a line of text.
pub(super) fn is_block(name: &str) -> bool {
    is_heading(name)
        || matches!(
            name,
            "address"
                | "article"
                | "aside"
                | "blockquote"
                | "body"
                | "center"
                | "details"
                | "dialog"
                | "dd"
                | "div"
                | "dl"
                | "dt"
                | "fieldset"
                | "figcaption"
                | "figure"
                | "footer"
                | "form"
                | "header"
                | "hgroup"
                | "hr"
                | "html"
                | "li"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "p"
                | "pre"
                | "search"
                | "section"
                | "summary"
                | "table"
                | "tbody"
                | "td"
                | "tfoot"
                | "th"
                | "thead"
                | "tr"
                | "ul"
                | "caption"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree as nested brackets.
    fn shown(tree: &Tree, id: Id) -> String {
        match tree.node(id) {
            Node::Text(text) => text.trim().to_owned(),
            Node::Element(element) => {
                let children: Vec<String> = element.children.iter().map(|child| shown(tree, *child)).collect();
                format!("{}({})", element.name, children.join(" "))
            }
        }
    }

    fn check(html: &str, expect: &str) {
        assert_eq!(shown(&Tree::parse(html), ROOT), format!("#document({expect})"), "{html}");
    }

    #[test]
    fn end_tags_may_be_missing() {
        check("<p>a<p>b", "p(a) p(b)");
        check("<ul><li>a<ul><li>b<li>c</ul><li>d</ul>e", "ul(li(a ul(li(b) li(c))) li(d)) e");
        check("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt(a) dd(b) dt(c))");
        check("<table><tr><td>a<td>b<tr><th>c</table>d", "table(tr(td(a) td(b)) tr(th(c))) d");
        check("<p>a<div>b</div>c", "p(a) div(b) c");
    }

    #[test]
    fn end_tags_may_be_wrong() {
        check("<p>a</b>b</p>c", "p(a b) c");
        check("<div><b>a</div>b", "div(b(a)) b");
        check("<b><div>a</b>b</div>", "b(div(a b))");
        check("<div><table><tr><td>a</div>b</table>", "div(table(tr(td(a b))))");
    }

    #[test]
    fn text_is_decoded_and_raw_text_is_no_markup() {
        check("&lt;&amp;&eacute;<br>x", "<&é br() x");
        check("<script>a<b></script>c", "script(a<b>) c");
    }

    #[test]
    fn no_document_is_deeper_than_the_limit() {
        let tree = Tree::parse(&"<div>".repeat(100_000));
        let mut id = ROOT;
        let mut depth = 0;
        while let Some(child) = tree.children(id).first() {
            (id, depth) = (*child, depth + 1);
        }
        assert_eq!(depth, DEPTH_MAX);
        assert_eq!(tree.len(), 100_001);
    }
}
