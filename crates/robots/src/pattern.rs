//! The pattern of a rule: a prefix with `*` for any octets and `$` for the end (RFC 9309 §2.2.3).
//!
//! Matching is greedy: each piece between two `*` is looked for once, leftmost, behind the piece
//! before it. There is no backtracking, since a later place for a piece never helps the next one.
//! With a linear substring search the time is linear in path and pattern, whatever the pattern.

use crate::normal_form::NormalForm;

/// `*` as a wildcard. A control character is never part of a normal form.
const ANY: u8 = 0x01;
/// `$` as the end of the path.
const END: u8 = 0x02;

/// The pattern in normal form, with its special characters marked.
pub(crate) fn compile(written: &[u8]) -> String {
    let mut form = NormalForm::with_capacity(written.len());
    let mut rest = written;
    loop {
        rest = match rest {
            [b'*', after @ ..] => {
                form.text.push(char::from(ANY));
                after
            }
            [b'$'] => {
                form.text.push(char::from(END));
                &[]
            }
            _ => match form.push_next(rest) {
                Some(after) => after,
                None => return form.text,
            },
        };
    }
}

/// Whether `pattern` matches `path` from its first octet, special characters in force.
pub(crate) fn matches(pattern: &[u8], path: &[u8]) -> bool {
    matches_with(pattern, path, memchr::memmem::find)
}

/// Whether `path` begins with `pattern`, special characters standing for themselves.
pub(crate) fn is_prefix(pattern: &[u8], path: &[u8]) -> bool {
    let plain = |octet| match octet {
        ANY => b'*',
        END => b'$',
        _ => octet,
    };
    path.len() >= pattern.len() && pattern.iter().zip(path).all(|(&p, &octet)| plain(p) == octet)
}

/// `find` gives the first place of its second argument in its first.
fn matches_with(pattern: &[u8], path: &[u8], mut find: impl FnMut(&[u8], &[u8]) -> Option<usize>) -> bool {
    let (pattern, to_the_end) = match pattern {
        [head @ .., END] => (head, true),
        _ => (pattern, false),
    };
    let Some(first_any) = memchr::memchr(ANY, pattern) else {
        return if to_the_end { path == pattern } else { path.starts_with(pattern) };
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..first_any]) else {
        return false;
    };
    let mut pieces = &pattern[first_any + 1..];
    while let Some(any) = memchr::memchr(ANY, pieces) {
        match find(rest, &pieces[..any]) {
            Some(at) => rest = &rest[at + any..],
            None => return false,
        }
        pieces = &pieces[any + 1..];
    }
    if to_the_end { rest.ends_with(pieces) } else { find(rest, pieces).is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, expect: bool) {
        let compiled = compile(pattern.as_bytes());
        assert_eq!(matches(compiled.as_bytes(), path.as_bytes()), expect, "{pattern:?} on {path:?}");
    }

    #[test]
    fn special_characters() {
        check("/*", "/", true);
        check("*", "/", true);
        check("/a*$", "/abc", true);
        check("/a**c", "/abc", true);
        check("/*a*b$", "/xaxb", true);
        check("/*ab*ab$", "/xab", false);
        check("/*ab$", "/xabab", true);
        check("$", "/", false);
        check("/$", "/", true);
        check("/$", "/a", false);
        check("/a$b", "/a$b", true);
        check("/a$b", "/a", false);
        check("/a$$", "/a$", true);
        check("/%2A", "/*", true);
        check("/%2A", "/a", false);
        check("/a%24", "/a$b", true);
        check("/a%24", "/a", false);
        check("a", "/a", false);
    }

    #[test]
    fn a_prefix_takes_special_characters_literally() {
        let check = |pattern: &str, path: &str, expect| {
            assert_eq!(
                is_prefix(compile(pattern.as_bytes()).as_bytes(), path.as_bytes()),
                expect,
                "{pattern:?} on {path:?}"
            );
        };
        check("/a", "/abc", true);
        check("/a*c", "/abc", false);
        check("/a*c", "/a*cd", true);
        check("/a$", "/a", false);
        check("/a$", "/a$b", true);
        check("/abc", "/ab", false);
    }

    /// Octets that a search has to look at: those before the end of the find, or all of them.
    fn octets_searched(pattern: &str, path: &str) -> usize {
        let mut searched = 0;
        let compiled = compile(pattern.as_bytes());
        matches_with(compiled.as_bytes(), path.as_bytes(), |haystack, needle| {
            let found = memchr::memmem::find(haystack, needle);
            searched += needle.len() + found.map_or(haystack.len(), |at| at + needle.len());
            found
        });
        searched
    }

    #[test]
    fn a_pattern_full_of_wildcards_searches_each_octet_once() {
        let path = format!("/{}", "a".repeat(2_000));
        for pattern in [
            format!("/{}b", "*a".repeat(60)),
            format!("/{}b$", "*a".repeat(60)),
            format!("/{}b", "*aa".repeat(900)),
            format!("/{}", "*".repeat(100_000)),
            format!("/*{}b", "a".repeat(1_500)),
        ] {
            let searched = octets_searched(&pattern, &path);
            assert!(searched <= path.len() + 2 * pattern.len(), "{searched} octets for {pattern:.20}");
        }
    }
}
