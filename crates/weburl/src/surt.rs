//! SURT: the Sort-friendly URI Reordering Transform, the key of CDX indexes.

use crate::CanonicalUrl;

/// The SURT of a canonical URL: `http://www.example.com/a?b` becomes `com,example,www)/a?b`; a port other than the
/// scheme's default follows the host as `:port`. Source: Internet Archive, `org.archive.url` (the form without scheme).
#[must_use]
pub fn surt(url: &CanonicalUrl) -> String {
    let site = url.site();
    let host = site.host();
    let mut out = String::with_capacity(url.as_str().len());
    if host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        out.push_str(host);
    } else {
        let mut labels = host.rsplit('.');
        out.push_str(labels.next().unwrap_or_default());
        for label in labels {
            out.push(',');
            out.push_str(label);
        }
    }
    if site.port() != if site.is_https() { 443 } else { 80 } {
        out.push_str(&format!(":{}", site.port()));
    }
    out.push(')');
    out.push_str(url.path_and_query());
    out
}

#[cfg(test)]
mod tests {
    use super::surt;
    use crate::{CanonicalRules, CanonicalUrl};

    #[test]
    fn surt_of_hosts_addresses_and_ports() {
        for (url, expect) in [
            ("http://www.example.com/a?b", "com,example,www)/a?b"),
            ("https://example.com/", "com,example)/"),
            ("http://example.com:8080/x", "com,example:8080)/x"),
            ("http://127.0.0.1/x", "127.0.0.1)/x"),
            ("http://localhost/", "localhost)/"),
        ] {
            let url = CanonicalUrl::parse(url, &CanonicalRules::default()).expect(url);
            assert_eq!(surt(&url), expect);
        }
    }
}
