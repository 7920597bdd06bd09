//! One look at every element: which of them say something.

use extract::html::dom::{Document, Node, Tag};

/// The elements that say something, in the order of the page.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    pub(crate) metas: Vec<Node<'a>>,
    pub(crate) links: Vec<Node<'a>>,
    pub(crate) scripts: Vec<Node<'a>>,
    pub(crate) headings: Vec<(u8, Node<'a>)>,
    pub(crate) html: Option<Node<'a>>,
    pub(crate) title: Option<Node<'a>>,
    pub(crate) times: Vec<Node<'a>>,
    /// Anchors with a `rel` that names an author.
    pub(crate) authors: Vec<Node<'a>>,
    /// Elements with `itemprop`.
    pub(crate) properties: Vec<Node<'a>>,
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
        let tag = element.tag();
        let is_meta = tag == Some(Tag::Meta);
        match tag {
            Some(Tag::Meta) => self.metas.push(element),
            Some(Tag::Link) => self.links.push(element),
            Some(Tag::Script) => self.scripts.push(element),
            Some(Tag::Time) => self.times.push(element),
            Some(Tag::Title) => _ = self.title.get_or_insert(element),
            Some(Tag::Html) => _ = self.html.get_or_insert(element),
            Some(tag) => self.headings.extend(tag.heading_rank().map(|level| (level, element))),
            None => {}
        }
        for attribute in element.attribute_names() {
            match attribute.len() {
                8 if attribute.eq_ignore_ascii_case("itemprop") => self.properties.push(element),
                9 if attribute.eq_ignore_ascii_case("itemscope") => self.scopes.push(element),
                8 if !is_meta && attribute.eq_ignore_ascii_case("property") => self.has_rdfa = true,
                6 if attribute.eq_ignore_ascii_case("typeof") => self.has_rdfa = true,
                5 if attribute.eq_ignore_ascii_case("vocab") => self.has_rdfa = true,
                3 if tag == Some(Tag::A) && attribute.eq_ignore_ascii_case("rel") => self.relation(element),
                _ => {}
            }
        }
    }

    fn relation(&mut self, anchor: Node<'a>) {
        let rel = anchor.attribute("rel").unwrap_or_default();
        self.licences.extend(Some(anchor).filter(|_| has_token(&rel, "license")));
        self.authors.extend(Some(anchor).filter(|_| has_token(&rel, "author")));
    }
}

/// Whether the white-space separated list has this token, whatever its case.
pub(crate) fn has_token(list: &str, token: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(token))
}
