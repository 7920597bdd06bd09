//! The YAML block at the head of a file.

use std::fmt::Write;

use dataset::Row;

use super::Readable;

/// The block, with the lines around it. What is not known has no line.
pub(super) fn front_matter(row: &Row, page: &Readable) -> String {
    let metadata = &page.metadata;
    let mut block = String::from("---\n");
    let fields = [
        ("url", Some(row.url.clone())),
        ("title", row.title.clone().or_else(|| metadata.title.clone())),
        ("fetched_at", row.at.map(model::Timestamp::to_rfc3339)),
        ("language", metadata.language.clone()),
        ("kind", Some(page.kind.to_owned())),
        ("author", metadata.author.clone()),
        ("published", metadata.published.clone()),
        ("modified", metadata.modified.clone()),
        ("site_name", metadata.site_name.clone()),
        ("digest", row.digest.clone()),
        ("depth", Some(row.depth.to_string())),
        ("canonical", row.canonical.clone()),
    ];
    for (name, value) in fields {
        match value {
            Some(number) if name == "depth" => block.push_str(&format!("{name}: {number}\n")),
            Some(text) => block.push_str(&format!("{name}: {}\n", quoted(&text))),
            None => {}
        }
    }
    block.push_str("---\n");
    block
}

/// A text as a double-quoted scalar (YAML 1.2 §5.7, §7.3.1), whatever is in it.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_escaped(character) => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// What YAML does not print, what ends a line for some readers, and what a terminal would obey.
fn is_escaped(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_line() {
        for (text, expect) in [
            ("plain: # text", r#""plain: # text""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("---\nurl: x", r#""---\nurl: x""#),
            ("\u{1b}[31m\u{85}\u{2028}", r#""\U0000001b[31m\U00000085\U00002028""#),
            ("č 蛙", "\"č 蛙\""),
        ] {
            assert_eq!(quoted(text), expect);
        }
    }
}
