//! Documents in packages: which parts are read, in which order, and what is missing.
#![expect(clippy::expect_used, reason = "a test may panic")]

use std::io::{Cursor, Write as _};

use documents::{TEXT_BYTES_MAX, Text, Unread, read};
use extract::media_type::Kind;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A package of these parts.
fn package<B: AsRef<[u8]>>(parts: &[(&str, B)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a part");
        zip.write_all(bytes.as_ref()).expect("a part");
    }
    zip.finish().expect("a package").into_inner()
}

fn text(kind: Kind, bytes: &[u8]) -> (String, bool) {
    let Text { text, is_cut, .. } = read(kind, bytes).expect("a text");
    (text, is_cut)
}

fn check(kind: Kind, bytes: &[u8], expect: &str, is_cut: bool) {
    assert_eq!(text(kind, bytes), (expect.to_owned(), is_cut));
}

/// References, each as identifier, end of its type, and target.
fn relations(relations: &[(&str, &str, &str)]) -> String {
    let of = |(id, kind, target): &(&str, &str, &str)| {
        format!(r#"<Relationship Id="{id}" Type="http://schemas.test/relationships/{kind}" Target="{target}"/>"#)
    };
    format!("<Relationships>{}</Relationships>", relations.iter().map(of).collect::<String>())
}

fn word(body: &str) -> String {
    format!(r#"<w:document xmlns:w="w"><w:body>{body}</w:body></w:document>"#)
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn pages_are_numbered_and_empty_ones_left_out() {
    for (text, pages, expect) in [
        ("one\n\nthree", &[0, 3, 3][..], &[(Some(1), "one"), (Some(3), "three")][..]),
        ("one", &[], &[(None, "one")]),
        ("", &[0], &[]),
        ("", &[], &[]),
    ] {
        let text = Text { text: text.to_owned(), pages: pages.to_vec(), ..Text::default() };
        assert_eq!(text.parts().collect::<Vec<_>>(), expect);
    }
}

#[test]
fn slides_are_in_the_order_of_the_presentation() {
    let slide = |text: &str| format!("<p:sld><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sld>");
    let list = |ids: &[&str]| {
        let slides: String = ids.iter().map(|id| format!(r#"<p:sldId id="256" r:id="{id}"/>"#)).collect();
        format!("<p:presentation><p:sldIdLst>{slides}</p:sldIdLst></p:presentation>")
    };
    let of = |ids: &[&str]| {
        package(&[
            ("_rels/.rels", relations(&[("r1", "officeDocument", "ppt/presentation.xml")])),
            ("ppt/presentation.xml", list(ids)),
            (
                "ppt/_rels/presentation.xml.rels",
                relations(&[
                    ("a", "slide", "slides/slide1.xml"),
                    ("b", "slide", "slides/slide2.xml"),
                    ("c", "slide", "/ppt/slides/slide3.xml"),
                    ("gone", "slide", "slides/slide4.xml"),
                ]),
            ),
            ("ppt/slides/slide1.xml", slide("made first")),
            ("ppt/slides/slide2.xml", slide("made second")),
            ("ppt/slides/slide3.xml", slide("made third")),
            ("ppt/slides/_rels/slide3.xml.rels", relations(&[("n", "notesSlide", "../notesSlides/notesSlide1.xml")])),
            ("ppt/notesSlides/notesSlide1.xml", slide("note of the third")),
        ])
    };
    check(Kind::Pptx, &of(&["c", "a", "b"]), "made third\n\nnote of the third\n\nmade first\n\nmade second", false);
    check(Kind::Pptx, &of(&["b"]), "made second", false);
    for missing in ["gone", "unknown"] {
        check(Kind::Pptx, &of(&["b", missing]), "made second", true);
    }
}

#[test]
fn the_main_part_is_the_one_that_the_package_names() {
    let elsewhere = package(&[
        ("_rels/.rels", relations(&[("r1", "officeDocument", "/word/document2.xml")])),
        ("word/document2.xml", word(&paragraph("main"))),
        ("word/_rels/document2.xml.rels", relations(&[("f", "footnotes", "notes2.xml")])),
        ("word/notes2.xml", word(&paragraph("note"))),
        ("word/document.xml", word(&paragraph("not this one"))),
    ]);
    check(Kind::Docx, &elsewhere, "main\n\nnote", false);
    check(Kind::Docx, &package(&[("word/document.xml", word(&paragraph("main")))]), "main", false);
    let without = package(&[("_rels/.rels", relations(&[("r1", "officeDocument", "word/document.xml")]))]);
    assert!(matches!(read(Kind::Docx, &without), Err(Unread::Damaged(_))));
}

#[test]
fn word_has_text_that_is_no_more_there() {
    let body = "<w:p><w:moveFrom><w:r><w:t>moved away</w:t><w:tab/></w:r></w:moveFrom><w:r><w:t>stays</w:t></w:r>\
        <w:moveTo><w:r><w:t> moved here</w:t></w:r></w:moveTo></w:p>\
        <w:p><w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby></w:p>";
    check(Kind::Docx, &package(&[("word/document.xml", word(body))]), "stays moved here\n kan 漢", false);
}

#[test]
fn word_is_read_in_its_encoding() {
    let xml = format!(r#"<?xml version="1.0" encoding="UTF-16"?>{}"#, word(&paragraph("žluťoučký kůň")));
    let bytes: Vec<u8> = std::iter::once(0xfeff).chain(xml.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    check(Kind::Docx, &package(&[("word/document.xml", bytes)]), "žluťoučký kůň", false);
}

#[test]
fn xml_that_ends_in_the_middle_is_cut() {
    let cut = format!(r#"<w:document xmlns:w="w"><w:body>{}<w:p><w:r><w:t>sec"#, paragraph("first"));
    check(Kind::Docx, &package(&[("word/document.xml", cut)]), "first\nsec", true);
    check(Kind::OpenDocument, &package(&[("content.xml", "<o><text:p>first</text:p>")]), "first", true);
}

#[test]
fn notes_and_ruby_of_open_document_are_apart_from_words() {
    let note = "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>\
        </text:note-body></text:note>";
    let ruby = "<text:ruby><text:ruby-base>base</text:ruby-base><text:ruby-text>above</text:ruby-text></text:ruby>";
    let content = format!("<o><text:p>word{note}s follow</text:p><text:p>a {ruby} b</text:p></o>");
    let expect = "words follow\na base above  b\n\nA note.";
    check(Kind::OpenDocument, &package(&[("content.xml", content)]), expect, false);
}

/// A book of these chapters, by name, and more parts.
fn book(chapters: &[(&str, &[u8])], spine: &[&str], more: &[(&str, &[u8])]) -> Vec<u8> {
    let items: String = chapters.iter().map(|(name, _)| format!(r#"<item id="{name}" href="{name}"/>"#)).collect();
    let spine: String = spine.iter().map(|name| format!(r#"<itemref idref="{name}"/>"#)).collect();
    let opf = format!("<package><manifest>{items}</manifest><spine>{spine}</spine></package>");
    let names: Vec<String> = chapters.iter().map(|(name, _)| format!("in/{name}")).collect();
    let mut parts: Vec<(&str, &[u8])> =
        vec![("META-INF/container.xml", br#"<c><rootfile full-path="in/p.opf"/></c>"#), ("in/p.opf", opf.as_bytes())];
    parts.extend(names.iter().zip(chapters).map(|(name, (_, bytes))| (name.as_str(), *bytes)));
    parts.extend(more);
    package(&parts)
}

const ONE: &[u8] = b"<html><body><p>Chapter one</p></body></html>";

#[test]
fn encrypted_chapters_are_missing() {
    let encryption =
        br#"<encryption><enc:EncryptedData><enc:CipherData><enc:CipherReference URI="in/two"/></enc:CipherData>
        </enc:EncryptedData></encryption>"#;
    let garbage = [b"<p>garbage</p></html>", &[0x8f, 0x11, 0xd3][..]].concat();
    let chapters = [("one", ONE), ("two", garbage.as_slice())];
    let more = [("META-INF/encryption.xml", encryption.as_slice())];
    check(Kind::Epub, &book(&chapters, &["one", "two"], &more), "Chapter one", true);
    check(Kind::Epub, &book(&chapters, &["two"], &more), "", true);
    check(Kind::Epub, &book(&chapters, &["one"], &more), "Chapter one", false);
}

#[test]
fn chapters_are_read_in_their_encoding() {
    let declared = |encoding: &str| format!(r#"<?xml version="1.0" encoding="{encoding}"?><html><body><p>"#);
    let end = "</p></body></html>";
    let windows = [declared("windows-1250").as_bytes(), b"k\xf9\xf2", end.as_bytes()].concat();
    let utf_8 = format!("{}kůň{end}", declared("utf-8"));
    let utf_16: Vec<u8> = format!("{}kůň{end}", declared("utf-16")).encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [windows, utf_8.into_bytes(), utf_16] {
        check(Kind::Epub, &book(&[("one", &bytes)], &["one"], &[]), "kůň", false);
    }
}

#[test]
fn entities_of_a_chapter_are_read() {
    let chapter = r#"<!DOCTYPE html [<!ENTITY pub "The Publisher">]><html><body><p>By &pub;.</p></body></html>"#;
    for head in ["", "\u{feff}", "<?xml version='1.0'?>\n<!-- <!DOCTYPE a [ -->\n"] {
        let chapter = format!("{head}{chapter}");
        check(Kind::Epub, &book(&[("one", chapter.as_bytes())], &["one"], &[]), "By The Publisher.", false);
    }
}

#[test]
fn what_is_missing_of_a_spine_is_cut() {
    let chapters = [("one", ONE), ("two", b"<html><body><p>Chapter two".as_slice())];
    check(Kind::Epub, &book(&chapters, &["one", "two"], &[]), "Chapter one\n\nChapter two", true);
    check(Kind::Epub, &book(&chapters, &["one", "three"], &[]), "Chapter one", true);
    let empty = b"<html><body></body></html>".as_slice();
    check(Kind::Epub, &book(&[("one", empty)], &vec!["one"; 10_000], &[]), "", false);
    check(Kind::Epub, &book(&[("one", empty)], &vec!["one"; 10_001], &[]), "", true);
    let long = [b"<html><body><p>", "word ".repeat(2_000_000).as_bytes(), b"</p></body></html>"].concat();
    let (text, is_cut) = text(Kind::Epub, &book(&[("one", &long)], &["one"], &[]));
    assert!(text.len() <= TEXT_BYTES_MAX && is_cut, "{} bytes", text.len());
}

/// A PDF whose tree of pages names one page, and says that it has this many.
fn pdf(count: u32) -> Vec<u8> {
    let lines = "BT /F 12 Tf 72 700 Td (One page.) Tj ET";
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[3 0 R]/Count {count}>>"),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>".to_owned(),
        format!("<</Length {}>>stream\n{lines}\nendstream", lines.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    let (mut pdf, mut places) = ("%PDF-1.4\n".to_owned(), String::new());
    for (object, number) in objects.iter().zip(1..) {
        places.push_str(&format!("{:010} 00000 n \n", pdf.len()));
        pdf.push_str(&format!("{number} 0 obj\n{object}\nendobj\n"));
    }
    let table = pdf.len();
    pdf.push_str(&format!(
        "xref\n0 6\n0000000000 65535 f \n{places}trailer<</Size 6/Root 1 0 R>>\nstartxref\n{table}\n%%EOF"
    ));
    pdf.into_bytes()
}

#[test]
fn pages_that_a_pdf_has_and_does_not_show_are_missing() {
    check(Kind::Pdf, &pdf(1), "One page.", false);
    check(Kind::Pdf, &pdf(3), "One page.", true);
}
