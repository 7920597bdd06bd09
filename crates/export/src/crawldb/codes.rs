//! The codes of the course's tables.

use dataset::rows::FRONTIER;
use extract::media_type::{Kind, sniff};
use model::{Outcome, essence};
use weburl::CanonicalUrl;

use super::fitting::{DATA_TYPE_CHARS_MAX, Shortened};

/// The types of documents that the course names. Others are there by the name of their media type.
pub(super) const DATA_TYPES: [&str; 5] = ["PDF", "DOC", "DOCX", "PPT", "PPTX"];
/// The type of a document that nothing says anything of.
const UNKNOWN_DATA_TYPE: &str = "OTHER";
/// What the course calls pages that the browser could not render.
const WEBDRIVER_ERROR: &str = "WEBDRIVER_ERROR";

/// All codes of `page_type`.
pub(super) fn page_types() -> Vec<String> {
    let outcomes = Outcome::ALL.iter().map(|outcome| outcome.as_str());
    outcomes.chain([FRONTIER]).map(page_type).collect()
}

/// The code of an outcome (`docs/rows.md`).
pub(super) fn page_type(outcome: &str) -> String {
    if outcome == Outcome::RenderError.as_str() { WEBDRIVER_ERROR.to_owned() } else { outcome.to_ascii_uppercase() }
}

/// The code of a document.
pub(super) fn data_type(
    url: &CanonicalUrl,
    content_type: Option<&str>,
    body: &[u8],
    shortened: &mut Shortened,
) -> String {
    let code = match sniff(body, content_type, url.path_extension()).kind {
        Kind::Pdf => DATA_TYPES[0],
        Kind::Doc => DATA_TYPES[1],
        Kind::Docx => DATA_TYPES[2],
        Kind::Ppt => DATA_TYPES[3],
        Kind::Pptx => DATA_TYPES[4],
        _ => return named(content_type, shortened),
    };
    code.to_owned()
}

/// The name of a media type without its parameters. One that is too long for a code is no better than none.
fn named(content_type: Option<&str>, shortened: &mut Shortened) -> String {
    let name = essence(content_type.unwrap_or_default());
    let is_too_long = name.chars().count() > DATA_TYPE_CHARS_MAX;
    shortened.data_types += u64::from(is_too_long);
    if name.is_empty() || is_too_long {
        return UNKNOWN_DATA_TYPE.to_owned();
    }
    super::storable(&name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_code() {
        let codes = page_types();
        assert_eq!(codes.len(), Outcome::ALL.len() + 1);
        for code in
            ["HTML", "BINARY", "DUPLICATE", "FRONTIER", "DISALLOWED", "DOMAIN_ERROR", "TIMEOUT", WEBDRIVER_ERROR]
        {
            assert!(codes.iter().any(|known| known == code), "{code}");
        }
        assert!(codes.iter().all(|code| code.len() <= 20), "{codes:?}");
    }

    #[test]
    fn documents_have_the_codes_of_the_course_or_the_name_of_their_type() {
        let mut shortened = Shortened::default();
        let mut check = |url: &str, content_type: Option<&str>, body: &[u8], expect: &str| {
            let url = CanonicalUrl::from_canonical(url).unwrap();
            assert_eq!(data_type(&url, content_type, body, &mut shortened), expect, "{url} {content_type:?}");
        };
        check("http://a.test/x", Some("application/pdf"), b"", "PDF");
        check("http://a.test/x", Some("application/octet-stream"), b"%PDF-1.4", "PDF");
        check("http://a.test/x.doc", None, b"", "DOC");
        check("http://a.test/x", Some("application/vnd.ms-powerpoint; x=y"), b"", "PPT");
        check("http://a.test/x", Some("Application/ZIP; x=y"), b"", "application/zip");
        check("http://a.test/x", None, b"\x00\x01", "OTHER");
        check("http://a.test/x", Some("a/b\0c"), b"", "a/b\u{fffd}c");
        check("http://a.test/x", Some("application/octet-stream"), b"\x00\x01", "OTHER");
        assert_eq!(shortened, Shortened { data_types: 1, ..Shortened::default() });
    }
}
