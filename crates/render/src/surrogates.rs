//! Lone surrogates in the messages of a browser. A string of a script is any sequence of 16-bit units, so `title.slice(0, 12)` may cut
//! a pair in two. The browser writes each unit as it is (`\ud83d`), which is no Unicode text.

/// Bytes of `\uXXXX`.
const ESCAPE_BYTES: usize = 6;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}

/// Puts U+FFFD in place of each lone surrogate in a JSON text, as browsers do where they write text (WebIDL, `USVString`).
pub(crate) fn replace_lone(json: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match surrogate(json, at) {
            // One escaped character, which may be a backslash.
            None => 2,
            Some(Surrogate::High) if surrogate(json, at + ESCAPE_BYTES) == Some(Surrogate::Low) => 2 * ESCAPE_BYTES,
            Some(_) => {
                json[at + 2..at + ESCAPE_BYTES].copy_from_slice(b"fffd");
                ESCAPE_BYTES
            }
        };
    }
}

/// The surrogate whose escape is here.
fn surrogate(json: &[u8], at: usize) -> Option<Surrogate> {
    let [b'\\', b'u', b'd' | b'D', kind, third, fourth] = json.get(at..at + ESCAPE_BYTES)? else { return None };
    if !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() {
        return None;
    }
    match kind.to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some(Surrogate::High),
        b'c'..=b'f' => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else() {
        for (given, expect) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\uD83D b""#, "\u{fffd} b"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\ud83d\ude00\uDE00""#, "\u{1f600}\u{fffd}"),
            (r#""\ud83d\n""#, "\u{fffd}\n"),
            (r#""\ud83d\\ude00""#, "\u{fffd}\\ude00"),
            (r#""\\ud83d""#, "\\ud83d"),
            (r#""\\\ud83d""#, "\\\u{fffd}"),
            (r#""\"\u00e9\ud7ff\ue000""#, "\"\u{e9}\u{d7ff}\u{e000}"),
            (r#""plain""#, "plain"),
        ] {
            let mut json = given.as_bytes().to_vec();
            replace_lone(&mut json);
            assert_eq!(serde_json::from_slice::<String>(&json).expect(given), expect, "{given}");
        }
    }

    #[test]
    fn what_is_no_json_stays_as_it_is() {
        for given in [r"\", r"\u", r"\ud83", r"a\", r"\ud8zz", ""] {
            let mut json = given.as_bytes().to_vec();
            replace_lone(&mut json);
            assert_eq!(json, given.as_bytes());
        }
    }
}
