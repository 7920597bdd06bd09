//! Which URLs are known and by what way, kept in memory by who commits: most links of a page lead to what is known already and no
//! further away, which must not cost a look-up in a table of millions (docs/decisions/0011-known-urls.md).

mod fingerprint;
mod shard;
#[cfg(test)]
mod tests;
mod way;

use std::hint::black_box;

use weburl::UrlKey;

use crate::queue::Generation;

use fingerprint::SHARDS;
pub(crate) use fingerprint::{Fingerprint, Fingerprints};
use shard::Shard;
pub(crate) use way::Way;

/// URLs whose memory is fetched at once.
pub(crate) const PREFETCHED: usize = 64;

/// What is remembered of a known URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remembered {
    pub(crate) way: Way,
    /// Where it stands in the queue, if it does and that is remembered: a record may say that a URL stands there without saying where.
    pub(crate) generation: Option<Generation>,
}

impl Remembered {
    /// Nothing but that there may be a record, which says the rest.
    pub(crate) const THERE: Remembered = Remembered { way: Way::InRecord, generation: None };
}

/// The fingerprints of all URLs of a store, of 80 bits, and two bytes with each; some eleven bytes a URL with the room to grow.
///
/// Two URLs may share a fingerprint, though hardly by chance, and nobody can aim at it: the hash has a secret
/// ([`Fingerprints`]). What is remembered of such a pair is only that their records must be looked up, from when both have one.
pub(crate) struct KnownTable {
    fingerprints: Fingerprints,
    shards: Vec<Shard>,
}

impl KnownTable {
    /// Nothing is known.
    pub(crate) fn new(fingerprints: Fingerprints) -> Self {
        KnownTable { fingerprints, shards: vec![Shard::default(); SHARDS] }
    }

    /// What stands for a URL here.
    pub(crate) fn fingerprint(&self, key: UrlKey) -> Fingerprint {
        self.fingerprints.of(key)
    }

    /// What is remembered of a URL, if it is known.
    pub(crate) fn get(&self, url: Fingerprint) -> Option<Remembered> {
        self.shards[url.shard].get(url.rest)
    }

    /// Reads where these URLs would be remembered. The processor fetches the memory of many at once so, for which every look-up by
    /// itself waits: it decides by what it reads where to look next.
    pub(crate) fn prefetch(&self, urls: impl Iterator<Item = Fingerprint>) {
        black_box(urls.map(|url| self.shards[url.shard].touch(url.rest)).fold(0, u64::wrapping_add));
    }

    /// Remembers a URL that had no record before. If another URL has its fingerprint, both must be looked up from now on.
    pub(crate) fn insert(&mut self, url: Fingerprint, remembered: Remembered) {
        self.shards[url.shard].insert(url.rest, remembered);
    }

    /// Remembers this of a URL that had a record before.
    pub(crate) fn update(&mut self, url: Fingerprint, remembered: Remembered) {
        self.shards[url.shard].update(url.rest, remembered);
    }
}

/// What is known while all of it is read: in any order, each URL once.
pub(crate) struct Loading(KnownTable);

impl Loading {
    /// Nothing was read yet.
    pub(crate) fn new(fingerprints: Fingerprints) -> Self {
        Loading(KnownTable::new(fingerprints))
    }

    /// Remembers a URL that was not read before.
    pub(crate) fn add(&mut self, key: UrlKey, remembered: Remembered) {
        let url = self.0.fingerprint(key);
        self.0.shards[url.shard].push(url.rest, remembered);
    }

    /// All was read.
    pub(crate) fn finish(mut self) -> KnownTable {
        self.0.shards.iter_mut().for_each(Shard::sort);
        self.0
    }
}
