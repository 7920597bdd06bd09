//! Files of many parts in a ZIP file, and the text in a part of XML.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use extract::html;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;
use zip::ZipArchive;

use crate::Unread;

/// What a part may decode to, in bytes. Larger ones are cut.
const PART_BYTES_MAX: u64 = 64 << 20;
/// What all parts of a document may decode to, in bytes.
const PARTS_BYTES_MAX: u64 = 256 << 20;

/// The parts of a document.
pub(crate) struct Package<'b> {
    zip: ZipArchive<Cursor<&'b [u8]>>,
    left: u64,
    /// A part was damaged, or cut.
    pub(crate) is_cut: bool,
}

impl<'b> Package<'b> {
    pub(crate) fn open(bytes: &'b [u8]) -> Result<Self, Unread> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| Unread::Damaged(error.to_string()))?;
        Ok(Package { zip, left: PARTS_BYTES_MAX, is_cut: false })
    }

    /// A part of XML that a document must have.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, Unread> {
        self.must_have(name)?;
        self.xml(name).ok_or_else(|| Unread::Damaged(format!("part {name} cannot be read")))
    }

    /// Fails without this part.
    pub(crate) fn must_have(&self, name: &str) -> Result<(), Unread> {
        self.zip.index_for_name(name).map(drop).ok_or_else(|| Unread::Damaged(format!("it has no part {name}")))
    }

    /// A part of XML.
    pub(crate) fn xml(&mut self, name: &str) -> Option<String> {
        Some(decoded(&self.part(name)?).into_owned())
    }

    /// A part. What a damaged one decodes to before the damage counts.
    pub(crate) fn part(&mut self, name: &str) -> Option<Vec<u8>> {
        let max = PART_BYTES_MAX.min(self.left);
        let part = self.zip.by_name(name).ok()?;
        let mut bytes = Vec::new();
        let read = part.take(max).read_to_end(&mut bytes);
        self.is_cut |= read.is_err() || bytes.len() as u64 == max;
        self.left -= bytes.len() as u64;
        Some(bytes)
    }
}

/// The text of XML in its encoding: by its first bytes, then by its declaration; else it is in UTF-8 (XML 1.0 appendix F).
pub(crate) fn decoded(xml: &[u8]) -> Cow<'_, str> {
    /// How far the declaration is looked for, in bytes.
    const DECLARATION_BYTES_MAX: usize = 200;
    let declared = || {
        let end = xml.iter().take(DECLARATION_BYTES_MAX).position(|byte| *byte == b'>')?;
        let (_, after) = std::str::from_utf8(xml[..end].strip_prefix(b"<?xml")?).ok()?.split_once("encoding")?;
        after.trim_start().strip_prefix('=')?.trim_start().split(['"', '\'']).nth(1)
    };
    let encoding = match xml {
        [0xff, 0xfe, ..] | [b'<', 0, ..] => "utf-16le",
        [0xfe, 0xff, ..] | [0, b'<', ..] => "utf-16be",
        [0xef, 0xbb, 0xbf, ..] => "utf-8",
        // That it is in UTF-16 would show.
        _ => declared().filter(|name| !name.to_ascii_lowercase().starts_with("utf-16")).unwrap_or("utf-8"),
    };
    html::decode(xml, encoding)
}

/// Which elements of a vocabulary make text, by local name.
pub(crate) struct Vocabulary {
    /// Text counts only inside of these; empty: everywhere.
    pub(crate) text: &'static [&'static str],
    /// Elements that end a line.
    pub(crate) lines: &'static [&'static str],
    /// Elements that are a break of a line.
    pub(crate) breaks: &'static [&'static str],
    /// Elements that are white space.
    pub(crate) spaces: &'static [&'static str],
    /// Elements that are a hyphen.
    pub(crate) hyphens: &'static [&'static str],
    /// Elements with white space around them.
    pub(crate) apart: &'static [&'static str],
    /// Elements whose text comes behind the rest, each with a line of its own.
    pub(crate) notes: &'static [&'static str],
    /// Elements that are left out with all that is inside.
    pub(crate) without: &'static [&'static str],
    /// Elements whose text is left out behind a mark inside of them, and these marks.
    pub(crate) hidden: (&'static [&'static str], &'static [&'static str]),
}

impl Vocabulary {
    /// Text counts everywhere, and no element differs from another.
    pub(crate) const EMPTY: Vocabulary = Vocabulary {
        text: &[],
        lines: &[],
        breaks: &[],
        spaces: &[],
        hyphens: &[],
        apart: &[],
        notes: &[],
        without: &[],
        hidden: (&[], &[]),
    };
}

/// How many elements of some kinds are open.
#[derive(Default)]
struct Open {
    all: usize,
    text: usize,
    notes: usize,
    without: usize,
    /// Those that a mark may hide, and how many were open where one did.
    may_hide: usize,
    hidden: Option<usize>,
}

impl Open {
    fn count(&mut self, vocabulary: &Vocabulary, name: &str, step: impl Fn(usize) -> usize) {
        let Vocabulary { text, notes, without, hidden: (may_hide, _), .. } = vocabulary;
        self.all = step(self.all);
        for (names, count) in [
            (text, &mut self.text),
            (notes, &mut self.notes),
            (without, &mut self.without),
            (may_hide, &mut self.may_hide),
        ] {
            *count = if names.contains(&name) { step(*count) } else { *count };
        }
        self.hidden = self.hidden.filter(|depth| self.may_hide >= *depth);
    }

    /// Takes note of a mark.
    fn mark(&mut self, vocabulary: &Vocabulary, element: &BytesStart<'_>) {
        let (_, marks) = vocabulary.hidden;
        let is_mark = marks.contains(&element.local_name().as_ref());
        // A mark may say that it does not hold (ECMA-376 part 1 §17.17.4).
        if is_mark && self.may_hide > 0 && !matches!(value(element, ":val").as_str(), "0" | "false" | "off") {
            self.hidden.get_or_insert(self.may_hide);
        }
    }
}

/// The text of a part. False as well if its XML is broken, or ends in the middle: then the text ends there.
pub(crate) fn text_of(xml: &str, vocabulary: &Vocabulary) -> (String, bool) {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let (mut text, mut notes, mut open) = (String::new(), String::new(), Open::default());
    let is_whole = loop {
        let event = match reader.read_event() {
            Ok(Event::Eof) => break open.all == 0,
            Ok(event) => event,
            Err(_) => break false,
        };
        let counts = (vocabulary.text.is_empty() || open.text > 0) && open.without == 0 && open.hidden.is_none();
        let into = if open.notes > 0 { &mut notes } else { &mut text };
        match event {
            Event::Start(element) => {
                let name = element.local_name();
                into.push_str(if open.without == 0 { stands_for(vocabulary, name.as_ref()) } else { "" });
                open.count(vocabulary, name.as_ref(), |count| count + 1);
                open.mark(vocabulary, &element);
            }
            Event::Empty(element) if open.without == 0 => {
                into.push_str(stands_for(vocabulary, element.local_name().as_ref()));
                open.mark(vocabulary, &element);
            }
            Event::End(element) => {
                let name = element.local_name();
                open.count(vocabulary, name.as_ref(), |count| count.saturating_sub(1));
                let ends_line = [vocabulary.lines, vocabulary.notes].iter().any(|names| names.contains(&name.as_ref()));
                match open.without {
                    0 if ends_line => into.push('\n'),
                    0 if vocabulary.apart.contains(&name.as_ref()) => into.push(' '),
                    _ => {}
                }
            }
            Event::Text(part) if counts => into.push_str(&part),
            Event::CData(part) if counts => into.push_str(&part),
            Event::GeneralRef(name) if counts => push_reference(into, &name),
            _ => {}
        }
    };
    if !notes.trim().is_empty() {
        text.push('\n');
        text.push_str(&notes);
    }
    (text, is_whole)
}

/// What an element is where it begins.
fn stands_for(vocabulary: &Vocabulary, name: &str) -> &'static str {
    match () {
        () if vocabulary.breaks.contains(&name) => "\n",
        () if vocabulary.hyphens.contains(&name) => "-",
        () if vocabulary.spaces.contains(&name) || vocabulary.apart.contains(&name) => " ",
        () => "",
    }
}

/// The values of [attributes](value) of all elements with a local name. What an element lacks is empty.
pub(crate) fn attributes<const N: usize>(xml: &str, name: &str, attributes: [&str; N]) -> Vec<[String; N]> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut values = Vec::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(element) | Event::Empty(element)) if element.local_name().as_ref() == name => {
                values.push(attributes.map(|attribute| value(&element, attribute)));
            }
            Ok(Event::Eof) | Err(_) => return values,
            Ok(_) => {}
        }
    }
}

/// The value of an attribute without a prefix; with a colon in front of the name, of one with whatever prefix.
fn value(element: &BytesStart<'_>, name: &str) -> String {
    let (is_prefixed, local) = name.strip_prefix(':').map_or((false, name), |local| (true, local));
    let is_it = |key: QName<'_>| key.local_name().as_ref() == local && key.prefix().is_some() == is_prefixed;
    let found = element.attributes().flatten().find(|attribute| is_it(attribute.key));
    let value = found.map(|found| found.value.into_owned()).unwrap_or_default();
    match quick_xml::escape::unescape(&value) {
        Ok(plain) => plain.into_owned(),
        Err(_) => value,
    }
}

/// Whether XML comes to its end.
pub(crate) fn is_whole(xml: &str) -> bool {
    text_of(xml, &Vocabulary::EMPTY).1
}

/// The name of a part that a part in the directory `dir` refers to. With a slash in front it is counted from the root.
pub(crate) fn resolved(dir: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let dir = if href.starts_with('/') { "" } else { dir };
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

/// The directory of a part; empty for the root.
pub(crate) fn dir_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(dir, _)| dir)
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

/// Adds what a reference stands for (XML 1.0 §4.1, §4.6).
fn push_reference(text: &mut String, reference: &quick_xml::events::BytesRef<'_>) {
    match reference.resolve_char_ref() {
        Ok(Some(char)) => text.push(char),
        _ => text.push_str(quick_xml::escape::resolve_predefined_entity(reference).unwrap_or_default()),
    }
}

/// The text of the first element with this local name.
pub(crate) fn element(xml: &str, name: &str) -> Option<String> {
    elements(xml, name).into_iter().next()
}

/// All that the metadata of Dublin Core has as creators.
pub(crate) fn authors(xml: &str) -> Option<String> {
    let authors = elements(xml, "creator");
    (!authors.is_empty()).then(|| authors.join("; "))
}

/// The texts of the elements with this local name.
pub(crate) fn elements(xml: &str, name: &str) -> Vec<String> {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let (mut texts, mut open) = (Vec::new(), None);
    loop {
        match (reader.read_event(), &mut open) {
            (Ok(Event::Eof) | Err(_), _) => return texts,
            (Ok(Event::Start(element)), None) if element.local_name().as_ref() == name => open = Some(String::new()),
            (Ok(Event::End(element)), Some(_)) if element.local_name().as_ref() == name => texts.extend(open.take()),
            (Ok(Event::Text(part)), Some(text)) => text.push_str(&part),
            (Ok(Event::GeneralRef(reference)), Some(text)) => push_reference(text, &reference),
            _ => {}
        }
    }
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
            ("ppt", "/ppt/slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("", "100%", "100%"),
        ] {
            assert_eq!(resolved(dir, href), name);
        }
    }

    #[test]
    fn marks_hide_the_rest_of_their_element() {
        let vocabulary = Vocabulary {
            text: &["t"],
            hyphens: &["noBreakHyphen"],
            hidden: (&["r"], &["vanish"]),
            ..Vocabulary::EMPTY
        };
        for (xml, text) in [
            ("<p><r><t>a</t></r><r><rPr><vanish/></rPr><t>b</t></r><r><t>c</t></r></p>", "ac"),
            ("<p><pPr><rPr><vanish/></rPr></pPr><r><t>a</t></r></p>", "a"),
            ("<p><r><vanish w:val='0'/><t>a</t></r></p>", "a"),
            ("<p><r><vanish></vanish><t>a</t></r><r><t>b<noBreakHyphen/>c</t></r></p>", "b-c"),
        ] {
            assert_eq!(text_of(xml, &vocabulary), (text.to_owned(), true), "{xml}");
        }
    }

    #[test]
    fn encodings_of_xml() {
        let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        let declared = |encoding: &str| format!("<?xml version=\"1.0\" encoding='{encoding}'?><p>");
        for (bytes, text) in [
            (b"<p>k\xc5\xaf\xc5\x88".to_vec(), "kůň"),
            ([declared("windows-1250").as_bytes(), b"k\xf9\xf2"].concat(), "kůň"),
            ([declared("UTF-16").as_bytes(), b"k\xc5\xaf\xc5\x88"].concat(), "kůň"),
            ([declared("no encoding").as_bytes(), b"k\xc5\xaf\xc5\x88"].concat(), "kůň"),
            (utf_16("\u{feff}<p>kůň", u16::to_le_bytes), "kůň"),
            (utf_16("<p>kůň", u16::to_be_bytes), "kůň"),
        ] {
            assert_eq!(decoded(&bytes).rsplit('>').next(), Some(text), "{bytes:?}");
        }
    }

    #[test]
    fn xml_that_ends_in_the_middle_is_not_whole() {
        for (xml, whole) in
            [("<p>a<t/>b</p>", true), ("<p>a<t>b</p>", false), ("<p>a", false), ("<p>a</p><t", false), ("", true)]
        {
            assert_eq!(is_whole(xml), whole, "{xml}");
        }
    }
}
