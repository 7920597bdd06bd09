//! The print of a page as lines of text. A PDF has neither words nor lines, and its characters stand in any order: places make them.

use std::borrow::Cow;

use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// The least gap between two words, by the size of the font. Printers shrink spaces to a tenth of it.
const WORD_GAP: f64 = 0.1;
/// Letters that are spaced out make no words. This is the greatest space between them, by the size of the font, in a line without and with
/// printed spaces; and the least number of such spaces.
const LETTER_SPACE_MAX: f64 = 0.2;
const LETTER_SPACE_BESIDE_SPACES_MAX: f64 = 0.6;
const SPACED_LETTERS_MIN: usize = 4;
/// How far two directions of a line differ, as a cosine.
const SAME_DIRECTION_MIN: f64 = 0.99;
/// How far a character may stand before the end of the one before it in the same piece, by the size of the font.
const KERNING_MAX: f64 = 0.3;
/// The least distance of two lines, and of two blocks, by the size of the font.
const LINE_STEP: f64 = 0.5;
const BLOCK_STEP: f64 = 1.5;

/// A printed character, or some that one glyph shows.
pub(crate) struct Glyph<'t> {
    pub(crate) text: &'t str,
    /// Where it begins along its line, and where its baseline is, counted from below; in units of the page.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    /// The size of the font, along the line and upwards.
    pub(crate) across: f64,
    pub(crate) up: f64,
    /// The direction of the line.
    pub(crate) angle: f64,
}

/// The print of a page, glyph by glyph in the order of the file.
#[derive(Default)]
pub(crate) struct Print {
    text: String,
    line: Vec<Piece>,
    baseline: f64,
    angle: f64,
}

/// Glyphs of a line that follow each other, in the file and on the page.
struct Piece {
    text: String,
    from: f64,
    to: f64,
    /// The size of the font.
    size: f64,
}

impl Piece {
    /// The gap before the next piece, by the size of its font.
    fn gap_to(&self, next: &Piece) -> f64 {
        (next.from - self.to) / next.size
    }
}

impl Print {
    /// Adds a glyph.
    pub(crate) fn add(&mut self, glyph: Glyph<'_>) {
        let gap = glyph.across * WORD_GAP;
        if let Some(last) = self.line.last_mut() {
            let (step, end) = ((glyph.y - self.baseline).abs(), last.to);
            let is_turned = (glyph.angle - self.angle).cos() < SAME_DIRECTION_MIN;
            if is_turned || step > glyph.up * BLOCK_STEP {
                self.end_line("\n\n");
            } else if step > glyph.up * LINE_STEP && glyph.x < end {
                self.end_line("\n");
            } else if step > glyph.up * LINE_STEP {
                // It goes on higher or lower.
                self.end_line(if glyph.x > end + gap { " " } else { "" });
            } else if (end - glyph.across * KERNING_MAX..=end + gap).contains(&glyph.x) {
                last.text.push_str(&in_order_of_print(glyph.text));
                (last.to, last.size, self.baseline) = (glyph.x + glyph.width, glyph.across, glyph.y);
                return;
            }
        }
        let text = in_order_of_print(glyph.text).into_owned();
        self.line.push(Piece { text, from: glyph.x, to: glyph.x + glyph.width, size: glyph.across });
        (self.baseline, self.angle) = (glyph.y, glyph.angle);
    }

    /// The lines.
    pub(crate) fn into_text(mut self) -> String {
        self.end_line("");
        self.text
    }

    /// Puts the pieces of a line in the order of their places. A piece that is printed twice, to look bold, counts once.
    fn end_line(&mut self, end: &str) {
        self.line.sort_by(|one, other| one.from.total_cmp(&other.from));
        self.line.dedup_by(|next, last| {
            let is_again = next.from - last.from <= last.size * WORD_GAP && next.text.starts_with(&last.text);
            if is_again {
                std::mem::swap(next, last);
            }
            is_again
        });
        let word_gap = WORD_GAP + letter_space(&self.line);
        let mut line = String::new();
        for (at, piece) in self.line.iter().enumerate() {
            let is_word = at.checked_sub(1).is_some_and(|last| self.line[last].gap_to(piece) > word_gap);
            line.push_str(if is_word { " " } else { "" });
            line.push_str(&piece.text);
        }
        self.line.clear();
        self.text.push_str(&in_order_of_reading(&line));
        self.text.push_str(end);
    }
}

/// The usual space between the letters of a line, by the size of the font: 0 where most letters follow each other.
fn letter_space(line: &[Piece]) -> f64 {
    let has_spaces = line.iter().any(|piece| piece.text.contains(' '));
    let max = if has_spaces { LETTER_SPACE_BESIDE_SPACES_MAX } else { LETTER_SPACE_MAX };
    // Neither points that lead to a number of a page, nor the spaces of words, tell it.
    let is_letter = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let pairs = line.windows(2).map(|pair| (&pair[0], &pair[1]));
    let pairs = pairs.filter(|(one, next)| is_letter(one.text.chars().last()) && is_letter(next.text.chars().next()));
    let mut gaps: Vec<f64> = pairs.map(|(one, next)| one.gap_to(next)).collect();
    let letters = |piece: &Piece| piece.text.chars().filter(|char| char.is_alphanumeric()).count();
    let follow: usize = line.iter().map(|piece| letters(piece).saturating_sub(1)).sum();
    let count = follow + gaps.len();
    if count < SPACED_LETTERS_MIN {
        return 0.0;
    }
    gaps.sort_by(f64::total_cmp);
    // The median: the others are nothing.
    let median = (count / 2).checked_sub(follow).and_then(|at| gaps.get(at));
    median.copied().filter(|gap| *gap <= max).unwrap_or_default().max(0.0)
}

/// The characters of one glyph from left to right.
fn in_order_of_print(text: &str) -> Cow<'_, str> {
    let is_reversed = text.chars().nth(1).is_some() && text.chars().all(is_from_right);
    if is_reversed { text.chars().rev().collect::<String>().into() } else { text.into() }
}

/// A line as it is read, of one as it stands from left to right. What puts a text in the order of print (Unicode Standard Annex #9) puts
/// such a line back.
fn in_order_of_reading(line: &str) -> Cow<'_, str> {
    let from_right = line.chars().filter(|char| is_from_right(*char)).count();
    if from_right == 0 {
        return line.into();
    }
    let from_left = line.chars().filter(|char| bidi_class(*char) == BidiClass::L).count();
    let level = if from_right > from_left { Level::rtl() } else { Level::ltr() };
    let bidi = BidiInfo::new(line, Some(level));
    let lines = bidi.paragraphs.iter().map(|paragraph| bidi.reorder_line(paragraph, paragraph.range.clone()));
    lines.map(Cow::into_owned).collect()
}

fn is_from_right(char: char) -> bool {
    matches!(bidi_class(char), BidiClass::R | BidiClass::AL)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The letters of a text, each at a place of its own.
    fn spaced(text: &'static str, step: f64, from: f64) -> Vec<(&'static str, f64, f64)> {
        let places = (0u8..).map(|at| from + step * f64::from(at));
        places.zip(0..text.len()).map(|(x, at)| (&text[at..=at], x, 90.0)).collect()
    }

    /// Texts that are printed at these places in a font of size 10, each glyph 5 wide.
    fn printed(texts: &[(&str, f64, f64)]) -> String {
        let mut print = Print::default();
        for (text, x, y) in texts {
            for (place, char) in (0u8..).zip(text.chars()) {
                let text = &char.to_string();
                print.add(Glyph {
                    text,
                    x: x + 5.0 * f64::from(place),
                    y: *y,
                    width: 5.0,
                    across: 10.0,
                    up: 10.0,
                    angle: 0.0,
                });
            }
        }
        print.into_text()
    }

    #[test]
    fn places_make_words_and_lines() {
        for (texts, expect) in [
            (&[("one", 0.0, 90.0), ("two", 20.0, 90.0)][..], "one two"),
            (&[("one", 0.0, 90.0), ("two", 15.5, 90.0)], "onetwo"),
            (&[("one", 0.0, 90.0), ("two", 0.0, 78.0)], "one\ntwo"),
            (&[("one", 0.0, 90.0), ("two", 0.0, 60.0)], "one\n\ntwo"),
            // A glyph that the font lacks is printed afterwards, in another.
            (&[("Ti", 0.0, 90.0), ("ng", 15.0, 90.0), ("ế", 10.0, 90.0)], "Tiếng"),
            (&[("bold", 0.0, 90.0), ("bold", 0.3, 90.0), ("er", 20.0, 90.0)], "bolder"),
            // Two columns that do not stand side by side in the file.
            (&[("a", 0.0, 90.0), ("b", 0.0, 78.0), ("c", 50.0, 90.0)], "a\nb c"),
            // Lines that step to the right.
            (&[("[type]", 70.0, 90.0), ("a", 0.0, 90.0), ("b", 20.0, 78.0), ("c", 40.0, 66.0)], "a [type] b c"),
            // Letters that are spaced out, with the spaces of words and without.
            (&spaced("print it", 7.0, 0.0)[..], "print it"),
            (&[&spaced("spaced", 6.5, 0.0)[..], &spaced("out", 6.5, 50.0)].concat(), "spaced out"),
            (&spaced("12345", 15.0, 0.0), "1 2 3 4 5"),
            (&spaced("a.....9", 8.0, 0.0), "a . . . . . 9"),
            (&[], ""),
        ] {
            assert_eq!(printed(texts), expect, "{texts:?}");
        }
    }

    #[test]
    fn lines_from_right_to_left_are_in_the_order_of_reading() {
        for (line, expect) in [
            ("םלוע םולש", "שלום עולם"),
            (".2024 תנש", "שנת 2024."),
            ("the word םולש means", "the word שלום means"),
            ("plain", "plain"),
        ] {
            assert_eq!(printed(&[(line, 0.0, 90.0)]), expect);
        }
        // A file that prints each letter by itself, from the right.
        assert_eq!(printed(&[("ש", 15.0, 90.0), ("ל", 10.0, 90.0), ("ו", 5.0, 90.0), ("ם", 0.0, 90.0)]), "שלום");
        // A glyph of two letters.
        let mut print = Print::default();
        for (text, x) in [("م", 0.0), ("لا", 5.0), ("س", 10.0)] {
            print.add(Glyph { text, x, y: 0.0, width: 5.0, across: 10.0, up: 10.0, angle: 0.0 });
        }
        assert_eq!(print.into_text(), "سلام");
    }
}
