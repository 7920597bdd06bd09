//! What an `href` value is before anyone resolves it: cleaned, and sorted by scheme.

use crate::blocks;
use std::borrow::Cow;

/// What a cleaned reference leads to, as far as its scheme tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// `http:`, `https:` or relative: a crawler can try it.
    Web,
    /// `mailto:`
    Mailto,
    /// `javascript:`
    Javascript,
    /// `tel:`
    Tel,
    /// `data:`
    Data,
    /// Any other scheme.
    Other,
}

/// Removes what the URL parser ignores: C0 controls and spaces at both ends, tabs and line breaks
/// anywhere (WHATWG URL, "basic URL parser", steps 1 to 3).
#[must_use]
pub fn clean(reference: &str) -> Cow<'_, str> {
    // As it is nearly everywhere.
    if blocks::position(reference.as_bytes(), |block| blocks::at_most(block, b' ')).is_none() {
        return Cow::Borrowed(reference);
    }
    let trimmed = reference.trim_matches(|c| c <= ' ');
    if trimmed.contains(['\t', '\n', '\r']) {
        Cow::Owned(trimmed.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(trimmed)
    }
}

/// [`clean`] and [`target`], of the cleaned reference, in one.
#[must_use]
pub fn read(reference: &str) -> (Cow<'_, str>, Target) {
    // As it is for most: nothing to be cleaned, and no scheme.
    let is_unusual = |block| blocks::at_most(block, b' ') | blocks::are(block, b':');
    if blocks::position(reference.as_bytes(), is_unusual).is_none() {
        return (Cow::Borrowed(reference), Target::Web);
    }
    let cleaned = clean(reference);
    let target = target(&cleaned);
    (cleaned, target)
}

/// Sorts a cleaned reference by its scheme. `localhost:80/x` has the scheme `localhost`, as in browsers.
#[must_use]
pub fn target(cleaned: &str) -> Target {
    let Some(scheme) = scheme(cleaned) else {
        return Target::Web;
    };
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    match () {
        () if is("http") || is("https") => Target::Web,
        () if is("mailto") => Target::Mailto,
        () if is("javascript") => Target::Javascript,
        () if is("tel") => Target::Tel,
        () if is("data") => Target::Data,
        () => Target::Other,
    }
}

/// Whether a cleaned reference is a whole http or https URL.
pub(crate) fn is_absolute(cleaned: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| cleaned.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// The scheme (RFC 3986, section 3.1), without its colon.
pub(crate) fn scheme(reference: &str) -> Option<&str> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let end = reference.bytes().position(|byte| !is_part(byte))?;
    let starts_well = reference.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_well && reference.as_bytes()[end] == b':').then(|| &reference[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cleaning_follows_the_url_parser() {
        for (reference, expect) in [
            ("", ""),
            ("  \n", ""),
            (" a b ", "a b"),
            ("\u{0}\u{1f} /x\t", "/x"),
            ("/a\n\tb\r/c", "/ab/c"),
            ("\u{a0}/x", "\u{a0}/x"),
        ] {
            assert_eq!(clean(reference), expect, "{reference:?}");
        }
    }

    #[test]
    fn targets_are_sorted_by_scheme() {
        for (reference, expect) in [
            ("", Target::Web),
            ("#top", Target::Web),
            ("a/b:c", Target::Web),
            ("?a:b", Target::Web),
            ("//host:80/", Target::Web),
            (":x", Target::Web),
            ("1a:b", Target::Web),
            ("HTTP://x", Target::Web),
            ("https:x", Target::Web),
            ("MailTo:a@b", Target::Mailto),
            ("javascript:void(0)", Target::Javascript),
            ("tel:+386", Target::Tel),
            ("data:,x", Target::Data),
            ("ftp://x/", Target::Other),
            ("localhost:80/x", Target::Other),
            ("about:blank", Target::Other),
        ] {
            assert_eq!(target(reference), expect, "{reference:?}");
        }
    }
}
