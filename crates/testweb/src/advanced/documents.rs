//! What is not HTML, or hardly: documents, images, empty and huge pages, pages without a type.

use std::iter;

use bytes::Bytes;

use super::html;
use crate::{Pages, Reply};

/// Name, content type and the first bytes by which the format is known.
const DOCUMENTS: [(&str, &str, &[u8]); 7] = [
    ("paper.pdf", "application/pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"),
    (
        "letter.docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        b"PK\x03\x04\x14\0\0\0\0\0word/document.xml",
    ),
    ("nothing.zip", "application/zip", b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
    ("dot.png", "image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU"),
    ("notes.txt", "text/plain", b"Spiders have eight legs, and /documents/never-text.html is no link.\n"),
    ("data.json", "application/json", b"{\"legs\": 8, \"href\": \"/documents/never-json.html\"}\n"),
    ("unknown", "application/octet-stream", b"\x00\x01\x02\x03\xfe\xff"),
];
/// The huge page has that many pieces of that many bytes: 12 MB.
const HUGE_PIECES: usize = 1200;
const HUGE_PIECE_BYTES: usize = 10_000;

pub(super) fn add(pages: Pages) -> Pages {
    let mut links: Vec<String> = DOCUMENTS.iter().map(|(name, ..)| format!("/documents/{name}")).collect();
    links.extend(["/documents/empty.html", "/documents/no-type", "/documents/huge.html"].map(str::to_owned));
    let no_type = Reply::new(200).body(html::list("A page without a type", &["/documents/from-no-type.html"]));
    let pages = pages
        .html("/documents/", html::list("Documents", &links))
        .html("/documents/empty.html", "")
        .reply("/documents/no-type", no_type)
        .html("/documents/from-no-type.html", html::leaf("/documents/from-no-type.html"))
        .reply("/documents/huge.html", Reply::html("").stream(huge))
        .html("/documents/from-huge.html", html::leaf("/documents/from-huge.html"));
    DOCUMENTS.iter().fold(pages, |pages, (name, content_type, bytes)| {
        let reply = Reply::new(200).header("Content-Type", *content_type).body(*bytes);
        pages.reply(format!("/documents/{name}"), reply)
    })
}

/// A page with a link at its beginning and more text than a crawler should keep.
fn huge() -> impl Iterator<Item = Bytes> {
    let start = Bytes::from(html::list("A huge page", &["/documents/from-huge.html"]));
    let piece = Bytes::from(b"text ".repeat(HUGE_PIECE_BYTES / 5));
    iter::once(start).chain(iter::repeat_n(piece, HUGE_PIECES))
}
