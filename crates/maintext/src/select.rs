//! Which blocks of a page are its main text.

use std::sync::LazyLock;

use extract::html::dom::{Document, Id, ROOT, Tag};

use foldhash::HashMap;

use crate::alike;
use crate::blocks::{Block, Blocks};
use crate::definitions;
use crate::features::{self, Rows};
use crate::markdown::{code, table};
use crate::model::Model;

/// A table of which this share of the words is main text, in percent, is main text.
const TABLE_PERCENT: u32 = 40;

/// The choice among the blocks of a page.
#[derive(Debug)]
pub(crate) struct Selection {
    /// By block.
    pub(crate) is_main: Vec<bool>,
    /// The F1 measure that is expected of the choice.
    pub(crate) confidence: f32,
}

/// How likely each block belongs to the main text.
pub(crate) fn likelihoods(rows: &Rows) -> Vec<f32> {
    static MODEL: LazyLock<Model<1>> = LazyLock::new(|| Model::parse(include_str!("block.model")));
    MODEL.of(rows).into_iter().map(|[score]| 1.0 / (1.0 + (-score).exp())).collect()
}

/// Chooses blocks.
pub(crate) fn select(tree: &Document<'_>, page: &Blocks, rows: &Rows, is_documentation: bool) -> Selection {
    let mut likely = likelihoods(rows);
    alike::share(page, &mut likely);
    let words = page.blocks.iter().map(|block| block.count.words as f32).zip(likely.iter().copied());
    let (steps, confidence) = limit(words, if is_documentation { 0.0 } else { NESTED_WEIGHT });
    let mut is_main: Vec<bool> = likely.iter().map(|likely| step_of(*likely) < steps).collect();
    keep_top(tree, page, &likely, &mut is_main);
    if is_documentation {
        fill_gaps(tree, page, &likely, &mut is_main);
    }
    keep_whole(tree, page, &mut is_main);
    definitions::keep(tree, page, &mut is_main);
    Selection { is_main, confidence }
}

/// Likelihoods that are told apart.
const STEPS: usize = 64;

/// The step of a likelihood; the first is that of certainty.
fn step_of(likely: f32) -> usize {
    (((1.0 - likely) * STEPS as f32) as usize).min(STEPS - 1)
}

/// How much counts what people differ in. Not so of documentation, which is main text as a whole to all of them.
const NESTED_WEIGHT: f32 = 0.5;

/// A page with more words has a main text, though none of its blocks may look like it: a long table, for example.
const NOTHING_WORDS_MAX: f32 = 1_000.0;

/// How many steps of blocks are taken, such that the expected F1 measure of words is greatest, and that measure. Blocks have words and a
/// likelihood.
///
/// It is the weighted mean of two. If each block were main text or not regardless of the others, then for likelihoods p and lengths n it were
/// 2 Σ(p n of what is taken) / (Σ(n of what is taken) + Σ(p n of all)). If people differed only in how much they call main text, then the
/// truth were the blocks down to some step, each step as likely as the others; and nothing, down to the first step with blocks.
fn limit(blocks: impl Iterator<Item = (f32, f32)>, nested_weight: f32) -> (usize, f32) {
    let (mut taken, mut right) = ([0.0_f32; STEPS], [0.0_f32; STEPS]);
    for (words, likely) in blocks {
        let step = step_of(likely);
        taken[step] += words;
        right[step] += words * likely;
    }
    for step in 1..STEPS {
        taken[step] += taken[step - 1];
        right[step] += right[step - 1];
    }
    if taken[STEPS - 1] == 0.0 {
        return (0, 0.0);
    }
    let first = taken.iter().position(|words| *words > 0.0).unwrap_or_default();
    let may_be_nothing = taken[STEPS - 1] <= NOTHING_WORDS_MAX;
    let mut best = (0, if may_be_nothing { nested_weight * first as f32 / STEPS as f32 } else { 0.0 });
    let mut before = 0.0;
    for (step, words) in taken.iter().enumerate().skip(first) {
        if *words == before {
            // A step without blocks is worth what the one before is.
            continue;
        }
        before = *words;
        let apart = 2.0 * right[step] / (words + right[STEPS - 1]);
        let nested: f32 = match nested_weight {
            0.0 => 0.0,
            _ => taken[first..].iter().map(|truth| 2.0 * words.min(*truth) / (words + truth)).sum(),
        };
        let measure = (1.0 - nested_weight) * apart + nested_weight * nested / STEPS as f32;
        if measure > best.1 {
            best = (step + 1, measure);
        }
    }
    best
}

/// Of documentation, keeps what stands among main text: it says little by itself, but is seldom furniture. Looks at the innermost elements
/// around a block that hold several others.
fn fill_gaps(tree: &Document<'_>, page: &Blocks, likely: &[f32], is_main: &mut [bool]) {
    /// Blocks that an element holds at least, and the share of its words that is main text, in percent.
    const BLOCKS_MIN: u32 = 3;
    const MAIN_PERCENT: u32 = 50;
    /// The least likelihood of what is kept so: between other main text, and behind it.
    const LIKELY_MIN: f32 = 0.03;
    const LIKELY_BEHIND_MIN: f32 = 0.06;
    let mut main_words = vec![0_u32; tree.len()];
    for (block, is) in page.blocks.iter().zip(is_main.iter()) {
        main_words[block.element] += if *is { block.count.words } else { 0 };
    }
    for id in (1..tree.len()).rev() {
        let words = main_words[id];
        main_words[tree.parent(id)] += words;
    }
    let first = is_main.iter().position(|is| *is).unwrap_or_default();
    let last = is_main.iter().rposition(|is| *is).unwrap_or_default();
    // The last sections of a long page are often lists and notes, which look less like main text than those before. They are in the
    // element with the content, and what is around the content is not.
    let content = features::dominant(tree, &page.holds);
    let is_page = matches!(tree.tag(content), None | Some(Tag::Html | Tag::Body));
    let end = page.blocks.partition_point(|block| block.first < tree.end(content));
    let between = page.blocks.iter().enumerate().take(if is_page { last } else { end.max(last) }).skip(first);
    let is_code = |block: &Block| tree.tag(block.element) == Some(Tag::Pre);
    let likely_min = |at: usize| if at < last { LIKELY_MIN } else { LIKELY_BEHIND_MIN };
    for (at, block) in between.filter(|(at, block)| likely[*at] >= likely_min(*at) || is_code(block)) {
        is_main[at] |= is_code(block);
        let around = features::around(page, block);
        is_main[at] |= around
            .into_iter()
            .filter(|id| *id != ROOT && page.holds[*id].blocks >= BLOCKS_MIN)
            .any(|id| main_words[id] * 100 >= page.holds[id].words * MAIN_PERCENT);
    }
    // Where no element holds the content, the first heading of the page may be that of a menu.
    let first_heading = (0..is_main.len())
        .find(|at| rank(tree, page, *at).is_some() && tree.subtree(content).contains(&page.blocks[*at].first));
    if let Some(first) = first_heading.filter(|_| !is_page) {
        is_main[first] = true;
    }
    // From the end, so that of several headings in a row all are kept.
    for at in (0..is_main.len().saturating_sub(1)).rev() {
        is_main[at] |= is_main[at + 1] && rank(tree, page, at).is_some();
    }
}

/// The rank of a block that is a heading.
fn rank(tree: &Document<'_>, page: &Blocks, at: usize) -> Option<u8> {
    tree.tag(page.blocks[at].element).and_then(Tag::heading_rank)
}

/// Keeps the heading at the top: the best one in front of the first block that was chosen.
fn keep_top(tree: &Document<'_>, page: &Blocks, likely: &[f32], is_main: &mut [bool]) {
    /// Blocks in front of the first chosen one in which its heading is looked for.
    const BLOCKS_MAX: usize = 40;
    /// And blocks behind it: what leads to other pages may be chosen first.
    const BLOCKS_BEHIND_MAX: usize = 4;
    let Some(first) = is_main.iter().position(|is| *is) else { return };
    let rank = |at: usize| rank(tree, page, at);
    if rank(first) == Some(1) {
        return;
    }
    let near = first.saturating_sub(BLOCKS_MAX)..(first + BLOCKS_BEHIND_MAX).min(is_main.len());
    let headings = near.filter(|at| rank(*at).is_some());
    let best = headings.min_by(|one, other| {
        let worth = |at: usize| (rank(at), page.blocks[at].in_title == 0);
        worth(*one).cmp(&worth(*other)).then(likely[*other].total_cmp(&likely[*one]))
    });
    if let Some(best) = best.filter(|best| rank(*best) == Some(1) || page.blocks[*best].in_title > 0) {
        is_main[best] = true;
    }
}

/// Keeps code and tables of data whole, or leaves them out. A table that stands between main text is kept: its cells say little to the model.
fn keep_whole(tree: &Document<'_>, page: &Blocks, is_main: &mut [bool]) {
    /// How far up from a block code and tables are looked for.
    const AROUND_MAX: usize = 8;
    let mut at = 0;
    // Whether a table shows data is looked up once.
    let mut tables: HashMap<Id, bool> = HashMap::default();
    while at < page.blocks.len() {
        if !page.blocks[at].is_in(&[Tag::Pre, Tag::Table]) {
            at += 1;
            continue;
        }
        let around = std::iter::successors(Some(page.blocks[at].element), |id| {
            Some(tree.parent(*id)).filter(|parent| *parent != ROOT)
        });
        let whole = around.take(AROUND_MAX).find(|id| match tree.tag(*id) {
            Some(Tag::Pre) => true,
            Some(Tag::Table) => *tables.entry(*id).or_insert_with(|| table::is_data(tree, *id)),
            _ => false,
        });
        let Some(whole) = whole else {
            at += 1;
            continue;
        };
        let end = at + page.blocks[at..].iter().take_while(|block| block.first < tree.end(whole)).count();
        let words = |is_counted: &dyn Fn(usize) -> bool| -> u32 {
            (at..end).filter(|at| is_counted(*at)).map(|at| page.blocks[at].count.words).sum()
        };
        let is_kept = if tree.tag(whole) == Some(Tag::Pre) {
            // Beside code the numbers of its lines would be code of their own.
            is_main[at..end].contains(&true) && !code::is_numbering(tree, whole)
        } else {
            let is_between = at > 0 && is_main[at - 1] && is_main.get(end) == Some(&true);
            is_between || words(&|at| is_main[at]) * 100 >= words(&|_| true) * TABLE_PERCENT
        };
        is_main[at..end].fill(is_kept);
        at = end.max(at + 1);
    }
}

/// All blocks of the page and which of them are main text. One without words is if it stands between others, or beside one: in the same row or
/// table, or next to it in the same element.
pub(crate) fn with_wordless(tree: &Document<'_>, page: Blocks, is_main: Vec<bool>) -> (Vec<Block>, Vec<bool>) {
    let Blocks { blocks, wordless, .. } = page;
    if wordless.is_empty() {
        return (blocks, is_main);
    }
    let mut all = Vec::with_capacity(blocks.len() + wordless.len());
    let mut are_main = Vec::with_capacity(all.capacity());
    let mut wordless = wordless.into_iter().peekable();
    // The first text of the last block that has words, if it is main text.
    let mut before = None;
    for (block, is) in blocks.into_iter().zip(is_main) {
        let behind = is.then_some(block.first);
        while let Some(mark) = wordless.next_if(|mark| mark.first < block.first) {
            are_main.push(belongs(tree, &mark, before, behind));
            all.push(mark);
        }
        all.push(block);
        are_main.push(is);
        before = behind;
    }
    for mark in wordless {
        are_main.push(belongs(tree, &mark, before, None));
        all.push(mark);
    }
    (all, are_main)
}

/// Whether a block without words belongs to main text before or behind it.
fn belongs(tree: &Document<'_>, block: &Block, before: Option<Id>, behind: Option<Id>) -> bool {
    /// From a cell to its table: its row, a group of rows.
    const STEPS_TO_TABLE: usize = 3;
    let is_cell = matches!(tree.tag(block.element), Some(Tag::Td | Tag::Th));
    let steps = if is_cell { STEPS_TO_TABLE } else { 1 };
    let around = (0..steps).fold(block.element, |id, _| tree.parent(id));
    let is_near = |text: Option<Id>| text.is_some_and(|text| tree.subtree(around).contains(&text));
    (before.is_some() && behind.is_some()) || is_near(before) || is_near(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_differ_in_is_taken_if_it_is_worth_it() {
        let check = |blocks: &[(f32, f32)], weight: f32, expect: usize| {
            let (steps, measure) = limit(blocks.iter().copied(), weight);
            assert_eq!(steps, expect, "{blocks:?}");
            assert!((0.0..=1.0).contains(&measure), "{measure}");
        };
        let description_and_reviews = [(100.0, 0.95), (300.0, 0.35)];
        check(&description_and_reviews, 0.0, step_of(0.35) + 1);
        check(&description_and_reviews, NESTED_WEIGHT, step_of(0.95) + 1);
        check(&[(100.0, 0.95), (300.0, 0.75)], NESTED_WEIGHT, step_of(0.75) + 1);
        check(&[(50.0, 0.2)], 0.0, step_of(0.2) + 1);
        check(&[(50.0, 0.2)], NESTED_WEIGHT, 0);
        check(&[(60_000.0, 0.2)], NESTED_WEIGHT, step_of(0.2) + 1);
        check(&[], NESTED_WEIGHT, 0);
    }

    #[test]
    fn a_table_is_kept_whole_or_left_out_whole() {
        let row = "<tr><td>Weight<td>355 GB";
        let html = format!("<p>before<table><tr><th>Property<th>Value{}</table><p>behind", row.repeat(3));
        let tree = Document::parse(&html);
        let page = crate::blocks::read(&tree, &crate::said::Said::default());
        let check = |before: bool, cells: usize, behind: bool, expect: bool| {
            let mut is_main = vec![false; page.blocks.len()];
            is_main[1..=cells].fill(true);
            (is_main[0], is_main[9]) = (before, behind);
            keep_whole(&tree, &page, &mut is_main);
            assert_eq!(is_main, [&[before][..], &[expect; 8], &[behind]].concat(), "{before} {cells} {behind}");
        };
        check(true, 2, false, false);
        check(true, 5, false, true);
        check(true, 2, true, true);
        check(true, 0, true, true);
        check(false, 0, true, false);
    }

    #[test]
    fn the_last_section_of_documentation_is_kept_and_what_is_around_the_content_is_not() {
        let section = "<section><h2>Part</h2><p>what it is about in many words</p><p>and some more words</p></section>";
        let html = format!("<body><div>{}</div><div><p>next</p><p>home</p></div>", section.repeat(3));
        let tree = Document::parse(&html);
        let page = crate::blocks::read(&tree, &crate::said::Said::default());
        let check = |last_section: f32, expect: [bool; 3]| {
            let likely = [[0.9; 6].as_slice(), &[last_section; 3], &[0.2; 2]].concat();
            let mut is_main: Vec<bool> = likely.iter().map(|likely| *likely > 0.5).collect();
            fill_gaps(&tree, &page, &likely, &mut is_main);
            assert_eq!([is_main[5], is_main[8], is_main[10]], expect, "{is_main:?}");
        };
        check(0.1, [true, true, false]);
        check(0.001, [true, false, false]);
    }

    #[test]
    fn the_first_heading_of_a_page_whose_content_no_element_holds_may_be_that_of_a_menu() {
        let content = "<h1>Part</h1><p>what it is about in many words</p><p>and some more words</p>";
        let menu = "<div><h3>Table of contents</h3><p>one word and another and so on</p></div>";
        let check = |html: &str, likely: &[f32], expect: &[bool]| {
            let tree = Document::parse(html);
            let page = crate::blocks::read(&tree, &crate::said::Said::default());
            let mut is_main: Vec<bool> = likely.iter().map(|likely| *likely > 0.5).collect();
            fill_gaps(&tree, &page, likely, &mut is_main);
            assert_eq!(is_main, expect, "{html}");
        };
        let page = [0.2, 0.2, 0.9, 0.9, 0.9];
        check(&format!("<body>{menu}<div>{content}</div>"), &page, &[false, false, true, true, true]);
        // Where an element holds it, its heading is kept.
        let content = "<div><h2>Part</h2><p>what it is about in many words</p><p>some more</p></div>";
        let links = "<div><h3><a href=/>Contents</a></h3><p><a href=/a>one</a></p></div>";
        let (likely, expect) = ([0.2, 0.2, 0.2, 0.2, 0.9], [false, false, true, false, true]);
        check(&format!("<body>{links}{content}"), &likely, &expect);
    }
}
