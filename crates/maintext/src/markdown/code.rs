//! Code between fences (CommonMark §4.5), with its language where the page names it.

use std::borrow::Cow;

use extract::html::dom::{Document, Id, Tag};

use super::inline::longest_run;

/// Elements around a `pre` that may name its language.
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
