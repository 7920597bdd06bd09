//! Which URLs cannot be known: most that a young crawl finds are new, and the engine would look for each of them in every run of its
//! tables before it says so.
//!
//! A scalable Bloom filter (Almeida, Baquero, Preguiça, Hutchison: "Scalable Bloom Filters", 2007) of blocked ones (Putze,
//! Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007): each of its parts is twice as large as the one
//! before, and a key's bits lie in one cache line of a part.

use fjall::Keyspace;
use weburl::UrlKey;

/// Keys of the first part.
const FIRST_KEYS_MAX: usize = 1 << 20;
/// With seven bits set for each key, about 1.5 % of the unknown keys of a full part are taken for known.
const BITS_PER_KEY: usize = 10;
const BITS_SET: u32 = 7;

/// A cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Block([u64; 8]);

const BLOCK_BITS: usize = 512;
/// Bits of a number of a bit in a block.
const BIT_NUMBER_BITS: u32 = BLOCK_BITS.trailing_zeros();

/// The URLs of a store; 10 bits each when its last part is full, at most four times that before.
pub(crate) struct Filter {
    parts: Vec<Part>,
}

struct Part {
    blocks: Vec<Block>,
    keys: usize,
    keys_max: usize,
}

impl Filter {
    /// The filter of the URLs in a table, whose keys are all read.
    pub(crate) fn of(urls: &Keyspace) -> fjall::Result<Self> {
        let mut filter = Filter { parts: Vec::new() };
        for entry in urls.iter() {
            // A key of another length is damage, which a look-up could not find either.
            if let Ok(key) = (*entry.key()?).try_into() {
                filter.insert(UrlKey::from_bytes(key));
            }
        }
        Ok(filter)
    }

    /// False where the URL was never inserted.
    pub(crate) fn may_contain(&self, key: UrlKey) -> bool {
        self.parts.iter().any(|part| part.may_contain(key))
    }

    /// Inserts a URL that was not inserted before.
    pub(crate) fn insert(&mut self, key: UrlKey) {
        let keys_max = FIRST_KEYS_MAX << self.parts.len();
        match self.parts.last_mut().filter(|part| part.keys < part.keys_max) {
            Some(part) => part.insert(key),
            None => {
                let mut part = Part::new(keys_max);
                part.insert(key);
                self.parts.push(part);
            }
        }
    }
}

impl Part {
    fn new(keys_max: usize) -> Self {
        let blocks = (keys_max * BITS_PER_KEY).div_ceil(BLOCK_BITS);
        Part { blocks: vec![Block([0; 8]); blocks], keys: 0, keys_max }
    }

    fn may_contain(&self, key: UrlKey) -> bool {
        let Block(words) = &self.blocks[self.place(key)];
        bits(key).all(|(word, bit)| words[word] & bit != 0)
    }

    fn insert(&mut self, key: UrlKey) {
        self.keys += 1;
        let place = self.place(key);
        let Block(words) = &mut self.blocks[place];
        bits(key).for_each(|(word, bit)| words[word] |= bit);
    }

    /// The key's block, by the upper bits of the key, which is a hash.
    #[expect(clippy::cast_possible_truncation, reason = "it is less than the number of blocks")]
    fn place(&self, key: UrlKey) -> usize {
        ((u128::from(key.url) * self.blocks.len() as u128) >> u64::BITS) as usize
    }
}

/// The key's bits in its block, each as a word and a bit of it; by other bits of the key than those that choose the block.
fn bits(key: UrlKey) -> impl Iterator<Item = (usize, u64)> {
    // The odd number next to 2^64 / φ spreads the lower bits over the upper ones (Knuth, TAOCP 6.4).
    let spread = key.url.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ key.url.rotate_left(u64::BITS / 2);
    (0..BITS_SET).map(move |n| {
        let number = (spread >> (n * BIT_NUMBER_BITS)) as usize % BLOCK_BITS;
        (number / 64, 1 << (number % 64))
    })
}

#[cfg(test)]
mod tests {
    use weburl::{CanonicalRules, CanonicalUrl};

    use super::*;

    fn key(n: usize) -> UrlKey {
        let url = CanonicalUrl::parse(&format!("http://a.test/{n}"), &CanonicalRules::default());
        url.expect("a URL").key()
    }

    #[test]
    fn forgets_nothing_and_takes_few_for_known() {
        let mut filter = Filter { parts: Vec::new() };
        let inserted = FIRST_KEYS_MAX * 3 / 2;
        (0..inserted).for_each(|n| filter.insert(key(n)));
        assert_eq!(filter.parts.len(), 2);
        assert!((0..inserted).step_by(7).all(|n| filter.may_contain(key(n))));
        let tried = 100_000;
        let wrong = (inserted..inserted + tried).filter(|n| filter.may_contain(key(*n))).count();
        assert!(wrong < tried / 40, "{wrong} of {tried}");
    }
}
