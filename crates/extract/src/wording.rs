//! What a page says, as a number: two visits of a page with the same wording found the same content.
//!
//! Words count, in their order, in lower case. Those with a digit do not: clocks, dates, counters, prices and tokens differ on pages that say the
//! same. Markup, attributes and hidden fields are no words.

/// FNV-1a, 64 bits. The state keeps the result, so it must stay as it is.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
/// Behind each word; no byte of a text.
const END: u8 = 0xff;

/// The wording of a page with this title and visible text; `None` without words.
#[must_use]
pub fn of_page(title: Option<&str>, text: &str) -> Option<u64> {
    let words = [title.unwrap_or_default(), text].into_iter().flat_map(words);
    let mut hash = None;
    for word in words {
        let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        let mut bytes = [0; 4];
        let of_word = word
            .chars()
            .flat_map(char::to_lowercase)
            .fold(hash.unwrap_or(BASIS), |hash, letter| letter.encode_utf8(&mut bytes).bytes().fold(hash, add));
        hash = Some(add(of_word, END));
    }
    hash
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    words.filter(|word| !word.is_empty() && !word.contains(char::is_numeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_tokens_do_not_count_words_do() {
        let before = of_page(Some("News"), "It is 12:30. Seen 1,204 times. Über uns");
        assert!(before.is_some());
        for (title, text, is_same) in [
            ("News", "It is 23:59. Seen 7 times. Über uns", true),
            ("news", "it is\n\n12:31 -- seen a8f3 times; ÜBER uns", true),
            ("News 2", "It is 12:30. Seen 1,204 times. Über uns", true),
            ("News", "It is 12:30. Seen 1,204 times. Unter uns", false),
            ("News", "It is 12:30. Seen 1,204 times.", false),
            ("News", "It is 12:30. Seen times 1,204. Uns über", false),
            ("Olds", "It is 12:30. Seen 1,204 times. Über uns", false),
        ] {
            assert_eq!(of_page(Some(title), text) == before, is_same, "{title}: {text}");
        }
        assert_ne!(of_page(None, "ab c"), of_page(None, "a bc"));
        assert_eq!((of_page(None, ""), of_page(Some("12"), "3 / 4")), (None, None));
        // The state keeps it.
        assert_eq!(of_page(None, "a"), Some(0x089b_c907_b544_c769));
    }
}
