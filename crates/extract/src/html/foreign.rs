//! Where the document is in SVG or MathML, simulated without a tree.
//!
//! It matters for three things: `script`, `style` and `title` are ordinary elements there, CDATA
//! sections exist only there, and `a` may carry `xlink:href` (HTML Standard, "tree construction
//! dispatcher" and "the rules for parsing tokens in foreign content").

use super::attributes::{Attributes, Key};
use super::inline::is_inline;
use super::scanner::NAME_BYTES_MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Html,
    Svg,
    Math,
}

/// An element that is open inside SVG or MathML, or one of the two itself.
#[derive(Clone, Copy, Debug)]
struct Open {
    element: Namespace,
    /// Differs from the element's own at `svg`, `math` and where HTML is allowed again.
    content: Namespace,
    tag: Tag,
}

/// A tag's name in lower case, zeros behind it. Longer ones are the same if they begin the same.
type Tag = [u8; NAME_BYTES_MAX];

const SVG_POINTS: [&[u8]; 3] = [b"foreignobject", b"desc", b"title"];
const MATH_POINTS: [&[u8]; 5] = [b"mi", b"mo", b"mn", b"ms", b"mtext"];
const ANNOTATION: &[u8] = b"annotation-xml";

/// HTML tags that cannot be inside SVG or MathML and end it.
const BREAKOUTS: [&[u8]; 44] = [
    b"b",
    b"big",
    b"blockquote",
    b"body",
    b"br",
    b"center",
    b"code",
    b"dd",
    b"div",
    b"dl",
    b"dt",
    b"em",
    b"embed",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"hr",
    b"i",
    b"img",
    b"li",
    b"listing",
    b"menu",
    b"meta",
    b"nobr",
    b"ol",
    b"p",
    b"pre",
    b"ruby",
    b"s",
    b"small",
    b"span",
    b"strong",
    b"strike",
    b"sub",
    b"sup",
    b"table",
    b"tt",
    b"u",
    b"ul",
    b"var",
];

/// How deep elements are told apart inside SVG and MathML: what is deeper counts as closed already.
/// Browsers stop at 512 (Chromium's `kMaximumHTMLParserDOMTreeDepth`); an end tag costs a look at each.
const OPEN_MAX: usize = 256;

/// Elements that have no content and no end tag.
const VOID: [&[u8]; 17] = [
    b"area",
    b"base",
    b"basefont",
    b"bgsound",
    b"br",
    b"col",
    b"embed",
    b"frame",
    b"hr",
    b"image",
    b"img",
    b"input",
    b"link",
    b"meta",
    b"source",
    b"track",
    b"wbr",
];

/// The open elements from the outermost `svg` or `math` on, innermost last; none outside of them.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    open: Vec<Open>,
}

impl Namespaces {
    /// Whether a tag here belongs to HTML.
    pub(super) fn in_html(&self) -> bool {
        self.namespace() == Namespace::Html
    }

    /// Whether the innermost open element is one of SVG or MathML: then a CDATA section may begin,
    /// even where HTML tags are allowed.
    pub(super) fn current_is_foreign(&self) -> bool {
        self.open.last().is_some_and(|open| open.element != Namespace::Html)
    }

    fn namespace(&self) -> Namespace {
        self.open.last().map_or(Namespace::Html, |open| open.content)
    }

    /// Notes a start tag. The answer is whether the element itself is one of HTML.
    pub(super) fn start(&mut self, tag: &[u8], attributes: &Attributes, self_closing: bool) -> bool {
        if !self.in_html() && is_breakout(tag, attributes) {
            self.break_out();
        }
        let (element, content) = match (self.namespace(), tag) {
            (Namespace::Html, b"svg") => (Namespace::Svg, Namespace::Svg),
            (Namespace::Html, b"math") => (Namespace::Math, Namespace::Math),
            (element, _) if is_integration_point(element, tag, attributes) => (element, Namespace::Html),
            (element, _) => (element, element),
        };
        let is_html = element == Namespace::Html;
        if is_html && !self.open.is_empty() && !is_inline(tag) {
            self.end_paragraph();
        }
        // `/>` closes elements of SVG and MathML only.
        let has_content = if is_html { !self.open.is_empty() && !VOID.contains(&tag) } else { !self_closing };
        if has_content && self.open.len() < OPEN_MAX {
            self.open.push(Open { element, content, tag: padded(tag) });
        }
        is_html
    }

    /// Notes an end tag.
    pub(super) fn end(&mut self, tag: &[u8]) {
        if !self.in_html() && BREAKOUTS.contains(&tag) {
            // It ends an element around the SVG, which was never closed.
            self.break_out();
        }
        let is_foreign = self.current_is_foreign();
        // Neither looks beyond where HTML in SVG meets the SVG around it.
        let near = self.open.iter().rposition(|open| (open.element != Namespace::Html) != is_foreign);
        let begin = near.map_or(0, |last| last + 1);
        let Some(ended) = self.open[begin..].iter().rposition(|open| open.tag == padded(tag)) else {
            return;
        };
        if !is_foreign && is_inline(tag) {
            // What was opened inside of it stays open.
            self.open.remove(begin + ended);
        } else {
            self.open.truncate(begin + ended);
        }
    }

    /// A block ends the paragraph before it, if that is the innermost element.
    fn end_paragraph(&mut self) {
        if self.open.last().is_some_and(|open| open.element == Namespace::Html && open.tag == padded(b"p")) {
            self.open.pop();
        }
    }

    fn break_out(&mut self) {
        while !self.in_html() {
            self.open.pop();
        }
    }
}

/// Whether the content of this element of SVG or MathML is HTML again.
fn is_integration_point(element: Namespace, tag: &[u8], attributes: &Attributes) -> bool {
    match element {
        Namespace::Html => false,
        Namespace::Svg => SVG_POINTS.contains(&tag),
        Namespace::Math if tag == ANNOTATION => attributes.get(Key::Encoding).is_some_and(|encoding| {
            encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
        }),
        Namespace::Math => MATH_POINTS.contains(&tag),
    }
}

fn padded(tag: &[u8]) -> Tag {
    let mut padded = [0; NAME_BYTES_MAX];
    padded.iter_mut().zip(tag).for_each(|(to, from)| *to = *from);
    padded
}

fn is_breakout(tag: &[u8], attributes: &Attributes) -> bool {
    BREAKOUTS.contains(&tag) || (tag == b"font" && attributes.has(Key::FontStyle))
}
