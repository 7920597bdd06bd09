//! Which content is kept: everything, or what the user names.

use extract::media_type::{Kind, MediaType};
use model::{MediaRange, essence};

/// The content that is kept, in addition to HTML, XML and text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// PDF, Word and PowerPoint.
    pub documents: bool,
    /// Images.
    pub images: bool,
    /// Content declared as one of these.
    pub ranges: Vec<MediaRange>,
}

impl Keep {
    /// Whether content is kept: by its kind, by its first bytes, or by its declared type.
    #[must_use]
    pub fn keeps(&self, media: &MediaType, content_type: Option<&str>) -> bool {
        let declared = essence(content_type.unwrap_or_default());
        let is_kept = |kind: Kind| match kind {
            Kind::Html | Kind::Xhtml | Kind::SitemapXml | Kind::Xml | Kind::Text => true,
            kind => (self.documents && kind.is_document()) || (self.images && kind.is_image()),
        };
        is_kept(media.kind)
            || media.sniffed.is_some_and(is_kept)
            || declared.starts_with("text/")
            || self.ranges.iter().any(|range| range.contains(&declared))
    }

    /// The media types that may contain kept content.
    #[must_use]
    pub fn declared_as(&self) -> Vec<MediaRange> {
        /// Documents, under their names and under those of anything that is to be downloaded.
        const DOCUMENTS: [&str; 11] = [
            "application/pdf",
            "application/x-pdf",
            "application/msword",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "application/vnd.ms-powerpoint",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            "application/octet-stream",
            "binary/octet-stream",
            "application/zip",
            "application/x-download",
            "application/force-download",
        ];
        let documents = DOCUMENTS.iter().filter(|_| self.documents);
        let named = documents.chain(["image/*"].iter().filter(|_| self.images));
        self.ranges.iter().cloned().chain(named.filter_map(|name| MediaRange::parse(name))).collect()
    }
}

#[cfg(test)]
mod tests {
    use extract::media_type::sniff;

    use super::*;

    fn check(keep: &Keep, body: &[u8], content_type: &str, ending: &str, expect: bool) {
        let media = sniff(body, Some(content_type), Some(ending));
        assert_eq!(keep.keeps(&media, Some(content_type)), expect, "{keep:?} {content_type} {ending}");
    }

    #[test]
    fn what_is_named_is_kept() {
        let documents = Keep { documents: true, ..Keep::default() };
        check(&documents, b"%PDF-1.7", "application/pdf", "pdf", true);
        check(&documents, b"%PDF-1.7", "text/html", "", true);
        check(&documents, b"%PDF-1.7", "image/png", "", true);
        check(&documents, b"", "application/octet-stream", "docx", true);
        check(&documents, b"\x89PNG\r\n\x1a\n", "image/png", "png", false);
        check(&documents, b"GIF89a", "application/pdf", "pdf", true);
        check(&documents, b"", "application/epub+zip", "epub", false);
        check(&documents, b"a,b", "text/csv", "csv", true);
        check(&documents, b"<p>", "text/html", "", true);
        let ranges = ["image/*", "application/epub+zip"].map(|range| MediaRange::parse(range).expect(range));
        let types = Keep { ranges: ranges.to_vec(), ..Keep::default() };
        check(&types, b"", "application/epub+zip; x=y", "epub", true);
        check(&types, b"", "Image/AVIF", "", true);
        check(&types, b"%PDF-1.7", "application/pdf", "pdf", false);
        let images = Keep { images: true, ..Keep::default() };
        check(&images, b"GIF89a", "application/octet-stream", "", true);
        check(&images, b"", "audio/ogg", "", false);
    }
}
