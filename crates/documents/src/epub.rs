//! EPUB (W3C, EPUB 3.3): the chapters in the order of the spine.

use std::collections::{HashMap, HashSet};

use extract::html::dom::{Document, Tag};

use crate::package::{Package, attributes, authors, decoded, dir_of, element, is_whole, resolved};
use crate::{TEXT_BYTES_MAX, Text, Unread};

/// Where the package document is named (EPUB 3.3 §4.2.6.3.1).
const CONTAINER: &str = "META-INF/container.xml";
/// Where encrypted parts are named (§4.2.6.3.2).
const ENCRYPTION: &str = "META-INF/encryption.xml";
/// Chapters read.
const CHAPTERS_MAX: usize = 10_000;

/// Reads a book.
pub(crate) fn read(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    let container = package.required(CONTAINER)?;
    let [root] = attributes(&container, "rootfile", ["full-path"])
        .into_iter()
        .next()
        .ok_or_else(|| Unread::Damaged(format!("{CONTAINER} names no package")))?;
    let opf = package.required(&root)?;
    let encryption = package.xml(ENCRYPTION).unwrap_or_default();
    // These names are counted from the root.
    let names = attributes(&encryption, "CipherReference", ["URI"]);
    let encrypted: HashSet<String> = names.iter().map(|[name]| resolved("", name)).collect();
    let places: HashMap<String, String> =
        attributes(&opf, "item", ["id", "href"]).into_iter().map(|[id, href]| (id, href)).collect();
    let spine = attributes(&opf, "itemref", ["idref"]);
    let mut text = Text { title: element(&opf, "title"), author: authors(&opf), ..Text::default() };
    text.is_cut = spine.len() > CHAPTERS_MAX || !is_whole(&opf);
    for [id] in spine.into_iter().take(CHAPTERS_MAX) {
        let name = places.get(&id).map(|href| resolved(dir_of(&root), href)).filter(|name| !encrypted.contains(name));
        match name.and_then(|name| package.part(&name)) {
            Some(bytes) => add_chapter(&mut text, &bytes),
            None => text.is_cut = true,
        }
        if text.text.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    text.is_cut |= package.is_cut;
    Ok(text)
}

/// Adds the text of a chapter, an empty line behind what there is.
fn add_chapter(text: &mut Text, bytes: &[u8]) {
    let xhtml = decoded(bytes);
    let tree = Document::parse(&xhtml);
    text.is_cut |= tree.is_cut() || !has_end(&xhtml);
    let more = lines_of(&tree);
    if !more.is_empty() {
        text.text.push_str(if text.text.is_empty() { "" } else { "\n\n" });
        text.text.push_str(&more);
    }
}

/// A line for each paragraph, heading, item, row and so on. Code has its own lines.
fn lines_of(tree: &Document<'_>) -> String {
    let mut lines = Lines::default();
    let (mut blocks, mut end_of_code) = (Vec::new(), 0);
    let (mut node, all) = (tree.root(), tree.len() as u32);
    loop {
        while blocks.last().is_some_and(|end| *end <= node.id()) {
            blocks.pop();
            lines.end();
        }
        let mut next = node.id() + 1;
        match node.tag() {
            None if node.id() < end_of_code => lines.add_code(&node.own_text()),
            None => lines.add(&node.own_text()),
            Some(Tag::Head | Tag::Script | Tag::Style | Tag::Template) => next = node.end(),
            Some(Tag::Br) => lines.end(),
            // Cells of a row stand side by side.
            Some(Tag::Td | Tag::Th) => lines.add(" "),
            Some(tag) if tag.is_block() => {
                lines.end();
                blocks.push(node.end());
                end_of_code = if tag == Tag::Pre { node.end() } else { end_of_code };
            }
            Some(_) => {}
        }
        if next >= all {
            return lines.text.trim().to_owned();
        }
        node = tree.node(next);
    }
}

/// Lines while they are written: one space between words, no empty lines.
#[derive(Default)]
struct Lines {
    text: String,
    /// White space comes before what comes next.
    is_spaced: bool,
}

impl Lines {
    fn add(&mut self, text: &str) {
        self.is_spaced |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.is_spaced && !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push(' ');
            }
            self.text.push_str(word);
            self.is_spaced = true;
        }
        let ends_spaced = text.ends_with(char::is_whitespace);
        self.is_spaced = if text.trim().is_empty() { self.is_spaced } else { ends_spaced };
    }

    fn add_code(&mut self, code: &str) {
        self.text.push_str(code);
        self.is_spaced = false;
    }

    fn end(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.is_spaced = false;
    }
}

/// Whether the last element that ends is the root, as XHTML must write it out.
fn has_end(xhtml: &str) -> bool {
    let last = xhtml.rsplit_once("</").and_then(|(_, after)| after.split('>').next());
    last.is_some_and(|name| name.trim_end().to_ascii_lowercase().ends_with("html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_chapters() {
        for (xhtml, lines) in [
            ("<head><title>t</title></head><body><h1>One</h1>\n<p>a <b>b</b>c\n d</p><p/><p>e</p>", "One\na bc d\ne"),
            ("<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>d", "a\nb\nc\nd"),
            ("<table><tr><td>1</td><td>2</td></tr><tr><th>3</th></tr></table>", "1 2\n3"),
            ("<p>a<br/>b&nbsp;&amp;&eacute;</p><script>no</script>", "a\nb &é"),
            ("<p>code</p><pre>  x\n    y</pre><p>end</p>", "code\n  x\n    y\nend"),
            ("", ""),
        ] {
            assert_eq!(lines_of(&Document::parse(xhtml)), lines, "{xhtml}");
        }
    }

    #[test]
    fn ends_of_chapters() {
        for (xhtml, is_whole) in [
            ("<html><p>a</p></html>", true),
            ("<h:html><h:p>a</h:p></h:html >\n<!-- end -->", true),
            ("<html><p>a</p>", false),
            ("<html><p>a</p></ht", false),
            ("", false),
        ] {
            assert_eq!(has_end(xhtml), is_whole, "{xhtml}");
        }
    }
}
