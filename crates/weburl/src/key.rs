//! Fixed-size keys for URLs and sites.
//!
//! BLAKE3, because the web is an adversary: with a fast hash anyone could craft a host name whose key equals that of
//! another site and so take over its politeness state or hide its pages (`docs/decisions/0001-keys.md`).

use serde::{Deserialize, Serialize};
use std::fmt;

/// The key of a site: the first 64 bits of the BLAKE3 hash of its text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SiteKey(pub u64);

/// The key of a canonical URL: its site's key, then 64 bits of its own, so that the URLs of a site lie together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UrlKey {
    /// The key of the URL's site.
    pub site: SiteKey,
    /// The first 64 bits of the BLAKE3 hash of the canonical text.
    pub url: u64,
}

impl SiteKey {
    /// The key of a site given as text, `scheme://host[:port]`.
    #[must_use]
    pub fn of(site: &str) -> Self {
        SiteKey(hash(site))
    }

    /// Big-endian bytes, so that byte order is key order.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// The inverse of [`SiteKey::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        SiteKey(u64::from_be_bytes(bytes))
    }
}

impl UrlKey {
    /// The key of the URL `url` on the site `site`, both as canonical text.
    #[must_use]
    pub fn of(site: &str, url: &str) -> Self {
        UrlKey::on(SiteKey::of(site), url)
    }

    /// The key of the URL `url`, as canonical text, on the site of this key.
    #[must_use]
    pub(crate) fn on(site: SiteKey, url: &str) -> Self {
        UrlKey { site, url: hash(url) }
    }

    /// Big-endian bytes, site first, so that byte order is key order.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        ((u128::from(self.site.0) << 64) | u128::from(self.url)).to_be_bytes()
    }

    /// The inverse of [`UrlKey::to_bytes`].
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the low 64 bits are meant")]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let wide = u128::from_be_bytes(bytes);
        UrlKey { site: SiteKey((wide >> 64) as u64), url: wide as u64 }
    }
}

impl fmt::Debug for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:016x}", self.site, self.url)
    }
}

fn hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_and_keep_the_order() {
        let a = UrlKey { site: SiteKey(1), url: u64::MAX };
        let b = UrlKey { site: SiteKey(2), url: 0 };
        assert!(a < b && a.to_bytes() < b.to_bytes());
        assert_eq!(UrlKey::from_bytes(a.to_bytes()), a);
        assert_eq!(SiteKey::from_bytes(b.site.to_bytes()), b.site);
    }

    #[test]
    fn keys_are_part_of_the_format_and_must_not_change() {
        assert_eq!(
            UrlKey::of("http://example.com", "http://example.com/").to_string(),
            "5bac40aec8f7b62308d8fff27b792ba7"
        );
    }
}
