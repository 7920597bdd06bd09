//! Wildcard patterns over whole URLs, as in `http*://*cgi-bin/*` and `*.pdf`.

use std::fmt;

/// The longest pattern accepted, in bytes.
const PATTERN_BYTES_MAX: usize = 2048;

/// A pattern over the canonical text of a URL. `*` stands for any run of characters, also none; every other character
/// stands for itself. The whole URL must match.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
}

/// Why a text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern has no characters.
    #[error("the pattern is empty")]
    Empty,
    /// The pattern is longer than patterns may be.
    #[error("the pattern is longer than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
    /// It has a user name or password: no canonical URL has one, and patterns are written down.
    #[error("the pattern has a user name or password, and no URL has one: leave it out")]
    UserInfo,
}

impl Pattern {
    /// Reads a pattern. Surrounding white space does not belong to it.
    ///
    /// # Errors
    /// An empty or overlong text, or one with a user name or password in the place of its host.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        match text.len() {
            0 => Err(PatternError::Empty),
            length if length > PATTERN_BYTES_MAX => Err(PatternError::TooLong),
            _ if has_user_info(text) => Err(PatternError::UserInfo),
            _ => Ok(Pattern::part(text)),
        }
    }

    /// A pattern for a part of a URL, from a text that is short enough.
    pub(crate) fn part(text: &str) -> Self {
        Pattern { text: text.to_owned() }
    }

    /// True if the whole of `text` matches. Takes at most time proportional to the product of both lengths, and
    /// linear time on all but contrived input.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        glob(self.text.as_bytes(), text.as_bytes())
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

/// Whether the place of the host has a user name or password. A `*` reaches into the path, where an `@` may be: `http*://*/@someone`,
/// `http://*@someone`. What follows it up to the `@` is a password if it has a colon that begins no port.
fn has_user_info(pattern: &str) -> bool {
    let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*+-.:".contains(&byte));
    let rest = match pattern.split_once("//") {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        // It may begin anywhere in a URL.
        _ if pattern.starts_with(['*', '/']) => return false,
        _ => pattern,
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((before, _)) = authority.rsplit_once('@') else { return false };
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*');
    !before.contains('*') || before.split_once(':').is_some_and(|(_, behind)| !is_port(behind))
}

/// Greedy matching: only the last `*` ever needs to take one more byte, so nothing is tried twice without progress.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last_star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                last_star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match last_star {
                Some((star, taken)) => {
                    p = star + 1;
                    t = taken + 1;
                    last_star = Some((star, t));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{Pattern, PatternError};

    #[test]
    fn patterns_match_whole_urls() {
        for (pattern, url, expect) in [
            ("http*://*cgi-bin/*", "https://a.test/cgi-bin/x", true),
            ("http*://*cgi-bin/*", "https://a.test/cgi-bin", false),
            ("*.pdf", "http://a.test/x.pdf", true),
            ("*.pdf", "http://a.test/x.pdf?y", false),
            ("http://dangerous.com/*", "http://dangerous.com/", true),
            ("http://dangerous.com/*", "https://dangerous.com/", false),
            ("*", "", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("http://a.test/", "http://a.test/", true),
            ("http://a.test/?x", "http://a.test/ax", false),
        ] {
            assert_eq!(Pattern::new(pattern).expect(pattern).matches(url), expect, "{pattern} {url}");
        }
    }

    #[test]
    fn a_user_name_or_password_is_refused() {
        for (pattern, is_refused) in [
            ("http://ana:secret@h/p/1*", true),
            ("http*://ana:secret@h/*", true),
            ("*://ana@h/*", true),
            ("//ana:secret@h/*", true),
            ("ana:secret@h/*", true),
            ("http://ana:sec*@h/*", true),
            ("http://*:secret@*", true),
            ("https://@h/*", true),
            ("http://h/@someone*", false),
            ("http*://*/@someone", false),
            ("http://*@someone", false),
            ("http://h.test:*@someone", false),
            ("http://h/a//b@c", false),
            ("http://h?u=http://b@c", false),
            ("*@someone", false),
            ("*/a:b@c*", false),
            ("*u=//b@c", false),
        ] {
            let expect = if is_refused { Err(PatternError::UserInfo) } else { Ok(pattern) };
            assert_eq!(Pattern::new(pattern).as_ref().map(Pattern::as_str).map_err(Clone::clone), expect, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_does_not_blow_up() {
        let pattern = Pattern::new(&"*a".repeat(60)).expect("a pattern");
        assert!(!pattern.matches(&format!("{}b", "a".repeat(2000))));
    }
}
