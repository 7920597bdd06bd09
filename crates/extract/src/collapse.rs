//! Text with its white space collapsed while it is being gathered, and never longer than its limit.

/// Gathers pieces of text: runs of white space become one space, none at the ends.
#[derive(Debug, Default)]
pub(crate) struct Collapsed {
    text: String,
    bytes_max: usize,
    space_pending: bool,
    truncated: bool,
}

impl Collapsed {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, ..Self::default() }
    }

    /// Collapses one whole string. The flag says whether it was cut.
    pub(crate) fn whole(text: &str, bytes_max: usize) -> (String, bool) {
        let mut collapsed = Self::new(bytes_max);
        collapsed.push(text);
        (collapsed.text, collapsed.truncated)
    }

    /// Appends a piece; without white space at the seam it continues the last word.
    pub(crate) fn push(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match KINDS[usize::from(byte)] {
                Kind::Space => {
                    self.space_pending = true;
                    at += 1;
                }
                Kind::Perhaps if let Some(length) = space(&piece[at..]) => {
                    self.space_pending = true;
                    at += length;
                }
                _ => {
                    let length = words(&piece[at..]);
                    self.push_words(&piece[at..at + length]);
                    self.space_pending = false;
                    at += length;
                }
            }
        }
    }

    /// Makes the next word a new word.
    pub(crate) fn separate(&mut self) {
        self.space_pending = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    /// Hands out the text and starts again, with the same limit.
    pub(crate) fn take(&mut self) -> String {
        self.space_pending = false;
        self.truncated = false;
        std::mem::take(&mut self.text)
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
            self.text.push(' ');
        }
        self.text.push_str(kept);
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
        let eight_bytes = eight_at(bytes, at);
        let spaces = zeros(eight_bytes ^ eight(b' '));
        let stops = below_space(eight_bytes) | eight_bytes & eight(0x80) | spaces & (spaces << 8 | after_space);
        if stops == 0 {
            after_space = spaces >> 56;
            at += 8;
            continue;
        }
        at += stops.trailing_zeros() as usize / 8;
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

/// Eight bytes as a number, the first one lowest, and zeros behind the end.
fn eight_at(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(all), _) => u64::from_le_bytes(*all),
        (None, _) if rest.is_empty() => 0,
        (None, Some(last)) => u64::from_le_bytes(*last) >> (8 * (8 - rest.len())),
        (None, None) => rest.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
    }
}

const fn eight(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Bit 7 of each byte that is zero.
const fn zeros(bytes: u64) -> u64 {
    !((bytes & eight(0x7f)).wrapping_add(eight(0x7f)) | bytes | eight(0x7f))
}

/// Bit 7 of the first byte that is less than a space, and perhaps of later ones.
const fn below_space(bytes: u64) -> u64 {
    bytes.wrapping_sub(eight(b' ')) & !bytes & eight(0x80)
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
        assert_eq!((collapsed.take().as_str(), truncated), expect, "{pieces:?}");
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
