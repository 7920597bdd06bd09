//! The digests of payloads: one is a label, the other identifies contents.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The SHA-1 of a payload: the message body without transfer coding, with its content coding, as WARC defines it. It is a label that other
/// programs compare. Files with the same SHA-1 can be made on purpose, so it decides nothing alone: [`ContentDigest`] decides.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PayloadDigest(pub [u8; 20]);

/// The identity of a content: the BLAKE3 hash of a body without its content coding, and its length. A page that is sent plain once and
/// compressed another time is one content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentDigest([u8; ContentDigest::BYTES]);

impl ContentDigest {
    /// The length of a digest: 32 bytes of hash, 8 of length.
    pub const BYTES: usize = 40;

    /// The digest of a body.
    #[must_use]
    pub fn of(body: &[u8]) -> Self {
        let mut bytes = [0; ContentDigest::BYTES];
        bytes[..32].copy_from_slice(blake3::hash(body).as_bytes());
        bytes[32..].copy_from_slice(&(body.len() as u64).to_be_bytes());
        ContentDigest(bytes)
    }

    /// The same content in an answer that is no page, as that to a request for a sitemap. A page with this content is no duplicate of it: its
    /// text is read and searched.
    #[must_use]
    pub fn apart(mut self) -> Self {
        // No body is so long that its length has this bit.
        self.0[32] |= 0x80;
        self
    }

    /// Its first 64 bits: enough to compare the visits of one URL.
    #[must_use]
    pub fn short(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }

    /// As it is stored.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; ContentDigest::BYTES] {
        &self.0
    }
}

/// The digits of base32 (RFC 4648 §6).
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

impl PayloadDigest {
    /// Reads the form that `Display` writes; `None` if the text is something else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha1:").filter(|digits| digits.len() == 32)?;
        let mut bytes = [0; 20];
        for (group, digits) in bytes.chunks_mut(5).zip(digits.as_bytes().chunks(8)) {
            let wide = digits.iter().try_fold(0u64, |wide, digit| {
                let value = ALPHABET.iter().position(|of_alphabet| of_alphabet == digit)?;
                Some((wide << 5) | value as u64)
            })?;
            group.copy_from_slice(&wide.to_be_bytes()[3..]);
        }
        Some(PayloadDigest(bytes))
    }
}

impl fmt::Display for PayloadDigest {
    /// `sha1:` and base32 without padding (RFC 4648 §6), the form used in WARC and CDXJ.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = *b"sha1:00000000000000000000000000000000";
        for (group, digits) in self.0.chunks(5).zip(text[5..].chunks_mut(8)) {
            let wide = group.iter().fold(0u64, |wide, byte| (wide << 8) | u64::from(*byte));
            for (place, digit) in digits.iter_mut().rev().enumerate() {
                *digit = ALPHABET[(wide >> (place * 5)) as usize & 31];
            }
        }
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

impl fmt::Debug for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{ContentDigest, PayloadDigest};

    #[test]
    fn a_content_is_its_hash_and_its_length() {
        let digest = ContentDigest::of(b"abc");
        assert_eq!(digest.as_bytes()[..4], [0x64, 0x37, 0xb3, 0xac], "the test vector of BLAKE3");
        assert_eq!(digest.as_bytes()[32..], [0, 0, 0, 0, 0, 0, 0, 3]);
        assert_eq!(digest.apart().as_bytes()[32..], [0x80, 0, 0, 0, 0, 0, 0, 3]);
        assert_ne!(digest.apart(), digest);
    }

    #[test]
    fn base32_of_the_digest_of_nothing() {
        let sha1_of_nothing = [
            0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55, 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8,
            0x07, 0x09,
        ];
        assert_eq!(PayloadDigest(sha1_of_nothing).to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let bytes: [u8; 20] = std::array::from_fn(|n| u8::try_from(n * 13 + 1).unwrap_or(u8::MAX));
        for digest in [PayloadDigest(bytes), PayloadDigest([0; 20]), PayloadDigest([0xff; 20])] {
            assert_eq!(PayloadDigest::parse(&digest.to_string()), Some(digest));
        }
        for text in
            ["", "sha1:", "sha1:ABC", "md5:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sha1:1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(PayloadDigest::parse(text), None, "{text}");
        }
    }
}
