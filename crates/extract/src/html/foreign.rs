//! Where the document is in SVG or MathML, simulated without a tree.
//!
//! It matters for three things: `script`, `style` and `title` are ordinary elements there, CDATA
//! sections exist only there, and `a` may carry `xlink:href` (HTML Standard, "tree construction
//! dispatcher" and "the rules for parsing tokens in foreign content").

use super::attributes::{Attributes, Key};

/// An open element that changed the namespace. Names are lower case, as the tokenizer gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Svg,
    Math,
    /// An element inside SVG or MathML whose content is HTML again, by its name.
    HtmlInside(&'static [u8]),
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
        !matches!(self.frames.last(), Some(Frame::Svg | Frame::Math))
    }

    /// Notes a start tag. The answer is whether the element itself is one of HTML.
    pub(super) fn start(&mut self, tag: &[u8], attributes: &Attributes, self_closing: bool) -> bool {
        if !self.in_html() && is_breakout(tag, attributes) {
            self.break_out();
        }
        let in_html = self.in_html();
        let opened = match tag {
            b"svg" => Some(Frame::Svg),
            b"math" => Some(Frame::Math),
            _ if in_html => None,
            _ => self.point(tag, attributes),
        };
        if let Some(frame) = opened.filter(|_| !self_closing) {
            self.frames.push(frame);
        }
        in_html && opened.is_none()
    }

    /// Notes an end tag.
    pub(super) fn end(&mut self, tag: &[u8]) {
        let closes = match self.frames.last() {
            None => return,
            Some(Frame::Svg) => tag == b"svg",
            Some(Frame::Math) => tag == b"math",
            Some(Frame::HtmlInside(name)) => tag == *name,
        };
        if closes {
            self.frames.pop();
        } else if !self.in_html() && (tag == b"p" || tag == b"br") {
            self.break_out();
        }
    }

    fn break_out(&mut self) {
        while !self.in_html() {
            self.frames.pop();
        }
    }

    /// The integration point this foreign element is, if it is one.
    fn point(&self, tag: &[u8], attributes: &Attributes) -> Option<Frame> {
        let named = |names: &[&'static [u8]]| names.iter().find(|name| **name == tag).copied();
        let name = match self.frames.last()? {
            Frame::Svg => named(&SVG_POINTS),
            Frame::Math => named(&MATH_POINTS).or_else(|| {
                let encoding = attributes.get(Key::Encoding)?;
                let is_html = encoding.eq_ignore_ascii_case("text/html")
                    || encoding.eq_ignore_ascii_case("application/xhtml+xml");
                is_html.then(|| named(&[ANNOTATION])).flatten()
            }),
            Frame::HtmlInside(_) => None,
        };
        name.map(Frame::HtmlInside)
    }
}

fn is_breakout(tag: &[u8], attributes: &Attributes) -> bool {
    BREAKOUTS.contains(&tag) || (tag == b"font" && attributes.has(Key::FontStyle))
}
