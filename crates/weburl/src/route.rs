//! Hash routes: fragments that are pages of their own, made by an application in the page (`#/…`, `#!…`). The one place that decides
//! which fragments are.

use std::borrow::Cow;

use crate::percent;

/// Which fragments are pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HashRoutes {
    /// None.
    #[default]
    Never,
    /// Routes in URLs that are given, and in links of pages whose application has a router.
    Auto,
    /// All routes.
    Always,
}

/// The route in a fragment, in canonical form. `None` if the fragment is a part of the page, or the beginning of the application, which is
/// the page itself.
pub(crate) fn of(fragment: &str) -> Option<Cow<'_, str>> {
    let route = end_of(fragment);
    let is_beginning = matches!(route, "/" | "!" | "!/");
    (is_marked(route) && !is_beginning).then(|| percent::normalise(route))
}

fn is_marked(fragment: &str) -> bool {
    fragment.starts_with(['/', '!'])
}

/// A route without the part of its page that it leads to: a second fragment, or `?id=…`, as docsify writes it.
fn end_of(fragment: &str) -> &str {
    let route = fragment.split('#').next().unwrap_or_default();
    match route.split_once('?') {
        Some((page, query)) if query.starts_with("id=") && !query.contains('&') => page,
        _ => route,
    }
}

/// The part of a reference that tells its target: all in front of the fragment, and the fragment if it may be a route.
///
/// ```
/// assert_eq!(weburl::target_of("page#part"), "page");
/// assert_eq!(weburl::target_of("page#/route?id=part"), "page#/route");
/// ```
#[must_use]
pub fn target_of(reference: &str) -> &str {
    match split(reference) {
        None => reference,
        Some((front, fragment)) if is_marked(fragment) => &reference[..front.len() + 1 + end_of(fragment).len()],
        Some((front, _)) => front,
    }
}

/// What stands in front of the fragment, and the fragment. References are short: to look at one byte after the other is the fastest.
fn split(reference: &str) -> Option<(&str, &str)> {
    let at = reference.bytes().position(|byte| byte == b'#')?;
    Some((&reference[..at], &reference[at + 1..]))
}

/// Whether a reference may have a route.
pub(crate) fn has_mark(reference: &str) -> bool {
    split(reference).is_some_and(|(_, fragment)| is_marked(fragment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_that_looks_like_a_path_is_a_route() {
        for (fragment, expect) in [
            ("/guide", Some("/guide")),
            ("!/guide", Some("!/guide")),
            ("!guide", Some("!guide")),
            ("/guide/", Some("/guide/")),
            ("/find?q=x", Some("/find?q=x")),
            ("/find?id=x&q=y", Some("/find?id=x&q=y")),
            ("/guide?id=part", Some("/guide")),
            ("/guide#part", Some("/guide")),
            ("/%7euser", Some("/~user")),
            ("/", None),
            ("!", None),
            ("!/", None),
            ("/#part", None),
            ("/?id=part", None),
            ("part", None),
            ("", None),
        ] {
            let route = of(fragment);
            assert_eq!(route.as_deref(), expect, "{fragment}");
            if let Some(route) = route {
                assert_eq!(of(&route).as_deref(), expect, "again: {fragment}");
            }
        }
    }

    #[test]
    fn the_target_of_a_reference_has_no_parts_of_pages() {
        for (reference, expect) in
            [("", ""), ("a", "a"), ("a#b", "a"), ("a#/b#c", "a#/b"), ("#!b", "#!b"), ("#/b?id=c", "#/b"), ("#", "")]
        {
            assert_eq!(target_of(reference), expect, "{reference}");
        }
    }
}
