//! EPUB (W3C, EPUB 3.3): the chapters in the order of the spine.

use std::collections::{HashMap, HashSet};

use extract::html;

use crate::package::{Package, attributes, decoded, dir_of, element, is_whole, resolved};
use crate::{TEXT_BYTES_MAX, Text, Unread};

/// Where the package document is named (EPUB 3.3 §4.2.6.3.1).
const CONTAINER: &str = "META-INF/container.xml";
/// Where encrypted parts are named (§4.2.6.3.2).
const ENCRYPTION: &str = "META-INF/encryption.xml";
/// The type of a chapter, decoded.
const CHAPTER_TYPE: &str = "application/xhtml+xml; charset=utf-8";
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
    let mut text = Text { title: element(&opf, "title"), author: element(&opf, "creator"), ..Text::default() };
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
    let limits = extract::Limits { links_max: 0, text_bytes_max: TEXT_BYTES_MAX, ..extract::Limits::default() };
    let xhtml = decoded(bytes);
    let page = html::extract(xhtml.as_bytes(), Some(CHAPTER_TYPE), &limits);
    text.is_cut |= page.truncated.text || !has_end(&xhtml);
    let more = page.text.trim();
    if !more.is_empty() {
        text.text.push_str(if text.text.is_empty() { "" } else { "\n\n" });
        text.text.push_str(more);
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
