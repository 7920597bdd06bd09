//! The sentences of a Markdown document.
//!
//! A sentence ends at a full stop, question mark or exclamation mark that a word follows which does not begin in lower case. It also ends
//! with its paragraph or list item. A code span counts as one word. A single word is a label (`**store.**`), and no sentence.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Abbreviations that a capital may follow within a sentence.
const ABBREVIATIONS: [&str; 7] = ["e.g.", "i.e.", "cf.", "vs.", "approx.", "Dr.", "Mr."];

/// Stands for a code span: one word, which may begin a sentence.
const CODE: &str = "`…`";

/// A sentence, and the line of the document on which it begins.
#[derive(Debug)]
pub struct Sentence {
    /// Counted from 1.
    pub line: usize,
    /// Words separated by single blanks.
    pub text: String,
}

impl Sentence {
    /// How many words it has; dashes and the like are none.
    pub fn words(&self) -> usize {
        self.text.split(' ').filter(|word| word.contains(CODE) || word.contains(char::is_alphanumeric)).count()
    }
}

/// The sentences of the paragraphs and list items of a document.
pub fn sentences(markdown: &str) -> Vec<Sentence> {
    let mut block = Block::default();
    let mut found = Vec::new();
    let mut skipped = 0_usize;
    for (event, place) in Parser::new_ext(markdown, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(tag) if is_skipped(&tag) => skipped += 1,
            Event::End(tag) if is_skipped_end(tag) => skipped -= 1,
            _ if skipped > 0 => {}
            Event::Start(Tag::Paragraph | Tag::Item | Tag::List(_) | Tag::BlockQuote(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => block.end(&mut found),
            Event::Text(text) => block.add(&text, line_of(markdown, place.start)),
            Event::Code(_) => block.add(CODE, line_of(markdown, place.start)),
            Event::SoftBreak | Event::HardBreak => block.text.push(' '),
            _ => {}
        }
    }
    found
}

fn is_skipped(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Table(_) | Tag::Image { .. })
}

fn is_skipped_end(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Heading(_) | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Table | TagEnd::Image)
}

fn line_of(markdown: &str, offset: usize) -> usize {
    markdown[..offset].matches('\n').count() + 1
}

/// The text of a paragraph or list item, while it is read.
#[derive(Default)]
struct Block {
    text: String,
    /// Where in `text` each line of the document begins.
    lines: Vec<(usize, usize)>,
}

impl Block {
    fn add(&mut self, text: &str, line: usize) {
        self.lines.push((self.text.len(), line));
        self.text.push_str(text);
    }

    /// Moves its sentences to `found`.
    fn end(&mut self, found: &mut Vec<Sentence>) {
        for (begin, text) in split(&self.text) {
            let line = self.lines.iter().rev().find(|(offset, _)| *offset <= begin).map_or(1, |(_, line)| *line);
            let sentence = Sentence { line, text };
            if sentence.words() > 1 {
                found.push(sentence);
            }
        }
        *self = Block::default();
    }
}

/// The sentences of a text, each with its offset.
fn split(text: &str) -> Vec<(usize, String)> {
    let mut sentences = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        current.push(word);
        if words.peek().is_none_or(|next| ends_sentence(word, next)) {
            // All words are slices of `text`.
            let begin = current[0].as_ptr() as usize - text.as_ptr() as usize;
            sentences.push((begin, current.join(" ")));
            current.clear();
        }
    }
    sentences
}

fn ends_sentence(word: &str, next: &str) -> bool {
    let bare = word.trim_matches(|c| "()[]\"'“”‘’".contains(c));
    let is_initial = bare.len() == 2 && bare.starts_with(char::is_uppercase);
    let ends = bare.ends_with(['!', '?']) || (bare.ends_with('.') && !is_initial && !ABBREVIATIONS.contains(&bare));
    ends && !next.trim_start_matches(|c| "([\"'“‘".contains(c)).starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of each sentence.
    fn words(markdown: &str) -> Vec<usize> {
        sentences(markdown).iter().map(Sentence::words).collect()
    }

    #[test]
    fn sentences_end_at_full_stops_question_and_exclamation_marks() {
        assert_eq!(words("One two. Three four five! Six seven?\nEight nine"), [2, 3, 2, 2]);
        assert_eq!(words("He said \"no more.\" Then (as before.) Then he went."), [4, 3, 3]);
        assert_eq!(words("First part; second part: third – part."), [6]);
    }

    #[test]
    fn abbreviations_numbers_and_names_end_nothing() {
        assert_eq!(words("Formats, e.g. WARC, i.e. ISO 28500, etc. are read."), [9]);
        assert_eq!(words("See D. Knuth vs. Dr. Hoare. It takes 1.5 s."), [6, 4]);
        assert_eq!(words("WARC, CDXJ etc. Others follow."), [3, 2]);
        assert_eq!(words("The file robots.txt is read. 24 hours later too."), [5, 4]);
    }

    #[test]
    fn urls_and_links() {
        assert_eq!(words("Open https://a.test/x.html?q=1. Then <https://b.test/> is next."), [2, 4]);
        assert_eq!(words("Read [the whole page](docs/page.md#part.two). ![a picture of it](x.svg)"), [4]);
    }

    #[test]
    fn a_code_span_is_one_word_and_may_begin_a_sentence() {
        assert_eq!(words("Run `argiope crawl. Or not`. `step` decides."), [2, 2]);
        assert_eq!(words("**`store`.** Two words."), [2], "a label is no sentence");
    }

    #[test]
    fn each_list_item_is_a_sentence_and_may_have_several() {
        assert_eq!(
            words("Two words:\n\n- one two three\n- four five. Six seven\n  eight\n\n1. nine ten\n"),
            [2, 3, 2, 3, 2]
        );
        assert_eq!(words("- outer item\n  - inner item here\n"), [2, 3]);
    }

    #[test]
    fn code_tables_headings_and_html_are_left_out() {
        let markdown = "# A long heading. Here\n\nText stays.\n\n```sh\nnot this. Nor this\n```\n\n| a b | c d |\n|---|---|\n| e f. G h | i |\n\n<p>not this</p>\n";
        assert_eq!(words(markdown), [2]);
    }

    #[test]
    fn a_sentence_has_the_line_on_which_it_begins() {
        let found = sentences("# Title\n\nOne sentence\nover lines. Another\none.\n\n- third one\n");
        assert_eq!(found.iter().map(|sentence| sentence.line).collect::<Vec<_>>(), [3, 4, 7]);
    }
}
