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
        let is_space = char::is_whitespace;
        self.space_pending |= piece.starts_with(is_space);
        // Most text is ASCII, where words are found twice as fast; but there, a vertical tab is no white space.
        if piece.is_ascii() && !piece.contains('\u{b}') {
            self.push_words(piece.split_ascii_whitespace());
        } else {
            self.push_words(piece.split_whitespace());
        }
        // Without a word in it, the piece has either ended with white space or is empty.
        self.space_pending = piece.ends_with(is_space) || (piece.is_empty() && self.space_pending);
    }

    fn push_words<'p>(&mut self, words: impl Iterator<Item = &'p str>) {
        for word in words {
            if self.truncated {
                return;
            }
            self.push_word(word);
            // Between this word and the next; after the last one `push` decides.
            self.space_pending = true;
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

    fn push_word(&mut self, word: &str) {
        let space = usize::from(self.space_pending && !self.text.is_empty());
        let room = self.bytes_max.saturating_sub(self.text.len() + space);
        let kept = &word[..word.floor_char_boundary(room)];
        self.truncated = kept.len() < word.len();
        if kept.is_empty() {
            return;
        }
        if space == 1 {
            self.text.push(' ');
        }
        self.text.push_str(kept);
    }
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
