//! EPUB (W3C, EPUB 3.3): the chapters in the order of the spine.

use std::collections::HashMap;

use extract::html;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::package::{Package, element};
use crate::{TEXT_BYTES_MAX, Text, Unread};

/// Where the package document is named (EPUB 3.3 §4.2.6.3.1).
const CONTAINER: &str = "META-INF/container.xml";
/// Chapters read.
const CHAPTERS_MAX: usize = 10_000;

/// Reads a book.
pub(crate) fn read(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    let container = package.required(CONTAINER)?;
    let of_container = attributes(&container, "rootfile", "full-path");
    let root =
        of_container.into_iter().next().ok_or_else(|| Unread::Damaged(format!("{CONTAINER} names no package")))?;
    let opf = package.required(&root)?;
    let mut text = Text { title: element(&opf, "title"), author: element(&opf, "creator"), ..Text::default() };
    let places: HashMap<String, String> =
        attributes(&opf, "item", "id").into_iter().zip(attributes(&opf, "item", "href")).collect();
    let dir = root.rsplit_once('/').map_or("", |(dir, _)| dir);
    for chapter in attributes(&opf, "itemref", "idref").into_iter().take(CHAPTERS_MAX) {
        let Some(href) = places.get(&chapter) else { continue };
        let Some(bytes) = package.part(&resolved(dir, href)) else {
            text.is_cut = true;
            continue;
        };
        let limits = extract::Limits { links_max: 0, text_bytes_max: TEXT_BYTES_MAX, ..extract::Limits::default() };
        let page = html::extract(&bytes, Some("application/xhtml+xml; charset=utf-8"), &limits);
        let more = page.text.trim();
        if !more.is_empty() {
            text.text.push_str(if text.text.is_empty() { "" } else { "\n\n" });
            text.text.push_str(more);
        }
        if text.text.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    text.is_cut |= package.is_cut;
    Ok(text)
}

/// The values of an attribute of all elements with a local name; an element without the attribute has an empty one.
fn attributes(xml: &str, name: &str, attribute: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut values = Vec::new();
    let value = |element: &BytesStart<'_>| {
        let found = element.attributes().flatten().find(|found| found.key.local_name().as_ref() == attribute);
        found.map(|found| found.value.into_owned()).unwrap_or_default()
    };
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) if element.local_name().as_ref() == name => {
                values.push(value(&element));
            }
            Ok(Event::Eof) | Err(_) => return values,
            Ok(_) => {}
        }
    }
}

/// The name of a part that a package document in `dir` refers to.
fn resolved(dir: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in href.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    percent_decoded(&parts.join("/"))
}

/// A name without percent-encoding (RFC 3986 §2.1).
fn percent_decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = if decoded.is_some() { &after[2..] } else { after };
        bytes.push(decoded.unwrap_or(*first));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts() {
        for (dir, href, name) in [
            ("OEBPS", "a.xhtml#x", "OEBPS/a.xhtml"),
            ("", "text/a%20b.xhtml", "text/a b.xhtml"),
            ("a/b", "../../../c", "c"),
            ("", "100%", "100%"),
        ] {
            assert_eq!(resolved(dir, href), name);
        }
    }
}
