//! A sample of the passages of a text. It distinguishes a page that says something new from one that repeats others.
//!
//! A passage is three words in a row, and in scripts that write no spaces also three letters. Numbers are left out: counters, dates and prices differ on pages that are the same. The sample is that
//! of the smallest hashes, so it has the same passages of the same parts of two texts.

use crate::{simhash, wording};

/// Passages sampled of a text, at most.
pub const PASSAGES_MAX: usize = 64;

/// Room for a sample while it is taken: when it is full, the largest half is dropped.
const SAMPLE_ROOM: usize = 2 * PASSAGES_MAX;

/// The sample of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passages {
    /// The smallest hashes, in order.
    pub sample: Vec<u32>,
    /// How many passages the text has, with repeats.
    pub count: u32,
    /// All words of the text in their order, as a number.
    pub words: u32,
}

/// Marks of the passages that a sample got last. Texts repeat phrases: without them a sample is sorted over and over for its repeats.
const MARKS: usize = 256;

/// Words whose passages are hashed at once: apart from the search for words, this takes a fraction of the time.
const WORDS_AT_ONCE: usize = 256;

/// Words before one with which it makes a passage.
const WORDS_BEFORE: usize = 2;

/// The passages of a text, and its [fingerprint](simhash): both need its words.
#[must_use]
pub fn with_fingerprint(text: &str) -> (Passages, u64) {
    let mut sampler = Sampler::default();
    let fingerprint = simhash::of_words(text, |word, is_number| sampler.push(word, is_number));
    if wording::may_be_without_spaces(text) {
        // What lies between two spaces may be a sentence here, and a page of a few sentences has hardly a passage.
        let letters = text.chars().filter(|letter| wording::is_without_spaces(*letter));
        letters.for_each(|letter| sampler.push(simhash::mix(u64::from(letter)), false));
    }
    (sampler.finish(), fingerprint)
}

/// A sample that is being taken.
struct Sampler {
    passages: Passages,
    /// Hashes below this one may be among the smallest.
    max: u32,
    marks: [u32; MARKS],
    /// The last words, numbers left out.
    words: [u64; WORDS_AT_ONCE],
    length: usize,
    /// All words so far.
    all: u64,
}

impl Default for Sampler {
    fn default() -> Self {
        let passages = Passages { sample: Vec::with_capacity(SAMPLE_ROOM), count: 0, words: 0 };
        Sampler { passages, max: u32::MAX, marks: [u32::MAX; MARKS], words: [0; WORDS_AT_ONCE], length: 0, all: 0 }
    }
}

impl Sampler {
    /// Without a branch for numbers, which nobody can foresee.
    #[inline]
    fn push(&mut self, word: u64, is_number: bool) {
        self.words[self.length] = word;
        self.length += usize::from(!is_number);
        let with_this = (self.all.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.all = if is_number { self.all } else { with_this };
        if self.length == WORDS_AT_ONCE {
            self.take();
        }
    }

    /// Takes the passages of the words so far. The last words begin the next ones.
    fn take(&mut self) {
        let words = &self.words[..self.length];
        self.passages.count = self.passages.count.saturating_add(words.len().saturating_sub(WORDS_BEFORE) as u32);
        for passage in words.array_windows() {
            let hash = hash(*passage);
            let mark = &mut self.marks[hash as usize % MARKS];
            if hash < self.max && std::mem::replace(mark, hash) != hash {
                self.passages.sample.push(hash);
                if self.passages.sample.len() == SAMPLE_ROOM {
                    self.max = self.passages.shorten().unwrap_or(self.max);
                }
            }
        }
        let kept = self.length.saturating_sub(WORDS_BEFORE)..self.length;
        self.length = kept.len();
        self.words.copy_within(kept, 0);
    }

    fn finish(mut self) -> Passages {
        self.take();
        self.passages.shorten();
        self.passages.words = (self.all >> u32::BITS) as u32;
        self.passages
    }
}

impl Passages {
    /// Drops repeats, and all but the smallest. Gives the largest of these where there may be others.
    fn shorten(&mut self) -> Option<u32> {
        self.sample.sort_unstable();
        self.sample.dedup();
        self.sample.truncate(PASSAGES_MAX);
        self.sample.get(PASSAGES_MAX - 1).copied()
    }
}

/// The upper half of a product has all bits of its factors, which are well mixed already.
fn hash([first, second, third]: [u64; 3]) -> u32 {
    let sum = first.wrapping_add(second.rotate_left(21)).wrapping_add(third.rotate_left(42));
    (sum.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Passages {
        with_fingerprint(text).0
    }

    fn words(range: std::ops::Range<usize>) -> String {
        range.map(|n| format!("w{n} ")).collect()
    }

    #[test]
    fn numbers_case_and_punctuation_do_not_count() {
        let text = of("The spider writes on page 7, in its web.");
        assert_eq!(text.count, 6);
        assert_eq!(text, of("the spider, writes on page 2026-11-25 IN ITS web"));
        assert_eq!(of("été 7 où 12345678901 là"), of("été où là"));
        for (few, count) in [("", 0), ("one", 0), ("one 2 3 4", 0), ("one two", 0), ("one two three", 1)] {
            assert_eq!((of(few).count, of(few).sample.len()), (count, count as usize), "{few}");
        }
        // A word whose first eight characters, which are read at once, are digits.
        assert_eq!(of("12345678abc two three").count, 1);
    }

    #[test]
    fn letters_make_passages_where_no_spaces_are_written() {
        let letters = |from: u32, count: u32| (from..from + count).filter_map(char::from_u32).collect::<String>();
        // Chinese, Thai: one run between two spaces.
        for (text, count) in [(letters(0x4e00, 160), 158), (letters(0xe01, 40), 38)] {
            let passages = of(&text);
            assert!(passages.count >= count && passages.sample.len() >= 38, "{text}: {}", passages.count);
            assert_eq!(passages.sample, of(&format!("7 {text} 2026")).sample, "numbers do not count");
        }
        assert_eq!(of("d'été où là-bas").count, 3, "where spaces are written, words do");
    }

    #[test]
    fn the_fingerprint_is_that_of_the_text() {
        let text = words(0..500);
        assert_eq!(with_fingerprint(&text).1, simhash::of_text(&text));
    }

    #[test]
    fn a_sample_of_a_text_with_repeats_has_the_smallest() {
        // Phrases that come again soon, late, and in passages that fell out of the sample before.
        for (distinct, length) in [(3, 50), (40, 3_000), (300, 3_000), (5_000, 20_000)] {
            let text: String = (0..length).map(|n: usize| format!("w{} ", n * n * 7 / 11 % distinct)).collect();
            let mut hashes = std::collections::BTreeSet::new();
            let mut words = Vec::new();
            simhash::for_each_word(&text, |word, _| words.push(word));
            hashes.extend(words.windows(3).map(|three| hash([three[0], three[1], three[2]])));
            let smallest: Vec<u32> = hashes.into_iter().take(PASSAGES_MAX).collect();
            assert_eq!(of(&text).sample, smallest, "{distinct} of {length}");
        }
    }

    #[test]
    fn a_sample_has_the_smallest_whatever_the_order() {
        let (all, first) = (of(&words(0..4_000)), of(&words(0..40)));
        assert_eq!((all.sample.len(), first.sample.len()), (PASSAGES_MAX, 38));
        assert!(all.sample.is_sorted());
        let twice = of(&format!("{}{}", words(0..4_000), words(0..4_000)));
        let in_both = twice.sample.iter().filter(|passage| all.sample.contains(passage)).count();
        assert!(in_both >= PASSAGES_MAX - 2, "but for those where they meet");
        // Of the text behind others the sample has what is small enough.
        let half = of(&words(2_000..4_000));
        let shared = all.sample.iter().filter(|passage| half.sample.contains(passage)).count();
        assert!((16..48).contains(&shared), "{shared}");
    }
}
