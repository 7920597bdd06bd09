//! Does a URL belong to the crawl? Scope, include and exclude patterns, and the rule that decided.

use std::fmt;

use weburl::{CanonicalUrl, Pattern, Scope};

/// The rules that decide which URLs to follow.
#[derive(Clone, Debug)]
pub struct Filter {
    /// The scope with its seeds.
    pub scope: Scope,
    /// If there are any, a URL must match one of them.
    pub include: Vec<Pattern>,
    /// A URL that matches one of them is never followed.
    pub exclude: Vec<Pattern>,
}

/// The rule by which a URL does not belong to the crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// It matches an exclude pattern.
    ByPattern(Pattern),
    /// It matches none of the include patterns.
    NotIncluded,
    /// It is out of scope.
    OutOfScope(String),
}

impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excluded::ByPattern(pattern) => write!(f, "exclude {pattern}"),
            Excluded::NotIncluded => f.write_str("matches no include pattern"),
            Excluded::OutOfScope(scope) => write!(f, "out of scope {scope}"),
        }
    }
}

impl Filter {
    /// Judges a found URL. For seeds use [`Filter::judge_seed`].
    ///
    /// # Errors
    /// The rule by which it does not belong to the crawl.
    pub fn judge(&self, url: &CanonicalUrl) -> Result<(), Excluded> {
        self.judge_seed(url)?;
        self.judge_scope(url)?;
        self.judge_includes(url)
    }

    /// Judges a queued URL by the patterns, which may have changed since it was found. `is_seed` says that it is a seed or the redirect
    /// target of one.
    ///
    /// # Errors
    /// The rule by which it no longer belongs to the crawl.
    pub fn judge_waiting(&self, url: &CanonicalUrl, is_seed: bool) -> Result<(), Excluded> {
        self.judge_excludes(url)?;
        if is_seed { Ok(()) } else { self.judge_includes(url) }
    }

    /// Judges a seed or the redirect target of one: only the exclude patterns count, and the scope if it is closed.
    ///
    /// # Errors
    /// The rule by which it does not belong to the crawl.
    pub fn judge_seed(&self, url: &CanonicalUrl) -> Result<(), Excluded> {
        self.judge_excludes(url)?;
        if self.scope.is_closed() { self.judge_scope(url) } else { Ok(()) }
    }

    /// True if the patterns admit a URL with this text. It need not be in scope.
    #[must_use]
    pub fn admits_text(&self, url: &str) -> bool {
        self.excluding(url).is_none() && self.includes(url)
    }

    /// The first exclude pattern that matches a URL with this text.
    #[must_use]
    pub fn excluding(&self, url: &str) -> Option<&Pattern> {
        self.exclude.iter().find(|pattern| pattern.matches(url))
    }

    fn includes(&self, url: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(url))
    }

    fn judge_excludes(&self, url: &CanonicalUrl) -> Result<(), Excluded> {
        self.excluding(url.as_str()).map_or(Ok(()), |pattern| Err(Excluded::ByPattern(pattern.clone())))
    }

    fn judge_includes(&self, url: &CanonicalUrl) -> Result<(), Excluded> {
        if self.includes(url.as_str()) { Ok(()) } else { Err(Excluded::NotIncluded) }
    }

    fn judge_scope(&self, url: &CanonicalUrl) -> Result<(), Excluded> {
        if self.scope.contains(url) { Ok(()) } else { Err(Excluded::OutOfScope(self.scope.kind().to_string())) }
    }
}

#[cfg(test)]
mod tests {
    use weburl::{CanonicalRules, ScopeKind};

    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    fn filter() -> Filter {
        let mut scope = Scope::new(ScopeKind::Host);
        scope.add_seed(&url("http://a.test/"));
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(text).expect("pattern")).collect();
        Filter { scope, include: patterns(&["*/docs/*", "*/"]), exclude: patterns(&["*.pdf", "http*://*cgi-bin/*"]) }
    }

    #[test]
    fn the_deciding_rule_is_named() {
        for (candidate, expect) in [
            ("http://a.test/docs/x", ""),
            ("http://a.test/", ""),
            ("http://a.test/docs/x.pdf", "exclude *.pdf"),
            ("https://a.test/cgi-bin/docs/x", "exclude http*://*cgi-bin/*"),
            ("http://a.test/other", "matches no include pattern"),
            ("http://b.test/docs/", "out of scope host"),
        ] {
            let reason = filter().judge(&url(candidate)).err().map(|rule| rule.to_string()).unwrap_or_default();
            assert_eq!(reason, expect, "{candidate}");
            let by_pattern = expect.starts_with("exclude ") || expect.contains("include pattern");
            assert_eq!(filter().admits_text(candidate), !by_pattern, "{candidate}");
        }
    }

    #[test]
    fn seeds_need_no_include_pattern_but_can_be_excluded() {
        assert!(filter().judge_seed(&url("http://z.test/other")).is_ok());
        assert!(filter().judge_seed(&url("http://z.test/x.pdf")).is_err());
    }

    #[test]
    fn a_closed_scope_holds_for_seeds_too() {
        let mut filter = filter();
        filter.scope.close();
        assert!(filter.judge_seed(&url("http://a.test/other")).is_ok());
        assert_eq!(filter.judge_seed(&url("http://z.test/other")), Err(Excluded::OutOfScope("host".to_owned())));
    }
}
