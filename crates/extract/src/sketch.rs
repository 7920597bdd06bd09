//! A sketch of a text, by which two texts are compared without having both: a sample of the words that is the same for the same words
//! (Broder, "On the Resemblance and Containment of Documents", SEQUENCES 1997, §3: the smallest of random numbers).

use std::collections::{BinaryHeap, HashMap};

use serde::{Deserialize, Serialize};

use crate::simhash::{for_each_word, mix};

/// Words sampled of a text. A text that has fewer is there whole, and short texts are those that fingerprints confuse.
const WORDS_MAX: usize = 256;

/// The sample: of each word of a text, with the number of its occurrence, a random number; the smallest of these, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch(Box<[u32]>);

impl Sketch {
    /// The sketch of a text.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let mut occurrences: HashMap<u64, u64> = HashMap::new();
        let mut smallest = BinaryHeap::with_capacity(WORDS_MAX + 1);
        for_each_word(text, |word, _| {
            let occurrence = occurrences.entry(word).or_default();
            *occurrence += 1;
            smallest.push((mix(word.wrapping_add(mix(*occurrence))) >> 32) as u32);
            if smallest.len() > WORDS_MAX {
                smallest.pop();
            }
        });
        Sketch(smallest.into_sorted_vec().into())
    }

    /// The share of words that two texts have in common among all that one of them has (the Jaccard index), 0 to 1. Exact, but for
    /// coincidence, where both texts together have no more than 256 words; else estimated to about 0.02.
    #[must_use]
    pub fn resemblance(&self, other: &Sketch) -> f64 {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let (mut common, mut all) = (0u32, 0u32);
        while all < WORDS_MAX as u32 {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x == y => {
                    common += 1;
                    a.next();
                    b.next();
                }
                (Some(x), Some(y)) if x > y => drop(b.next()),
                (Some(_), _) => drop(a.next()),
                (None, Some(_)) => drop(b.next()),
                (None, None) => break,
            }
            all += 1;
        }
        if all == 0 { 1.0 } else { f64::from(common) / f64::from(all) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resemblance(a: &str, b: &str) -> f64 {
        Sketch::of_text(a).resemblance(&Sketch::of_text(b))
    }

    #[test]
    fn short_texts_are_compared_exactly() {
        for (a, b, expect) in [
            ("", "", 1.0),
            ("a", "", 0.0),
            ("a b c", "C, b; a!", 1.0),
            ("a b c d", "a b c e", 3.0 / 5.0),
            ("a a b", "a b", 2.0 / 3.0),
        ] {
            assert!((resemblance(a, b) - expect).abs() < 1e-9, "{a:?} {b:?}");
        }
    }

    #[test]
    fn long_texts_are_compared_by_a_sample() {
        let words = |from: u32| (from..from + 10_000).map(|n| format!("word{n} ")).collect::<String>();
        let is = resemblance(&words(0), &words(1_000));
        assert!((is - 9.0 / 11.0).abs() < 0.08, "{is}");
    }
}
