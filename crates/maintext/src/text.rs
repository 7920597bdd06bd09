//! The main text as plain text: a line for each block, cells of a row side by side, code as it stands.

use extract::html::dom::{Document, Id, Tag};

use crate::blocks::{Block, is_no_text};
use crate::markdown::{code, math};

/// The blocks that are chosen, one behind the other.
pub(crate) fn of<'b>(tree: &Document<'_>, blocks: impl Iterator<Item = &'b Block> + Clone) -> String {
    let bytes = blocks.clone().map(|block| (block.count.chars + block.count.words) as usize).sum();
    let mut text = String::with_capacity(bytes);
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
    if !block.is_in(&[Tag::Pre]) {
        return None;
    }
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
    let mut is_raised = false;
    // A line may begin within a formula.
    let around = std::iter::successors(Some(block.first), |id| Some(tree.parent(*id)));
    let around = around.take_while(|id| *id > block.element);
    let first = around.filter(|id| tree.tag(*id) == Some(Tag::Math)).last().unwrap_or(block.first);
    let maths = (first..=block.last).filter(|id| tree.tag(*id) == Some(Tag::Math));
    let mut repeated: Vec<Id> = maths.flat_map(|id| math::repeated(tree, id)).collect();
    repeated.sort_unstable();
    let mut id = first;
    // A formula within one is part of it.
    let mut end_of_formula = 0;
    while id <= block.last {
        let formula = match tree.tag(id) {
            Some(Tag::Math) if id >= end_of_formula => {
                end_of_formula = tree.end(id);
                math::source(tree, id)
            }
            Some(Tag::Script) if math::is_script(tree, id) => math::source(tree, id),
            _ => None,
        };
        if let Some(formula) = &formula {
            if std::mem::take(&mut is_spaced) && text.len() > begin {
                text.push(' ');
            }
            text.push_str(formula);
        }
        if formula.is_some() || repeated.binary_search(&id).is_ok() {
            id = tree.end(id);
            continue;
        }
        match tree.tag(id) {
            None => {
                let own = tree.text(id);
                // 10 to the power of 9 is not 109.
                let is_of_number = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                if std::mem::take(&mut is_raised)
                    && is_of_number(text.as_bytes().last())
                    && is_of_number(own.as_bytes().first())
                {
                    text.push('^');
                }
                is_spaced |= own.starts_with(char::is_whitespace);
                for_each_run(&own, |run| {
                    if is_spaced && text.len() > begin && !text.ends_with('\n') {
                        text.push(' ');
                    }
                    text.push_str(run);
                    is_spaced = true;
                });
                is_spaced = own.ends_with(char::is_whitespace);
            }
            Some(Tag::Br) if text.len() > begin => text.push('\n'),
            Some(tag) if is_no_text(tree, id, tag) => {
                id = tree.end(id);
                continue;
            }
            Some(tag) => is_raised |= tag == Tag::Sup,
        }
        id += 1;
    }
}

/// Calls `each` with runs of words that have one space between them: as long as they can be, for they are copied as they are.
fn for_each_run(text: &str, mut each: impl FnMut(&str)) {
    // Most texts are ASCII, of which each byte is a character.
    let is_ascii = text.is_ascii();
    let mut rest = text;
    loop {
        rest = if is_ascii { rest.trim_ascii_start() } else { rest.trim_start() };
        if rest.is_empty() {
            return;
        }
        let (run, behind) = rest.split_at(if is_ascii { end_of_ascii_run(rest) } else { end_of_run(rest) });
        each(run);
        rest = behind;
    }
}

fn end_of_ascii_run(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |(at, byte): (usize, &u8)| {
        // Most bytes are letters, which one comparison tells.
        *byte <= b' '
            && byte.is_ascii_whitespace()
            && (*byte != b' ' || bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace))
    };
    bytes.iter().enumerate().position(is_end).unwrap_or(bytes.len())
}

fn end_of_run(text: &str) -> usize {
    let is_end = |(at, character): &(usize, char)| {
        let ends = || text[at + 1..].chars().next().is_none_or(char::is_whitespace);
        character.is_whitespace() && (*character != ' ' || ends())
    };
    text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_single_spaces() {
        let check = |text: &str, expect: &[&str]| {
            let mut runs = Vec::new();
            for_each_run(text, |run| runs.push(run.to_owned()));
            assert_eq!(runs, expect, "{text:?}");
        };
        check("", &[]);
        check(" \n ", &[]);
        check("a few words", &["a few words"]);
        check(" a few\nwords,  and more ", &["a few", "words,", "and more"]);
        check("une \u{a0}\u{e9}t\u{e9} \n", &["une", "\u{e9}t\u{e9}"]);
    }
}
