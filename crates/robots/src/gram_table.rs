//! Which rules with `*` can match at all, found in one pass over the path.
//!
//! Each rule has a gram: four octets in a row out of one of its pieces, or fewer where all pieces are shorter. A path without
//! the gram of a rule does not match it. Of all its grams a rule has the one that is rarest in the file, since what many rules
//! have in common (`/*?filter=`) says little.

use crate::packed_rule::RuleId;
use crate::pattern;
use crate::rules::Rules;
use crate::steps::{Steps, StepsExceeded};

/// The longest gram, in octets.
const GRAM_OCTETS_MAX: usize = 4;

/// How many grams of a path are remembered, not to be looked up again.
const LATELY_LOOKED_UP: usize = 128;

/// What it costs to look through a bucket, without the rules in it.
const STEPS_A_BUCKET: usize = 4;

/// How many bits of a hash are compared, behind those that say which bucket.
const TAG_BITS: u32 = u16::BITS;

/// Rules by the hashes of their grams, in buckets of about one.
#[derive(Debug)]
pub(crate) struct GramTable {
    /// For each octet, which lengths the grams that begin with it have: bit 0 for one octet.
    lengths: [u8; 256],
    bucket_bits: u32,
    /// Eight bits for each bucket, by further bits of the hash: one that is not set rules out that a gram is here.
    filter: Box<[u8]>,
    /// Where each bucket begins, and the end of the last one.
    buckets: Box<[u16]>,
    /// The last [`TAG_BITS`] of the hashes, in ascending order within a bucket.
    tags: Box<[u16]>,
    /// In ascending order where the hash is the same.
    rules: Box<[RuleId]>,
}

impl GramTable {
    /// A table of these rules, all of the shape [`Shape::Pieces`](pattern::Shape::Pieces). Takes time linear in the patterns, and n log n.
    pub(crate) fn new(ids: &[RuleId], rules: &Rules) -> Self {
        let mut counts = GramCounts::new(ids.iter().map(|id| rules.pattern(*id).len()).sum());
        for id in ids {
            grams(rules.pattern(*id)).for_each(|gram| counts.add(gram));
        }
        let bucket_bits = ids.len().max(2).ilog2();
        let mut lengths = [0; 256];
        let mut entries: Vec<(u32, RuleId)> = Vec::with_capacity(ids.len());
        for id in ids {
            if let Some(gram) = grams(rules.pattern(*id)).min_by_key(|gram| counts.get(*gram)) {
                lengths[usize::from(gram.octets as u8)] |= 1 << (gram.len - 1);
                entries.push((hash(gram.octets) >> (32 - TAG_BITS - bucket_bits), *id));
            }
        }
        entries.sort_unstable();
        let mut filter = vec![0; 1 << bucket_bits];
        for (hash, _) in &entries {
            filter[(hash >> TAG_BITS) as usize] |= filter_bit(*hash);
        }
        let buckets = (0..=1 << bucket_bits)
            .map(|bucket| entries.partition_point(|(hash, _)| hash >> TAG_BITS < bucket) as u16)
            .collect();
        Self {
            lengths,
            bucket_bits,
            filter: filter.into(),
            buckets,
            tags: entries.iter().map(|(hash, _)| *hash as u16).collect(),
            rules: entries.iter().map(|(_, id)| *id).collect(),
        }
    }

    /// Adds to `found` all rules below `found`'s end whose gram is in `path`.
    pub(crate) fn find(&self, path: &[u8], found: &mut RuleSet, steps: &mut Steps) -> Result<(), StepsExceeded> {
        if self.rules.is_empty() {
            return Ok(());
        }
        steps.take(path.len())?;
        let mut lately = [0; LATELY_LOOKED_UP];
        for at in 0..path.len() {
            let mut lengths = self.lengths[usize::from(path[at])];
            if lengths == 0 {
                continue;
            }
            let octets = four_octets(&path[at..]);
            while lengths != 0 {
                let len = lengths.trailing_zeros() as usize + 1;
                lengths &= lengths - 1;
                if at + len <= path.len() {
                    self.look_up(first_octets(octets, len), &mut lately, found, steps)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn look_up(
        &self,
        gram: u32,
        lately: &mut [u32; LATELY_LOOKED_UP],
        found: &mut RuleSet,
        steps: &mut Steps,
    ) -> Result<(), StepsExceeded> {
        let hash = hash(gram);
        let place = (hash >> 16) as usize % LATELY_LOOKED_UP;
        let hash = hash >> (32 - TAG_BITS - self.bucket_bits);
        let bucket = (hash >> TAG_BITS) as usize;
        if self.filter[bucket] & filter_bit(hash) == 0 || std::mem::replace(&mut lately[place], gram) == gram {
            return Ok(());
        }
        self.open_bucket(bucket, hash, found, steps)
    }

    fn open_bucket(
        &self,
        bucket: usize,
        hash: u32,
        found: &mut RuleSet,
        steps: &mut Steps,
    ) -> Result<(), StepsExceeded> {
        let (start, end) = (usize::from(self.buckets[bucket]), usize::from(self.buckets[bucket + 1]));
        steps.take(STEPS_A_BUCKET)?;
        let tag = hash as u16;
        let tags = &self.tags[start..end];
        let first = if tags.len() < 8 {
            tags.iter().take_while(|it| **it < tag).count()
        } else {
            steps.take(tags.len().ilog2() as usize)?;
            tags.partition_point(|it| *it < tag)
        };
        let same = tags[first..].iter().zip(&self.rules[start + first..]).take_while(|(it, _)| **it == tag);
        for (_, id) in same {
            steps.take(1)?;
            if !found.insert(*id) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.filter) + size_of_val(&*self.buckets) + size_of_val(&*self.tags) + size_of_val(&*self.rules)
    }
}

/// Rules below a bound. Takes no memory while it is empty.
pub(crate) struct RuleSet {
    end: usize,
    words: Vec<u64>,
}

impl RuleSet {
    /// None of the rules below `end`.
    pub(crate) fn below(end: usize) -> Self {
        Self { end, words: Vec::new() }
    }

    /// Puts a rule in; false where it is in already, or beyond the end.
    fn insert(&mut self, id: RuleId) -> bool {
        let id = usize::from(id);
        if id >= self.end {
            return false;
        }
        if self.words.is_empty() {
            self.words.resize(self.end.div_ceil(64), 0);
        }
        let word = &mut self.words[id / 64];
        let is_new = *word >> (id % 64) & 1 == 0;
        *word |= 1 << (id % 64);
        is_new
    }

    /// In ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RuleId> {
        let bits = |word: u64| {
            std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1))).take_while(|word| *word != 0)
        };
        let words = self.words.iter().enumerate();
        words.flat_map(move |(at, word)| {
            bits(*word).map(move |rest| (64 * at) as RuleId + rest.trailing_zeros() as RuleId)
        })
    }
}

/// Some octets in a row, the first one lowest.
#[derive(Clone, Copy)]
struct Gram {
    octets: u32,
    len: usize,
}

/// All grams of a pattern of the greatest length that its pieces have, up to the longest that counts.
fn grams(pattern: &[u8]) -> impl Iterator<Item = Gram> {
    let pieces = || pattern.split(|octet| pattern::is_special(*octet));
    let len = pieces().map(<[u8]>::len).max().unwrap_or(0).clamp(1, GRAM_OCTETS_MAX);
    pieces()
        .flat_map(move |piece| piece.windows(len))
        .map(move |window| Gram { octets: first_octets(four_octets(window), len), len })
}

fn four_octets(octets: &[u8]) -> u32 {
    match octets {
        [a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => octets.iter().rev().fold(0, |word, octet| word << 8 | u32::from(*octet)),
    }
}

fn first_octets(octets: u32, len: usize) -> u32 {
    octets & (u32::MAX >> (8 * (GRAM_OCTETS_MAX - len)))
}

/// Different for different octets. The upper bits are the better ones.
fn hash(octets: u32) -> u32 {
    (octets ^ octets >> 15).wrapping_mul(0x9E37_79B1)
}

/// The bit of a hash, which is cut to bucket and tag, in the filter of its bucket.
fn filter_bit(hash: u32) -> u8 {
    1 << (hash >> (TAG_BITS - 3) & 7)
}

/// About how often each gram occurs.
struct GramCounts {
    counts: Vec<u16>,
}

impl GramCounts {
    const COUNTS_MAX: usize = 1 << 16;

    fn new(octets: usize) -> Self {
        Self { counts: vec![0; (2 * octets).next_power_of_two().min(Self::COUNTS_MAX)] }
    }

    fn add(&mut self, gram: Gram) {
        let place = self.place(gram);
        self.counts[place] = self.counts[place].saturating_add(1);
    }

    fn get(&self, gram: Gram) -> u16 {
        self.counts[self.place(gram)]
    }

    fn place(&self, gram: Gram) -> usize {
        (hash(gram.octets) >> 16) as usize & (self.counts.len() - 1)
    }
}
