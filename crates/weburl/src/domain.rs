//! The registrable domain of a host.

/// The registrable domain ("eTLD+1") of a host by the Public Suffix List, or the host itself where there is none
/// (IP addresses, single labels, public suffixes).
#[must_use]
pub fn registrable_domain(host: &str) -> &str {
    if host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// Whether everybody may register names below a host, by the Public Suffix List: `com`, `co.uk`, `github.io`. A single label is one, too.
#[must_use]
pub fn is_public_suffix(host: &str) -> bool {
    !host.starts_with('[') && host.parse::<std::net::Ipv4Addr>().is_err() && psl::domain_str(host).is_none()
}

#[cfg(test)]
mod tests {
    use super::{is_public_suffix, registrable_domain};

    #[test]
    fn suffixes_by_the_public_suffix_list() {
        for (host, expect) in [
            ("com", true),
            ("co.uk", true),
            ("github.io", true),
            ("localhost", true),
            ("example.com", false),
            ("gov.si", false),
            ("127.0.0.1", false),
            ("[::1]", false),
        ] {
            assert_eq!(is_public_suffix(host), expect, "{host}");
        }
    }

    #[test]
    fn domains_by_the_public_suffix_list() {
        for (host, expect) in [
            ("www.example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("www.e-uprava.gov.si", "gov.si"),
            ("gov.si", "gov.si"),
            ("someone.github.io", "someone.github.io"),
            ("com", "com"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(registrable_domain(host), expect, "{host}");
        }
    }
}
