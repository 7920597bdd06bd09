//! An HTML page: bytes to [`HtmlPage`] in one pass of the tokenizer.
//!
//! No tree is built. Two things of the tree are simulated (`scanner`, `foreign`): which elements hold
//! raw text, and where SVG and MathML begin and end. The content of `template` is inert in browsers
//! and skipped here; that of `noscript` is read a second time, for links and images only.
//! Lazy-loading attributes (`data-src` …) are not taken: their names and meaning differ from script to
//! script, and pages that want to be read without scripts repeat the image in `noscript`.

mod attributes;
mod collector;
pub mod dom;
mod foreign;
mod images;
mod names;
mod references;
mod scanner;
mod tag;
mod targets;
mod tokenizer;
mod xhtml;

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::charset;
use crate::limits::Limits;
use crate::page::HtmlPage;
use collector::Collector;
pub(crate) use collector::is_script;

/// Reads a page.
///
/// `content_type` is the response's header, for its charset. Memory is bounded by a small multiple of
/// `bytes` (decoded text, at most three times; of XML, five times) plus what `limits` allow.
///
/// ```
/// let page = extract::html::extract(b"<a href=/b>next</a>", None, &extract::Limits::default());
/// assert_eq!((page.links[0].href.as_str(), page.links[0].text.as_str()), ("/b", "next"));
/// ```
#[must_use]
pub fn extract(bytes: &[u8], content_type: Option<&str>, limits: &Limits) -> HtmlPage {
    let charset = charset::decide(bytes, content_type);
    let document = decode_page(bytes, charset.encoding.name(), content_type);
    let mut collector = Collector::new(document.len(), charset, limits);
    scanner::scan(&document, &mut collector, true);
    collector.finish()
}

/// The text of a page in the encoding that [`extract`] decides for.
#[must_use]
pub fn decode_as<'b>(bytes: &'b [u8], content_type: Option<&str>) -> Cow<'b, str> {
    decode_page(bytes, charset::decide(bytes, content_type).encoding.name(), content_type)
}

/// The text of a page as HTML, by the name that [`HtmlPage::encoding`] has and its media type: one in XML is rewritten.
#[must_use]
pub fn decode_page<'b>(bytes: &'b [u8], encoding: &str, content_type: Option<&str>) -> Cow<'b, str> {
    let text = decode(bytes, encoding);
    if xhtml::is_xml(content_type) { Cow::Owned(xhtml::to_html(&text)) } else { text }
}

/// XML as HTML.
pub(crate) fn of_xml(xml: &str) -> String {
    xhtml::to_html(xml)
}

/// Whether a media type is that of XML.
#[must_use]
pub fn is_xml(content_type: Option<&str>) -> bool {
    xhtml::is_xml(content_type)
}

/// The text of bytes in an encoding, by the name that [`HtmlPage::encoding`] has.
#[must_use]
pub fn decode<'b>(bytes: &'b [u8], encoding: &str) -> Cow<'b, str> {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(UTF_8);
    encoding.decode_with_bom_removal(bytes).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_in_xml_is_read_as_such_and_others_are_not() {
        let page = b"<html><head><title/></head><body><textarea/><a href='/b'><![CDATA[c]]></a></body></html>";
        let links = |content_type: &str| extract(page, Some(content_type), &Limits::default()).links;
        assert!(links("text/html").is_empty(), "all of it is the title");
        let links = links("application/xhtml+xml");
        assert_eq!((links[0].href.as_str(), links[0].text.as_str()), ("/b", "c"));
        assert!(decode_as(page, Some("text/xml")).contains("<title></title>"));
        assert!(matches!(decode_as(page, Some("text/html")), Cow::Borrowed(_)), "HTML is not copied");
    }
}
