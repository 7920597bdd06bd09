//! Code lengths that are best for given counts, none longer than a limit, and the codes of those lengths.

/// The most bits of a code of ours. RFC 1951 (section 3.2.7) allows 15; 12 cost less than a thousandth and let four literals, or a length with its
/// distance, go into a word of 64 bits beside what is left over from before.
pub(crate) const CODE_BITS_MAX: usize = 12;

/// The codes of an alphabet: of each symbol the bits in the order in which they are written, and how many they are.
#[derive(Clone, Copy)]
pub(crate) struct Codes<const SYMBOLS: usize> {
    pub(crate) lengths: [u8; SYMBOLS],
    pub(crate) codes: [u16; SYMBOLS],
}

impl<const SYMBOLS: usize> Codes<SYMBOLS> {
    /// The best codes of at most `bits_max` bits for symbols that occur so often. A symbol that does not occur has none, but one symbol has
    /// a code in any case.
    pub(crate) fn best(counts: &[u32; SYMBOLS], bits_max: usize) -> Codes<SYMBOLS> {
        let mut lengths = [0; SYMBOLS];
        let mut used = [(0, 0); SYMBOLS];
        let mut len = 0;
        for (symbol, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            used[len] = (*count, symbol);
            len += 1;
        }
        let used = &mut used[..len];
        used.sort_unstable();
        match used {
            [] => lengths[0] = 1,
            [(_, only)] => lengths[*only] = 1,
            _ => {
                let mut symbols = used.iter();
                let per_length = limited(&depths::<SYMBOLS>(used), bits_max);
                for (length, symbols_of_it) in per_length.iter().enumerate().rev() {
                    for (_, symbol) in symbols.by_ref().take(*symbols_of_it as usize) {
                        lengths[*symbol] = length as u8;
                    }
                }
            }
        }
        Codes::of(lengths)
    }

    /// The canonical codes of these lengths (RFC 1951, section 3.2.2), turned round since they are written from their highest bit on.
    fn of(lengths: [u8; SYMBOLS]) -> Codes<SYMBOLS> {
        let mut next = [0_u16; LENGTHS];
        for length in lengths.iter().filter(|length| **length > 0) {
            next[usize::from(*length)] += 1;
        }
        let (mut first, mut before) = (0, 0);
        for next in &mut next {
            first = (first + before) << 1;
            before = std::mem::replace(next, first);
        }
        let mut codes = [0; SYMBOLS];
        for (code, length) in codes.iter_mut().zip(lengths).filter(|(_, length)| *length > 0) {
            let next = &mut next[usize::from(length)];
            *code = next.reverse_bits() >> (16 - length);
            *next += 1;
        }
        Codes { lengths, codes }
    }

    /// The symbols up to the last that has a code.
    pub(crate) fn used(&self) -> usize {
        self.lengths.iter().rposition(|length| *length > 0).map_or(0, |last| last + 1)
    }

    /// The bits that symbols take that occur so often.
    pub(crate) fn bits(&self, counts: &[u32; SYMBOLS]) -> u64 {
        counts.iter().zip(self.lengths).map(|(count, length)| u64::from(*count) * u64::from(length)).sum()
    }
}

/// One more than the highest length there is in the format.
const LENGTHS: usize = 16;

/// How many of the symbols, sorted by their counts, lie how deep in Huffman's tree. Depths from [`LENGTHS`] on count as the last.
///
/// A. Moffat, J. Katajainen: In-Place Calculation of Minimum-Redundancy Codes (WADS 1995): the array holds the counts of leaves first, then the weights
/// of inner nodes, then their parents, then their depths.
fn depths<const SYMBOLS: usize>(sorted: &[(u32, usize)]) -> [u32; LENGTHS] {
    let len = sorted.len();
    let mut nodes = [0; SYMBOLS];
    for (node, (count, _)) in nodes.iter_mut().zip(sorted) {
        *node = *count as usize;
    }
    let (mut root, mut leaf) = (0, 0);
    for next in 0..len - 1 {
        let mut weight = 0;
        for _ in 0..2 {
            if leaf >= len || (root < next && nodes[root] < nodes[leaf]) {
                weight += std::mem::replace(&mut nodes[root], next);
                root += 1;
            } else {
                weight += nodes[leaf];
                leaf += 1;
            }
        }
        nodes[next] = weight;
    }
    nodes[len - 2] = 0;
    for next in (0..len - 2).rev() {
        nodes[next] = nodes[nodes[next]] + 1;
    }
    let mut per_depth = [0; LENGTHS];
    let (mut inner, mut open, mut depth) = (nodes[..len - 1].iter().rev().peekable(), 1, 0);
    while open > 0 {
        let mut inner_here = 0;
        while inner.next_if(|node| **node == depth).is_some() {
            inner_here += 1;
        }
        per_depth[depth.min(LENGTHS - 1)] += open - inner_here;
        open = 2 * inner_here;
        depth += 1;
    }
    per_depth
}

/// Makes lengths of depths, none above `bits_max`: leaves from below are put on that length, and others moved down until all have room (as zlib does; within a
/// thousandth of the optimum).
fn limited(per_depth: &[u32; LENGTHS], bits_max: usize) -> [u32; LENGTHS] {
    let mut lengths = [0; LENGTHS];
    for (depth, leaves) in per_depth.iter().enumerate() {
        lengths[depth.min(bits_max)] += leaves;
    }
    let room = 1_u32 << bits_max;
    let mut taken = (1..=bits_max).map(|length| lengths[length] << (bits_max - length)).sum::<u32>();
    while taken > room {
        // One of the longest goes beside a shorter one, which becomes one bit longer for it.
        let Some(shorter) = (1..bits_max).rev().find(|length| lengths[*length] > 0) else { break };
        lengths[shorter] -= 1;
        lengths[shorter + 1] += 2;
        lengths[bits_max] -= 1;
        taken -= 1;
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(counts: &[u32; 8], bits_max: usize, lengths: [u8; 8]) {
        assert_eq!(Codes::best(counts, bits_max).lengths, lengths, "{counts:?}, {bits_max}");
    }

    #[test]
    fn frequent_symbols_have_short_codes_and_none_is_too_long() {
        check(&[0, 0, 0, 0, 0, 0, 0, 0], 7, [1, 0, 0, 0, 0, 0, 0, 0]);
        check(&[0, 0, 9, 0, 0, 0, 0, 0], 7, [0, 0, 1, 0, 0, 0, 0, 0]);
        check(&[0, 0, 9, 0, 0, 0, 0, 1], 7, [0, 0, 1, 0, 0, 0, 0, 1]);
        check(&[5, 5, 5, 5, 5, 5, 5, 5], 7, [3, 3, 3, 3, 3, 3, 3, 3]);
        check(&[1, 1, 2, 4, 8, 16, 32, 64], 7, [7, 7, 6, 5, 4, 3, 2, 1]);
        check(&[1, 1, 2, 4, 8, 16, 32, 64], 3, [3, 3, 3, 3, 3, 3, 3, 3]);
    }

    #[test]
    fn codes_are_those_of_the_standard() {
        // The example of RFC 1951, section 3.2.2.
        let codes = Codes::of([3, 3, 3, 3, 3, 2, 4, 4]);
        let written = [0b010, 0b011, 0b100, 0b101, 0b110, 0b00, 0b1110, 0b1111_u16];
        for (symbol, code) in written.into_iter().enumerate() {
            let turned = code.reverse_bits() >> (16 - codes.lengths[symbol]);
            assert_eq!(codes.codes[symbol], turned, "{symbol}");
        }
    }

    proptest! {
        #[test]
        fn codes_fill_their_room_exactly(
            counts in proptest::array::uniform32(prop_oneof![Just(0), 1..3_u32, 1..1_000_000_u32]), bits_max in 5..=15_usize,
        ) {
            let codes = Codes::best(&counts, bits_max);
            let used = counts.iter().filter(|count| **count > 0).count();
            prop_assert!(codes.lengths.iter().all(|length| usize::from(*length) <= bits_max));
            let room = codes.lengths.iter().filter(|length| **length > 0).map(|length| 1 << (15 - length)).sum::<u32>();
            if used > 1 {
                prop_assert!(counts.iter().zip(codes.lengths).all(|(count, length)| (*count > 0) == (length > 0)));
                prop_assert_eq!(room, 1 << 15);
            }
        }
    }
}
