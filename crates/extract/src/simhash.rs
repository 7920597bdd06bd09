//! The fingerprint of a text by which near duplicates are found: SimHash (Charikar, "Similarity Estimation Techniques from
//! Rounding Algorithms", STOC 2002; for web pages: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling",
//! WWW 2007).
//!
//! The features of a text are its words, lower case, without punctuation. Each distinct word votes on every bit of the
//! fingerprint by the bits of its hash, with the weight 1 + ln(occurrences). Single words and this weight were chosen by
//! measurement on real documents (`docs/near-duplicates.md`): runs of words find fewer edited copies, plain counts take
//! different pages of one manual for copies.

use std::cell::RefCell;
use std::sync::LazyLock;

use crate::swar;

/// The fingerprint of a text. A text without words has 0.
#[must_use]
pub fn of_text(text: &str) -> u64 {
    of_words(text, |_, _| ())
}

/// The same, and calls `each` as [`for_each_word`] does.
pub(crate) fn of_words(text: &str, mut each: impl FnMut(u64, bool)) -> u64 {
    OCCURRENCES.with_borrow_mut(|occurrences| {
        occurrences.begin(text.len() / BYTES_A_WORD);
        for_each_word(text, |word, is_number| {
            occurrences.add(word);
            each(word, is_number);
        });
        occurrences.fingerprint()
    })
}

/// Bytes of text for each distinct word, about.
const BYTES_A_WORD: usize = 16;

/// The least number of words there is room for.
const WORDS_MIN: usize = 16;

/// Slots for each distinct word, at least: few words are not where they are looked for first.
const SLOTS_A_WORD: usize = 2;

/// A text that needs fewer slots leaves its memory to the next one on its thread, a megabyte at most: allocated again for each page, it cost as much
/// as the counting.
const SLOTS_KEPT_MAX: usize = 1 << 16;

thread_local! {
    static OCCURRENCES: RefCell<Occurrences> = const { RefCell::new(Occurrences { slots: Vec::new(), words: Vec::new(), count: 0 }) };
}

/// How often each word occurs, in an open-addressing table. The hashes are well mixed already. An adversary gains nothing
/// by collisions but a wrong fingerprint of his own page.
struct Occurrences {
    /// A power of two of hashes and counts; where the count is 0 there is no word.
    slots: Vec<(u64, u32)>,
    /// The places of the words among the slots, and room for more.
    words: Vec<u32>,
    /// How many words there are.
    count: usize,
}

impl Occurrences {
    /// Begins with none, and room for about so many.
    fn begin(&mut self, words: usize) {
        if self.slots.capacity() > SLOTS_KEPT_MAX {
            (self.slots, self.words) = (Vec::new(), Vec::new());
        }
        self.clear((SLOTS_A_WORD * words.max(WORDS_MIN)).next_power_of_two());
    }

    fn clear(&mut self, slots: usize) {
        self.slots.clear();
        self.slots.resize(slots, (0, 0));
        // One more is written before it is known whether it counts.
        self.words.resize(slots / SLOTS_A_WORD + 1, 0);
        self.count = 0;
    }

    #[inline]
    fn add(&mut self, word: u64) {
        self.add_times(word, 1);
        if self.count + 1 == self.words.len() {
            self.grow();
        }
    }

    /// Without a branch for whether a word is new, which nobody can foresee.
    #[inline]
    fn add_times(&mut self, word: u64, times: u32) {
        let last = self.slots.len() - 1;
        let mut at = word as usize & last;
        while self.slots[at].1 != 0 && self.slots[at].0 != word {
            at = (at + 1) & last;
        }
        let slot = &mut self.slots[at];
        self.words[self.count] = at as u32;
        self.count += usize::from(slot.1 == 0);
        *slot = (word, slot.1 + times);
    }

    #[cold]
    fn grow(&mut self) {
        let words: Vec<(u64, u32)> = self.all().collect();
        self.clear(2 * self.slots.len());
        for (word, times) in words {
            self.add_times(word, times);
        }
    }

    /// The words and how often they occur.
    fn all(&self) -> impl Iterator<Item = (u64, u32)> {
        self.words[..self.count].iter().map(|&at| self.slots[at as usize])
    }

    fn fingerprint(&self) -> u64 {
        let (mut votes_for, mut all) = ([0i64; 64], 0i64);
        let mut seldom = [Counters::default(); OFTEN];
        for words in self.words[..self.count].chunks(Counters::MAX) {
            for &at in words {
                let (word, count) = self.slots[at as usize];
                all += weight(count);
                match seldom.get_mut(count as usize) {
                    Some(counters) => counters.add(word),
                    None => vote(&mut votes_for, word, weight(count)),
                }
            }
            for (count, counters) in (0..).zip(&mut seldom) {
                counters.take(&mut votes_for, weight(count));
            }
        }
        let mut fingerprint = 0;
        for (bit, votes) in votes_for.iter().enumerate() {
            fingerprint |= u64::from(2 * votes > all) << bit;
        }
        fingerprint
    }
}

/// Gives each bit that is set so many votes.
fn vote(votes_for: &mut [i64; 64], bits: u64, votes: i64) {
    for (bit, votes_for) in votes_for.iter_mut().enumerate() {
        *votes_for += (bits >> bit & 1).cast_signed() * votes;
    }
}

/// Words that occur less often than this, which most do, are counted together by how often they occur.
const OFTEN: usize = 8;

/// Sixty-four counters, one for each bit, in a byte each, so that eight are added to at once.
#[derive(Clone, Copy, Default)]
struct Counters([u64; 8]);

impl Counters {
    /// How many words may be added before they are taken.
    const MAX: usize = 255;

    #[inline]
    fn add(&mut self, word: u64) {
        for (counters, bits) in self.0.iter_mut().zip(word.to_le_bytes()) {
            *counters += SPREAD[usize::from(bits)];
        }
    }

    /// Gives what was counted so many votes each, and counts from 0 again.
    fn take(&mut self, votes_for: &mut [i64; 64], votes: i64) {
        for (counters, votes_for) in std::mem::take(self).0.iter().zip(votes_for.as_chunks_mut::<8>().0) {
            for (counter, votes_for) in counters.to_le_bytes().into_iter().zip(votes_for) {
                *votes_for += i64::from(counter) * votes;
            }
        }
    }
}

/// Each bit of a byte in a byte of its own.
static SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut bits = 0;
    while bits < spread.len() {
        let mut bit = 0;
        while bit < 8 {
            spread[bits] |= (bits as u64 >> bit & 1) << (8 * bit);
            bit += 1;
        }
        bits += 1;
    }
    spread
};

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

/// Calls `each` with the hash of every word, a run of letters and digits, lower case, and whether it has digits alone.
pub(crate) fn for_each_word(text: &str, mut each: impl FnMut(u64, bool)) {
    let bytes = text.as_bytes();
    let lower_case = &LOWER_CASE[..];
    let (mut at, mut hash, mut is_word, mut has_letter) = (0, SEED, false, false);
    // A word that ends with the text takes a last turn, in which nothing is left. So there is one call of `each`, which is made inline.
    while at < bytes.len() || is_word {
        // Eight bytes at a time, since most text is ASCII and most words are shorter.
        let characters = swar::load(bytes, at);
        let parts = swar::alphanumeric(characters);
        let length = swar::before(!parts & swar::eight(0x80));
        hash = extend_by(hash, characters | swar::eight(0x20), length);
        is_word |= length > 0;
        has_letter |= swar::before(swar::letters(characters, parts)) < length;
        at += length;
        if length == 8 {
            continue;
        }
        if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
            let Some(character) = text[at..].chars().next() else { break };
            at += character.len_utf8();
            let lower = lower_case.get(character as usize).copied().unwrap_or(SEVERAL);
            if lower != NO_LETTER && (lower != SEVERAL || character.is_alphanumeric()) {
                hash = match lower {
                    SEVERAL => character.to_lowercase().fold(hash, |hash, lower| extend(hash, u32::from(lower))),
                    lower => extend(hash, u32::from(lower)),
                };
                (is_word, has_letter) = (true, true);
                continue;
            }
        } else {
            // To the next word, or as far as is seen.
            let rest = (parts | swar::beyond_ascii(characters)) & !swar::mask(length);
            at += swar::before(rest) - length;
        }
        if is_word {
            each(mix(hash), !has_letter);
            (hash, is_word, has_letter) = (SEED, false, false);
        }
    }
}

/// In lower case the characters of up to two bytes in UTF-8, among them those of the Latin, Greek, Cyrillic, Hebrew and Arabic scripts;
/// the tables of Unicode are ten times slower.
static LOWER_CASE: LazyLock<[u16; 0x800]> = LazyLock::new(|| {
    std::array::from_fn(|code| {
        let Some(character) = char::from_u32(code as u32).filter(|character| character.is_alphanumeric()) else {
            return NO_LETTER;
        };
        let mut lower = character.to_lowercase();
        match (lower.next().map(|lower| u16::try_from(u32::from(lower))), lower.next()) {
            (Some(Ok(lower)), None) => lower,
            _ => SEVERAL,
        }
    })
});
/// Neither a letter nor a digit.
const NO_LETTER: u16 = 0;
/// Marks characters that need a lookup in Unicode's tables.
const SEVERAL: u16 = u16::MAX;

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
pub(crate) fn mix(hash: u64) -> u64 {
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
