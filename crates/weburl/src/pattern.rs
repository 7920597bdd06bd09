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
}

impl Pattern {
    /// Reads a pattern. Surrounding white space does not belong to it.
    ///
    /// # Errors
    /// An empty or overlong text.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let text = text.trim();
        match text.len() {
            0 => Err(PatternError::Empty),
            length if length > PATTERN_BYTES_MAX => Err(PatternError::TooLong),
            _ => Ok(Pattern { text: text.to_owned() }),
        }
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
    use super::Pattern;

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
    fn a_pattern_of_many_stars_does_not_blow_up() {
        let pattern = Pattern::new(&"*a".repeat(60)).expect("a pattern");
        assert!(!pattern.matches(&format!("{}b", "a".repeat(2000))));
    }
}
