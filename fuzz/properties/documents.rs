//! What holds for the text of every document in a package. The parser of PDF panics on damaged files, which its process bears
//! (`documents::Reader`), so PDF is not here.
//!
//! Input: the first byte is the kind. Behind the first line come the parts: a line `--- NAME`, then its content.

use std::io::{Cursor, Write as _};

use documents::{TEXT_BYTES_MAX, Text, Unread, read};
use extract::media_type::Kind;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// What a title or an author has, in characters, at most.
const FIELD_CHARS_MAX: usize = 1_000;

/// A name and a content.
type Part<'i> = (&'i [u8], &'i [u8]);

/// Asserts it.
pub fn hold(input: &[u8]) {
    let (head, rest) = split(input, b"\n").unwrap_or((input, b""));
    let kind = match head.first() {
        Some(b's') => Kind::Pptx,
        Some(b'o') => Kind::OpenDocument,
        Some(b'e') => Kind::Epub,
        _ => Kind::Docx,
    };
    let parts = parts(rest);
    let said = of(kind, &parts, CompressionMethod::Stored);
    if let Ok(said) = &said {
        assert!(said.text.len() <= TEXT_BYTES_MAX, "{} bytes", said.text.len());
        for field in [&said.title, &said.author].into_iter().flatten() {
            let is_line = !field.trim().is_empty() && !field.chars().any(char::is_control);
            assert!(is_line && field.chars().count() <= FIELD_CHARS_MAX, "{field:?}");
        }
    }
    assert_eq!(said, of(kind, &parts, CompressionMethod::Deflated), "compression changes nothing");
    let with_another: Vec<Part<'_>> =
        [(&b"nobody/asks.for"[..], &b"<p>nothing</p>"[..])].into_iter().chain(parts).collect();
    assert_eq!(said, of(kind, &with_another, CompressionMethod::Stored), "what nothing refers to changes nothing");
}

/// The text of a document of these parts.
fn of(kind: Kind, parts: &[Part<'_>], method: CompressionMethod) -> Result<Text, Unread> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    for (name, content) in parts {
        // Of parts with the same name the first counts.
        if zip.start_file(String::from_utf8_lossy(name), options).is_ok() {
            zip.write_all(content).expect("memory takes it");
        }
    }
    read(kind, zip.finish().expect("memory takes it").get_ref())
}

fn parts(input: &[u8]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = split(input, b"--- ").map(|(_, rest)| rest);
    while let Some(part) = rest {
        let next = split(part, b"\n--- ");
        let (part, behind) = next.map_or((part, None), |(part, behind)| (part, Some(behind)));
        parts.push(split(part, b"\n").unwrap_or((part, b"")));
        rest = behind;
    }
    parts
}

/// What is in front of the first of these marks and behind it.
fn split<'i>(input: &'i [u8], mark: &[u8]) -> Option<(&'i [u8], &'i [u8])> {
    let at = input.windows(mark.len()).position(|window| window == mark)?;
    Some((&input[..at], &input[at + mark.len()..]))
}
