//! The kind of some content by its bytes alone.

use super::Kind;
use memchr::memmem;

/// How far into the content the root element of markup is looked for, in bytes.
const ROOT_BYTES_MAX: usize = 1024;

/// Where the name of the first part is in a zip file, in bytes (APPNOTE 4.3.7).
const ZIP_NAME_AT: usize = 30;

/// Prefixes that say it all.
const MAGIC: [(&[u8], Kind); 9] = [
    (b"%PDF-", Kind::Pdf),
    (b"\x89PNG\r\n\x1a\n", Kind::Png),
    (b"GIF87a", Kind::Gif),
    (b"GIF89a", Kind::Gif),
    (b"\xff\xd8\xff", Kind::Jpeg),
    (b"\0\0\x01\0", Kind::OtherImage),
    (b"II*\0", Kind::OtherImage),
    (b"MM\0*", Kind::OtherImage),
    (b"\x1f\x8b\x08", Kind::Gzip),
];

/// Elements whose start tag at the beginning makes content HTML (WHATWG MIME Sniffing, section 7.1).
const HTML_TAGS: [&[u8]; 17] = [
    b"!doctype html",
    b"html",
    b"head",
    b"script",
    b"iframe",
    b"h1",
    b"div",
    b"font",
    b"table",
    b"a",
    b"style",
    b"title",
    b"b",
    b"body",
    b"br",
    b"p",
    b"!--",
];

/// The kind, if the bytes show one.
pub(super) fn sniff(bytes: &[u8]) -> Option<Kind> {
    let magic = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    if let Some(&(_, kind)) = magic {
        return Some(kind);
    }
    match bytes {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Kind::Webp),
        [b'P', b'K', 3, 4, ..] => zip(bytes),
        [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, ..] => compound_file(bytes),
        _ => markup(bytes),
    }
}

/// OpenDocument and EPUB by the part `mimetype`, which comes first and uncompressed (OpenDocument part 2 §3.3, EPUB 3.3 §4.2.6.2);
/// Office Open XML by the names of its parts, which zip keeps uncompressed.
fn zip(bytes: &[u8]) -> Option<Kind> {
    let begins = |mimetype: &[u8]| bytes.get(ZIP_NAME_AT..).is_some_and(|begin| begin.starts_with(mimetype));
    if begins(b"mimetypeapplication/vnd.oasis.opendocument.") {
        return Some(Kind::OpenDocument);
    }
    if begins(b"mimetypeapplication/epub+zip") {
        return Some(Kind::Epub);
    }
    let holds = |name: &[u8]| memmem::find(bytes, name).is_some();
    match () {
        () if holds(b"word/document") => Some(Kind::Docx),
        () if holds(b"ppt/presentation") => Some(Kind::Pptx),
        () => None,
    }
}

/// OLE compound files by the names of their streams, in UTF-16 (MS-CFB, section 2.6.1).
fn compound_file(bytes: &[u8]) -> Option<Kind> {
    let holds = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memmem::find(bytes, &name).is_some()
    };
    match () {
        () if holds("WordDocument") => Some(Kind::Doc),
        () if holds("PowerPoint Document") => Some(Kind::Ppt),
        () => None,
    }
}

fn markup(bytes: &[u8]) -> Option<Kind> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head = &bytes[..bytes.len().min(ROOT_BYTES_MAX)];
    let head = head.trim_ascii_start();
    if starts_with_tag(head, b"svg") {
        return Some(Kind::Svg);
    }
    if let Some(kind) = feed(head) {
        return Some(kind);
    }
    if head.starts_with(b"<?xml") {
        return Some(xml(head));
    }
    let is_html = HTML_TAGS.iter().any(|tag| starts_with_tag(head, tag));
    is_html.then_some(Kind::Html)
}

/// The kind of an XML document by the first element that is known.
fn xml(head: &[u8]) -> Kind {
    let mut rest = head;
    while let Some(at) = memchr::memchr(b'<', rest) {
        rest = &rest[at..];
        match () {
            () if starts_with_tag(rest, b"html") => return Kind::Xhtml,
            () if starts_with_tag(rest, b"svg") => return Kind::Svg,
            () => {}
        }
        if let Some(kind) = feed(rest) {
            return kind;
        }
        rest = &rest[1..];
    }
    Kind::Xml
}

fn feed(rest: &[u8]) -> Option<Kind> {
    const ROOTS: [&[u8]; 5] = [b"urlset", b"sitemapindex", b"rss", b"feed", b"rdf:rdf"];
    let is_root = ROOTS.iter().any(|root| starts_with_tag(rest, root));
    is_root.then_some(Kind::SitemapXml)
}

/// Whether this begins with `<name`, whatever its case, and the name ends there.
fn starts_with_tag(rest: &[u8], name: &[u8]) -> bool {
    let Some(after) = rest.strip_prefix(b"<") else {
        return false;
    };
    let named = after.get(..name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name));
    let ends = after.get(name.len());
    named && (name == b"!--" || ends.is_some_and(|&b| b.is_ascii_whitespace() || matches!(b, b'>' | b'/')))
}
