//! The code of a block: what is written for each literal and match, and how the block begins that says so.

use crate::counts::{Counts, END_OF_BLOCK, FIRST_LENGTH, LITERALS_AND_LENGTHS};
use crate::huffman::{CODE_BITS_MAX, Codes};
use crate::output::Output;
use crate::symbols::{DISTANCES, LITERALS, distance_extra_bits, length_extra};

/// Bits to be written.
#[derive(Clone, Copy)]
pub(crate) struct Bits {
    pub(crate) bits: u64,
    pub(crate) count: u32,
}

/// What is written for a distance, before its extra bits.
#[derive(Clone, Copy, Default)]
pub(crate) struct DistanceBits {
    pub(crate) bits: u16,
    pub(crate) count: u8,
    /// With the extra bits.
    pub(crate) count_in_all: u8,
}

/// A code with tables of what is written.
pub(crate) struct Code {
    literals: Codes<LITERALS>,
    distances: Codes<DISTANCES>,
    /// Above their number (the lowest 8 bits) the bits of literals, and of lengths with their extra bits.
    entries: [u32; LITERALS_AND_LENGTHS],
    distance_entries: [DistanceBits; 32],
    /// The beginning of a block, without its first three bits.
    header: Vec<Bits>,
    header_bits: u64,
}

impl Code {
    /// The best code for symbols that occur so often.
    pub(crate) fn best(counts: &Counts) -> Code {
        let (literals, distances) = counts.by_symbol();
        let literals = Codes::best(&literals, CODE_BITS_MAX);
        let distances = Codes::best(&distances, CODE_BITS_MAX);
        let header = header(&literals, &distances);
        let header_bits = header.iter().map(|part| u64::from(part.count)).sum();
        let mut code = Code {
            literals,
            distances,
            entries: [0; _],
            distance_entries: [DistanceBits::default(); _],
            header,
            header_bits,
        };
        code.fill();
        code
    }

    fn fill(&mut self) {
        let Codes { lengths, codes } = &self.literals;
        for (entry, (code, count)) in self.entries.iter_mut().zip(codes.iter().zip(lengths)).take(FIRST_LENGTH) {
            *entry = u32::from(*code) << 8 | u32::from(*count);
        }
        for (length, entry) in self.entries[FIRST_LENGTH..].iter_mut().enumerate() {
            let symbol = usize::from(crate::symbols::LENGTH_SYMBOLS[length]);
            let (extra, extra_bits) = length_extra(length);
            let count = u32::from(lengths[symbol]);
            *entry = (u32::from(codes[symbol]) | extra << count) << 8 | (count + extra_bits);
        }
        for (symbol, entry) in self.distance_entries.iter_mut().enumerate().take(DISTANCES) {
            let count = self.distances.lengths[symbol];
            let count_in_all = count + distance_extra_bits(symbol) as u8;
            *entry = DistanceBits { bits: self.distances.codes[symbol], count, count_in_all };
        }
    }

    /// What is written for a literal, or for the length that has this entry.
    #[inline]
    pub(crate) fn literal_or_length(&self, entry: usize) -> Bits {
        let entry = self.entries[entry % LITERALS_AND_LENGTHS];
        Bits { bits: u64::from(entry >> 8), count: entry & 0xff }
    }

    /// What is written for a distance of this symbol.
    #[inline]
    pub(crate) fn distance(&self, symbol: usize) -> DistanceBits {
        self.distance_entries[symbol % 32]
    }

    /// Writes the beginning of a block.
    pub(crate) fn begin(&self, is_last: bool, output: &mut Output) {
        output.put(u64::from(is_last) | DYNAMIC << 1, 3);
        for part in &self.header {
            output.put(part.bits, part.count);
        }
    }

    /// Writes the end of a block.
    pub(crate) fn end(&self, output: &mut Output) {
        output.put(u64::from(self.literals.codes[END_OF_BLOCK]), u32::from(self.literals.lengths[END_OF_BLOCK]));
    }

    /// The bits of a block, except extra bits, in which symbols occur so often.
    pub(crate) fn bits(&self, literals: &[u32; LITERALS], distances: &[u32; DISTANCES]) -> u64 {
        self.header_bits + self.literals.bits(literals) + self.distances.bits(distances)
    }
}

/// Codes of the block's own (section 3.2.3).
const DYNAMIC: u64 = 0b10;

/// Lengths of codes are written in symbols of their own: the lengths, then repetitions.
const LENGTH_CODES: usize = 19;
const REPEAT: u8 = 16;
const ZEROS: u8 = 17;
const MANY_ZEROS: u8 = 18;
const LENGTH_CODE_BITS_MAX: usize = 7;

/// The order in which the lengths of those are written (section 3.2.7).
const LENGTH_CODES_ORDER: [usize; LENGTH_CODES] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// The beginning of a block of these codes (section 3.2.7).
fn header(literals: &Codes<LITERALS>, distances: &Codes<DISTANCES>) -> Vec<Bits> {
    let (literals_used, distances_used) = (literals.used(), distances.used());
    let lengths = [&literals.lengths[..literals_used], &distances.lengths[..distances_used]].concat();
    let symbols = run_lengths(&lengths);
    let mut counts = [0; LENGTH_CODES];
    for (symbol, _) in &symbols {
        counts[usize::from(*symbol)] += 1;
    }
    let codes = Codes::best(&counts, LENGTH_CODE_BITS_MAX);
    let written =
        LENGTH_CODES_ORDER.iter().rposition(|symbol| codes.lengths[*symbol] > 0).map_or(0, |last| last + 1).max(4);
    let mut header = vec![
        Bits { bits: (literals_used - 257) as u64, count: 5 },
        Bits { bits: (distances_used - 1) as u64, count: 5 },
        Bits { bits: (written - 4) as u64, count: 4 },
    ];
    let lengths = LENGTH_CODES_ORDER[..written].iter().map(|symbol| u64::from(codes.lengths[*symbol]));
    header.extend(lengths.map(|bits| Bits { bits, count: 3 }));
    for (symbol, extra) in symbols {
        let (code, count) = (codes.codes[usize::from(symbol)], u32::from(codes.lengths[usize::from(symbol)]));
        let extra_bits = match symbol {
            REPEAT => 2,
            ZEROS => 3,
            MANY_ZEROS => 7,
            _ => 0,
        };
        header.push(Bits { bits: u64::from(code) | u64::from(extra) << count, count: count + extra_bits });
    }
    header
}

/// Lengths as symbols with what their extra bits say.
fn run_lengths(lengths: &[u8]) -> Vec<(u8, u8)> {
    let mut symbols = Vec::with_capacity(lengths.len());
    for run in lengths.chunk_by(|one, next| one == next) {
        let (length, mut left) = (run[0], run.len());
        if length > 0 {
            symbols.push((length, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, least, most) = match (length, left) {
                (0, 11..) => (MANY_ZEROS, 11, 138),
                (0, _) => (ZEROS, 3, 10),
                _ => (REPEAT, 3, 6),
            };
            let taken = left.min(most);
            symbols.push((symbol, (taken - least) as u8));
            left -= taken;
        }
        symbols.extend(std::iter::repeat_n((length, 0), left));
    }
    symbols
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_lengths_are_written_as_repetitions() {
        fn check(runs: &[(u8, usize)], expect: &[(u8, u8)]) {
            let lengths: Vec<u8> =
                runs.iter().flat_map(|(length, times)| std::iter::repeat_n(*length, *times)).collect();
            assert_eq!(run_lengths(&lengths), expect, "{runs:?}");
        }
        check(&[(5, 1), (6, 3)], &[(5, 0), (6, 0), (6, 0), (6, 0)]);
        check(&[(5, 4), (5, 0)], &[(5, 0), (REPEAT, 0)]);
        check(&[(5, 9)], &[(5, 0), (REPEAT, 3), (5, 0), (5, 0)]);
        check(&[(0, 2), (7, 1)], &[(0, 0), (0, 0), (7, 0)]);
        check(&[(0, 3)], &[(ZEROS, 0)]);
        check(&[(0, 10)], &[(ZEROS, 7)]);
        check(&[(0, 11)], &[(MANY_ZEROS, 0)]);
        check(&[(0, 139)], &[(MANY_ZEROS, 127), (0, 0)]);
    }
}
