//! Files of many parts in a ZIP file, and the text in a part of XML.

use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::Event;
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

    /// The names of its parts.
    pub(crate) fn names(&self) -> Vec<String> {
        self.zip.file_names().flatten().map(std::borrow::Cow::into_owned).collect()
    }

    /// A part of XML that a document must have.
    pub(crate) fn required(&mut self, name: &str) -> Result<String, Unread> {
        self.xml(name).ok_or_else(|| Unread::Damaged(format!("it has no part {name}")))
    }

    /// A part of XML. Such parts are in UTF-8.
    pub(crate) fn xml(&mut self, name: &str) -> Option<String> {
        Some(String::from_utf8_lossy(&self.part(name)?).into_owned())
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
    /// Elements that are left out with all that is inside.
    pub(crate) without: &'static [&'static str],
}

/// The text of a part. False as well if its XML is broken: then the text ends there.
pub(crate) fn text_of(xml: &str, vocabulary: &Vocabulary) -> (String, bool) {
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let mut text = String::new();
    // How many of these are open.
    let (mut in_text, mut without) = (0_usize, 0_usize);
    let is_of = |names: &[&str], name: &str| names.contains(&name);
    loop {
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(_) => return (text, false),
        };
        let counts = (vocabulary.text.is_empty() || in_text > 0) && without == 0;
        match event {
            Event::Eof => return (text, true),
            Event::Start(element) | Event::Empty(element)
                if is_of(vocabulary.breaks, element.local_name().as_ref()) =>
            {
                text.push('\n');
            }
            Event::Start(element) | Event::Empty(element)
                if is_of(vocabulary.spaces, element.local_name().as_ref()) =>
            {
                text.push(' ');
            }
            Event::Start(element) => {
                in_text += usize::from(is_of(vocabulary.text, element.local_name().as_ref()));
                without += usize::from(is_of(vocabulary.without, element.local_name().as_ref()));
            }
            Event::End(element) => {
                let name = element.local_name();
                in_text = in_text.saturating_sub(usize::from(is_of(vocabulary.text, name.as_ref())));
                without = without.saturating_sub(usize::from(is_of(vocabulary.without, name.as_ref())));
                if is_of(vocabulary.lines, name.as_ref()) && without == 0 {
                    text.push('\n');
                }
            }
            Event::Text(part) if counts => text.push_str(&part),
            Event::CData(part) if counts => text.push_str(&part),
            Event::GeneralRef(name) if counts => push_reference(&mut text, &name),
            _ => {}
        }
    }
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
    let mut reader = Reader::from_str(xml);
    reader.config_mut().check_end_names = false;
    let (mut text, mut is_open) = (String::new(), false);
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return None,
            Event::Start(element) if element.local_name().as_ref() == name => is_open = true,
            Event::End(element) if element.local_name().as_ref() == name => return Some(text),
            Event::Text(part) if is_open => text.push_str(&part),
            Event::GeneralRef(reference) if is_open => push_reference(&mut text, &reference),
            _ => {}
        }
    }
}
