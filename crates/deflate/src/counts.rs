//! How often each symbol occurs, and what that is worth.

use crate::symbols::{DISTANCES, LENGTH_SYMBOLS, LITERALS};

/// Entries for literals, and from [`FIRST_LENGTH`] on for lengths of matches.
pub(crate) const LITERALS_AND_LENGTHS: usize = 512;

/// The entry of a match of 3 bytes.
pub(crate) const FIRST_LENGTH: usize = 256;

/// The end of the block, among the symbols of literals and lengths.
pub(crate) const END_OF_BLOCK: usize = 256;

/// Occurrences of literals, lengths of matches, and distances.
#[derive(Clone)]
pub(crate) struct Counts {
    pub(crate) literals: [u32; LITERALS_AND_LENGTHS],
    /// A power of two, so that an index is checked by masking; the last two do not occur.
    pub(crate) distances: [u32; 32],
}

impl Counts {
    /// Nothing has occurred.
    pub(crate) const ZERO: Counts = Counts { literals: [0; LITERALS_AND_LENGTHS], distances: [0; 32] };

    /// By the symbols of a block that ends.
    pub(crate) fn by_symbol(&self) -> ([u32; LITERALS], [u32; DISTANCES]) {
        let mut literals = [0; LITERALS];
        literals[..FIRST_LENGTH].copy_from_slice(&self.literals[..FIRST_LENGTH]);
        for (count, symbol) in self.literals[FIRST_LENGTH..].iter().zip(LENGTH_SYMBOLS) {
            literals[usize::from(symbol)] += count;
        }
        literals[END_OF_BLOCK] = 1;
        let mut distances = [0; DISTANCES];
        distances.copy_from_slice(&self.distances[..DISTANCES]);
        (literals, distances)
    }

    /// The same, with each symbol at least once, so that it gets a code.
    pub(crate) fn at_least_one(&self) -> Counts {
        Counts {
            literals: self.literals.map(|count| count.max(1)),
            distances: self.distances.map(|count| count.max(1)),
        }
    }

    /// Adds others to half of these: what was long ago counts less.
    pub(crate) fn learn(&mut self, others: &Counts) {
        for (count, other) in self.literals.iter_mut().zip(others.literals) {
            *count = *count / 2 + other;
        }
        for (count, other) in self.distances.iter_mut().zip(others.distances) {
            *count = *count / 2 + other;
        }
    }

    /// Adds others to these.
    pub(crate) fn add(&mut self, others: &Counts) {
        for (count, other) in self.literals.iter_mut().zip(others.literals) {
            *count += other;
        }
        for (count, other) in self.distances.iter_mut().zip(others.distances) {
            *count += other;
        }
    }
}

/// About how many bits symbols take in the best code for them: their entropy.
pub(crate) fn entropy_bits(counts: &[u32]) -> u64 {
    let sum = counts.iter().sum();
    let weighted = counts.iter().map(|count| u64::from(*count) * log2(*count)).sum::<u64>();
    (u64::from(sum) * log2(sum)).saturating_sub(weighted) >> LOG2_FRACTION_BITS
}

const LOG2_FRACTION_BITS: u32 = 8;

/// The binary logarithm in fixed point, on a straight line from one power of two to the next.
fn log2(count: u32) -> u64 {
    let whole = (count | 1).ilog2();
    let fraction = (u64::from(count) << LOG2_FRACTION_BITS >> whole) & ((1 << LOG2_FRACTION_BITS) - 1);
    u64::from(whole) << LOG2_FRACTION_BITS | fraction
}
