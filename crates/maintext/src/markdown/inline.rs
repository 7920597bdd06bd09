//! What stands in a line: text, links, images, emphasis, code (CommonMark §6).

use url::Url;

use extract::html::dom::{Document, Id, Tag};

use super::math;
use super::notes::Notes;
use crate::kept::Kept;

/// A line end that is to be kept.
const HARD_BREAK: &str = "\\\n";

/// Links and emphasis in each other; what lies deeper has no marks.
const INLINE_NESTING_MAX: usize = 8;

/// Writes the content of a document as Markdown.
pub(super) struct Renderer<'t, 'd> {
    pub(super) tree: &'t Document<'d>,
    /// What of it is written.
    pub(super) kept: &'t Kept,
    /// What references are resolved against.
    pub(super) base: Option<Url>,
    pub(super) notes: Notes,
}

/// A line that is being put together; white space in it is collapsed.
#[derive(Default)]
pub(super) struct Inline {
    text: String,
    /// A space is due before what comes next.
    has_space: bool,
    /// Links and emphasis around it.
    nesting: usize,
}

impl Inline {
    /// A line within this one.
    fn inner(&self) -> Inline {
        Inline { nesting: self.nesting + 1, ..Inline::default() }
    }

    /// Adds text from the page; what Markdown would take for markup is escaped.
    pub(super) fn text(&mut self, text: &str) {
        let mut before = self.text.chars().next_back();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            if character.is_whitespace() && character != '\u{a0}' {
                self.has_space = true;
                before = None;
                continue;
            }
            let character = if character == '\u{a0}' { ' ' } else { character };
            if character == '\u{200b}' || character == '\u{ad}' || (character.is_control()) {
                continue;
            }
            self.space();
            if needs_escape(character, before, characters.peek().copied()) {
                self.text.push('\\');
            }
            self.text.push(character);
            before = Some(character);
        }
    }

    /// Adds Markdown.
    pub(super) fn markdown(&mut self, markdown: &str) {
        self.space();
        self.text.push_str(markdown);
    }

    fn space(&mut self) {
        if std::mem::take(&mut self.has_space) && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
    }

    fn line_break(&mut self) {
        self.has_space = false;
        if !self.text.is_empty() {
            self.text.push_str(HARD_BREAK);
        }
    }

    /// Adds another line, with a mark on each of its sides.
    fn marked(&mut self, inner: Inline, mark: &str, ends_with_space: bool) {
        let text = inner.text.trim_end_matches(HARD_BREAK);
        if text.is_empty() {
            self.has_space |= inner.has_space;
            return;
        }
        self.markdown(&format!("{mark}{text}{mark}"));
        self.has_space = inner.has_space || ends_with_space;
    }

    /// The line.
    pub(super) fn finish(mut self) -> String {
        while self.text.ends_with(HARD_BREAK) {
            self.text.truncate(self.text.len() - HARD_BREAK.len());
        }
        self.text
    }
}

/// Characters that are escaped wherever they stand; `_` where it may begin or end emphasis; `&` where it may begin an
/// entity.
fn needs_escape(character: char, before: Option<char>, after: Option<char>) -> bool {
    let is_word = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    match character {
        '\\' | '`' | '*' | '[' | ']' => true,
        '<' => after.is_some_and(|after| after.is_ascii_alphabetic() || "/!?".contains(after)),
        '_' => !(is_word(before) && is_word(after)),
        '&' => after.is_some_and(|after| after.is_ascii_alphanumeric() || after == '#'),
        '~' => before == Some('~') || after == Some('~'),
        _ => false,
    }
}

/// A paragraph: the line, with what would begin another block at the begin of a line escaped.
pub(super) fn paragraph(text: &str) -> String {
    text.split('\n').map(escaped_begin).collect::<Vec<_>>().join("\n")
}

fn escaped_begin(line: &str) -> String {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let ends_word = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    if digits > 0 && digits < 10 {
        let rest = &line[digits..];
        if rest.starts_with(['.', ')']) && ends_word(&rest[1..]) {
            return format!("{}\\{rest}", &line[..digits]);
        }
    }
    let is_mark = line.starts_with(['-', '+']) && (ends_word(&line[1..]) || line.starts_with("---"))
        || line.starts_with('>')
        || line.starts_with('=') && line.bytes().all(|byte| byte == b'=')
        || line.starts_with('-') && line.bytes().all(|byte| byte == b'-')
        || line.starts_with('|')
        || line.starts_with('#') && ends_word(line.trim_start_matches('#'));
    if is_mark { format!("\\{line}") } else { line.to_owned() }
}

/// The line without line ends.
pub(super) fn one_line(text: &str) -> String {
    text.replace(HARD_BREAK, " ").replace('\n', " ")
}

impl Renderer<'_, '_> {
    /// Adds the children of an element to a line.
    pub(super) fn inlines(&self, id: Id, line: &mut Inline) {
        for child in self.tree.children(id) {
            match self.tree.tag(child) {
                None if self.kept.holds(child) => line.text(&self.tree.text(child)),
                Some(tag) if self.kept.holds(child) => self.inline(child, tag, line),
                Some(_) if self.kept.is_repeated(child) => {}
                // What is left out separates what is not.
                None | Some(_) => line.has_space = true,
            }
        }
    }

    /// Adds an element to a line.
    pub(super) fn inline(&self, id: Id, tag: Tag, line: &mut Inline) {
        match tag {
            _ if line.nesting >= INLINE_NESTING_MAX => self.inlines(id, line),
            Tag::Br => line.line_break(),
            Tag::Wbr => {}
            Tag::A => self.link(id, line),
            Tag::Img => self.image(id, line),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => line.code(&self.tree.whole_text(id)),
            Tag::Em | Tag::I | Tag::Cite | Tag::Dfn | Tag::Var => self.emphasis(id, "*", line),
            Tag::Strong | Tag::B => self.emphasis(id, "**", line),
            Tag::Del | Tag::S | Tag::Strike => self.emphasis(id, "~~", line),
            Tag::Sup | Tag::Sub if self.changes_meaning(id) => self.raised(id, tag, line),
            Tag::Math | Tag::Script => match math::source(self.tree, id) {
                Some(source) => line.markdown(&format!("${source}$")),
                None => line.text(&self.tree.whole_text(id)),
            },
            Tag::Q => {
                line.text("“");
                self.inlines(id, line);
                line.text("”");
            }
            tag => {
                // A block in a line that cannot hold one, as in a heading.
                line.has_space |= tag.is_block();
                self.inlines(id, line);
                line.has_space |= tag.is_block();
            }
        }
    }

    fn image(&self, id: Id, line: &mut Inline) {
        // Where pages load images when they come into view, `src` is a place holder.
        let sources = ["data-src", "data-original", "src"].into_iter().filter_map(|name| self.tree.attribute(id, name));
        let Some(source) = sources.filter_map(|source| self.address(&source)).next() else { return };
        let mut text = Inline::default();
        text.text(&self.tree.attribute(id, "alt").unwrap_or_default());
        line.markdown(&format!("![{}]({source})", text.finish()));
    }

    fn emphasis(&self, id: Id, mark: &str, line: &mut Inline) {
        let mut inner = line.inner();
        self.inlines(id, &mut inner);
        line.has_space |= self.begins_with_space(id);
        // Marks that touch others of their kind, or stand within a word, are not read as marks.
        let touches = !line.has_space && line.text.ends_with(['*', '~', '_']);
        let is_marked = inner.text.contains(mark);
        if touches || is_marked {
            let has_space = inner.has_space;
            line.markdown(&inner.text);
            line.has_space = has_space;
        } else {
            line.marked(inner, mark, false);
        }
    }

    /// Whether a text above or below the line is part of what stands before it, as an exponent: what is a link leads to a note.
    fn changes_meaning(&self, id: Id) -> bool {
        /// Nodes in it that are looked at: such texts are short.
        const NODES_MAX: usize = 16;
        !self.tree.subtree(id).take(NODES_MAX).any(|id| self.tree.tag(id) == Some(Tag::A))
            && self.tree.tag(self.tree.parent(id)) != Some(Tag::A)
    }

    /// Markdown has no marks for these, but it may have HTML. Without them 10 to the power of 9 were 109.
    fn raised(&self, id: Id, tag: Tag, line: &mut Inline) {
        let mut inner = line.inner();
        self.inlines(id, &mut inner);
        let (has_space, text) = (inner.has_space, one_line(&inner.finish()));
        if !text.is_empty() {
            let name = if tag == Tag::Sup { "sup" } else { "sub" };
            line.markdown(&format!("<{name}>{text}</{name}>"));
        }
        line.has_space |= has_space;
    }

    fn begins_with_space(&self, id: Id) -> bool {
        let first = self.tree.subtree(id).find(|id| self.tree.tag(*id).is_none());
        first.is_some_and(|first| self.tree.text(first).starts_with(char::is_whitespace))
    }

    fn link(&self, id: Id, line: &mut Inline) {
        let href = self.tree.attribute(id, "href");
        if let Some(label) = self.notes.label_of(href.as_deref()) {
            return line.markdown(&format!("[^{label}]"));
        }
        if self.notes.leads_back(href.as_deref()) {
            return;
        }
        let mut inner = line.inner();
        self.inlines(id, &mut inner);
        // The marks that lead to a heading itself.
        if matches!(inner.text.as_str(), "¶" | "#" | "§" | "🔗" | "\\#") {
            return;
        }
        line.has_space |= self.begins_with_space(id);
        let has_space = inner.has_space;
        let text = one_line(&inner.finish());
        match href.and_then(|href| self.address(&href)) {
            Some(_) if text.is_empty() => {}
            // A link in a link is none.
            Some(address) if !text.contains("](") || text.starts_with("![") => {
                if line.text.ends_with('!') && !line.has_space {
                    line.text.insert(line.text.len() - 1, '\\');
                }
                line.markdown(&format!("[{text}]({address})"));
            }
            _ => line.markdown(&text),
        }
        line.has_space = has_space;
    }

    /// A reference as the destination of a link; `None` if it leads nowhere.
    fn address(&self, reference: &str) -> Option<String> {
        let reference = reference.trim();
        let url = match &self.base {
            Some(base) => base.join(reference).ok()?,
            None => Url::parse(reference).ok()?,
        };
        let leads_somewhere = matches!(url.scheme(), "http" | "https" | "mailto" | "ftp" | "tel");
        let is_plain = |text: &str| !text.contains(['(', ')', '<', '>', ' ', '\\']);
        match url.as_str() {
            _ if reference.is_empty() || !leads_somewhere => None,
            address if is_plain(address) => Some(address.to_owned()),
            address => Some(format!("<{}>", address.replace('<', "%3C").replace('>', "%3E").replace('\\', "%5C"))),
        }
    }
}

impl Inline {
    /// Adds code; white space in it is collapsed as a browser shows it.
    fn code(&mut self, text: &str) {
        let code = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.has_space |= text.starts_with(char::is_whitespace);
        if code.is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(&code, '`') + 1);
        let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
        // Two pieces of code side by side would close each other's marks.
        if self.text.ends_with('`') && !self.has_space {
            self.has_space = true;
        }
        self.markdown(&format!("{fence}{pad}{code}{pad}{fence}"));
        self.has_space = text.ends_with(char::is_whitespace);
    }
}

/// The most characters of a kind that stand side by side.
pub(super) fn longest_run(text: &str, character: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for found in text.chars() {
        run = if found == character { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
