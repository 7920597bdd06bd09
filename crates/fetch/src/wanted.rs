//! Which bodies are not worth reading: the decision by the head of an answer.

use model::{Headers, MediaRange, essence};
use weburl::CanonicalUrl;

/// Types of media whose declaration can be relied on; anything else is looked into.
const MEDIA: [&str; 4] = ["image", "audio", "video", "font"];

/// Endings of URLs that outweigh what is declared.
const DOCUMENT_ENDINGS: [&str; 5] = ["pdf", "doc", "docx", "ppt", "pptx"];

/// Which media are wanted.
#[derive(Debug)]
pub(crate) struct Wanted {
    ranges: Vec<MediaRange>,
}

impl Wanted {
    /// What is in `ranges` is taken.
    pub(crate) fn new(ranges: &[MediaRange]) -> Self {
        Wanted { ranges: ranges.to_vec() }
    }

    /// Why the body is not read; `None` if it is.
    pub(crate) fn reason_against(&self, url: &CanonicalUrl, status: u16, fields: &Headers) -> Option<String> {
        let declared = fields.get("content-type").filter(|_| (200..300).contains(&status))?;
        let declared = essence(declared);
        let (kind, _) = declared.split_once('/')?;
        let ending = url.path_extension().unwrap_or_default().to_ascii_lowercase();
        let is_unwanted = MEDIA.contains(&kind)
            && !DOCUMENT_ENDINGS.contains(&ending.as_str())
            && !self.ranges.iter().any(|range| range.contains(&declared));
        is_unwanted.then(|| format!("not kept: {}", declared.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use weburl::CanonicalRules;

    use super::*;

    fn check(path: &str, status: u16, content_type: &str, expect: Option<&str>) {
        let url = CanonicalUrl::parse(&format!("http://a.test{path}"), &CanonicalRules::default()).expect(path);
        let fields = Headers(vec![("Content-Type".to_owned(), content_type.to_owned())]);
        let wanted = Wanted::new(&["image/*", "Audio/ogg"].map(|range| MediaRange::parse(range).expect(range)));
        assert_eq!(wanted.reason_against(&url, status, &fields).as_deref(), expect, "{path} {content_type}");
    }

    #[test]
    fn only_media_that_nobody_wants_are_left() {
        check("/", 200, "text/html", None);
        check("/a.mp4", 200, "application/octet-stream", None);
        check("/a.png", 200, "image/png", None);
        check("/a.ogg", 200, "audio/ogg; codecs=opus", None);
        check("/a.mp3", 200, "Audio/MPEG", Some("not kept: audio/mpeg"));
        check("/a", 206, "video/mp4", Some("not kept: video/mp4"));
        check("/a.pdf", 200, "video/mp4", None);
        check("/a", 404, "video/mp4", None);
        check("/a", 200, "video", None);
    }
}
