//! Sites as users name them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use weburl::{CanonicalRules, CanonicalUrl, Site, SiteKey};

use crate::units::Span;

/// A site: `example.org` is that host over http and over https, `example.org:8080` the same at a port, `https://example.org` one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SiteName {
    text: String,
    sites: Vec<Site>,
}

impl SiteName {
    /// The keys of the sites that it names: one or two.
    pub fn keys(&self) -> impl Iterator<Item = SiteKey> {
        self.sites.iter().map(Site::key)
    }

    /// True if it names this site too.
    #[must_use]
    pub fn names(&self, site: &Site) -> bool {
        self.sites.contains(site)
    }
}

impl FromStr for SiteName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = text.trim();
        let whole = whole.strip_suffix('/').unwrap_or(whole);
        let schemes: &[&str] = if whole.contains("://") { &[""] } else { &["http://", "https://"] };
        let site = |scheme: &&str| {
            let url = CanonicalUrl::parse(&format!("{scheme}{whole}/"), &CanonicalRules::default());
            let url = url.map_err(|error| format!("`{text}` is no site: {error}"))?;
            match url.path_and_query() {
                "/" if !whole.contains('@') => named(text, url.site()),
                _ => Err(format!("`{text}` is no site: give a host such as example.org, or https://example.org:8443")),
            }
        };
        let sites = schemes.iter().map(site).collect::<Result<_, _>>()?;
        Ok(SiteName { text: whole.to_ascii_lowercase(), sites })
    }
}

/// The site, if some server can have its name. The URL standard admits more (WHATWG URL, forbidden domain code points), such as patterns.
fn named(text: &str, site: Site) -> Result<Site, String> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let host = site.host();
    match host.chars().find(|c| !is_of_name(*c)).filter(|_| !host.starts_with('[')) {
        Some('*') => Err(format!(
            "`{text}` is a pattern, and sites are given by their names, such as example.org: patterns are for URLs (`*://*.example.org/*`)"
        )),
        Some(other) => Err(format!("`{text}` is no site: no host name has `{other}`")),
        None => Ok(site),
    }
}

impl TryFrom<String> for SiteName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SiteName> for String {
    fn from(name: SiteName) -> String {
        name.text
    }
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The delay between visits to a site: `example.org=5s`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SiteDelay {
    /// The site.
    pub site: SiteName,
    /// The delay.
    pub delay: Span,
}

impl FromStr for SiteDelay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (site, delay) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is not like example.org=5s"))?;
        let delay = delay.trim().parse().map_err(|error| format!("`{text}`: {error}"))?;
        Ok(SiteDelay { site: site.parse()?, delay })
    }
}

impl TryFrom<String> for SiteDelay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<SiteDelay> for String {
    fn from(given: SiteDelay) -> String {
        given.to_string()
    }
}

impl fmt::Display for SiteDelay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.site, self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_two_sites_and_a_url_is_one() {
        let cases: [(&str, &[&str]); 6] = [
            ("Example.org", &["http://example.org", "https://example.org"]),
            ("example.org:8080", &["http://example.org:8080", "https://example.org:8080"]),
            ("https://example.org/", &["https://example.org"]),
            ("http://example.org:80", &["http://example.org"]),
            ("[::1]:81", &["http://[::1]:81", "https://[::1]:81"]),
            ("b\u{fc}cher.example", &["http://xn--bcher-kva.example", "https://xn--bcher-kva.example"]),
        ];
        for (text, expect) in cases {
            let name: SiteName = text.parse().expect(text);
            assert_eq!(name.sites.iter().map(Site::as_str).collect::<Vec<_>>(), expect, "{text}");
            let read: SiteName = String::from(name.clone()).parse().expect(text);
            assert_eq!(read, name, "{text}");
        }
        for text in ["*.test", "*", "a.*", "https://*.test:81", "*.test/"] {
            let error = text.parse::<SiteName>().expect_err(text);
            assert!(
                error.starts_with(&format!("`{text}` is a pattern, and sites are given by their names")),
                "{error}"
            );
        }
        for text in ["a.test,b.test", "{a,b}.test", "(a).test", "a!.test"] {
            let error = text.parse::<SiteName>().expect_err(text);
            assert!(error.contains("no host name has"), "{error}");
        }
        "under_score.test".parse::<SiteName>().expect("it is used");
        for text in ["", "example.org/docs", "ftp://example.org", "a b", "me@example.org", "https://"] {
            text.parse::<SiteName>().expect_err(text);
        }
    }

    #[test]
    fn a_delay_is_behind_the_last_equals_sign() {
        let given: SiteDelay = "example.org:8080=1m 30s".parse().expect("a delay");
        assert_eq!((given.site.to_string().as_str(), given.delay.0.as_secs()), ("example.org:8080", 90));
        assert_eq!(given.to_string().parse::<SiteDelay>().expect("read back"), given);
        for text in ["example.org", "example.org=", "example.org=fast", "=5s", "*.org=5s"] {
            text.parse::<SiteDelay>().expect_err(text);
        }
    }
}
