//! Code between fences (CommonMark §4.5), with its language where the page names it.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};

use super::inline::longest_run;

/// Elements around a `pre` that may name its language, or be its cell.
const AROUND_MAX: usize = 3;

/// Bytes of the longest name of a language.
const NAME_BYTES_MAX: usize = 24;

pub(super) fn fenced(tree: &Document<'_>, id: Id) -> String {
    let text = text_of(tree, id);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let language = language(tree, id).unwrap_or_default();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// The text of a `pre` as a browser copies it, without the line end that it begins with and the space that it ends with.
pub(crate) fn text_of(tree: &Document<'_>, id: Id) -> String {
    let text = tree.whole_text(id);
    text.strip_prefix('\n').unwrap_or(&text).trim_end().to_owned()
}

/// Whether it is no code, but the numbers of the lines of that in a cell of the same row.
pub(crate) fn is_numbering(tree: &Document<'_>, id: Id) -> bool {
    /// Cells of a row that are looked at.
    const CELLS_MAX: usize = 4;
    /// Nodes of a cell that are looked at: code in it stands at its begin.
    const NODES_MAX: usize = 16;
    let is_code = |id: Id| tree.tag(id) == Some(Tag::Pre);
    let Some(cell) = cell_around(tree, id) else { return false };
    let cells = tree.children(tree.parent(cell)).filter(|id| tree.tag(*id).is_some()).take(CELLS_MAX);
    let is_beside_code =
        cells.filter(|other| *other != cell).any(|other| tree.subtree(other).take(NODES_MAX).any(is_code));
    let is_number = |(at, text): (usize, &str)| text.parse::<usize>().is_ok_and(|number| number > at);
    let text = text_of(tree, id);
    is_beside_code && !text.is_empty() && text.split_whitespace().enumerate().all(is_number)
}

/// The cell that a `pre` stands in, if it is near.
fn cell_around(tree: &Document<'_>, id: Id) -> Option<Id> {
    let around = std::iter::successors(Some(id), |id| Some(tree.parent(*id)));
    around.take(AROUND_MAX + 1).find(|id| matches!(tree.tag(*id), Some(Tag::Td | Tag::Th)))
}

fn language(tree: &Document<'_>, id: Id) -> Option<String> {
    let child = tree.children(id).find(|child| tree.tag(*child) == Some(Tag::Code));
    let around = std::iter::successors(Some(id), |id| Some(tree.parent(*id))).take(AROUND_MAX);
    let named = |id: Id| {
        let data = ["data-lang", "data-language", "lang"].into_iter();
        let data = data.filter(|name| *name != "lang" || tree.tag(id) == Some(Tag::Pre));
        let data = data.filter_map(move |name| tree.attribute(id, name)).map(Cow::into_owned);
        let class = tree.attribute(id, "class").unwrap_or_default();
        let of_class = class.split_ascii_whitespace().find_map(of_class).map(str::to_owned);
        of_class.into_iter().chain(data).find(|name| is_name(name))
    };
    child.into_iter().chain(around).find_map(named)
}

/// The language that a class names.
fn of_class(class: &str) -> Option<&str> {
    const PREFIXES: [&str; 6] = ["language-", "lang-", "highlight-source-", "highlight-", "brush:", "sourceCode-"];
    const NONE: [&str; 8] =
        ["default", "none", "text", "plaintext", "highlight", "wrapper", "notranslate", "nohighlight"];
    let name = PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix))?;
    Some(name).filter(|name| !NONE.contains(name))
}

fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte);
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_of_name)
}
