//! Random numbers and words: the same for the same page, and cheap.

/// A stream of random numbers: SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(super) struct Random(u64);

/// The words of all texts: 64, so that a random number of 64 bits makes ten.
const WORDS: [&str; 64] = [
    "web", "spider", "silk", "thread", "orb", "leaf", "dew", "branch", "garden", "morning", "wind", "wing", "light",
    "shadow", "stone", "river", "meadow", "grass", "summer", "autumn", "winter", "spring", "night", "moth", "fly",
    "beetle", "wasp", "ant", "bee", "cricket", "wall", "window", "door", "corner", "roof", "path", "bridge", "fence",
    "writes", "waits", "weaves", "hangs", "climbs", "falls", "turns", "hides", "moves", "sees", "small", "large",
    "yellow", "black", "silver", "quiet", "quick", "slow", "old", "young", "round", "thin", "between", "under",
    "above", "behind",
];
const WORDS_A_NUMBER: usize = 10;
const WORDS_A_SENTENCE: usize = 12;

impl Random {
    /// The stream that these numbers name.
    pub fn new(names: &[u64]) -> Self {
        Random(names.iter().fold(0, |state, name| Random(state ^ name).next()))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `bound - 1` (0 for a bound of 0), by multiplication: the bias is below 2⁻²⁴ for bounds up to 2⁴⁰.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// Appends sentences of random words, at least `bytes` long.
pub(super) fn write_sentences(out: &mut Vec<u8>, random: &mut Random, bytes: usize) {
    let end = out.len() + bytes;
    let mut words = 0;
    while out.len() < end {
        let mut bits = random.next();
        for _ in 0..WORDS_A_NUMBER {
            out.extend_from_slice(word(bits).as_bytes());
            bits >>= 6;
            words += 1;
            out.extend_from_slice(if words % WORDS_A_SENTENCE == 0 { b".\n" } else { b" " });
        }
    }
}

/// A word chosen by the lowest six bits.
pub(super) fn word(bits: u64) -> &'static str {
    WORDS[(bits & 63) as usize]
}
