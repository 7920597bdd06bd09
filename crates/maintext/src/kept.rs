//! What of a page is kept for a choice of blocks, by the numbers of its nodes.

use extract::html::dom::{Document, Id, ROOT, Tag};

use crate::blocks::{Block, is_border, is_no_text};
use crate::markdown::math;

/// What is kept of a page, by node: an element that holds anything that is kept is kept too.
#[derive(Debug)]
pub(crate) struct Kept {
    holds: Vec<bool>,
    holds_blocks: Vec<bool>,
    /// What shows a formula a second time, in order.
    repeated: Vec<Id>,
}

impl Kept {
    /// Whether a node is left out because it repeats a formula beside it.
    pub(crate) fn is_repeated(&self, id: Id) -> bool {
        self.repeated.binary_search(&id).is_ok()
    }

    /// Whether a node is kept, or holds what is.
    #[inline]
    pub(crate) fn holds(&self, id: Id) -> bool {
        self.holds[id]
    }

    /// Whether an element holds elements that stand by themselves, and are kept.
    pub(crate) fn holds_blocks(&self, id: Id) -> bool {
        self.holds_blocks[id]
    }
}

/// What of the page is kept for this choice: texts, and between them images, rules and formulas.
pub(crate) fn of(tree: &Document<'_>, all: &[Block], is_main: &[bool]) -> Kept {
    let mut holds = vec![false; tree.len()];
    // The elements that have a line that is kept.
    let mut is_line = vec![false; tree.len()];
    for (block, _) in all.iter().zip(is_main).filter(|(_, is)| **is) {
        holds[block.first..=block.last].fill(true);
        is_line[block.element] = true;
    }
    let mut holds_blocks = vec![false; tree.len()];
    // The begin of the next block and whether it is chosen, and whether the one before is.
    let mut blocks = all.iter().zip(is_main.iter().copied()).peekable();
    let mut is_before = false;
    let mut skip_to = 0;
    let mut repeated = Vec::new();
    for id in 1..tree.len() {
        while let Some((_, is)) = blocks.next_if(|(block, _)| block.first <= id) {
            is_before = is;
        }
        let tag = tree.tag(id);
        let is_between = is_before && blocks.peek().is_some_and(|(_, is)| *is);
        let is_in_text = || is_between || is_line[line_of(tree, id)];
        if id < skip_to || tag.is_some_and(|tag| is_no_text(tree, id, tag)) {
            holds[id] = id >= skip_to && math::is_script(tree, id) && is_in_text();
            skip_to = skip_to.max(tree.end(id));
            continue;
        }
        if tag == Some(Tag::Math) {
            repeated.extend(math::repeated(tree, id));
        }
        match tag {
            // Elements are kept for what they hold.
            Some(Tag::Img | Tag::Hr | Tag::Math | Tag::Br) => holds[id] |= is_in_text(),
            Some(_) => holds[id] = false,
            None => {}
        }
    }
    keep_code(tree, &mut holds);
    repeated.sort_unstable();
    let mut left_out = 0;
    for id in &repeated {
        left_out = left_out.max(*id);
        holds[left_out..tree.end(*id).max(left_out)].fill(false);
        left_out = left_out.max(tree.end(*id));
    }
    for id in (1..tree.len()).rev() {
        if holds[id] {
            let parent = tree.parent(id);
            holds[parent] = true;
            holds_blocks[parent] |= holds_blocks[id] || tree.tag(id).is_some_and(Tag::is_block);
        }
    }
    Kept { holds, holds_blocks, repeated }
}

/// The element whose line a node stands in, if it is near.
fn line_of(tree: &Document<'_>, id: Id) -> Id {
    /// Elements of a line around a node.
    const AROUND_MAX: usize = 4;
    let around = std::iter::successors(Some(tree.parent(id)), |id| Some(tree.parent(*id)).filter(|id| *id != ROOT));
    around.take(AROUND_MAX).find(|id| tree.tag(*id).is_some_and(is_border)).unwrap_or(ROOT)
}

/// Code is kept with all its white space.
fn keep_code(tree: &Document<'_>, holds: &mut [bool]) {
    let mut id = 1;
    while id < tree.len() {
        if tree.tag(id) != Some(Tag::Pre) {
            id += 1;
            continue;
        }
        let code = tree.subtree(id);
        if holds[code.clone()].iter().any(|holds| *holds) {
            code.filter(|id| tree.tag(*id).is_none()).for_each(|id| holds[id] = true);
        }
        id = tree.end(id);
    }
}
