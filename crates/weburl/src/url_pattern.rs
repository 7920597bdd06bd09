//! Wildcard patterns for what a page must not talk its way into: who gets a secret.

use std::fmt;

use crate::{CanonicalUrl, Pattern, PatternError};

/// A pattern over the canonical text of a URL, as [`Pattern`], but part by part: scheme, host with port, path with query. A `*` never
/// reaches from one part into the next, so that `https://*.a.test/*` does not match `https://evil.test/x.a.test/`. Without a path it
/// is about the whole site, and `*` alone matches every URL.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlPattern {
    text: String,
    scheme: Pattern,
    authority: Pattern,
    path: Pattern,
}

/// Why a text is no [`UrlPattern`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlPatternError {
    /// It is no pattern at all.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// It does not begin with a scheme that a URL can have.
    #[error("the pattern does not begin with http://, https:// or http*://")]
    Scheme,
    /// There is no host, or one that no canonical URL has.
    #[error("the pattern's host is not that of a URL: lower-case ASCII (xn--…), without a user name")]
    Host,
}

impl UrlPattern {
    /// Reads a pattern. Surrounding white space does not belong to it.
    ///
    /// # Errors
    /// An empty or overlong text, or one that is not of the form `SCHEME://HOST[:PORT][/PATH]`.
    pub fn new(text: &str) -> Result<Self, UrlPatternError> {
        let text = Pattern::new(text)?.as_str().to_owned();
        let every = || Pattern::part("*");
        if text == "*" {
            return Ok(UrlPattern { text, scheme: every(), authority: every(), path: every() });
        }
        let (scheme, rest) = text.split_once("://").ok_or(UrlPatternError::Scheme)?;
        let scheme = Pattern::part(&scheme.to_ascii_lowercase());
        if !scheme.matches("http") && !scheme.matches("https") {
            return Err(UrlPatternError::Scheme);
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let default_port = match (scheme.matches("http"), scheme.matches("https")) {
            (true, false) => ":80",
            (false, true) => ":443",
            _ => "",
        };
        let authority = authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
        if authority.is_empty() || !authority.is_ascii() || authority.contains(['@', '\\', '%']) {
            return Err(UrlPatternError::Host);
        }
        let path = if path.is_empty() { every() } else { Pattern::part(path) };
        Ok(UrlPattern { scheme, authority: Pattern::part(&authority), path, text })
    }

    /// True if each part of `url` matches.
    #[must_use]
    pub fn matches(&self, url: &CanonicalUrl) -> bool {
        let Some((scheme, authority)) = url.site_text().split_once("://") else { return false };
        self.scheme.matches(scheme) && self.authority.matches(authority) && self.path.matches(url.path_and_query())
    }

    /// The pattern as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CanonicalRules;

    #[test]
    fn each_part_matches_by_itself() {
        for (pattern, url, expect) in [
            ("https://api.a.test/*", "https://api.a.test/x?y", true),
            ("https://api.a.test", "https://api.a.test/x?y", true),
            ("https://api.a.test/", "https://api.a.test/x", false),
            ("https://api.a.test/*", "http://api.a.test/x", false),
            ("http*://api.a.test/*", "http://api.a.test/x", true),
            ("HTTPS://API.A.test/*", "https://api.a.test/x", true),
            ("https://api.a.test:443/*", "https://api.a.test/x", true),
            ("https://api.a.test/*", "https://api.a.test:8443/x", false),
            ("https://api.a.test:*/*", "https://api.a.test:8443/x", true),
            ("https://*.a.test/*", "https://www.a.test/", true),
            ("https://*.a.test/*", "https://evil.test/x.a.test/", false),
            ("https://*.a.test/*", "https://evil.test/?u=https://www.a.test/", false),
            ("https://*a.test", "https://evil.test:1/a.test", false),
            ("http*://a.test/*", "https://evil.test/://a.test/", false),
            ("*", "http://any.test/x", true),
        ] {
            let parsed = CanonicalUrl::parse(url, &CanonicalRules::default()).expect(url);
            assert_eq!(UrlPattern::new(pattern).expect(pattern).matches(&parsed), expect, "{pattern} {url}");
        }
    }

    #[test]
    fn what_could_match_by_accident_is_refused() {
        for (pattern, expect) in [
            ("", UrlPatternError::Pattern(PatternError::Empty)),
            ("*.a.test/*", UrlPatternError::Scheme),
            ("a.test", UrlPatternError::Scheme),
            ("ftp://a.test/*", UrlPatternError::Scheme),
            ("://a.test", UrlPatternError::Scheme),
            ("https:///x", UrlPatternError::Host),
            ("https://ana:secret@a.test/*", UrlPatternError::Pattern(PatternError::UserInfo)),
            ("https://*@a.test/*", UrlPatternError::Host),
            ("https://süd.test/*", UrlPatternError::Host),
        ] {
            assert_eq!(UrlPattern::new(pattern), Err(expect), "{pattern}");
        }
    }
}
