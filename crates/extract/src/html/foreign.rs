//! Where the document is in SVG or MathML, simulated without a tree.
//!
//! It matters for three things: `script`, `style` and `title` are ordinary elements there, CDATA
//! sections exist only there, and `a` may carry `xlink:href` (HTML Standard, "tree construction
//! dispatcher" and "the rules for parsing tokens in foreign content").

use super::attributes::{Attributes, Key};
use super::names::Name;
use super::tag::Tag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Html,
    Svg,
    Math,
}

/// An element that is open inside SVG or MathML, or one of the two itself.
#[derive(Clone, Copy, Debug)]
struct Open<'d> {
    element: Namespace,
    /// Differs from the element's own at `svg`, `math` and where HTML is allowed again.
    content: Namespace,
    name: Name<'d>,
}

/// How deep elements are distinguished inside SVG and MathML: what is deeper counts as closed already.
/// Browsers stop at 512 (Chromium's `kMaximumHTMLParserDOMTreeDepth`); an end tag costs a look at each.
const OPEN_MAX: usize = 256;

/// The open elements from the outermost `svg` or `math` on, innermost last; none outside of them.
#[derive(Debug, Default)]
pub(super) struct Namespaces<'d> {
    open: Vec<Open<'d>>,
}

impl<'d> Namespaces<'d> {
    /// Whether a tag here belongs to HTML.
    pub(super) fn in_html(&self) -> bool {
        self.namespace() == Namespace::Html
    }

    /// Whether this is outside of SVG and MathML, as it is nearly everywhere.
    #[inline]
    pub(super) fn are_closed(&self) -> bool {
        self.open.is_empty()
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
    #[inline]
    pub(super) fn start(&mut self, name: Name<'d>, tag: Tag, attributes: &Attributes<'_>, self_closing: bool) -> bool {
        if self.are_closed() && !matches!(tag, Tag::Svg | Tag::Math) {
            return true;
        }
        self.start_near_foreign(name, tag, attributes, self_closing)
    }

    fn start_near_foreign(
        &mut self,
        name: Name<'d>,
        tag: Tag,
        attributes: &Attributes<'_>,
        self_closing: bool,
    ) -> bool {
        if !self.in_html() && is_breakout(tag, attributes) {
            self.break_out();
        }
        let (element, content) = match (self.namespace(), tag) {
            (Namespace::Html, Tag::Svg) => (Namespace::Svg, Namespace::Svg),
            (Namespace::Html, Tag::Math) => (Namespace::Math, Namespace::Math),
            // In both, the namespace around does not say what the element is.
            (Namespace::Math, Tag::Svg) if self.is_innermost(Namespace::Math, |tag| tag == Tag::AnnotationXml) => {
                (Namespace::Svg, Namespace::Svg)
            }
            (Namespace::Html, Tag::MGlyph | Tag::MalignMark)
                if self.is_innermost(Namespace::Math, Tag::is_math_integration_point) =>
            {
                (Namespace::Math, Namespace::Math)
            }
            (element, _) if is_integration_point(element, tag, attributes) => (element, Namespace::Html),
            (element, _) => (element, element),
        };
        let is_html = element == Namespace::Html;
        if is_html && !self.open.is_empty() && !tag.is_inline() {
            self.end_paragraph();
        }
        // `/>` closes elements of SVG and MathML only.
        let has_content = if is_html { !self.open.is_empty() && !tag.is_void() } else { !self_closing };
        if has_content && self.open.len() < OPEN_MAX {
            self.open.push(Open { element, content, name });
        }
        is_html
    }

    /// Notes an end tag.
    pub(super) fn end(&mut self, name: Name<'d>, tag: Tag) {
        if self.are_closed() {
            return;
        }
        if !self.in_html() && tag.breaks_out() {
            // It ends an element around the SVG, which was never closed.
            self.break_out();
        }
        let is_foreign = self.current_is_foreign();
        // Neither looks beyond where HTML in SVG meets the SVG around it.
        let near = self.open.iter().rposition(|open| (open.element != Namespace::Html) != is_foreign);
        let begin = near.map_or(0, |last| last + 1);
        let Some(ended) = self.open[begin..].iter().rposition(|open| open.name == name) else {
            return;
        };
        if !is_foreign && tag.is_inline() {
            // What was opened inside of it stays open.
            self.open.remove(begin + ended);
        } else {
            self.open.truncate(begin + ended);
        }
    }

    /// A block ends the paragraph before it, if that is the innermost element.
    fn end_paragraph(&mut self) {
        if self.is_innermost(Namespace::Html, |tag| tag == Tag::P) {
            self.open.pop();
        }
    }

    /// Whether the innermost open element is such one of this namespace.
    fn is_innermost(&self, element: Namespace, is: impl FnOnce(Tag) -> bool) -> bool {
        self.open.last().is_some_and(|open| open.element == element && is(Tag::of(open.name)))
    }

    fn break_out(&mut self) {
        while !self.in_html() {
            self.open.pop();
        }
    }
}

/// Whether the content of this element of SVG or MathML is HTML again.
fn is_integration_point(element: Namespace, tag: Tag, attributes: &Attributes<'_>) -> bool {
    match element {
        Namespace::Html => false,
        Namespace::Svg => tag.is_svg_integration_point(),
        Namespace::Math if tag == Tag::AnnotationXml => attributes.get(Key::Encoding).is_some_and(|encoding| {
            encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
        }),
        Namespace::Math => tag.is_math_integration_point(),
    }
}

fn is_breakout(tag: Tag, attributes: &Attributes<'_>) -> bool {
    tag.breaks_out() || (tag == Tag::Font && attributes.has(Key::FontStyle))
}
