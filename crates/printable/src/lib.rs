//! Text for people: harmless for a terminal, whatever the web sent, and with numbers in their sentences.
//!
//! A title may hold escape sequences that recolour, rename or overwrite what a terminal shows, and directional marks that
//! show a URL backwards. Both are written as escapes, in text (`\u{1b}`) and in JSON (`\u001b`).

mod counted;
mod csv;

use std::fmt::{self, Write as _};
use std::io;

use serde_json::ser::Formatter;

pub use counted::counted;
pub use csv::write_csv_line;

/// Shows a text in one line without anything that a terminal would obey.
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\n' | '\r' | '\t' => write!(f, "{}", character.escape_default())?,
                _ if is_harmful(character) => write!(f, "{}", character.escape_unicode())?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// Compact JSON in which harmful characters are escaped: the standard asks for that only of those below U+0020
/// (RFC 8259 §7), but terminals obey U+009B too.
pub struct PrintableJson;

impl Formatter for PrintableJson {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut written = 0;
        for (at, character) in fragment.char_indices().filter(|(_, character)| is_harmful(*character)) {
            writer.write_all(&fragment.as_bytes()[written..at])?;
            for unit in character.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + character.len_utf8();
        }
        writer.write_all(&fragment.as_bytes()[written..])
    }
}

/// C0, DEL and C1 controls; marks that change the direction of writing (Unicode UAX #9 §2); line and paragraph
/// separators; characters without width, and tags.
fn is_harmful(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes a value as JSON in one line, and ends the line.
///
/// # Errors
/// As writing to `out`.
pub fn write_json_line(out: &mut (impl io::Write + ?Sized), value: &impl serde::Serialize) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, PrintableJson))?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use serde::Serialize as _;

    use super::*;

    fn check(text: &str, shown: &str, json: &str) {
        assert_eq!(Printable(text).to_string(), shown);
        let mut out = Vec::new();
        text.serialize(&mut serde_json::Serializer::with_formatter(&mut out, PrintableJson)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), json);
        assert_eq!(serde_json::from_str::<String>(json).unwrap(), text);
    }

    #[test]
    fn terminals_get_nothing_to_obey() {
        check("", "", "\"\"");
        check("Žabe & 蛙 \\n", "Žabe & 蛙 \\n", "\"Žabe & 蛙 \\\\n\"");
        check("a\nb\tc", "a\\nb\\tc", "\"a\\nb\\tc\"");
        check("\u{1b}[2J", "\\u{1b}[2J", "\"\\u001b[2J\"");
        check("\u{7f}\u{9b}31m", "\\u{7f}\\u{9b}31m", "\"\\u007f\\u009b31m\"");
        check("a\u{202e}b", "a\\u{202e}b", "\"a\\u202eb\"");
        check("\u{e0041}!", "\\u{e0041}!", "\"\\udb40\\udc41!\"");
    }
}
