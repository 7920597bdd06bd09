//! Digests of blocks and payloads: SHA-1 in base32 to write, SHA-1 and SHA-256 to verify.

use data_encoding::{BASE32_NOPAD, HEXLOWER_PERMISSIVE};
use sha1::Digest as _;
use std::fmt;

use crate::http::archived_head;

#[cfg(target_arch = "x86_64")]
mod pair;

/// A SHA-1 digest, written `sha1:` and 32 letters of base32 (RFC 4648 §6), which is the form the
/// archive world compares as text (WARC 1.1 §5.8 leaves the algorithm open).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 20]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::of_parts(&[bytes])
    }

    /// The digest of these parts, one after the other.
    pub fn of_parts(parts: &[&[u8]]) -> Digest {
        let mut sha1 = sha1::Sha1::new();
        for part in parts {
            sha1.update(part);
        }
        Digest(sha1.finalize().into())
    }

    /// The digests of a response's payload and of its block, which is its HTTP head as received and the payload: both in little more than the time of one
    /// where the processor has instructions for SHA-1.
    pub fn of_response(head: &[u8], payload: &[u8]) -> (Digest, Digest) {
        let head = &archived_head(head);
        #[cfg(target_arch = "x86_64")]
        if let Some((payload, block)) = pair::of(head, payload) {
            return (Digest(payload), Digest(block));
        }
        (Digest::of(payload), Digest::of_parts(&[head, payload]))
    }

    /// A digest that was computed elsewhere, as its 20 bytes.
    pub fn from_bytes(bytes: [u8; 20]) -> Digest {
        Digest(bytes)
    }

    /// Reads a SHA-1 digest with its label, in base16 or base32. Nothing when the text is something else.
    pub fn parse(text: &str) -> Option<Digest> {
        let LabelledDigest { algorithm: Algorithm::Sha1, value } = LabelledDigest::parse(text)? else { return None };
        value.try_into().ok().map(Digest)
    }

    /// The 20 bytes.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", BASE32_NOPAD.encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A digest that a record claims, `algorithm:value` (`labelled-digest`, WARC 1.1 §5.8).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LabelledDigest {
    algorithm: Algorithm,
    value: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Sha1,
    Sha256,
}

impl LabelledDigest {
    /// Reads SHA-1 and SHA-256 values in base16 or base32, letters of any case, with padding or
    /// without. Nothing when the text is something else.
    pub(crate) fn parse(text: &str) -> Option<LabelledDigest> {
        let (label, value) = text.trim().split_once(':')?;
        let (algorithm, size) = match label.to_ascii_lowercase().as_str() {
            "sha1" | "sha-1" => (Algorithm::Sha1, 20),
            "sha256" | "sha-256" => (Algorithm::Sha256, 32),
            _ => return None,
        };
        let value = value.trim_end_matches('=');
        let value = if value.len() == size * 2 {
            HEXLOWER_PERMISSIVE.decode(value.as_bytes()).ok()?
        } else {
            BASE32_NOPAD.decode(value.to_ascii_uppercase().as_bytes()).ok()?
        };
        (value.len() == size).then_some(LabelledDigest { algorithm, value })
    }

    pub(crate) fn hasher(&self) -> Hasher {
        match self.algorithm {
            Algorithm::Sha1 => Hasher::Sha1(sha1::Sha1::new()),
            Algorithm::Sha256 => Hasher::Sha256(sha2::Sha256::new()),
        }
    }

    /// Whether the bytes given to `hasher`, which this digest made, are the ones it was made of.
    pub(crate) fn matches(&self, hasher: Hasher) -> bool {
        match hasher {
            Hasher::Sha1(sha1) => sha1.finalize().as_slice() == self.value,
            Hasher::Sha256(sha256) => sha256.finalize().as_slice() == self.value,
        }
    }
}

/// A digest being computed over a stream.
pub(crate) enum Hasher {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl Hasher {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Hasher::Sha1(sha1) => sha1.update(bytes),
            Hasher::Sha256(sha256) => sha256.update(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // Digests of the empty input and of "abc": FIPS 180-4 examples.
    const ABC_SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
    const ABC_SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn check(text: &str, matches_abc: Option<bool>) {
        let verdict = LabelledDigest::parse(text).map(|digest| {
            let mut hasher = digest.hasher();
            hasher.update(b"a");
            hasher.update(b"bc");
            digest.matches(hasher)
        });
        assert_eq!(verdict, matches_abc, "{text}");
    }

    #[test]
    fn a_digest_is_written_in_base32() {
        assert_eq!(Digest::of(b"").to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        assert_eq!(Digest::of_parts(&[b"a", b"", b"bc"]), Digest::of(b"abc"));
    }

    /// The head's length decides where in their blocks the two are.
    #[test]
    fn the_digests_of_a_response_are_those_of_its_parts() {
        let bytes: Vec<u8> = (0..1_000u32).map(|number| ((number * number) >> 3) as u8).collect();
        for head in 0..=130 {
            for payload in (0..=200).chain([800]) {
                let (head, payload) = (&bytes[..head], &bytes[100..100 + payload]);
                let apart = (Digest::of(payload), Digest::of_parts(&[head, payload]));
                assert_eq!(Digest::of_response(head, payload), apart, "{} {}", head.len(), payload.len());
            }
        }
    }

    proptest! {
        #[test]
        fn digests_of_any_response(head: Vec<u8>, payload in prop::collection::vec(any::<u8>(), 0..3_000)) {
            let apart = (Digest::of(&payload), Digest::of_parts(&[&archived_head(&head), &payload]));
            prop_assert_eq!(Digest::of_response(&head, &payload), apart);
        }
    }

    #[test]
    fn a_sha1_digest_is_read_as_it_is_written() {
        let digest = Digest::of(b"abc");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse(&format!("sha1:{ABC_SHA1}")), Some(digest));
        for other in [format!("sha256:{ABC_SHA256}"), "sha1:abc".to_owned(), String::new()] {
            assert_eq!(Digest::parse(&other), None, "{other}");
        }
    }

    #[test]
    fn claimed_digests_are_read_in_each_form() {
        check(&Digest::of(b"abc").to_string(), Some(true));
        check(&Digest::of(b"abc").to_string().to_lowercase(), Some(true));
        check(&Digest::of(b"abd").to_string(), Some(false));
        check(&format!("sha1:{ABC_SHA1}"), Some(true));
        check(&format!("SHA-1:{}", ABC_SHA1.to_uppercase()), Some(true));
        check(&format!("sha256:{ABC_SHA256}"), Some(true));
        check("sha256:XJ4BNP4PAHH6UQKBIDPF3LRCEOYAGYNDSYLXVHFUCD7WD4QACWWQ====", Some(true));
        check("md5:900150983cd24fb0d6963f7d28e17f72", None);
        check("sha1:short", None);
        check(ABC_SHA1, None);
        check("sha1:!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!", None);
    }
}
