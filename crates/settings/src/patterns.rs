//! Wildcard patterns as users give them.

use weburl::{CanonicalUrl, Pattern, PatternError};

/// What is wrong with a pattern that can match no URL.
pub(crate) const MATCHES_NOTHING: &str =
    "matches no URL: a pattern is compared with the whole URL, `*` stands for any characters";

/// Why a text is no pattern.
pub(crate) enum NoPattern {
    Form(PatternError),
    MatchesNothing,
}

impl NoPattern {
    /// The reason, without the text.
    pub(crate) fn without_text(&self) -> String {
        match self {
            NoPattern::Form(error) => error.to_string(),
            NoPattern::MatchesNothing => MATCHES_NOTHING.to_owned(),
        }
    }
}

/// A pattern is compared with whole URLs: one without `*` that is no URL matches nothing.
pub(crate) fn pattern_of(text: &str) -> Result<Pattern, NoPattern> {
    let pattern = Pattern::new(text).map_err(NoPattern::Form)?;
    let is_url = || CanonicalUrl::from_canonical(pattern.as_str()).is_some();
    if pattern.as_str().contains('*') || is_url() { Ok(pattern) } else { Err(NoPattern::MatchesNothing) }
}
