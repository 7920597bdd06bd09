//! The fingerprint of a text by which near duplicates are found: SimHash (Charikar, "Similarity Estimation Techniques from
//! Rounding Algorithms", STOC 2002; for web pages: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling",
//! WWW 2007).
//!
//! The features of a text are its words, lower case, without punctuation. Each distinct word votes on every bit of the
//! fingerprint by the bits of its hash, with the weight 1 + ln(occurrences). Single words and this weight were chosen by
//! measurement on real documents (`docs/near-duplicates.md`): runs of words find fewer edited copies, plain counts take
//! different pages of one manual for copies.

use std::cell::RefCell;

use crate::swar;

/// The fingerprint of a text. A text without words has 0.
#[must_use]
pub fn of_text(text: &str) -> u64 {
    OCCURRENCES.with_borrow_mut(|occurrences| {
        occurrences.begin(text.len() / BYTES_A_WORD);
        for_each_word(text, |word| occurrences.add(word));
        fingerprint(&occurrences.words)
    })
}

/// Of words and how often they occur.
fn fingerprint(words: &[(u64, u32)]) -> u64 {
    let mut seldom = [Counters::default(); OFTEN];
    let (mut votes_for, mut all) = ([0i64; 64], 0i64);
    for &(word, count) in words {
        all += weight(count);
        match seldom.get_mut(count as usize) {
            Some(counters) => counters.add(word),
            None => vote(&mut votes_for, word, weight(count)),
        }
    }
    for (count, counters) in (0..).zip(&seldom) {
        for (power, plane) in counters.planes.iter().enumerate().filter(|(_, plane)| **plane != 0) {
            vote(&mut votes_for, *plane, weight(count) << power);
        }
    }
    let mut fingerprint = 0;
    for (bit, votes) in votes_for.iter().enumerate() {
        fingerprint |= u64::from(2 * votes > all) << bit;
    }
    fingerprint
}

/// Gives each bit that is set so many votes.
fn vote(votes_for: &mut [i64; 64], bits: u64, votes: i64) {
    for (bit, votes_for) in votes_for.iter_mut().enumerate() {
        *votes_for += (bits >> bit & 1).cast_signed() * votes;
    }
}

/// Bytes of text for each distinct word, about.
const BYTES_A_WORD: usize = 24;

/// Words that occur less often than this, which most do, are counted together by how often they occur.
const OFTEN: usize = 8;

/// A text with fewer distinct words leaves its memory to the next one on its thread, less than a megabyte: for each page anew, it cost as
/// much as the counting.
const WORDS_KEPT_MAX: usize = 1 << 15;

thread_local! {
    static OCCURRENCES: RefCell<Occurrences> = const { RefCell::new(Occurrences { words: Vec::new(), slots: Vec::new() }) };
}

/// How often each word occurs, with an open-addressing table to find it, half full at most. The hashes are well mixed
/// already. An adversary gains nothing by collisions but a wrong fingerprint of his own page.
struct Occurrences {
    /// Hashes and counts.
    words: Vec<(u64, u32)>,
    /// A power of two of places among the words, counted from 1; 0 where there is none.
    slots: Vec<u32>,
}

impl Occurrences {
    /// Begins with none, and room for about so many.
    fn begin(&mut self, words: usize) {
        if self.words.capacity() > WORDS_KEPT_MAX {
            (self.words, self.slots) = (Vec::new(), Vec::new());
        }
        self.words.clear();
        self.words.reserve(words);
        self.clear_slots((2 * words).next_power_of_two());
    }

    fn clear_slots(&mut self, count: usize) {
        self.slots.clear();
        self.slots.resize(count, 0);
    }

    #[inline]
    fn add(&mut self, word: u64) {
        let slot = self.slot(word);
        if let Some((_, count)) = self.at(slot) {
            *count += 1;
            return;
        }
        self.words.push((word, 1));
        self.slots[slot] = self.words.len() as u32;
        if 2 * self.words.len() > self.slots.len() {
            self.grow();
        }
    }

    #[inline]
    fn at(&mut self, slot: usize) -> Option<&mut (u64, u32)> {
        self.words.get_mut((self.slots[slot] as usize).wrapping_sub(1))
    }

    /// Where this word is, or may be.
    #[inline]
    fn slot(&mut self, word: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = word as usize & last;
        while self.at(slot).is_some_and(|(known, _)| *known != word) {
            slot = (slot + 1) & last;
        }
        slot
    }

    fn grow(&mut self) {
        self.clear_slots(2 * self.slots.len());
        for place in 0..self.words.len() {
            let slot = self.slot(self.words[place].0);
            self.slots[slot] = place as u32 + 1;
        }
    }
}

/// Sixty-four counters, one for each bit, that are added to at once: plane n holds the bit of value 2^n of all of them. A
/// word changes two planes on average, where sixty-four separate counters would each be touched.
#[derive(Clone, Copy, Default)]
struct Counters {
    planes: [u64; PLANES],
}

/// A page has at most 2^20 bytes of text, and so fewer words.
const PLANES: usize = 20;

impl Counters {
    fn add(&mut self, word: u64) {
        let mut carry = word;
        for plane in &mut self.planes {
            if carry == 0 {
                return;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
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
    while at < bytes.len() {
        // Eight bytes at a time, since most text is ASCII and most words are shorter.
        let characters = swar::load(bytes, at);
        let parts = swar::alphanumeric(characters);
        let length = swar::before(!parts & swar::eight(0x80));
        hash = extend_by(hash, characters | swar::eight(0x20), length);
        is_word |= length > 0;
        at += length;
        if length == 8 {
            continue;
        }
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let Some(character) = text[at..].chars().next() else { break };
            at += character.len_utf8();
            if character.is_alphanumeric() {
                hash = character.to_lowercase().fold(hash, |hash, lower| extend(hash, u32::from(lower)));
                is_word = true;
                continue;
            }
        } else {
            // To the next word, or as far as is seen.
            let rest = (parts | swar::beyond_ascii(characters)) & !swar::mask(length);
            at += swar::before(rest) - length;
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

/// Extends a hash by the first bytes of eight. All eight steps are made, since how many count cannot be foreseen.
#[inline]
fn extend_by(hash: u64, characters: u64, length: usize) -> u64 {
    let mut hashes = [hash; 9];
    for (at, byte) in characters.to_le_bytes().into_iter().enumerate() {
        hashes[at + 1] = extend(hashes[at], u32::from(byte));
    }
    hashes[length]
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

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

    /// The fingerprint as the module defines it.
    fn by_definition(text: &str) -> u64 {
        let mut occurrences: HashMap<u64, u32> = HashMap::new();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let lower = word.chars().flat_map(char::to_lowercase);
            *occurrences.entry(mix(lower.fold(SEED, |hash, c| extend(hash, u32::from(c))))).or_default() += 1;
        }
        let all: i64 = occurrences.values().map(|&count| weight(count)).sum();
        let votes = |bit: u32| -> i64 {
            let votes = occurrences.iter().filter(|(word, _)| *word >> bit & 1 == 1);
            votes.map(|(_, &count)| weight(count)).sum()
        };
        (0..u64::BITS).fold(0, |fingerprint, bit| fingerprint | u64::from(2 * votes(bit) > all) << bit)
    }

    #[test]
    fn many_words_and_many_times_one() {
        let numbers: Vec<String> = (0..10_000).map(|number| (number * number % 7_919).to_string()).collect();
        for text in [numbers.join(" "), "a, ".repeat(10_000)] {
            assert_eq!(of_text(&text), by_definition(&text));
        }
    }

    proptest! {
        #[test]
        fn a_fingerprint_is_as_defined(text in "([a-cA-C]{1,3}[ .]|[a-zA-Z0-9]{0,20}|[éÉßİ€ \u{3000}]|.){0,60}") {
            prop_assert_eq!(of_text(&text), by_definition(&text));
        }
    }

    #[test]
    fn distance_counts_bits() {
        assert_eq!(distance(0, 0), 0);
        assert_eq!(distance(0b1011, 0b0010), 2);
        assert_eq!(distance(0, u64::MAX), 64);
    }
}
