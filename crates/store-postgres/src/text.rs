//! Text as PostgreSQL holds it. U+0000, which it refuses and robots.txt or a page may have, is written U+FFFF 0; U+FFFF, which
//! is no character, is doubled.

use std::borrow::Cow;

const MARK: char = '\u{ffff}';

/// What stands between the outlinks of a visit: a canonical URL has none.
const BETWEEN: char = '\n';

pub(crate) fn stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(MARK, "\u{ffff}\u{ffff}").replace('\0', "\u{ffff}0"))
}

/// The inverse of [`stored`].
pub(crate) fn restored(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut restored = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        restored.push(match (char, char == MARK) {
            (_, true) if chars.next() == Some('0') => '\0',
            (char, _) => char,
        });
    }
    restored
}

/// Outlinks as one text; `None` if there are none.
pub(crate) fn joined(outlinks: &[String]) -> Option<String> {
    let joined = || outlinks.join("\n");
    (!outlinks.is_empty()).then(|| stored(&joined()).into_owned())
}

/// The inverse of [`joined`].
pub(crate) fn split(outlinks: Option<String>) -> Vec<String> {
    outlinks.map(|text| restored(text).split(BETWEEN).map(str::to_owned).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_reads_back() {
        for text in ["", "a", "\0", "a\0b", "\u{ffff}", "\u{ffff}0", "\u{ffff}\0\u{ffff}\u{ffff}0"] {
            assert!(!stored(text).contains('\0'));
            assert_eq!(restored(stored(text).into_owned()), text, "{text:?}");
        }
        for links in [vec![], vec![""], vec!["http://a/", ""], vec!["http://a/", "http://b/\u{ffff}"]] {
            let links: Vec<String> = links.into_iter().map(str::to_owned).collect();
            assert_eq!(split(joined(&links)), links);
        }
    }
}
