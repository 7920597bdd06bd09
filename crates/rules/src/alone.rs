//! A selector by itself: whether a page has such an element.

use extract::html::dom::{Document, Node};

use crate::evaluate::{self, Value};
use crate::query::{Budget, Expr, Place};
use crate::selector::{Language, Selector};

/// A CSS selector or an XPath.
#[derive(Clone, Debug, PartialEq)]
pub struct Query(Expr);

impl Query {
    /// Reads a selector. One that begins with `/`, `(`, `@` or `./` is an XPath.
    ///
    /// # Errors
    /// It is none; the text says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        match Selector::parse(text, Language::guess(text))? {
            Selector::Tree(expr) => Ok(Query(expr)),
            Selector::Json(_) => Err(format!("`{text}` selects in JSON, and not in a page")),
        }
    }

    /// The first element, or place of an attribute or text, that it selects. None as well if the query takes more steps than it has
    /// ([`Budget`]).
    #[must_use]
    pub fn first<'d>(&self, document: &'d Document<'d>) -> Option<Node<'d>> {
        let root = Place::Node(document.root());
        match evaluate::nodes(&self.0, root, document, &mut Budget::of(document)) {
            Ok(Value::Nodes(places)) => places.first().map(|place| place.node()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_finds_the_first_element() {
        let document = Document::parse("<p id=a>1<p id=b class=x>2<p class=x>3");
        for (text, expect) in [("p.x", Some("b")), ("//p[@id]", Some("a")), ("#c", None)] {
            let found = Query::parse(text).expect(text).first(&document).and_then(|node| node.attribute("id"));
            assert_eq!(found.as_deref(), expect, "{text}");
        }
        assert!(Query::parse("[").is_err_and(|error| error.starts_with("`[` is no CSS selector")));
        assert!(Query::parse("$.a").is_err());
    }
}
