//! What a text says besides words that are known from elsewhere: two pages that say the same besides their own addresses are alike.

use std::collections::HashSet;

use crate::simhash;

/// Words that a text may have without saying anything by them.
#[derive(Debug, Default)]
pub struct Known(HashSet<u64>);

impl Known {
    /// Adds those words of an address that have a digit: numbers, dates, ids.
    pub fn add_numbers(&mut self, address: &str) {
        let words = address.split(|character: char| !character.is_alphanumeric());
        for word in words.filter(|word| word.contains(|letter: char| letter.is_ascii_digit())) {
            simhash::for_each_word(word, |word, _| {
                self.0.insert(word);
            });
        }
    }

    /// All other words of a text in their order, as a number; `None` without any. Numbers are words here.
    #[must_use]
    pub fn besides(&self, text: &str) -> Option<u32> {
        let mut saying = None;
        simhash::for_each_word(text, |word, _| {
            if !self.0.contains(&word) {
                saying = Some(simhash::mix(saying.unwrap_or_default() ^ word));
            }
        });
        saying.map(|saying| (saying >> u32::BITS) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_addresses_are_left_out_and_others_are_not() {
        let besides = |address: &str, text: &str| {
            let mut known = Known::default();
            known.add_numbers(address);
            known.besides(text)
        };
        let before = besides("/show?id=8f14e45f&page=2", "Item 8F14E45F, page 2 of 30");
        assert!(before.is_some());
        for (address, text, is_same) in [
            ("/show?id=c9f0f895&page=7", "Item c9f0f895, page 7 of 30", true),
            ("/show?id=c9f0f895&page=7", "Item c9f0f895, page 7 of 31", false),
            ("/show?id=c9f0f895&page=7", "Item c9f0f895, page 2 of 30", false),
            ("/show?id=c9f0f895&page=7", "Page c9f0f895, item 7 of 30", false),
        ] {
            assert_eq!(besides(address, text) == before, is_same, "{address} {text}");
        }
        assert_eq!(besides("/2026/11", "2026-11"), None);
    }
}
