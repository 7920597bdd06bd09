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

/// The text of a `pre` as a browser copies it, without the numbers of its lines, the line end that it begins with and the space that it ends
/// with.
pub(crate) fn text_of(tree: &Document<'_>, pre: Id) -> String {
    let mut text = String::new();
    let mut id = pre + 1;
    while id < tree.end(pre) {
        match tree.tag(id) {
            None => text.push_str(&tree.text(id)),
            Some(Tag::Br) => text.push('\n'),
            Some(Tag::Span | Tag::A) if is_line_number(tree, id) => id = tree.end(id) - 1,
            Some(_) => {}
        }
        id += 1;
    }
    text.strip_prefix('\n').unwrap_or(&text).trim_end().to_owned()
}

/// Whether an element in code is the number of a line, as its name says.
fn is_line_number(tree: &Document<'_>, id: Id) -> bool {
    const NAMES: [&str; 8] = ["linenos", "lineno", "ln", "lnt", "line-number", "linenumber", "line-no", "LineNr"];
    // A number is all that it holds.
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    tree.end(id) == id + 2
        && tree.tag(id + 1).is_none()
        && is_number(tree.text(id + 1).trim())
        && NAMES.iter().any(|name| tree.has_word(id, "class", name))
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
    let text = tree.whole_text(id);
    is_beside_code && !text.trim().is_empty() && text.split_whitespace().enumerate().all(is_number)
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
        let is_code = matches!(tree.tag(id), Some(Tag::Pre | Tag::Code));
        let of_class = of_classes(&class, is_code).map(str::to_owned);
        of_class.into_iter().chain(data).find(|name| is_name(name))
    };
    child.into_iter().chain(around).find_map(named)
}

/// The language that classes name. Those of code itself may be its bare name.
fn of_classes(classes: &str, is_code: bool) -> Option<&str> {
    const PREFIXES: [&str; 6] = ["language-", "lang-", "highlight-source-", "highlight-", "brush:", "sourceCode-"];
    /// The same of code itself: around it, such a class names a file.
    const PREFIX_OF_CODE: &str = "src-";
    /// The next class is the name.
    const MARKS: [&str; 2] = ["sourceCode", "brush:"];
    const NONE: [&str; 11] = [
        "default",
        "none",
        "plain",
        "text",
        "plaintext",
        "highlight",
        "wrapper",
        "notranslate",
        "nohighlight",
        "numberSource",
        "numberLines",
    ];
    const BARE: [&str; 24] = [
        "bash",
        "c",
        "clojure",
        "cpp",
        "csharp",
        "css",
        "elixir",
        "erlang",
        "go",
        "haskell",
        "html",
        "java",
        "javascript",
        "json",
        "kotlin",
        "lua",
        "perl",
        "php",
        "python",
        "ruby",
        "rust",
        "scala",
        "sql",
        "xml",
    ];
    let classes = || classes.split_ascii_whitespace();
    let is_named = |name: &&str| !name.is_empty() && !NONE.contains(name);
    let by_prefix = classes()
        .filter_map(|class| {
            let of_code = class.strip_prefix(PREFIX_OF_CODE).filter(|_| is_code);
            of_code.or_else(|| PREFIXES.iter().find_map(|prefix| class.strip_prefix(prefix)))
        })
        .map(|name| name.trim_end_matches(';'))
        .find(is_named);
    let behind_mark = || {
        let pairs = classes().zip(classes().skip(1)).filter(|(mark, _)| MARKS.contains(mark));
        pairs.map(|(_, name)| name.trim_end_matches(';')).find(is_named)
    };
    by_prefix.or_else(behind_mark).or_else(|| classes().find(|class| is_code && BARE.contains(class)))
}

fn is_name(name: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte);
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_of_name)
}
