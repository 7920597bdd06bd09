//! Which URLs are known and by what way, kept in memory by who commits: most links of a page lead to what is known already and no
//! further away, which must not cost a look-up in a table of millions (docs/decisions/0011-known-urls.md).

use std::hint::black_box;

use model::{Distance, Purpose};
use weburl::UrlKey;

use crate::codec::Standing;
use crate::queue::Generation;

/// The upper bits of a URL's hash choose a shard. They leave room for as many others beside the rest of it.
const SHARD_BITS: u32 = 16;
/// The rest of the hash tells the URLs of a shard apart.
const REST_BITS: u32 = u64::BITS - SHARD_BITS;
/// URLs whose memory is fetched at once.
pub(crate) const PREFETCHED: usize = 64;
/// A full shard grows by one part in so many, so that little room is left over.
const GROWTH: usize = 8;

/// What is remembered of a known URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) way: Way,
    /// Where it stands in the queue, if it does.
    pub(crate) generation: Option<Generation>,
}

/// By what way a URL is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A page so far from the nearest seed. Its record is in the queue, or else in the table of URLs.
    Page { distance: Distance, is_in_queue: bool },
    /// Only its record says: a sitemap, or a page far away.
    InRecord,
}

/// The hashes of all URLs of a store, eight to nine bytes a URL. The hash that is the URL's part of its key is compared whole, without
/// the site's: that any two URLs of ten million share it has a probability of 3 in a million.
pub(crate) struct Known {
    /// Each in the order of the hashes. These are evenly spread, so that a hash is next to where its value says (interpolation
    /// search: Perl, Itai, Avni: "Interpolation Search: A Log Log N Search", 1978).
    shards: Vec<Vec<Packed>>,
}

/// From the highest bit: the rest of the hash, the generation in a byte, the way in a byte.
#[derive(Clone, Copy)]
struct Packed(u64);

impl Known {
    /// Nothing is known.
    pub(crate) fn new() -> Self {
        Known { shards: vec![Vec::new(); 1 << SHARD_BITS] }
    }

    /// What is remembered of a URL, if it is known.
    pub(crate) fn get(&self, key: UrlKey) -> Option<Remembered> {
        let shard = &self.shards[shard_of(key)];
        place(shard, rest(key)).ok().map(|at| shard[at].remembered())
    }

    /// Reads where these URLs would be remembered. The processor fetches the memory of many at once so, for which every look-up by
    /// itself waits: it decides by what it reads where to look next.
    pub(crate) fn prefetch(&self, keys: impl Iterator<Item = UrlKey>) {
        let read = keys.filter_map(|key| {
            let shard = &self.shards[shard_of(key)];
            shard.get(guess(shard, rest(key))).map(|Packed(bits)| *bits)
        });
        black_box(read.fold(0, u64::wrapping_add));
    }

    /// Remembers this of a URL, which is known now.
    pub(crate) fn insert(&mut self, key: UrlKey, remembered: Remembered) {
        let shard = &mut self.shards[shard_of(key)];
        let packed = Packed::new(rest(key), remembered);
        match place(shard, rest(key)) {
            Ok(at) => shard[at] = packed,
            Err(at) => {
                if shard.len() == shard.capacity() {
                    shard.reserve_exact(shard.len() / GROWTH + 1);
                }
                shard.insert(at, packed);
            }
        }
    }
}

/// Where the rest of a hash is, if hashes are spread quite evenly.
fn guess(shard: &[Packed], rest: u64) -> usize {
    ((u128::from(rest) * shard.len() as u128) >> REST_BITS) as usize
}

/// Where the rest of a hash is, or where it would have to be inserted.
fn place(shard: &[Packed], rest: u64) -> Result<usize, usize> {
    let mut at = guess(shard, rest);
    while at > 0 && shard[at - 1].rest() >= rest {
        at -= 1;
    }
    while at < shard.len() && shard[at].rest() < rest {
        at += 1;
    }
    if shard.get(at).is_some_and(|found| found.rest() == rest) { Ok(at) } else { Err(at) }
}

fn shard_of(key: UrlKey) -> usize {
    (key.url >> REST_BITS) as usize
}

fn rest(key: UrlKey) -> u64 {
    key.url << SHARD_BITS >> SHARD_BITS
}

impl Packed {
    fn new(rest: u64, Remembered { way, generation }: Remembered) -> Self {
        let [generation, way] = [generation.map_or(0, Generation::to_byte), way.to_byte()].map(u64::from);
        Packed(rest << SHARD_BITS | generation << u8::BITS | way)
    }

    fn rest(self) -> u64 {
        self.0 >> SHARD_BITS
    }

    fn remembered(self) -> Remembered {
        let [.., generation, way] = self.0.to_be_bytes();
        Remembered { way: Way::from_byte(way), generation: Generation::from_byte(generation) }
    }
}

/// The greatest depth and the most redirects that fit into a byte beside [`IN_QUEUE`].
const DEPTH_MAX: u32 = 30;
const REDIRECTS_MAX: u8 = 3;
const REDIRECTS_BITS: u32 = 2;
const IN_QUEUE: u8 = 1 << 7;
/// Its depth would be greater than any.
const IN_RECORD: u8 = u8::MAX;

impl Way {
    /// What is remembered of a URL that stands so.
    pub(crate) fn of(standing: &Standing) -> Self {
        let Standing { purpose, distance, .. } = *standing;
        let fits = purpose == Purpose::Page && distance.depth <= DEPTH_MAX && distance.redirects <= REDIRECTS_MAX;
        if fits { Way::Page { distance, is_in_queue: standing.is_in_queue() } } else { Way::InRecord }
    }

    #[expect(clippy::cast_possible_truncation, reason = "no page is remembered whose depth is greater than DEPTH_MAX")]
    fn to_byte(self) -> u8 {
        match self {
            Way::Page { distance: Distance { depth, redirects }, is_in_queue } => {
                (depth as u8) << REDIRECTS_BITS | redirects | if is_in_queue { IN_QUEUE } else { 0 }
            }
            Way::InRecord => IN_RECORD,
        }
    }

    fn from_byte(byte: u8) -> Self {
        if byte == IN_RECORD {
            return Way::InRecord;
        }
        let depth = u32::from((byte & !IN_QUEUE) >> REDIRECTS_BITS);
        let distance = Distance { depth, redirects: byte & REDIRECTS_MAX };
        Way::Page { distance, is_in_queue: byte & IN_QUEUE != 0 }
    }
}

#[cfg(test)]
mod tests {
    use weburl::SiteKey;

    use super::*;

    fn page(depth: u32, redirects: u8, is_in_queue: bool) -> Way {
        Way::Page { distance: Distance { depth, redirects }, is_in_queue }
    }

    fn waiting(depth: u32, generation: u8) -> Remembered {
        Remembered { way: page(depth, 0, true), generation: Generation::from_byte(generation) }
    }

    fn visited(depth: u32, redirects: u8) -> Remembered {
        Remembered { way: page(depth, redirects, false), generation: None }
    }

    fn key(url: u64) -> UrlKey {
        UrlKey { site: SiteKey(1), url }
    }

    #[test]
    fn a_way_is_a_byte() {
        for depth in 0..=DEPTH_MAX {
            for redirects in 0..=REDIRECTS_MAX {
                for way in [page(depth, redirects, true), page(depth, redirects, false)] {
                    assert_eq!(Way::from_byte(way.to_byte()), way);
                }
            }
        }
        assert_eq!(Way::from_byte(Way::InRecord.to_byte()), Way::InRecord);
    }

    #[test]
    fn what_was_inserted_is_known_and_nothing_else() {
        let mut known = Known::new();
        // Many in one shard, unevenly spread; the least and the greatest hash; neighbours of what is known.
        let urls = (0..2_000_u64).map(|n| n * n * 7 + 3).chain([0, u64::MAX, u64::MAX - 2, 1 << 48, (1 << 48) - 1]);
        let urls: Vec<u64> = urls.collect();
        for url in urls.iter().rev() {
            assert_eq!(known.get(key(*url)), None);
            known.insert(key(*url), waiting(1, u8::MAX));
        }
        urls.iter().step_by(2).for_each(|url| known.insert(key(*url), visited(2, 1)));
        for (n, url) in urls.iter().enumerate() {
            let expect = if n % 2 == 0 { visited(2, 1) } else { waiting(1, u8::MAX) };
            assert_eq!(known.get(key(*url)), Some(expect), "{url}");
            let neighbour = url ^ 1;
            assert!(urls.contains(&neighbour) || known.get(key(neighbour)).is_none(), "{neighbour}");
        }
    }
}
