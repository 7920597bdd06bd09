//! Which URLs are known and by what way, kept in memory by who commits: most links of a page lead to what is known already and no
//! further away, which must not cost a look-up in a table of millions (docs/decisions/0011-known-urls.md).

use std::hint::black_box;

use model::{Distance, Purpose};
use weburl::UrlKey;

use crate::codec::Standing;

/// The upper bits of a URL's hash choose a shard.
const SHARD_BITS: u32 = 16;
/// The rest of the hash tells the URLs of a shard apart.
const REST_BITS: u32 = u64::BITS - SHARD_BITS;
/// URLs whose memory is fetched at once.
pub(crate) const PREFETCHED: usize = 64;
/// A full shard grows by one part in so many, so that little room is left over.
const GROWTH: usize = 8;

/// What is remembered of a known URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A page so far from the nearest seed. Its record is in the queue, or else in the table of URLs.
    Page { distance: Distance, is_in_queue: bool },
    /// Only its record says: a sitemap, or a page far away.
    InRecord,
}

/// The hashes of all URLs of a store, seven to eight bytes a URL. The hash that is the URL's part of its key is compared whole, without
/// the site's: that any two URLs of ten million share it has a probability of 3 in a million.
pub(crate) struct Known {
    /// Each in the order of the hashes. These are evenly spread, so that a hash is next to where its value says (interpolation
    /// search: Perl, Itai, Avni: "Interpolation Search: A Log Log N Search", 1978).
    shards: Vec<Vec<Remembered>>,
}

/// Seven bytes: the rest of the hash, and the way.
#[derive(Clone, Copy)]
struct Remembered([u8; 7]);

impl Known {
    /// Nothing is known.
    pub(crate) fn new() -> Self {
        Known { shards: vec![Vec::new(); 1 << SHARD_BITS] }
    }

    /// By what way a URL is known, if it is.
    pub(crate) fn way(&self, key: UrlKey) -> Option<Way> {
        let shard = &self.shards[shard_of(key)];
        place(shard, rest(key)).ok().map(|at| shard[at].way())
    }

    /// Reads where these URLs would be remembered. The processor fetches the memory of many at once so, for which every look-up by
    /// itself waits: it decides by what it reads where to look next.
    pub(crate) fn prefetch(&self, keys: impl Iterator<Item = UrlKey>) {
        let read = keys.filter_map(|key| {
            let shard = &self.shards[shard_of(key)];
            shard.get(guess(shard, rest(key))).map(|Remembered(bytes)| bytes[0])
        });
        black_box(read.fold(0, u8::wrapping_add));
    }

    /// Remembers by what way a URL is known now.
    pub(crate) fn insert(&mut self, key: UrlKey, way: Way) {
        let shard = &mut self.shards[shard_of(key)];
        let remembered = Remembered::new(rest(key), way);
        match place(shard, rest(key)) {
            Ok(at) => shard[at] = remembered,
            Err(at) => {
                if shard.len() == shard.capacity() {
                    shard.reserve_exact(shard.len() / GROWTH + 1);
                }
                shard.insert(at, remembered);
            }
        }
    }
}

/// Where the rest of a hash is, if hashes are spread quite evenly.
fn guess(shard: &[Remembered], rest: u64) -> usize {
    ((u128::from(rest) * shard.len() as u128) >> REST_BITS) as usize
}

/// Where the rest of a hash is, or where it would have to be inserted.
fn place(shard: &[Remembered], rest: u64) -> Result<usize, usize> {
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

impl Remembered {
    fn new(rest: u64, way: Way) -> Self {
        let [_, bytes @ ..] = (rest << u8::BITS | u64::from(way.to_byte())).to_be_bytes();
        Remembered(bytes)
    }

    fn rest(self) -> u64 {
        let [a, b, c, d, e, f, _] = self.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f])
    }

    fn way(self) -> Way {
        let [.., way] = self.0;
        Way::from_byte(way)
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
            assert_eq!(known.way(key(*url)), None);
            known.insert(key(*url), page(1, 0, true));
        }
        urls.iter().step_by(2).for_each(|url| known.insert(key(*url), page(2, 1, false)));
        for (n, url) in urls.iter().enumerate() {
            let expect = if n % 2 == 0 { page(2, 1, false) } else { page(1, 0, true) };
            assert_eq!(known.way(key(*url)), Some(expect), "{url}");
            let neighbour = url ^ 1;
            assert!(urls.contains(&neighbour) || known.way(key(neighbour)).is_none(), "{neighbour}");
        }
    }
}
