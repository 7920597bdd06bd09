//! Documents in PDF, as the standard lets them be written (ISO 32000-1).
#![expect(clippy::expect_used, reason = "a test may fail loudly")]

use documents::{Text, read};
use extract::media_type::Kind;

/// Where the text of a page is.
const CONTENT: usize = 4;

/// A file of these objects, numbered from 1, with its table of places.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let (mut bytes, mut table) = (b"%PDF-1.5\n".to_vec(), String::new());
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
        bytes.extend_from_slice(&[format!("{number} 0 obj\n").as_bytes(), object, b"\nendobj\n"].concat());
    }
    let (size, place) = (objects.len() + 1, bytes.len());
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Root 1 0 R/Size {size}>>\nstartxref\n{place}\n%%EOF"
    );
    bytes.extend_from_slice(end.as_bytes());
    bytes
}

fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<<{entries}/Length {}>>stream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// The objects of a page with these contents, this font (5) and others.
fn objects(content: Vec<u8>, font: &str, others: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R\
        /Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>";
    let head = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", page];
    let mut objects: Vec<Vec<u8>> = head.iter().map(|object| object.as_bytes().to_vec()).collect();
    objects.extend([content, font.as_bytes().to_vec()]);
    objects.extend_from_slice(others);
    objects
}

const HELVETICA: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";
const TEXT: &str = "BT /F 12 Tf 72 700 Td (A visible text) Tj ET";

fn shown(content: Vec<u8>) -> Vec<u8> {
    file(&objects(content, HELVETICA, &[]))
}

fn text_of(bytes: &[u8]) -> Text {
    read(Kind::Pdf, bytes).expect("a document")
}

#[test]
fn widths_of_a_range_of_glyphs_make_words() {
    // As Chromium writes them: glyphs from 1 to 96 are as wide as each other, others have no width. Each letter has its place.
    let font = "<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>";
    let glyphs = "<</Type/Font/Subtype/CIDFontType2/BaseFont/A/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>\
        /W WIDTHS/DW 0/FontDescriptor<</Type/FontDescriptor/FontName/A/Flags 4>>>>";
    let map = stream("", b"begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0001> <0060> <0020> endbfrange endcmap");
    let letter = |char: char| format!("<{:04X}> Tj 6.1 0 Td ", u32::from(char) - 31);
    let line =
        |text: &str, y: u32| format!("BT /F 10 Tf 10 {y} Td {} ET ", text.chars().map(letter).collect::<String>());
    let content = line("print(value) to it", 700) + &line("    return", 688);
    for (widths, last) in [("[0[0]1 96 600]", None), ("8 0 R", Some(b"[1 96 600]".to_vec()))] {
        let glyphs = glyphs.replace("WIDTHS", widths).into_bytes();
        let others: Vec<Vec<u8>> = [glyphs, map.clone()].into_iter().chain(last).collect();
        let text = text_of(&file(&objects(stream("", content.as_bytes()), font, &others)));
        assert_eq!((&*text.text, text.is_cut), ("print(value) to it\nreturn", false), "{widths}");
    }
}

#[test]
fn turned_pages_read_along_their_lines() {
    for matrix in ["0 1 -1 0 300 100", "0 -1 1 0 300 700", "-1 0 0 -1 500 300", "0.99 0.14 -0.14 0.99 72 300"] {
        let content = format!("BT /F 12 Tf {matrix} Tm 14 TL (The annual report) Tj T* (of all regions) Tj ET");
        assert_eq!(
            text_of(&shown(stream("", content.as_bytes()))).text,
            "The annual report\nof all regions",
            "{matrix}"
        );
    }
    // A table whose head is turned.
    let content = "BT /F 12 Tf 72 700 Td (before) Tj ET BT /F 12 Tf 0 1 -1 0 115 700 Tm (head) Tj ET BT /F 12 Tf 125 700 Td (after) Tj ET";
    assert_eq!(text_of(&shown(stream("", content.as_bytes()))).text, "before\n\nhead\n\nafter");
}

#[test]
fn all_operators_show_text() {
    let content = b"BT /F 12 Tf 14 TL 72 700 Td (one) Tj (two) ' 0.5 0.1 (thr\\(ee) \" ET";
    assert_eq!(text_of(&shown(stream("", content))).text, "one\ntwo\nthr(ee");
    let form = stream("/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>>>", content);
    let form = file(&objects(stream("", b"/X Do"), HELVETICA, &[form]));
    assert_eq!(text_of(&form).text, "one\ntwo\nthr(ee");
    // Images have no text, whatever their bytes look like.
    let image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1", TEXT.as_bytes());
    let text = text_of(&file(&objects(stream("", b"/X Do"), HELVETICA, &[image])));
    assert_eq!((&*text.text, text.is_cut), ("", false));
}

#[test]
fn streams_are_decoded_or_known_to_be_missing() {
    let hex: String = TEXT.bytes().map(|byte| format!("{byte:02x}")).collect();
    let mut runs = vec![u8::try_from(TEXT.len() - 1).expect("a short text")];
    runs.extend_from_slice(TEXT.as_bytes());
    let chain = format!("/Filter[{}]", "/FlateDecode ".repeat(2_000));
    for (content, is_read) in [
        (stream("/Filter/ASCIIHexDecode", format!("{hex}>").as_bytes()), true),
        (stream("/Filter[/AHx]", format!("{hex}>").as_bytes()), true),
        (stream("/Filter/RunLengthDecode", &runs), true),
        (stream("/Filter 6 0 R", format!("{hex}>").as_bytes()), true),
        (stream(&chain, b"abcde"), false),
        (stream("/Filter/FlateDecode", b"abcde"), false),
        (stream("/Filter/DCTDecode", b"abcde"), false),
        (b"<</Length 5>>".to_vec(), false),
    ] {
        let text = text_of(&file(&objects(content.clone(), HELVETICA, &[b"/ASCIIHexDecode".to_vec()])));
        let expect = if is_read { ("A visible text", false) } else { ("", true) };
        assert_eq!(
            (&*text.text, text.is_cut),
            expect,
            "{}",
            String::from_utf8_lossy(&content[..40.min(content.len())])
        );
    }
}

#[test]
fn characters_in_names_of_glyphs() {
    let font = "<</Type/Font/Subtype/Type1/BaseFont/X/Encoding<</Differences[1/A/fi/uni00E5/Zcaron/u1F600]>>>>";
    let content = stream("", b"BT /F 12 Tf 72 700 Td (\x01\x02\x03\x04\x05) Tj ET");
    assert_eq!(text_of(&file(&objects(content, font, &[]))).text, "Afiå\u{17d}😀");
    // The signs of this font are no characters, and the text beside them is read.
    let signs = "<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+FontAwesome/Encoding<</Differences[1/A/uniF0E0]>>>>";
    let content = stream("", b"BT /F 12 Tf 72 700 Td (\x01\x02) Tj ET");
    let text = text_of(&file(&objects(content, signs, &[])));
    assert_eq!((&*text.text, text.is_cut), ("A", false));
}

#[test]
fn wrong_lengths_and_places_are_searched_for() {
    let with_length = |length: &str| {
        let content = format!("<</Length {length}>>stream\n{TEXT}\nendstream");
        file(&objects(content.into_bytes(), HELVETICA, &[b"3".to_vec()]))
    };
    let whole = shown(stream("", TEXT.as_bytes()));
    let end = whole.windows(9).position(|window| window == b"startxref").expect("a file ends so");
    let table = whole.windows(5).position(|window| window == b"xref\n").expect("a table");
    let moved = [b"%PDF-1.5\n%% moved\n", &whole[9..]].concat();
    for (bytes, is_cut) in [
        (with_length("9999"), false),
        (with_length("0"), false),
        (with_length("6 0 R"), false),
        ([&whole[..end], b"startxref\n7\n%%EOF"].concat(), false),
        ([&whole[..end], b"%%EOF"].concat(), false),
        (moved, false),
        // Its end is missing.
        (whole[..table].to_vec(), true),
    ] {
        let text = text_of(&bytes);
        assert_eq!((&*text.text, text.is_cut), ("A visible text", is_cut), "{}", String::from_utf8_lossy(&bytes));
    }
    // A text with the word is no stream.
    let mut named = objects(stream("", TEXT.as_bytes()), HELVETICA, &[]);
    named[0] = b"<</Type/Catalog/Lang(A stream of words)/Pages 2 0 R>>".to_vec();
    let named = file(&named);
    let end = named.windows(9).position(|window| window == b"startxref").expect("a file ends so");
    let text = text_of(&[&named[..end], b"%%EOF"].concat());
    assert_eq!((&*text.text, text.is_cut), ("A visible text", false));
    // Nothing stands for a page that is not there.
    let text = text_of(&file(&objects(Vec::new(), HELVETICA, &[])[CONTENT - 1..]));
    assert_eq!((&*text.text, text.is_cut), ("", true));
}
