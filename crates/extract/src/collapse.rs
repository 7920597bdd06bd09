//! Text with its white space collapsed while it is being gathered, and never longer than its limit.

use compact_str::CompactString;

use crate::{blocks, swar};

/// Gathers pieces of text: runs of white space become one space, none at the ends.
#[derive(Debug, Default)]
pub(crate) struct Collapsed {
    text: Vec<u8>,
    bytes_max: usize,
    space_pending: bool,
    truncated: bool,
}

impl Collapsed {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }

    /// With room for so many bytes, if the limit allows for them.
    pub(crate) fn with_capacity(bytes: usize, bytes_max: usize) -> Self {
        Self { text: Vec::with_capacity(bytes.min(bytes_max)), ..Self::new(bytes_max) }
    }

    /// Collapses one whole string. The flag says whether it was cut.
    pub(crate) fn whole(text: &str, bytes_max: usize) -> (String, bool) {
        // As it is for nearly all links: their text comes later.
        if text.is_empty() {
            return (String::new(), false);
        }
        // The last block is written as a whole.
        let mut collapsed = Self::with_capacity(text.len() + blocks::BYTES, bytes_max);
        collapsed.push(text);
        let truncated = collapsed.truncated;
        (collapsed.into_text(), truncated)
    }

    /// Appends a piece of eight bytes at most, which `word` has too, with zeros behind it.
    #[inline]
    pub(crate) fn push_short(&mut self, piece: &str, word: u64) {
        if self.truncated {
            return;
        }
        let spaces = swar::spaces(word);
        let others = !spaces & swar::eight(0x80) & !swar::zeros(word);
        if others == 0 {
            self.space_pending |= spaces != 0;
            return;
        }
        let (begin, end) = (swar::before(others), 8 - others.leading_zeros() as usize / 8);
        let between = spaces >> (8 * begin) << (8 * (8 - end + begin)) != 0;
        if between || swar::beyond_ascii(word) != 0 {
            self.push(piece);
            return;
        }
        self.space_pending |= begin > 0;
        let space = usize::from(self.space_pending && !self.text.is_empty());
        let length = self.text.len() + space + end - begin;
        if length > self.bytes_max {
            return self.push_to_the_limit(piece);
        }
        // Eight bytes, of which the first ones count, are copied at once.
        let both = (word >> (8 * begin) << (8 * space)) | (space as u64 * u64::from(b' '));
        self.text.extend_from_slice(&both.to_le_bytes());
        self.text.truncate(length);
        self.space_pending = end < piece.len();
    }

    /// Appends a piece; without white space at the seam it continues the last word.
    pub(crate) fn push(&mut self, piece: &str) {
        if self.truncated {
            return;
        }
        if self.text.len() + 1 + piece.len() > self.bytes_max {
            return self.push_to_the_limit(piece);
        }
        if std::mem::take(&mut self.space_pending) && !self.text.is_empty() {
            self.text.push(b' ');
        }
        self.push_fitting(piece);
        if self.text.last() == Some(&b' ') {
            self.text.pop();
            self.space_pending = true;
        }
    }

    /// Appends a piece for which there is room. A space at its end is there afterwards.
    fn push_fitting(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        // Whether white space would be a second one, or the first of all.
        let mut after_space = u32::from(self.text.last().is_none_or(|&last| last == b' '));
        // A block at a time: where words end cannot be foreseen, and a branch for each would cost more than all else.
        loop {
            let block = blocks::load(bytes, at);
            let spaces = blocks::spaces(block);
            let plain = blocks::with(block, spaces, b' ');
            let spaces = blocks::mask(spaces);
            // What is behind the end is zero, and stops too.
            let unusual = blocks::mask(blocks::at_most(block, b' ' - 1)) & !spaces | blocks::mask(block);
            let stops = unusual | spaces & (spaces << 1 | after_space);
            let length = (stops.trailing_zeros() as usize).min(blocks::BYTES);
            let kept = self.text.len() + length;
            self.text.extend_from_slice(&plain);
            self.text.truncate(kept);
            at += length;
            if length == blocks::BYTES {
                after_space = spaces >> (blocks::BYTES - 1);
            } else if spaces >> length & 1 == 1 {
                at += (spaces >> length).trailing_ones() as usize;
                after_space = 1;
            } else if at < bytes.len() {
                let (length, is_space) = beyond_ascii(&piece[at..]);
                if !is_space {
                    self.text.extend_from_slice(&bytes[at..at + length]);
                } else if self.text.last().is_some_and(|&last| last != b' ') {
                    self.text.push(b' ');
                }
                at += length;
                after_space = u32::from(is_space);
            } else {
                return;
            }
        }
    }

    /// Appends of a piece what there is room for.
    #[cold]
    fn push_to_the_limit(&mut self, piece: &str) {
        let mut rest = piece;
        while !self.truncated {
            let word = rest.trim_start();
            self.space_pending |= word.len() < rest.len();
            if word.is_empty() {
                return;
            }
            let (word, behind) = word.split_at(word.find(char::is_whitespace).unwrap_or(word.len()));
            self.push_word(word);
            rest = behind;
        }
    }

    /// Makes the next word a new word.
    pub(crate) fn separate_if(&mut self, is_separate: bool) {
        self.space_pending |= is_separate;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    /// The text.
    pub(crate) fn into_text(self) -> String {
        // It is made of texts, cut between characters.
        String::from_utf8(self.text).unwrap_or_default()
    }

    /// The text, most likely a short one.
    pub(crate) fn compact(&self) -> CompactString {
        CompactString::from_utf8(&self.text).unwrap_or_default()
    }

    /// Starts again, with the same limit and in the same memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.space_pending = false;
        self.truncated = false;
    }

    /// Appends a word, as far as there is room.
    fn push_word(&mut self, word: &str) {
        let space = usize::from(std::mem::take(&mut self.space_pending) && !self.text.is_empty());
        let room = self.bytes_max.saturating_sub(self.text.len() + space);
        let kept = &word[..word.floor_char_boundary(room)];
        self.truncated |= kept.len() < word.len();
        if !kept.is_empty() {
            self.text.extend_from_slice(&b" "[..space]);
            self.text.extend_from_slice(kept.as_bytes());
        }
    }
}

/// How many bytes at the beginning of a text are no printable ASCII, and whether they are white space or belong to words.
fn beyond_ascii(text: &str) -> (usize, bool) {
    let is_word = |(at, &byte): (usize, &u8)| match KINDS[usize::from(byte)] {
        Kind::Word => !matches!(byte, b' '..=b'\x7f'),
        Kind::Space => false,
        Kind::Perhaps => space(&text[at..]).is_none(),
    };
    let word = text.as_bytes().iter().enumerate().take_while(|&next| is_word(next)).count();
    if word > 0 { (word, false) } else { (space(text).unwrap_or(text.len()), true) }
}

/// The length of the white space character that a text begins with.
fn space(text: &str) -> Option<usize> {
    text.chars().next().filter(|character| character.is_whitespace()).map(char::len_utf8)
}

/// What a byte may be the beginning of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No white space.
    Word,
    /// White space, itself.
    Space,
    /// White space beyond ASCII, perhaps.
    Perhaps,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Word; 256];
    let spaces = b"\t\n\x0b\x0c\r ";
    let mut at = 0;
    while at < spaces.len() {
        kinds[spaces[at] as usize] = Kind::Space;
        at += 1;
    }
    // U+0085 and U+00A0; U+1680; U+2000 to U+205F; U+3000.
    let perhaps = b"\xc2\xe1\xe2\xe3";
    at = 0;
    while at < perhaps.len() {
        kinds[perhaps[at] as usize] = Kind::Perhaps;
        at += 1;
    }
    kinds
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    proptest! {
        #[test]
        fn words_stand_with_one_space_between_up_to_the_limit(
            pieces in vec("[a é\u{a0}\u{2003}\u{200b}\u{85}\u{1}\0\n\u{b}Ж]{0,40}|[ab ]{0,9}|[a-z]{0,20}", 0..12),
            bytes_max in 0..200usize,
        ) {
            let mut collapsed = Collapsed::new(bytes_max);
            for piece in &pieces {
                if piece.len() < 8 && !piece.contains('\0') {
                    collapsed.push_short(piece, swar::load(piece.as_bytes(), 0));
                } else {
                    collapsed.push(piece);
                }
            }
            let all = pieces.concat().split_whitespace().collect::<Vec<_>>().join(" ");
            let expect = all[..all.floor_char_boundary(bytes_max)].trim_end_matches(' ');
            prop_assert_eq!(collapsed.truncated(), all.len() > bytes_max);
            prop_assert_eq!(collapsed.into_text(), expect);
        }
    }

    fn check(pieces: &[&str], bytes_max: usize, expect: (&str, bool)) {
        let mut collapsed = Collapsed::new(bytes_max);
        for piece in pieces {
            collapsed.push(piece);
        }
        let truncated = collapsed.truncated();
        assert_eq!((collapsed.into_text().as_str(), truncated), expect, "{pieces:?}");
    }

    #[test]
    fn white_space_collapses_within_and_across_pieces() {
        check(&[], 9, ("", false));
        check(&[" \n\t"], 9, ("", false));
        check(&["  a \u{a0} b\n"], 9, ("a b", false));
        check(&["a \u{b} b", "\u{b}c\u{c}é"], 9, ("a b c é", false));
        check(&["a", "b"], 9, ("ab", false));
        check(&["a ", " b"], 9, ("a b", false));
        check(&["a", " ", "b"], 9, ("a b", false));
    }

    #[test]
    fn the_limit_cuts_at_a_character() {
        check(&["abcdef"], 3, ("abc", true));
        check(&["ab cd"], 3, ("ab", true));
        check(&["abc   "], 3, ("abc", false));
        check(&["aéé"], 4, ("aé", true));
        check(&["abc", "d", "e"], 3, ("abc", true));
        check(&["a"], 0, ("", true));
    }
}
