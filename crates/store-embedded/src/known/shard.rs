//! Some of the known URLs, in the order of their fingerprints.

use super::{Remembered, Way};
use crate::queue::Generation;

/// So many entries are kept in one run: moving half of them takes less than looking for each in two.
const ONE_RUN_MAX: usize = 512;

/// A full shard grows by one part in so many, so that little room is left over.
const GROWTH: usize = 8;

/// Two runs, each in the order of the fingerprints. These are evenly spread, so that one is next to where its value says (interpolation
/// search: Perl, Itai, Avni: "Interpolation Search: A Log Log N Search", 1978).
///
/// What is new comes into the second run once there are more than [`ONE_RUN_MAX`]. It stays so short that little has to move for it, and is
/// merged into the first now and then: of n entries about √n are in it at most, and an insertion moves about √n.
#[derive(Clone, Default)]
pub(super) struct Shard {
    entries: Vec<Packed>,
    /// The length of the first run.
    merged: usize,
}

/// An entry in ten bytes.
#[derive(Clone, Copy)]
struct Packed {
    rest: [u8; 8],
    generation: u8,
    way: u8,
}

impl Shard {
    /// What is remembered under a fingerprint.
    pub(super) fn get(&self, rest: u64) -> Option<Remembered> {
        self.find(rest).ok().map(|at| self.entries[at].remembered())
    }

    /// Reads the memory that looking for a fingerprint begins at.
    pub(super) fn touch(&self, rest: u64) -> u64 {
        let (first, second) = self.runs();
        let read = |run: &[Packed]| run.get(guess(run, rest)).map_or(0, Packed::rest);
        read(first).wrapping_add(read(second))
    }

    /// Remembers another URL with this fingerprint.
    pub(super) fn insert(&mut self, rest: u64, remembered: Remembered) {
        let (first, second) = match self.find(rest) {
            Ok(at) => {
                self.entries[at] = Packed::shared(rest);
                return;
            }
            Err(places) => places,
        };
        self.make_room();
        let entry = Packed::new(rest, remembered);
        if self.entries.len() < ONE_RUN_MAX {
            self.entries.insert(first, entry);
            self.merged += 1;
        } else {
            self.entries.insert(second, entry);
            if self.entries.len() - self.merged > self.merged.isqrt() {
                self.merge();
            }
        }
    }

    /// Remembers this of the URL with this fingerprint, unless several have it.
    pub(super) fn update(&mut self, rest: u64, remembered: Remembered) {
        match self.find(rest) {
            Ok(at) if self.entries[at].remembered().way == Way::Shared => {}
            Ok(at) => self.entries[at] = Packed::new(rest, remembered),
            Err(_) => self.insert(rest, remembered),
        }
    }

    /// Adds an entry in no order. [`Shard::sort`] must follow before anything else.
    pub(super) fn push(&mut self, rest: u64, remembered: Remembered) {
        self.make_room();
        self.entries.push(Packed::new(rest, remembered));
    }

    /// Brings what was pushed into order.
    pub(super) fn sort(&mut self) {
        self.entries.sort_unstable_by_key(Packed::rest);
        self.entries.dedup_by(|later, kept| {
            let is_shared = later.rest == kept.rest;
            if is_shared {
                *kept = Packed::shared(kept.rest());
            }
            is_shared
        });
        self.merged = self.entries.len();
    }

    fn make_room(&mut self) {
        if self.entries.len() == self.entries.capacity() {
            self.entries.reserve_exact(self.entries.len() / GROWTH + 1);
        }
    }

    fn runs(&self) -> (&[Packed], &[Packed]) {
        self.entries.split_at(self.merged)
    }

    /// Where a fingerprint is, or where in each run it would have to be inserted.
    fn find(&self, rest: u64) -> Result<usize, (usize, usize)> {
        let (first, second) = self.runs();
        place(first, rest).or_else(|in_first| match place(second, rest) {
            Ok(at) => Ok(self.merged + at),
            Err(at) => Err((in_first, self.merged + at)),
        })
    }

    /// Makes one run of both, from behind: what is between two entries of the second run moves at once.
    fn merge(&mut self) {
        let second = self.entries[self.merged..].to_vec();
        let mut end = self.merged;
        for (before, entry) in second.into_iter().enumerate().rev() {
            let at = self.entries[..end].partition_point(|merged| merged.rest() < entry.rest());
            self.entries.copy_within(at..end, at + before + 1);
            self.entries[at + before] = entry;
            end = at;
        }
        self.merged = self.entries.len();
    }
}

/// Where a fingerprint is in a run, if they are spread quite evenly.
fn guess(run: &[Packed], rest: u64) -> usize {
    ((u128::from(rest) * run.len() as u128) >> u64::BITS) as usize
}

/// Where a fingerprint is in a run, or where it would have to be inserted.
fn place(run: &[Packed], rest: u64) -> Result<usize, usize> {
    let mut at = guess(run, rest);
    while at > 0 && run[at - 1].rest() >= rest {
        at -= 1;
    }
    while at < run.len() && run[at].rest() < rest {
        at += 1;
    }
    if run.get(at).is_some_and(|found| found.rest() == rest) { Ok(at) } else { Err(at) }
}

impl Packed {
    fn new(rest: u64, Remembered { way, generation }: Remembered) -> Self {
        Packed { rest: rest.to_ne_bytes(), generation: generation.map_or(0, Generation::to_byte), way: way.to_byte() }
    }

    fn shared(rest: u64) -> Self {
        Packed::new(rest, Remembered { way: Way::Shared, generation: None })
    }

    fn rest(&self) -> u64 {
        u64::from_ne_bytes(self.rest)
    }

    fn remembered(&self) -> Remembered {
        Remembered { way: Way::from_byte(self.way), generation: Generation::from_byte(self.generation) }
    }
}
