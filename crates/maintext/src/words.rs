//! The words of a text, and what else it is made of.

use crate::vocabulary::Word;

/// What a text is made of beside its words.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Marks {
    pub(crate) chars: u32,
    pub(crate) digits: u32,
    pub(crate) marks: u32,
    /// Words that begin with one.
    pub(crate) capitals: u32,
    /// Amounts of money.
    pub(crate) prices: u32,
    /// Whether its last character ends a sentence; `None` if it has none.
    pub(crate) ends_sentence: Option<bool>,
}

/// Kinds of bytes, as bits.
const OF_WORD: u8 = 1;
const CAPITAL: u8 = 1 << 1;
const DIGIT: u8 = 1 << 2;
const MARK: u8 = 1 << 3;
/// What ends a sentence.
const END: u8 = 1 << 4;
/// Part of a character beyond ASCII.
const BEYOND: u8 = 1 << 5;
/// The first byte of a character that is shown.
const SHOWN: u8 = 1 << 6;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 256 {
        let byte = at as u8;
        kinds[at] = match byte {
            b'a'..=b'z' | b'_' => OF_WORD,
            b'A'..=b'Z' => OF_WORD | CAPITAL,
            b'0'..=b'9' => OF_WORD | DIGIT,
            b'.' | b'!' | b'?' | b':' => MARK | END,
            b',' | b';' => MARK,
            0x80.. => BEYOND,
            _ => 0,
        };
        if byte > b' ' && byte & 0xc0 != 0x80 {
            kinds[at] |= SHOWN;
        }
        at += 1;
    }
    kinds
};

fn kind(byte: u8) -> u8 {
    KINDS[usize::from(byte)]
}

/// Calls `each` with every word: letters, digits, `_`, and letters beyond ASCII.
#[inline]
pub(crate) fn for_each(text: &str, mut each: impl FnMut(Word)) -> Marks {
    let bytes = text.as_bytes();
    let mut found = Marks::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let first = kind(byte);
        found.chars += u32::from(first & SHOWN != 0);
        if !is_of_word(first, bytes, at, false) {
            found.marks += u32::from(first & MARK != 0);
            found.prices += u32::from(byte == b'$' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
            at += 1;
            continue;
        }
        found.capitals += u32::from(first & CAPITAL != 0);
        let begin = at;
        let mut kinds = first;
        at += 1;
        while let Some(&byte) = bytes.get(at)
            && let kind = kind(byte)
            && is_of_word(kind, bytes, at, true)
        {
            kinds |= kind;
            at += 1;
        }
        // Nearly all words are letters of ASCII, each a character.
        let count = |of: u8| bytes[begin..at].iter().filter(|byte| kind(**byte) & of != 0).count() as u32;
        let chars = if kinds & BEYOND == 0 { (at - begin) as u32 } else { count(SHOWN) };
        // The first is counted.
        found.chars += chars - 1;
        found.digits += if kinds & DIGIT == 0 { 0 } else { count(DIGIT) };
        each(Word::beginning(&bytes[begin..], at - begin));
    }
    let last = bytes.iter().rfind(|byte| **byte > b' ');
    found.ends_sentence = last.map(|byte| kind(*byte) & END != 0);
    found
}

/// Whether the byte there belongs to a word, inside of one or not: of characters beyond ASCII not spaces, dashes, quotation marks, symbols.
#[inline(always)]
fn is_of_word(kind: u8, bytes: &[u8], at: usize, is_inside: bool) -> bool {
    if kind & BEYOND == 0 {
        return kind & OF_WORD != 0;
    }
    match &bytes[at..] {
        [0xc2 | 0xf0, ..] | [0xe2, 0x80..=0xaf, ..] | [0xe3, 0x80, ..] | [0xef, 0xbc | 0xbd, ..] => false,
        // A later byte belongs where the first one does.
        [0x80..0xc0, ..] => is_inside,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_is_between() {
        let mut words = Vec::new();
        let found =
            for_each("Ab_c 12, $3 \u{201e}\u{e9}t\u{e9}\u{201c}\u{a0}Verylongword \u{4e2d}\u{3000}x-", |word| {
                words.push(word);
            });
        let expect = ["ab_c", "12", "3", "\u{e9}t\u{e9}", "verylong", "\u{4e2d}", "x"];
        assert_eq!(
            words.iter().map(|word| word.letters).collect::<Vec<_>>(),
            expect.map(|word| Word::of(word).letters)
        );
        let expect = Marks { chars: 31, digits: 3, marks: 1, capitals: 2, prices: 1, ends_sentence: Some(false) };
        assert_eq!(found, expect);
    }

    #[test]
    fn the_end_of_a_sentence_is_the_last_character() {
        for (text, expect) in
            [("", None), (" \n", None), ("Yes. ", Some(true)), ("a: b", Some(false)), ("\u{e9}", Some(false))]
        {
            assert_eq!(for_each(text, |_| ()).ends_sentence, expect, "{text:?}");
        }
    }
}
