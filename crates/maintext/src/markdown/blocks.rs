//! Blocks: paragraphs, headings, lists, quotations, code (CommonMark §4, §5).

use extract::html::dom::{Id, ROOT, Tag};

use super::code;
use super::inline::{Inline, Renderer, one_line, paragraph};
use super::math;
use super::table;

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

impl Renderer<'_, '_> {
    /// The Markdown of what is kept, without a line end at its end.
    pub(super) fn render(&self) -> String {
        let mut blocks = Blocks::default();
        self.children(ROOT, 0, &mut blocks);
        blocks.joined()
    }

    fn children(&self, id: Id, nesting: usize, out: &mut Blocks) {
        for child in self.tree.children(id) {
            match self.tree.tag(child) {
                _ if !self.kept.holds(child) => {
                    if self.tree.tag(child).is_some_and(Tag::is_block) {
                        out.end_paragraph();
                    }
                }
                None => out.line.text(&self.tree.text(child)),
                Some(_) if self.notes.definition(child).is_some() => self.note(child, nesting, out),
                Some(tag) if tag.is_block() => {
                    out.end_paragraph();
                    self.block(child, tag, nesting, out);
                }
                // A link or emphasis around whole blocks: they are what counts.
                Some(_) if self.kept.holds_blocks(child) => {
                    out.end_paragraph();
                    self.children(child, nesting, out);
                    out.end_paragraph();
                }
                Some(tag @ (Tag::Math | Tag::Script)) if math::is_display(self.tree, child) => {
                    match math::source(self.tree, child) {
                        Some(source) => {
                            out.end_paragraph();
                            out.push(format!("$$\n{source}\n$$"));
                        }
                        None => self.inline(child, tag, &mut out.line),
                    }
                }
                Some(tag) => self.inline(child, tag, &mut out.line),
            }
        }
        if self.tree.tag(id).is_some_and(Tag::is_block) {
            out.end_paragraph();
        }
    }

    /// A footnote, where its text stands.
    fn note(&self, id: Id, nesting: usize, out: &mut Blocks) {
        out.end_paragraph();
        let label = self.notes.definition(id).unwrap_or_default();
        let inner = self.inner(id, nesting);
        out.push(prefixed(&inner, &format!("[^{label}]: "), "    "));
    }

    fn block(&self, id: Id, tag: Tag, nesting: usize, out: &mut Blocks) {
        if let Some(rank) = tag.heading_rank() {
            let text = self.line_of(id);
            if !text.is_empty() {
                out.push(format!("{} {}", "#".repeat(rank.into()), text.trim_end_matches('#').trim_end()));
            }
            return;
        }
        match tag {
            Tag::BlockQuote | Tag::Ul | Tag::Menu | Tag::Ol | Tag::Dl if nesting >= NESTING_MAX => {
                self.children(id, nesting, out);
            }
            Tag::Pre => out.push(code::fenced(self.tree, id)),
            Tag::Hr => out.push("* * *".to_owned()),
            Tag::BlockQuote => {
                let inner = self.inner(id, nesting);
                out.push(prefixed(&inner, "> ", "> "));
            }
            Tag::Ul | Tag::Menu => self.list(id, None, nesting, out),
            Tag::Ol => {
                let start = self.tree.attribute(id, "start").and_then(|start| start.trim().parse().ok());
                self.list(id, Some(start.filter(|start| *start < 1_000_000).unwrap_or(1)), nesting, out);
            }
            Tag::Dl => self.definitions(id, nesting, out),
            Tag::Table => match table::rows(self.tree, self.kept, id, |cell| self.line_of(cell)) {
                Some(rows) => {
                    let captions = self.tree.children(id).filter(|child| self.tree.tag(*child) == Some(Tag::Caption));
                    captions.filter(|id| self.kept.holds(*id)).for_each(|id| out.push(paragraph(&self.line_of(id))));
                    out.push(table::render(&rows));
                }
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
        for child in self.tree.children(id).filter(|child| self.kept.holds(*child)) {
            match self.tree.tag(child) {
                Some(_) if self.notes.definition(child).is_some() => {
                    out.push_list(std::mem::take(&mut items), start);
                    self.note(child, nesting, out);
                }
                Some(_) => items.push(self.inner(child, nesting)),
                None => items.push(self.tree.text(child).trim().to_owned()),
            }
        }
        items.retain(|item| !item.is_empty());
        out.push_list(items, start);
    }

    /// A list of terms and what they mean: an item for each term.
    fn definitions(&self, id: Id, nesting: usize, out: &mut Blocks) {
        let mut items: Vec<String> = Vec::new();
        self.definitions_in(id, nesting, &mut items);
        items.retain(|item| !item.is_empty());
        out.push_list(items, None);
    }

    fn definitions_in(&self, group: Id, nesting: usize, items: &mut Vec<String>) {
        for child in self.tree.children(group).filter(|child| self.kept.holds(*child)) {
            match (self.tree.tag(child), items.last_mut()) {
                // HTML allows a `div` around each term.
                (Some(Tag::Div), _) => self.definitions_in(child, nesting, items),
                (Some(Tag::Dd), Some(last)) => {
                    let inner = self.inner(child, nesting);
                    if !inner.is_empty() {
                        last.push_str(&format!("\n\n{inner}"));
                    }
                }
                (Some(_), _) => items.push(self.inner(child, nesting)),
                (None, _) => {}
            }
        }
    }
}

impl Blocks {
    fn end_paragraph(&mut self) {
        let text = std::mem::take(&mut self.line).finish();
        if !text.is_empty() {
            self.push(paragraph(&text));
        }
    }

    fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.blocks.push(Block { text, mark: None });
        }
    }

    fn push_list(&mut self, items: Vec<String>, start: Option<u64>) {
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
            prefixed(item, &mark, &" ".repeat(mark.len()))
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
