//! JSONPath (RFC 9535): what stands before the library's reader.
//!
//! That reader calls itself for each bracket, and tries several forms there one after the other. So its stack grows with the depth, and its time
//! doubles with each level. A limit of depth keeps both small.

use serde_json_path::JsonPath;

/// Brackets within brackets, at most.
const DEPTH_MAX: usize = 8;

/// Reads a JSONPath.
///
/// # Errors
/// It is none; the text says what is wrong.
pub(crate) fn parse(text: &str) -> Result<JsonPath, String> {
    JsonPath::parse(&checked(text)?).map_err(|error| error.to_string())
}

/// The path with surrogate pairs as the characters that they stand for: the library knows only some of them.
fn checked(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut quote = None;
    let mut depth = 0_usize;
    while let Some(char) = rest.chars().next() {
        if quote.is_some() && char == '\\' {
            let (escape, length) = escape(rest);
            plain.push_str(&escape);
            rest = &rest[length..];
            continue;
        }
        match (quote, char) {
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX}"));
        }
        plain.push(char);
        rest = &rest[char.len_utf8()..];
    }
    Ok(plain)
}

/// The escape at the beginning of a text, as it is to be read, and its length.
fn escape(text: &str) -> (String, usize) {
    let unit = |text: Option<&str>| u16::from_str_radix(text?.strip_prefix("\\u")?, 16).ok();
    if let (Some(high), Some(low)) = (unit(text.get(..6)), unit(text.get(6..12)))
        && let Some(Ok(char)) = char::decode_utf16([high, low]).next().filter(|_| (0xd800..0xdc00).contains(&high))
    {
        return (char.to_string(), 12);
    }
    let length = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
    (text[..length].to_owned(), length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nesting_has_a_limit() {
        let nested = |levels: usize| format!("${}.x{}", "[?@".repeat(levels), "]".repeat(levels));
        let in_brackets = |levels: usize| format!("$[?{}@.x{}]", "(".repeat(levels), ")".repeat(levels));
        assert!(parse(&nested(DEPTH_MAX)).is_ok());
        assert!(parse(&in_brackets(DEPTH_MAX - 1)).is_ok());
        for text in [nested(DEPTH_MAX + 1), nested(400), in_brackets(DEPTH_MAX), "[".repeat(100_000)] {
            assert_eq!(parse(&text), Err("it is nested deeper than 8".to_owned()));
        }
        // Brackets in texts, and brackets in a row, nest nothing.
        assert!(parse(&format!("$['{}']{}", "[(\\'".repeat(100), "[0]".repeat(1_000))).is_ok());
    }

    #[test]
    fn escapes_stand_for_characters() {
        let value = json!({"😀": 1, "é": 2, "it's": 3, "\\ud83d": 4});
        for (text, expect) in [
            (r#"$["\ud83d\ude00"]"#, json!([1])),
            (r#"$["\uD83D\uDE00"]"#, json!([1])),
            (r#"$["\u00e9"]"#, json!([2])),
            (r"$['it\'s']", json!([3])),
            (r#"$["\\ud83d"]"#, json!([4])),
        ] {
            assert_eq!(json!(parse(text).expect(text).query(&value).all()), expect, "{text}");
        }
        assert!(parse(r#"$["\ud83d"]"#).is_err());
    }
}
