//! Lists of definitions: a definition without its term says nothing. The models judge each block, and terms are short.

use std::ops::Range;

use extract::html::dom::{Document, Id, Tag};

use crate::blocks::Blocks;
use crate::steps;

/// A list of which this share of the words is main text, in percent, is main text.
const LIST_PERCENT: u32 = 33;

/// Words of blocks one behind the other.
#[derive(Clone, Copy, Debug, Default)]
struct Words {
    all: u32,
    main: u32,
}

struct Lists<'p, 'd> {
    tree: &'p Document<'d>,
    page: &'p Blocks,
    /// The words before each block, and of all. What is kept later changes nothing: its list has main text already.
    before: Vec<Words>,
}

/// Keeps lists of definitions whole that are main text for a good part or stand in it, and of the others the terms whose definitions are kept.
pub(crate) fn keep(tree: &Document<'_>, page: &Blocks, is_main: &mut [bool]) {
    if !page.blocks.iter().any(|block| block.is_in(&[Tag::Dl])) {
        return;
    }
    let mut words = Words::default();
    let mut before = vec![words];
    before.extend(page.blocks.iter().zip(is_main.iter()).map(|(block, is)| {
        words.all += block.count.words;
        words.main += if *is { block.count.words } else { 0 };
        words
    }));
    let lists = Lists { tree, page, before };
    let mut id = 1;
    while id < tree.len() {
        steps::count(1);
        let is_list = tree.tag(id) == Some(Tag::Dl);
        if is_list && lists.is_main(id) {
            is_main[lists.blocks(id)].fill(true);
            id = tree.end(id);
            continue;
        }
        // HTML allows a `div` around each term.
        if is_list || tree.tag(id) == Some(Tag::Div) && tree.tag(tree.parent(id)) == Some(Tag::Dl) {
            for term in lists.terms(id) {
                is_main[lists.blocks(term)].fill(true);
            }
        }
        id += 1;
    }
}

impl Lists<'_, '_> {
    /// The blocks that an element holds: they stand in a row.
    fn blocks(&self, id: Id) -> Range<usize> {
        let begin = self.page.blocks.partition_point(|block| block.first < id);
        begin..(begin + self.page.holds[id].blocks as usize).min(self.page.blocks.len())
    }

    fn words(&self, blocks: Range<usize>) -> Words {
        let (before, behind) = (self.before[blocks.start], self.before[blocks.end]);
        Words { all: behind.all - before.all, main: behind.main - before.main }
    }

    /// Whether a list is main text for a good part, or has some and stands between other main text.
    fn is_main(&self, list: Id) -> bool {
        let Range { start, end } = self.blocks(list);
        let Words { all, main } = self.words(start..end);
        let is_main = |block: Range<usize>| self.words(block).main > 0;
        let is_between =
            || start > 0 && end + 1 < self.before.len() && is_main(start - 1..start) && is_main(end..end + 1);
        main > 0 && (main * 100 >= all * LIST_PERCENT || is_between())
    }

    /// The terms among the children of an element whose definitions have main text.
    fn terms(&self, list: Id) -> Vec<Id> {
        let mut kept = Vec::new();
        // Those that the next definitions are of.
        let mut terms: Vec<Id> = Vec::new();
        let mut is_defined = false;
        for child in self.tree.children(list) {
            steps::count(1);
            match self.tree.tag(child) {
                Some(Tag::Dt) => {
                    if std::mem::take(&mut is_defined) {
                        terms.clear();
                    }
                    terms.push(child);
                }
                Some(Tag::Dd) => {
                    is_defined = true;
                    if self.words(self.blocks(child)).main > 0 {
                        kept.append(&mut terms);
                    }
                }
                _ => {}
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks;
    use crate::said::Said;

    /// The texts that are kept if those that begin with a capital letter were main text.
    fn kept(html: &str) -> Vec<String> {
        let tree = Document::parse(html);
        let page = blocks::read(&tree, &Said::default());
        let text = |at: usize| crate::text::of(&tree, page.blocks[at..=at].iter());
        let mut is_main: Vec<bool> =
            (0..page.blocks.len()).map(|at| text(at).starts_with(char::is_uppercase)).collect();
        keep(&tree, &page, &mut is_main);
        (0..page.blocks.len()).filter(|at| is_main[*at]).map(text).collect()
    }

    #[test]
    fn a_list_is_kept_whole_or_with_the_terms_of_what_is_kept() {
        const MANY: &str = "<dd>so many words that the list is not main text, and more of them to be sure of it";
        let check = |html: &str, expect: &[&str]| assert_eq!(kept(html), expect, "{html}");
        check("<dl><dt>one<dd>Two three<dt>four<dd>five</dl><p>six", &["one", "Two three", "four", "five"]);
        check("<dl><dt>one<dd>two</dl><p>Three", &["Three"]);
        let between = format!("<p>One<dl><dt>two{MANY}<dd>Three</dl><p>Four");
        check(&between, &["One", "two", MANY.trim_start_matches("<dd>"), "Three", "Four"]);
        check(&format!("<dl><dt>one<dt>two<dd>Three<dd>four<dt>five{MANY}</dl>"), &["one", "two", "Three"]);
        check(&format!("<dl><dt>one{MANY}<dd>Three<dt>five<dd>six</dl>"), &["one", "Three"]);
        check(&format!("<dl><div><dt>one<dd>Two</div><div><dt>three{MANY}</div></dl>"), &["one", "Two"]);
        let inner = format!("<dl><dt>outer<dd><dl><dt>inner<dd>Text</dl></dd><dt>other{MANY}</dl>");
        check(&inner, &["outer", "inner", "Text"]);
        check("<dl><dd>Text<dt>term</dl><dl></dl><dl>Loose", &["Text", "term", "Loose"]);
    }
}
