//! Files of offices: Office Open XML (ECMA-376) and OpenDocument (OASIS, ISO/IEC 26300).

use crate::package::{Package, Vocabulary, element, text_of};
use crate::{Text, Unread};

/// Text of Word (ECMA-376 part 1 §17). Deleted text is `w:delText`, and field codes are `w:instrText`.
const WORD: Vocabulary = Vocabulary {
    text: &["t"],
    lines: &["p", "tr"],
    breaks: &["br", "cr"],
    spaces: &["tab", "noBreakHyphen"],
    without: &["Fallback"],
};
/// Text of PowerPoint (§21.1).
const SLIDES: Vocabulary =
    Vocabulary { text: &["t"], lines: &["p", "tr"], breaks: &["br"], spaces: &[], without: &["Fallback"] };
/// Text of OpenDocument (part 3 §5 and §6).
const OPEN_DOCUMENT: Vocabulary = Vocabulary {
    text: &["p", "h"],
    lines: &["p", "h"],
    breaks: &["line-break"],
    spaces: &["s", "tab"],
    without: &["tracked-changes", "annotation"],
};

/// Parts of Word with text, in the order of reading.
const WORD_PARTS: [&str; 3] = ["word/document.xml", "word/footnotes.xml", "word/endnotes.xml"];

/// Reads a document of Word.
pub(crate) fn word(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    package.required(WORD_PARTS[0])?;
    let parts = WORD_PARTS.map(str::to_owned);
    open_xml(package, &parts, &WORD)
}

/// Reads a presentation of PowerPoint: its slides by their numbers, each with its notes.
pub(crate) fn slides(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    package.required("ppt/presentation.xml")?;
    let number =
        |name: &String| -> Option<u32> { name.strip_prefix("ppt/slides/slide")?.strip_suffix(".xml")?.parse().ok() };
    let mut numbers: Vec<u32> = package.names().iter().filter_map(number).collect();
    numbers.sort_unstable();
    let parts_of =
        |number| [format!("ppt/slides/slide{number}.xml"), format!("ppt/notesSlides/notesSlide{number}.xml")];
    let parts: Vec<String> = numbers.into_iter().flat_map(parts_of).collect();
    open_xml(package, &parts, &SLIDES)
}

fn open_xml(mut package: Package<'_>, parts: &[String], vocabulary: &Vocabulary) -> Result<Text, Unread> {
    let core = package.xml("docProps/core.xml").unwrap_or_default();
    let mut text = Text { title: element(&core, "title"), author: element(&core, "creator"), ..Text::default() };
    for name in parts {
        if let Some(part) = package.xml(name) {
            add(&mut text, &part, vocabulary);
        }
    }
    text.is_cut |= package.is_cut;
    Ok(text)
}

/// Reads a text, a presentation or a table of OpenDocument.
pub(crate) fn open_document(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    let content = package.required("content.xml")?;
    let meta = package.xml("meta.xml").unwrap_or_default();
    let author = element(&meta, "initial-creator").or_else(|| element(&meta, "creator"));
    let mut text = Text { title: element(&meta, "title"), author, ..Text::default() };
    add(&mut text, &content, &OPEN_DOCUMENT);
    text.is_cut |= package.is_cut;
    Ok(text)
}

/// Adds the text of a part, an empty line behind what there is.
fn add(text: &mut Text, part: &str, vocabulary: &Vocabulary) {
    let (more, is_whole) = text_of(part, vocabulary);
    text.is_cut |= !is_whole;
    let more = more.trim();
    if !more.is_empty() {
        text.text.push_str(if text.text.is_empty() { "" } else { "\n\n" });
        text.text.push_str(more);
    }
}
