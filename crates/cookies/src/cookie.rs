//! A cookie as it is kept (RFC 6265bis §5.7).

use std::fmt;

use model::Timestamp;
use serde::{Deserialize, Serialize};
use weburl::CanonicalUrl;

/// Which requests of other sites a server wants a cookie to go with. A crawler sends none of those, so it only decides whether a cookie is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SameSite {
    /// Not given, or not known.
    #[default]
    Unset,
    /// `None`; such a cookie must be `Secure`.
    None,
    /// `Lax`
    Lax,
    /// `Strict`
    Strict,
}

/// A cookie, and which servers get it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cookie {
    /// The name; it may be empty.
    pub name: String,
    /// The value: a secret.
    pub value: String,
    /// A host in its canonical form, without a dot in front.
    pub domain: String,
    /// Hosts below the domain do not get it.
    pub host_only: bool,
    /// The path below which it is sent.
    pub path: String,
    /// It is sent over TLS only.
    pub secure: bool,
    /// Scripts do not see it.
    pub http_only: bool,
    /// Requests of other sites.
    pub same_site: SameSite,
    /// When it ends; `None` if it ends with the session, which for a crawl is the crawl.
    pub expires: Option<Timestamp>,
    /// When it was first set. Of cookies with equally long paths, the oldest comes first in a request.
    pub created: Timestamp,
}

impl Cookie {
    /// Whether its time is over.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Whether its server wants it to go with no request of another site.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.same_site == SameSite::Strict
    }

    /// Whether a request for this URL bears it (§5.8.3).
    #[must_use]
    pub fn is_for(&self, url: &CanonicalUrl) -> bool {
        self.domain_matches(url.host()) && path_matches(url.path(), &self.path) && (!self.secure || is_secure(url))
    }

    /// Domain matching (§5.1.3), or equality if it is for one host.
    fn domain_matches(&self, host: &str) -> bool {
        host == self.domain || !self.host_only && is_below(host, &self.domain)
    }

    /// Whether it is the same cookie with another value (§5.7, step 23).
    pub(crate) fn replaces(&self, other: &Cookie) -> bool {
        self.name == other.name
            && self.domain == other.domain
            && self.host_only == other.host_only
            && self.path == other.path
    }

    /// What it takes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Cookie>() + self.name.len() + self.value.len() + self.domain.len() + self.path.len()
    }
}

/// Without the value.
impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=***; Domain={}; Path={}", self.name, self.domain, self.path)
    }
}

/// Whether a host is below a domain. Hosts that are addresses have nothing below them, and a public suffix is never the domain of a cookie
/// that is for more than one host.
pub(crate) fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether what goes to this URL is encrypted on its way.
pub(crate) fn is_secure(url: &CanonicalUrl) -> bool {
    url.site().is_https()
}

/// Path matching (§5.1.4).
pub(crate) fn path_matches(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

/// The path of a cookie that names none (§5.1.4).
pub(crate) fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(last) => &path[..last],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_covers_what_is_below_it() {
        for (path, of_cookie, expect) in [
            ("/a", "/", true),
            ("/a", "/a", true),
            ("/a/", "/a", true),
            ("/a/b", "/a/", true),
            ("/ab", "/a", false),
            ("/", "/a", false),
            ("/a", "/a/", false),
        ] {
            assert_eq!(path_matches(path, of_cookie), expect, "{path} {of_cookie}");
        }
        for (path, expect) in [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("", "/")] {
            assert_eq!(default_path(path), expect, "{path}");
        }
    }

    #[test]
    fn a_domain_covers_the_hosts_below_it() {
        for (host, domain, expect) in [
            ("a.example.com", "example.com", true),
            ("example.com", "example.com", false),
            ("badexample.com", "example.com", false),
            ("com", "example.com", false),
        ] {
            assert_eq!(is_below(host, domain), expect, "{host} {domain}");
        }
    }
}
