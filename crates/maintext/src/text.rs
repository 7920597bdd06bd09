//! The main text as plain text: a line for each block, cells of a row side by side, code as it stands.

use extract::html::dom::{Document, Id, Tag};

use crate::blocks::{Block, is_no_text};
use crate::markdown::code;

/// The blocks that are chosen, one behind the other.
pub(crate) fn of<'b>(tree: &Document<'_>, blocks: impl Iterator<Item = &'b Block>) -> String {
    let mut text = String::new();
    let mut before: Option<&Block> = None;
    for block in blocks {
        if let Some(before) = before {
            text.push_str(between(tree, before, block));
        }
        match code_around(tree, block) {
            Some(code) => text.push_str(&code::text_of(tree, code)),
            None => add(tree, block, &mut text),
        }
        before = Some(block);
    }
    text
}

fn code_around(tree: &Document<'_>, block: &Block) -> Option<Id> {
    std::iter::successors(Some(block.first), |id| Some(tree.parent(*id)).filter(|parent| parent < id))
        .find(|id| tree.tag(*id) == Some(Tag::Pre))
}

/// What separates two blocks.
fn between(tree: &Document<'_>, before: &Block, block: &Block) -> &'static str {
    let parents = (tree.parent(before.element), tree.parent(block.element));
    match (tree.tag(before.element), tree.tag(block.element)) {
        (Some(Tag::Td | Tag::Th), Some(Tag::Td | Tag::Th)) if parents.0 == parents.1 => "\t",
        (Some(Tag::Td | Tag::Th), Some(Tag::Td | Tag::Th)) => "\n",
        (Some(Tag::Li), Some(Tag::Li)) | (Some(Tag::Dt), Some(Tag::Dd)) => "\n",
        _ => "\n\n",
    }
}

/// Adds a block in one line, or more where it has line breaks.
fn add(tree: &Document<'_>, block: &Block, text: &mut String) {
    let begin = text.len();
    let mut is_spaced = false;
    let mut id = block.first;
    while id <= block.last {
        match tree.tag(id) {
            None => {
                let own = tree.text(id);
                is_spaced |= own.starts_with(char::is_whitespace);
                let mut push = |word: &str| {
                    if is_spaced && text.len() > begin && !text.ends_with('\n') {
                        text.push(' ');
                    }
                    text.push_str(word);
                    is_spaced = true;
                };
                // Most texts are ASCII, of which the words are found in a third of the time.
                if own.is_ascii() {
                    own.split_ascii_whitespace().for_each(push);
                } else {
                    own.split_whitespace().for_each(&mut push);
                }
                is_spaced = own.ends_with(char::is_whitespace);
            }
            Some(Tag::Br) if text.len() > begin => text.push('\n'),
            Some(tag) if is_no_text(tree, id, tag) => {
                id = tree.end(id);
                continue;
            }
            Some(_) => {}
        }
        id += 1;
    }
}
