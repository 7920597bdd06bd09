//! A site: what one robots.txt and one politeness delay are about.

use std::fmt;

use crate::SiteKey;

/// Scheme, host and port. Its text is `scheme://host`, with `:port` only where it is not the scheme's default.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    text: Box<str>,
    https: bool,
    host_end: u32,
    port: u16,
}

impl Site {
    /// Takes over the beginning of a canonical URL, up to its path. The host ends at `host_end`, an offset into it.
    pub(crate) fn of(text: &str, host_end: u32) -> Self {
        let https = text.starts_with("https:");
        let port = text[host_end as usize..].strip_prefix(':').and_then(|port| port.parse().ok());
        Site { text: text.into(), https, host_end, port: port.unwrap_or(if https { 443 } else { 80 }) }
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        if self.https { "https" } else { "http" }
    }

    /// True if the scheme is https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// The host as it stands in the URL: lower-case ASCII name, IPv4, or IPv6 in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        let start = self.scheme().len() + 3;
        self.text.get(start..self.host_end as usize).unwrap_or_default()
    }

    /// The port, the scheme's default included.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `host:port`, the port always given.
    #[must_use]
    pub fn authority_with_port(&self) -> String {
        format!("{}:{}", self.host(), self.port)
    }

    /// `scheme://host[:port]`, without a final slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The key of the site.
    #[must_use]
    pub fn key(&self) -> SiteKey {
        SiteKey::of(&self.text)
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl serde::Serialize for Site {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for Site {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Site::from_text(&text).ok_or_else(|| serde::de::Error::custom("no site"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_scheme_host_and_port() {
        for (text, scheme, host, port) in [
            ("http://example.com", "http", "example.com", 80),
            ("https://example.com", "https", "example.com", 443),
            ("https://example.com:8443", "https", "example.com", 8443),
            ("http://[::1]:81", "http", "[::1]", 81),
            ("http://127.0.0.1", "http", "127.0.0.1", 80),
        ] {
            let site = Site::from_text(text).expect(text);
            assert_eq!((site.scheme(), site.host(), site.port()), (scheme, host, port), "{text}");
            assert_eq!(site.as_str(), text);
        }
    }

    #[test]
    fn text_that_is_not_a_site_is_refused() {
        for text in
            ["", "example.com", "ftp://example.com", "http://example.com/", "http://EXAMPLE.com", "http://a.b:80"]
        {
            assert_eq!(Site::from_text(text), None, "{text}");
        }
    }
}
