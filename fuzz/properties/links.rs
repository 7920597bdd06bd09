//! The links and images of a page are those of a full HTML parser, here html5ever.
//!
//! Input: the page.

use extract::href::{Target, clean, target};
use extract::html::extract;
use extract::{ImageSource, Limits, LinkKind};
use html5ever::serialize::{SerializeOpts, TraversalScope, serialize};
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{TokenizerResult, ns};
use markup5ever_rcdom::{Handle, NodeData, RcDom, SerializableHandle};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Asserts it. A page with something in it that takes a tree to follow is taken as html5ever writes it, if that is how
/// html5ever reads it again.
pub fn hold(input: &[u8]) {
    let page = String::from_utf8_lossy(input);
    let tree = parse(&page, true);
    if !needs_a_tree(&tree) {
        compare(&page, &tree);
        return;
    }
    let page = written(&tree);
    let tree = parse(&page, true);
    if written(&tree) == page {
        compare(&page, &tree);
    }
}

/// Asserts it of the page as it is, of which this is the tree. How many different links and images it has.
pub fn compare(page: &str, tree: &Tree) -> usize {
    let (ours, theirs) = (ours(page), theirs(tree));
    assert_eq!(ours, theirs, "{page}");
    ours.links.len() + ours.images.len()
}

/// `a[href]` and `img[src]` of a page, as sets: a tree repeats an `a` that is closed wrongly.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    links: BTreeSet<String>,
    images: BTreeSet<String>,
}

fn ours(page: &str) -> Found {
    let limits =
        Limits { links_max: usize::MAX, images_max: usize::MAX, href_bytes_max: usize::MAX, ..Limits::default() };
    let page = extract(page.as_bytes(), Some("text/html; charset=utf-8"), &limits);
    let anchors = page.links.into_iter().filter(|link| link.kind == LinkKind::Anchor);
    let images = page.images.into_iter().filter(|image| !image.from_srcset);
    Found {
        links: anchors.map(|link| link.href.into()).collect(),
        images: images
            .filter_map(|image| match image.source {
                ImageSource::Url(url) => Some(url),
                ImageSource::Data { .. } => None,
            })
            .collect(),
    }
}

fn theirs(tree: &Tree) -> Found {
    let mut found = Found::default();
    collect(tree, true, &mut found);
    found
}

/// A page as html5ever reads it.
pub struct Tree {
    document: Handle,
    /// See [`Builder`].
    is_crossed: bool,
}

/// Reads a page.
pub fn parse(page: &str, scripting_enabled: bool) -> Tree {
    let opts = TreeBuilderOpts { scripting_enabled, ..TreeBuilderOpts::default() };
    let builder = Builder { tree: TreeBuilder::new(RcDom::default(), opts), is_crossed: Cell::new(false) };
    let tokenizer = Tokenizer::new(builder, TokenizerOpts::default());
    let input = BufferQueue::default();
    input.push_back(page.into());
    // It stops at each script for someone to run it.
    while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
    tokenizer.end();
    let Builder { tree, is_crossed } = tokenizer.sink;
    Tree { document: tree.sink.document, is_crossed: is_crossed.get() }
}

/// Builds the tree, and sees whether in SVG or MathML an end tag is not that of the innermost element, or a start tag of HTML
/// opens none.
struct Builder {
    tree: TreeBuilder<Handle, RcDom>,
    is_crossed: Cell<bool>,
}

impl TokenSink for Builder {
    type Handle = Handle;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<Handle> {
        let is_end_tag = matches!(&token, Token::TagToken(tag) if tag.kind == TagKind::EndTag);
        let is_foreign = self.adjusted_current_node_present_but_not_in_html_namespace();
        let errors = self.tree.sink.errors.borrow().len();
        let result = self.tree.process_token(token, line_number);
        let is_error = self.tree.sink.errors.borrow().len() > errors;
        let stays = self.adjusted_current_node_present_but_not_in_html_namespace();
        let is_crossed = is_foreign && is_error && (is_end_tag || stays);
        self.is_crossed.set(self.is_crossed.get() || is_crossed);
        result
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn collect(tree: &Tree, scripting_enabled: bool, found: &mut Found) {
    for node in elements(&tree.document, false) {
        let attr = |name| attribute(&node, name);
        match name(&node) {
            (true, "a") => keep(&mut found.links, attr("href")),
            (false, "a") => keep(&mut found.links, attr("href").or(attr("xlink:href"))),
            (true, "img") => keep(&mut found.images, attr("src").filter(|src| !src.is_empty())),
            (true, "noscript") if scripting_enabled => collect(&parse(&text(&node), false), false, found),
            _ => {}
        }
    }
}

fn keep(urls: &mut BTreeSet<String>, reference: Option<String>) {
    let cleaned = reference.map(|reference| clean(&reference).into_owned());
    urls.extend(cleaned.filter(|reference| target(reference) == Target::Web));
}

/// Whether only a tree tells what some of its tags mean. They are the deliberate differences (`docs/fuzzing.md`):
/// - an end tag in SVG or MathML that is not that of the innermost element may end one of HTML around it, or nothing;
/// - HTML in SVG or MathML is opened and left by all the rules by which elements of HTML end each other;
/// - a `frameset` may drop all that is no frame, before it and behind it;
/// - in a `template` that begins with a `col` all other tags are dropped;
/// - an `a` before an element of [`SCOPES`], both ended by the end of their `template`, is opened again behind it.
fn needs_a_tree(tree: &Tree) -> bool {
    let all = elements(&tree.document, true);
    tree.is_crossed
        || all.iter().any(|node| match name(node) {
            (false, _) => node.children.borrow().iter().any(|child| name(child).0),
            (true, "frameset") => true,
            (true, "noscript") => needs_a_tree(&parse(&text(node), false)),
            (true, "template") => {
                let inside = elements(node, true);
                let has = |names: &[&str]| inside.iter().any(|node| names.contains(&name(node).1));
                has(&["col"]) || has(&["a"]) && has(SCOPES)
            }
            _ => false,
        })
}

/// Elements whose start puts a marker into the list of active formatting elements.
const SCOPES: &[&str] = &["applet", "caption", "marquee", "object", "td", "th"];

/// The tree as a page, without the content of templates, and of each `noscript` that needs a tree itself.
fn written(tree: &Tree) -> String {
    for node in elements(&tree.document, false) {
        if name(&node) == (true, "noscript") && needs_a_tree(&parse(&text(&node), false)) {
            node.children.borrow_mut().clear();
        }
    }
    let mut page = Vec::new();
    let opts = SerializeOpts { traversal_scope: TraversalScope::ChildrenOnly(None), ..SerializeOpts::default() };
    let written = serialize(&mut page, &SerializableHandle::from(tree.document.clone()), opts);
    assert!(written.is_ok(), "{written:?}");
    String::from_utf8_lossy(&page).into_owned()
}

/// The elements from a node on, those in templates too if wanted.
fn elements(node: &Handle, with_templates: bool) -> Vec<Handle> {
    let (mut todo, mut elements) = (vec![node.clone()], Vec::new());
    while let Some(node) = todo.pop() {
        todo.extend(node.children.borrow().iter().cloned());
        if let NodeData::Element { template_contents, .. } = &node.data {
            todo.extend(template_contents.borrow().iter().filter(|_| with_templates).cloned());
            elements.push(node.clone());
        }
    }
    elements
}

/// Whether it is an element of HTML, and its name.
fn name(element: &Handle) -> (bool, &str) {
    match &element.data {
        NodeData::Element { name, .. } => (name.ns == ns!(html), &name.local),
        _ => (false, ""),
    }
}

fn attribute(element: &Handle, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &element.data else { return None };
    let attrs = attrs.borrow();
    let found = attrs.iter().find(|attribute| match &attribute.name.prefix {
        Some(prefix) => {
            name.strip_prefix(&**prefix).and_then(|rest| rest.strip_prefix(':')) == Some(&attribute.name.local)
        }
        None => *attribute.name.local == *name,
    });
    found.map(|attribute| attribute.value.to_string())
}

fn text(element: &Handle) -> String {
    let children = element.children.borrow();
    let texts = children.iter().map(|child| match &child.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => String::new(),
    });
    texts.collect()
}
