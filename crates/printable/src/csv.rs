//! Rows of CSV (RFC 4180) that spreadsheets take for text and nothing else.

use std::borrow::Cow;
use std::io;

use crate::is_harmful;

/// Writes one row of CSV, and ends the line.
///
/// A cell whose text could be a formula has a quote in front, as spreadsheets write a text
/// (OWASP, CSV injection); what nobody sees before it, such as U+FEFF, does not hide it. A number keeps its sign. Harmful characters are escaped as in [`crate::Printable`], except
/// ends of lines and tabulators, which CSV can hold.
///
/// # Errors
/// As writing to `out`.
pub fn write_csv_line<'a>(
    out: &mut (impl io::Write + ?Sized),
    cells: impl IntoIterator<Item = Cow<'a, str>>,
) -> io::Result<()> {
    for (at, cell) in cells.into_iter().enumerate() {
        let cell = csv_cell(&cell);
        write!(out, "{}{cell}", if at == 0 { "" } else { "," })?;
    }
    out.write_all(b"\r\n")
}

/// Space, and characters that are not shown: harmful ones, and others that Unicode calls default ignorable (UAX #44).
fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || is_harmful(character)
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200c}'..='\u{200d}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}')
}

fn csv_cell(text: &str) -> String {
    // A program that reads the file may leave out what is not seen.
    let seen = text.trim_start_matches(is_invisible);
    let begins_formula = seen.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let is_guarded = begins_formula && text.parse::<f64>().is_err();
    if !is_guarded && !text.contains(|character| matches!(character, ',' | ';' | '"') || is_harmful(character)) {
        return text.to_owned();
    }
    let mut cell = String::from(if is_guarded { "\"'" } else { "\"" });
    for character in text.chars() {
        match character {
            '"' => cell.push_str("\"\""),
            '\n' | '\r' | '\t' => cell.push(character),
            _ if is_harmful(character) => cell.extend(character.escape_unicode()),
            _ => cell.push(character),
        }
    }
    cell.push('"');
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells() {
        for (text, cell) in [
            ("", ""),
            ("http://a.test/?b=1", "http://a.test/?b=1"),
            ("-1.5e3", "-1.5e3"),
            ("a,b", "\"a,b\""),
            ("say \"so\"", "\"say \"\"so\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("=1+1", "\"'=1+1\""),
            (" @SUM(A1)", "\"' @SUM(A1)\""),
            ("-2+3", "\"'-2+3\""),
            ("＝1", "\"'＝1\""),
            ("\u{feff}=1+1", "\"'\\u{feff}=1+1\""),
            (" \u{feff}\u{200b}\t@SUM(A1)", "\"' \\u{feff}\\u{200b}\t@SUM(A1)\""),
            ("\0\u{200d}+1+1", "\"'\\u{0}\u{200d}+1+1\""),
            ("\u{ad}-2+3", "\"'\u{ad}-2+3\""),
            ("\u{feff}title", "\"\\u{feff}title\""),
            ("\u{1b}[31m", "\"\\u{1b}[31m\""),
        ] {
            assert_eq!(csv_cell(text), cell, "{text:?}");
        }
        let mut out = Vec::new();
        write_csv_line(&mut out, ["a", "b,c", ""].map(Cow::Borrowed)).unwrap();
        assert_eq!(out, b"a,\"b,c\",\r\n");
    }
}
