//! What a response is, by its header, its bytes and its name.

use extract::media_type::{Kind, sniff};

fn check(bytes: &[u8], declared: Option<&str>, path_ext: Option<&str>, expect: Kind) {
    let kind = sniff(bytes, declared, path_ext).kind;
    assert_eq!(kind, expect, "{} {declared:?} {path_ext:?}", String::from_utf8_lossy(bytes));
}

const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const OCTETS: Option<&str> = Some("application/octet-stream");

#[test]
fn a_specific_header_decides() {
    for (declared, kind) in [
        ("text/html; charset=utf-8", Kind::Html),
        ("TEXT/HTML", Kind::Html),
        ("application/xhtml+xml", Kind::Xhtml),
        ("application/pdf", Kind::Pdf),
        ("application/msword", Kind::Doc),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", Kind::Pptx),
        ("image/jpg", Kind::Jpeg),
        ("image/avif", Kind::OtherImage),
        ("application/rss+xml", Kind::SitemapXml),
        ("application/mathml+xml", Kind::Xml),
        ("text/css", Kind::Other),
        ("application/json", Kind::Other),
    ] {
        check(b"plain words", Some(declared), Some("png"), kind);
    }
    check(b"%PDF-1.7", Some("image/jpg"), Some("pdf"), Kind::Jpeg);
}

#[test]
fn what_begins_like_a_document_or_an_image_is_no_html() {
    for declared in ["text/html; charset=utf-8", "application/xhtml+xml"] {
        check(b"%PDF-1.7", Some(declared), None, Kind::Pdf);
        check(b"PK\x03\x04ppt/presentation.xml", Some(declared), Some("html"), Kind::Pptx);
        check(b"GIF89a", Some(declared), None, Kind::Gif);
    }
    // Markup is markup, and what is only compressed may still be a page.
    check(b"<svg xmlns=x>", Some("text/html"), None, Kind::Html);
    check(b"\x1f\x8b\x08", Some("text/html"), None, Kind::Html);
}

#[test]
fn of_documents_the_bytes_decide() {
    const WORD: &[u8] = b"PK\x03\x04word/document.xml";
    for declared in [
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.ms-word.document.macroEnabled.12",
        "application/x-unknown",
    ] {
        check(WORD, Some(declared), None, Kind::Docx);
    }
    check(b"%PDF-1.7", Some("application/epub+zip"), None, Kind::Pdf);
    // Other content stays what it was declared as.
    check(b"GIF89a", Some("application/pdf"), None, Kind::Pdf);
    check(b"GIF89a", Some("application/x-unknown"), None, Kind::Other);
    check(WORD, Some("image/png"), None, Kind::Png);
}

#[test]
fn silence_lets_the_bytes_decide() {
    let word = [OLE, b"W\0o\0r\0d\0D\0o\0c\0u\0m\0e\0n\0t\0".as_slice()].concat();
    for (bytes, kind) in [
        (&b"%PDF-1.7"[..], Kind::Pdf),
        (b"\x89PNG\r\n\x1a\n", Kind::Png),
        (b"GIF89a", Kind::Gif),
        (b"\xff\xd8\xff\xe0", Kind::Jpeg),
        (b"RIFF\0\0\0\0WEBPVP8", Kind::Webp),
        (b"\x1f\x8b\x08", Kind::Gzip),
        (b" \n<!DOCTYPE HTML>", Kind::Html),
        (b"\xef\xbb\xbf<html>", Kind::Html),
        (b"<script src=x>", Kind::Html),
        (b"<!-- x", Kind::Html),
        (b"<svg xmlns=x>", Kind::Svg),
        (b"<?xml version='1.0'?><svg>", Kind::Svg),
        (b"<?xml version='1.0'?><!DOCTYPE html PUBLIC><html>", Kind::Xhtml),
        (b"<?xml version='1.0'?><urlset>", Kind::SitemapXml),
        (b"<sitemapindex xmlns=x>", Kind::SitemapXml),
        (b"<?xml version='1.0'?><x>", Kind::Xml),
        (b"PK\x03\x04......[Content_Types].xmlPK\x03\x04word/document.xml", Kind::Docx),
        (b"PK\x03\x04ppt/presentation.xml", Kind::Pptx),
        (&word, Kind::Doc),
    ] {
        for declared in [None, OCTETS, Some("text/plain"), Some(""), Some("*/*"), Some("html")] {
            check(bytes, declared, None, kind);
        }
    }
    check(b"<htmlx>", None, None, Kind::Other);
    check(b"<p", None, None, Kind::Other);
    check(b"plain", Some("text/plain"), Some("html"), Kind::Text);
}

#[test]
fn generic_xml_is_told_apart() {
    check(b"<html xmlns='http://www.w3.org/1999/xhtml'>", Some("text/xml"), None, Kind::Xhtml);
    check(b"<rss version='2.0'>", Some("application/xml; charset=x"), None, Kind::SitemapXml);
    check(b"<x>", Some("text/xml"), None, Kind::Xml);
}

#[test]
fn the_name_is_asked_last() {
    check(OLE, OCTETS, Some("PPT"), Kind::Ppt);
    check(b"PK\x03\x04", None, Some("docx"), Kind::Docx);
    check(b"PK\x03\x04", Some("application/zip"), Some("docx"), Kind::Docx);
    check(b"PK\x03\x04", Some("application/zip"), None, Kind::Other);
    check(b"%PDF-", None, Some("html"), Kind::Pdf);
    check(b"x", None, Some("txt"), Kind::Text);
    check(b"", None, None, Kind::Other);
}

#[test]
fn both_opinions_are_told() {
    let media_type = sniff(b"%PDF-", Some("text/html"), None);
    assert_eq!((media_type.declared, media_type.sniffed), (Some(Kind::Html), Some(Kind::Pdf)));
    assert!(!media_type.is_html() && Kind::Html.is_html() && Kind::Svg.is_image());
}
