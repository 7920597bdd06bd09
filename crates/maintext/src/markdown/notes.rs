//! Footnotes: marks that lead to a text of the same page, and the texts.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};
use foldhash::{HashMap, HashSet};

use crate::kept::Kept;

/// Footnotes of a page, at most; later marks stay links.
const NOTES_MAX: usize = 1_000;
/// Characters of the longest mark.
const MARK_CHARS_MAX: usize = 5;

/// The footnotes of a page.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// By the `id` of the text: its label.
    labels: HashMap<String, String>,
    /// By its element.
    texts: HashMap<Id, String>,
    /// The `id` of the marks, to which the texts lead back.
    marks: HashSet<String>,
}

impl Notes {
    pub(super) fn find(tree: &Document<'_>, kept: &Kept) -> Self {
        let mut notes = Notes::default();
        let mut order: HashMap<String, Id> = HashMap::default();
        for id in (1..tree.len()).filter(|id| tree.tag(*id) == Some(Tag::A) && kept.holds(*id)) {
            let href = tree.attribute(id, "href");
            let Some(target) = href.as_deref().and_then(target_of).filter(|_| is_mark(tree, id)) else { continue };
            if order.len() < NOTES_MAX {
                order.entry(target.to_owned()).or_insert(id);
            }
        }
        if order.is_empty() {
            return notes;
        }
        for id in 1..tree.len() {
            let Some(name) = tree.attribute(id, "id").filter(|_| kept.holds(id)) else { continue };
            // The text comes behind its mark.
            if let Some(mark) = order.get(&*name).copied().filter(|mark| *mark < id)
                && is_text(tree, id)
            {
                notes.add(tree, mark, id, &name);
            }
        }
        notes
    }

    fn add(&mut self, tree: &Document<'_>, mark: Id, text: Id, name: &str) {
        let label: String = tree.whole_text(mark).chars().filter(|character| character.is_alphanumeric()).collect();
        let label = if label.is_empty() { (self.texts.len() + 1).to_string() } else { label };
        self.labels.insert(name.to_owned(), label.clone());
        self.texts.insert(text, label);
        let around = [mark, tree.parent(mark)];
        self.marks.extend(around.iter().filter_map(|id| tree.attribute(*id, "id")).map(Cow::into_owned));
    }

    /// The label of the footnote that a reference leads to.
    pub(super) fn label_of(&self, href: Option<&str>) -> Option<&str> {
        self.labels.get(target_of(href?)?).map(String::as_str)
    }

    /// Whether a reference leads from a text back to its mark.
    pub(super) fn leads_back(&self, href: Option<&str>) -> bool {
        href.and_then(target_of).is_some_and(|target| self.marks.contains(target))
    }

    /// The label of a footnote whose text this is.
    pub(super) fn definition(&self, id: Id) -> Option<&str> {
        self.texts.get(&id).map(String::as_str)
    }
}

/// What a reference within the page leads to.
fn target_of(href: &str) -> Option<&str> {
    href.strip_prefix('#').filter(|target| !target.is_empty())
}

/// Whether a link is the mark of a footnote: short, and raised or declared to be one.
fn is_mark(tree: &Document<'_>, id: Id) -> bool {
    let is_raised = tree.tag(tree.parent(id)) == Some(Tag::Sup)
        || tree.children(id).next().is_some_and(|child| tree.tag(child) == Some(Tag::Sup));
    let is_declared = tree.has_word(id, "role", "doc-noteref")
        || ["footnote-ref", "footnote-reference", "footnote"].iter().any(|class| tree.has_word(id, "class", class));
    (is_raised || is_declared) && (1..=MARK_CHARS_MAX).contains(&tree.whole_text(id).trim().chars().count())
}

/// Whether an element may be the text of a footnote.
fn is_text(tree: &Document<'_>, id: Id) -> bool {
    matches!(tree.tag(id), Some(Tag::Li | Tag::P | Tag::Div | Tag::Aside))
}
