//! Lines of print as text: ligatures are letters, and a word that a line breaks is whole again.

/// Adds the text of printed lines. An empty line at their end ends a page.
///
/// A hyphen at the end of a line joins its word to the next line if that begins with a small letter. A compound that breaks at its own
/// hyphen loses it; extractors of text differ here, and nothing in the file tells the two apart.
pub(crate) fn add_print(text: &mut String, lines: &str) {
    for line in lines.lines() {
        let line = line.trim();
        let begins_small = line.starts_with(char::is_lowercase);
        match text.strip_suffix("-\n") {
            Some(before) if begins_small && before.ends_with(char::is_alphabetic) => text.truncate(before.len()),
            _ => {}
        }
        let mut is_after_space = true;
        for char in line.chars() {
            let is_space = char.is_whitespace();
            if !(is_space && is_after_space) {
                push(text, if is_space { ' ' } else { char });
            }
            is_after_space = is_space;
        }
        // One empty line at most.
        if !text.ends_with("\n\n") && !text.is_empty() {
            text.push('\n');
        }
    }
}

/// Adds a character, a ligature as its letters (Unicode, "Alphabetic Presentation Forms").
fn push(text: &mut String, char: char) {
    match char {
        'ﬀ' => text.push_str("ff"),
        'ﬁ' => text.push_str("fi"),
        'ﬂ' => text.push_str("fl"),
        'ﬃ' => text.push_str("ffi"),
        'ﬄ' => text.push_str("ffl"),
        'ﬅ' | 'ﬆ' => text.push_str("st"),
        '\u{ad}' => {}
        char if char.is_control() => {}
        char => text.push(char),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_print() {
        for (lines, text) in [
            ("the com-\nmand ends", "the command ends"),
            ("the com-  \n  mand", "the command"),
            ("A-\nB", "A-\nB"),
            ("1-\nb", "1-\nb"),
            ("a -\nb", "a -\nb"),
            ("ﬁle o\u{ad}ﬃce", "file office"),
            ("two  \u{a0} words", "two words"),
            ("a\u{2}b\u{7f}\0c", "abc"),
            ("\n\na\n\n\n\nb\n", "a\n\nb"),
            ("", ""),
        ] {
            let mut found = String::new();
            add_print(&mut found, lines);
            assert_eq!(found.trim_end(), text, "{lines:?}");
        }
    }
}
