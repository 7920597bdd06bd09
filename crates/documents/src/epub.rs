//! EPUB (W3C, EPUB 3.3): the chapters in the order of the spine.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use extract::html::dom::{Document, Tag};
use quick_xml::Reader;
use quick_xml::events::Event;

use crate::package::{Package, attributes, authors, decoded, dir_of, element, is_whole, resolved};
use crate::{TEXT_BYTES_MAX, Text, Unread};

/// Where the package document is named (EPUB 3.3 §4.2.6.3.1).
const CONTAINER: &str = "META-INF/container.xml";
/// Where encrypted parts are named (§4.2.6.3.2).
const ENCRYPTION: &str = "META-INF/encryption.xml";
/// Chapters read.
const CHAPTERS_MAX: usize = 10_000;
/// The texts of all entities that a chapter declares, in bytes; and the name of one.
const ENTITIES_BYTES_MAX: usize = 1 << 20;
const NAME_BYTES_MAX: usize = 100;

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
    let decoded = decoded(bytes);
    let (xhtml, is_whole) = without_declarations(&decoded);
    let tree = Document::parse(&xhtml);
    text.is_cut |= !is_whole || tree.is_cut() || !has_end(&xhtml);
    let more = lines_of(&tree);
    if !more.is_empty() {
        text.text.push_str(if text.text.is_empty() { "" } else { "\n\n" });
        text.text.push_str(&more);
    }
}

/// A chapter without the declarations in its document type, which HTML does not have, and with the entities that they declare in place
/// (XML 1.0 §2.8, §4.2). False as well if these would be too long.
fn without_declarations(xhtml: &str) -> (Cow<'_, str>, bool) {
    let mut reader = Reader::from_str(xhtml);
    let (declarations, end) = loop {
        match reader.read_event() {
            Ok(Event::DocType(declarations)) => break (declarations, reader.buffer_position()),
            Ok(Event::Start(_) | Event::Empty(_) | Event::Eof) | Err(_) => return (xhtml.into(), true),
            Ok(_) => {}
        }
    };
    let Some(body) = usize::try_from(end).ok().and_then(|end| xhtml.get(end..)) else { return (xhtml.into(), true) };
    if !declarations.contains('[') {
        return (xhtml.into(), true);
    }
    let mut left = ENTITIES_BYTES_MAX;
    let mut entities = HashMap::new();
    for declared in declarations.split("<!ENTITY").skip(1) {
        let Some((name, text)) = entity(declared) else { continue };
        let Some(text) = with_entities(text, &entities, left) else { return (body.into(), false) };
        left -= text.len();
        // The first declaration counts.
        entities.entry(name).or_insert(text);
    }
    match with_entities(body, &entities, body.len() + TEXT_BYTES_MAX) {
        Some(chapter) => (chapter.into(), true),
        None => (body.into(), false),
    }
}

/// Name and text of an entity in its declaration. One whose text is elsewhere has none. Those that HTML must escape mean the same everywhere,
/// and a declaration escapes them twice (§4.6).
fn entity(declared: &str) -> Option<(&str, &str)> {
    let (name, rest) = declared.trim_start().split_once(char::is_whitespace)?;
    if matches!(name, "lt" | "gt" | "amp" | "quot" | "apos") {
        return None;
    }
    let rest = rest.trim_start();
    let quote = rest.chars().next().filter(|char| matches!(char, '"' | '\''))?;
    Some((name, rest[1..].split_once(quote)?.0))
}

/// A text with these entities in place of their names; `None` beyond a length.
fn with_entities(text: &str, entities: &HashMap<&str, String>, bytes_max: usize) -> Option<String> {
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('&') {
        written.push_str(before);
        let end = after.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b';');
        let known = end.and_then(|end| Some((entities.get(&after[..end])?, end + 1)));
        written.push_str(known.map_or("&", |(text, _)| text));
        rest = &after[known.map_or(0, |(_, end)| end)..];
        if written.len() > bytes_max {
            return None;
        }
    }
    written.push_str(rest);
    (written.len() <= bytes_max).then_some(written)
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
    fn declarations_are_no_text() {
        let html = "<html><body><p>By &pub;&nbsp;in &both; &none;.</p></body></html>";
        let lines = |xhtml: String| {
            let (xhtml, is_whole) = without_declarations(&xhtml);
            (lines_of(&Document::parse(&xhtml)), is_whole)
        };
        for (doctype, expect) in [
            (
                r#"<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd" [<!ENTITY nbsp "&#160;"><!-- > -->
                <!ENTITY pub "The Publisher > all"><!ENTITY both '&pub; & "more"'><!ENTITY file SYSTEM "x">]>"#,
                "By The Publisher > all in The Publisher > all & \"more\" &none;.",
            ),
            (r#"<!DOCTYPE html [<!ENTITY lt "&#38;#60;"><!ENTITY pub "a &lt; b">]>"#, "By a < b in &both; &none;."),
            ("<!DOCTYPE html [ ]>", "By &pub; in &both; &none;."),
            ("<!DOCTYPE html>", "By &pub; in &both; &none;."),
            ("", "By &pub; in &both; &none;."),
        ] {
            let (text, is_whole) = lines(format!("<?xml version='1.0'?>\n{doctype}\n{html}"));
            assert_eq!((text.replace('\u{a0}', " "), is_whole), (expect.to_owned(), true), "{doctype}");
        }
        // Each entity is ten of the one before; or a long one is there often.
        let grown: String =
            (1..20).map(|at| format!("<!ENTITY e{at} '{}'>", format!("&e{};", at - 1).repeat(10))).collect();
        let long = "x".repeat(ENTITIES_BYTES_MAX / 2);
        for declared in [format!("<!ENTITY e0 'lol'>{grown}"), format!("<!ENTITY e0 '{long}'>")] {
            let xhtml = format!("<!DOCTYPE a [{declared}]><a>{}</a>", "&e0;".repeat(50));
            assert_eq!(without_declarations(&xhtml), (format!("<a>{}</a>", "&e0;".repeat(50)).into(), false));
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
