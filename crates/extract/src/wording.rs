//! What a page says, as a number: two visits of a page with the same wording found the same content.
//!
//! Words count, in their order, in lower case. Those with a digit do not: clocks, dates, counters, prices and tokens differ on pages that say the
//! same. Markup, attributes and hidden fields are no words. A digit belongs to the letters beside it in alphabets whose words are separated by
//! spaces (`12th`, `a8f3`). In `2026年`, `3명` and `5บาท` it is a word of its own.

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
    let runs = text.split(|character: char| !character.is_alphanumeric() && !is_mark(character));
    runs.flat_map(parted).filter(|word| !word.contains(char::is_numeric))
}

/// The parts of a run of letters and digits: those that digits belong to, and those between.
fn parted(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        let is_apart = is_without_spaces(rest.chars().next()?);
        let end = rest.find(|character| is_without_spaces(character) != is_apart).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        rest = behind;
        Some(part)
    })
}

/// Marks that tell words apart, although they are no letters of their own: accents, tones of Thai and Lao, sound marks of kana.
fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{e47}'..='\u{e4e}' | '\u{ec8}'..='\u{ece}' | '\u{3099}'..='\u{309a}')
}

/// Letters of scripts that write words without spaces between them: ideographs, kana, and the scripts of South East Asia. They are not of the same word
/// as a digit beside them (UAX #29, WB999). Hangul is added to them: counters and particles follow numbers without a space, and no token has a
/// letter of it.
pub(crate) fn is_without_spaces(character: char) -> bool {
    !character.is_numeric()
        && matches!(character,
            '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
            | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{3000}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}'
            | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}' | '\u{11700}'..='\u{1174f}' | '\u{16fe0}'..='\u{18dff}'
            | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether a text may have such letters, by the first bytes of their encodings: `E2` begins punctuation, and what is below `E0` other alphabets.
pub(crate) fn may_be_without_spaces(text: &str) -> bool {
    let begins = |byte: &u8| *byte >= 0xe0 && *byte != 0xe2;
    // Without a branch for each byte, so that many are looked at together.
    text.as_bytes().chunks(64).any(|bytes| bytes.iter().fold(false, |found, byte| found | begins(byte)))
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

    #[test]
    fn a_digit_hides_no_text_that_is_written_without_spaces() {
        for (before, now, is_same) in [
            ("2026年公司宣布裁员三百人", "2026年公司宣布增聘五百人", false),
            ("2026年公司宣布裁员三百人", "２０２７年公司宣布裁员三百人", true),
            ("第3回大会は東京で開催されます", "第3回大会は中止になりました", false),
            ("第3回大会は東京で開催されます", "第4回大会は東京で開催されます", true),
            ("チケット5枚", "パンフレット5枚", false),
            ("か\u{3099}", "か\u{309a}", false),
            ("ราคา5บาทขึ้น", "ราคา5บาทลดลง", false),
            ("ราคา5บาทขึ้น", "ราคา๗๐บาทขึ้น", true),
            ("ไม่5", "ไม้5", false),
            ("ລາຄາ5ກີບ", "ລາຄາ5ບາດ", false),
            ("តម្លៃ5រៀល", "តម្លៃ5ដុល្លារ", false),
            ("စျေး5ကျပ်", "စျေး5ဒေါ်လာ", false),
            ("제3회대회는열립니다", "제3회대회는취소됩니다", false),
            ("12시 30분, 300명", "1시 5분, 7명", true),
            // Numbers in ideographs are words, but the zero is a digit.
            ("三百人", "五百人", false),
            ("二〇", "二〇〇", true),
            // A token beside ideographs is a token.
            ("编号a8f3完", "编号b7完", true),
            ("编号abc完", "编号abd完", false),
            // What a digit belongs to in an alphabet.
            ("B2B, covid19, 12th", "B2C, mp3, 1st", true),
            ("на 2й", "на 3й", true),
            ("e\u{301}t", "e\u{300}t", false),
        ] {
            assert_eq!(of_page(None, before) == of_page(None, now), is_same, "{before} {now}");
        }
    }
}
