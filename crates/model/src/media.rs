//! Media types by name.

use std::fmt;

/// A media range without parameters (RFC 9110 §12.5.1): `application/pdf`, or `image/*` for all of a type. Lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaRange(String);

impl MediaRange {
    /// Parses a media range. `None` if it is invalid, or has parameters.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let range = text.trim().to_ascii_lowercase();
        let (kind, subtype) = range.split_once('/')?;
        let is_token = |part: &str| !part.is_empty() && !part.contains([';', ',', '/', ' ', '\t']);
        let is_range = is_token(kind) && is_token(subtype) && !kind.contains('*');
        is_range.then_some(MediaRange(range))
    }

    /// Whether a value of Content-Type is in the range, ignoring its parameters.
    #[must_use]
    pub fn contains(&self, content_type: &str) -> bool {
        let found = essence(content_type);
        match self.0.strip_suffix("/*") {
            Some(kind) => found.split_once('/').is_some_and(|(found, _)| found == kind),
            None => found == self.0,
        }
    }
}

impl fmt::Display for MediaRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The media type that a value of Content-Type names, without its parameters, in lower case; empty if it names none.
#[must_use]
pub fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let check = |range: &str, content_type: &str, expect: bool| {
            let range = MediaRange::parse(range).expect(range);
            assert_eq!(range.contains(content_type), expect, "{range} {content_type}");
        };
        check("application/pdf", "application/pdf", true);
        check(" Application/PDF ", "application/pdf; x=y", true);
        check("application/pdf", "APPLICATION/PDF, text/html", true);
        check("application/pdf", "application/pdfx", false);
        check("image/*", "Image/PNG", true);
        check("image/*", "imagex/png", false);
        check("image/*", "image", false);
        check("image/*", "", false);
        for text in ["", "pdf", "/", "image/", "/png", "*/*", "image/png; q=1", "a/b/c", "image/png,image/gif"] {
            assert_eq!(MediaRange::parse(text), None, "{text}");
        }
    }
}
