//! The hash that identifies known URLs.

use std::hash::{BuildHasher, RandomState};

use weburl::UrlKey;

/// How many bits of a fingerprint choose a shard. They leave room for two bytes beside the rest of it.
const SHARD_BITS: u32 = 16;
/// How many shards there are.
pub(super) const SHARDS: usize = 1 << SHARD_BITS;

/// 80 bits of a URL's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Which shard it is in, below [`SHARDS`].
    pub(super) shard: usize,
    /// What tells the URLs of a shard apart, evenly spread.
    pub(super) rest: u64,
}

/// Makes fingerprints of keys, site and URL together.
#[derive(Clone)]
pub(crate) enum Fingerprints {
    /// By a secret of its own.
    Keyed(Box<Secret>),
    /// As a test wants them: shard and rest.
    #[cfg(test)]
    Given(fn(UrlKey) -> (u16, u64)),
}

/// Multilinear hashing of the four 32-bit words of a key, which is strongly universal (Lemire, Kaser: "Strongly universal string hashing is
/// fast", The Computer Journal 57, 2014, theorem 2): whatever two keys there are, only one of 2^80 secrets gives them the same fingerprint.
///
/// Keys are public: without a secret anybody could look for two with one fingerprint, and link to the one to hide the other. The secret is made
/// when the store is opened, and kept nowhere; no fingerprint leaves the process.
#[derive(Clone)]
pub(crate) struct Secret([u128; 5]);

impl Fingerprints {
    /// With a random secret.
    pub(crate) fn keyed() -> Self {
        // Seeded by the system's random numbers.
        let random = RandomState::new();
        let half = |n: usize| u128::from(random.hash_one(n));
        Fingerprints::Keyed(Box::new(Secret(std::array::from_fn(|n| half(2 * n) << u64::BITS | half(2 * n + 1)))))
    }

    /// The fingerprint of a URL.
    pub(super) fn of(&self, key: UrlKey) -> Fingerprint {
        match self {
            Fingerprints::Keyed(secret) => secret.fingerprint(key),
            #[cfg(test)]
            Fingerprints::Given(of) => {
                let (shard, rest) = of(key);
                Fingerprint { shard: usize::from(shard), rest }
            }
        }
    }
}

impl Secret {
    #[expect(clippy::cast_possible_truncation, reason = "parts are meant")]
    fn fingerprint(&self, UrlKey { site, url }: UrlKey) -> Fingerprint {
        let [sum, factors @ ..] = self.0;
        let words = [site.0 >> u32::BITS, u64::from(site.0 as u32), url >> u32::BITS, u64::from(url as u32)];
        let products = factors.into_iter().zip(words).map(|(factor, word)| factor.wrapping_mul(u128::from(word)));
        let hash = products.fold(sum, u128::wrapping_add);
        // The highest bits: by the theorem all but the last 31 may be taken.
        let shard = (hash >> (u128::BITS - SHARD_BITS)) as usize;
        Fingerprint { shard, rest: (hash >> (u64::BITS - SHARD_BITS)) as u64 }
    }
}
