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
/// `bytes` (decoded text, at most three times) plus what `limits` allow.
///
/// ```
/// let page = extract::html::extract(b"<a href=/b>next</a>", None, &extract::Limits::default());
/// assert_eq!((page.links[0].href.as_str(), page.links[0].text.as_str()), ("/b", "next"));
/// ```
#[must_use]
pub fn extract(bytes: &[u8], content_type: Option<&str>, limits: &Limits) -> HtmlPage {
    let charset = charset::decide(bytes, content_type);
    let (document, _) = charset.encoding.decode_with_bom_removal(bytes);
    let mut collector = Collector::new(document.len(), charset, limits);
    scanner::scan(&document, &mut collector, true);
    collector.finish()
}

/// The text of a page in the encoding that [`extract`] decides for.
#[must_use]
pub fn decode_as<'b>(bytes: &'b [u8], content_type: Option<&str>) -> Cow<'b, str> {
    charset::decide(bytes, content_type).encoding.decode_with_bom_removal(bytes).0
}

/// The text of a page in an encoding, by the name that [`HtmlPage::encoding`] has.
#[must_use]
pub fn decode<'b>(bytes: &'b [u8], encoding: &str) -> Cow<'b, str> {
    let encoding = Encoding::for_label(encoding.as_bytes()).unwrap_or(UTF_8);
    encoding.decode_with_bom_removal(bytes).0
}
