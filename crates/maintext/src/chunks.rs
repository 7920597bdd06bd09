//! Markdown in pieces for retrieval: cut at headings, none larger than asked for.
//!
//! A piece begins with a heading. Sections below it are joined while there is room. A section that is too large is cut between its blocks, a block
//! that is too large between its lines, a line that is too long between its words.

/// The largest piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// In characters.
    Characters(usize),
    /// In tokens as [`tokens_of`] estimates them.
    Tokens(usize),
}

/// A piece of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// The headings above and at its beginning, from the top.
    pub headings: Vec<String>,
    /// Its Markdown.
    pub text: String,
}

/// The least size: below it, pieces would be fences and table heads only.
pub const SIZE_MIN: usize = 32;

/// Characters between two blocks.
const SEPARATOR: usize = 2;

impl Size {
    fn of(self, text: &str) -> usize {
        match self {
            Size::Characters(_) => text.chars().count(),
            Size::Tokens(_) => tokens_of(text),
        }
    }

    /// Whether a text is larger than this, which shows at its beginning.
    fn is_exceeded_by(self, text: &str) -> bool {
        match self {
            Size::Characters(max) => text.chars().nth(max).is_some(),
            Size::Tokens(max) => Tokens::default().of(text, max) > max,
        }
    }

    fn with(self, max: usize) -> Self {
        match self {
            Size::Characters(_) => Size::Characters(max),
            Size::Tokens(_) => Size::Tokens(max),
        }
    }

    fn max(self) -> usize {
        let (Size::Characters(max) | Size::Tokens(max)) = self;
        max.max(SIZE_MIN)
    }
}

/// About how many tokens a language model makes of a text: one for each four letters begun of a word, one for each mark, one for each
/// character of a script without spaces. Real tokenizers make fewer of most English text.
#[must_use]
pub fn tokens_of(text: &str) -> usize {
    Tokens::default().of(text, usize::MAX)
}

/// Tokens, while they are counted.
#[derive(Default)]
struct Tokens {
    whole: usize,
    /// Letters of the word that goes on.
    letters: usize,
}

impl Tokens {
    /// How many a text has; where they are more than `enough`, that many at least.
    fn of(mut self, text: &str, enough: usize) -> usize {
        for character in text.chars() {
            let is_letter = character.is_alphanumeric() && u32::from(character) < 0x2e80;
            if is_letter {
                self.letters += 1;
            } else {
                self.whole = self.count() + usize::from(!character.is_whitespace());
                self.letters = 0;
            }
            if self.count() > enough {
                break;
            }
        }
        self.count()
    }

    fn count(&self) -> usize {
        const LETTERS_A_TOKEN: usize = 4;
        self.whole + self.letters.div_ceil(LETTERS_A_TOKEN)
    }
}

/// A heading with the blocks up to the next one.
struct Section<'t> {
    /// 1 to 6; 0 for what is in front of the first heading.
    rank: usize,
    heading: &'t str,
    blocks: Vec<&'t str>,
}

/// Cuts a text.
#[must_use]
pub fn cut(markdown: &str, size: Size) -> Vec<Chunk> {
    let mut chunks = Chunks { size, done: Vec::new(), open: Chunk::default(), open_size: 0, open_rank: 0 };
    let mut path: Vec<(usize, &str)> = Vec::new();
    for section in sections(markdown) {
        path.retain(|(rank, _)| *rank < section.rank);
        if section.rank > 0 {
            path.push((section.rank, section.heading));
        }
        let headings: Vec<String> = path.iter().map(|(_, heading)| (*heading).to_owned()).collect();
        let whole: usize = section.blocks.iter().map(|block| size.of(block) + SEPARATOR).sum();
        // A section below joins what is above it, if there is room for all of it.
        if section.rank <= chunks.open_rank || chunks.open_size + whole > size.max() {
            chunks.end();
            chunks.open_rank = section.rank;
        } else if chunks.open_rank == 0 {
            // What is in front of the first heading stands with its section.
            chunks.open_rank = section.rank;
        }
        if chunks.open.text.is_empty() {
            chunks.open.headings.clone_from(&headings);
        }
        for block in section.blocks {
            chunks.add(block, &headings);
        }
    }
    chunks.end();
    chunks.done
}

struct Chunks {
    size: Size,
    done: Vec<Chunk>,
    open: Chunk,
    open_size: usize,
    open_rank: usize,
}

impl Chunks {
    fn end(&mut self) {
        if !self.open.text.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
        self.open_size = 0;
    }

    /// Adds a block, in parts if it must be.
    fn add(&mut self, block: &str, headings: &[String]) {
        let (size, max) = (self.size.of(block) + SEPARATOR, self.size.max());
        let left = max.saturating_sub(self.open_size + SEPARATOR);
        if size <= left + SEPARATOR {
            return self.push(block, size);
        }
        // A heading goes with what is below it.
        let is_continued = is_heading_alone(&self.open.text) && left >= SIZE_MIN;
        if !is_continued {
            self.end();
            self.open.headings = headings.to_vec();
            if size <= max {
                return self.push(block, size);
            }
        }
        let room = if is_continued { left } else { max };
        for (number, part) in parts(block, self.size.with(room)).into_iter().enumerate() {
            if number > 0 {
                self.end();
                self.open.headings = headings.to_vec();
            }
            let size = self.size.of(&part) + SEPARATOR;
            self.push(&part, size);
        }
    }

    fn push(&mut self, block: &str, size: usize) {
        if !self.open.text.is_empty() {
            self.open.text.push_str("\n\n");
        }
        self.open.text.push_str(block);
        self.open_size += size;
    }
}

fn is_heading_alone(text: &str) -> bool {
    text.starts_with('#') && !text.contains('\n')
}

/// The sections of a text, each with its heading as first block.
fn sections(markdown: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section { rank: 0, heading: "", blocks: Vec::new() }];
    for block in blocks(markdown) {
        let rank = block.bytes().take_while(|byte| *byte == b'#').count();
        let heading = block[rank..].strip_prefix(' ').filter(|_| (1..=6).contains(&rank));
        if let Some(heading) = heading {
            sections.push(Section { rank, heading, blocks: Vec::new() });
        }
        if let Some(section) = sections.last_mut() {
            section.blocks.push(block);
        }
    }
    sections.retain(|section| !section.blocks.is_empty());
    sections
}

/// The blocks of a text: what empty lines separate, code with its empty lines in one.
fn blocks(markdown: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut fence: Option<&str> = None;
    let (mut begin, mut at) = (0, 0);
    for line in markdown.split_inclusive('\n') {
        let text = line.trim_end();
        let is_empty = text.is_empty() && fence.is_none();
        if is_empty && begin < at {
            blocks.push(markdown[begin..at].trim_end());
        }
        match fence {
            Some(open) if text.trim_start() == open => fence = None,
            Some(_) => {}
            None => fence = fence_of(text),
        }
        at += line.len();
        if is_empty {
            begin = at;
        }
    }
    if begin < at {
        blocks.push(markdown[begin..].trim_end());
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The marks that a line begins code with, perhaps within a list or a quotation.
fn fence_of(line: &str) -> Option<&str> {
    let marks =
        line.trim_start_matches([' ', '>', '-', '*', '.', ')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    let length = marks.bytes().take_while(|byte| *byte == b'`').count();
    Some(&marks[..length]).filter(|_| length >= 3 && !marks[length..].contains('`'))
}

/// A block in parts that fit: code in fences of their own, a table with its head again.
fn parts(block: &str, size: Size) -> Vec<String> {
    let lines: Vec<&str> = block.lines().collect();
    let is_table = lines.len() > 2 && lines[0].starts_with('|') && lines[1].starts_with("| ---");
    let head = if is_table { format!("{}\n{}\n", lines[0], lines[1]) } else { String::new() };
    // A head that leaves little room is not repeated: it is a line as others are.
    let head = if has_room(size, size.of(&head)) { head } else { String::new() };
    let body = if head.is_empty() { &lines[..] } else { &lines[2..] };
    let mut parts =
        Parts { size, head, code: None, done: Vec::new(), open: String::new(), open_size: 0, has_lines: false };
    parts.begin();
    body.iter().for_each(|line| parts.add(line));
    parts.end();
    parts.done
}

/// Whether there is room beside what is repeated in each part.
fn has_room(size: Size, repeated: usize) -> bool {
    size.max().checked_sub(repeated + 1).is_some_and(|room| room >= SIZE_MIN / 2)
}

/// The parts of a block, while they are made.
struct Parts {
    size: Size,
    /// What each part begins with.
    head: String,
    /// The code in which the block is.
    code: Option<Code>,
    done: Vec<String>,
    open: String,
    open_size: usize,
    /// The open part has more than what is repeated.
    has_lines: bool,
}

/// Code in fences, perhaps within a quotation or a list.
struct Code {
    /// The lines that begin and end it, where it is cut. Empty if there is no room for them.
    begin: String,
    end: String,
    fence: String,
}

impl Code {
    /// The code that a line begins.
    fn begun_by(line: &str, size: Size) -> Option<Self> {
        let fence = fence_of(line)?;
        let (before, with_fence) = line.split_at(line.find(fence)?);
        // What goes on in an item of a list stands below its text.
        let before: String = before.chars().map(|char| if char == '>' { '>' } else { ' ' }).collect();
        let (begin, end) = (format!("{before}{with_fence}"), format!("{before}{fence}"));
        let is_cut = has_room(size, size.of(&begin) + size.of(&end) + 2);
        let (begin, end) = if is_cut { (begin, end) } else { Default::default() };
        Some(Code { begin, end, fence: fence.to_owned() })
    }

    fn is_ended_by(&self, line: &str) -> bool {
        line.trim_start_matches([' ', '>']).trim_end() == self.fence
    }
}

impl Parts {
    /// Adds a line, which is too long perhaps.
    fn add(&mut self, line: &str) {
        if self.code.as_ref().is_some_and(|code| code.is_ended_by(line)) {
            // There is room: it was kept.
            self.code = None;
            return self.push(line);
        }
        let is_in_code = self.code.is_some();
        let begun = if is_in_code { None } else { Code::begun_by(line, self.size) };
        let reserved = self.size.of(&self.head) + self.around(self.code.as_ref().or(begun.as_ref()));
        for piece in pieces(line, self.size, self.size.max().saturating_sub(reserved + 1)) {
            let kept = self.kept(self.code.as_ref().or(begun.as_ref()));
            if self.has_lines && self.open_size + self.size.of(piece) + 1 + kept > self.size.max() {
                self.end();
                self.begin();
            }
            self.push(piece);
        }
        self.code = self.code.take().or(begun);
    }

    /// What the lines of a fence take, at the beginning of a part and at its end.
    fn around(&self, code: Option<&Code>) -> usize {
        code.map_or(0, |code| self.size.of(&code.begin) + 1) + self.kept(code)
    }

    /// What is kept free for the line that ends code.
    fn kept(&self, code: Option<&Code>) -> usize {
        code.map_or(0, |code| self.size.of(&code.end) + 1)
    }

    fn begin(&mut self) {
        self.open.clone_from(&self.head);
        self.open_size = self.size.of(&self.head);
        if let Some(begin) = self.code.as_ref().map(|code| code.begin.clone()).filter(|begin| !begin.is_empty()) {
            self.push(&begin);
        }
        self.has_lines = false;
    }

    fn push(&mut self, line: &str) {
        if !self.open.is_empty() && !self.open.ends_with('\n') {
            self.open.push('\n');
        }
        self.open.push_str(line);
        self.open_size += self.size.of(line) + 1;
        self.has_lines = true;
    }

    fn end(&mut self) {
        if let Some(end) = self.code.as_ref().map(|code| code.end.clone()).filter(|end| !end.is_empty()) {
            self.push(&end);
        }
        if self.has_lines {
            self.done.push(std::mem::take(&mut self.open));
        }
    }
}

/// A line in pieces that fit: cut behind the last sentence, else the last space, else anywhere.
fn pieces(line: &str, size: Size, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while size.with(room.saturating_sub(1)).is_exceeded_by(rest) {
        // A character is one token at most.
        let fits = rest.char_indices().nth(room.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        let fits = longest(rest, fits, size, room);
        let begin = &rest[..fits];
        let sentence = begin.rfind(". ").map(|at| at + 1).filter(|at| *at > begin.len() / 2);
        let cut = sentence.or_else(|| begin.rfind(' ').filter(|at| *at > 0)).unwrap_or(fits);
        pieces.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    pieces.push(rest);
    pieces
}

/// How much of the beginning of a text fits: at least `from` bytes do, more while there is room, by doublings.
fn longest(text: &str, from: usize, size: Size, room: usize) -> usize {
    let mut fits = from.max(text.chars().next().map_or(0, char::len_utf8));
    loop {
        let next = text.floor_char_boundary((fits * 3 / 2 + 1).min(text.len()));
        if next <= fits || size.of(&text[..next]) >= room {
            return fits;
        }
        fits = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str, size: Size) -> Vec<String> {
        cut(markdown, size).into_iter().map(|chunk| format!("{}: {}", chunk.headings.join("/"), chunk.text)).collect()
    }

    #[test]
    fn sections_are_joined_while_there_is_room() {
        let text = "# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree";
        assert_eq!(shown(text, Size::Characters(100)), [format!("A: {text}")]);
        assert_eq!(shown(text, Size::Characters(48)), ["A: # A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree"]);
        let long = format!("# A\n\n{}\n\n## B\n\n{}", "word ".repeat(12).trim(), "other ".repeat(8).trim());
        let chunks = cut(&long, Size::Characters(70));
        assert_eq!(chunks.len(), 2);
        assert_eq!(chunks[1].headings, ["A", "B"]);
    }

    #[test]
    fn a_section_beside_begins_a_piece() {
        assert_eq!(shown("## A\n\none\n\n## B\n\ntwo", Size::Characters(99)), ["A: ## A\n\none", "B: ## B\n\ntwo"]);
        assert_eq!(shown("front\n\n# A\n\none", Size::Characters(99)), [": front\n\n# A\n\none"]);
    }

    #[test]
    fn code_and_tables_stay_whole_or_are_cut_between_lines() {
        let code = format!("```rust\n{}\n```", "let x = 1;\n\n# no heading\n".repeat(4).trim_end());
        assert_eq!(cut(&code, Size::Characters(400)).len(), 1);
        for chunk in cut(&code, Size::Characters(60)) {
            assert!(chunk.text.starts_with("```rust\n") && chunk.text.ends_with("\n```"), "{}", chunk.text);
        }
        let table = format!("| a | b |\n| --- | --- |\n{}", "| one | two |\n".repeat(9).trim_end());
        for chunk in cut(&table, Size::Characters(70)) {
            assert!(chunk.text.starts_with("| a | b |\n| --- | --- |\n| one"), "{}", chunk.text);
        }
    }

    #[test]
    fn code_in_quotations_and_lists_is_cut_into_code() {
        let lines = |prefix: &str| format!("{prefix}first = 'line'\n").repeat(12);
        for (block, begin) in [
            (format!("> Words before.\n>\n> ```python3\n{}> ```\n> Words behind.", lines("> ")), "> ```python3"),
            (format!("- Words before.\n\n  ```\n{}  ```\n- Words behind.", lines("  ")), "  ```"),
            (format!("1. ```sh\n{}   ```", lines("   ")), "   ```sh"),
        ] {
            for size in [Size::Characters(90), Size::Tokens(40)] {
                let chunks = cut(&block, size);
                assert!(chunks.len() > 2, "{block}");
                for chunk in &chunks {
                    let fences = chunk.text.lines().filter(|line| line.contains("```")).count();
                    assert!(fences.is_multiple_of(2) && size.of(&chunk.text) <= size.max(), "{size:?}: {}", chunk.text);
                }
                assert!(chunks.iter().skip(1).any(|chunk| chunk.text.starts_with(begin)), "{size:?}: {chunks:?}");
                let code: usize = chunks.iter().map(|chunk| chunk.text.matches("first = 'line'").count()).sum();
                assert_eq!(code, 12);
            }
        }
    }

    #[test]
    fn a_heading_stands_with_the_beginning_of_what_does_not_fit_beside_it() {
        let text = format!("# A heading of some words\n\n{}", "A sentence. ".repeat(8).trim());
        let size = Size::Characters(100);
        let chunks = cut(&text, size);
        assert!(chunks.iter().all(|chunk| size.of(&chunk.text) <= 100 && chunk.headings.len() == 1), "{chunks:?}");
        assert!(chunks[0].text.starts_with("# A heading of some words\n\nA sentence."), "{chunks:?}");
    }

    #[test]
    fn no_piece_is_too_large_and_no_word_is_lost() {
        let text = format!(
            "# Heading\n\n{}\n\n> {}\n\n- {}\n\n{}\n\n```\n{}\n```",
            "A sentence of words. ".repeat(40),
            "quoted ".repeat(50),
            "item ".repeat(60),
            "x".repeat(500),
            "蛙".repeat(300)
        );
        for size in
            [Size::Characters(32), Size::Characters(100), Size::Tokens(32), Size::Tokens(64), Size::Tokens(5000)]
        {
            let chunks = cut(&text, size);
            for chunk in &chunks {
                assert!(size.of(&chunk.text) <= size.max(), "{size:?}: {}", chunk.text);
            }
            let letters = |text: &str| text.chars().filter(|character| character.is_alphanumeric()).count();
            assert_eq!(chunks.iter().map(|chunk| letters(&chunk.text)).sum::<usize>(), letters(&text), "{size:?}");
        }
    }

    #[test]
    fn tokens_are_estimated() {
        for (text, expect) in [("", 0), ("word", 1), ("words", 2), ("a, b.", 4), ("蛙蛙", 2)] {
            assert_eq!(tokens_of(text), expect, "{text}");
        }
    }
}
