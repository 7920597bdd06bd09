//! Which URLs belong to the crawl.

use std::collections::HashSet;

use crate::{CanonicalUrl, Pattern, PatternError, registrable_domain};

/// How far the crawl reaches from its seeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeKind {
    /// The sites (scheme, host and port) of the seeds.
    Site,
    /// The hosts of the seeds, by http and https and on any port.
    Host,
    /// The registrable domains of the seeds, with all their subdomains.
    Domain,
    /// What begins with a seed's URL up to its last `/`.
    Prefix,
    /// Every URL.
    Any,
    /// Hosts that end in this suffix, given as `.gov.si`: `gov.si` itself and what lies below it, never a substring.
    HostSuffix(String),
    /// URLs that match this wildcard pattern.
    Matching(Pattern),
}

impl ScopeKind {
    /// Reads `site`, `host`, `domain`, `prefix`, `any`, a host suffix such as `.gov.si`, or a wildcard pattern.
    ///
    /// # Errors
    /// What is none of the words, does not begin with a dot and has no `*` is read as a pattern; that fails as
    /// [`Pattern::new`] does.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Ok(match text.trim() {
            "site" => ScopeKind::Site,
            "host" => ScopeKind::Host,
            "domain" => ScopeKind::Domain,
            "prefix" => ScopeKind::Prefix,
            "any" => ScopeKind::Any,
            suffix if suffix.starts_with('.') && suffix.len() > 1 => ScopeKind::HostSuffix(suffix.to_ascii_lowercase()),
            pattern => ScopeKind::Matching(Pattern::new(pattern)?),
        })
    }
}

impl std::fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ScopeKind::Site => "site",
            ScopeKind::Host => "host",
            ScopeKind::Domain => "domain",
            ScopeKind::Prefix => "prefix",
            ScopeKind::Any => "any",
            ScopeKind::HostSuffix(suffix) => suffix,
            ScopeKind::Matching(pattern) => pattern.as_str(),
        })
    }
}

/// A scope with the seeds it is about. Seeds can be added while the crawl runs (a seed that redirects elsewhere).
#[derive(Debug, Clone)]
pub struct Scope {
    kind: ScopeKind,
    /// What the seeds contribute: sites, hosts, domains or URL prefixes, as the kind asks.
    anchors: HashSet<String>,
    /// Seeds no longer make it wider.
    closed: bool,
}

impl Scope {
    /// A scope without seeds: it contains nothing yet, unless the kind needs no seeds.
    #[must_use]
    pub fn new(kind: ScopeKind) -> Self {
        Scope { kind, anchors: HashSet::new(), closed: false }
    }

    /// The kind of scope.
    #[must_use]
    pub fn kind(&self) -> &ScopeKind {
        &self.kind
    }

    /// Leaves the scope as wide as it is: seeds added from now on do not make it wider.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// True if seeds do not make the scope wider any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Lets the scope reach as far as it does from this seed, unless it is closed. Tells whether that made it wider.
    pub fn add_seed(&mut self, seed: &CanonicalUrl) -> bool {
        if self.closed {
            return false;
        }
        let anchor = match &self.kind {
            ScopeKind::Site => seed.site().as_str().to_owned(),
            ScopeKind::Host => seed.host().to_owned(),
            ScopeKind::Domain => registrable_domain(seed.host()).to_owned(),
            ScopeKind::Prefix => directory(seed.as_str()).to_owned(),
            ScopeKind::Any | ScopeKind::HostSuffix(_) | ScopeKind::Matching(_) => return false,
        };
        self.anchors.insert(anchor)
    }

    /// True if `url` belongs to the crawl.
    #[must_use]
    pub fn contains(&self, url: &CanonicalUrl) -> bool {
        match &self.kind {
            ScopeKind::Any => true,
            ScopeKind::Site => self.anchors.contains(url.site().as_str()),
            ScopeKind::Host => self.anchors.contains(url.host()),
            ScopeKind::Domain => self.anchors.contains(registrable_domain(url.host())),
            ScopeKind::Prefix => self.contains_prefix_of(url.as_str()),
            ScopeKind::HostSuffix(suffix) => {
                url.host().strip_suffix(suffix.as_str()).is_some() || url.host() == &suffix[1..]
            }
            ScopeKind::Matching(pattern) => pattern.matches(url.as_str()),
        }
    }

    /// Looks up every directory above the URL, so that the cost does not grow with the number of seeds.
    fn contains_prefix_of(&self, url: &str) -> bool {
        let path = url.split('?').next().unwrap_or(url);
        path.match_indices('/').any(|(at, _)| self.anchors.contains(&path[..=at]))
    }
}

/// The URL up to the last `/` of its path.
fn directory(url: &str) -> &str {
    let path = url.split('?').next().unwrap_or(url);
    path.rfind('/').map_or(path, |at| &path[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CanonicalRules;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text, &CanonicalRules::default()).expect(text)
    }

    fn check(kind: &str, seed: &str, candidate: &str, expect: bool) {
        let mut scope = Scope::new(ScopeKind::parse(kind).expect(kind));
        scope.add_seed(&url(seed));
        assert_eq!(scope.contains(&url(candidate)), expect, "{kind} {seed} {candidate}");
    }

    #[test]
    fn scopes_by_seed() {
        for (kind, candidate, expect) in [
            ("site", "http://www.a.test/x", true),
            ("site", "https://www.a.test/x", false),
            ("site", "http://www.a.test:81/x", false),
            ("host", "https://www.a.test:81/x", true),
            ("host", "http://a.test/x", false),
            ("domain", "https://b.a.test/", true),
            ("domain", "https://ba.test/", false),
            ("prefix", "http://www.a.test/docs/y?z", true),
            ("prefix", "http://www.a.test/docs/deep/y", true),
            ("prefix", "http://www.a.test/docsy", false),
            ("prefix", "http://www.a.test/other?u=/docs/", false),
            ("any", "ftp.test", true),
        ] {
            let candidate = if candidate.contains(':') { candidate.to_owned() } else { format!("http://{candidate}/") };
            check(kind, "http://www.a.test/docs/index.html?x=/y", &candidate, expect);
        }
    }

    #[test]
    fn a_host_suffix_is_never_a_substring() {
        for (host, expect) in [
            ("gov.si", true),
            ("www.gov.si", true),
            ("a.b.gov.si", true),
            ("notgov.si", false),
            ("gov.si.example.com", false),
        ] {
            check(".gov.si", "http://x.test/", &format!("http://{host}/"), expect);
        }
    }

    #[test]
    fn a_closed_scope_does_not_grow() {
        let mut scope = Scope::new(ScopeKind::Host);
        assert!(scope.add_seed(&url("http://a.test/")));
        scope.close();
        assert!(!scope.add_seed(&url("http://b.test/")));
        assert!(scope.contains(&url("http://a.test/x")) && !scope.contains(&url("http://b.test/x")));
    }

    #[test]
    fn a_pattern_is_a_scope() {
        check("http*://*.test/wiki/*", "http://x.test/", "https://a.test/wiki/p", true);
        check("http*://*.test/wiki/*", "http://x.test/", "https://a.test/w", false);
    }
}
