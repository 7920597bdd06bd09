//! Files of offices: Office Open XML (ECMA-376) and OpenDocument (OASIS, ISO/IEC 26300).

use crate::package::{Package, Vocabulary, attributes, authors, dir_of, element, is_whole, resolved, text_of};
use crate::{Text, Unread};

/// Text of Word (ECMA-376 part 1 §17). Deleted text is `w:delText`, and field codes are `w:instrText`.
const WORD: Vocabulary = Vocabulary {
    text: &["t"],
    lines: &["p", "tr"],
    breaks: &["br", "cr"],
    spaces: &["tab"],
    hyphens: &["noBreakHyphen"],
    apart: &["rt"],
    without: &["Fallback", "moveFrom"],
    hidden: (&["r"], &["vanish"]),
    ..Vocabulary::EMPTY
};
/// Text of PowerPoint (§21.1).
const SLIDES: Vocabulary =
    Vocabulary { text: &["t"], lines: &["p", "tr"], breaks: &["br"], without: &["Fallback"], ..Vocabulary::EMPTY };
/// Text of OpenDocument (part 3 §5 and §6).
const OPEN_DOCUMENT: Vocabulary = Vocabulary {
    text: &["p", "h"],
    lines: &["p", "h"],
    breaks: &["line-break"],
    spaces: &["s", "tab"],
    apart: &["ruby-text"],
    notes: &["note-body"],
    without: &["tracked-changes", "annotation", "note-citation"],
    ..Vocabulary::EMPTY
};

/// The ends of the types of relationships (ECMA-376 part 1 §15.2; the strict variant has other beginnings).
const MAIN: &str = "/officeDocument";
const FOOTNOTES: &str = "/footnotes";
const ENDNOTES: &str = "/endnotes";
const NOTES_OF_SLIDE: &str = "/notesSlide";

/// Reads a document of Word: its text, then its notes.
pub(crate) fn word(bytes: &[u8]) -> Result<Text, Unread> {
    let mut document = OpenXml::open(bytes, "word/document.xml")?;
    let main = document.main.clone();
    document.package.must_have(&main)?;
    let relations = document.relations_of(&main);
    let mut parts = vec![main];
    for notes in [FOOTNOTES, ENDNOTES] {
        parts.extend(relations.iter().filter(|relation| relation.is_of(notes)).map(|relation| relation.part.clone()));
    }
    let mut text = document.text_without_parts();
    document.add(&mut text, &parts, &WORD);
    Ok(text)
}

/// Reads a presentation of PowerPoint: its slides in the order of the presentation, each with its notes.
pub(crate) fn slides(bytes: &[u8]) -> Result<Text, Unread> {
    let mut document = OpenXml::open(bytes, "ppt/presentation.xml")?;
    let main = document.main.clone();
    let presentation = document.package.required(&main)?;
    let relations = document.relations_of(&main);
    let mut slides = Vec::new();
    for [id] in attributes(&presentation, "sldId", [":id"]) {
        let Some(slide) = relations.iter().find(|relation| relation.id == id) else {
            document.package.is_cut = true;
            continue;
        };
        let of_slide = document.relations_of(&slide.part);
        let mut parts = vec![slide.part.clone()];
        parts.extend(of_slide.into_iter().find(|relation| relation.is_of(NOTES_OF_SLIDE)).map(|notes| notes.part));
        slides.push(parts);
    }
    document.package.is_cut |= !is_whole(&presentation);
    let mut text = document.text_without_parts();
    for parts in &slides {
        text.begin_page();
        document.add(&mut text, parts, &SLIDES);
    }
    Ok(text)
}

/// A package of Office Open XML (ECMA-376 part 2).
struct OpenXml<'b> {
    package: Package<'b>,
    /// The part in which reading begins.
    main: String,
}

/// A reference of a part to another.
struct Relation {
    id: String,
    kind: String,
    part: String,
}

impl Relation {
    fn is_of(&self, kind: &str) -> bool {
        self.kind.ends_with(kind)
    }
}

impl<'b> OpenXml<'b> {
    /// Opens a package, whose main part has this name unless it says otherwise.
    fn open(bytes: &'b [u8], usual: &str) -> Result<Self, Unread> {
        let mut document = OpenXml { package: Package::open(bytes)?, main: String::new() };
        let main = document.relations_of("").into_iter().find(|relation| relation.is_of(MAIN));
        document.main = main.map_or_else(|| usual.to_owned(), |main| main.part);
        Ok(document)
    }

    /// The references of a part, in its order; those of the package for the empty name (part 2 §6.5).
    fn relations_of(&mut self, part: &str) -> Vec<Relation> {
        let dir = dir_of(part);
        let name = part.rsplit('/').next().unwrap_or_default();
        let xml = self.package.xml(&resolved(dir, &format!("_rels/{name}.rels"))).unwrap_or_default();
        let found = attributes(&xml, "Relationship", ["Id", "Type", "Target"]);
        found.into_iter().map(|[id, kind, target]| Relation { id, kind, part: resolved(dir, &target) }).collect()
    }

    /// Title and author.
    fn text_without_parts(&mut self) -> Text {
        let core = self.package.xml("docProps/core.xml").unwrap_or_default();
        Text { title: element(&core, "title"), author: authors(&core), is_cut: self.package.is_cut, ..Text::default() }
    }

    /// Adds the text of these parts.
    fn add(&mut self, text: &mut Text, parts: &[String], vocabulary: &Vocabulary) {
        for name in parts {
            match self.package.xml(name) {
                Some(part) => add(text, &part, vocabulary),
                None => text.is_cut = true,
            }
        }
        text.is_cut |= self.package.is_cut;
    }
}

/// Reads a text, a presentation or a table of OpenDocument.
pub(crate) fn open_document(bytes: &[u8]) -> Result<Text, Unread> {
    let mut package = Package::open(bytes)?;
    let content = package.required("content.xml")?;
    let meta = package.xml("meta.xml").unwrap_or_default();
    let author = element(&meta, "initial-creator").or_else(|| authors(&meta));
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
