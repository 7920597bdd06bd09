//! Where the document is in SVG or MathML, simulated without a tree.
//!
//! It matters for three things: `script`, `style` and `title` are ordinary elements there, CDATA
//! sections exist only there, and `a` may carry `xlink:href` (HTML Standard, "tree construction
//! dispatcher" and "the rules for parsing tokens in foreign content").

use super::attributes::{Attributes, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Html,
    Svg,
    Math,
}

/// An open element that changed the namespace of its content, or one of the same name inside it.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Of the content.
    namespace: Namespace,
    /// Lower case, as the tokenizer gives names.
    name: &'static [u8],
}

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

/// The open frames, innermost last.
#[derive(Debug, Default)]
pub(super) struct Namespaces {
    frames: Vec<Frame>,
}

impl Namespaces {
    /// Whether a tag here belongs to HTML.
    pub(super) fn in_html(&self) -> bool {
        self.namespace() == Namespace::Html
    }

    fn namespace(&self) -> Namespace {
        self.frames.last().map_or(Namespace::Html, |frame| frame.namespace)
    }

    /// Notes a start tag. The answer is whether the element itself is one of HTML.
    pub(super) fn start(&mut self, tag: &[u8], attributes: &Attributes, self_closing: bool) -> bool {
        if !self.in_html() && is_breakout(tag, attributes) {
            self.break_out();
        }
        let in_html = self.in_html();
        let frame = match (self.namespace(), tag) {
            (Namespace::Html, b"svg") => Some(Frame { namespace: Namespace::Svg, name: b"svg" }),
            (Namespace::Html, b"math") => Some(Frame { namespace: Namespace::Math, name: b"math" }),
            _ => self.same_again(tag).or_else(|| self.integration_point(tag, attributes)),
        };
        let is_html = in_html && frame.is_none_or(|frame| frame.namespace == Namespace::Html);
        // `/>` closes elements of SVG and MathML only.
        self.frames.extend(frame.filter(|_| is_html || !self_closing));
        is_html
    }

    /// Notes an end tag (but not that of a raw text element, whose content holds no tags).
    pub(super) fn end(&mut self, tag: &[u8]) {
        let Some(frame) = self.frames.last() else {
            return;
        };
        if tag == frame.name {
            self.frames.pop();
        } else if !self.in_html() && BREAKOUTS.contains(&tag) {
            // It ends an element around the SVG, which was never closed.
            self.break_out();
        }
    }

    fn break_out(&mut self) {
        while !self.in_html() {
            self.frames.pop();
        }
    }

    /// An element like the one that holds it: its end tag must not end that one.
    fn same_again(&self, tag: &[u8]) -> Option<Frame> {
        let frame = self.frames.last().filter(|frame| frame.name == tag)?;
        let is_raw_text = frame.namespace == Namespace::Html && tag == b"title";
        (!is_raw_text).then_some(*frame)
    }

    /// The element of SVG or MathML whose content is HTML again, if this is one.
    fn integration_point(&self, tag: &[u8], attributes: &Attributes) -> Option<Frame> {
        let named = |names: &[&'static [u8]]| names.iter().find(|name| **name == tag).copied();
        let name = match self.namespace() {
            Namespace::Html => None,
            Namespace::Svg => named(&SVG_POINTS),
            Namespace::Math => named(&MATH_POINTS).or_else(|| {
                let encoding = attributes.get(Key::Encoding)?;
                let is_html = encoding.eq_ignore_ascii_case("text/html")
                    || encoding.eq_ignore_ascii_case("application/xhtml+xml");
                is_html.then(|| named(&[ANNOTATION])).flatten()
            }),
        }?;
        Some(Frame { namespace: Namespace::Html, name })
    }
}

fn is_breakout(tag: &[u8], attributes: &Attributes) -> bool {
    BREAKOUTS.contains(&tag) || (tag == b"font" && attributes.has(Key::FontStyle))
}
