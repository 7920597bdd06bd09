//! Blocks: paragraphs, headings, lists, quotations, code (CommonMark §4, §5).

use super::content::{Content, is_furniture};
use super::inline::{Inline, Renderer, longest_run, one_line};
use super::table;
use super::tree::{Element, Id, Node, is_block};

/// Lists and quotations in each other; what lies deeper is not indented any more.
const NESTING_MAX: usize = 12;

/// Blocks one behind the other, and the text that is no block yet.
#[derive(Default)]
struct Blocks {
    blocks: Vec<Block>,
    line: Inline,
}

struct Block {
    text: String,
    /// What the items are marked with, if it is a list.
    mark: Option<char>,
}

impl Renderer<'_> {
    /// The Markdown of a page's content, without a line end at its end.
    pub(super) fn render(&self, content: Content) -> String {
        let mut blocks = Blocks::default();
        if let Some((heading, element)) = content.heading.and_then(|id| Some((id, self.tree.element(id)?))) {
            self.block(heading, element, 0, &mut blocks);
        }
        self.children(content.id, 0, &mut blocks);
        blocks.joined()
    }

    fn children(&self, id: Id, nesting: usize, out: &mut Blocks) {
        for child in self.tree.children(id) {
            match self.tree.node(*child) {
                Node::Text(text) => out.line.text(text),
                Node::Element(element) if self.is_left_out(id, element) => {}
                Node::Element(element) if is_block(&element.name) => {
                    out.end_paragraph();
                    self.block(*child, element, nesting, out);
                }
                Node::Element(element) if self.holds_blocks(*child) => {
                    // A link or emphasis around whole blocks: they are what counts.
                    let _ = element;
                    out.end_paragraph();
                    self.children(*child, nesting, out);
                    out.end_paragraph();
                }
                Node::Element(_) => self.inline(*child, &mut out.line),
            }
        }
        if self.tree.element(id).is_some_and(|element| is_block(&element.name)) {
            out.end_paragraph();
        }
    }

    /// Whether an element that belongs into a line has blocks in it.
    fn holds_blocks(&self, id: Id) -> bool {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            for child in self.tree.children(id) {
                match self.tree.element(*child) {
                    Some(element) if is_furniture(element) => {}
                    Some(element) if is_block(&element.name) => return true,
                    Some(_) => left.push(*child),
                    None => {}
                }
            }
        }
        false
    }

    fn block(&self, id: Id, element: &Element, nesting: usize, out: &mut Blocks) {
        match element.name.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = element.name[1..].parse().unwrap_or(1);
                let text = self.line_of(id);
                if !text.is_empty() {
                    out.push(format!("{} {}", "#".repeat(level), text.trim_end_matches('#').trim_end()));
                }
            }
            "pre" => out.push(self.code(id)),
            "hr" => out.push("* * *".to_owned()),
            "blockquote" => {
                let inner = self.inner(id, nesting);
                out.push(if nesting < NESTING_MAX { prefixed(&inner, "> ", "> ") } else { inner });
            }
            "ul" | "menu" => self.list(id, None, nesting, out),
            "ol" => {
                let start = element.attribute("start").and_then(|start| start.trim().parse().ok());
                self.list(id, Some(start.filter(|start| *start < 1_000_000).unwrap_or(1)), nesting, out);
            }
            "dl" => self.definitions(id, nesting, out),
            "table" => match table::rows(self.tree, id, |cell| self.line_of(cell)) {
                Some(rows) => out.push(table::render(&rows)),
                None => self.children(id, nesting, out),
            },
            _ => self.children(id, nesting, out),
        }
    }

    /// The text of an element in one line.
    pub(super) fn line_of(&self, id: Id) -> String {
        let mut line = Inline::default();
        self.inlines(id, &mut line);
        one_line(&line.finish())
    }

    fn inner(&self, id: Id, nesting: usize) -> String {
        let mut blocks = Blocks::default();
        self.children(id, nesting + 1, &mut blocks);
        blocks.joined()
    }

    fn list(&self, id: Id, start: Option<u64>, nesting: usize, out: &mut Blocks) {
        let mut items = Vec::new();
        for child in self.tree.children(id) {
            match self.tree.element(*child) {
                Some(element) if !self.is_left_out(id, element) => items.push(self.inner(*child, nesting)),
                _ => {}
            }
        }
        items.retain(|item| !item.is_empty());
        out.push_list(items, start, nesting);
    }

    /// A list of terms and what they mean: an item for each term.
    fn definitions(&self, id: Id, nesting: usize, out: &mut Blocks) {
        let mut items: Vec<String> = Vec::new();
        let mut groups = vec![id];
        while let Some(group) = groups.pop() {
            for child in self.tree.children(group) {
                let Some(element) = self.tree.element(*child) else { continue };
                match element.name.as_str() {
                    _ if self.is_left_out(group, element) => {}
                    // HTML allows a `div` around each term.
                    "div" => groups.push(*child),
                    "dd" => {
                        let inner = self.inner(*child, nesting);
                        match items.last_mut() {
                            Some(last) if !inner.is_empty() => last.push_str(&format!("\n\n{inner}")),
                            Some(_) => {}
                            None => items.push(inner),
                        }
                    }
                    _ => items.push(self.inner(*child, nesting)),
                }
            }
        }
        items.retain(|item| !item.is_empty());
        out.push_list(items, None, nesting);
    }

    /// Code between fences (CommonMark §4.5), with its language where the page names it.
    fn code(&self, id: Id) -> String {
        let text = self.tree.text(id);
        let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        let language = self.language(id).unwrap_or_default();
        format!("{fence}{language}\n{text}\n{fence}")
    }

    fn language(&self, id: Id) -> Option<String> {
        let only_child = self.tree.children(id).iter().find_map(|child| self.tree.element(*child));
        let classes = [self.tree.element(id), only_child];
        let words = classes.into_iter().flatten().filter_map(|element| element.attribute("class"));
        let mut words = words.flat_map(str::split_ascii_whitespace);
        let language = words.find_map(|word| word.strip_prefix("language-").or(word.strip_prefix("lang-")))?;
        let is_word = |character: char| character.is_ascii_alphanumeric() || "+-#_.".contains(character);
        Some(language.to_owned()).filter(|language| language.chars().all(is_word))
    }
}

impl Blocks {
    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.line).finish();
        if !text.is_empty() {
            self.push(super::inline::paragraph(&text));
        }
    }

    fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.blocks.push(Block { text, mark: None });
        }
    }

    fn push_list(&mut self, items: Vec<String>, start: Option<u64>, nesting: usize) {
        if items.is_empty() {
            return;
        }
        let is_loose = items.iter().any(|item| item.contains("\n\n"));
        // Two lists in a row would be one: the second has another mark (CommonMark §5.3).
        let [usual, other] = if start.is_some() { ['.', ')'] } else { ['-', '*'] };
        let last = self.blocks.last().and_then(|last| last.mark);
        let mark = if last == Some(usual) { other } else { usual };
        let marked = items.iter().zip(0u64..).map(|(item, place)| {
            let mark = start.map_or(format!("{mark} "), |start| format!("{}{mark} ", start + place));
            match nesting < NESTING_MAX {
                true => prefixed(item, &mark, &" ".repeat(mark.len())),
                false => item.clone(),
            }
        });
        let text = marked.collect::<Vec<_>>().join(if is_loose { "\n\n" } else { "\n" });
        self.blocks.push(Block { text, mark: Some(mark) });
    }

    fn joined(mut self) -> String {
        self.end_paragraph();
        let mut text = String::new();
        let mut before: Option<&Block> = None;
        for block in &self.blocks {
            // A short list right behind the line that announces it leaves an item tight.
            let is_short = self.blocks.len() == 2 && block.mark == Some('-') && !block.text.contains("\n\n");
            text.push_str(match before {
                None => "",
                Some(line) if is_short && line.mark.is_none() => "\n",
                Some(_) => "\n\n",
            });
            text.push_str(&block.text);
            before = Some(block);
        }
        text
    }
}

/// Puts `first` in front of the first line and `other` in front of the others, except where they are empty.
fn prefixed(text: &str, first: &str, other: &str) -> String {
    let mut prefixed = String::with_capacity(text.len() + 64);
    for (place, line) in text.lines().enumerate() {
        if place > 0 {
            prefixed.push('\n');
        }
        let prefix = if place == 0 { first } else { other };
        prefixed.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        prefixed.push_str(line);
    }
    prefixed
}
