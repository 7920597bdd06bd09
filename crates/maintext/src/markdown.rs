//! Markdown: CommonMark, with the tables and footnotes that GitHub gave it.

mod blocks;
pub(crate) mod code;
mod inline;
pub(crate) mod math;
mod notes;
pub(crate) mod table;

use extract::html::dom::Document;
use url::Url;

use self::inline::{Inline, Renderer, paragraph};
use self::notes::Notes;
use crate::kept::Kept;

/// What is kept of a page as Markdown. References are resolved against `base`.
pub(crate) fn of(tree: &Document<'_>, kept: &Kept, base: Option<Url>) -> String {
    Renderer { tree, kept, base, notes: Notes::find(tree, kept) }.render()
}

/// Text without markup as Markdown: an empty line ends a paragraph, and so does every line unless a paragraph `goes_on` over lines.
#[must_use]
pub fn of_text(text: &str, goes_on: bool) -> String {
    let mut markdown = String::new();
    let mut separator = "";
    for line in text.lines() {
        let mut inline = Inline::default();
        inline.text(line);
        let line = inline.finish();
        if line.is_empty() {
            separator = if markdown.is_empty() { "" } else { "\n\n" };
            continue;
        }
        markdown.push_str(separator);
        markdown.push_str(&paragraph(&line));
        separator = if goes_on { "\n" } else { "\n\n" };
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        for (text, goes_on, expect) in [
            ("\n\none\ntwo\n\n\nthree\n", true, "one\ntwo\n\nthree"),
            ("one\ntwo\n\nthree", false, "one\n\ntwo\n\nthree"),
            ("# a\n> b\n- c\n1. d", true, "\\# a\n\\> b\n\\- c\n1\\. d"),
            ("a *b* [c](d) <e> _f_ g_h", true, "a \\*b\\* \\[c\\](d) \\<e> \\_f\\_ g_h"),
            ("  a   b \u{1} ", true, "a b"),
            ("", true, ""),
        ] {
            assert_eq!(of_text(text, goes_on), expect, "{text:?}");
        }
    }
}
