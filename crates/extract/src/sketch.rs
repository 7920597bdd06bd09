//! A sketch of a text, by which two texts are compared without having both: a sample of the words that is the same for the same words
//! (Broder, "On the Resemblance and Containment of Documents", SEQUENCES 1997, §3: the smallest of random numbers).

use std::cmp::Ordering;
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

    /// Whether two texts have at least this share of words in common among all that one of them has (the Jaccard index), 0 to 1. Exact, but
    /// for coincidence, where both texts together have no more than 256 words; else the share is estimated to about 0.02.
    #[must_use]
    pub fn resembles(&self, other: &Sketch, share_min: f64) -> bool {
        // Of no more than so many words, whatever follows: most pairs are unlike, and that shows early.
        let differing_max = ((1.0 - share_min) * WORDS_MAX as f64) as usize;
        let (a, b) = (&*self.0, &*other.0);
        let (mut at_a, mut at_b, mut common, mut differing) = (0, 0, 0, 0);
        while common + differing < WORDS_MAX && differing <= differing_max {
            let is_before = match (a.get(at_a), b.get(at_b)) {
                (Some(x), Some(y)) => x.cmp(y),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            at_a += usize::from(is_before.is_le());
            at_b += usize::from(is_before.is_ge());
            common += usize::from(is_before.is_eq());
            differing += usize::from(is_before.is_ne());
        }
        let all = common + differing;
        differing <= differing_max && (all == 0 || common as f64 / all as f64 >= share_min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the share of two texts is between these two.
    fn is_between(a: &str, b: &str, least: f64, most: f64) -> bool {
        let (a, b) = (Sketch::of_text(a), Sketch::of_text(b));
        let is = |share: f64| a.resembles(&b, share) && b.resembles(&a, share);
        is(least) && (most > 1.0 || !is(most))
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
            assert!(is_between(a, b, expect, expect + 1e-9), "{a:?} {b:?}");
        }
    }

    #[test]
    fn long_texts_are_compared_by_a_sample() {
        let words = |from: u32| (from..from + 10_000).map(|n| format!("word{n} ")).collect::<String>();
        let expect = 9.0 / 11.0;
        assert!(is_between(&words(0), &words(1_000), expect - 0.08, expect + 0.08));
        assert!(is_between(&words(0), &words(0), 1.0, 2.0));
        assert!(is_between(&words(0), &words(10_000), 0.0, 0.01));
    }
}
