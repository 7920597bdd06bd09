//! Which encoding a document is in.
//!
//! The order of the HTML Standard ("determining the character encoding"): byte order mark, HTTP header,
//! declaration in the first 1,024 bytes, then a guess from the content. Labels that the Encoding
//! Standard does not know are ignored.

mod prescan;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// An encoding and what decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// What decided it.
    pub source: EncodingSource,
}

/// What decided the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EncodingSource {
    /// A byte order mark.
    Bom,
    /// `charset` of the `Content-Type` header.
    Header,
    /// A `meta` element or an XML declaration.
    Meta,
    /// The content.
    Detected,
    /// Nothing: the content is ASCII, so it does not matter.
    Default,
}

impl EncodingSource {
    /// The source in lower case, for rows and reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bom => "bom",
            Self::Header => "header",
            Self::Meta => "meta",
            Self::Detected => "detected",
            Self::Default => "default",
        }
    }
}

/// How much of the content is looked at to guess, from its first byte that is not ASCII.
const DETECTION_BYTES_MAX: usize = 256 << 10;

/// Decides the encoding of a document.
#[must_use]
pub fn decide(bytes: &[u8], content_type: Option<&str>) -> Charset {
    let known = |encoding, source| Charset { encoding, source };
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return known(encoding, EncodingSource::Bom);
    }
    if let Some(encoding) = content_type.and_then(from_content_type) {
        return known(encoding, EncodingSource::Header);
    }
    if let Some(encoding) = prescan::declared(bytes) {
        return known(encoding, EncodingSource::Meta);
    }
    detect(bytes)
}

/// The encoding of a style sheet (CSS Syntax Module Level 3, §3.2): byte order mark, HTTP header, `@charset`, else UTF-8.
#[must_use]
pub fn of_style_sheet(bytes: &[u8], content_type: Option<&str>) -> &'static Encoding {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    let by_header = || content_type.and_then(from_content_type);
    marked.or_else(by_header).or_else(|| prescan::at_charset(bytes)).unwrap_or(UTF_8)
}

/// The encoding that `charset=` of a `Content-Type` value names, if it is known.
#[must_use]
pub fn from_content_type(content_type: &str) -> Option<&'static Encoding> {
    let label = prescan::charset_parameter(content_type.as_bytes())?;
    Encoding::for_label_no_replacement(label)
}

fn detect(bytes: &[u8]) -> Charset {
    // ISO-2022-JP is ASCII with escape sequences.
    let first = bytes.iter().position(|&b| !b.is_ascii() || b == 0x1b);
    let Some(first) = first else {
        return Charset { encoding: UTF_8, source: EncodingSource::Default };
    };
    let sample = &bytes[first..bytes.len().min(first + DETECTION_BYTES_MAX)];
    // The detector would say the same, after all of its readers looked at it.
    let is_utf8 = std::str::from_utf8(sample).map_or_else(|error| error.error_len().is_none(), |_| true);
    if is_utf8 && !sample.is_ascii() {
        return Charset { encoding: UTF_8, source: EncodingSource::Detected };
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // A sample may end inside a character, so it is never called the last.
    detector.feed(sample, false);
    let guess = detector.guess(None, Utf8Detection::Allow);
    Charset { encoding: guess, source: EncodingSource::Detected }
}
