//! The pattern of a rule: a prefix with `*` for any octets and `$` for the end (RFC 9309 §2.2.3).
//!
//! Matching is greedy: each piece between two `*` is looked for once, leftmost, behind the piece
//! before it. There is no backtracking, since a later place for a piece never helps the next one.
//! With a linear substring search the time is linear in the path, whatever the pattern.

use memchr::{memchr, memmem, memrchr};

use crate::normal_form::NormalForm;
use crate::steps::{Steps, StepsExceeded};

/// `*` as a wildcard. A control character is never part of a normal form.
pub(crate) const ANY: u8 = 0x01;
/// `$` as the end of the path.
pub(crate) const END: u8 = 0x02;

/// Writes the pattern in normal form, with its special characters marked, behind `text`.
pub(crate) fn compile(written: &[u8], text: &mut Vec<u8>) {
    let mut form = NormalForm::new(text);
    let mut rest = written;
    loop {
        rest = match rest {
            [b'*', after @ ..] => {
                form.text.push(ANY);
                after
            }
            [b'$'] => {
                form.text.push(END);
                &[]
            }
            _ => match form.push_next(rest) {
                Some(after) => after,
                None => return,
            },
        };
    }
}

/// An octet of a pattern as it is written, special characters standing for themselves.
#[inline]
pub(crate) fn plain(octet: u8) -> u8 {
    match octet {
        ANY => b'*',
        END => b'$',
        _ => octet,
    }
}

/// Whether an octet of a pattern is a special character.
#[inline]
pub(crate) fn is_special(octet: u8) -> bool {
    octet <= END
}

/// What it takes to find out whether a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It matches nothing: a path begins with `/`.
    Never,
    /// The path begins with the pattern's literal, or is that literal. Special characters are at the end only.
    Literal,
    /// There are octets behind a `*`.
    Pieces,
}

pub(crate) fn shape(pattern: &[u8]) -> Shape {
    if !matches!(pattern, [b'/' | ANY, ..]) {
        return Shape::Never;
    }
    let specials = &pattern[literal(pattern).len()..];
    let anys = specials.strip_suffix(&[END]).unwrap_or(specials);
    if anys.iter().all(|octet| *octet == ANY) { Shape::Literal } else { Shape::Pieces }
}

/// The pattern up to its first special character.
pub(crate) fn literal(pattern: &[u8]) -> &[u8] {
    memchr::memchr2(ANY, END, pattern).map_or(pattern, |at| &pattern[..at])
}

/// Whether a pattern whose literal the path begins with matches, its shape being [`Shape::Literal`].
pub(crate) fn literal_matches(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [.., ANY, END] => true,
        [literal @ .., END] => literal.len() == path.len(),
        _ => true,
    }
}

/// Whether `pattern` matches `path` from its first octet, special characters in force.
pub(crate) fn matches(pattern: &[u8], path: &[u8], steps: &mut Steps) -> Result<bool, StepsExceeded> {
    steps.take(STEPS_A_PATTERN + pattern.len().min(path.len()) / 32)?;
    let (pattern, to_the_end) = match pattern {
        [head @ .., END] => (head, true),
        _ => (pattern, false),
    };
    let Some(first_any) = next_any(pattern, path) else {
        return Ok(if to_the_end { path == pattern } else { path.starts_with(pattern) });
    };
    let Some(mut rest) = path.strip_prefix(&pattern[..first_any]) else {
        return Ok(false);
    };
    if to_the_end && !ends_like(rest, pattern) {
        return Ok(false);
    }
    let mut pieces = behind_anys(&pattern[first_any..], steps)?;
    while let Some(any) = next_any(pieces, rest) {
        match find(rest, &pieces[..any], steps)? {
            Some(at) => rest = &rest[at + any..],
            None => return Ok(false),
        }
        pieces = behind_anys(&pieces[any..], steps)?;
    }
    if to_the_end { Ok(rest.ends_with(pieces)) } else { Ok(find(rest, pieces, steps)?.is_some()) }
}

/// Whether `path` begins with `pattern`, special characters standing for themselves.
pub(crate) fn is_prefix(pattern: &[u8], path: &[u8]) -> bool {
    path.len() >= pattern.len() && octets_in_common(pattern, path, plain) == pattern.len()
}

/// How many octets both begin with, those of the pattern as `read` reads them.
#[inline]
pub(crate) fn octets_in_common(pattern: &[u8], path: &[u8], read: impl Fn(u8) -> u8) -> usize {
    let chunks = pattern.as_chunks::<16>().0.iter().zip(path.as_chunks::<16>().0);
    let octets = 16 * chunks.take_while(|(pattern, path)| pattern.map(&read) == **path).count();
    let rest = pattern[octets..].iter().zip(&path[octets..]);
    octets + rest.take_while(|(pattern, path)| read(**pattern) == **path).count()
}

/// What a rule costs that is considered.
const STEPS_A_PATTERN: usize = 6;

/// What a search costs, without the octets it looks at.
const STEPS_A_SEARCH: usize = 4;

/// What a search for several octets costs besides for each of them: it is prepared from them.
const STEPS_AN_OCTET_SOUGHT: usize = 4;

/// Where the next `*` of `pattern` is. One that lies too far behind to matter is not looked for: no piece of it is longer than the path.
fn next_any(pattern: &[u8], path: &[u8]) -> Option<usize> {
    let window = pattern.len().min(path.len() + 1);
    first_octet(ANY, &pattern[..window])
}

/// The first place of `octet`, which is often one of the first.
fn first_octet(octet: u8, octets: &[u8]) -> Option<usize> {
    let (near, far) = octets.split_at(octets.len().min(4));
    near.iter().position(|it| *it == octet).or_else(|| memchr(octet, far).map(|at| near.len() + at))
}

/// Whether the path ends with the last piece. The search for where that begins goes no further than the path is long.
fn ends_like(path: &[u8], pattern: &[u8]) -> bool {
    let window = &pattern[pattern.len() - pattern.len().min(path.len() + 1)..];
    memrchr(ANY, window).is_some_and(|any| path.ends_with(&window[any + 1..]))
}

/// What stands behind the `*`s at the beginning.
fn behind_anys<'p>(pattern: &'p [u8], steps: &mut Steps) -> Result<&'p [u8], StepsExceeded> {
    let mut rest = pattern;
    if let [ANY, next, ..] = pattern
        && *next != ANY
    {
        return Ok(&pattern[1..]);
    }
    while let Some(after) = rest.strip_prefix(&[ANY; 64]) {
        steps.take(1)?;
        rest = after;
    }
    let anys = rest.iter().take_while(|octet| **octet == ANY).count();
    Ok(&rest[anys..])
}

/// The first place of `piece` in `path`.
fn find(path: &[u8], piece: &[u8], steps: &mut Steps) -> Result<Option<usize>, StepsExceeded> {
    if piece.len() > path.len() {
        return Ok(None);
    }
    steps.take(STEPS_A_SEARCH)?;
    let found = match piece {
        [] => Some(0),
        [octet] => first_octet(*octet, path),
        _ => {
            steps.take(STEPS_AN_OCTET_SOUGHT * piece.len())?;
            memmem::find(path, piece)
        }
    };
    steps.take(found.unwrap_or(path.len()) / 8)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(pattern: &str) -> Vec<u8> {
        let mut text = Vec::new();
        compile(pattern.as_bytes(), &mut text);
        text
    }

    fn check(pattern: &str, path: &str, expect: bool) {
        let compiled = compiled(pattern);
        assert_eq!(matches(&compiled, path.as_bytes(), &mut Steps::new()), Ok(expect), "{pattern:?} on {path:?}");
        match shape(&compiled) {
            Shape::Never => assert!(!expect, "{pattern:?} never matches"),
            Shape::Literal => {
                let begins = path.as_bytes().starts_with(literal(&compiled));
                assert_eq!(begins && literal_matches(&compiled, path.as_bytes()), expect, "{pattern:?} on {path:?}");
            }
            Shape::Pieces => {}
        }
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
            assert_eq!(is_prefix(&compiled(pattern), path.as_bytes()), expect, "{pattern:?} on {path:?}");
        };
        check("/a", "/abc", true);
        check("/a*c", "/abc", false);
        check("/a*c", "/a*cd", true);
        check("/a$", "/a", false);
        check("/a$", "/a$b", true);
        check("/abc", "/ab", false);
    }

    #[test]
    fn shapes() {
        let check = |pattern: &str, expect| assert_eq!(shape(&compiled(pattern)), expect, "{pattern:?}");
        for pattern in ["a", "$", "", "%2Fa", "$*", "a*"] {
            check(pattern, Shape::Never);
        }
        for pattern in ["/", "/a", "/a$", "/a*", "/a**", "/a*$", "*", "**$", "/a$b", "/%2A"] {
            check(pattern, Shape::Literal);
        }
        for pattern in ["*a", "/*a", "/a*b$", "/**b*", "*/"] {
            check(pattern, Shape::Pieces);
        }
    }

    #[test]
    fn a_pattern_full_of_wildcards_takes_few_steps() {
        let path = format!("/{}", "a".repeat(2_000));
        for (pattern, steps_max) in [
            (format!("/{}b", "*a".repeat(60)), 1_000),
            (format!("/{}b$", "*a".repeat(60)), 100),
            (format!("/{}b", "*aa".repeat(900)), 16_000),
            (format!("/{}c", "*".repeat(400_000)), 7_000),
            (format!("/{}a", "*".repeat(400_000)), 7_000),
            (format!("/*{}b", "a".repeat(1_500)), 7_000),
            (format!("/*{}b", "a".repeat(400_000)), 100),
            (format!("/*a*{}", "a".repeat(400_000)), 100),
            (format!("{}*a", "/".repeat(400_000)), 100),
            (format!("/*{}$", "a".repeat(400_000)), 100),
            ("*a".repeat(200_000), 15_000),
        ] {
            let mut steps = Steps::new();
            matches(&compiled(&pattern), path.as_bytes(), &mut steps).expect("fewer than a decision may take");
            assert!(steps.taken() <= steps_max, "{} steps for {pattern:.20}", steps.taken());
        }
    }
}
