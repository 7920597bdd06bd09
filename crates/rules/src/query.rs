//! What selects nodes, whichever way it is written: CSS selectors and XPath become the same expression.

use std::borrow::Cow;
use std::ops::Range;

use extract::html::dom::{Document, Node, Tag};

use crate::function::Function;

/// An element, a text, the document, or an attribute of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Node(Node<'a>),
    Attribute(Node<'a>, usize),
}

impl<'a> Place<'a> {
    /// Its place in the order of the document.
    pub(crate) fn order(self) -> (u32, usize) {
        match self {
            Place::Node(node) => (node.id(), 0),
            Place::Attribute(node, at) => (node.id(), at + 1),
        }
    }

    pub(crate) fn node(self) -> Node<'a> {
        match self {
            Place::Node(node) | Place::Attribute(node, _) => node,
        }
    }

    /// The name, in lower case.
    pub(crate) fn name(self) -> String {
        match self {
            Place::Node(node) => node.name().to_ascii_lowercase(),
            Place::Attribute(node, at) => {
                node.attributes().nth(at).map(|(name, _)| name.to_ascii_lowercase()).unwrap_or_default()
            }
        }
    }

    /// The text of it as it stands there (XPath: its string-value).
    pub(crate) fn text(self, bytes_max: usize) -> Cow<'a, str> {
        match self {
            Place::Node(node) if node.is_text() => node.own_text(),
            Place::Node(node) => text_of(node, bytes_max).into(),
            Place::Attribute(node, at) => node.attributes().nth(at).map(|(_, value)| value).unwrap_or_default(),
        }
    }
}

/// Whether what stands in an element is no part of the page: that of a `template` is a document of its own in a browser. One that opens a shadow
/// tree is shown.
pub(crate) fn is_inert(node: Node<'_>) -> bool {
    node.tag() == Some(Tag::Template) && !node.has_attribute("shadowrootmode")
}

/// The children of a node, of which a template has none.
pub(crate) fn children_of<'a>(node: Node<'a>) -> impl Iterator<Item = Node<'a>> {
    node.children().take(if is_inert(node) { 0 } else { usize::MAX })
}

/// The nodes of the page with these numbers, without what templates hold. The first one is in no template.
pub(crate) fn nodes_in<'a>(document: &'a Document<'a>, numbers: Range<u32>) -> impl Iterator<Item = Node<'a>> {
    let mut next = numbers.start;
    std::iter::from_fn(move || {
        let node = (next < numbers.end).then(|| document.node(next))?;
        next = if is_inert(node) { node.end() } else { next + 1 };
        Some(node)
    })
}

/// The nodes inside of a node, from a number on.
pub(crate) fn inside<'a>(node: Node<'a>, from: u32) -> impl Iterator<Item = Node<'a>> {
    let end = if is_inert(node) { 0 } else { node.end() };
    nodes_in(node.document(), from.max(node.id() + 1)..end)
}

/// All text in a node, up to a number of bytes.
fn text_of(node: Node<'_>, bytes_max: usize) -> String {
    let mut text = String::new();
    for inner in inside(node, 0).filter(|inner| inner.is_text()) {
        let (own, room) = (inner.own_text(), bytes_max.saturating_sub(text.len()));
        text.push_str(&own[..own.floor_char_boundary(room)]);
        if text.len() >= bytes_max || own.len() > room {
            break;
        }
    }
    text
}

/// Steps that are left. Each look at a node is one.
#[derive(Debug)]
pub struct Budget {
    left: usize,
    given: usize,
    /// A text was longer than what queries look at.
    pub(crate) has_cut_text: bool,
}

/// A query took more steps than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfSteps;

/// Steps for each node of a page, and some more.
const STEPS_A_NODE: usize = 200;
const STEPS_MIN: usize = 100_000;

impl Budget {
    /// For one selector on a page: as many steps as there are nodes, times a constant.
    #[must_use]
    pub fn of(document: &Document<'_>) -> Self {
        Self::of_selectors(document, 1)
    }

    /// For the selectors of a rule together.
    pub(crate) fn of_selectors(document: &Document<'_>, selectors: usize) -> Self {
        let given = (document.len() * STEPS_A_NODE + STEPS_MIN).saturating_mul(selectors);
        Budget { left: given, given, has_cut_text: false }
    }

    pub(crate) fn take(&mut self, steps: usize) -> Result<(), OutOfSteps> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(OutOfSteps)
            }
        }
    }

    /// Steps taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.given - self.left
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
    Itself,
    /// The element directly behind, among elements (CSS `+`).
    NextElement,
}

impl Axis {
    /// Whether it goes against the order of the document.
    pub(crate) fn is_reverse(self) -> bool {
        matches!(self, Axis::Parent | Axis::Ancestor | Axis::AncestorOrSelf | Axis::PrecedingSibling | Axis::Preceding)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// Any element, or any attribute on that axis.
    Any,
    Name(String),
    Text,
    Node,
    /// Comments and processing instructions, of which pages have none here.
    Nothing,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) axis: Axis,
    pub(crate) test: Test,
    pub(crate) predicates: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
    Union,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// The document.
    Root,
    /// Where the evaluation is.
    Context,
    /// The nodes of an expression, filtered.
    Of(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Binary(Operator, Box<Expr>, Box<Expr>),
    Negative(Box<Expr>),
    Path(Start, Vec<Step>),
    Text(String),
    Number(f64),
    Call(Function, Vec<Expr>),
    Css(Css),
}

/// Conditions of CSS on an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Css {
    Class(String),
    Attribute {
        name: String,
        how: Matching,
        value: String,
        ignores_case: bool,
    },
    /// `:nth-child(An+B)` and its kin.
    Nth {
        step: i64,
        offset: i64,
        of_type: bool,
        from_end: bool,
    },
    Empty,
    Root,
    Not(Box<Expr>),
    Any(Vec<Expr>),
    All(Vec<Expr>),
    Itself(Test),
    Contains(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matching {
    Has,
    Equals,
    Word,
    Dash,
    Begins,
    Ends,
    Contains,
}

impl Expr {
    /// Whether some of what it selects are attributes.
    pub(crate) fn selects_attributes(&self) -> bool {
        match self {
            Expr::Binary(Operator::Union, left, right) => left.selects_attributes() || right.selects_attributes(),
            Expr::Path(Start::Of(inner, _), steps) if steps.is_empty() => inner.selects_attributes(),
            Expr::Path(_, steps) => steps.last().is_some_and(|step| step.axis == Axis::Attribute),
            _ => false,
        }
    }

    /// Whether it gives the same at every place of a page.
    pub(crate) fn is_of_page(&self) -> bool {
        match self {
            Expr::Path(Start::Root, _) | Expr::Text(_) | Expr::Number(_) => true,
            Expr::Path(Start::Of(inner, _), _) | Expr::Negative(inner) => inner.is_of_page(),
            Expr::Binary(_, left, right) => left.is_of_page() && right.is_of_page(),
            // Without arguments, they are about the place.
            Expr::Call(function, arguments) => {
                *function != Function::Lang && !arguments.is_empty() && arguments.iter().all(Expr::is_of_page)
            }
            Expr::Path(Start::Context, _) | Expr::Css(_) => false,
        }
    }

    /// Whether a predicate may depend on the position of a node.
    pub(crate) fn is_positional(&self) -> bool {
        fn asks(expr: &Expr) -> bool {
            match expr {
                Expr::Call(Function::Position | Function::Last, _) => true,
                Expr::Call(_, arguments) => arguments.iter().any(asks),
                Expr::Binary(_, left, right) => asks(left) || asks(right),
                Expr::Negative(inner) => asks(inner),
                Expr::Path(Start::Of(inner, _), _) => asks(inner),
                Expr::Path(..) | Expr::Text(_) | Expr::Number(_) | Expr::Css(_) => false,
            }
        }
        let is_number = match self {
            Expr::Number(_) | Expr::Negative(_) => true,
            Expr::Binary(operator, ..) => {
                matches!(
                    operator,
                    Operator::Plus | Operator::Minus | Operator::Times | Operator::Divide | Operator::Modulo
                )
            }
            Expr::Call(function, _) => {
                matches!(
                    function,
                    Function::Count
                        | Function::StringLength
                        | Function::Number
                        | Function::Sum
                        | Function::Floor
                        | Function::Ceiling
                        | Function::Round
                )
            }
            _ => false,
        };
        is_number || asks(self)
    }
}
