//! A page in XML, rewritten as HTML, so that all who read HTML read it (XML 1.0; HTML Standard, "the XML syntax").
//!
//! In XML, `<title/>` and `<div/>` are whole elements, CDATA sections may stand anywhere, and the content of `script` and `style` is
//! markup with references. A page that is not well-formed is read as far as that makes sense: browsers show its beginning and an error.

use memchr::{memchr, memchr2, memmem};

/// Elements of HTML that have no content, however they are written.
const VOID: [&str; 18] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr",
];

/// Whether a media type is that of XML, so that its page is no HTML.
pub(super) fn is_xml(content_type: Option<&str>) -> bool {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    essence.len() > 4
        && essence.is_char_boundary(essence.len() - 4)
        && essence[essence.len() - 4..].eq_ignore_ascii_case("+xml")
        || essence.eq_ignore_ascii_case("text/xml")
        || essence.eq_ignore_ascii_case("application/xml")
}

/// The page as HTML.
pub(super) fn to_html(xml: &str) -> String {
    let mut html = String::with_capacity(xml.len() + xml.len() / 16);
    let mut rest = xml;
    // Inside of an element whose content HTML takes as it stands.
    let mut is_raw = false;
    while let Some(at) = memchr(b'<', rest.as_bytes()) {
        push_text(&rest[..at], is_raw, &mut html);
        rest = &rest[at..];
        if let Some(section) = rest.strip_prefix("<![CDATA[") {
            let (text, behind) = section.split_once("]]>").unwrap_or((section, ""));
            push_section(text, is_raw, &mut html);
            rest = behind;
        } else if rest.starts_with("<!--") {
            rest = behind(rest, "-->");
        } else if rest.starts_with("<?") {
            rest = behind(rest, "?>");
        } else if rest.starts_with("<!") {
            rest = behind_doctype(rest);
        } else if !rest[1..].starts_with(|char: char| char.is_alphabetic() || matches!(char, '/' | '_' | ':')) {
            html.push_str(if is_raw { "<" } else { "&lt;" });
            rest = &rest[1..];
        } else {
            let (tag, behind) = rest.split_at(end_of_tag(rest));
            is_raw = push_tag(tag, is_raw, &mut html);
            rest = behind;
        }
    }
    push_text(rest, is_raw, &mut html);
    html
}

/// What is behind the end of a construct.
fn behind<'x>(rest: &'x str, end: &str) -> &'x str {
    memmem::find(rest.as_bytes(), end.as_bytes()).map_or("", |at| &rest[at + end.len()..])
}

/// What is behind a document type, with the declarations in it.
fn behind_doctype(rest: &str) -> &str {
    match memchr2(b'[', b'>', rest.as_bytes()) {
        Some(at) if rest.as_bytes()[at] == b'[' => behind(behind(rest, "]"), ">"),
        Some(at) => &rest[at + 1..],
        None => "",
    }
}

/// Where a tag ends: behind the next `>` that is in no value.
fn end_of_tag(rest: &str) -> usize {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    rest.len()
}

/// Adds a tag. The answer is whether what follows is the content of an element that HTML takes as it stands.
fn push_tag(tag: &str, is_raw: bool, html: &mut String) -> bool {
    let name = tag[1..].split(|char: char| char.is_ascii_whitespace() || matches!(char, '/' | '>')).next();
    let name = name.unwrap_or_default();
    let is_void = VOID.iter().any(|void| name.eq_ignore_ascii_case(void));
    match tag.strip_suffix("/>") {
        Some(open) if !name.is_empty() && !is_void => {
            html.extend([open, "></", name, ">"]);
            is_raw
        }
        _ => {
            html.push_str(tag);
            let is_of_text = ["script", "style"].iter().any(|raw| name.eq_ignore_ascii_case(raw));
            // What stands in such an element is text up to its own end tag, and has no elements in XML either.
            is_of_text || (is_raw && !tag.starts_with("</"))
        }
    }
}

/// Adds text, in which references count. In a raw element of HTML they do not.
fn push_text(text: &str, is_raw: bool, html: &mut String) {
    if !is_raw || !text.contains('&') {
        return html.push_str(text);
    }
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    html.push_str(&known.iter().fold(text.to_owned(), |text, (reference, char)| text.replace(reference, char)));
}

/// Adds the content of a CDATA section.
fn push_section(text: &str, is_raw: bool, html: &mut String) {
    if is_raw {
        return html.push_str(text);
    }
    for char in text.chars() {
        match char {
            '<' => html.push_str("&lt;"),
            '&' => html.push_str("&amp;"),
            other => html.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_end_where_xml_ends_them() {
        for (xml, html) in [
            ("<title/><p>a</p>", "<title></title><p>a</p>"),
            ("<script src='a'/><style /><br/>", "<script src='a'></script><style ></style><br/>"),
            (
                "<textarea rows='1'/><a title='/>' href=\"b\"/>",
                "<textarea rows='1'></textarea><a title='/>' href=\"b\"></a>",
            ),
            ("<p><![CDATA[<b>&amp;]]></p>", "<p>&lt;b>&amp;amp;</p>"),
            ("<style><![CDATA[ @import 'a&b'; ]]></style>", "<style> @import 'a&b'; </style>"),
            ("<style>url(a?b&amp;c=&lt;)</style>&amp;", "<style>url(a?b&c=<)</style>&amp;"),
            ("<?xml version='1.0'?><?x a>b?><!DOCTYPE html [<!ENTITY a '>'>]><html/>", "<html></html>"),
            ("<!DOCTYPE html PUBLIC 'x'><!-- <p/> -->a", "a"),
            ("<svg><path d=''/></svg>", "<svg><path d=''></path></svg>"),
            ("a < b <", "a &lt; b &lt;"),
            ("<script>a < b</script><p/>", "<script>a < b</script><p></p>"),
            ("<p", "<p"),
            ("<![CDATA[a", "a"),
            ("", ""),
        ] {
            assert_eq!(to_html(xml), html, "{xml}");
        }
    }

    #[test]
    fn media_types_of_xml() {
        for (content_type, expect) in [
            (Some("application/xhtml+xml; charset=utf-8"), true),
            (Some("Text/XML"), true),
            (Some("application/xml"), true),
            (Some("text/html"), false),
            (Some("č+xm"), false),
            (None, false),
        ] {
            assert_eq!(is_xml(content_type), expect, "{content_type:?}");
        }
    }
}
