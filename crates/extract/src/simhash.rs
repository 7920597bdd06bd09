//! The fingerprint of a text by which near duplicates are found: SimHash (Charikar, "Similarity Estimation Techniques from
//! Rounding Algorithms", STOC 2002; for web pages: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling",
//! WWW 2007).
//!
//! The features of a text are its words, lower case, without punctuation. Each distinct word votes on every bit of the
//! fingerprint by the bits of its hash, with the weight 1 + ln(occurrences). Single words and this weight were chosen by
//! measurement on real documents (`docs/near-duplicates.md`): runs of words find fewer edited copies, plain counts take
//! different pages of one manual for copies.

use std::collections::HashMap;

/// The fingerprint of a text. A text without words has 0.
#[must_use]
pub fn of_text(text: &str) -> u64 {
    let mut occurrences: HashMap<u64, u32, BuildIdentity> =
        HashMap::with_capacity_and_hasher(text.len() / BYTES_A_WORD, BuildIdentity);
    for_each_word(text, |word| *occurrences.entry(word).or_insert(0) += 1);
    let mut often = [Counters::default(); OFTEN];
    let (mut votes_for, mut all) = ([0i64; 64], 0i64);
    for (word, count) in occurrences {
        all += weight(count);
        match often.get_mut(count as usize) {
            Some(counters) => counters.add(word),
            None => add(&mut votes_for, &Counters::of(word), weight(count)),
        }
    }
    for (count, counters) in (0..).zip(&often) {
        add(&mut votes_for, counters, weight(count));
    }
    let mut fingerprint = 0;
    for (bit, votes) in votes_for.iter().enumerate() {
        fingerprint |= u64::from(2 * votes > all) << bit;
    }
    fingerprint
}

/// Bytes of text for each distinct word, about.
const BYTES_A_WORD: usize = 12;

/// Words that occur less often than this, which most do, are counted together by how often they occur.
const OFTEN: usize = 8;

/// Sixty-four counters, one for each bit, that are added to at once: plane n holds the bit of value 2^n of all of them. A
/// word changes two planes on average, where sixty-four separate counters would each be touched.
#[derive(Clone, Copy, Default)]
struct Counters {
    planes: [u64; PLANES],
}

/// A page has at most 2^20 bytes of text, and so fewer words.
const PLANES: usize = 20;

impl Counters {
    fn of(word: u64) -> Self {
        let mut counters = Counters::default();
        counters.add(word);
        counters
    }

    fn add(&mut self, word: u64) {
        let mut carry = word;
        for plane in &mut self.planes {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    fn get(&self, bit: usize) -> i64 {
        self.planes.iter().rev().fold(0, |count, plane| count << 1 | (plane >> bit & 1).cast_signed())
    }
}

fn add(votes_for: &mut [i64; 64], counters: &Counters, weight: i64) {
    for (bit, votes) in votes_for.iter_mut().enumerate() {
        *votes += counters.get(bit) * weight;
    }
}

/// 256 × (1 + ln `count`), in whole numbers so that it is the same on every machine: the logarithm to base 2 is taken as
/// linear between powers of two.
fn weight(count: u32) -> i64 {
    /// 256 × ln 2.
    const LN_2: i64 = 177;
    let (count, power) = (i64::from(count.max(1)), count.max(1).ilog2());
    let log_2 = i64::from(power) * 256 + ((count << 8 >> power) - 256);
    256 + log_2 * LN_2 / 256
}

/// In how many bits two fingerprints differ (their Hamming distance).
#[must_use]
pub const fn distance(a: u64, b: u64) -> u32 {
    (a ^ b).count_ones()
}

/// Calls `each` with the hash of every word: a run of letters and digits, lower case.
fn for_each_word(text: &str, mut each: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let (mut at, mut hash, mut is_word) = (0, SEED, false);
    while let Some(&byte) = bytes.get(at) {
        // Most text is ASCII.
        let character = CHARACTERS[usize::from(byte)];
        at += 1;
        if character != 0 {
            hash = extend(hash, u32::from(character));
            is_word = true;
            continue;
        }
        if !byte.is_ascii() {
            at -= 1;
            let Some(character) = text[at..].chars().next() else { break };
            at += character.len_utf8();
            if character.is_alphanumeric() {
                hash = character.to_lowercase().fold(hash, |hash, lower| extend(hash, u32::from(lower)));
                is_word = true;
                continue;
            }
        }
        if is_word {
            each(mix(hash));
            (hash, is_word) = (SEED, false);
        }
    }
    if is_word {
        each(mix(hash));
    }
}

/// Letters of ASCII in lower case, and digits; 0 for all other bytes.
const CHARACTERS: [u8; 256] = {
    let mut characters = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            characters[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    characters
};

/// One step of FNV-1a.
fn extend(hash: u64, character: u32) -> u64 {
    (hash ^ u64::from(character)).wrapping_mul(FACTOR)
}

/// The offset basis and the prime of FNV-1a for 64 bits (RFC 9923).
const SEED: u64 = 0xcbf2_9ce4_8422_2325;
const FACTOR: u64 = 0x0000_0100_0000_01b3;

/// Spreads every bit over all: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// The hashes are well mixed already. An adversary gains nothing by collisions but a wrong fingerprint of his own page.
#[derive(Clone, Copy, Default)]
struct BuildIdentity;

struct Identity(u64);

impl std::hash::BuildHasher for BuildIdentity {
    type Hasher = Identity;

    fn build_hasher(&self) -> Identity {
        Identity(0)
    }
}

impl std::hash::Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_words_has_no_bits() {
        for text in ["", " ", "… — !?"] {
            assert_eq!(of_text(text), 0, "{text:?}");
        }
    }

    #[test]
    fn case_space_and_punctuation_do_not_count() {
        let text = "The spider writes: its web, in the middle of the garden.";
        assert_eq!(of_text(text), of_text("the SPIDER writes its   web\nin the middle, of the garden"));
        assert_eq!(of_text("spider"), of_text("Spider!"));
        assert_ne!(of_text("spider"), of_text("garden"));
    }

    #[test]
    fn weights_grow_like_the_logarithm() {
        for count in [1u32, 2, 3, 5, 10, 100, 1_000, u32::MAX] {
            let exact = 256.0 * (1.0 + f64::from(count).ln());
            let difference = (weight(count) as f64 - exact).abs();
            assert!(difference < 20.0, "{count}: {} instead of {exact}", weight(count));
        }
    }

    /// The fingerprints are in files: they must not change unnoticed.
    #[test]
    fn golden_fingerprints() {
        let text = "Argiope is the writing spider. This program crawls the web politely.";
        assert_eq!(format!("{:016x}", of_text(text)), "30117067eb2b15f1");
    }

    #[test]
    fn distance_counts_bits() {
        assert_eq!(distance(0, 0), 0);
        assert_eq!(distance(0b1011, 0b0010), 2);
        assert_eq!(distance(0, u64::MAX), 64);
    }
}
