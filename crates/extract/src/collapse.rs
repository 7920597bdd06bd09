//! Text with its white space collapsed while it is being gathered, and never longer than its limit.

use compact_str::CompactString;

use crate::swar;

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
        let mut collapsed = Self::new(bytes_max);
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
            self.push_words(&piece[begin..end]);
        } else {
            // Eight bytes, of which the first ones count, are copied at once.
            let both = (word >> (8 * begin) << (8 * space)) | (space as u64 * u64::from(b' '));
            self.text.extend_from_slice(&both.to_le_bytes());
            self.text.truncate(length);
        }
        self.space_pending = end < piece.len();
    }

    /// Appends a piece; without white space at the seam it continues the last word.
    pub(crate) fn push(&mut self, piece: &str) {
        if self.truncated {
            return;
        }
        let mut at = 0;
        loop {
            let space = leading_space(&piece[at..]);
            self.space_pending |= space > 0;
            at += space;
            if at == piece.len() {
                return;
            }
            let length = words(&piece[at..]);
            self.push_words(&piece[at..at + length]);
            self.space_pending = false;
            at += length;
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

    /// Appends words with one space between each.
    fn push_words(&mut self, words: &str) {
        if self.truncated {
            return;
        }
        let space = usize::from(self.space_pending && !self.text.is_empty());
        let room = self.bytes_max.saturating_sub(self.text.len() + space);
        let kept =
            if words.len() <= room { words } else { words[..words.floor_char_boundary(room)].trim_end_matches(' ') };
        self.truncated = kept.len() < words.len();
        if kept.is_empty() {
            return;
        }
        if space == 1 {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(kept.as_bytes());
    }
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

/// How many bytes of white space a text begins with.
fn leading_space(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let others = !swar::spaces(swar::load(bytes, at)) & swar::eight(0x80);
        at += swar::before(others);
        if others == 0 {
            continue;
        }
        match bytes.get(at) {
            Some(byte)
                if !byte.is_ascii()
                    && let Some(length) = space(&text[at..]) =>
            {
                at += length;
            }
            _ => return at,
        }
    }
}

/// The length of the white space character that a text begins with.
fn space(text: &str) -> Option<usize> {
    text.chars().next().filter(|character| character.is_whitespace()).map(char::len_utf8)
}

/// How far a text, which begins with a word, has words with one space between each.
fn words(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut after_space) = (0, 0);
    // Eight bytes at a time: where words end cannot be foreseen, and a branch for each would cost more than all else.
    loop {
        let word = swar::load(bytes, at);
        let spaces = swar::are(word, b' ');
        let stops = swar::first_below(word, b' ') | swar::beyond_ascii(word) | spaces & (spaces << 8 | after_space);
        if stops == 0 {
            after_space = spaces >> 56;
            at += 8;
            continue;
        }
        at += swar::before(stops);
        let unusual = unusual(&text[at..]);
        if unusual == 0 {
            // The space in front of what is no word.
            return at - usize::from(bytes[at - 1] == b' ');
        }
        after_space = 0;
        at += unusual;
    }
}

/// How many bytes a text begins with that belong to words and are no printable ASCII.
fn unusual(text: &str) -> usize {
    let is_unusual = |(at, &byte): (usize, &u8)| match KINDS[usize::from(byte)] {
        Kind::Word => !matches!(byte, b' '..=b'\x7f'),
        Kind::Space => false,
        Kind::Perhaps => space(&text[at..]).is_none(),
    };
    text.as_bytes().iter().enumerate().take_while(|&next| is_unusual(next)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
