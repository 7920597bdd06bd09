//! What stands in a line: text, links, images, emphasis, code (CommonMark §6).

use url::Url;

use super::content::is_furniture;
use super::tree::{Element, Id, Node, Tree};

/// A line end that is to be kept.
const HARD_BREAK: &str = "\\\n";

/// Writes the content of a document as Markdown.
pub(super) struct Renderer<'t> {
    pub(super) tree: &'t Tree,
    /// What references are resolved against.
    pub(super) base: Option<Url>,
}

/// A line that is being put together; white space in it is collapsed.
#[derive(Default)]
pub(super) struct Inline {
    text: String,
    /// A space is due before what comes next.
    has_space: bool,
}

impl Inline {
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
    fn markdown(&mut self, markdown: &str) {
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

impl Renderer<'_> {
    /// Furniture, and the frame around a whole page.
    pub(super) fn is_left_out(&self, parent: Id, element: &Element) -> bool {
        let is_of_page = self.tree.element(parent).is_some_and(|parent| parent.name == "body");
        is_furniture(element) || element.name == "head" || (element.name == "header" && is_of_page)
    }

    /// Adds the children of an element to a line.
    pub(super) fn inlines(&self, id: Id, line: &mut Inline) {
        for child in self.tree.children(id) {
            match self.tree.node(*child) {
                Node::Text(text) => line.text(text),
                Node::Element(element) if self.is_left_out(id, element) => {}
                Node::Element(_) => self.inline(*child, line),
            }
        }
    }

    /// Adds an element to a line.
    pub(super) fn inline(&self, id: Id, line: &mut Inline) {
        let Some(element) = self.tree.element(id) else { return };
        match element.name.as_str() {
            "br" => line.line_break(),
            "wbr" => {}
            "a" => self.link(id, element.attribute("href"), line),
            "img" => {
                let source = element.attribute("src").and_then(|source| self.address(source));
                let alt = element.attribute("alt").unwrap_or_default();
                if let Some(source) = source {
                    let mut text = Inline::default();
                    text.text(alt);
                    line.markdown(&format!("![{}]({source})", text.finish()));
                }
            }
            "code" | "kbd" | "samp" | "tt" => line.code(&self.tree.text(id)),
            "em" | "i" | "cite" | "dfn" | "var" => self.emphasis(id, "*", line),
            "strong" | "b" => self.emphasis(id, "**", line),
            "del" | "s" | "strike" => self.emphasis(id, "~~", line),
            "q" => {
                line.text("“");
                self.inlines(id, line);
                line.text("”");
            }
            name => {
                // A block in a line that cannot hold one, as in a heading.
                line.has_space |= super::tree::is_block(name);
                self.inlines(id, line);
                line.has_space |= super::tree::is_block(name);
            }
        }
    }

    fn emphasis(&self, id: Id, mark: &str, line: &mut Inline) {
        let mut inner = Inline { text: String::new(), has_space: false };
        self.inlines(id, &mut inner);
        let begins_with_space = self.tree.text(id).starts_with(char::is_whitespace);
        line.has_space |= begins_with_space;
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

    fn link(&self, id: Id, href: Option<&str>, line: &mut Inline) {
        let mut inner = Inline::default();
        self.inlines(id, &mut inner);
        // The marks that lead to a heading itself.
        if matches!(inner.text.as_str(), "¶" | "#" | "§" | "🔗" | "\\#") {
            return;
        }
        line.has_space |= self.tree.text(id).starts_with(char::is_whitespace);
        let has_space = inner.has_space;
        let text = one_line(&inner.finish());
        match href.and_then(|href| self.address(href)) {
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
