//! Names of tags and attributes: where one ends, and which of the known ones it is.
//!
//! Eight bytes are looked at as one number, so that a name costs neither a loop nor a branch that depends on it. A longer
//! one, or one with unusual characters, takes the slower way.

use crate::swar::{before, eight, first_below, mask};
use std::hint::select_unpredictable;

/// A name as it stands in the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'d> {
    /// In any case.
    pub(super) raw: &'d [u8],
    /// Its bytes in lower case, if there are eight at most, the first one lowest; else 0. What is no letter may have become
    /// another character, but none that known names have.
    number: u64,
    /// Where it begins in the document.
    begin: usize,
}

impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number && self.raw.eq_ignore_ascii_case(other.raw)
    }
}

impl<'d> Name<'d> {
    pub(super) fn new(raw: &'d [u8]) -> Self {
        Self { raw, number: number(raw), begin: 0 }
    }

    /// The same name, where it stands in a document.
    #[inline(always)]
    pub(super) fn at(self, begin: usize) -> Self {
        Self { begin, ..self }
    }

    /// Where it begins and ends in the document.
    #[inline(always)]
    pub(super) fn place(self) -> (usize, usize) {
        (self.begin, self.begin + self.raw.len())
    }

    /// The name that a text begins with, if within eight bytes it ends with a character that is neither letter nor digit, and
    /// that byte.
    #[inline(always)]
    pub(super) fn short(text: &'d [u8]) -> Option<(Self, u8)> {
        let word = u64::from_le_bytes(*text.first_chunk()?);
        let length = before(first_below(word, b'A'));
        if length == 0 || length == 8 {
            return None;
        }
        let name = Self { raw: &text[..length], number: (word | eight(LOWER)) & mask(length), begin: 0 };
        Some((name, (word >> (8 * length)) as u8))
    }
}

/// The bit in which lower-case letters differ from upper-case ones.
const LOWER: u8 = 0x20;

const fn number(name: &[u8]) -> u64 {
    if name.len() > 8 {
        return 0;
    }
    let (mut number, mut at) = (0, name.len());
    while at > 0 {
        at -= 1;
        number = number << 8 | (name[at] | LOWER) as u64;
    }
    number
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// What is known by its name: short names by a perfect hash, the few long ones one after the other.
pub(super) struct NameTable<T: 'static, const SLOTS: usize> {
    slots: [(u64, T); SLOTS],
    factor: u64,
    all: &'static [(&'static str, T)],
    /// A bit for each length that a long one has.
    long: u64,
    unknown: T,
}

impl<T: Copy, const SLOTS: usize> NameTable<T, SLOTS> {
    /// `SLOTS` is a power of two. A factor that leads two names to one slot does not compile.
    pub(super) const fn new(all: &'static [(&'static str, T)], unknown: T, factor: u64) -> Self {
        let (mut slots, mut long) = ([(0, unknown); SLOTS], 0);
        let mut at = 0;
        while at < all.len() {
            let number = number(all[at].0.as_bytes());
            if number == 0 {
                long |= 1 << all[at].0.len();
            } else {
                let slot = Self::slot(number, factor);
                assert!(slots[slot].0 == 0, "two names in one slot: take another factor");
                slots[slot] = (number, all[at].1);
            }
            at += 1;
        }
        Self { slots, factor, all, long, unknown }
    }

    /// What has this name, which is in lower case.
    pub(super) const fn find_text(&self, name: &str) -> T {
        let mut at = 0;
        while at < self.all.len() {
            if is_same(self.all[at].0.as_bytes(), name.as_bytes()) {
                return self.all[at].1;
            }
            at += 1;
        }
        self.unknown
    }

    const fn slot(number: u64, factor: u64) -> usize {
        (number.wrapping_mul(factor) >> (u64::BITS - SLOTS.trailing_zeros())) as usize
    }

    /// What has this name, in whatever case.
    #[inline(always)]
    pub(super) fn find(&self, name: Name<'_>) -> T {
        if name.number == 0 {
            return self.find_long(name.raw);
        }
        let (number, found) = self.slots[Self::slot(name.number, self.factor)];
        // Most attributes have names that nobody knows: which ones cannot be foreseen.
        select_unpredictable(number == name.number, found, self.unknown)
    }

    #[cold]
    fn find_long(&self, name: &[u8]) -> T {
        if name.len() >= u64::BITS as usize || self.long & 1 << name.len() == 0 {
            return self.unknown;
        }
        let mut long = self.all.iter().filter(|(known, _)| known.len() == name.len());
        long.find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name)).map_or(self.unknown, |&(_, found)| found)
    }
}
