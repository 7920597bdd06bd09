//! One look at every element: which of them say something.

use extract::html::dom::{Document, Node};

/// The elements that say something, in the order of the page.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    pub(crate) metas: Vec<Node<'a>>,
    pub(crate) links: Vec<Node<'a>>,
    pub(crate) scripts: Vec<Node<'a>>,
    pub(crate) headings: Vec<(u8, Node<'a>)>,
    /// Anchors with a `rel` that names a licence.
    pub(crate) licences: Vec<Node<'a>>,
    /// Elements with `itemscope`.
    pub(crate) scopes: Vec<Node<'a>>,
    /// Whether attributes of RDFa stand on other elements than `meta`.
    pub(crate) has_rdfa: bool,
}

impl<'a> Survey<'a> {
    pub(crate) fn of(document: &'a Document<'a>) -> Self {
        let mut survey = Survey::default();
        document.elements().for_each(|element| survey.look_at(element));
        survey
    }

    fn look_at(&mut self, element: Node<'a>) {
        let name = element.name().as_bytes();
        let is_meta = name.eq_ignore_ascii_case(b"meta");
        match *name {
            [b'h' | b'H', level @ b'1'..=b'6'] => self.headings.push((level - b'0', element)),
            _ if is_meta => self.metas.push(element),
            _ if name.eq_ignore_ascii_case(b"link") => self.links.push(element),
            _ if name.eq_ignore_ascii_case(b"script") => self.scripts.push(element),
            _ => {}
        }
        for attribute in element.attribute_names() {
            match attribute.len() {
                9 if attribute.eq_ignore_ascii_case("itemscope") => self.scopes.push(element),
                8 if !is_meta && attribute.eq_ignore_ascii_case("property") => self.has_rdfa = true,
                6 if attribute.eq_ignore_ascii_case("typeof") => self.has_rdfa = true,
                5 if attribute.eq_ignore_ascii_case("vocab") => self.has_rdfa = true,
                3 if attribute.eq_ignore_ascii_case("rel") && names_licence(element) => self.licences.push(element),
                _ => {}
            }
        }
    }
}

fn names_licence(element: Node<'_>) -> bool {
    element.is("a") && element.attribute("rel").is_some_and(|rel| has_token(&rel, "license"))
}

/// Whether the white-space separated list has this token, whatever its case.
pub(crate) fn has_token(list: &str, token: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(token))
}
