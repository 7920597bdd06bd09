//! The key of a row: which URL it is of, and how a row is found by it.

use std::str::FromStr;

use data_encoding::HEXLOWER;
use sha1::{Digest, Sha1};
use weburl::{CanonicalUrl, UrlKey};

/// The digits of a key.
const DIGITS: usize = 40;
/// The fewest digits by which a key is looked for: with fewer, most crawls have many.
const DIGITS_MIN: usize = 4;

/// The key of a URL: the SHA-1 digest of its text with the port, in lower-case hexadecimal digits.
#[must_use]
pub fn key_of(url: &CanonicalUrl) -> String {
    key_of_text(&with_port(url))
}

/// The key of a URL that is written with its port.
pub(super) fn key_of_text(with_port: &str) -> String {
    HEXLOWER.encode(&Sha1::digest(with_port.as_bytes()))
}

/// A URL with its port, the usual one too.
pub(super) fn with_port(url: &CanonicalUrl) -> String {
    let site = url.site();
    format!("{}://{}{}", site.scheme(), site.authority_with_port(), url.path_and_query())
}

pub(super) fn text_with_port(url: &str) -> String {
    CanonicalUrl::from_canonical(url).map_or_else(|| url.to_owned(), |url| with_port(&url))
}

/// A key, or its beginning: that of the table `crawl`, or the `url_key` of the dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart(String);

/// A text that is neither a key nor its beginning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has {} hexadecimal digits, of which at least {} are needed to find it", DIGITS, DIGITS_MIN)]
pub struct KeyError;

impl KeyPart {
    /// Whether a URL has such a key.
    #[must_use]
    pub fn is_of(&self, url: &CanonicalUrl) -> bool {
        key_of(url).starts_with(&self.0) || url.key().to_string().starts_with(&self.0)
    }

    /// The key of the dataset that this may be: a whole one.
    #[must_use]
    pub fn as_url_key(&self) -> Option<UrlKey> {
        let bytes = HEXLOWER.decode(self.0.as_bytes()).ok()?;
        bytes.try_into().ok().map(UrlKey::from_bytes)
    }
}

impl FromStr for KeyPart {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let is_part = (DIGITS_MIN..=DIGITS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_part { Ok(KeyPart(text.to_ascii_lowercase())) } else { Err(KeyError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `http://a.test:80/`.
    const KEY: &str = "ba71ee494ec6317312e17055b32159e6fa17ac6a";

    #[test]
    fn a_url_is_found_by_its_key_and_by_the_beginning_of_it() {
        let url = |text: &str| CanonicalUrl::from_canonical(text).expect("a URL");
        assert_eq!(key_of(&url("http://a.test/")), KEY);
        for (part, is_of) in [
            (KEY, true),
            (&KEY.to_ascii_uppercase(), true),
            ("ba71", true),
            ("ba71ee494", true),
            ("a71e", false),
            ("ba71ee495", false),
        ] {
            let part: KeyPart = part.parse().expect(part);
            assert_eq!(part.is_of(&url("http://a.test/")), is_of, "{part:?}");
            assert!(!part.is_of(&url("http://a.test:81/")) && !part.is_of(&url("https://a.test/")), "{part:?}");
        }
    }

    #[test]
    fn the_key_of_the_dataset_is_one_too() {
        let url = CanonicalUrl::from_canonical("http://a.test/").expect("a URL");
        let key = url.key().to_string();
        for (text, whole) in [(&key[..], Some(url.key())), (&key[..9], None), (KEY, None)] {
            let part: KeyPart = text.parse().expect(text);
            assert!(part.is_of(&url), "{text}");
            assert_eq!(part.as_url_key(), whole, "{text}");
        }
    }

    #[test]
    fn what_is_no_part_of_a_key_is_refused() {
        let long = "a".repeat(41);
        for text in ["", "ba7", "ba7g", "ba 7", "0xba71", "-ba71", "bä71", &long] {
            assert_eq!(text.parse::<KeyPart>(), Err(KeyError), "{text}");
        }
    }
}
