//! The alphabets of the format: which symbol stands for a length or a distance, and how many bits follow it (RFC 1951, section 3.2.5).

/// Symbols for literals, the end of a block, and lengths.
pub(crate) const LITERALS: usize = 286;

/// Symbols for distances.
pub(crate) const DISTANCES: usize = 30;

/// The shortest match.
pub(crate) const MATCH_BYTES_MIN: usize = 3;

/// The longest match.
pub(crate) const MATCH_BYTES_MAX: usize = 258;

/// The farthest match.
pub(crate) const DISTANCE_MAX: usize = 32 * 1024;

const FIRST_LENGTH_SYMBOL: usize = 257;

/// The shortest match of each symbol, from 257 on.
const SHORTEST: [u16; 29] =
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];

/// The symbol of each length, from 3 on.
pub(crate) const LENGTH_SYMBOLS: [u16; 256] = {
    let mut symbols = [0; 256];
    let (mut length, mut symbol) = (0, 0);
    while length < symbols.len() {
        while symbol + 1 < SHORTEST.len() && SHORTEST[symbol + 1] as usize <= length + MATCH_BYTES_MIN {
            symbol += 1;
        }
        symbols[length] = (FIRST_LENGTH_SYMBOL + symbol) as u16;
        length += 1;
    }
    symbols
};

/// The extra bits that follow each symbol, from 257 on, for lengths.
const LENGTH_EXTRA_BITS: [u8; 29] =
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/// Of a length less 3: its extra bits, and how many they are.
pub(crate) fn length_extra(length: usize) -> (u32, u32) {
    let symbol = usize::from(LENGTH_SYMBOLS[length]) - FIRST_LENGTH_SYMBOL;
    let extra = length + MATCH_BYTES_MIN - usize::from(SHORTEST[symbol]);
    (extra as u32, u32::from(LENGTH_EXTRA_BITS[symbol]))
}

/// How many extra bits follow the symbol of a distance.
pub(crate) fn distance_extra_bits(symbol: usize) -> u32 {
    (symbol as u32 / 2).saturating_sub(1)
}

/// Of a distance less 1: its symbol and its extra bits.
#[inline]
pub(crate) fn distance_symbol(distance: u32) -> (usize, u32) {
    let extra_bits = (distance | 2).ilog2() - 1;
    ((2 * extra_bits + (distance >> extra_bits)) as usize, distance & ((1 << extra_bits) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_distances_have_the_symbols_of_the_standard() {
        for (length, symbol, extra) in [
            (3, 257, (0, 0)),
            (10, 264, (0, 0)),
            (11, 265, (0, 1)),
            (12, 265, (1, 1)),
            (13, 266, (0, 1)),
            (130, 280, (15, 4)),
            (131, 281, (0, 5)),
            (257, 284, (30, 5)),
            (258, 285, (0, 0)),
        ] {
            assert_eq!((LENGTH_SYMBOLS[length - 3], length_extra(length - 3)), (symbol, extra), "{length}");
        }
        for (distance, symbol, extra, extra_bits) in [
            (1, 0, 0, 0),
            (2, 1, 0, 0),
            (4, 3, 0, 0),
            (5, 4, 0, 1),
            (6, 4, 1, 1),
            (7, 5, 0, 1),
            (24_577, 29, 0, 13),
            (32_768, 29, 8_191, 13),
        ] {
            assert_eq!(distance_symbol(distance - 1), (symbol, extra), "{distance}");
            assert_eq!(distance_extra_bits(symbol), extra_bits, "{distance}");
        }
    }
}
