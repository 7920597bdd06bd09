//! A page as its readers see it, and how long they may look at it.

use extract::html::dom::{Document, Node};
use url::Url;

use crate::Limits;
use crate::base::{base_of, joined};
use crate::survey::Survey;

/// How deep items are nested, at most: a deeper one stands for itself.
pub(crate) const DEPTH_MAX: usize = 32;
/// Nodes that a reader looks at for each node of a page, at most: references and properties within properties may need more than one look.
const LOOKS_A_NODE_MAX: usize = 64;

/// See the module.
pub(crate) struct Source<'a> {
    pub(crate) document: &'a Document<'a>,
    pub(crate) survey: Survey<'a>,
    pub(crate) base: Option<Url>,
    pub(crate) limits: Limits,
}

impl<'a> Source<'a> {
    pub(crate) fn of(document: &'a Document<'a>, url: Option<&Url>, limits: &Limits) -> Self {
        Source { document, survey: Survey::of(document), base: base_of(document, url), limits: *limits }
    }

    /// A reference, resolved if that is possible.
    pub(crate) fn resolved(&self, href: &str) -> String {
        joined(self.base.as_ref(), href)
    }

    /// The looks that a reader has.
    pub(crate) fn looks(&self) -> Looks {
        Looks(self.document.len().saturating_mul(LOOKS_A_NODE_MAX))
    }

    /// The text of an element, if it may be looked at.
    pub(crate) fn text(&self, node: Node<'_>, looks: &mut Looks) -> String {
        let nodes = (node.end() - node.id()) as usize;
        if looks.take(nodes) { node.visible_text(self.limits.text_bytes_max) } else { String::new() }
    }
}

/// Looks at nodes that are left.
pub(crate) struct Looks(usize);

impl Looks {
    /// Takes looks; false once there were too many.
    pub(crate) fn take(&mut self, nodes: usize) -> bool {
        self.0 = self.0.saturating_sub(nodes);
        !self.are_spent()
    }

    pub(crate) fn are_spent(&self) -> bool {
        self.0 == 0
    }
}
